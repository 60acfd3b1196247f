import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { makeToyWorld, toyConfig, toyPool, toyShape } from "../../../../test/fixtures/meta/toy-pool.ts";
import { sets } from "../../../../test/oracle/harness.ts";
import type { JobName, Kernels, WorkerPool } from "../../tensor/index.ts";
import { cosineSimilarity } from "../similarity.ts";
import type { PretrainConfig } from "./config.ts";
import { inProcessRunner } from "./in-process.ts";
import { Pretraining } from "./pretraining.ts";
import { pretrainKinds } from "./thread-tasks.ts";

const wasm = () => sets[1]!.make();
const short: PretrainConfig = {
  ...toyConfig,
  visits: 2,
  lossBatches: 1,
  learnSteps: 2,
  settleSteps: 2,
};

interface StartOptions {
  readonly config?: PretrainConfig;
  readonly runner?: (kernels: Kernels) => Pick<WorkerPool, "run">;
  readonly resumeFrom?: Uint8Array;
}

const oneThread = (kernels: Kernels) => inProcessRunner(pretrainKinds(makeToyWorld), kernels);

function start({ config = short, runner = oneThread, resumeFrom }: StartOptions = {}): Pretraining {
  const kernels = wasm();
  const options = { pool: toyPool, shape: toyShape, config, seed: 7, kernels, runner: runner(wasm()) };
  return new Pretraining(resumeFrom ? { ...options, resumeFrom } : options);
}

/** Bytes by their digest: a million of them compared one by one take longer than the training. */
const digest = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

async function finish(training: Pretraining): Promise<string> {
  while (!training.isDone) await training.advance();
  return digest(training.save());
}

/** Two threads that take jobs in turn, the later one first: as unlike one thread as a pool may be. */
function twoThreads(): Pick<WorkerPool, "run"> {
  const threads = [0, 1].map(() => oneThread(wasm()));
  let jobs = 0;
  return {
    run: async (job: JobName) => {
      jobs += 1;
      const thread = threads[jobs % 2];
      if (jobs % 2 === 1) await new Promise((resolve) => setImmediate(resolve));
      return thread?.run(job);
    },
  };
}

