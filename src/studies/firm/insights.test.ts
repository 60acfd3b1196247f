import { expect, test } from "vitest";
import { seconds, seededRng } from "../../base/index.ts";
import type { Span } from "../../observe/telemetry/index.ts";
import { call, hotelReservation, type MicroserviceApplication } from "../../sim/index.ts";
import { busyTargets, endOfSequence, sequence, usualSequence } from "./applications.ts";
import { sharesThrough, widestStage } from "./insight-paths.ts";
import { mostBoundBy, requestsThrough } from "./insight-remedies.ts";
import { ownTimes } from "./insight-scaling.ts";
import { oracleController } from "./oracle.ts";

const spec = { origin: "dataset", threads: 4 } as const;
const small: MicroserviceApplication = {
  name: "small",
  services: [
    { ...spec, name: "front", profile: "proxy", work: 1 },
    { ...spec, name: "a", profile: "compute", work: 5 },
    { ...spec, name: "b", profile: "memory", work: 4 },
    { ...spec, name: "c", profile: "cache", work: 1 },
    { ...spec, name: "rare", profile: "compute", work: 9 },
  ],
  requests: [
    { name: "wide", weight: 99, root: call("front", [[call("a"), call("b"), call("c")]]) },
    { name: "thin", weight: 1, root: call("front", [call("rare")]) },
  ],
};

/** A root of 100 ms that calls a from 10 to 40 and b from 30 to 90 at once. */
const trace = (id: number, more: number): readonly Span[] => {
  const span = (service: string, from: number, to: number): Span => ({
    traceId: String(id).padStart(32, "0"),
    spanId: `${service}${id}`.replace(/[^0-9a-f]/g, "f").padStart(16, "0"),
    service,
    instance: `${service}-0`,
    operation: "wide",
    kind: "server",
    status: "ok",
    startUs: from * 1_000,
    endUs: to * 1_000,
  });
  const root = span("front", 0, 100 + more);
  return [root, ...[span("a", 10, 40), span("b", 30, 90 + more)].map((one) => ({ ...one, parentId: root.spanId }))];
};

test("of parallel services the critical path goes through the one that ends last, and the others' time is nobody's", () => {
  const spans = [...trace(1, 0), ...trace(2, 20)];
  const shares = sharesThrough(spans, "wide");
  expect(shares.get("front")).toBe(1);
  expect(shares.get("b")).toBe(1);
  expect(shares.get("a") ?? 0).toBe(0);
  expect(sharesThrough(spans, "thin").size).toBe(0);
  // The root alone before b (30) and after it (10); b for 60 and 80.
  const times = ownTimes(spans);
  expect(times.get("b")).toEqual([60, 80]);
  expect(times.get("front")).toEqual([40, 40]);
});

test("the widest stage of an application is found, and who is bound by what", () => {
  expect(widestStage(small)).toEqual({ request: "wide", siblings: ["a", "b", "c"] });
  // a: 99 · 5 · 0.8 of CPU; b: 99 · 4 · 0.5 of memory.
  expect(mostBoundBy(small, "cpu")).toBe("a");
  expect(mostBoundBy(small, "memory")).toBe("b");
  expect(requestsThrough(small, "front")).toEqual(["wide", "thin"]);
  expect(requestsThrough(small, "b")).toEqual(["wide"]);
});

test("anomalies are done to services that enough requests pass", () => {
  expect(busyTargets(small).map((target) => "service" in target && target.service)).toEqual(["front", "a", "b", "c"]);
});

test("a sequence has one anomaly after another, each for two minutes, the kinds in turn", () => {
  const options = { ...usualSequence, kinds: ["cpu", "workload-variation"] as const, count: 4 };
  const drawn = sequence(seededRng(1), hotelReservation, options);
  expect(drawn.map(({ start, duration }) => [start, duration])).toEqual([
    [60_000, 120_000],
    [240_000, 120_000],
    [420_000, 120_000],
    [600_000, 120_000],
  ]);
  expect(endOfSequence(options)).toBe(780_000);
  expect(drawn[0]?.kind).toBe(drawn[2]?.kind);
  expect(new Set(drawn.map(({ kind }) => kind)).size).toBe(2);
  for (const { kind, target, intensity } of drawn) {
    expect(target.on).toBe(kind === "workload-variation" ? "requests" : "instance");
    expect(intensity).toBeGreaterThanOrEqual(0.5);
  }
  expect(sequence(seededRng(1), hotelReservation, options)).toEqual(drawn);
});

test("who is told the truth gives a disturbed container all it may have, while it is disturbed", () => {
  const [injection] = sequence(seededRng(1), hotelReservation, { ...usualSequence, kinds: ["cpu"], count: 1 });
  const target = injection?.target as { service: string };
  const upper = { cpu: 8, memory: 8, llc: 8, io: 8, network: 8 };
  const readings = [target.service, "another"].map((service) => ({
    service,
    instance: `${service}-0`,
    isReady: true,
    upper,
  }));
  const asked = (at: number) =>
    oracleController(injection === undefined ? [] : [injection]).control({
      now: seconds(at),
      readInstances: () => readings,
    } as never);
  expect(asked(59)).toEqual([]);
  expect(asked(61).map(({ action }) => action)).toEqual([
    { kind: "set-limits", instance: `${target.service}-0`, limits: upper },
  ]);
  expect(asked(180)).toEqual([]);
});
