import { beforeAll, expect, test } from "vitest";
import { milliseconds, ok, unwrap } from "../../../base/index.ts";
import { decodeLocalizer, encodeLocalizer, type Localizer } from "../../../control/localize/index.ts";
import type { MitigationAgent } from "../../../control/tasks/index.ts";
import type { ActingMode } from "../../../server/index.ts";
import { hotelReservation } from "../../../sim/index.ts";
import { LocalizerSchool } from "./localizer-school.ts";
import { Mitigator } from "./mitigator.ts";
import { SimulatedApplication } from "./simulated-application.ts";

const NOW = 1_800_000_000_000;

/** Lessons cost seconds: one school for all tests. */
let taught: Uint8Array;
beforeAll(() => {
  const options = { application: hotelReservation, seed: 1_002, start: milliseconds(0), episodes: 8 };
  const school = new LocalizerSchool(options);
  while (!school.isOver) school.lesson();
  taught = encodeLocalizer(school.localizer);
});
const taughtLocalizer = (): Localizer => unwrap(decodeLocalizer(taught));

/** Whoever is to blame gets as much headroom as there is, everybody else a middle one. */
const generous: MitigationAgent = {
  act: (_, observation) => ok(new Float32Array(5).fill((observation[0] as number) < 1 ? 1 : 0)),
};

function stage(mode: ActingMode) {
  let at = NOW;
  const simulated = new SimulatedApplication({ application: hotelReservation, seed: 1_003, now: milliseconds(at) });
  const mitigator = new Mitigator({ port: simulated.port, wallOf: (ms) => simulated.wallOf(ms), mode, since: null });
  const run = (seconds: number): void => {
    for (let step = 0; step < 4 * seconds; step++) {
      at += 250;
      simulated.advance(milliseconds(at));
      mitigator.turn();
    }
  };
  const stress = () =>
    unwrap(simulated.inject({ kind: "cpu", target: { on: "instance", name: "user-0" }, intensity: 1, seconds: 120 }));
  const brokenIn = (requests: ReturnType<SimulatedApplication["requests"]>) =>
    requests.filter(({ p99, slo }) => p99 !== null && p99 > slo).map(({ request }) => request);
  return { simulated, mitigator, run, stress, brokenIn, now: () => at };
}

test("until the learner is there Kubernetes autoscaling is in charge, and it is said why", () => {
  const { mitigator, run } = stage("act");
  run(2);
  expect(mitigator.document()).toMatchObject({ mode: "act", charge: "fallback", remedies: [] });
  expect(mitigator.document().why).toContain("still being trained");
  mitigator.giveUp("it broke");
  expect(mitigator.document().why).toBe("the learner could not be trained: it broke");
});

test("an anomaly's culprit gets more of what it lacks, and its requests keep their SLO while the twin's do not", () => {
  const { simulated, mitigator, run, stress, brokenIn } = stage("act");
  mitigator.graduate(generous, taughtLocalizer());
  run(20);
  expect(mitigator.document()).toMatchObject({ charge: "learner", why: null });
  const { anomaly } = stress();
  run(25);
  const remedy = mitigator.document().remedies.find(({ instance }) => instance === "user-0");
  expect(remedy).toMatchObject({ by: "learner", isDone: true, service: "user" });
  expect(remedy?.from).toBeGreaterThan(anomaly.from);
  const cpu = remedy?.changes.find(({ what }) => what === "cpu");
  expect(cpu?.to).toBeGreaterThan(cpu?.from ?? 0);
  expect(remedy?.endedAt).not.toBeNull();
  expect(remedy?.saving?.measuredMs).toBeGreaterThan(0);
  expect(brokenIn(simulated.requests())).toEqual([]);
  expect(brokenIn(simulated.twinRequests())).toContain("login");
});

test("told to observe, it changes nothing and says what it would do; told to act, it does", () => {
  const { simulated, mitigator, run, stress, now } = stage("observe");
  const limits = () => new Map(simulated.instances().map(({ instance, limits: own }) => [instance, own]));
  const deployed = limits();
  mitigator.graduate(generous, taughtLocalizer());
  run(20);
  stress();
  run(10);
  expect(limits()).toEqual(deployed);
  expect(mitigator.document().remedies.find(({ instance }) => instance === "user-0")?.isDone).toBe(false);
  mitigator.setMode("act", now());
  run(3);
  expect(limits().get("user-0")?.cpu).toBeGreaterThan(deployed.get("user-0")?.cpu ?? 0);
  expect(mitigator.document()).toMatchObject({ mode: "act", since: NOW + 30_000 });
});

test("a learner that says no number is not followed: Kubernetes autoscaling has the same second", () => {
  const { mitigator, run, stress } = stage("act");
  mitigator.graduate({ act: () => ok(new Float32Array(5).fill(Number.NaN)) }, taughtLocalizer());
  run(10);
  stress();
  run(5);
  expect(mitigator.document()).toMatchObject({ charge: "fallback", why: expect.stringContaining("not a number") });
});
