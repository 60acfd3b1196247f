/**
 * One run of an application under a load and a campaign of anomalies, with one controller at the wheel: plain figures.
 * Owns: the run, and what is counted. Not here: when a violation is mitigated (violations.ts), the guard and the driver
 * (control/loop), who controls (methods.ts).
 *
 * Figures are the clients' truth and what was in force, never what the controller saw. Whoever is compared under one seed
 * meets the same arrivals, sizes and anomalies.
 */

import { faultLimits, type Injection } from "../../act/faults/index.ts";
import { type Ms, milliseconds, seconds } from "../../base/index.ts";
import { type ServicesController, ServicesDriver, type ServicesPort } from "../../control/tasks/mitigation/index.ts";
import {
  type ApplicationTruth,
  fluidMicroserviceWorld,
  isolatedSlos,
  type MicroserviceApplication,
  type MicroserviceWorld,
  microserviceWorld,
  runCampaign,
  simulatedServices,
} from "../../sim/index.ts";
import { PercentileSketch } from "../statistics/index.ts";
import { brokenShare, type Look, type Mitigation, mitigationOf } from "./violations.ts";

/** Changes that were made in an interval, and those that guard or world refused. */
export interface Acted {
  readonly actions: number;
  readonly refusals: number;
}

/** Whoever manages an application by other means than proposals about containers. */
export interface Managing {
  readonly name: string;
  manage(port: ServicesPort): { step(): Acted; dispose(): void };
}

export interface EpisodeOptions {
  readonly seed: number;
  readonly application: MicroserviceApplication;
  readonly rung?: "event" | "fluid";
  /** Requests of all types per second, by minute. */
  readonly perMinute: readonly number[];
  /** The rate that default limits are made for; the mean of the load where absent. */
  readonly designRate?: number;
  readonly injections: readonly Injection[];
  readonly duration: Ms;
  /** What happens before is not counted: controllers settle in. */
  readonly countFrom?: Ms;
  /** Null: nobody changes anything. */
  readonly controller: ServicesController | Managing | null;
  /** Between two decisions; FIRM 3.2.4 has one second. */
  readonly interval?: Ms;
  /** Share of requests that are traced, whoever reads the spans. */
  readonly sampling?: number;
  /** Replicas that services begin with; one each where absent. */
  readonly replicas?: Readonly<Record<string, number>>;
  readonly progress?: (fraction: number) => void;
}

/** Plain JSON. */
export interface EpisodeFigures {
  readonly seconds: number;
  /** Requests that ended. */
  readonly requests: number;
  /** Of them: answered too late, given up by their client, refused; a violation is any of these. */
  readonly late: number;
  readonly timedOut: number;
  readonly dropped: number;
  /** Of those who were answered or gave up, ms. */
  readonly p50: number | null;
  readonly p99: number | null;
  /** Share of times of five seconds in which a type of request broke its SLO. */
  readonly brokenShare: number;
  /** CPU limits of all containers, and what they burnt, stressors included: mean cores. */
  readonly requestedCores: number;
  readonly usedCores: number;
  /** One per injection that was let through, in their order. */
  readonly mitigations: readonly Mitigation[];
  /** Proposals that changed something, and those that guard or world refused. */
  readonly actions: number;
  readonly refusals: number;
}

export const violationsOf = ({ late, timedOut, dropped }: EpisodeFigures): number => late + timedOut + dropped;
export const utilisationOf = ({ usedCores, requestedCores }: EpisodeFigures): number =>
  requestedCores > 0 ? usedCores / requestedCores : 0;

/** Between two looks at the truth: what a time to mitigate is told to. */
export const LOOK: Ms = milliseconds(500);

/** Requests that the fluid rung walks through per second: enough for a 99th percentile over a window of ten. */
const FLUID_SAMPLES = 120;

/** Clients give up after this, as in the world's calibration. */
const PATIENCE: Ms = seconds(5);

