import { describe, expect, test } from "vitest";
import { expectClose, randomBlock, sets } from "../../../test/oracle/harness.ts";
import { seededRng, unwrap } from "../../base/index.ts";
import { decodeCheckpoint, encodeCheckpoint } from "../rl/index.ts";
import type { MetaConfig } from "./meta-learner.ts";
import { MetaLearner, metaDefaults } from "./meta-learner.ts";
import type { Trajectory } from "./trajectory.ts";

const config: MetaConfig = {
  ...metaDefaults,
  layout: [
    { name: "observation", width: 2 },
    { name: "reward", width: 1 },
  ],
  hidden: 4,
  dense: [5],
  embedding: 3,
  steps: 5,
  rows: 6,
  lr: 1e-2,
};
const build = (extra: Partial<MetaConfig> = {}, { make = sets[1]!.make, seed = 1, trainable = true } = {}) =>
  new MetaLearner({ kernels: make(), config: { ...config, ...extra }, seed, trainable });
const bundle = (seed: number): Trajectory[] => {
  const rng = seededRng(seed);
  return [3, 5, 2].map((steps) => ({ steps, values: randomBlock(3 * steps, rng), reward: 0 }));
};
const [a, b] = [bundle(2), bundle(3)];
const pull = [0.5, -1, 2];
const embeddings = (meta: MetaLearner) => [a, b].map((trajectories) => meta.embed(meta.summarise(trajectories)));

// Comparing tens of thousands of bytes one matcher at a time takes seconds.
const isSame = (x: Uint8Array, y: Uint8Array) => Buffer.compare(x, y) === 0;

/** A few rounds towards an embedding of ones: the gradient of a squared error, environment by environment. */
function learn(meta: MetaLearner, rounds: number): void {
  for (let round = 0; round < rounds; round++) {
    for (const trajectories of [a, b]) {
      const [embedding] = meta.forward([trajectories]);
      meta.backward([embedding!.map((value) => value - 1)]);
    }
    unwrap(meta.step());
  }
}

describe("the meta learner", () => {
  test("has the papers' sizes unless told otherwise", () => {
    expect(metaDefaults).toMatchObject({ hidden: 256, layers: 2, dense: [256], embedding: 64, rows: 20, steps: 100 });
  });

  test.each(sets)("gives the same bytes for the same seed on the $name kernels", ({ make }) => {
    const run = (seed: number) => {
      const meta = build({}, { make, seed });
      meta.learnScale([...a, ...b]);
      learn(meta, 3);
      return meta.save({ resumable: true });
    };
    expect(isSame(run(1), run(1))).toBe(true);
    expect(isSame(run(1), run(2))).toBe(false);
  });

  test("learns alike on all kernels", () => {
    const [first, ...others] = sets.map(({ make }) => {
      const meta = build({}, { make });
      learn(meta, 5);
      return embeddings(meta).flatMap((embedding) => [...embedding]);
    });
    for (const other of others) expectClose(other, first!, 1e-4);
  });

  test("adds up the gradients of environments until the step", () => {
    const gradients = (passes: readonly (readonly Trajectory[][])[]) => {
      const meta = build();
      for (const pass of passes) {
        meta.forward(pass);
        meta.backward(pass.map(() => pull));
      }
      return meta.takeGradients();
    };
    const sum = gradients([[a, b]]);
    expect(sum.environments).toBe(2);
    expectClose(gradients([[a], [b]]).values, sum.values, 1e-6);
    const alone = [gradients([[a]]).values, gradients([[b]]).values];
    expectClose(
      alone[0]!.map((value, i) => value + alone[1]![i]!),
      sum.values,
      1e-6,
    );
  });

  test("takes the same step from gradients of several threads as from its own", () => {
    const whole = build();
    whole.forward([a]);
    whole.backward([pull]);
    whole.forward([b]);
    whole.backward([pull]);
    const stepped = unwrap(whole.step());

    const main = build({}, { seed: 9 });
    const shards = [a, b].map((trajectories) => {
      const shard = build({}, { seed: 8 });
      shard.setParameters(build().parameters());
      shard.forward([trajectories]);
      shard.backward([pull]);
      return shard.takeGradients();
    });
    main.setParameters(build().parameters());
    for (const gradients of shards) main.addGradients(gradients);
    expect(unwrap(main.step())).toEqual({ environments: 2, gradNorm: expect.closeTo(stepped.gradNorm, 5) });
    expectClose(main.parameters(), whole.parameters(), 1e-5);
    expect(() => main.setParameters(new Float32Array(3))).toThrow(/3 values were given/);
    // The first network's part is in order and would be taken; it has to be put back.
    const damaged = main.parameters().fill(0.25, 0, 3).fill(Number.NaN, -1);
    const before = main.parameters();
    expect(() => main.setParameters(damaged)).toThrow(/not a finite number/);
    expect(main.parameters()).toEqual(before);
  });

  test("cuts long gradients and says how long they were", () => {
    /** A gradient `scale` times as long, then one the other way: Adam forgets lengths, but not their proportion. */
    const run = (scale: number, maxGradNorm: number) => {
      const meta = build({ maxGradNorm });
      const [first] = [scale, -100].map((by) => {
        meta.forward([a]);
        meta.backward([pull.map((value) => value * by)]);
        return unwrap(meta.step()).gradNorm;
      });
      return { norm: first!, parameters: meta.parameters() };
    };
    expect(run(100, 0).norm).toBeGreaterThan(1);
    expect(run(100, 1).norm).toBeCloseTo(run(100, 0).norm, 3);
    expectClose(run(1000, 1).parameters, run(100, 1).parameters, 1e-4);
    expect(() => expectClose(run(1000, 0).parameters, run(100, 0).parameters, 1e-3)).toThrow();
  });

  test("takes no step by a gradient that is no number, and goes on after it", () => {
    const meta = build();
    const before = meta.parameters();
    meta.forward([a]);
    meta.backward([[Number.NaN, 0, 0]]);
    expect(meta.step()).toMatchObject({ ok: false, failure: { code: "meta.diverged" } });
    expect(meta.parameters()).toEqual(before);
    expect(() => meta.step()).toThrow(/no gradients/);
    learn(meta, 1);
    expect(meta.steps).toBe(1);
    expect(meta.parameters().every(Number.isFinite)).toBe(true);
  });

  test("learns its scale before training and not after", () => {
    const meta = build();
    const [plain] = meta.summarise([a[0]!]);
    const version = meta.version;
    meta.learnScale(b);
    expect(meta.version).toBeGreaterThan(version);
    expect(meta.summarise([a[0]!])[0]).not.toEqual(plain);
    learn(meta, 1);
    expect(() => meta.learnScale(a)).toThrow(/before the first step/);
  });

  test("refuses a layout that names a part twice or gives it no width", () => {
    const config = expect.objectContaining({ code: "meta.config" });
    const layouts = [
      [],
      [{ name: "x", width: 0 }],
      [
        { name: "x", width: 1 },
        { name: "x", width: 2 },
      ],
    ];
    for (const layout of layouts) expect(() => build({ layout })).toThrow(config);
  });
});

