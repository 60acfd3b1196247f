import { expect, test } from "vitest";
import { sets } from "../../../test/oracle/harness.ts";
import { Ddpg } from "./ddpg.ts";
import { ddpgDefaults, td3Options } from "./ddpg-config.ts";
import { Replay } from "./replay.ts";

const shape = {
  obs: 1,
  action: { kind: "continuous", low: [-1], high: [1] },
  actorContext: 1,
  criticContext: 0,
} as const;

/** Steps that earn nothing, whatever is done: only a guide says what to do. */
function worthless(): Replay {
  const replay = new Replay({ capacity: 64, widths: { obs: 1, action: 1, actorContext: 0, criticContext: 0 } });
  for (let i = 0; i < 64; i++) {
    const obs = [i / 32 - 1];
    const action = Float32Array.of(((7 * i) % 64) / 32 - 1);
    replay.add({ obs, nextObs: obs, proposed: action, action, reward: 0, end: "no", logProb: 0 });
  }
  return replay;
}

test("a shared policy learns to do what the guide of each environment does, by its context", () => {
  const config = { ...ddpgDefaults, ...td3Options, hidden: [16], batch: 32, bufferSize: 1, actorLr: 3e-3 };
  const learner = new Ddpg({ kernels: sets[1]!.make(), shape, config, seed: 5 });
  const replay = worthless();
  const rows = (first: number) => Int32Array.from({ length: 16 }, (_, i) => (first + 4 * i) % 64);
  // One goes with the observation, the other against it, both by half.
  const guided = (sign: number, step: number) => ({
    replay,
    rows: rows(step),
    context: [sign],
    guide: { weight: 1, actionAt: ([obs = 0]: ArrayLike<number> & Iterable<number>) => [0.5 * sign * obs] },
  });
  const does = (sign: number, obs: number) => {
    const decided = learner.act([obs], { explore: false, actorContext: [sign] });
    return decided.ok ? (decided.value.action[0] ?? Number.NaN) : Number.NaN;
  };
  for (let step = 0; step < 1_500; step++) learner.learnFrom([guided(1, step), guided(-1, step)]);
  for (const obs of [-0.8, 0.2, 0.8]) {
    expect(does(1, obs)).toBeCloseTo(0.5 * obs, 1);
    expect(does(-1, obs)).toBeCloseTo(-0.5 * obs, 1);
  }
  learner.dispose();
});
