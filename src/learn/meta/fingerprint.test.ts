import { describe, expect, test } from "vitest";
import { randomBlock, sets } from "../../../test/oracle/harness.ts";
import type { Result } from "../../base/index.ts";
import { seededRng, unwrap } from "../../base/index.ts";
import { bestOf } from "./bundle.ts";
import type { Embedder } from "./fingerprint.ts";
import { Fingerprint } from "./fingerprint.ts";
import { MetaLearner, metaDefaults } from "./meta-learner.ts";
import type { Trajectory } from "./trajectory.ts";

const config = {
  ...metaDefaults,
  layout: [{ name: "x", width: 2 }],
  hidden: 5,
  dense: [6],
  embedding: 3,
  steps: 6,
  rows: 4,
};
const learner = (make = sets[1]!.make) => new MetaLearner({ kernels: make(), config, seed: 3 });
const drawn = (count: number, seed: number): Trajectory[] => {
  const rng = seededRng(seed);
  return Array.from({ length: count }, () => {
    const steps = 1 + rng.int(6);
    return { steps, values: randomBlock(2 * steps, rng), reward: rng.int(8) };
  });
};

/** Counts the trajectories that are really read. */
class Counting implements Embedder {
  read = 0;
  readonly inner: MetaLearner;

  constructor(inner: MetaLearner) {
    this.inner = inner;
  }
  get version(): number {
    return this.inner.version;
  }
  get embeddingSize(): number {
    return this.inner.embeddingSize;
  }
  check(trajectory: Trajectory): Result<void> {
    return this.inner.check(trajectory);
  }
  summarise(trajectories: readonly Trajectory[]): readonly Float32Array[] {
    this.read += trajectories.length;
    return this.inner.summarise(trajectories);
  }
  embed(summaries: readonly Float32Array[]): Float32Array {
    return this.inner.embed(summaries);
  }
}

describe.each(sets)("a fingerprint on the $name kernels", ({ make }) => {
  test("is to the bit what reading the whole bundle again would give, while trajectories come and go", () => {
    const meta = learner(make);
    const fingerprint = new Fingerprint(meta, { size: 5 });
    const came: Trajectory[] = [];
    for (const trajectory of drawn(30, 4)) {
      came.push(trajectory);
      unwrap(fingerprint.insert(trajectory));
      const best = bestOf(came, 5);
      expect(fingerprint.trajectories).toEqual(best);
      expect(fingerprint.embedding()).toEqual({
        kind: "known",
        vector: meta.embed(best.flatMap((one) => meta.summarise([one]))),
        trajectories: best.length,
      });
    }
  });
});

describe("a fingerprint", () => {
  test("reads each trajectory once, and one that is not among the best never", () => {
    const counting = new Counting(learner());
    const fingerprint = new Fingerprint(counting, { size: 3 });
    const reads = [5, 6, 7, 1, 9].map((reward) => {
      unwrap(fingerprint.insert({ ...drawn(1, 5)[0]!, reward }));
      fingerprint.embedding();
      fingerprint.embedding();
      return counting.read;
    });
    // 1 does not make it among 7, 6 and 5; 9 does.
    expect(reads).toEqual([1, 2, 3, 3, 4]);
  });

  test("is read anew after the meta learner has learned", () => {
    const counting = new Counting(learner());
    const fingerprint = new Fingerprint(counting);
    const bundle = drawn(3, 6);
    for (const trajectory of bundle) unwrap(fingerprint.insert(trajectory));
    const before = fingerprint.embedding();
    counting.inner.forward([bundle]);
    counting.inner.backward([[1, 1, 1]]);
    unwrap(counting.inner.step());
    const after = fingerprint.embedding();
    expect(counting.read).toBe(6);
    expect(after.vector).not.toEqual(before.vector);
    expect(after.vector).toEqual(counting.inner.forward([fingerprint.trajectories])[0]);
  });

  test("is neutral, with a reason, until there are enough trajectories", () => {
    const fingerprint = new Fingerprint(learner(), { least: 2 });
    const [first, second] = drawn(2, 7) as [Trajectory, Trajectory];
    const neutral = (trajectories: number) => ({
      kind: "neutral",
      vector: new Float32Array(3),
      trajectories,
      why: expect.objectContaining({ code: "meta.too-few", retry: true }),
    });
    expect(fingerprint.embedding()).toEqual(neutral(0));
    unwrap(fingerprint.insert(first));
    expect(fingerprint.embedding()).toEqual(neutral(1));
    unwrap(fingerprint.insert(second));
    expect(fingerprint.embedding().kind).toBe("known");
  });

  test("refuses a trajectory that cannot be read and stays as it was", () => {
    const fingerprint = new Fingerprint(learner());
    unwrap(fingerprint.insert(drawn(1, 8)[0]!));
    const before = fingerprint.embedding();
    const long = { steps: 7, values: new Float32Array(14), reward: 100 };
    expect(fingerprint.insert(long)).toMatchObject({ ok: false, failure: { code: "meta.too-long" } });
    expect(fingerprint.embedding()).toEqual(before);
    expect(() => new Fingerprint(learner(), { size: 2, least: 3 })).toThrow(/wait for 3 trajectories of a bundle of 2/);
  });
});
