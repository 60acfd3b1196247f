/**
 * What every trajectory store must do, whatever it is made of.
 * Each store opens itself empty; `reopen` is given by those that keep something.
 */

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AgentId, EpisodeId, Ms } from "../../src/base/index.ts";
import { failureOf, seededRng } from "../../src/base/index.ts";
import type { Completion, EpisodeEnd, TrajectoryRecord, TrajectoryStore } from "../../src/learn/trajectory/index.ts";
import type { Outcome } from "./trajectory-model.ts";
import { fingerprint, TrajectoryModel, transitionText } from "./trajectory-model.ts";

export interface OpenedStore {
  readonly store: TrajectoryStore;
  /** Closes the store and opens the same content again. */
  reopen?(): Promise<TrajectoryStore>;
  /** After the test, whatever happened. */
  dispose(): Promise<void>;
}

export interface ConformanceOptions {
  /** How many random histories are played; fewer for stores behind a network. */
  readonly histories?: number;
}

type Step =
  | { kind: "append"; batch: TrajectoryRecord[] }
  | { kind: "complete"; batch: Completion[] }
  | { kind: "forget"; episodes: EpisodeId[] };

export function trajectoryStoreConformance(
  name: string,
  open: () => Promise<OpenedStore>,
  { histories = 12 }: ConformanceOptions = {},
): void {
  const withStore = (job: (opened: OpenedStore) => Promise<void>) => async () => {
    const opened = await open();
    try {
      await job(opened);
    } finally {
      await opened.dispose();
    }
  };

  describe(`trajectory store: ${name}`, () => {
    test("random histories of appends, retries, completions and deletions leave what the model says", {
      timeout: 60_000,
    }, async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(anyStep, { minLength: 1, maxLength: 14 }),
          fc.integer({ min: 0, max: 1e6 }),
          async (steps, seed) => {
            const opened = await open();
            try {
              let { store } = opened;
              const model = new TrajectoryModel();
              for (const step of steps) expect(await applyTo(store, step)).toEqual(applyToModel(model, step));
              await expectSameContent(store, model, seed);
              if (opened.reopen) {
                store = await opened.reopen();
                await expectSameContent(store, model, seed);
              }
            } finally {
              await opened.dispose();
            }
          },
        ),
        { numRuns: histories, seed: 20_261_115 },
      );
    });

    test(
      "a batch that is appended twice is stored once",
      withStore(async ({ store }) => {
        const batch = [0, 1, 2].map((step) => recordAt({ step }));
        expect(await store.append(batch)).toEqual({ added: 3, repeated: 0 });
        expect(await store.append(batch)).toEqual({ added: 0, repeated: 3 });
        expect(await store.counts()).toEqual({ episodes: 1, records: 3, pending: 0 });
      }),
    );

    test(
      "a step appended again with other content is a conflict and changes nothing, also for the rest of its batch",
      withStore(async ({ store }) => {
        await store.append([recordAt({ step: 0 })]);
        const other = recordAt({ step: 0, obs: Float32Array.of(9, 9) });
        expect(await codeOf(store.append([recordAt({ step: 1 }), other]))).toBe("store.conflict");
        expect((await store.episode(EPISODE)).map(fingerprint)).toEqual([fingerprint(recordAt({ step: 0 }))]);
      }),
    );

    test(
      "a difference in any single field is a conflict",
      withStore(async ({ store }) => {
        const whole = recordAt({
          step: 0,
          finalObs: Float32Array.of(1, 2),
          actorContext: Float32Array.of(3),
          criticContext: Float32Array.of(4),
        });
        await store.append([whole]);
        const { actorContext: _, ...withoutContext } = whole;
        const others: TrajectoryRecord[] = [
          { ...whole, at: (whole.at + 0.5) as Ms },
          { ...whole, obs: Float32Array.of(0.5, -2.5) },
          { ...whole, proposed: Float32Array.of(0.25, 0) },
          { ...whole, executed: Float32Array.of(-0.125) },
          { ...whole, logProb: null },
          { ...whole, reward: 1.5 },
          { ...whole, end: "truncated" },
          { ...whole, finalObs: Float32Array.of(1, 3) },
          { ...whole, criticContext: Float32Array.of(4.5) },
          withoutContext,
        ];
        for (const other of others) expect(await codeOf(store.append([other]))).toBe("store.conflict");
        expect(await store.append([whole])).toEqual({ added: 0, repeated: 1 });
        expect((await store.episode(EPISODE)).map(fingerprint)).toEqual([fingerprint(whole)]);
      }),
    );

    test(
      "an episode belongs to the agent that began it",
      withStore(async ({ store }) => {
        await store.append([recordAt({ step: 0 })]);
        expect(await codeOf(store.append([recordAt({ step: 1, agent: "other" as AgentId })]))).toBe("store.conflict");
      }),
    );

    test(
      "a late reward completes its record, a retry is harmless and another reward is a conflict",
      withStore(async ({ store }) => {
        await store.append([recordAt({ step: 0, reward: null })]);
        expect(await store.counts()).toEqual({ episodes: 1, records: 1, pending: 1 });
        expect(await store.recentRewards(AGENT, 5)).toEqual([]);
        const late: Completion = {
          episode: EPISODE,
          step: 0,
          reward: -1.5,
          end: "truncated",
          finalObs: Float32Array.of(7, 8),
        };
        expect(await store.complete([late])).toEqual({ completed: 1, repeated: 0 });
        expect(await store.complete([late])).toEqual({ completed: 0, repeated: 1 });
        expect(await codeOf(store.complete([{ ...late, reward: 2 }]))).toBe("store.conflict");
        expect(await store.append([recordAt({ step: 0, reward: null })])).toEqual({ added: 0, repeated: 1 });
        const [record] = await store.episode(EPISODE);
        expect(record).toEqual({
          ...recordAt({ step: 0 }),
          reward: -1.5,
          end: "truncated",
          finalObs: Float32Array.of(7, 8),
        });
        expect(await store.recentRewards(AGENT, 5)).toEqual([-1.5]);
      }),
    );

    test(
      "a completion of a step that is not stored fails and completes nothing of its batch",
      withStore(async ({ store }) => {
        await store.append([recordAt({ step: 0, reward: null })]);
        const both = [0, 1].map((step) => ({ episode: EPISODE, step, reward: 1 }));
        expect(await codeOf(store.complete(both))).toBe("store.unknown-record");
        expect((await store.counts()).pending).toBe(1);
      }),
    );

    test(
      "the best and the worst finished episodes come in order of their return",
      withStore(async ({ store }) => {
        // Returns: a 3, b −1, c 3 (tie, later id), d unfinished, e finished but one reward pending.
        const rows: [string, number | null, EpisodeEnd][] = [
          ["a", 3, "terminated"],
          ["b", -1, "truncated"],
          ["c", 3, "terminated"],
          ["d", 50, "no"],
          ["e", null, "terminated"],
        ];
        await store.append(
          rows.map(([id, reward, end]) => recordAt({ episode: id as EpisodeId, step: 0, reward, end })),
        );
        expect((await store.topEpisodes({ count: 2 })).map((s) => s.episode)).toEqual(["a", "c"]);
        expect((await store.bottomEpisodes({ count: 2 })).map((s) => s.episode)).toEqual(["b", "a"]);
        expect(await store.topEpisodes({ count: 9, agent: "nobody" as AgentId })).toEqual([]);
      }),
    );

    test(
      "the newest rewards of an agent come last",
      withStore(async ({ store }) => {
        await store.append([3, 1, 2].map((n) => recordAt({ step: n, at: (1_000 * n) as Ms, reward: 10 * n })));
        await store.append([
          recordAt({ episode: "theirs" as EpisodeId, agent: "other" as AgentId, step: 0, reward: 77, at: 9_000 as Ms }),
        ]);
        expect(await store.recentRewards(AGENT, 2)).toEqual([20, 30]);
        expect(await store.recentRewards(AGENT, 0)).toEqual([]);
      }),
    );

    test(
      "an agent's newest episodes come first, those that are not finished as well",
      withStore(async ({ store }) => {
        // Newest decisions at: a 3 s, b 9 s (unfinished, pending), c 3 s (a tie, later id), d 5 s, and one of another agent.
        const rows: [string, number, number | null, EpisodeEnd][] = [
          ["a", 3_000, 1, "terminated"],
          ["b", 9_000, null, "no"],
          ["c", 3_000, 1, "no"],
          ["d", 5_000, 1, "truncated"],
        ];
        await store.append(
          rows.map(([id, at, reward, end]) =>
            recordAt({ episode: id as EpisodeId, step: 1, at: at as Ms, reward, end }),
          ),
        );
        await store.append([
          recordAt({ episode: "b" as EpisodeId, step: 0, at: 1_000 as Ms }),
          recordAt({ episode: "e" as EpisodeId, agent: "other" as AgentId, step: 0, at: 99_000 as Ms }),
        ]);
        expect(await store.recentEpisodes(AGENT, 9)).toEqual(["b", "d", "a", "c"]);
        expect(await store.recentEpisodes(AGENT, 2)).toEqual(["b", "d"]);
        expect(await store.recentEpisodes(AGENT, 0)).toEqual([]);
        expect(await store.recentEpisodes("nobody" as AgentId, 3)).toEqual([]);
      }),
    );

    test(
      "sampling is uniform over the complete transitions, with replacement, and repeats for a repeated stream",
      withStore(async ({ store }) => {
        // 40 steps of which every fourth waits for its reward; the last has no successor: 29 transitions.
        const batch = Array.from({ length: 40 }, (_, step) =>
          recordAt({ step, at: step as Ms, obs: Float32Array.of(step), reward: step % 4 === 0 ? null : step }),
        );
        await store.append(batch);
        const draws = 29 * 100;
        const sample = await store.sample({ count: draws, rng: seededRng(7) });
        expect(sample).toHaveLength(draws);
        const hits = new Map<number, number>();
        for (const { record, nextObs } of sample) {
          expect(record.step % 4).not.toBe(0);
          expect(nextObs).toEqual(Float32Array.of(record.step + 1));
          hits.set(record.step, (hits.get(record.step) ?? 0) + 1);
        }
        expect(hits.size).toBe(29);
        // 28 degrees of freedom: a fair sampler exceeds 64 once in ten thousand seeds, and this seed is fixed.
        let chiSquare = 0;
        for (const count of hits.values()) chiSquare += (count - 100) ** 2 / 100;
        expect(chiSquare).toBeLessThan(64);
        const again = await store.sample({ count: draws, rng: seededRng(7) });
        expect(again.map((t) => t.record.step)).toEqual(sample.map((t) => t.record.step));
      }),
    );

    test(
      "sampling one agent of many finds its few transitions",
      withStore(async ({ store }) => {
        const crowd = Array.from({ length: 300 }, (_, step) => recordAt({ step, at: step as Ms }));
        const rare = [0, 1].map((step) =>
          recordAt({ episode: "rare" as EpisodeId, agent: "quiet" as AgentId, step, obs: Float32Array.of(step, 5) }),
        );
        await store.append([...crowd, ...rare]);
        const sample = await store.sample({ count: 12, rng: seededRng(1), agent: "quiet" as AgentId });
        expect(sample.map((t) => `${t.record.agent} ${t.record.step} ${t.nextObs}`)).toEqual(
          Array(12).fill("quiet 0 1,5"),
        );
        expect(await store.sample({ count: 3, rng: seededRng(1), agent: "nobody" as AgentId })).toEqual([]);
      }),
    );

    test(
      "an empty store answers every question",
      withStore(async ({ store }) => {
        expect(await store.counts()).toEqual({ episodes: 0, records: 0, pending: 0 });
        const none = await store.sample({ count: 4, rng: seededRng(1) });
        expect(none).toEqual([]);
        expect(await store.topEpisodes({ count: 4 })).toEqual([]);
        expect(await store.episode(EPISODE)).toEqual([]);
        expect(await store.forget([EPISODE])).toBe(0);
        expect(await store.append([])).toEqual({ added: 0, repeated: 0 });
        expect(await store.complete([])).toEqual({ completed: 0, repeated: 0 });
      }),
    );

    test(
      "numbers that are none and vectors that are empty are refused with the step named",
      withStore(async ({ store }) => {
        expect(await codeOf(store.append([recordAt({ step: 0, obs: Float32Array.of(1, Number.NaN) })]))).toBe(
          "trajectory.invalid",
        );
        await expect(store.append([recordAt({ step: 3, reward: Number.POSITIVE_INFINITY })])).rejects.toThrow(
          "step 3 of episode run-1",
        );
        expect(await codeOf(store.append([recordAt({ step: 0, executed: new Float32Array(0) })]))).toBe(
          "trajectory.invalid",
        );
        expect(await codeOf(store.append([recordAt({ step: -1 })]))).toBe("trajectory.invalid");
        expect(await codeOf(store.append([recordAt({ episode: "a b" as EpisodeId, step: 0 })]))).toBe("id.invalid");
        expect(await codeOf(store.complete([{ episode: EPISODE, step: 0, reward: Number.NaN }]))).toBe(
          "trajectory.invalid",
        );
        expect(await codeOf(store.topEpisodes({ count: -1 }))).toBe("store.query");
        expect((await store.counts()).records).toBe(0);
      }),
    );

    test(
      "concurrent appends to the same episode all arrive",
      withStore(async ({ store }) => {
        const batches = Array.from({ length: 8 }, (_, i) =>
          Array.from({ length: 25 }, (_, j) => recordAt({ step: i * 25 + j, at: (i * 25 + j) as Ms })),
        );
        await Promise.all(batches.map((batch) => store.append(batch)));
        expect((await store.episode(EPISODE)).map((r) => r.step)).toEqual(Array.from({ length: 200 }, (_, i) => i));
      }),
    );

    test(
      "a closed store says so",
      withStore(async ({ store }) => {
        await store.close();
        expect(await codeOf(store.append([recordAt({ step: 0 })]))).toBe("store.closed");
        expect(await codeOf(store.counts())).toBe("store.closed");
        await store.close();
      }),
    );
  });
}

