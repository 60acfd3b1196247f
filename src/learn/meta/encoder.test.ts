import { describe, expect, test } from "vitest";
import { expectClose, randomBlock, sets } from "../../../test/oracle/harness.ts";
import { feedForward } from "../../../test/oracle/layers.ts";
import { matrix, numericalGradient } from "../../../test/oracle/matrix.ts";
import { runStack } from "../../../test/oracle/recurrent.ts";
import type { Rng } from "../../base/index.ts";
import { seededRng } from "../../base/index.ts";
import { createNormaliser } from "../rl/index.ts";
import type { Kernels } from "../tensor/index.ts";
import type { EncoderOptions } from "./encoder.ts";
import { Encoder } from "./encoder.ts";
import type { Trajectory } from "./trajectory.ts";

const [width, hidden, embedding] = [3, 3, 2];
const shape = { layout: [{ name: "x", width }], hidden, layers: 2, dense: [4], embedding };
const build = (kernels: Kernels, extra: Partial<EncoderOptions> = {}) =>
  new Encoder(kernels, {
    shape,
    steps: 4,
    rows: 6,
    trainable: true,
    scale: createNormaliser({ size: width }),
    rng: seededRng(1),
    ...extra,
  });

const draw = (steps: number, rng: Rng, columns = width): Trajectory => ({
  steps,
  values: randomBlock(steps * columns, rng),
  reward: 0,
});
const rng = seededRng(2);
const environments = [
  [draw(3, rng), draw(2, rng)],
  [draw(1, rng), draw(4, rng), draw(2, rng)],
];
const pulls = environments.map(() => randomBlock(embedding, rng));

/** The whole encoder once more, in double precision and trajectory by trajectory. */
function oracle(recurrent: ArrayLike<number>, dense: ArrayLike<number>): number[][] {
  const stack = { cell: "gru", inputs: width, hidden, layers: 2, bidirectional: true } as const;
  const layers = [
    { kind: "dense", inputs: 2 * hidden, outputs: 4, activation: "relu" },
    { kind: "dense", inputs: 4, outputs: embedding, activation: "none" },
  ] as const;
  return environments.map((bundle) => {
    const ends = bundle.map(({ steps, values }) => {
      const out = runStack(stack, recurrent, { sequence: matrix(values, steps, width) });
      return [...out[steps - 1]!.slice(0, hidden), ...out[0]!.slice(hidden)];
    });
    const mean = ends[0]!.map((_, i) => ends.reduce((sum, end) => sum + end[i]!, 0) / ends.length);
    return [...feedForward(layers, dense, [mean])[0]!];
  });
}

const start = build(sets[0]!.make());
const [recurrentStart, denseStart] = [start.recurrent.snapshot(), start.dense.snapshot()];
const objective = (found: number[][]) =>
  found.flat().reduce((sum, value, i) => sum + value * pulls[Math.floor(i / embedding)]![i % embedding]!, 0);
// The oracle is slow: its answers are worked out once for all kernel sets.
const wanted = {
  embeddings: oracle(recurrentStart, denseStart).flat(),
  recurrent: numericalGradient((p) => objective(oracle(p, denseStart)), recurrentStart),
  dense: numericalGradient((p) => objective(oracle(recurrentStart, p)), denseStart),
};
const flat = (blocks: readonly Float32Array[]) => blocks.flatMap((block) => [...block]);

