import { describe, expect, test } from "vitest";
import { parseServiceGuardLimits, type ServiceAction, type ServiceProposal } from "../../../act/index.ts";
import { err, failure, milliseconds, ok, type PerSecond, type Ratio, seconds, unwrap } from "../../../base/index.ts";
import { hotelReservation, isolatedSlos, microserviceWorld, simulatedServices } from "../../../sim/index.ts";
import { serviceHpa, serviceHpaController } from "../../fallbacks/index.ts";
import { Localizer, type Suspect } from "../../localize/index.ts";
import type { MitigationAgent, ServicesController, ServicesView } from "../../tasks/index.ts";
import { ServicesDriver } from "./drive.ts";
import { FirmController, type FirmOptions } from "./firm-controller.ts";

const generous: MitigationAgent = { act: () => ok(Float32Array.of(1, 1, 1, 1, 1)) };
const fallbackAction: ServiceAction = { kind: "scale-service", service: "search", replicas: 2 };
const fallback: ServicesController = {
  name: "fallback",
  control: ({ now }): readonly ServiceProposal[] => [{ action: fallbackAction, measuredAt: now, why: "CPU is busy" }],
};

const suspectOf = (instance: string, change: Partial<Suspect> = {}): Suspect => ({
  ...{ instance, service: instance.replace(/-\d+$/, ""), request: "search", isBackground: false, resource: "memory" },
  ...{ score: 0.9 as Ratio, isCulprit: true, relativeImportance: 0.9, congestionIntensity: 5 },
  ...{ expectedSaving: milliseconds(20), reason: "it takes long" },
  ...change,
});
const blaming = (...suspects: readonly Suspect[]) => ({
  observe: () => undefined,
  read: () => undefined,
  promise: () => undefined,
  suspects: () => suspects,
});

function hotel({ slo = 1 }: { readonly slo?: number } = {}) {
  const world = microserviceWorld({
    ...{ seed: 1_000, application: hotelReservation },
    slos: isolatedSlos(hotelReservation).map((one) => milliseconds(slo * one)),
    load: { id: "steady", level: "high", perMinute: Float64Array.of(300), dispersion: 1 },
  });
  world.advance(seconds(3));
  return world;
}

const firm = (change: Partial<FirmOptions> = {}) =>
  new FirmController({ agent: generous, localizer: blaming(), fallback, ...change });

const nameOf = (service: string) => `${service}-0`;

