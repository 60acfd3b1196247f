/**
 * The fault-injection test: one real agent (BCQ, HPA+VPA, gates, guard) in the real loop over the event world, through
 * every stage, every cause of entering one, and, in each stage, every reason for which the fallback takes over.
 * The lists are the lifecycle's own: a new reason without a fault here, or a stage or cause that nothing leads to, fails.
 * Deterministic: seeds, a clock under the test's hand, training in place of threads (those have tests of their own).
 */
import { beforeAll, describe, expect, test } from "vitest";
import { loadKernels } from "../../src/adapters/runtime/index.ts";
import type { Ms, Stage } from "../../src/base/index.ts";
import { failure, stages, unwrap } from "../../src/base/index.ts";
import type { LifecycleProfile, TakeoverReason } from "../../src/control/lifecycle/index.ts";
import { offlineCauses, onlineCauses, takeoverReasons } from "../../src/control/lifecycle/index.ts";
import { encodePretrained, openSharedModel } from "../../src/learn/meta/index.ts";
import { CHECKPOINT_SCHEMA, crc32c, decodeCheckpoint, encodeCheckpoint } from "../../src/learn/rl/index.ts";
import { memoryState } from "../fixtures/loop/scripted.ts";
import type { Faults } from "../fixtures/loop/shop-life.ts";
import { bounds, EPISODE, gates, shopLife, web } from "../fixtures/loop/shop-life.ts";
import { tinyModel } from "../fixtures/meta/tiny-model.ts";
import { phaseOf, plainApplication, shop, steadyLoad } from "../fixtures/sim/simple-cluster.ts";

type Life = ReturnType<typeof shopLife>;
type Lasting = Exclude<Stage, "INITIALIZED">;
const SERVING_BY = 12 * EPISODE;

// ── Where faults meet the agent: a life that stays in its stage ──────────────────────────────────────────

/** More than any policy earns, so the stage before is not left. */
const outOfReach = { kind: "absolute", value: 2 * EPISODE } as const;
const profiles: Readonly<Record<Lasting, Partial<LifecycleProfile>>> = {
  OFFLINE: { online: outOfReach },
  ONLINE: { serving: outOfReach },
  SERVING: {},
};
const saved = new Map<Lasting, { readonly state: Uint8Array; readonly later: Ms }>();

beforeAll(async () => {
  for (const [stage, profile] of Object.entries(profiles) as [Lasting, Partial<LifecycleProfile>][]) {
    const life = shopLife({ profile });
    await life.turnsUntil((now) => now.stage === stage, SERVING_BY);
    await life.turns(2 * EPISODE);
    // The agent is away for a moment, not for so long that its clock seems to have jumped.
    const later = (life.clock.now() + 30_000) as Ms;
    await life.loop.stop();
    const [state] = (life.state as ReturnType<typeof memoryState>).files.get(web) ?? [];
    saved.set(stage, { state: state as Uint8Array, later });
  }
}, 20_000);

function restarted(stage: Lasting, damage: (state: Uint8Array) => Uint8Array = (state) => state): Life {
  const { state, later } = saved.get(stage) as NonNullable<ReturnType<typeof saved.get>>;
  const files = memoryState();
  files.files.set(web, [damage(state)]);
  return shopLife({ profile: profiles[stage], state: files, start: later });
}

// ── Faults ───────────────────────────────────────────────────────────────────────────────────────────────

interface Fault {
  readonly name: string;
  /** What happened to the saved state while the agent was away. */
  readonly damage?: (state: Uint8Array) => Uint8Array;
  readonly begin?: (life: Life) => void;
  readonly end?: (life: Life) => void;
  /** Turns after which the fallback acts. More than one only where the fault itself takes more to be one. */
  readonly within?: number;
  /** Whether the learner acts again when it is over, or a new policy has to earn its place. */
  readonly over: "learner" | "OFFLINE";
  readonly only?: Lasting;
}

/** On until it is switched off. */
const lasting = (fault: Faults): Pick<Fault, "begin" | "end"> => ({
  begin: ({ faults }) => Object.assign(faults, fault),
  end: ({ faults }) => {
    for (const key of Object.keys(fault)) delete faults[key as keyof Faults];
  },
});
const clockSet = (by: number): Pick<Fault, "begin" | "end"> => ({
  begin: ({ clock }) => {
    clock.offset = by;
  },
  // Set right again, which is a jump as well.
  end: ({ clock }) => {
    clock.offset = 0;
  },
});

