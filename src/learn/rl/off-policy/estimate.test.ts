/** Off-policy estimates against the truth: a queue that can be rolled out under any policy (test/oracle/queue-toy.ts). */

import { expect, test } from "vitest";
import type { QueuePolicy } from "../../../../test/oracle/queue-toy.ts";
import { playQueue, queueShape, targetUtilisation, trueReturn } from "../../../../test/oracle/queue-toy.ts";
import type { Result } from "../../../base/index.ts";
import { err, failure, ok, seededRng, unwrap } from "../../../base/index.ts";
import type { Transition } from "../learner.ts";
import type { ReturnEstimate } from "./estimate.ts";
import { estimateReturn, policyOf } from "./estimate.ts";
import type { PolicyFunction } from "./step-table.ts";

const EPISODES = 20;

function record(behaviour: QueuePolicy, seed: number, episodes = EPISODES): Transition[][] {
  const rng = seededRng(seed).fork("record");
  return Array.from({ length: episodes }, (_, e) => playQueue(behaviour, rng.fork(e)));
}

const asPolicy =
  (policy: QueuePolicy): PolicyFunction =>
  (obs) =>
    ok([policy(obs as Float32Array, seededRng(0))]);

function estimate(behaviour: QueuePolicy, policy: QueuePolicy, seed: number): ReturnEstimate {
  const episodes = record(behaviour, seed);
  return unwrap(estimateReturn({ episodes, policy: asPolicy(policy), shape: queueShape, seed }));
}

const truthOf = (policy: QueuePolicy) => trueReturn(policy, seededRng(77), 300);
const covers = ({ lo, hi }: { lo: number; hi: number }, truth: number) => truth >= lo && truth <= hi;

test("where the record speaks for the policy, both estimates are near the truth and most intervals hold it", () => {
  // A noisy autoscaler at 60 % tried everything between about 45 % and 80 %; those policies without noise are judged.
  const behaviour = targetUtilisation(0.6, 0.2);
  let held = 0;
  let judged = 0;
  for (const target of [0.5, 0.6, 0.7]) {
    const truth = truthOf(targetUtilisation(target));
    for (const seed of [11, 12]) {
      const found = estimate(behaviour, targetUtilisation(target), seed);
      expect(found.believed).toBe("doubly-robust");
      expect(found.outside).toBeLessThan(0.01);
      // Fitted-Q rounds off the edge where the SLO breaks, by up to 2 % here; the correction sees what it got wrong.
      expect(Math.abs(found.fqe.mean / truth - 1), `fitted-Q, target ${target}`).toBeLessThan(0.03);
      expect(Math.abs(found.dr.mean / truth - 1), `doubly robust, target ${target}`).toBeLessThan(0.015);
      judged += 1;
      if (covers(found.dr, truth)) held += 1;
    }
  }
  expect(held / judged).toBeGreaterThanOrEqual(0.66);
});

test("what the correction changed is doubted by a part, and fitted-Q's own interval is not", () => {
  const episodes = record(targetUtilisation(0.6, 0.2), 81, 8);
  const of = (doubt: number) => {
    const policy = asPolicy(targetUtilisation(0.7));
    return unwrap(estimateReturn({ episodes, policy, shape: queueShape, seed: 81, config: { doubt } }));
  };
  const [sure, doubting] = [of(0), of(0.5)];
  expect(doubting.dr.mean).toBe(sure.dr.mean);
  expect(doubting.fqe).toEqual(sure.fqe);
  const correction = sure.dr.mean - sure.fqe.mean;
  expect(Math.abs(correction)).toBeGreaterThan(0.1);
  // Seven degrees of freedom: Student's point is 2.365, and squares add.
  const half = ({ dr }: ReturnEstimate) => dr.hi - dr.mean;
  expect(half(doubting) ** 2 - half(sure) ** 2).toBeCloseTo((2.365 * 0.5 * correction) ** 2, 1);
  expect(doubting.gain.hi - doubting.gain.mean).toBeGreaterThan(sure.gain.hi - sure.gain.mean);
  expect(doubting.lower).toBeLessThan(sure.lower);
});

