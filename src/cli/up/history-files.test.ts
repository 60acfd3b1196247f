import { appendFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { decision, event, START, samples } from "../../../test/fixtures/server/fake-plane.ts";
import { unwrap } from "../../base/index.ts";
import type { PlaneUpdate } from "../../contract/index.ts";
import { openHistory } from "./history-files.ts";
import { toldIn } from "./history-lines.ts";

let folder: string;
beforeEach(() => {
  folder = temporaryFolder("history");
});

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

test("a line that was not finished is passed over without a word, and what follows it is not", () => {
  const killed = open();
  unwrap(killed.append([event("one"), event("two")]));
  const file = join(folder, "history", "newest.jsonl");
  truncateSync(file, statSync(file).size - 4);
  unwrap(open().append([event("three")]));
  const last = open();
  expect(last.takePast().map((update) => (update.kind === "event" ? update.event.text : ""))).toEqual(["one", "three"]);
  expect(last.damaged).toBe(0);
});

const nameOf = (update: PlaneUpdate): string => {
  const at = update.kind === "samples" ? update.at : update.kind === "decision" ? update.decision.at : 0;
  return `${update.kind} ${update.kind === "event" ? update.event.at : at}`;
};

test("any damaged byte costs the line it lies in, is counted, and no changed number is believed", () => {
  const told = [0, 1, 2, 3].flatMap((step) => [
    samples(START + step, ["a"]),
    decision("a", { at: START + step }),
    event(`event ${step}`, { at: START + step }),
  ]);
  const history = open({ samplesPerFile: 3 });
  for (const update of told) unwrap(history.append([update]));
  history.close();
  for (const name of ["before.jsonl", "newest.jsonl"]) {
    const file = join(folder, "history", name);
    const bytes = readFileSync(file);
    // A prime, so that all places of a line are met.
    for (let at = 0; at < bytes.length; at += 13) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 7));
      writeFileSync(file, damaged);
      const found = open({ samplesPerFile: 3 });
      const past = found.takePast();
      const back = new Set(past.map(nameOf));
      const lost = told.filter((update) => !back.has(nameOf(update)));
      expect(lost.length, `byte ${at} of ${name}`).toBeLessThanOrEqual(1);
      expect(past).toEqual(told.filter((update) => !lost.includes(update)));
      // A line feed that is gone loses nothing, and names of knobs are there twice.
      expect(found.damaged).toBeGreaterThanOrEqual(lost.length);
      found.close();
    }
    writeFileSync(file, bytes);
  }
});

test("lines of an earlier version, without checksums, are passed over and counted", () => {
  unwrap(open().append([decision("a")]));
  appendFileSync(join(folder, "history", "newest.jsonl"), `${JSON.stringify(["e", { at: 17 }])}\n`);
  const found = open();
  expect(found.takePast()).toHaveLength(1);
  expect(found.damaged).toBe(1);
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

test("settings and sums of any task come back by their own names, also those of the file before", () => {
  const limits = { samplesPerFile: 2, decisionsPerWorkload: 2, events: 1 };
  const toy = (at: number, brightness: number) => {
    const usual = samples(at, ["lamp"]);
    if (usual.kind !== "samples") throw new Error("samples are samples");
    const rows = usual.samples.map((row) => ({
      ...row,
      sample: { ...row.sample, have: { brightness }, use: { power: null } },
      account: { steps: 1, violations: 0, cost: 2, sums: { lumens: brightness } },
      twin: null,
      twinAccount: null,
    }));
    return { ...usual, samples: rows };
  };
  const told = [toy(START, 3), toy(START + 1, 4), toy(START + 2, 5)];
  const history = open(limits);
  for (const update of told) unwrap(history.append([update]));
  expect(open(limits).takePast()).toEqual(told);
});

test("rows that were written before there were budgets and expectations are read without them", () => {
  const names = { have: ["rate"], use: ["rate"], sums: ["steps", "violations", "cost"] };
  const row = ["a", [10, 20, 1, 2, 0.5, 0.01, 7, 6], null, [3, 1, 0.03], null];
  const told = toldIn([JSON.stringify(["n", "a", names]), JSON.stringify(["s", START, [row]])]);
  expect(told).toMatchObject([
    { samples: [{ sample: { latency: 20, expected: null, have: { rate: 7 }, use: { rate: 6 } }, budget: null }] },
  ]);
});

test("steps after a moment are told until the past is taken", () => {
  const history = open();
  unwrap(history.append([samples(START, ["a", "b"]), samples(START + 15_000, ["a"], { preservation: 0.5 })]));
  history.close();
  const again = open();
  expect(again.stepsAfter("a", START)).toEqual([{ at: START + 15_000, preservation: 0.5 }]);
  expect(again.stepsAfter("b", Number.NEGATIVE_INFINITY)).toEqual([{ at: START, preservation: 1 }]);
  again.takePast();
  expect(again.stepsAfter("a", START)).toEqual([]);
});