/** The saved agent with other policies in it. */
const withBlocks =
  (change: (blocks: { learner: Uint8Array; good?: Uint8Array }) => { learner: Uint8Array; good?: Uint8Array }) =>
  (state: Uint8Array): Uint8Array => {
    const { kind, meta, blocks } = unwrap(decodeCheckpoint(state));
    const { learner, good, ...rest } = blocks as typeof blocks & { learner: Uint8Array; good?: Uint8Array };
    const changed = change({ learner, ...(good === undefined ? {} : { good }) });
    return encodeCheckpoint({ kind, meta, blocks: { ...rest, ...changed } });
  };
const damaged = (policy: Uint8Array) => policy.map((byte, i) => (i === policy.length >> 1 ? byte ^ 1 : byte));
const ofAnotherVersion = (policy: Uint8Array) => {
  const copy = policy.slice();
  const view = new DataView(copy.buffer);
  view.setUint32(8, CHECKPOINT_SCHEMA + 1, true);
  view.setUint32(copy.length - 4, crc32c(copy.subarray(0, -4)), true);
  return copy;
};

const noAnswer = failure("actuator.unavailable", "no answer", { retry: true });

const faults: Readonly<Record<TakeoverReason, readonly [Fault, ...Fault[]]>> = {
  "workload-vanished": [{ name: "nobody knows it", ...lasting({ telemetry: "vanished" }), over: "learner" }],
  "allocation-unknown": [
    { name: "the actuator fails", ...lasting({ actuator: noAnswer }), over: "learner" },
    // The turn that hangs is over when its deadline is, before the next one.
    { name: "the actuator never returns", ...lasting({ actuator: "hangs" }), within: 2, over: "learner" },
  ],
  "clock-jumped": [
    { name: "an hour ahead", ...clockSet(3_600_000), over: "learner" },
    { name: "an hour back", ...clockSet(-3_600_000), over: "learner" },
  ],
  "telemetry-stale": [
    { name: "the source fails", ...lasting({ telemetry: "silent" }), over: "learner" },
    { name: "the source never returns", ...lasting({ telemetry: "hangs" }), within: 2, over: "learner" },
  ],
  "telemetry-unusable": [{ name: "NaN", ...lasting({ telemetry: "nan" }), over: "learner" }],
  "model-learning": [
    { name: "too little is known of the workload", ...lasting({ model: "learning" }), over: "learner" },
  ],
  "checkpoint-missing": [
    {
      name: "the policy crashes and none was good before",
      damage: withBlocks(({ learner }) => ({ learner })),
      ...lasting({ learner: "throws" }),
      // First it crashes, then there is nothing to go back to.
      within: 2,
      over: "OFFLINE",
    },
  ],
  "checkpoint-corrupt": [
    { name: "no policy", damage: withBlocks(({ learner }) => ({ learner: damaged(learner) })), over: "OFFLINE" },
    {
      name: "neither policy",
      damage: withBlocks(({ learner }) => ({ learner: damaged(learner), good: damaged(learner) })),
      over: "OFFLINE",
    },
  ],
  "checkpoint-other-version": [
    {
      name: "schema",
      damage: withBlocks(({ learner }) => ({ learner: ofAnotherVersion(learner) })),
      over: "OFFLINE",
    },
  ],
  "learner-crashed": [
    { name: "in a proposal", ...lasting({ learner: "throws" }), over: "learner" },
    { name: "in training", ...lasting({ training: "throws" }), within: 6, over: "learner", only: "ONLINE" },
  ],
  "learner-slow": [
    { name: "in a proposal", ...lasting({ proposalTakes: 1_000 as Ms }), over: "learner" },
    { name: "in training", ...lasting({ training: "hangs" }), within: 8, over: "learner", only: "ONLINE" },
  ],
  "output-not-finite": [{ name: "NaN", ...lasting({ learner: "nan" }), over: "learner" }],
  "guard-trips": [
    {
      name: "no room on the nodes for what is wanted",
      begin: (life) => {
        life.faults.noRoom = true;
        // More load, so that more is wanted than there is room for.
        life.world.update(shop, { load: steadyLoad(150) });
      },
      end: (life) => {
        delete life.faults.noRoom;
        life.world.update(shop, { load: steadyLoad(20) });
      },
      within: 40,
      over: "learner",
    },
  ],
};

