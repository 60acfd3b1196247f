/** FIRM's agent in `bench tracing`: one decision about one container, and one update of its networks. */

import { freshServiceGuardState, guardServiceAction, parseServiceGuardLimits } from "../../src/act/index.ts";
import { loadKernels } from "../../src/adapters/runtime/index.ts";
import { type Limits, type Ms, type Ratio, seededRng, unwrap } from "../../src/base/index.ts";
import {
  decodeMitigation,
  encodeMitigation,
  MITIGATION_ACTIONS,
  MITIGATION_FEATURES,
} from "../../src/control/tasks/index.ts";
import { Ddpg } from "../../src/learn/rl/index.ts";
import { firmDdpg, mitigationShape } from "../../src/studies/index.ts";
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

/** From a container's telemetry to a guarded action. */
export function deciding(): Timed {
  const agent = learner();
  const limits = unwrap(parseServiceGuardLimits());
  const now = 1_000 as Ms;
  const use = { cpu: 0.4, memory: 0.9, llc: 1, io: 0.1, network: 0.2 } as { readonly [R in keyof Limits]: Ratio };
  const instance = {
    ...{ instance: "text-0", service: "text", node: "n", at: now, isReady: true, threads: 32 },
    ...{ limits: all(4), lower: all(1), upper: all(32), use, counters: null },
  };
  const nodes = [{ node: "n", room: all(40) }];
  const observation = new Float32Array(MITIGATION_FEATURES);
  const context = { limits, state: freshServiceGuardState, instances: [instance], nodes, now };
  return local((iterations) => {
    for (let k = 0; k < iterations; k++) {
      const sloMaintenance = 0.5 + (k % 50) / 100;
      encodeMitigation({ sloMaintenance, workloadChange: 1, composition: 0.3, use }, observation);
      const { action } = unwrap(agent.act(observation, { explore: false }));
      const move = {
        kind: "headroom",
        instance,
        used: all(3),
        deployed: all(2),
        room: all(40),
        replicas: 1,
        sloMaintenance,
      } as const;
      for (const one of decodeMitigation(action, move).actions)
        guardServiceAction({ action: one, measuredAt: now, why: "" }, context);
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
      ...{ id: `tracing.${key}`, what, value: round(micros("best")), unit: "µs", median: round(micros("median")) },
      ...{ target: `at most ${target} µs`, holds: micros("best") <= target },
    };
  };
  return [
    figure(
      "decision",
      "one decision about a container, from telemetry to a guarded action (paper: 1.2 ms for its network)",
      DECISION_TARGET,
    ),
    figure("update", "one update of FIRM's networks, minibatch of 64 (paper: 73 ms)", UPDATE_TARGET),
  ];
}
