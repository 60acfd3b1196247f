/**
 * An application under anomalies, seen service by service as a mitigating agent sees it: where agents are trained.
 * Owns: who is to blame, by the world's truth; rewards; that what agents say passes the guard.
 * Not here: learning (training.ts), the world with its load and anomalies (ground.ts), the definitions of state, action and
 * reward (the files beside this folder).
 *
 * Such worlds have no spans, so no localizer: a container is to blame while a request type through it breaks its SLO and
 * its own time per call has grown by more than a fiftieth of that SLO. That is what injected labels stand for, and it also
 * blames a container that the agent itself has starved.
 */

import type { GuardLimits, GuardState } from "../../../../act/index.ts";
import { freshGuardState, guard } from "../../../../act/index.ts";
import type { Rng, WorkloadId } from "../../../../base/index.ts";
import { milliseconds } from "../../../../base/index.ts";
import type { RequestReading } from "../../../../observe/telemetry/index.ts";
import { ServiceActuation } from "../actuation.ts";
import { roomsFor, serviceLimits } from "../limits.ts";
import { sloMaintenanceOf } from "../observation.ts";
import { mitigationReward } from "../reward.ts";
import type { ServiceReading, Standing } from "../service-reading.ts";
import { type Finding, ServiceReadings } from "../service-readings.ts";
import { type MitigationSeen, type MitigationTask, mitigationTask } from "../task.ts";
import type { MitigationTraining } from "./config.ts";
import type { PretrainingGround, PretrainingWorld, SecondTruth } from "./ground.ts";

export interface SceneOptions extends Pick<MitigationTraining, "alpha" | "actions" | "scene"> {
  readonly ground: PretrainingGround;
  readonly rng: Rng;
  /** How long anomalies come for, s. */
  readonly length: number;
  /** Services whose containers are managed; the others keep their limits. */
  readonly managed: ReadonlySet<string>;
}

/** One service now. */
export interface ManagedSight {
  readonly reading: ServiceReading;
  readonly seen: MitigationSeen;
  readonly reward: number;
}

/** What telemetry and truth said in one second. */
export interface SecondOutcome {
  readonly missed: number;
  readonly ended: number;
  /** CPU limits in force, core-seconds. */
  readonly requestedCpu: number;
}

/**
 * Of the SLO: who has grown by less has no part in breaking it. Not a part of what the slowest has grown: an agent that
 * starves all services would then be blamed for one of them.
 */
const FAIR_PART = 0.02;
/** Growth below this part of its calm time is noise. */
const LEAST_GROWTH = 0.2;

/** What is broken is not kept, even where the 99th percentile of a few requests still is. */
const JUST_BROKEN = 0.99;

/** In a training every service is always asked about, and what it says is done. */
const BLAMED: Standing = { kind: "blamed", because: "its time per call has grown, and an SLO is broken" };
const FITTED: Standing = { kind: "fitted", because: "nobody waits for it" };

/** A service has its name as id here: only this scene knows of it. */
const idOf = (service: string): WorkloadId => service as WorkloadId;

export class PretrainingScene {
  readonly #options: SceneOptions;
  readonly #world: PretrainingWorld;
  readonly #task: MitigationTask;
  readonly #actuation: ServiceActuation;
  readonly #readings = new ServiceReadings(idOf);
  readonly #limits = new Map<string, GuardLimits>();
  readonly #guards = new Map<string, GuardState>();
  readonly #calmTimes = new Map<string, number>();
  #lastSecond: SecondTruth["requests"] = [];

  constructor(options: SceneOptions) {
    this.#options = options;
    const { ground, rng, scene, length, managed, actions, alpha } = options;
    const world = ground.open({ rng, scene, length, managed });
    this.#world = world;
    this.#task = mitigationTask({ actions, alpha });
    this.#actuation = new ServiceActuation({ port: world, serviceOf: (workload) => workload });
    for (const service of ground.services) this.#calmTimes.set(service, timeOf(world, service));
  }