/** A reason without a fault has no case, and is then named at the end of this file. */
const cases = (stage: Lasting) =>
  takeoverReasons.flatMap((reason) =>
    (faults[reason] ?? []).flatMap((fault) =>
      fault.only === undefined || fault.only === stage ? [{ reason, fault, name: fault.name }] : [],
    ),
  );

/** What has been met, over all tests of this file. */
const met = new Set<string>();

function expectWithinBounds({ world }: Life): void {
  const { spec } = world.read(shop);
  for (const dimension of ["replicas", "cpu", "memory"] as const) {
    expect(spec[dimension]).toBeGreaterThanOrEqual(bounds[dimension].min);
    expect(spec[dimension]).toBeLessThanOrEqual(bounds[dimension].max);
  }
}

function restartedFrom(saved: Uint8Array, options: Parameters<typeof shopLife>[0]): Life {
  const state = memoryState();
  state.files.set(web, [saved]);
  return shopLife({ ...options, state });
}

async function endOf(life: Life): Promise<void> {
  expectWithinBounds(life);
  const { agents, recorder } = await life.loop.stop();
  expect(agents[0]).toMatchObject({ crashes: 0, skipped: 0 });
  expect(recorder).toMatchObject({ lost: 0, refused: 0 });
  for (const [stage, because] of life.transitions().map((words) => words.split(/.* → | \(|\)/).slice(1, 3)))
    met.add(`${stage} because ${because}`);
}

describe.each(["ONLINE", "SERVING"] as const)(
  "in %s, where the learner acts, the fallback acts within one step:",
  (stage) => {
    test.each(cases(stage))("$reason ($name)", async ({ reason, fault }) => {
      const life = restarted(stage, fault.damage);
      // Damage that was done while it was away is there in its first turn; all else happens to a learner that acts.
      if (fault.damage === undefined) expect(await life.turns(3)).toMatchObject({ stage, who: "learner" });
      else await life.turns(fault.begin ? 1 : 0);
      fault.begin?.(life);
      const now = await life.turnsUntil(({ why }) => why[0]?.rule === reason, fault.within ?? 1);
      expect(now.who).toBe("fallback");
      met.add(`${reason} in ${stage}`);
      expectWithinBounds(life);
      fault.end?.(life);
      if (fault.over === "learner") {
        await life.turnsUntil(({ who }) => who === "learner", 12);
        await endOf(life);
        expect(life.transitions()).toEqual([]);
      } else {
        // Given up in the very step: what a policy that is gone had earned is void.
        expect(now.stage).toBe("OFFLINE");
        expect((await life.turns(2))?.why[0]?.rule).toBe("rolled-back");
        await endOf(life);
        expect(life.transitions()).toEqual([`${stage} → OFFLINE (learner-lost)`]);
      }
    });
  },
);

describe("in OFFLINE, where the fallback acts, it goes on acting:", () => {
  test.each(cases("OFFLINE"))("$reason ($name)", async ({ reason, fault }) => {
    const life = restarted("OFFLINE", fault.damage);
    fault.begin?.(life);
    for (let i = 0; i < 4; i++) {
      const now = await life.turns(1);
      if (now !== undefined) expect(now).toMatchObject({ stage: "OFFLINE", who: "fallback" });
    }
    fault.end?.(life);
    expect(await life.turns(2)).toMatchObject({ stage: "OFFLINE", who: "fallback" });
    expect(life.last()?.why[0]?.rule).toBe("bootstrapping");
    met.add(`${reason} in OFFLINE`);
    await endOf(life);
  });
});