describe("with a broken SLO", () => {
  // An SLO that no request can keep.
  const slo = 0.01;

  /** `use` of one container as it is given. */
  const using = (world: ReturnType<typeof hotel>, instance: string, io: number): ServicesView => {
    const port = simulatedServices(world);
    const [first, ...others] = port.readRequests();
    return {
      ...port,
      now: world.now,
      // One type of requests keeps its SLO: that is no surge.
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

  test("the agent is asked about culprits alone, and the reason is told", () => {
    const culprit = nameOf("search");
    const asked: string[] = [];
    const agent: MitigationAgent = {
      act: (service, observation) => {
        asked.push(service);
        expect(observation[0]).toBeLessThan(0.1);
        return generous.act(service, observation);
      },
    };
    const suspects = [suspectOf(culprit), suspectOf(nameOf("profile"), { isCulprit: false, score: 0.1 as Ratio })];
    const controller = firm({ agent, localizer: blaming(...suspects) });
    const proposals = controller.control(using(hotel({ slo }), culprit, 0));
    expect(asked).toEqual(["search"]);
    expect(proposals[0]).toMatchObject({ action: { kind: "set-limits", instance: culprit } });
    expect(proposals[0]?.why).toContain("it takes long");
    expect(controller.status).toMatchObject({ acts: "agent", why: null, suspects });
  });

  test("a violation without a culprit is laid to the likeliest suspect, in the paper's way in the third interval", () => {
    const proposed = (["pressed", "culprits"] as const).map((acting) => {
      const world = hotel({ slo });
      const suspects = [nameOf("search"), nameOf("user")].map((name) => suspectOf(name, { isCulprit: false }));
      const controller = firm({ localizer: blaming(...suspects), acting });
      return [1, 2, 3].map(() => {
        world.advance(milliseconds(world.now + 1_000));
        return controller
          .control(using(world, "search-0", 0))
          .map(({ action }) => action.kind === "set-limits" && action.instance);
      });
    });
    expect(proposed).toEqual([
      [["search-0"], ["search-0"], ["search-0"]],
      [[], [], ["search-0"]],
    ]);
  });

  test("a suspect at the end of a limit is given more of that, whoever is to blame; not in the paper's way", () => {
    const world = hotel({ slo });
    const localizer = blaming(suspectOf(nameOf("search")), suspectOf(nameOf("profile"), { isCulprit: false }));
    const [, second, ...rest] = firm({ localizer }).control(using(world, "profile-0", 0.85));
    expect(second).toMatchObject({ action: { kind: "set-limits", instance: "profile-0" } });
    expect(second?.why).toContain("its io");
    expect(rest).toEqual([]);
    expect(firm({ localizer }).control(using(hotel({ slo }), "profile-0", 0.75))).toHaveLength(1);
    const printed = firm({ localizer, acting: "culprits" });
    expect(printed.control(using(hotel({ slo }), "profile-0", 0.85))).toHaveLength(1);
  });

  test("where all types of requests break at once, all suspects are given CPU for three intervals; not in the paper's way", () => {
    const suspects = ["search", "profile", "user"].map((name) => suspectOf(nameOf(name), { isCulprit: false }));
    const actedOn = (["pressed", "culprits"] as const).map((acting) => {
      const world = hotel({ slo });
      const controller = firm({ localizer: blaming(...suspects), acting });
      return [1, 2, 3, 4].map(() => {
        world.advance(milliseconds(world.now + 1_000));
        return controller.control(simulatedServices(world)).length;
      });
    });
    expect(actedOn).toEqual([
      [3, 3, 3, 1],
      [0, 0, 1, 1],
    ]);
  });

  test("whom more has not helped for ten intervals and who fills no limit gets no more, and others are trimmed again", () => {
    const world = hotel({ slo });
    const asked: number[][] = [];
    const agent: MitigationAgent = {
      act: (service, observation) => {
        asked.at(-1)?.push(observation[0] as number);
        return generous.act(service, observation);
      },
    };
    const controller = firm({ agent, localizer: blaming(suspectOf(nameOf("search"))), trimEvery: 1 });
    const port = using(world, "search-0", 0.1);
    for (let i = 0; i < 11; i++) {
      asked.push([]);
      controller.control(port);
    }
    // The culprit alone, ten times; then everybody, as if nobody were harmed.
    expect(asked.slice(0, 10).every((one) => one.length === 1 && (one[0] as number) < 0.1)).toBe(true);
    expect(asked[10]).toEqual(hotelReservation.services.map(() => 1));
  });
});

describe("while nobody is harmed", () => {
  test("every container is asked about once in five intervals, with SM at 1, and never where that is switched off", () => {
    const world = hotel({ slo: 100 });
    const asked: string[] = [];
    const agent: MitigationAgent = {
      act: (service, observation) => {
        asked.push(service);
        expect(observation[0]).toBe(1);
        return generous.act(service, observation);
      },
    };
    const controller = firm({ agent });
    for (let i = 0; i < 5; i++) controller.control(simulatedServices(world));
    expect([...asked].sort()).toEqual(hotelReservation.services.map(({ name }) => name).sort());
    asked.length = 0;
    const still = firm({ agent, trimEvery: 0 });
    for (let i = 0; i < 5; i++) still.control(simulatedServices(world));
    expect(asked).toEqual([]);
  });
});

describe("anything odd hands the same interval to the fallback", () => {
  const fallsBack = (controller: FirmController, view: ServicesView): string => {
    const [proposal, ...rest] = controller.control(view);
    expect(proposal?.action).toEqual(fallbackAction);
    expect(rest).toEqual([]);
    expect(controller.status?.acts).toBe("fallback");
    return controller.status?.why ?? "";
  };
  const broken = { localizer: blaming(suspectOf(nameOf("search"))) };

  test("an agent that fails, that throws, or that says no number", () => {
    const view = simulatedServices(hotel({ slo: 0.01 }));
    const failing: MitigationAgent = { act: () => err(failure("rl.policy-not-finite", "the policy is damaged")) };
    expect(fallsBack(firm({ ...broken, agent: failing }), view)).toContain("damaged");
    const throwing: MitigationAgent = {
      act: () => {
        throw new TypeError("no weights");
      },
    };
    expect(fallsBack(firm({ ...broken, agent: throwing }), view)).toContain("no weights");
    const wild: MitigationAgent = { act: () => ok(Float32Array.of(0, Number.NaN, 0, 0, 0)) };
    expect(fallsBack(firm({ ...broken, agent: wild }), view)).toContain("not a number");
  });

  test("a localizer that throws", () => {
    const localizer = {
      ...blaming(),
      suspects: () => {
        throw new RangeError("no paths");
      },
    };
    expect(fallsBack(firm({ localizer }), simulatedServices(hotel({ slo: 0.01 })))).toContain("no paths");
  });

  test("telemetry that is missing, old, empty or not a number", () => {
    const world = hotel();
    const port = simulatedServices(world);
    const read = port.readInstances();
    const showing = (instances: typeof read, now = world.now): ServicesView => ({
      ...port,
      now,
      readInstances: () => instances,
    });
    expect(fallsBack(firm(), showing([]))).toContain("no container");
    expect(fallsBack(firm(), showing(read.map((one) => ({ ...one, use: null }))))).toContain("missing");
    expect(fallsBack(firm(), showing(read, milliseconds(world.now + 60_000)))).toContain("s old");
    const wild = { cpu: Number.NaN, memory: 0, llc: 0, io: 0, network: 0 } as never;
    expect(fallsBack(firm(), showing(read.map((one) => ({ ...one, use: wild }))))).toContain("not a number");
  });

  test("and the next interval is the agent's again", () => {
    const world = hotel({ slo: 0.01 });
    const port = simulatedServices(world);
    let calls = 0;
    const agent: MitigationAgent = {
      act: (service, observation) => {
        if (calls++ === 0) throw new Error("once");
        return generous.act(service, observation);
      },
    };
    const controller = firm({ ...broken, agent });
    expect(fallsBack(controller, port)).toContain("once");
    world.advance(milliseconds(world.now + 1_000));
    expect(controller.control(port)[0]).toMatchObject({ action: { kind: "set-limits" } });
    expect(controller.status?.acts).toBe("agent");
  });
});

test("in a whole world a starved container is found by its spans and given what it lacks, within seconds", () => {
  const world = hotel();
  const localizer = new Localizer({ seed: 1 });
  const hpa = serviceHpaController({ hpa: serviceHpa() });
  const controller = new FirmController({ agent: generous, localizer, fallback: hpa, trimEvery: 0 });
  const limits = unwrap(parseServiceGuardLimits());
  const driver = new ServicesDriver({ port: simulatedServices(world), controller, limits });
  const run = (until: number): void => {
    while (world.now < seconds(until)) {
      world.advance(milliseconds(world.now + 1_000));
      driver.step();
    }
  };
  run(13);
  localizer.settleNormal();
  const before = world.readInstances().find(({ instance }) => instance === "search-0")?.limits.cpu as number;
  const target = { on: "instance", service: "search", replica: 0 } as const;
  world.inject({
    id: "x",
    kind: "cpu",
    target,
    start: world.now,
    duration: seconds(120),
    pattern: "constant",
    intensity: 1,
  });
  run(18);
  expect(world.readInstances().find(({ instance }) => instance === "search-0")?.limits.cpu).toBeGreaterThan(2 * before);
  world.truth();
  run(24);
  const { requests } = world.truth();
  const [ended, late] = [
    requests.reduce((sum, one) => sum + one.completed, 0),
    requests.reduce((sum, one) => sum + one.late, 0),
  ];
  expect(late / ended).toBeLessThan(0.05);
});
