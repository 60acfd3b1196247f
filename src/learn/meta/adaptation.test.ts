import { beforeAll, describe, expect, test } from "vitest";
import { makeToyWorld, TOY_STEPS, toyConfig, toyPool, toyShape } from "../../../test/fixtures/meta/toy-pool.ts";
import { sets } from "../../../test/oracle/harness.ts";
import { seededRng, unwrap } from "../../base/index.ts";
import { Adaptation } from "./adaptation.ts";
import { KinshipMap } from "./kinship.ts";
import type { PretrainedModel } from "./pretrained.ts";
import { decodePretrained, encodePretrained } from "./pretrained.ts";
import type { Episode } from "./pretraining/episode.ts";
import { returnOf } from "./pretraining/episode.ts";
import { inProcessRunner } from "./pretraining/in-process.ts";
import { Pretraining } from "./pretraining/pretraining.ts";
import { pretrainKinds } from "./pretraining/thread-tasks.ts";

const wasm = () => sets[1]!.make();

let model: PretrainedModel;
beforeAll(async () => {
  const runner = inProcessRunner(pretrainKinds(makeToyWorld), wasm());
  const training = new Pretraining({
    pool: toyPool,
    shape: toyShape,
    config: toyConfig,
    seed: 7,
    kernels: wasm(),
    runner,
  });
  while (!training.isDone) await training.advance();
  // Through bytes, as it comes to whoever adapts.
  model = unwrap(decodePretrained(encodePretrained(training.model())));
  training.dispose();
});

function playOnce(adaptation: Adaptation, goal: number, { seed, noise }: { seed: number; noise: number }): Episode {
  const env = makeToyWorld({ goal });
  const rng = seededRng(seed);
  let { obs } = env.reset({ seed });
  const [seen, actions, rewards] = [[...obs], [] as number[], [] as number[]];
  for (let t = 0; t < TOY_STEPS; t++) {
    const chosen = unwrap(adaptation.act(obs, { explore: false })).action[0] ?? 0;
    const action = Math.min(Math.max(chosen + noise * rng.normal(), -1), 1);
    const step = env.step(Float32Array.of(action));
    actions.push(action);
    rewards.push(step.reward);
    seen.push(...step.obs);
    obs = step.obs;
  }
  return {
    steps: TOY_STEPS,
    obs: Float32Array.from(seen),
    actions: Float32Array.from(actions),
    rewards: Float32Array.from(rewards),
    end: "truncated",
  };
}

const open = (least = 3) => new Adaptation({ kernels: wasm(), model, seed: 1, least });