  /** All managed services of which telemetry says something. */
  look(): readonly ManagedSight[] {
    const { managed, alpha } = this.#options;
    const world = this.#world;
    const requests = world.readRequests();
    const blamed = this.#blamed(requests);
    const instances = world.readInstances().filter(({ service, isReady }) => isReady && managed.has(service));
    const findings = new Map<string, Finding>();
    for (const service of managed) {
      const sloMaintenance = blamed.get(service) ?? 1;
      findings.set(service, { standing: sloMaintenance < 1 ? BLAMED : FITTED, sloMaintenance });
    }
    const readings = this.#readings.make(world, { instances, requests, findings });
    return [...readings.values()].flatMap((reading): ManagedSight[] => {
      const seen = this.#task.encode(reading, { memory: null, now: world.now });
      if (!seen.ok) return [];
      const { sloMaintenance } = reading;
      return [{ reading, seen: seen.value, reward: mitigationReward({ sloMaintenance, use: seen.value.use }, alpha) }];
    });
  }

  /** By service that is to blame: SM of the worst request type that it harms. */
  #blamed(requests: readonly RequestReading[]): ReadonlyMap<string, number> {
    const blamed = new Map<string, number>();
    const growth = new Map<string, number>();
    const growthOf = (service: string): number => {
      let grown = growth.get(service);
      if (grown === undefined) {
        const calm = this.#calmTimes.get(service) ?? 0;
        const more = timeOf(this.#world, service) - calm;
        grown = more > LEAST_GROWTH * calm ? more : 0;
        growth.set(service, grown);
      }
      return grown;
    };
    for (const [type, { slo, p99 }] of requests.entries()) {
      // Of a few sampled requests the highest is nearly the 99th percentile: whether the SLO is broken is counted.
      const counted = this.#lastSecond[type];
      if (counted === undefined || !counted.isBroken) continue;
      const sloMaintenance = Math.min(JUST_BROKEN, sloMaintenanceOf(slo, p99));
      for (const service of this.#options.ground.ways[type] ?? [])
        if (growthOf(service) >= FAIR_PART * slo)
          blamed.set(service, Math.min(sloMaintenance, blamed.get(service) ?? 1));
    }
    return blamed;
  }

  /** What agents say about services passes the guard, then a second passes. */
  step(moves: readonly { readonly sight: ManagedSight; readonly action: ArrayLike<number> }[]): SecondOutcome {
    for (const { sight, action } of moves) this.#act(sight, action);
    this.#world.advance(milliseconds(this.#world.now + 1_000));
    const truth = this.#world.truth();
    this.#lastSecond = truth.requests;
    return {
      missed: truth.requests.reduce((sum, one) => sum + one.missed, 0),
      ended: truth.requests.reduce((sum, one) => sum + one.ended, 0),
      requestedCpu: truth.requestedCpu,
    };
  }

  #act({ reading, seen }: ManagedSight, action: ArrayLike<number>): void {
    const { service, workload, containers, at } = reading;
    const have = this.#actuation.read(workload);
    const [first] = containers;
    if (!have.ok || first === undefined) return;
    const limits = this.#limits.get(service) ?? serviceLimits(first);
    this.#limits.set(service, limits);
    const verdict = guard(
      { workload, want: this.#task.decode(action, seen), measuredAt: at },
      {
        limits,
        state: this.#guards.get(service) ?? freshGuardState,
        have: have.value,
        nodes: roomsFor(this.#world.readNodes(), containers),
        now: this.#world.now,
      },
    );
    if (verdict.action.kind !== "hold" && this.#actuation.apply(verdict.action).ok)
      this.#guards.set(service, verdict.state);
  }
}

/** Mean time of a call in a service without what it calls, ms. */
const timeOf = (world: PretrainingWorld, service: string): number => world.readService(service).latency ?? 0;
