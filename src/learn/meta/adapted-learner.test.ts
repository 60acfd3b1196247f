import { beforeAll, describe, expect, test } from "vitest";
import { type ToyEpisode, toyEpisode, toyModelBytes, toyReturn } from "../../../test/fixtures/meta/toy-model.ts";
import { TOY_STEPS } from "../../../test/fixtures/meta/toy-pool.ts";
import { loadKernels } from "../../adapters/runtime/index.ts";
import { unwrap } from "../../base/index.ts";
import type { Transition } from "../rl/index.ts";
import { Bcq, bcqDefaults } from "../rl/index.ts";
import { AdaptedLearner, openAdapted } from "./adapted-learner.ts";
import { decodePretrained, encodePretrained } from "./pretrained.ts";
import { fineTuning, openSharedModel, type SharedModel } from "./shared-model.ts";

const kernels = loadKernels({ prefer: "wasm" });

let bytes: Uint8Array;
let shared: SharedModel;
beforeAll(async () => {
  bytes = await toyModelBytes();
  shared = unwrap(openSharedModel(bytes, kernels));
});

const open = (seed = 1) => new AdaptedLearner({ kernels, shared, seed, leastRows: TOY_STEPS });

/** Plays with the learner and lets it observe. */
function live(learner: AdaptedLearner, episode: ToyEpisode): readonly Transition[] {
  const steps = toyEpisode(learner, episode);
  for (const step of steps) unwrap(learner.observe(step));
  return steps;
}

const arrive = (learner: AdaptedLearner, goal: number, seeds: readonly number[]) =>
  seeds.flatMap((seed) => live(learner, { goal, seed, noise: 0.3 }));

const vectorOf = (learner: AdaptedLearner) => [...learner.familiarity().embedding.vector];
const tried = (learner: AdaptedLearner, goal: number) => toyReturn(toyEpisode(learner, { goal, seed: 99, noise: 0 }));