const EPISODE = "run-1" as EpisodeId;
const AGENT = "agent-1" as AgentId;

/** A complete, ordinary step with what the test cares about put in. */
export function recordAt(part: Partial<TrajectoryRecord> & { readonly step: number }): TrajectoryRecord {
  return {
    episode: EPISODE,
    agent: AGENT,
    at: 1_700_000_000_000 as Ms,
    obs: Float32Array.of(0.5, -2),
    proposed: Float32Array.of(0.25),
    executed: Float32Array.of(0.125),
    logProb: -0.75,
    reward: 1,
    end: "no",
    ...part,
  };
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return "no failure";
  } catch (thrown) {
    return failureOf(thrown)?.code ?? `uncoded: ${String(thrown)}`;
  }
}

// Small worlds collide often: three episodes of two agents, five steps, so retries, conflicts and gaps all happen.
const anyEpisode = fc.constantFrom("ep-1", "ep-2", "EP.3") as fc.Arbitrary<EpisodeId>;
const anyFloat = fc.float({ noNaN: true, noDefaultInfinity: true });
const anyVector = fc.array(anyFloat, { minLength: 1, maxLength: 3 }).map((values) => Float32Array.from(values));
// Quarters add up exactly in any order, so returns can be compared to the bit.
const anyReward = fc.integer({ min: -40, max: 40 }).map((n) => n / 4);
const anyEnd = fc.constantFrom<EpisodeEnd>("no", "no", "no", "terminated", "truncated");
const anyStepNumber = fc.integer({ min: 0, max: 4 });