describe("a workload that was never seen", () => {
  test("starts neutral with a reason, has its embedding after a few trajectories, and is then served better at once", () => {
    const returns = [-0.55, 0.55].map((goal) => {
      const adaptation = open();
      const { embedding, kinship } = adaptation.familiarity();
      expect(embedding).toMatchObject({ kind: "neutral", trajectories: 0, why: { code: "meta.too-few", retry: true } });
      expect(kinship).toBeUndefined();
      const before = returnOf(playOnce(adaptation, goal, { seed: 1, noise: 0 }));
      const arrive = (seed: number) => unwrap(adaptation.insert(playOnce(adaptation, goal, { seed, noise: 0.3 })));
      for (const seed of [10, 11]) arrive(seed);
      expect(adaptation.familiarity().embedding.kind).toBe("neutral");
      arrive(12);
      const known = adaptation.familiarity();
      expect(known.embedding).toMatchObject({ kind: "known", trajectories: 3 });
      // Better ones arrive, and the embedding is computed anew from the best.
      for (const seed of [20, 21, 22]) arrive(seed);
      const refreshed = adaptation.familiarity();
      expect(refreshed.embedding.vector).not.toEqual(known.embedding.vector);
      // Of the pool's goals −0.7 to −0.5 and 0.5 to 0.7, its kin are those of its own sign.
      const kin = refreshed.kinship?.nearest.slice(0, 3).map(({ name }) => Number(name.slice("goal ".length)));
      expect(kin?.map(Math.sign)).toEqual([goal, goal, goal].map(Math.sign));
      const after = returnOf(playOnce(adaptation, goal, { seed: 1, noise: 0 }));
      adaptation.dispose();
      return { before, after };
    });
    const mean = (of: "before" | "after") => returns.reduce((sum, one) => sum + one[of], 0) / 2;
    // Not a gradient step was taken. Who does the same at −0.55 and at 0.55 earns 6·(1 − 0.55²) ≈ 4.2 at most.
    expect(mean("before")).toBeLessThan(4.25);
    expect(mean("after")).toBeGreaterThan(5.4);
  });

  test("is fine-tuned from its own steps under its embedding, and the same seed does the same", () => {
    const tuned = () => {
      const adaptation = open();
      // A goal between those of the pool: the shared policy is off by as much as it can be.
      for (let i = 0; i < 12; i++) unwrap(adaptation.insert(playOnce(adaptation, 0.1, { seed: i, noise: 0.4 })));
      const before = returnOf(playOnce(adaptation, 0.1, { seed: 99, noise: 0 }));
      adaptation.fineTune(400);
      const after = returnOf(playOnce(adaptation, 0.1, { seed: 99, noise: 0 }));
      const policy = adaptation.policy();
      adaptation.dispose();
      return { before, after, policy };
    };
    const [one, two] = [tuned(), tuned()];
    expect(one.after).toBeGreaterThan(5.4);
    expect(one.after).toBeGreaterThan(one.before);
    expect(Buffer.from(two.policy).equals(Buffer.from(one.policy))).toBe(true);
  });

  test("a trajectory that the encoder can not read changes nothing", () => {
    const adaptation = open(1);
    const good = playOnce(adaptation, 0.6, { seed: 1, noise: 0 });
    const long = { ...good, steps: 2 * TOY_STEPS, obs: new Float32Array(2 * TOY_STEPS + 1) };
    const refused = adaptation.insert({
      ...long,
      actions: new Float32Array(2 * TOY_STEPS),
      rewards: new Float32Array(2 * TOY_STEPS),
    });
    expect(refused).toMatchObject({ ok: false, failure: { code: "meta.too-long" } });
    expect(adaptation.familiarity().embedding.kind).toBe("neutral");
    adaptation.dispose();
  });

  test("parts that do not fit one another are refused before anybody acts by them", () => {
    const wide = { ...model, meta: { ...model.meta, hidden: model.meta.hidden + 1 } };
    expect(() => new Adaptation({ kernels: wasm(), model: wide, seed: 1 })).toThrow(
      /its hidden is 10 and this one's is 11/,
    );
    expect(decodePretrained(model.encoder)).toMatchObject({ ok: false, failure: { code: "meta.pretrained" } });
    const bytes = encodePretrained(model);
    bytes[bytes.length - 20]! ^= 1;
    expect(decodePretrained(bytes)).toMatchObject({ ok: false, failure: { code: "checkpoint.corrupt" } });
  });
});

test("a stranger is farther from its nearest neighbour than 19 of 20 members are from theirs", () => {
  // Directions in the plane, 10° apart within two clusters on opposite sides, so the middle of the pool is near 0.
  const at = (degrees: number) =>
    Float32Array.of(Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180));
  const pool = [0, 10, 20, 180, 190, 200].map((degrees) => ({ name: `${degrees}`, embedding: at(degrees) }));
  const map = new KinshipMap(pool);
  const near = map.of(at(13));
  expect(near.nearest[0]?.name).toBe("10");
  expect(near.isStranger).toBe(false);
  // Everybody's nearest neighbour is 10° away, so that is the line.
  expect(near.line).toBeCloseTo(Math.cos((10 * Math.PI) / 180), 5);
  expect(map.of(at(100)).isStranger).toBe(true);
  expect(map.of(at(100)).nearest[0]?.similarity).toBeLessThan(0.2);
});
