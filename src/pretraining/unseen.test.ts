import { expect, test } from "vitest";
import { sets } from "../../test/oracle/harness.ts";
import { inProcessRunner, Pretraining, pretrainDefaults, pretrainKinds } from "../learn/meta/index.ts";
import { poolEntries, poolShape, poolWorld } from "./pool-members.ts";
import type { UnseenMember } from "./unseen.ts";
import { embedUnseen, rankUnseen } from "./unseen.ts";

const wasm = () => sets[1]!.make();

test("unseen applications get embeddings of their own, the same for the same seed, and others before training", () => {
  const config = {
    ...pretrainDefaults,
    meta: { ...pretrainDefaults.meta, hidden: 4, dense: [4], embedding: 3 },
    learner: { ...pretrainDefaults.learner, hidden: [8] },
  };
  const training = new Pretraining({
    pool: poolEntries({ seed: 1, part: "known" }, 1),
    shape: poolShape,
    config,
    seed: 2,
    kernels: wasm(),
    runner: inProcessRunner(pretrainKinds(poolWorld), wasm()),
  });
  const options = { kernels: wasm(), model: training.model(), seed: 1, members: 2, trajectories: 1, noise: 0.1 };
  const vectors = (isTrained: boolean) => embedUnseen({ ...options, isTrained }).map(({ vector }) => [...vector]);
  const [once, again, untrained] = [vectors(true), vectors(true), vectors(false)];
  expect(once).toHaveLength(2);
  expect(again).toEqual(once);
  expect(once[0]).not.toEqual(once[1]);
  expect(untrained).not.toEqual(once);
  training.dispose();
});

test("rankings count what members have in common, and not what all embeddings have", () => {
  const member = (sensitivity: string, shape: string, vector: readonly number[]) =>
    ({ sensitivity, shape, vector: Float32Array.from(vector) }) as unknown as UnseenMember;
  // The first number is the same for all and large: before it is taken off, every cosine is nearly 1.
  const ranking = rankUnseen([
    member("io", "steady", [100, 1, 0]),
    member("io", "steady", [100, 2, 0.1]),
    member("memory", "steady", [100, -1, 0.2]),
    member("memory", "bursty", [100, -2, -0.3]),
  ]);
  expect(ranking.sensitivity).toMatchObject({ area: 1, nearest: 1 });
  expect(ranking.both).toMatchObject({ area: 1, pairs: { together: 1, apart: 5 } });
  expect(ranking.shape.area).toBeLessThan(1);
});
