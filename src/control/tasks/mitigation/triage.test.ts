import { describe, expect, test } from "vitest";
import { milliseconds, type PerSecond, parseWorkloadId, type Ratio, seconds, unwrap } from "../../../base/index.ts";
import { NameTable, spanColumnsOf } from "../../../observe/telemetry/index.ts";
import { hotelReservation, isolatedSlos, microserviceWorld, simulatedServices } from "../../../sim/index.ts";
import type { Suspect } from "../../localize/index.ts";
import { Triage, type TriageOptions, type TriageView } from "./triage.ts";

const idOf = (service: string) => unwrap(parseWorkloadId(`hotel-${service}`));
const suspectOf = (instance: string, change: Partial<Suspect> = {}): Suspect => ({
  instance,
  service: instance.replace(/-\d+$/, ""),
  request: "search",
  isBackground: false,
  resource: "memory",
  score: 0.9 as Ratio,
  isCulprit: true,
  relativeImportance: 0.9,
  congestionIntensity: 5,
  expectedSaving: milliseconds(20),
  reason: "it takes long",
  ...change,
});
const blaming = (...suspects: readonly Suspect[]) => ({
  read: () => undefined,
  promise: () => undefined,
  suspects: () => suspects,
});

function hotel({ slo = 1 }: { readonly slo?: number } = {}) {
  const world = microserviceWorld({
    seed: 1_000,
    application: hotelReservation,
    slos: isolatedSlos(hotelReservation).map((one) => milliseconds(slo * one)),
    load: { id: "steady", level: "high", perMinute: Float64Array.of(300), dispersion: 1 },
  });
  world.advance(seconds(3));
  return world;
}

const names = new NameTable();
/** The world's spans are shown first, as a pipeline does. */
function turn(triage: Triage, world: ReturnType<typeof hotel>, view: TriageView = simulatedServices(world)) {
  triage.see(spanColumnsOf(world.takeSpans(), names), world.now);
  return triage.turn(view);
}

const triageOf = (options: Partial<TriageOptions> = {}) => new Triage({ localizer: blaming(), idOf, ...options });
const standings = (triage: Triage) =>
  [...triage.readings.values()].map(({ service, standing }) => [service, standing.kind]);
const helped = (triage: Triage) =>
  standings(triage).flatMap(([service, kind]) => (kind === "blamed" || kind === "pressed" ? [service] : []));

describe("with a broken SLO", () => {
  // An SLO that no request can keep.
  const slo = 0.01;

  /** `io` of one container as it is given; one type of requests keeps its SLO, so that it is no surge. */
  const using = (world: ReturnType<typeof hotel>, instance: string, io: number): TriageView => {
    const port = simulatedServices(world);
    const [first, ...others] = port.readRequests();
    return {
      now: world.now,
      readNodes: () => port.readNodes(),
      readService: (service) => port.readService(service),
      readRequests: () => [
        { ...(first as (typeof others)[number]), request: "kept", p99: milliseconds(0), failed: 0 as PerSecond },
        ...others,
      ],
      readInstances: () =>
        port.readInstances().map((reading) => {
          if (reading.instance !== instance || reading.use === null) return reading;
          return { ...reading, use: { ...reading.use, io: io as Ratio } };
        }),
    };
  };

  test("culprits alone may be given more, with the reason, and are read with the SM of their requests", () => {
    const world = hotel({ slo });
    const suspects = [suspectOf("search-0"), suspectOf("profile-0", { isCulprit: false, score: 0.1 as Ratio })];
    const triage = triageOf({ localizer: blaming(...suspects) });
    const { broken } = turn(triage, world, using(world, "search-0", 0));
    expect(helped(triage)).toEqual(["search"]);
    const reading = unwrap(triage.reading("search"));
    expect(reading.standing).toEqual({ kind: "blamed", because: "it takes long" });
    // Its own type is not broken here, so it is the worst of those that are.
    expect(reading.sloMaintenance).toBe(Math.min(...broken.values()));
    expect(reading.sloMaintenance).toBeLessThan(0.1);
    expect(unwrap(triage.reading("profile"))).toMatchObject({ sloMaintenance: 1, standing: { kind: "waiting" } });
    expect(triage.suspects).toEqual({ at: world.now, list: suspects });
  });

  test("a violation without a culprit is laid to the likeliest suspect, in the paper's way in the third interval", () => {
    const found = (["pressed", "culprits"] as const).map((acting) => {
      const world = hotel({ slo });
      const suspects = ["search-0", "user-0"].map((name) => suspectOf(name, { isCulprit: false }));
      const triage = triageOf({ localizer: blaming(...suspects), acting });
      return [1, 2, 3].map(() => {
        world.advance(milliseconds(world.now + 1_000));
        turn(triage, world, using(world, "search-0", 0));
        return helped(triage);
      });
    });
    expect(found).toEqual([
      [["search"], ["search"], ["search"]],
      [[], [], ["search"]],
    ]);
  });

  test("a suspect at the end of a limit may be given more of that, whoever is to blame; not in the paper's way", () => {
    const localizer = blaming(suspectOf("search-0"), suspectOf("profile-0", { isCulprit: false }));
    const looked = (io: number, options: Partial<TriageOptions> = {}) => {
      const world = hotel({ slo });
      const triage = triageOf({ localizer, ...options });
      turn(triage, world, using(world, "profile-0", io));
      return triage;
    };
    const triage = looked(0.85);
    expect(helped(triage)).toEqual(["search", "profile"]);
    expect(unwrap(triage.reading("profile")).standing).toMatchObject({ kind: "pressed", lacking: ["io"] });
    expect(helped(looked(0.75))).toEqual(["search"]);
    expect(helped(looked(0.85, { acting: "culprits" }))).toEqual(["search"]);
  });

  test("where all types of requests break at once, all suspects may be given CPU for three intervals; not in the paper's way", () => {
    const suspects = ["search-0", "profile-0", "user-0"].map((name) => suspectOf(name, { isCulprit: false }));
    const counts = (["pressed", "culprits"] as const).map((acting) => {
      const world = hotel({ slo });
      const triage = triageOf({ localizer: blaming(...suspects), acting });
      return [1, 2, 3, 4].map(() => {
        world.advance(milliseconds(world.now + 1_000));
        turn(triage, world);
        return helped(triage).length;
      });
    });
    expect(counts).toEqual([
      [3, 3, 3, 1],
      [0, 0, 1, 1],
    ]);
  });

  test("whom more has not helped for ten intervals and who fills no limit gets no more, and others are fitted again", () => {
    const world = hotel({ slo });
    const triage = triageOf({ localizer: blaming(suspectOf("search-0")), trimEvery: 1 });
    const view = using(world, "search-0", 0.1);
    const rounds = Array.from({ length: 11 }, () => {
      triage.turn(view);
      return standings(triage).filter(([, kind]) => kind !== "waiting");
    });
    expect(rounds.slice(0, 10)).toEqual(new Array(10).fill([["search", "blamed"]]));
    expect(rounds[10]).toEqual(hotelReservation.services.map(({ name }) => [name, "fitted"]));
    expect([...triage.readings.values()].every(({ sloMaintenance }) => sloMaintenance === 1)).toBe(true);
  });
});