describe("pre-training", () => {
  test("continued after any round it gives the bytes of one that was never interrupted", async () => {
    const whole = start();
    const saves: Uint8Array[] = [whole.save()];
    while (!whole.isDone) {
      await whole.advance();
      saves.push(whole.save());
    }
    // 6 environments, 4 to a round: 2 rounds to a turn, a turn of warm-up, two joint ones, refresh, settle, evaluation.
    expect(whole.rounds).toBe(2 * (2 + 3) + 1);
    expect(saves).toHaveLength(whole.rounds + 1);
    for (const [round, save] of saves.entries()) {
      const resumed = start({ resumeFrom: save });
      expect(resumed.round).toBe(round);
      expect(await finish(resumed), `resumed after round ${round}`).toBe(digest(saves.at(-1) ?? new Uint8Array()));
    }
  });

  test("with traits, too, it continues to the byte, and learns to read them off the embeddings", async () => {
    const traits = [{ name: "sign", kinds: ["negative", "positive"] }];
    const pool = toyPool.map((entry, i) => ({
      ...entry,
      traits: i < 3 ? Float32Array.of(1, 0) : Float32Array.of(0, 1),
    }));
    const begin = (resumeFrom?: Uint8Array) => {
      const meta = { ...short.meta, lr: 2e-2 };
      const config = { ...short, meta, learnSteps: 0, visits: 30, traits: { weight: 3, lr: 5e-2 } };
      const kernels = wasm();
      const options = { pool, traits, shape: toyShape, config, seed: 7, kernels, runner: oneThread(wasm()) };
      return new Pretraining(resumeFrom ? { ...options, resumeFrom } : options);
    };
    const whole = begin();
    while (whole.round < 20) await whole.advance();
    const half = whole.save();
    const end = await finish(whole);
    expect(await finish(begin(half))).toBe(end);
    const losses = whole.curves.map(({ traitLoss }) => traitLoss);
    expect(Math.max(...losses.slice(0, 4))).toBeGreaterThan(0.5);
    expect(Math.max(...losses.slice(-4))).toBeLessThan(0.4);
    expect(() => new Pretraining({ ...options(), traits })).toThrow(/0 shares for 2 kinds/);

    function options() {
      return { pool: toyPool, shape: toyShape, config: short, seed: 7, kernels: wasm(), runner: oneThread(wasm()) };
    }
  });

  test("with guides, too, it continues to the byte, and to another end than without", async () => {
    // Each environment's guide says one number, whatever is seen; rewards say what they say without one.
    const rule = ([says = 0]: Float32Array) => Float32Array.of(says);
    const pool = toyPool.map((entry, i) => ({ ...entry, guide: Float32Array.of(i < 3 ? 0.9 : -0.9) }));
    const begin = (weight: number, resumeFrom?: Uint8Array) => {
      const config = { ...short, guide: { weight }, settleSteps: 40 };
      const runner = inProcessRunner(pretrainKinds(makeToyWorld, rule), wasm());
      const options = { pool, guide: rule, shape: toyShape, config, seed: 7, kernels: wasm(), runner };
      return new Pretraining(resumeFrom ? { ...options, resumeFrom } : options);
    };
    const whole = begin(1);
    while (whole.round < 4) await whole.advance();
    const half = whole.save();
    const end = await finish(whole);
    expect(await finish(begin(1, half))).toBe(end);
    expect(await finish(begin(0))).not.toBe(end);
    expect(() => begin(-1)).toThrow(/guide.weight is -1/);
  });

  test("two threads that take jobs in another order give the same bytes", async () => {
    const [one, two] = [await finish(start()), await finish(start({ runner: twoThreads }))];
    expect(two).toBe(one);
  });

  test("teaches one policy to do in each environment what only its embedding can say", async () => {
    const training = start({ config: toyConfig });
    await finish(training);
    const { evaluation, embeddings } = training;
    expect(evaluation.map(({ environment }) => environment)).toEqual([0, 1, 2, 3, 4, 5]);
    // The best policy that knows nothing plays 0 and earns 6·(1 − 0.6²) ≈ 3.8 in the mean; who knows the goal earns 6.
    const mean = (of: "known" | "neutral") => evaluation.reduce((sum, row) => sum + row[of], 0) / evaluation.length;
    expect(mean("known")).toBeGreaterThan(5.4);
    expect(mean("neutral")).toBeLessThan(4.5);
    // Goals of one sign are alike, goals of two are not.
    const similar = (a: number, b: number) => cosineSimilarity(embeddings[a] ?? [], embeddings[b] ?? []);
    const same = [similar(0, 1), similar(1, 2), similar(3, 4), similar(4, 5)];
    const different = [similar(0, 3), similar(1, 4), similar(2, 5)];
    expect(Math.min(...same)).toBeGreaterThan(Math.max(...different));
    expect(training.curves).toHaveLength(toyConfig.visits * 2);
    expect(training.progress).toBe(1);
  });

  test("progress never goes back and ends at 1", async () => {
    const training = start();
    const seen: number[] = [training.progress];
    while (!training.isDone) {
      await training.advance();
      seen.push(training.progress);
    }
    expect(seen[0]).toBe(0);
    expect(seen.at(-1)).toBe(1);
    expect(seen.every((value, i) => i === 0 || value > (seen[i - 1] ?? 1))).toBe(true);
  });

  test("a checkpoint of another seed, pool or setting is refused by what differs", () => {
    const saved = start().save();
    const resume = (options: Partial<ConstructorParameters<typeof Pretraining>[0]>) => () =>
      new Pretraining({
        pool: toyPool,
        shape: toyShape,
        config: short,
        seed: 7,
        kernels: wasm(),
        runner: oneThread(wasm()),
        resumeFrom: saved,
        ...options,
      });
    expect(resume({ seed: 8 })).toThrow(/its seed is another/);
    expect(resume({ pool: toyPool.slice(1) })).toThrow(/its names is another/);
    expect(resume({ config: toyConfig })).toThrow(/its config is another/);
    expect(resume({ resumeFrom: saved.slice(0, 500) })).toThrow(
      expect.objectContaining({ code: "checkpoint.truncated" }),
    );
  });

  test("settings that make no sense together are refused before anything is computed", () => {
    const build = (config: Partial<PretrainConfig>) => () => start({ config: { ...short, ...config } });
    expect(build({ learnGroups: 5 })).toThrow(/a batch of 32 cannot be shared evenly by 5 environments/);
    expect(build({ visits: 0 })).toThrow(/visits is 0/);
    expect(build({ neutralShare: 2 })).toThrow(/neutralShare is 2/);
    expect(build({})).not.toThrow();
  });
});
