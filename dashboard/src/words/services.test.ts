import { expect, test } from "vitest";
import type { ServicesDocument, SuspectDocument, SuspectsDocument } from "../../../src/server/services-contract.ts";
import { headlineOf } from "./services.ts";

const request = (p99Ms: number | null, failed = 0) => ({
  request: "login",
  sloMs: 20,
  p50Ms: 5,
  p99Ms,
  offered: 10,
  completed: 10 - failed,
  failed,
});
const services = (requests: ReturnType<typeof request>[] | null, traces = 5): ServicesDocument => ({
  at: 0,
  doors: { http: null, grpc: null, problems: [] },
  counts: { requests: 0, spans: 0, refused: {}, dropped: {}, waiting: 0, storedTraces: traces, storedSpans: traces },
  simulated:
    requests === null
      ? null
      : { application: "a", requests, targets: { instances: [], nodes: [], requests: [] }, anomalies: [] },
});
const suspect = (isCulprit: boolean): SuspectDocument => ({
  instance: "geo-0",
  service: "geo",
  request: "login",
  isBackground: false,
  resource: "memory",
  score: isCulprit ? 0.9 : 0.1,
  isCulprit,
  relativeImportance: 0.9,
  congestionIntensity: 3,
  expectedSavingMs: 14,
  reason: "",
});
const suspects = (...items: SuspectDocument[]): SuspectsDocument => ({ at: 0, isTrained: true, items });

test("the culprit, what it lacks and what mending it saves", () => {
  expect(headlineOf(services([request(50)]), suspects(suspect(true)))).toBe(
    "geo-0 holds up login: it lacks memory bandwidth; mending it would save 14 ms a request",
  );
});

test("who is suspected while all is well is not accused, and a broken promise without a culprit is told", () => {
  expect(headlineOf(services([request(10)]), suspects(suspect(true)))).toBe("Every type of request keeps its SLO");
  expect(headlineOf(services([request(50)]), suspects(suspect(false)))).toMatch(/^login misses its SLO; nobody/);
  expect(headlineOf(services([request(10, 5)]), suspects())).toMatch(/^login misses its SLO/);
});

test("without an application of one's own the spans alone speak", () => {
  expect(headlineOf(services(null, 0), suspects())).toBe("No spans have come yet");
  expect(headlineOf(services(null), suspects(suspect(true)))).toMatch(/^geo-0 holds up login/);
  expect(headlineOf(services(null), suspects(suspect(false)))).toBe("Nobody is to blame beyond doubt");
});
