/** FIRM's agent in `bench tracing`: one decision about one service, and one update of its networks. */

import { freshGuardState, guard } from "../../src/act/index.ts";
import { loadKernels } from "../../src/adapters/runtime/index.ts";
import { type Limits, type Ms, type Ratio, seededRng, unwrap, type WorkloadId } from "../../src/base/index.ts";
import {
  firmDdpg,
  MITIGATION_ACTIONS,
  MITIGATION_FEATURES,
  mitigationShape,
  mitigationTask,
  roomsFor,
  type ServiceReading,
  serviceLimits,
} from "../../src/control/tasks/mitigation/index.ts";
import { Ddpg } from "../../src/learn/rl/index.ts";
import { local, type Timed } from "../measure.ts";
import { type Figure, round } from "../report.ts";
import type { Timing } from "../statistics.ts";

const DECISION_TARGET = 20;
const UPDATE_TARGET = 1_000;

const all = (value: number): Limits => ({ cpu: value, memory: value, llc: value, io: value, network: value });

/** A learner whose memory is full enough that an update is what it is in the middle of a training. */
function learner(): Ddpg {
  const ddpg = new Ddpg({ kernels: loadKernels(), shape: mitigationShape, config: firmDdpg, seed: 1 });
  const rng = seededRng(1);
  const vector = (size: number) => Float32Array.from({ length: size }, () => 2 * rng.next() - 1);
  for (let i = 0; i < 2_000; i++) {
    const [obs, action, nextObs] = [MITIGATION_FEATURES, MITIGATION_ACTIONS, MITIGATION_FEATURES].map(vector);
    unwrap(ddpg.observe({ obs: obs!, action: action!, nextObs: nextObs!, reward: rng.next(), end: "no" }));
  }
  return ddpg;
}

/** From a service's telemetry to a guarded action, as its agent goes. */
export function deciding(): Timed {
  const agent = learner();
  const task = mitigationTask();
  const now = 1_000 as Ms;
  const use = { cpu: 0.4, memory: 0.9, llc: 1, io: 0.1, network: 0.2 } as { readonly [R in keyof Limits]: Ratio };
  const container = {
    instance: "text-0",
    service: "text",
    node: "n",
    at: now,
    isReady: true,
    threads: 32,
    limits: all(4),
    lower: all(1),
    upper: all(32),
    use,
    counters: null,
  };
  const reading = {
    workload: "text" as WorkloadId,
    at: now,
    service: "text",
    containers: [container],
    autoscaled: { spec: { replicas: 1 } } as ServiceReading["autoscaled"],
    standing: { kind: "blamed", because: "it takes long" },
    workloadChange: 1,
    composition: 0.3,
    offered: 100,
    nearness: 1,
    used: all(3),
    deployed: all(2),
    room: all(40),
  } as const;
  const have = { ...all(4), replicas: 1 };
  const nodes = roomsFor([{ node: "n", capacity: all(80), room: all(40) }], [container]);
  const context = { limits: serviceLimits(container), state: freshGuardState, have, nodes, now };
  return local((iterations) => {
    for (let k = 0; k < iterations; k++) {
      const seen = unwrap(task.encode({ ...reading, sloMaintenance: 0.5 + (k % 50) / 100 }, { memory: null, now }));
      const { action } = unwrap(agent.act(seen.values, { explore: false }));
      guard({ workload: reading.workload, want: task.decode(action, seen), measuredAt: now }, context);
    }
  });
}

/** One step of the critic, the actor and both targets, on a minibatch of 64. */
export function updating(): Timed {
  const agent = learner();
  return local((iterations) => {
    for (let k = 0; k < iterations; k++) agent.update();
  });
}

export function mitigationFigures(timings: ReadonlyMap<string, Timing>): Figure[] {
  const figure = (key: string, what: string, target: number): Figure => {
    const micros = (of: "best" | "median"): number => (timings.get(key)?.[of] ?? Number.NaN) / 1_000;
    return {
      id: `tracing.${key}`,
      what,
      value: round(micros("best")),
      unit: "µs",
      median: round(micros("median")),
      target: `at most ${target} µs`,
      holds: micros("best") <= target,
    };
  };
  return [
    figure(
      "decision",
      "one decision about a service, from telemetry to a guarded action (paper: 1.2 ms for its network)",
      DECISION_TARGET,
    ),
    figure("update", "one update of FIRM's networks, minibatch of 64 (paper: 73 ms)", UPDATE_TARGET),
  ];
}