test("the gain over the behaviour is found with its sign, more surely than two intervals would tell", () => {
  const behaviour = targetUtilisation(0.6, 0.2);
  const better = estimate(behaviour, targetUtilisation(0.7), 21);
  expect(better.gain.lo).toBeGreaterThan(0);
  const worse = estimate(behaviour, targetUtilisation(0.42), 21);
  expect(worse.gain.hi).toBeLessThan(0);
  expect(better.behaviour.mean).toBeCloseTo(worse.behaviour.mean, 9);
});

test("a deterministic behaviour judged against itself gives its own reward, at full weight", () => {
  const same = targetUtilisation(0.6);
  const found = estimate(same, same, 31);
  expect(found.believed).toBe("doubly-robust");
  expect(found.effectiveSteps / found.steps).toBeGreaterThan(0.95);
  expect(Math.abs(found.dr.mean - truthOf(same))).toBeLessThan(1);
  expect(Math.abs(found.gain.mean)).toBeLessThan(0.5);
  expect(found.caveats).toEqual([]);
});

test("what a deterministic behaviour never tried is said to be unknown, and its bound is below the truth", () => {
  const behaviour = targetUtilisation(0.6);
  for (const target of [0.45, 0.8, 0.9]) {
    const found = estimate(behaviour, targetUtilisation(target), 41);
    expect(found.believed, `target ${target}`).toBe("fitted-q");
    expect(found.effectiveSteps).toBeLessThan(0.05 * found.steps);
    expect(found.outside).toBeGreaterThan(0.9);
    expect(found.lower).toBeLessThan(truthOf(targetUtilisation(target)));
    expect(found.lower).toBeLessThan(found.behaviour.lo);
    expect(found.caveats.join()).toMatch(/rests on its extrapolation.*never recorded/);
  }
});

test("the same seed gives the same estimate, another one other features", () => {
  const of = (seed: number) => {
    const episodes = record(targetUtilisation(0.6, 0.1), 51, 6);
    const policy = asPolicy(targetUtilisation(0.62));
    return unwrap(estimateReturn({ episodes, policy, shape: queueShape, seed }));
  };
  expect(of(1)).toEqual(of(1));
  expect(of(1).fqe).not.toEqual(of(2).fqe);
});

test("one episode has an estimate but no bound", () => {
  const episodes = record(targetUtilisation(0.6, 0.1), 61, 1);
  const policy = asPolicy(targetUtilisation(0.6));
  const found = unwrap(estimateReturn({ episodes, policy, shape: queueShape, seed: 1 }));
  expect(found.fqe.mean).toBeGreaterThan(100);
  expect(found.lower).toBe(Number.NEGATIVE_INFINITY);
  expect(found.caveats.join()).toMatch(/too few/);
});

test("no episodes, damaged steps and a broken policy are refused by name", () => {
  const episodes = record(targetUtilisation(0.6), 71, 1);
  const [first] = episodes[0] as [Transition];
  const good = asPolicy(targetUtilisation(0.6));
  const codeOf = (given: readonly (readonly Transition[])[], policy: PolicyFunction = good) => {
    const result: Result<ReturnEstimate> = estimateReturn({ episodes: given, policy, shape: queueShape, seed: 1 });
    return result.ok ? "estimated" : result.failure.code;
  };
  expect(codeOf([])).toBe("rl.no-steps");
  expect(codeOf([...episodes, []])).toBe("rl.no-steps");
  expect(codeOf([[{ ...first, reward: Number.NaN }]])).toBe("rl.not-finite");
  expect(codeOf([[{ ...first, obs: [1, 2] }]])).toBe("rl.shape");
  expect(codeOf(episodes, () => ok([Number.NaN]))).toBe("rl.policy-not-finite");
  const broken = failure("rl.not-finite", "the policy could not decide");
  expect(codeOf(episodes, policyOf({ act: () => err(broken) }))).toBe("rl.not-finite");
});