describe("a policy of a shared model", () => {
  test("is neutral with a reason until it has three trajectories, and reads them only when it is updated", () => {
    const learner = open();
    const reason = { kind: "neutral", why: { code: "meta.too-few" } };
    expect(learner.familiarity()).toMatchObject({ embedding: reason, kinship: undefined });
    arrive(learner, 0.6, [1, 2]);
    learner.update();
    expect(learner.familiarity().embedding).toMatchObject({ ...reason, trajectories: 2 });
    arrive(learner, 0.6, [3]);
    // Acting and observing happen in ticks, and reading takes longer than one.
    expect(learner.familiarity().embedding.kind).toBe("neutral");
    learner.update();
    expect(learner.familiarity().embedding).toMatchObject({ kind: "known", trajectories: 3 });
    const known = vectorOf(learner);
    // Better ones arrive, and the embedding is computed anew from the best.
    arrive(learner, 0.6, [20, 21, 22]);
    learner.update();
    expect(vectorOf(learner)).not.toEqual(known);
    const kin = learner.familiarity().kinship?.nearest.slice(0, 3) ?? [];
    expect(kin.map(({ name }) => Math.sign(Number(name.slice("goal ".length))))).toEqual([1, 1, 1]);
    learner.dispose();
  });

  test("serves a workload that was never seen better with its embedding, before any gradient step", () => {
    const earned = [-0.55, 0.55].map((goal) => {
      const learner = open();
      const before = tried(learner, goal);
      arrive(learner, goal, [10, 11, 12]);
      learner.update();
      // Not a batch of its own steps yet: only the embedding has changed.
      expect(learner.update()).toBeUndefined();
      arrive(learner, goal, [20]);
      learner.update();
      const after = tried(learner, goal);
      learner.dispose();
      return { before, after };
    });
    const mean = (of: "before" | "after") => earned.reduce((sum, one) => sum + one[of], 0) / 2;
    // Who does the same at −0.55 and at 0.55 earns 6·(1 − 0.55²) ≈ 4.2 at most.
    expect(mean("before")).toBeLessThan(4.25);
    expect(mean("after")).toBeGreaterThan(5.4);
  });

  test("learns nothing from what others did in its place but who it works for", () => {
    const learner = open();
    for (let seed = 0; seed < 12; seed++) live(learner, { goal: 0.6, seed, noise: 0.2, instead: 0.6 });
    expect(learner.update()).toBeUndefined();
    expect(learner.familiarity().embedding.kind).toBe("known");
    expect(learner.steps).toBe(12 * TOY_STEPS);
    // Once it has taken a batch of 32 steps itself, it learns from all of them.
    arrive(learner, 0.6, [50, 51, 52, 53, 54]);
    expect(learner.update()).toBeUndefined();
    arrive(learner, 0.6, [55]);
    expect(learner.update()).toMatchObject({ gradientSteps: 1, criticLoss: expect.closeTo(0, -1) });
    learner.dispose();
  });

  test("is fine-tuned in batches of 64 at most, however large those of pre-training were", () => {
    const { learner } = unwrap(decodePretrained(bytes));
    expect(learner.batch).toBe(32);
    expect(fineTuning({ learner })).toEqual(learner);
    expect(fineTuning({ learner: { ...learner, batch: 128 } })).toEqual({ ...learner, batch: 64 });
  });

  test("is fine-tuned from its own steps, and the same seed does the same", () => {
    const tuned = () => {
      const learner = open();
      // A goal between those of the pool: the shared policy is off by as much as it can be.
      for (let seed = 0; seed < 12; seed++) live(learner, { goal: 0.1, seed, noise: 0.4 });
      const before = tried(learner, 0.1);
      for (let i = 0; i < 400; i++) learner.update();
      return { before, after: tried(learner, 0.1), saved: learner.save() };
    };
    const [one, two] = [tuned(), tuned()];
    expect(one.after).toBeGreaterThan(5.4);
    expect(one.after).toBeGreaterThan(one.before);
    expect(Buffer.from(two.saved).equals(Buffer.from(one.saved))).toBe(true);
  });

  test("takes twice the steps for a stranger", () => {
    const first = open();
    arrive(first, 0.6, [1, 2, 3, 4, 5, 6]);
    first.update();
    const own = Float32Array.from(vectorOf(first));
    first.dispose();
    const model = unwrap(decodePretrained(bytes));
    const among = (embeddings: readonly Float32Array[]) => {
      const pool = embeddings.map((embedding, i) => ({ name: `member ${i}`, embedding }));
      const opened = unwrap(openSharedModel(encodePretrained({ ...model, pool }), kernels));
      const learner = new AdaptedLearner({ kernels, shared: opened, seed: 1, leastRows: TOY_STEPS });
      arrive(learner, 0.6, [1, 2, 3, 4, 5, 6]);
      const steps = learner.update()?.gradientSteps;
      const { kinship } = learner.familiarity();
      learner.dispose();
      return { isStranger: kinship?.isStranger, steps };
    };
    // Directions 10° apart in two clusters on opposite sides, so that the middle of the pool is 0: this workload lies in
    // one of them, or across.
    const length = Math.hypot(...own);
    const along = own.map((x) => x / length);
    const across = Float32Array.of(along[1] ?? 0, -(along[0] ?? 0), 0);
    const side = Math.hypot(...across);
    const at = (degrees: number) => {
      const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
      return along.map((x, k) => cos * x + (sin * (across[k] ?? 0)) / side);
    };
    const clusters = (turned: number) => [-5, 5, 175, 185].map((degrees) => at(degrees + turned));
    expect(among(clusters(0))).toEqual({ isStranger: false, steps: 1 });
    expect(among(clusters(90))).toEqual({ isStranger: true, steps: 2 });
  });
});

