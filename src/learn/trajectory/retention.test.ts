import { expect, test } from "vitest";
import type { AgentId, EpisodeId, Ms } from "../../base/index.ts";
import { chooseForgotten } from "./retention.ts";
import type { EpisodeSummary } from "./store.ts";

const summary = (id: string, steps: number): EpisodeSummary => ({
  episode: id as EpisodeId,
  agent: "a" as AgentId,
  steps,
  return: 0,
  end: "terminated",
  startedAt: 0 as Ms,
  endedAt: 0 as Ms,
});

test("the oldest episodes go until the surplus is gone, and the kept ones stay", () => {
  const oldest = [summary("a", 10), summary("b", 10), summary("c", 10), summary("d", 10)];
  const kept = new Set(["b" as EpisodeId]);
  expect(chooseForgotten(oldest, { surplus: 11, kept })).toEqual(["a", "c"]);
  expect(chooseForgotten(oldest, { surplus: 10, kept })).toEqual(["a"]);
  expect(chooseForgotten(oldest, { surplus: 0, kept })).toEqual([]);
  expect(chooseForgotten(oldest, { surplus: 1_000, kept })).toEqual(["a", "c", "d"]);
});
