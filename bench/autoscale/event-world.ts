/**
 * How fast the event rung runs: events of the bare queue, and requests of a whole world on one core.
 * A world is one workload of two to six pods that has what it needs, read and scored every control step, as studies do.
 */

import { bytes, cores, milliseconds, parseWorkloadId, seconds, seededRng, unwrap } from "../../src/base/index.ts";
import {
  type Application,
  type ClusterWorld,
  characterizationNodes,
  EventQueue,
  eventWorld,
  generateApplications,
  meanWork,
} from "../../src/sim/index.ts";
import { interleave, local } from "../measure.ts";
import { type BenchContext, type Figure, round } from "../report.ts";
import type { Timing } from "../statistics.ts";

const REQUESTS_TARGET = 400_000;
const EVENTS_TARGET = 5e6;
/** Pending events of the bare queue: one workload's, and those of a cluster of many. */
const PENDING = [32, 2_000] as const;
const EVENTS = 1_000;
const PODS = [2, 3, 4, 6] as const;
const APPLICATIONS = 8;
const PER_SECOND = 20;
/** CPU work over limits: busy, and not overloaded. */
const UTILISATION = 0.5;
const shop = unwrap(parseWorkloadId("shop"));

export async function eventWorldFigures({ quick, signal, log }: BenchContext): Promise<Figure[]> {
  const rounds = { count: quick ? 5 : 15, lengthMs: quick ? 60 : 200, warmupMs: quick ? 300 : 1_000, signal };
  log("events of the queue, requests of the event world");
  const applications = generateApplications({ seed: 1_000, count: APPLICATIONS });
  const worlds = applications.map((application, i) => new Stepped(application, PODS[i % PODS.length] ?? 2));
  const { timings } = await interleave(
    [
      ...PENDING.map((pending) => ({ key: `queue ${pending}`, contender: local(holdModel(pending)), task: "events" })),
      ...worlds.map((world, i) => ({
        key: `world ${i}`,
        contender: local((steps) => world.run(steps)),
        task: "steps",
      })),
    ],
    rounds,
  );
  return [
    ...PENDING.map((pending) => queueFigure(pending, timings.get(`queue ${pending}`) as Timing)),
    worldFigure(worlds.map((world, i) => ({ world, timing: timings.get(`world ${i}`) as Timing }))),
  ];
}

/** The usual measure of event lists: take the next, schedule another a random time later; the number stays the same. */
function holdModel(pending: number): (iterations: number) => void {
  const queue = new EventQueue();
  const rng = seededRng(1);
  const delays = Float64Array.from({ length: 4_096 }, () => -Math.log(1 - rng.next()));
  for (let i = 0; i < pending; i++) queue.schedule(delays[i % 4_096]!, 0, i);
  let at = 0;
  return (iterations) => {
    for (let i = 0; i < iterations * EVENTS; i++) {
      queue.pop();
      queue.schedule(queue.at + delays[at++ & 4_095]!, 0, queue.subject);
    }
  };
}

class Stepped {
  readonly #world: ClusterWorld;
  requests = 0;
  steps = 0;

  constructor(application: Application, replicas: number) {
    const { cpu } = meanWork(application);
    const { base, cache, perRequest } = application.memory;
    const size = Math.max(0.1, (PER_SECOND * cpu) / 1_000 / UTILISATION / replicas);
    this.#world = eventWorld({
      seed: 1_000,
      start: milliseconds(0),
      nodes: characterizationNodes().map((node) => ({ ...node, cpu: cores(16) })),
      workloads: [
        {
          id: shop,
          application,
          load: { id: "steady", level: "high", perMinute: Float64Array.of(PER_SECOND), dispersion: 1 },
          slo: { kind: "latency", quantile: 0.99, target: seconds(1) },
          initial: {
            replicas,
            cpu: cores(Math.ceil(size * 1_000) / 1_000),
            memory: bytes(base + cache + 2 * perRequest * (application.threads + application.queue)),
          },
          resize: "in-place",
        },
      ],
    });
    this.run(4);
  }

  run(steps: number): void {
    for (let i = 0; i < steps; i++) {
      this.#world.advance(milliseconds(this.#world.now + 15_000));
      this.#world.read(shop);
      this.requests += this.#world.truth(shop).arrived;
      this.steps++;
    }
  }
}

function queueFigure(pending: number, timing: Timing): Figure {
  const rate = (ns: number) => (EVENTS * 1e9) / ns;
  return {
    id: `autoscale.events.${pending}`,
    what: `events of the bare queue, ${pending} pending: take one, schedule one`,
    value: round(rate(timing.best)),
    unit: "events/s",
    median: round(rate(timing.median)),
    ...(pending === PENDING[0]
      ? { target: "at least 5 M events/s per core", holds: rate(timing.best) >= EVENTS_TARGET }
      : {}),
  };
}

/** Over all applications together: requests over time, so that a slow one weighs what it costs. */
function worldFigure(runs: readonly { readonly world: Stepped; readonly timing: Timing }[]): Figure {
  const rate = (ns: (timing: Timing) => number): number => {
    let [requests, time] = [0, 0];
    for (const { world, timing } of runs) {
      requests += world.requests / world.steps;
      time += ns(timing);
    }
    return (requests * 1e9) / time;
  };
  const value = rate(({ best }) => best);
  return {
    id: "autoscale.event-world",
    what: `requests of the event world, ${runs.length} applications in turn, one workload of 2 to 6 pods`,
    value: round(value),
    unit: "requests/s",
    median: round(rate(({ median }) => median)),
    target: "at least 400,000 requests/s per core",
    holds: value >= REQUESTS_TARGET,
  };
}
