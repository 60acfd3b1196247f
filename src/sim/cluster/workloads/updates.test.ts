import { expect, test } from "vitest";
import { CodedError, mebibytes, milliseconds } from "../../../base/index.ts";
import type { Application } from "./application.ts";
import { composeApplication } from "./compose.ts";
import { generateApplications } from "./generate.ts";
import { loadFromCounts, meanRate } from "./load.ts";
import { generateLoad } from "./load-generate.ts";
import { meanWork } from "./request.ts";
import { studyLoad } from "./study-load.ts";
import { applyScenario, scenariosFor, type UpdateScenario, updateScenarios } from "./updates.ts";

const of = (...names: string[]): Application =>
  composeApplication(names, {
    sigma: 0.3,
    threads: 8,
    queue: 32,
    timeout: milliseconds(2_000),
    retries: 1,
    startup: { mean: milliseconds(5_000), sigma: 0.3 },
    warmup: { factor: 1.5, span: milliseconds(30_000) },
    runtime: mebibytes(40),
  });

const scenario = (name: string): UpdateScenario => {
  const found = updateScenarios.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`no scenario ${name}`);
  return found;
};

const load = generateLoad({ seed: 1_000, level: "high", shape: "diurnal" });
const updated = (application: Application, name: string) =>
  applyScenario({ application, load }, scenario(name)).application;

test("there are seven scenarios; an application gets those of its payloads, and the load's", () => {
  expect(updateScenarios.map(({ name }) => name)).toEqual([
    "file-size",
    "table-size",
    "float-operations",
    "image-size",
    "text-size",
    "ml-model",
    "load-pattern",
  ]);
  const names = (application: Application) => scenariosFor(application).map(({ name }) => name);
  expect(names(of("queue-publish"))).toEqual(["load-pattern"]);
  expect(names(of("file-read", "ml-inference", "decompression"))).toEqual(["file-size", "ml-model", "load-pattern"]);
});

// Without the 5 ms of handling: fixed + per unit × the paper's payload, before and after.
test.each([
  ["file-size", "object-store", 10 + 0.06 * 256, 10 + 0.06 * 768],
  ["table-size", "database-scan", 4 + 10.24, 4 + 102.4],
  ["float-operations", "float-operations", 1 + 20, 1 + 400],
  ["image-size", "image-manipulation", 30 + 3.2, 30 + 51.2],
  ["text-size", "text-processing", 2.5 + (15 * 1.75) / 3, 2.5 + (15 * 10) / 3],
  ["ml-model", "ml-inference", 20 + 6, 20 + 162],
])("%s changes the CPU of %s from %d to %d core-ms", (name, segment, before, after) => {
  const application = of(segment);
  expect(meanWork(application).cpu - 5).toBeCloseTo(before, 9);
  expect(meanWork(updated(application, name) ?? application).cpu - 5).toBeCloseTo(after, 9);
});

test("scenarios add up, and undoing one leaves the others", () => {
  const first = of("compression", "ml-inference");
  const second = updated(first, "file-size") ?? first;
  const third = updated(second, "ml-model") ?? second;
  expect(third.payloads?.file).toEqual([512, 768, 1_024]);
  expect(third.payloads?.matrix).toEqual([150]);
  const back = applyScenario({ application: third, load }, scenario("file-size"), { undo: true }).application;
  expect(back).toEqual(updated(first, "ml-model"));
});

test("a new load pattern is of the other level, as long as the old one, and the application stays", () => {
  const application = of("file-read");
  const down = applyScenario({ application, load }, scenario("load-pattern"), { seed: 1_001 });
  expect(down.application).toBeUndefined();
  expect(down.load?.level).toBe("low");
  expect(down.load?.perMinute).toHaveLength(load.perMinute.length);
  expect(meanRate(down.load ?? load)).toBeLessThan(meanRate(load));
  const low = down.load ?? load;
  expect(applyScenario({ application, load: low }, scenario("load-pattern"), { seed: 1_001 }).load?.level).toBe("high");
  const other = loadFromCounts([600, 660], { id: "recorded" });
  expect(applyScenario({ application, load }, scenario("load-pattern"), { other }).load?.id).toBe("recorded");
});

test("a scenario that would change nothing is refused", () => {
  expect(() => updated(of("queue-publish"), "ml-model")).toThrow(CodedError);
  expect(() => updated(of("queue-publish"), "ml-model")).toThrow(/ml-model.*queue-publish/);
});

test("every study load stays servable: at its peak, with all updates at once, 60 % of 12 × 4 cores suffice", () => {
  let cut = 0;
  for (const [index, application] of generateApplications({ seed: 1_000, count: 300 }).entries()) {
    const level = index % 2 === 0 ? "high" : "low";
    const wild = generateLoad({ seed: 1_000 + index, level });
    const tame = studyLoad(wild, application);
    const heaviest = scenariosFor(application)
      .filter(({ payload }) => payload !== null)
      .reduce((now, next) => applyScenario({ application: now, load: tame }, next).application ?? now, application);
    const peak = Math.max(...tame.perMinute);
    const { cpu, wait } = meanWork(heaviest);
    expect((peak * cpu) / 1_000).toBeLessThanOrEqual(0.6 * 48 * (1 + 1e-9));
    expect((peak * (cpu + wait)) / 1_000).toBeLessThanOrEqual(0.6 * 12 * application.threads * (1 + 1e-9));
    expect(meanRate(tame)).toBeLessThanOrEqual(meanRate(wild) * (1 + 1e-9));
    if (meanRate(tame) < 0.99 * meanRate(wild)) cut += 1;
  }
  // Most keep the mean they were drawn with: the bound is there for the heaviest and the most silent.
  expect(cut).toBeLessThan(150);
});

test("a load within the bounds is left as it is", () => {
  const gentle = loadFromCounts([300, 600, 450], { id: "gentle" });
  expect([...studyLoad(gentle, of("queue-publish")).perMinute]).toEqual([5, 10, 7.5]);
});

test("a cut load has its peak at four means and its mean back, where silence leaves room for that", () => {
  const spiky = loadFromCounts([...Array<number>(99).fill(60), 6_000], { id: "one spike" });
  const cut = studyLoad(spiky, of("queue-publish"));
  const mean = meanRate(spiky);
  expect(Math.max(...cut.perMinute)).toBeCloseTo(4 * mean, 9);
  expect(meanRate(cut) / mean).toBeGreaterThan(0.999);
});