describe("a meta checkpoint", () => {
  const trained = () => {
    const meta = build();
    meta.learnScale(a);
    learn(meta, 2);
    return meta;
  };

  test("gives the same embeddings back, to a learner of another seed and to a frozen one", () => {
    const meta = trained();
    for (const other of [build({}, { seed: 5 }), build({ rows: 2 }, { seed: 5, trainable: false })]) {
      const version = other.version;
      expect(embeddings(other)).not.toEqual(embeddings(meta));
      unwrap(other.load(meta.save()));
      expect(embeddings(other)).toEqual(embeddings(meta));
      expect(other.version).toBeGreaterThan(version);
      expect(other.steps).toBe(2);
    }
  });

  test("continues training exactly when it is resumable, and starts its optimisers afresh when not", () => {
    const meta = trained();
    const [resumed, warm] = [build({}, { seed: 5 }), build({}, { seed: 5 })];
    learn(warm, 4);
    unwrap(resumed.load(meta.save({ resumable: true })));
    unwrap(warm.load(meta.save()));
    const again = build({}, { seed: 6 });
    unwrap(again.load(meta.save()));
    for (const each of [meta, resumed, warm, again]) learn(each, 2);
    expect(isSame(resumed.save({ resumable: true }), meta.save({ resumable: true }))).toBe(true);
    expect(warm.parameters()).toEqual(again.parameters());
    expect(warm.parameters()).not.toEqual(meta.parameters());
  });

  test("of other shapes is refused by name, and changes nothing", () => {
    const bytes = trained().save({ resumable: true });
    const cases: [Partial<MetaConfig>, RegExp][] = [
      [{ hidden: 8 }, /its hidden is 4 and this one's is 8/],
      [{ layers: 1 }, /its layers is 2 and this one's is 1/],
      [{ dense: [5, 5] }, /its dense is \[5\] and this one's is \[5,5\]/],
      [{ embedding: 2 }, /its embedding is 3 and this one's is 2/],
      // As wide, but other columns.
      [
        {
          layout: [
            { name: "observation", width: 1 },
            { name: "action", width: 2 },
          ],
        },
        /its layout is "observation 2, reward 1"/,
      ],
    ];
    for (const [other, sentence] of cases) {
      const meta = build(other);
      const before = meta.save({ resumable: true });
      const loaded = meta.load(bytes);
      expect(loaded).toMatchObject({
        ok: false,
        failure: { code: "meta.checkpoint", message: expect.stringMatching(sentence) },
      });
      expect(isSame(meta.save({ resumable: true }), before)).toBe(true);
    }
  });

  test("that is damaged, cut, of another kind or not finite is refused, and changes nothing", () => {
    const meta = build();
    const before = meta.save({ resumable: true });
    const bytes = trained().save();
    const flipped = bytes.slice();
    flipped[200]! ^= 4;
    // The last network's last number: whatever comes before it is in order, and must not be left behind.
    const whole = unwrap(decodeCheckpoint(bytes));
    const params = (whole.blocks["dense/params"] as Float32Array).slice();
    params[params.length - 1] = Number.NaN;
    const diverged = encodeCheckpoint({ ...whole, blocks: { ...whole.blocks, "dense/params": params } });
    const { "dense/params": _, ...fewer } = whole.blocks;
    const code = (given: Uint8Array) => {
      const loaded = meta.load(given);
      return loaded.ok ? "loaded" : loaded.failure.code;
    };
    expect(code(flipped)).toBe("checkpoint.corrupt");
    expect(code(bytes.slice(0, 300))).toBe("checkpoint.truncated");
    expect(code(encodeCheckpoint({ kind: "ddpg", meta: {}, blocks: {} }))).toBe("meta.checkpoint");
    expect(code(encodeCheckpoint({ ...whole, blocks: fewer }))).toBe("meta.checkpoint");
    expect(code(diverged)).toBe("tensor.snapshot-not-finite");
    expect(isSame(meta.save({ resumable: true }), before)).toBe(true);
  });
});