describe.each(sets)("the encoder on the $name kernels", ({ make }) => {
  test("gives the double-precision embeddings of ragged bundles, and passes back the numerical gradients", () => {
    const kernels = make();
    const encoder = build(kernels);
    expectClose(flat(encoder.forward(environments)), wanted.embeddings, 1e-6);
    encoder.backward(pulls);
    const gradient = (net: Encoder["recurrent"] | Encoder["dense"]) => kernels.memory.view(net.grads, net.paramCount);
    expectClose(gradient(encoder.recurrent), wanted.recurrent, 1e-5);
    expectClose(gradient(encoder.dense), wanted.dense, 1e-5);
    // Every part of the encoder has to be reached: a gradient of zeros would be close to many a small one.
    expect(Math.max(...wanted.recurrent.map(Math.abs))).toBeGreaterThan(1e-3);
  });

  test("gives the number that can be worked out by hand", () => {
    const kernels = make();
    const tiny = { layout: [{ name: "x", width: 1 }], hidden: 1, layers: 1, dense: [], embedding: 1 };
    const encoder = build(kernels, { shape: tiny, scale: createNormaliser({ size: 1 }) });
    // Gates see nothing and are 1/2; the candidate is tanh(x). So h = (tanh(x) + h before) / 2, both ways.
    const direction = [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    encoder.recurrent.load(Float32Array.from([...direction, ...direction]));
    encoder.dense.load(Float32Array.of(2, -1, 0.5));
    const of = (...tanhs: number[]): Trajectory => ({
      steps: tanhs.length,
      values: Float32Array.from(tanhs, Math.atanh),
      reward: 0,
    });
    // (0.8, 0.4): forwards 0.4 then 0.4, backwards 0.2 then 0.5. (0.4): 0.2 both ways. Mean (0.3, 0.35).
    const [embedded] = encoder.forward([[of(0.8, 0.4), of(0.4)]]);
    expectClose(embedded!, [2 * 0.3 - 0.35 + 0.5], 1e-6);
  });

  test("gives a trajectory the same summary alone as beside longer and shorter ones, to the bit", () => {
    const encoder = build(make());
    const all = environments.flat();
    const together = encoder.summarise(all);
    expect(together).toEqual(all.map((one) => encoder.summarise([one])[0]));
    // More trajectories than a pass has rows.
    expect(build(make(), { rows: 2 }).summarise(all)).toEqual(together);
  });

  test("gives the same embedding from summaries as in the training pass, to the bit", () => {
    const encoder = build(make());
    const trained = encoder.forward(environments);
    expect(environments.map((bundle) => encoder.embed(encoder.summarise(bundle)))).toEqual(trained);
  });

  test("keeps nothing of one environment when it reads the next", () => {
    const [first, second] = environments as [Trajectory[], Trajectory[]];
    const after = build(make());
    after.forward([first]);
    after.summarise(first);
    const alone = build(make());
    expect(after.forward([second])).toEqual(alone.forward([second]));
    expect(after.forward([first, second])[1]).toEqual(alone.forward([second])[0]);
  });
});

describe("the encoder", () => {
  const kernels = sets[1]!.make();

  test("sees the order of time", () => {
    const encoder = build(kernels);
    const { steps, values } = environments[1]![1]!;
    const rowsBy = (order: readonly number[]): Trajectory => ({
      steps,
      values: Float32Array.from(order.flatMap((t) => [...values.subarray(t * width, (t + 1) * width)])),
      reward: 0,
    });
    const embed = (order: readonly number[]) => encoder.embed(encoder.summarise([rowsBy(order)]));
    const straight = embed([0, 1, 2, 3]);
    for (const shuffled of [
      [3, 2, 1, 0],
      [1, 0, 2, 3],
      [0, 2, 1, 3],
    ]) {
      const distance = Math.hypot(...embed(shuffled).map((value, i) => value - straight[i]!));
      expect(distance).toBeGreaterThan(1e-3);
    }
  });

  test("does not see the order of trajectories", () => {
    const encoder = build(kernels);
    const [a, b, c] = environments[1] as [Trajectory, Trajectory, Trajectory];
    const [straight, turned] = encoder.forward([
      [a, b, c],
      [c, a, b],
    ]) as [Float32Array, Float32Array];
    expectClose(turned, straight, 1e-6);
    expect(encoder.forward([[a, b]])[0]).not.toEqual(straight);
  });

  test("puts columns on one scale before it reads them", () => {
    const scale = createNormaliser({ size: width });
    const raw = [Float32Array.of(100, 0, 5), Float32Array.of(300, 0, 7)];
    for (const row of raw) scale.update(row, 1);
    const scaled = build(kernels, { scale });
    const plain = build(kernels);
    // Means (200, 0, 6), deviations (100, 0, 1); a column that never changes stays at 0.
    const [found] = scaled.summarise([
      { steps: 2, values: Float32Array.from(raw.flatMap((row) => [...row])), reward: 0 },
    ]);
    const [same] = plain.summarise([{ steps: 2, values: Float32Array.of(-1, 0, -1, 1, 0, 1), reward: 0 }]);
    expectClose(found!, same!, 1e-6);
  });

  test("refuses what it cannot read, and passes that do not fit", () => {
    const encoder = build(kernels);
    const code = (run: () => unknown) => {
      try {
        run();
      } catch (thrown) {
        return (thrown as { code: string; message: string }).code;
      }
      return "accepted";
    };
    const good = environments[0]!;
    expect(encoder.check(draw(5, seededRng(3)))).toMatchObject({ ok: false, failure: { code: "meta.too-long" } });
    expect(encoder.check(draw(2, seededRng(3), 2))).toMatchObject({ ok: false, failure: { code: "meta.ragged" } });
    expect(code(() => encoder.summarise([draw(5, seededRng(3))]))).toBe("meta.too-long");
    expect(code(() => encoder.forward([good, [draw(5, seededRng(3))]]))).toBe("meta.too-long");
    expect(code(() => encoder.forward([good, []]))).toBe("meta.pass");
    expect(code(() => encoder.forward([]))).toBe("meta.pass");
    expect(code(() => encoder.forward([good, good, good, good]))).toBe("meta.pass");
    expect(code(() => encoder.embed([]))).toBe("meta.pass");
    expect(code(() => build(kernels, { trainable: false }).forward([good]))).toBe("meta.pass");
  });

  test("goes back only through a pass that is still there", () => {
    const encoder = build(kernels);
    const bundle = environments[0]!;
    const gone = expect.objectContaining({ code: "meta.pass" });
    expect(() => encoder.backward([pulls[0]!])).toThrow(gone);
    for (const between of [() => encoder.summarise(bundle), () => encoder.embed(encoder.summarise(bundle))]) {
      encoder.forward([bundle]);
      between();
      expect(() => encoder.backward([pulls[0]!])).toThrow(gone);
    }
    encoder.forward([bundle]);
    expect(() => encoder.backward([])).toThrow(/one per embedding/);
    expect(() => encoder.backward([[1]])).toThrow(/widths 1 were given/);
    encoder.backward([pulls[0]!]);
    expect(() => encoder.backward([pulls[0]!])).toThrow(gone);
  });

  test("gives everything back on dispose", () => {
    const own = sets[0]!.make();
    const before = own.memory.used;
    for (const trainable of [true, false]) {
      const encoder = build(own, { trainable });
      encoder.embed(encoder.summarise(environments[1]!));
      encoder.dispose();
    }
    expect(own.memory.used).toBe(before);
  });
});
