import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { decision, event, START, samples } from "../../../test/fixtures/server/fake-plane.ts";
import { unwrap } from "../../base/index.ts";
import { openHistory } from "./history.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "coxswain-history-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (limits = {}) => unwrap(openHistory(folder, limits));

test("measurements, decisions and events come back as they were, in order, with the newest sums and time", () => {
  const told = [
    samples(START, ["a", "b"], { latency: null, load: 1 / 3 }),
    decision("a", { at: START + 1 }),
    event("hello", { at: START + 2 }),
    samples(START + 15_000, ["a", "b"], { preservation: 0.5 }),
  ];
  const first = open();
  expect(first.newestAt).toBe(Number.NEGATIVE_INFINITY);
  unwrap(first.append(told.slice(0, 2)));
  unwrap(first.append(told.slice(2)));
  const second = open();
  expect(second.takePast()).toEqual(told);
  expect(second.takePast()).toEqual([]);
  expect(second.newestAt).toBe(START + 15_000);
  const row = told[3]?.kind === "samples" ? told[3].samples[1] : undefined;
  expect(second.accounts.get("b")).toEqual({ own: row?.account, twin: row?.twinAccount });
});

test("a line that was not finished is passed over, and what follows it is not", () => {
  const killed = open();
  unwrap(killed.append([event("one")]));
  appendFileSync(join(folder, "history", "newest.jsonl"), '["e",{"at":17,"text":"tw');
  unwrap(open().append([event("three")]));
  const texts = open()
    .takePast()
    .map((update) => (update.kind === "event" ? update.event.text : ""));
  expect(texts).toEqual(["one", "three"]);
});

test("it never takes more than two files, and the newest are always there", () => {
  const limits = { samplesPerFile: 4, decisionsPerWorkload: 2, events: 1 };
  const history = open(limits);
  for (let step = 0; step < 50; step++)
    unwrap(history.append([samples(START + step, ["a", "b"]), decision("a", { at: step }), event(`event ${step}`)]));
  const home = join(folder, "history");
  expect(readdirSync(home).sort()).toEqual(["before.jsonl", "newest.jsonl"]);
  expect(statSync(join(home, "before.jsonl")).size).toBeLessThan(10_000);
  const past = open(limits).takePast();
  expect(past.flatMap((update) => (update.kind === "samples" ? update.at - START : []))).toEqual([46, 47, 48, 49]);
  expect(past.flatMap((update) => (update.kind === "decision" ? update.decision.at : []))).toEqual([48, 49]);
  expect(past.flatMap((update) => (update.kind === "event" ? update.event.text : []))).toEqual(["event 49"]);
});

test("documents are not history: they are told anew by every start", () => {
  const history = open();
  unwrap(history.append([{ kind: "workload", workload: { id: "a" } as never }]));
  expect(readFileSync(join(folder, "history", "newest.jsonl"), "utf8").trim()).toBe("");
});