describe("every stage is entered, for every cause there is:", () => {
  /** A new version takes a hundred times the work: no allocation within bounds keeps the SLO, and the reward says so. */
  const overburden = (life: Life) =>
    life.world.update(shop, { application: plainApplication({ phases: [phaseOf(1_000)], threads: 8, queue: 100 }) });

  test("the fallback's slot, earned, converged, and training again when the workload has changed", async () => {
    const life = shopLife({ profile: { serving: { kind: "converged", below: 1 } } });
    expect(await life.turns(1)).toMatchObject({ stage: "OFFLINE", who: "fallback" });
    expect(life.last()?.why[0]?.rule).toBe("bootstrapping");
    await life.turnsUntil(({ stage }) => stage === "SERVING", SERVING_BY);
    overburden(life);
    await life.turnsUntil(({ stage }) => stage === "ONLINE", 12 * EPISODE);
    await endOf(life);
    expect(life.transitions()).toEqual([
      "INITIALIZED → OFFLINE (bootstrap)",
      "OFFLINE → ONLINE (earned)",
      "ONLINE → SERVING (converged)",
      "SERVING → ONLINE (retraining)",
    ]);
    met.add("INITIALIZED");
    expect((await life.store.counts()).records).toBeGreaterThan(5 * EPISODE);
  });

  test("where the task's own model proposes, its turn comes when it has had proposals for an episode", async () => {
    const byModel = { byModel: true, offPolicy: null, canary: null };
    const rollback = { excess: null, credit: 0, maxFaultShare: 0.5, wait: 5 };
    const shadow = { episodes: 1, maxTripRate: 1, maxFailureRate: 0.1, maxRiskyRate: 1 };
    const life = shopLife({ profile: { serving: outOfReach, gates: { ...byModel, rollback, shadow } } });
    life.faults.model = "learning";
    await life.turns(3 * EPISODE);
    expect(life.last()).toMatchObject({ stage: "OFFLINE", who: "fallback" });
    delete life.faults.model;
    await life.turnsUntil(({ who, stage }) => who === "learner" && stage === "ONLINE", 2 * EPISODE + 1);
    await endOf(life);
    expect(life.transitions()).toEqual(["INITIALIZED → OFFLINE (bootstrap)", "OFFLINE → ONLINE (model-ready)"]);
  });

  test("a fallback that fails gives way at once, before anything was shown in shadow", async () => {
    const byModel = { byModel: true, offPolicy: null, canary: null };
    const rollback = { excess: null, credit: 0, maxFaultShare: 0.5, wait: 5 };
    const shadow = { episodes: 1, maxTripRate: 1, maxFailureRate: 0.1, maxRiskyRate: 1 };
    const life = shopLife({ profile: { serving: outOfReach, gates: { ...byModel, rollback, shadow } } });
    expect(await life.turns(5)).toMatchObject({ stage: "OFFLINE", who: "fallback" });
    life.faults.fallback = "failing";
    expect(await life.turns(1)).toMatchObject({ stage: "ONLINE", who: "learner" });
    await endOf(life);
    expect(life.transitions()).toEqual(["INITIALIZED → OFFLINE (bootstrap)", "OFFLINE → ONLINE (fallback-fails)"]);
  });

  test("a learner that costs more than the fallback gives way to it, as long as that keeps the budget", async () => {
    const rollback = { excess: null, credit: 0, maxFaultShare: 0.5, wait: 5 };
    const worth = { budget: 0.5, dearer: 0.05 };
    const gates = { byModel: true, offPolicy: null, shadow: null, canary: null, rollback, worth };
    const life = shopLife({ profile: { bootstrap: false, serving: outOfReach, gates } });
    life.faults.spends = "all";
    await life.turnsUntil(({ who, stage }) => who === "learner" && stage === "ONLINE", 20);
    const now = await life.turnsUntil(({ stage }) => stage === "OFFLINE", 12 * EPISODE);
    expect(now).toMatchObject({ who: "fallback" });
    expect(now.why[0]?.rule).toBe("cheaper");
    await endOf(life);
    expect(life.transitions()).toEqual(["INITIALIZED → ONLINE (no-bootstrap)", "ONLINE → OFFLINE (not-worth)"]);
  });

  test("a policy that learned beside the loop takes the place of the one that acts, and is watched in shadow first", async () => {
    const rollback = { excess: null, credit: 0, maxFaultShare: 0.5, wait: 5 };
    const shadow = { episodes: 1, maxTripRate: 1, maxFailureRate: 0.1, maxRiskyRate: 1 };
    const gates = { byModel: true, offPolicy: null, canary: null, rollback, shadow };
    const life = shopLife({ profile: { serving: outOfReach, gates } });
    await life.turnsUntil(({ who, stage }) => who === "learner" && stage === "ONLINE", 4 * EPISODE);
    life.takeCandidate();
    const now = await life.turnsUntil(({ stage }) => stage === "OFFLINE", 2);
    expect(now).toMatchObject({ who: "fallback" });
    expect(now.why[0]?.rule).toBe("retraining");
    await life.turnsUntil(({ who, stage }) => who === "learner" && stage === "ONLINE", 2 * EPISODE + 1);
    await endOf(life);
    expect(life.transitions()).toEqual([
      "INITIALIZED → OFFLINE (bootstrap)",
      "OFFLINE → ONLINE (model-ready)",
      "ONLINE → OFFLINE (candidate)",
      "OFFLINE → ONLINE (model-ready)",
    ]);
  });

  test("with high stakes the fallback acts during retraining", async () => {
    const life = shopLife({ profile: { serving: { kind: "converged", below: 1 }, stakes: "high" } });
    await life.turnsUntil(({ stage }) => stage === "SERVING", SERVING_BY);
    overburden(life);
    const now = await life.turnsUntil(({ stage }) => stage === "OFFLINE", 12 * EPISODE);
    expect(now).toMatchObject({ who: "fallback" });
    expect(now.why[0]?.rule).toBe("retraining");
    await endOf(life);
    expect(life.transitions().at(-1)).toBe("SERVING → OFFLINE (retraining)");
  });

  test("a person promotes an agent that has not earned it yet, and takes it back", async () => {
    const life = shopLife({ profile: profiles.OFFLINE });
    await life.turnsUntil(({ stage }) => stage === "OFFLINE", 20);
    await life.turns(5 * EPISODE);
    life.operate("promote");
    await life.turnsUntil(({ who, stage }) => who === "learner" && stage === "ONLINE", 2);
    life.operate("roll-back");
    await life.turnsUntil(({ who, stage }) => who === "fallback" && stage === "OFFLINE", 2);
    await endOf(life);
    expect(life.transitions()).toEqual([
      "INITIALIZED → OFFLINE (bootstrap)",
      "OFFLINE → ONLINE (operator)",
      "ONLINE → OFFLINE (operator)",
    ]);
  });

  test("without bootstrapping the learner acts from the first step on", async () => {
    const life = shopLife({ profile: { bootstrap: false } });
    await life.turnsUntil(({ who, stage }) => who === "learner" && stage === "ONLINE", 20);
    await endOf(life);
    expect(life.transitions()[0]).toBe("INITIALIZED → ONLINE (no-bootstrap)");
  });

  test("with a shared policy the learner acts from the first step on, and the fallback now and then to be measured", async () => {
    const shared = openSharedModel(encodePretrained(await tinyModel()), loadKernels());
    const life = shopLife({ shared, profile: { serving: outOfReach } });
    await life.turnsUntil(({ who, stage }) => who === "learner" && stage === "ONLINE", 20);
    await life.turnsUntil(({ who, why }) => who === "fallback" && why[0]?.rule === "measuring", 3 * EPISODE);
    // Known by what the thread beside the loop read.
    await life.turns(3 * EPISODE);
    expect(life.familiarity()?.state).not.toBe("neutral");
    await endOf(life);
    expect(life.transitions()).toEqual(["INITIALIZED → ONLINE (shared-policy)"]);
    const saved = (life.state as ReturnType<typeof memoryState>).files.get(web)?.[0] as Uint8Array;
    const again = restartedFrom(saved, { shared, start: (life.clock.now() + 30_000) as Ms });
    // In its first turn, before it is trained again.
    expect(await again.turns(1)).toMatchObject({ stage: "ONLINE" });
    expect(again.familiarity()).toEqual(life.familiarity());
    await again.loop.stop();
  });

  test("a learner that the fallback had to stand in for over most of an episode is rolled back", async () => {
    const rollback = { excess: 1_000, credit: 10, maxFaultShare: 0.5, wait: 2 };
    const life = shopLife({ profile: { serving: outOfReach, gates: { ...gates, rollback } } });
    await life.turnsUntil(({ who }) => who === "learner", SERVING_BY);
    life.faults.proposalTakes = 1_000 as Ms;
    const now = await life.turnsUntil(({ stage }) => stage === "OFFLINE", 3 * EPISODE);
    expect(now.why[0]?.rule).toBe("rolled-back");
    await endOf(life);
    expect(life.transitions().at(-1)).toBe("ONLINE → OFFLINE (rollback)");
  });
});

test("nothing was left out: every reason in every stage, every stage, every cause", () => {
  const wanted = [
    ...Object.keys(profiles).flatMap((stage) => takeoverReasons.map((reason) => `${reason} in ${stage}`)),
    "INITIALIZED",
    ...offlineCauses.map((because) => `OFFLINE because ${because}`),
    ...onlineCauses.map((because) => `ONLINE because ${because}`),
    "SERVING because converged",
  ];
  expect(wanted.filter((one) => !met.has(one))).toEqual([]);
  // The stages above are all there are.
  expect(["INITIALIZED", ...Object.keys(profiles)].sort()).toEqual([...stages].sort());
});