const anyRecord: fc.Arbitrary<TrajectoryRecord> = fc
  .record(
    {
      episode: anyEpisode,
      stranger: fc.integer({ min: 0, max: 30 }),
      step: anyStepNumber,
      at: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.double({ min: 1.7e12, max: 1.8e12, noNaN: true })),
      obs: anyVector,
      proposed: anyVector,
      executed: anyVector,
      logProb: fc.option(fc.double({ min: -1e6, max: 1e6, noNaN: true })),
      reward: fc.option(anyReward),
      end: anyEnd,
      finalObs: anyVector,
      actorContext: anyVector,
      criticContext: anyVector,
    },
    { requiredKeys: ["episode", "stranger", "step", "at", "obs", "proposed", "executed", "logProb", "reward", "end"] },
  )
  .map(({ stranger, at, ...rest }) => {
    const owner = rest.episode === "EP.3" ? "ag-2" : "ag-1";
    return { ...rest, at: at as Ms, agent: (stranger === 0 ? "ag-9" : owner) as AgentId } as TrajectoryRecord;
  });

const anyCompletion = fc.record(
  { episode: anyEpisode, step: anyStepNumber, reward: anyReward, end: anyEnd, finalObs: anyVector },
  { requiredKeys: ["episode", "step", "reward"] },
) as fc.Arbitrary<Completion>;

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.array(anyRecord, { maxLength: 3 }).map((batch): Step => ({ kind: "append", batch })) },
  // The same batch twice in one call: retries inside a batch.
  {
    weight: 1,
    arbitrary: fc
      .array(anyRecord, { maxLength: 2 })
      .map((batch): Step => ({ kind: "append", batch: [...batch, ...batch] })),
  },
  {
    weight: 4,
    arbitrary: fc.array(anyCompletion, { maxLength: 2 }).map((batch): Step => ({ kind: "complete", batch })),
  },
  {
    weight: 1,
    arbitrary: fc.array(anyEpisode, { maxLength: 1 }).map((episodes): Step => ({ kind: "forget", episodes })),
  },
);

