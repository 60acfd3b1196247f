/** Each AWARE study from its config to its rows and figures, on lives that are far too short to say anything. */
import { expect, test, vi } from "vitest";
import { tinyModel } from "../../test/fixtures/meta/tiny-model.ts";
import { loadKernels } from "../adapters/runtime/index.ts";
import { mebibytes, millicores } from "../base/index.ts";
import { encodePretrained } from "../learn/meta/index.ts";
import type { AwareConfig } from "./aware/config.ts";
import { type Life, total } from "./aware/life.ts";
import { awareAdaptation } from "./aware-adaptation.ts";
import { awareBootstrap } from "./aware-bootstrap.ts";
import { awareCharacterization } from "./aware-characterization.ts";
import { awareEmbedding } from "./aware-embedding.ts";
import { awareEndToEnd } from "./aware-endtoend.ts";
import { awareHeadroom } from "./aware-headroom.ts";
import { awareSavings } from "./aware-savings.ts";
import { awareSensitivity } from "./aware-sensitivity.ts";
import { awareServing } from "./aware-serving.ts";
import type { Study, UnitResult } from "./study.ts";

const SEED = 1_001;

/** The fluid world, episodes of eight steps, rules that nobody measured, a network that costs nothing. */
function tiny<C extends AwareConfig>(config: C): C {
  const { agent } = config;
  const learner = { ...agent.learner, hidden: [8], batch: 8 };
  return {
    ...config,
    rung: "fluid",
    episodeSteps: 8,
    rules: { leastCpu: millicores(500), targetPercent: 50, leastReplicas: 1, leastMemory: mebibytes(64) },
    agent: { ...agent, learner },
  };
}

/** The same study, every model of which is this one. */
const withModel = <R, C>(study: Study<R, C>, bytes: Uint8Array): Study<R, C> => ({
  ...study,
  runUnit: (job) => study.runUnit({ ...job, model: () => bytes }),
});

async function runUnits<R, C>(
  study: Study<R, C>,
  config: C,
  units: readonly string[],
): Promise<readonly UnitResult<R>[]> {
  const results: UnitResult<R>[] = [];
  for (const unit of units) {
    const fractions: number[] = [];
    const result = await study.runUnit({
      seed: SEED,
      unit,
      config: JSON.parse(JSON.stringify(config)) as C,
      kernels: loadKernels(),
      progress: (fraction) => fractions.push(fraction),
      signal: new AbortController().signal,
      model: () => new Uint8Array(0),
    });
    expect(fractions.every((fraction) => fraction >= 0 && fraction <= 1)).toBe(true);
    results.push({ seed: SEED, unit, result });
  }
  return results;
}

/** All units, and the last one, in which learners act, once more. */
async function runAll<R, C>(study: Study<R, C>, config: C): Promise<void> {
  const units = study.units(config);
  const first = await runUnits(study, config, units);
  expect(JSON.parse(JSON.stringify(first))).toEqual(first);
  expect(await runUnits(study, config, units.slice(-1))).toEqual(first.slice(-1));
  const rows = study.rows(first, config);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  for (const { ours } of rows) {
    expect(Number.isFinite(ours.mean)).toBe(true);
    expect(ours.lo).toBeLessThanOrEqual(ours.hi);
  }
  expect(study.figures(first, config).length).toBeGreaterThan(0);
}

test("aware-bootstrap gives the same lives twice, and rows for every claim and sweep", async () => {
  const config = tiny(awareBootstrap.config({ quick: true }));
  const sweep = { ...config.sweep, seedsOfTen: 1, slot: 1, episodes: 3 };
  await runAll(awareBootstrap, { ...config, slots: [1], episodes: 3, endEpisodes: 2, sweep });
});

test("aware-headroom gives the same lives twice, and a bound that is never dearer than the rules at no more misses", async () => {
  const config = { ...awareHeadroom.config({ quick: true }), rung: "fluid" as const, episodes: 2, slots: [1] };
  await runAll(awareHeadroom, config);
  for (const { result } of await runUnits(awareHeadroom, config, ["1"])) {
    const { rules, bound } = result.lives as { rules: Life; bound: Life };
    expect(total(bound, "violations")).toBeLessThanOrEqual(total(rules, "violations"));
    expect(total(bound, "cost")).toBeLessThanOrEqual(total(rules, "cost"));
  }
});