test("while nobody is harmed every service has its turn once in five intervals, and never where that is switched off", () => {
  const world = hotel({ slo: 100 });
  const turns = (trimEvery: number) => {
    const triage = triageOf({ trimEvery });
    return Array.from({ length: 5 }, () => {
      turn(triage, world);
      return standings(triage).flatMap(([service, kind]) => (kind === "fitted" ? [service] : []));
    }).flat();
  };
  expect(turns(5).sort()).toEqual(hotelReservation.services.map(({ name }) => name).sort());
  expect(turns(0)).toEqual([]);
});

test("a reading tells of the container that needs most, and of the room that each of them has", () => {
  const world = hotel({ slo: 100 });
  unwrap(world.scale("search", 2));
  world.advance(seconds(15));
  const triage = triageOf();
  turn(triage, world);
  const reading = unwrap(triage.reading("search"));
  expect(reading.workload).toBe("hotel-search");
  expect(reading.containers).toHaveLength(2);
  const rooms = new Map(world.readNodes().map(({ node, room }) => [node, room.cpu]));
  const [one, other] = reading.containers;
  const shared = one?.node === other?.node ? 2 : 1;
  const least = Math.min(rooms.get(one?.node ?? "") ?? 0, rooms.get(other?.node ?? "") ?? 0) / shared;
  expect(reading.room.cpu).toBeCloseTo(least, 9);
  expect(triage.reading("ghost")).toMatchObject({ ok: false, failure: { code: "mitigation.unknown-workload" } });
});

describe("users' own request types", () => {
  const view: TriageView = {
    now: seconds(100),
    readInstances: () => [],
    readRequests: () => [],
    readNodes: () => [],
    readService: () => {
      throw new Error("there are no services");
    },
  };
  const checkout = (took: number, n: number) =>
    spanColumnsOf(
      Array.from({ length: n }, (_, i) => ({
        traceId: (i + 1).toString(16).padStart(32, "0"),
        spanId: (i + 1).toString(16).padStart(16, "0"),
        service: "shop",
        instance: "shop-1",
        operation: "POST /checkout",
        kind: "server" as const,
        startUs: 1e6,
        endUs: 1e6 + 1_000 * took,
        status: "unset" as const,
      })),
      names,
    );

  test("break their SLO by the spans that are received, and are told to the localizer with it", () => {
    const told: unknown[] = [];
    const localizer = { ...blaming(), read: (telemetry: unknown) => void told.push(telemetry) };
    const triage = triageOf({ localizer });
    triage.see(checkout(300, 50), seconds(100));
    // Nobody has asked for anything yet.
    expect(triage.turn(view).broken.size).toBe(0);
    triage.setSlos(new Map([["POST /checkout", milliseconds(250)]]));
    const { broken, requests } = triage.turn(view);
    expect(broken.get("POST /checkout")).toBeCloseTo(250 / 300, 6);
    expect(requests).toMatchObject([{ request: "POST /checkout", slo: 250, p99: 300, offered: 5 }]);
    expect(told.at(-1)).toMatchObject({ requests: [{ request: "POST /checkout", slo: 250 }] });
  });

  test("keep a longer one, and what was sent ten seconds ago is forgotten", () => {
    const triage = triageOf();
    triage.setSlos(new Map([["POST /checkout", milliseconds(400)]]));
    triage.see(checkout(300, 50), seconds(100));
    expect(triage.turn(view).broken.size).toBe(0);
    triage.setSlos(new Map([["POST /checkout", milliseconds(250)]]));
    expect(triage.turn({ ...view, now: seconds(111) })).toMatchObject({ requests: [{ p99: null, offered: 0 }] });
    expect(triage.turn({ ...view, now: seconds(111) }).broken.size).toBe(0);
  });
});