export function runEpisode(options: EpisodeOptions): EpisodeFigures {
  const { controller, duration, countFrom = seconds(0), interval = seconds(1), injections, progress } = options;
  const world = worldOf(options);
  const managed = controller && managedBy(controller, simulatedServices(world));
  const tally = new Tally(countFrom);
  let nextTurn = interval as number;
  const verdicts = runCampaign({
    world,
    injections,
    until: duration,
    step: LOOK,
    limits: faultLimits,
    onStep: (truth) => {
      tally.add(truth);
      progress?.(truth.to / duration);
      if (truth.to < nextTurn) return;
      nextTurn += interval;
      if (managed !== null) tally.acted(managed.step());
      // Nobody may have asked for them, and they would pile up.
      world.takeSpans();
    },
  });
  managed?.dispose();
  const done = verdicts.flatMap((verdict) => (verdict.done === null ? [] : [verdict.done]));
  return tally.figures(done);
}

function managedBy(controller: ServicesController | Managing, port: ServicesPort): ReturnType<Managing["manage"]> {
  if ("manage" in controller) return controller.manage(port);
  const driver = new ServicesDriver({ port, controller });
  return {
    step: () => {
      const decisions = driver.step();
      const done = decisions.filter(({ done }) => done.kind !== "hold");
      const refused = decisions.filter(
        ({ done, verdict, failure }) => done.kind === "hold" && (verdict.refused ?? failure) !== undefined,
      );
      return { actions: done.length, refusals: refused.length };
    },
    dispose: () => undefined,
  };
}

function worldOf(options: EpisodeOptions): MicroserviceWorld {
  const { seed, application, rung = "event", perMinute, designRate, sampling = 0, replicas } = options;
  const world = {
    seed,
    application,
    slos: isolatedSlos(application),
    tracing: { sampling },
    timeout: PATIENCE,
    load: { id: "given", level: "high" as const, perMinute: Float64Array.from(perMinute), dispersion: 1 },
    ...(designRate !== undefined && { designRate }),
    ...(replicas !== undefined && { replicas }),
  };
  return rung === "event" ? microserviceWorld(world) : fluidMicroserviceWorld({ ...world, samples: FLUID_SAMPLES });
}

class Tally {
  readonly #countFrom: Ms;
  readonly #looks: Look[] = [];
  readonly #latencies = new PercentileSketch();
  #seconds = 0;
  #requests = 0;
  #late = 0;
  #timedOut = 0;
  #dropped = 0;
  #requested = 0;
  #used = 0;
  #actions = 0;
  #refusals = 0;

  constructor(countFrom: Ms) {
    this.#countFrom = countFrom;
  }

  add({ from, to, requests, limits, cpuUsed }: ApplicationTruth): void {
    const look: Look = {
      from,
      to,
      requests: requests.map(({ completed, timedOut, dropped, late, inFlight }) => ({
        completed,
        timedOut,
        dropped,
        late,
        inFlight,
      })),
    };
    this.#looks.push(look);
    if (from < this.#countFrom) return;
    this.#seconds += (to - from) / 1_000;
    this.#requested += limits.cpu;
    this.#used += cpuUsed;
    for (const { completed, timedOut, dropped, late, latencies } of requests) {
      this.#requests += completed + timedOut + dropped;
      this.#late += late;
      this.#timedOut += timedOut;
      this.#dropped += dropped;
      // The fluid rung samples: each sample stands for several.
      const each = latencies.length > 0 ? completed / latencies.length : 0;
      if (each > 0) for (const latency of latencies) this.#latencies.add(latency, each);
      if (timedOut > 0) this.#latencies.add(PATIENCE, timedOut);
    }
  }

  acted({ actions, refusals }: Acted): void {
    this.#actions += actions;
    this.#refusals += refusals;
  }

  figures(injections: readonly Injection[]): EpisodeFigures {
    const span = Math.max(this.#seconds, 1e-9);
    return {
      seconds: this.#seconds,
      requests: this.#requests,
      late: this.#late,
      timedOut: this.#timedOut,
      dropped: this.#dropped,
      p50: this.#latencies.quantile(0.5) ?? null,
      p99: this.#latencies.quantile(0.99) ?? null,
      brokenShare: brokenShare(this.#looks.filter(({ from }) => from >= this.#countFrom)),
      requestedCores: this.#requested / span,
      usedCores: this.#used / span,
      mitigations: injections.map((injection) => mitigationOf(injection, this.#looks)),
      actions: this.#actions,
      refusals: this.#refusals,
    };
  }
}