describe("what cannot be read", () => {
  test("a step with a number that is none is refused, and changes nothing", () => {
    const learner = open();
    const [step] = toyEpisode(learner, { goal: 0.6, seed: 1, noise: 0 }) as [Transition];
    const bad = learner.observe({ ...step, obs: [Number.NaN] });
    expect(bad).toMatchObject({ ok: false, failure: { code: "rl.not-finite" } });
    expect(learner.observe({ ...step, obs: [1, 2] })).toMatchObject({ ok: false, failure: { code: "rl.shape" } });
    expect(learner.steps).toBe(0);
    learner.dispose();
  });

  test("a trajectory with a hole is cut there, a short rest says nothing, and what is too long is cut too", () => {
    const least = 3;
    const ragged = new AdaptedLearner({ kernels, shared, seed: 1, leastRows: least });
    const count = () => {
      ragged.update();
      return ragged.familiarity().embedding.trajectories;
    };
    const episode = (seed: number) => toyEpisode(ragged, { goal: 0.6, seed, noise: 0.3 });
    // Of 6 steps the second is missing: 4 are left. Of the next the fourth: 2 are left, too few.
    for (const step of episode(1).filter((_, t) => t !== 1)) unwrap(ragged.observe(step));
    expect(count()).toBe(1);
    for (const step of episode(2).filter((_, t) => t !== 3)) unwrap(ragged.observe(step));
    expect(count()).toBe(1);
    // Two episodes as one of 12 steps, where the encoder reads 6.
    const [first, second] = [episode(3), episode(4)];
    const seam = second[0] as Transition;
    const joined = [...first.slice(0, -1), { ...(first.at(-1) as Transition), nextObs: seam.obs, end: "no" as const }];
    for (const step of [...joined, ...second]) unwrap(ragged.observe(step));
    expect(count()).toBe(3);
    ragged.dispose();
  });
});

describe("a checkpoint", () => {
  function practised(): AdaptedLearner {
    const learner = open();
    arrive(learner, 0.55, [1, 2, 3, 4, 5, 6, 7]);
    for (let i = 0; i < 20; i++) learner.update();
    return learner;
  }

  test("carries policy and embedding, and what is remembered a second time does not count twice", () => {
    const learner = practised();
    const again = open(2);
    unwrap(again.load(learner.save()));
    expect(vectorOf(again)).toEqual(vectorOf(learner));
    expect(again.familiarity().kinship).toEqual(learner.familiarity().kinship);
    expect(tried(again, 0.55)).toBe(tried(learner, 0.55));
    // After a restart the same steps come back from a store.
    const teller = open();
    for (const step of arrive(teller, 0.55, [1, 2, 3, 4, 5, 6, 7])) unwrap(again.observe(step));
    again.update();
    expect(again.familiarity().embedding).toMatchObject({ kind: "known", trajectories: 3 });
    expect(vectorOf(again)).toEqual(vectorOf(learner));
    for (const each of [learner, again, teller]) each.dispose();
  });

  test("that is resumable goes on exactly, in the middle of an episode", () => {
    const learner = practised();
    const steps = toyEpisode(learner, { goal: 0.55, seed: 30, noise: 0.3 });
    for (const step of steps.slice(0, 4)) unwrap(learner.observe(step));
    const again = unwrap(openAdapted(learner.save({ resumable: true }), { kernels, shared, leastRows: TOY_STEPS }));
    for (const each of [learner, again]) {
      for (const step of steps.slice(4)) unwrap(each.observe(step));
      for (let i = 0; i < 5; i++) each.update();
    }
    const saves = [learner, again].map((each) => Buffer.from(each.save({ resumable: true })));
    expect(saves[0]?.equals(saves[1] as Buffer)).toBe(true);
    for (const each of [learner, again]) each.dispose();
  });

  test("that was trained beside is taken over without what came meanwhile being lost", () => {
    const learner = practised();
    const beside = unwrap(openAdapted(learner.save({ resumable: true }), { kernels, shared, leastRows: TOY_STEPS }));
    arrive(learner, 0.55, [40, 41, 42, 43]);
    for (let i = 0; i < 10; i++) beside.update();
    unwrap(learner.load(beside.save()));
    expect(vectorOf(learner)).toEqual(vectorOf(beside));
    expect(tried(learner, 0.55)).toBe(tried(beside, 0.55));
    expect(learner.steps).toBe(11 * TOY_STEPS);
    // The four that the other one never saw are read now, and one of them is among the best.
    learner.update();
    expect(vectorOf(learner)).not.toEqual(vectorOf(beside));
    for (const each of [learner, beside]) each.dispose();
  });

  test("of another model, of another learner or damaged is refused, and nothing changes", () => {
    const learner = practised();
    const before = Buffer.from(learner.save({ resumable: true }));
    const model = unwrap(decodePretrained(bytes));
    const other = unwrap(openSharedModel(encodePretrained({ ...model, task: "another" }), kernels));
    const stranger = new AdaptedLearner({ kernels, shared: other, seed: 1 });
    expect(learner.load(stranger.save())).toMatchObject({
      ok: false,
      failure: { code: "meta.other-model", message: expect.stringContaining(other.identity) },
    });
    const { obs, action } = learner.shape;
    const bcq = new Bcq({
      kernels,
      shape: { obs, action, actorContext: 0, criticContext: 0 },
      config: { ...bcqDefaults, hidden: [4], bufferSize: 10 },
      seed: 1,
    });
    expect(learner.load(bcq.save())).toMatchObject({ ok: false, failure: { code: "checkpoint.mismatch" } });
    const torn = learner.save();
    torn[torn.length - 9]! ^= 1;
    expect(learner.load(torn)).toMatchObject({ ok: false, failure: { code: "checkpoint.corrupt" } });
    expect(openAdapted(bcq.save(), { kernels, shared })).toMatchObject({
      ok: false,
      failure: { code: "checkpoint.mismatch" },
    });
    expect(Buffer.from(learner.save({ resumable: true })).equals(before)).toBe(true);
    for (const each of [learner, stranger, bcq]) each.dispose();
  });
});

