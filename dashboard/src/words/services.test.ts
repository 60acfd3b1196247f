import { expect, test } from "vitest";
import type {
  ActingDocument,
  RemedyDocument,
  ServicesDocument,
  SuspectDocument,
  SuspectsDocument,
} from "../../../src/contract/index.ts";
import { chargeOf, headlineOf, outcomeOf, remedyOf, servicesSummary } from "./services.ts";

const request = (p99Ms: number | null, failed = 0) => ({
  request: "login",
  sloMs: 20,
  p50Ms: 5,
  p99Ms,
  offered: 10,
  completed: 10 - failed,
  failed,
  twinP99Ms: null,
});
const acting: ActingDocument = { mode: "act", since: null, waitsFor: null, remedies: [], fitted: 0 };
const services = (requests: ReturnType<typeof request>[] | null, traces = 5): ServicesDocument => ({
  at: 0,
  listeners: { http: null, grpc: null, problems: [] },
  counts: { requests: 0, spans: 0, refused: {}, dropped: {}, waiting: 0, storedTraces: traces, storedSpans: traces },
  simulated:
    requests === null
      ? null
      : {
          application: "a",
          requests,
          targets: { instances: [], nodes: [], requests: [] },
          anomalies: [],
          acting,
        },
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

const remedy: RemedyDocument = {
  id: "remedy-1",
  service: "user",
  instance: "user-0",
  requests: ["login", "reserve"],
  by: "learner",
  isDone: true,
  from: 1_000,
  until: 2_000,
  why: "",
  endedAt: null,
  saving: null,
  changes: [
    { what: "cpu", from: 0.5, to: 2 },
    { what: "llc", from: 2, to: 4 },
  ],
};

test("who is in charge is said, and that nobody acts where a person wants it so", () => {
  const fallback = { name: "hpa", title: "HPA" };
  const offline = { acting: "fallback", stage: "OFFLINE", fallback } as const;
  const online = { acting: "learner", stage: "ONLINE", fallback } as const;
  expect(chargeOf({ ...acting, waitsFor: "it is trained" }, [])).toBe(
    "Kubernetes autoscaling is in charge: it is trained.",
  );
  expect(chargeOf(acting, [offline, offline])).toBe("HPA is in charge: the agents still learn from it (2 Offline).");
  expect(chargeOf(acting, [offline, online])).toBe(
    "The learner is in charge of 1 of 2 services: it gives a culprit what it lacks. HPA has the others. Stages: 1 Offline, 1 Online.",
  );
  expect(chargeOf(acting, [online])).toBe(
    "The learner is in charge of all 1 services: it gives a culprit what it lacks.",
  );
  // Nobody is in charge then, whatever the stages of the agents.
  expect(chargeOf({ ...acting, mode: "observe" }, [online])).toBe(
    "Only observing: nobody changes anything. What would be done is still shown.",
  );
});

test("all services in two sentences: who holds up requests, and how far the agents are", () => {
  const calm = { title: "geo", isInTrouble: false, agent: { stage: "SERVING" } } as const;
  const late = { title: "user", isInTrouble: true, agent: { stage: "OFFLINE" } } as const;
  expect(servicesSummary([calm, { ...late, isInTrouble: false }])).toEqual({
    isInTrouble: false,
    text: "None of 2 services holds up requests beyond their SLOs.",
    stages: "Agents: 1 Offline, 1 Serving.",
  });
  expect(servicesSummary([calm, late]).text).toBe("user holds up requests beyond their SLOs.");
  expect(servicesSummary([late, { ...late, title: "rate", agent: undefined }])).toEqual({
    isInTrouble: true,
    text: "user and rate hold up requests beyond their SLOs.",
    stages: "Agents: 1 Offline.",
  });
});

test("a remedy says who changed what from where to where, or would have", () => {
  expect(remedyOf(remedy)).toBe("The learner changed user-0: CPU 0.5 → 2 cores, cache 2 → 4 MiB.");
  const replicas = {
    ...remedy,
    instance: null,
    by: "fallback",
    changes: [{ what: "replicas", from: 1, to: 2 }],
  } as const;
  expect(remedyOf(replicas)).toBe("Kubernetes autoscaling changed user: replicas 1 → 2.");
  expect(remedyOf({ ...remedy, isDone: false })).toMatch(/^The learner would change user-0/);
});

test("whether it helped is told by the SLOs, and by what was expected against what was measured", () => {
  expect(outcomeOf(remedy)).toBe("Not mended yet: the SLO of login and reserve.");
  const mended = { ...remedy, endedAt: 4_000, saving: { expectedMs: 14, measuredMs: 12 } };
  expect(outcomeOf(mended)).toBe(
    "Mended within 3 s: the SLO of login and reserve. A request took 12 ms less afterwards; 14 ms less were expected.",
  );
  expect(outcomeOf({ ...mended, saving: { expectedMs: 14, measuredMs: -2 } })).toContain("took 2.0 ms more afterwards");
  expect(outcomeOf({ ...mended, isDone: false })).toBe("It was not done.");
});