test("aware-savings gives the same lives twice, and the learner decides most steps, as it proposes", async () => {
  const quick = awareSavings.config({ quick: true });
  const release = { before: 3, after: 1 };
  const config = { ...quick, rung: "fluid" as const, episodes: 6, slots: [2], release };
  await runAll(awareSavings, config);
  for (const { result } of await runUnits(awareSavings, config, ["2"])) {
    const { steps, decisions, asProposed } = result.conduct;
    expect(decisions).toBeGreaterThan(steps / 4);
    expect(asProposed).toBeGreaterThan(0.9 * decisions);
  }
});

test("aware-characterization gives the same lives and changes twice", async () => {
  const config = tiny(awareCharacterization.config({ quick: true }));
  const level = { window: 1, level: 1, within: 0.03 };
  await runAll(awareCharacterization, {
    ...config,
    early: 4,
    changes: { converge: 2, payloads: 1, drop: 1, relearn: 2, level },
  });
});

test("aware-serving gives the same series twice, its sweep included", async () => {
  const config = tiny(awareServing.config({ quick: true }));
  const series = { converge: 2, before: 1, updates: 2, each: 2, retrain: 1, thresholds: [5], sweptOfTen: 1 };
  await runAll(awareServing, { ...config, series });
});

test("aware-endtoend gives the same life twice", async () => {
  const config = tiny(awareEndToEnd.config({ quick: true }));
  const life = { training: 2, serving: 1, updates: 2, each: 1, unseen: 2 };
  await runAll(withModel(awareEndToEnd, encodePretrained(await tinyModel())), { ...config, life });
});

test("aware-embedding ranks unseen applications twice alike, with rows for every claim", async () => {
  const study = withModel(awareEmbedding, encodePretrained(await tinyModel()));
  await runAll(study, { ...awareEmbedding.config({ quick: true }), members: 8, trajectories: 1 });
});

test("aware-sensitivity changes one size at a time, and compares each with the usual one", async () => {
  const config = awareSensitivity.config({ quick: false });
  const { usual, ...others } = config.models;
  for (const [name, { applications, config: changed }] of Object.entries(others)) {
    const sizes = {
      bundle: [changed.bundle, usual?.config.bundle],
      embedding: [changed.meta.embedding, usual?.config.meta.embedding],
      pool: [applications, usual?.applications],
    };
    const differing = Object.entries(sizes).filter(([, [own, other]]) => own !== other);
    expect(differing.map(([size, [own]]) => `${size}-${own}`)).toEqual([name]);
    expect(applications * changed.visits).toBe(1_600);
  }
  const study = withModel(awareSensitivity, encodePretrained(await tinyModel()));
  await runAll(study, { ...awareSensitivity.config({ quick: true }), members: 2, episodes: 1 });
});

test("aware-adaptation gives the same lives twice, with rows for both kinds of unseen applications", async () => {
  const bytes = encodePretrained(await tinyModel());
  const config = tiny(awareAdaptation.config({ quick: true }));
  const level = { window: 1, level: 1, within: 0.03 };
  const asked: string[] = [];
  const study: typeof awareAdaptation = {
    ...awareAdaptation,
    runUnit: (job) =>
      awareAdaptation.runUnit({
        ...job,
        model(name) {
          asked.push(name);
          return bytes;
        },
      }),
  };
  await runAll(study, {
    ...config,
    adaptation: {
      ...config.adaptation,
      source: 1,
      perGroup: { split: 1, "held-out": 1 },
      episodes: 2,
      still: 1,
      level,
    },
  });
  // Each pool's workloads begin with a model that knows nothing of that pool's unseen applications.
  expect([...new Set(asked)]).toEqual(["split-401", "held-out-401"]);
});

test("a job stops where it is when the run stops", async () => {
  const config = { ...tiny(awareBootstrap.config({ quick: true })), episodes: 1_000 };
  const stop = new AbortController();
  const job = awareBootstrap.runUnit({
    seed: SEED,
    unit: "scene/0",
    config,
    kernels: loadKernels(),
    progress: () => stop.abort(new Error("the run was stopped")),
    signal: stop.signal,
    model: () => new Uint8Array(0),
  });
  await expect(job).rejects.toThrow("the run was stopped");
});

test("a full run draws recorded loads, and says what is missing where there are none", async () => {
  vi.stubEnv("COXSWAIN_DATASETS", "");
  const config = { ...tiny(awareBootstrap.config({ quick: false })), episodes: 1 };
  const job = { seed: SEED, unit: "scene/0", config, kernels: loadKernels(), progress: () => undefined };
  const { signal } = new AbortController();
  const failed = awareBootstrap.runUnit({ ...job, signal, model: () => new Uint8Array(0) });
  await expect(failed).rejects.toThrow(/azure-functions-2019.*COXSWAIN_DATASETS/);
  vi.unstubAllEnvs();
});