describe("a shared model", () => {
  const refusal = (change: (model: ReturnType<typeof read>) => object) => {
    const opened = openSharedModel(encodePretrained({ ...read(), ...change(read()) }), kernels);
    return opened.ok ? undefined : opened.failure;
  };
  const read = () => unwrap(decodePretrained(bytes));

  test("whose parts do not fit one another is refused by name before anybody acts by it", () => {
    const wide = refusal(({ meta }) => ({ meta: { ...meta, hidden: meta.hidden + 1 } }));
    expect(wide).toMatchObject({ code: "meta.checkpoint", message: expect.stringContaining("its hidden is 10") });
    const deaf = refusal(({ shape }) => ({ shape: { ...shape, actorContext: 7 } }));
    expect(deaf).toMatchObject({
      code: "meta.pretrained",
      message: expect.stringContaining("embeddings of 7 numbers"),
    });
    const foreign = refusal(({ shape }) => ({ shape: { ...shape, obs: 2 } }));
    expect(foreign).toMatchObject({ code: "checkpoint.mismatch" });
  });

  test("that is no model, cut or damaged is refused", () => {
    const code = (given: Uint8Array) => {
      const opened = openSharedModel(given, kernels);
      return opened.ok ? undefined : opened.failure.code;
    };
    expect(code(read().encoder)).toBe("meta.pretrained");
    expect(code(bytes.slice(0, -100))).toBe("checkpoint.truncated");
    const torn = bytes.slice();
    torn[torn.length - 20]! ^= 1;
    expect(code(torn)).toBe("checkpoint.corrupt");
  });

  test("is the same from memory that threads share, and known by its bytes", () => {
    expect(shared.bytes.buffer).toBeInstanceOf(SharedArrayBuffer);
    const again = unwrap(openSharedModel(shared.bytes, kernels));
    expect(again.identity).toBe(shared.identity);
    expect(again.bytes).toBe(shared.bytes);
    again.dispose();
    // As files are read.
    const read = unwrap(openSharedModel(Buffer.from(bytes), kernels));
    expect(read.identity).toBe(shared.identity);
    read.dispose();
  });
});