async function applyTo(store: TrajectoryStore, step: Step): Promise<Outcome | number> {
  try {
    if (step.kind === "forget") return await store.forget(step.episodes);
    if (step.kind === "append") {
      const { added, repeated } = await store.append(step.batch);
      return { changed: added, repeated };
    }
    const { completed, repeated } = await store.complete(step.batch);
    return { changed: completed, repeated };
  } catch (thrown) {
    const code = failureOf(thrown)?.code;
    if (code === undefined) throw thrown;
    return { code };
  }
}

function applyToModel(model: TrajectoryModel, step: Step): Outcome | number {
  if (step.kind === "forget") return model.forget(step.episodes);
  return step.kind === "append" ? model.append(step.batch) : model.complete(step.batch);
}

async function expectSameContent(store: TrajectoryStore, model: TrajectoryModel, seed: number): Promise<void> {
  const episodes = model.episodes();
  for (const id of episodes)
    expect((await store.episode(id)).map(fingerprint)).toEqual(model.episode(id).map(fingerprint));
  const pending = model.records.filter((r) => r.reward === null).length;
  expect(await store.counts()).toEqual({ episodes: episodes.length, records: model.records.length, pending });
  for (const agent of ["ag-1", "ag-2"] as AgentId[]) {
    for (const count of [2, 100])
      expect(await store.recentRewards(agent, count)).toEqual(model.recentRewards(agent, count));
    for (const count of [1, 100])
      expect(await store.recentEpisodes(agent, count)).toEqual(model.recentEpisodes(agent, count));
    expect(await store.oldestEpisodes({ count: 2, agent })).toEqual(
      sorted(model.finished(agent), (s) => s.endedAt).slice(0, 2),
    );
  }
  expect(await store.topEpisodes({ count: 2 })).toEqual(sorted(model.finished(), (s) => -s.return).slice(0, 2));
  expect(await store.bottomEpisodes({ count: 2 })).toEqual(sorted(model.finished(), (s) => s.return).slice(0, 2));
  const scanned: string[] = [];
  for await (const batch of store.scan()) scanned.push(...batch.map(fingerprint));
  expect(scanned.sort()).toEqual(model.records.map(fingerprint).sort());
  const possible = model.transitions();
  const sample = await store.sample({ count: 20, rng: seededRng(seed) });
  expect(sample).toHaveLength(possible.size === 0 ? 0 : 20);
  for (const { record, nextObs } of sample) expect(possible).toContain(transitionText(record, nextObs));
}

/** The model lists by id and sorting is stable, so equal keys stay in order of id. */
function sorted<T>(items: readonly T[], key: (item: T) => number): T[] {
  return [...items].sort((a, b) => key(a) - key(b));
}
