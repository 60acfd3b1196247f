import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { milliseconds, unwrap } from "../../base/index.ts";
import { bandOf, canaryBand, lifecycleStep, WHOLE_BAND } from "./lifecycle.ts";
import type { Gates, LifecycleProfile } from "./profile.ts";
import { defaultGates, modelGates, noGates, paperProfile, parseLifecycleProfile } from "./profile.ts";
import type { AgentState, EpisodeScore, Evidence, LifecycleEvent, ShadowScore } from "./state.ts";
import { freshAgentState } from "./state.ts";

const at = milliseconds(0);
const NO_BILL = { steps: 100, cost: 0, fallbackCost: 0 };
const goodShadow: ShadowScore = { steps: 100, failures: 0, trips: 0, risky: 0, distance: 0.1 };

function episode(score: Partial<EpisodeScore>, shadow: ShadowScore | null = goodShadow): Evidence {
  return {
    kind: "episode",
    at,
    score: { episode: 0, reward: 130, violations: 0, usual: 0, learnerShare: 0, faultShare: 0, ...NO_BILL, ...score },
    shadow,
  };
}

const estimate = (lower: number): Evidence => ({
  kind: "estimate",
  at,
  score: {
    mean: lower + 5,
    lower,
    upper: lower + 10,
    gainMean: lower - 125,
    gainLower: lower - 130,
    method: "by hand",
    episodes: 10,
  },
});

const profileOf = (options: Partial<LifecycleProfile>) => unwrap(parseLifecycleProfile({ window: 2, ...options }));

function run(profile: LifecycleProfile, evidence: readonly Evidence[], from: AgentState = freshAgentState) {
  let state = from;
  const events: LifecycleEvent[] = [];
  for (const one of evidence) {
    const step = lifecycleStep(profile, state, one);
    state = step.state;
    events.push(...step.events);
  }
  return { state, events, path: transitionsOf(events).map(({ from, to }) => `${from}→${to}`) };
}

const transitionsOf = (events: readonly LifecycleEvent[]) => events.filter((event) => event.kind === "transition");
const start: Evidence = { kind: "start", at };
const times = <T>(count: number, item: T): T[] => new Array<T>(count).fill(item);

describe("Algorithm 1, without gates", () => {
  const paper = { ...paperProfile, window: 2, serving: { kind: "absolute", value: 180 } } as const;

  test("with a shared policy it begins ONLINE unless stakes are high, and OFFLINE where that cannot be used", () => {
    const begun = (shared: "ready" | "unusable", options: Partial<LifecycleProfile>) =>
      run({ ...paper, ...options }, [{ kind: "start", at, shared }]).state.history[0];
    expect(begun("ready", {})).toMatchObject({ to: "ONLINE", because: "shared-policy" });
    expect(begun("ready", { stakes: "high" })).toMatchObject({ to: "OFFLINE", because: "bootstrap" });
    expect(begun("ready", { stakes: "high", bootstrap: false })).toMatchObject({
      to: "ONLINE",
      because: "no-bootstrap",
    });
    for (const bootstrap of [true, false])
      expect(begun("unusable", { bootstrap })).toMatchObject({ to: "OFFLINE", because: "bootstrap" });
  });

  test("with bootstrapping an agent begins OFFLINE, without it ONLINE", () => {
    expect(run(paper, [start]).path).toEqual(["INITIALIZED→OFFLINE"]);
    expect(run({ ...paper, bootstrap: false }, [start]).path).toEqual(["INITIALIZED→ONLINE"]);
  });

  test("it leaves OFFLINE when the mean of the recorded rewards reaches T_online, and not before", () => {
    expect(run(paper, [episode({ reward: 120 }), episode({ reward: 139 })]).state.stage).toBe("OFFLINE");
    expect(run(paper, [episode({ reward: 121 }), episode({ reward: 139 })]).state.stage).toBe("ONLINE");
  });

  test("it serves when the mean is high and the deviation low, and trains again when either is lost", () => {
    const learner = (reward: number) => episode({ reward, learnerShare: 1 }, null);
    const online = run({ ...paper, bootstrap: false }, [start]).state;
    // Mean 180, deviation (population) 10: too unsteady. Then mean 187.5, deviation 2.5.
    const unsteady = run(paper, [learner(170), learner(190)], online);
    expect(unsteady.state.stage).toBe("ONLINE");
    const serving = run(paper, [learner(185)], unsteady.state);
    expect(serving.path).toEqual(["ONLINE→SERVING"]);
    // Mean 179.5 of 185 and 174 is too low; mean 192.5 of 185 and 200 is high but deviates by 7.5.
    expect(run(paper, [learner(174)], serving.state).path).toEqual(["SERVING→ONLINE"]);
    expect(run(paper, [learner(200)], serving.state).path).toEqual(["SERVING→ONLINE"]);
    expect(run(paper, [learner(181)], serving.state).path).toEqual([]);
  });

  test("'converged' retrains when a window falls further below the best one than allowed", () => {
    const profile = profileOf({
      bootstrap: false,
      gates: noGates,
      serving: { kind: "converged", below: 5 },
      deviation: { kind: "absolute", value: 100 },
    });
    const learner = (reward: number) => episode({ reward, learnerShare: 1 }, null);
    const { state } = run(profile, [learner(190), learner(190)]);
    expect(state.stage).toBe("SERVING");
    // The window 190, 181 means 185.5 ≥ 185; 181, 188 means 184.5.
    expect(run(profile, [learner(181)], state).state.stage).toBe("SERVING");
    expect(run(profile, [learner(181), learner(188)], state).state.stage).toBe("ONLINE");
  });

  test("every transition carries what it rests on", () => {
    const { events } = run(paper, [episode({ reward: 121 }), episode({ reward: 139 })]);
    expect(transitionsOf(events).at(-1)).toMatchObject({
      from: "OFFLINE",
      to: "ONLINE",
      because: "earned",
      evidence: [{ gate: "reward", holds: true, found: 130, asked: 130 }],
    });
  });

  test("for any rewards it walks as the paper's pseudo-code does", () => {
    const settings = fc.record({ bootstrap: fc.boolean(), online: fc.integer({ min: 0, max: 200 }) });
    fc.assert(
      fc.property(settings, fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 60 }), (setting, rewards) => {
        const profile: LifecycleProfile = {
          ...paper,
          bootstrap: setting.bootstrap,
          online: { kind: "absolute", value: setting.online },
          serving: { kind: "absolute", value: 100 },
          deviation: { kind: "absolute", value: 40 },
        };
        const stages: string[] = [];
        let state = run(profile, [start]).state;
        for (const reward of rewards) {
          const learnerShare = state.stage === "OFFLINE" ? 0 : 1;
          state = lifecycleStep(profile, state, episode({ reward, learnerShare }, null)).state;
          stages.push(state.stage);
        }
        expect(stages).toEqual(transcribed(profile, rewards));
      }),
    );
  });

  /** Algorithm 1 line by line, over the rewards of the stage (carried from ONLINE into SERVING), two at a time. */
  function transcribed(profile: LifecycleProfile, rewards: readonly number[]): string[] {
    const value = (threshold: { kind: string; value?: number }) => threshold.value ?? Number.NaN;
    let stage = profile.bootstrap ? "OFFLINE" : "ONLINE";
    let seen: number[] = [];
    return rewards.map((reward) => {
      seen.push(reward);
      const [a, b] = seen.slice(-2);
      if (a === undefined || b === undefined) return stage;
      const avg = (a + b) / 2;
      const std = Math.abs(a - b) / 2;
      if (stage === "OFFLINE") {
        if (avg >= value(profile.online)) [stage, seen] = ["ONLINE", []];
      } else if (stage === "ONLINE") {
        if (avg >= value(profile.serving) && std <= value(profile.deviation)) stage = "SERVING";
      } else if (avg < value(profile.serving) || std > value(profile.deviation)) [stage, seen] = ["ONLINE", []];
      return stage;
    });
  }
});

describe("the gates to ONLINE", () => {
  const profile = profileOf({ gates: { ...defaultGates, shadow: { ...defaultGates.shadow!, episodes: 2 } } });
  const measured = times(2, episode({ reward: 130, violations: 3 }));

  test("the fallback's own rewards never open it, however good they are", () => {
    expect(run(profile, times(50, episode({ reward: 200 }))).state.stage).toBe("OFFLINE");
  });

  test("the candidate's estimate has to reach the fallback's measured level", () => {
    // The mean of these estimates is five above their lower bound.
    expect(run(profile, [...measured, estimate(124.9)]).state.stage).toBe("OFFLINE");
    expect(run(profile, [...measured, estimate(125)]).state.stage).toBe("ONLINE");
  });

  test("its lower bound may lie below the level by the margin and no more", () => {
    const strict = (margin: number) => ({
      ...profile,
      gates: { ...profile.gates, offPolicy: { maxAgeEpisodes: 10, margin } },
    });
    expect(run(strict(0), [...measured, estimate(129.9)]).state.stage).toBe("OFFLINE");
    expect(run(strict(0), [...measured, estimate(130)]).state.stage).toBe("ONLINE");
    // 0.97·130 = 126.1
    expect(run(strict(0.03), [...measured, estimate(126)]).state.stage).toBe("OFFLINE");
    expect(run(strict(0.03), [...measured, estimate(126.2)]).state.stage).toBe("ONLINE");
  });

  test("an estimate that has grown old counts no more", () => {
    const offline = run(profile, [estimate(190)]).state;
    const old = { ...profile, gates: { ...profile.gates, offPolicy: { maxAgeEpisodes: 1, margin: 0 } } };
    expect(run(old, measured, offline).state.stage).toBe("OFFLINE");
    expect(run(profile, measured, offline).state.stage).toBe("ONLINE");
  });

  test.each([
    ["fails to propose", { failures: 10 }],
    ["trips the guard", { trips: 60 }],
    ["shrinks while the SLO is missed", { risky: 30 }],
  ])("a shadow that often %s keeps it shut", (_, fault) => {
    const shadowed = times(2, episode({}, { ...goodShadow, ...fault }));
    expect(run(profile, [...shadowed, estimate(199)]).state.stage).toBe("OFFLINE");
    expect(run(profile, [...times(2, episode({})), estimate(199)]).state.stage).toBe("ONLINE");
  });

  test("a threshold above what an episode can earn is refused, or reported once it is known", () => {
    const refused = parseLifecycleProfile({ online: { kind: "absolute", value: 201 } });
    expect(refused).toMatchObject({ ok: false, failure: { code: "lifecycle.profile" } });
    const greedy = profileOf({ online: { kind: "fallback", times: 1.5, plus: 0 } });
    const { events } = run(greedy, times(4, episode({ reward: 140 })));
    const alarms = events.filter(({ kind }) => kind === "threshold-out-of-reach");
    expect(alarms).toHaveLength(1);
    expect(alarms[0]).toMatchObject({ evidence: [{ found: 210, asked: 200 }] });
  });
});

describe("the canary and the rollback", () => {
  const profile = profileOf({ gates: { ...defaultGates, shadow: null } });
  const learner = (violations: number, reward = 150) =>
    episode({ reward, violations, usual: 3, learnerShare: 1 }, null);
  const online = run(profile, [...times(2, episode({ reward: 130, violations: 3 })), estimate(140)]).state;

  test("the band widens after clean episodes, narrows after others, and is gone at last", () => {
    expect(online.stage).toBe("ONLINE");
    expect(canaryBand(profile, online)).toBeCloseTo(0.2);
    // The fallback would have had three violations too and one is forgiven: four are clean, five are not.
    const wider = run(profile, [learner(4)], online);
    expect(canaryBand(profile, wider.state)).toBeCloseTo(0.3);
    expect(canaryBand(profile, run(profile, [learner(5)], wider.state).state)).toBeCloseTo(0.15);
    // 0.2·1.5⁶ = 2.28 is more than the whole range.
    const passed = run(profile, times(6, learner(0)), online);
    expect(canaryBand(profile, passed.state)).toBe(WHOLE_BAND);
    expect(passed.path).toEqual(["ONLINE→SERVING"]);
  });

  test("an episode that earns clearly less than the fallback is not clean either", () => {
    // The level is 130 without deviation, and a twentieth may be lacking: 123.5.
    expect(canaryBand(profile, run(profile, [learner(0, 124)], online).state)).toBeCloseTo(0.3);
    expect(canaryBand(profile, run(profile, [learner(0, 123)], online).state)).toBeCloseTo(0.1);
  });

  test("SERVING waits for the end of the canary, whatever the rewards", () => {
    expect(run(profile, times(5, learner(0, 199)), online).path).toEqual([]);
  });

  test("in canary mode the learner never leaves the first band", () => {
    const careful = { ...profile, mode: "canary" } as const;
    const { state } = run(careful, times(10, learner(0)), online);
    expect(state.stage).toBe("SERVING");
    expect(canaryBand(careful, state)).toBeCloseTo(0.2);
    expect(bandOf(careful, state, { hasCeiling: true })).toEqual({ below: 0.2, above: 0.2 });
  });

  test("the band is below the fallback's values; above them only where no ceiling is", () => {
    expect(bandOf(profile, online, { hasCeiling: true })).toEqual({ below: 0.2, above: WHOLE_BAND });
    expect(bandOf(profile, online, { hasCeiling: false })).toEqual({ below: 0.2, above: 0.2 });
  });

  test("violations beyond the fallback's level add up until the learner's turn is over", () => {
    // Level 3: eight violations are five too many, so the third such episode makes fifteen, above ten.
    expect(run(profile, [learner(8), learner(8)], online).path).toEqual([]);
    const { path, state, events } = run(profile, [learner(8), learner(8), learner(8)], online);
    expect(path).toEqual(["ONLINE→OFFLINE"]);
    expect(state).toMatchObject({ stage: "OFFLINE", because: "rollback", rollbacks: 1, wait: 5, fallback: [] });
    expect(transitionsOf(events).at(-1)).toMatchObject({ evidence: [{ gate: "excess", holds: false, found: 15 }, {}] });
  });

  test("what was saved counts against later violations only up to the credit", () => {
    // Ten episodes without violations save thirty, of which ten count: twenty more may follow, not forty.
    const saved = run(profile, times(10, learner(0)), online).state;
    expect(saved).toMatchObject({ excess: -10 });
    expect(run(profile, [learner(23)], saved).state.stage).toBe("SERVING");
    expect(run(profile, [learner(24)], saved).state.stage).toBe("OFFLINE");
  });

  test("after a rollback the next attempt waits longer and may spend as much: luck alone would end one that may not", () => {
    const back = run(profile, times(3, learner(8)), online).state;
    const refused = run(profile, [...times(4, episode({ violations: 3 })), estimate(190)], back);
    expect(refused.state.stage).toBe("OFFLINE");
    const again = run(profile, [episode({ violations: 3 }), estimate(190)], refused.state);
    expect(again.state.stage).toBe("ONLINE");
    // Ten too many are still allowed, as they were the first time, and eleven are not.
    const spent = run(profile, [learner(8), learner(8)], again.state).state;
    expect(spent).toMatchObject({ stage: "ONLINE", rollbacks: 1, excess: 10 });
    expect(run(profile, [learner(4)], spent).state).toMatchObject({ stage: "OFFLINE", rollbacks: 2, wait: 10 });
  });

  test("a learner that had to be stood in for over most of an episode goes back", () => {
    const faulty = episode({ learnerShare: 0.3, faultShare: 0.7 }, null);
    expect(run(profile, [faulty], online).path).toEqual(["ONLINE→OFFLINE"]);
    const starved = episode({ learnerShare: 0.3, faultShare: 0 }, null);
    expect(run(profile, [starved], online).state).toMatchObject({ stage: "ONLINE", recent: [] });
  });

  test("high stakes retrain OFFLINE, where the fallback acts", () => {
    const careful = { ...profile, stakes: "high" } as const;
    const serving = run(careful, times(6, learner(0)), online).state;
    const { state, path } = run(careful, times(2, learner(0, 100)), serving);
    expect(path).toEqual(["SERVING→OFFLINE"]);
    expect(state).toMatchObject({ because: "retraining", wait: 0, rollbacks: 0 });
    expect(run(profile, times(2, learner(0, 100)), serving).path).toEqual(["SERVING→ONLINE"]);
  });

  test("a learner that is lost leads back to OFFLINE from every stage in which it acts", () => {
    const lost: Evidence = { kind: "learner-lost", at, detail: "no checkpoint" };
    const serving = run(profile, times(6, learner(0)), online).state;
    for (const state of [online, serving])
      expect(run(profile, [lost], state).state).toMatchObject({ because: "learner-lost" });
    const offline = run(profile, [episode({}), estimate(1)]).state;
    expect(run(profile, [lost], offline).state).toMatchObject({
      stage: "OFFLINE",
      estimate: null,
      because: "bootstrap",
    });
  });
});

describe("whatever is put before it", () => {
  const score = fc.record({
    episode: fc.nat(),
    reward: fc.integer({ min: 0, max: 200 }),
    violations: fc.integer({ min: 0, max: 20 }),
    usual: fc.integer({ min: 0, max: 20 }),
    learnerShare: fc.constantFrom(0, 0.4, 1),
    faultShare: fc.constantFrom(0, 0.3, 0.6),
    steps: fc.constant(100),
    cost: fc.constant(0),
    fallbackCost: fc.constant(0),
  });
  const evidence: fc.Arbitrary<Evidence> = fc.oneof(
    { weight: 6, arbitrary: score.map((one) => ({ kind: "episode", at, score: one, shadow: goodShadow }) as const) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 200 }).map(estimate) },
    { weight: 1, arbitrary: fc.constant({ kind: "learner-lost", at, detail: "gone" } as const) },
  );
  const profiles = fc.record({
    bootstrap: fc.boolean(),
    stakes: fc.constantFrom("normal" as const, "high" as const),
    online: fc.constantFrom({ kind: "absolute", value: 90 } as const, { kind: "fallback", times: 1, plus: 0 } as const),
    serving: fc.constant({ kind: "absolute", value: 90 } as const),
    deviation: fc.constant({ kind: "absolute", value: 50 } as const),
    gates: fc.constantFrom<Gates>(defaultGates, noGates, { ...defaultGates, offPolicy: null }),
  });

  test("no transition happens that Algorithm 1 or a gate forbids, and each says what it rests on", () => {
    fc.assert(
      fc.property(profiles, fc.array(evidence, { maxLength: 80 }), (options, story) => {
        const profile = profileOf(options);
        let state: AgentState = freshAgentState;
        for (const one of story) {
          const step = lifecycleStep(profile, state, one);
          let stage = state.stage;
          for (const event of transitionsOf(step.events)) {
            expect(event.from).toBe(stage);
            expect(event.evidence.length).toBeGreaterThan(0);
            expect(mayFollow(profile, event, one)).toBe(true);
            stage = event.to;
          }
          expect(step.state.stage).toBe(stage);
          const moves = transitionsOf(step.events).map(({ kind: _, ...move }) => move);
          expect(step.state.history).toEqual([...state.history, ...moves]);
          state = step.state;
        }
      }),
      { numRuns: 300 },
    );
  });

  /** What the design allows, said once more without the machine. */
  function mayFollow(
    { bootstrap, stakes, gates }: LifecycleProfile,
    { from, to, because, evidence: found }: LifecycleEvent & { kind: "transition" },
    cause: Evidence,
  ): boolean {
    const missed = found.filter(({ holds }) => !holds).map(({ gate }) => gate);
    switch (`${from}→${to}`) {
      case "INITIALIZED→OFFLINE":
        return bootstrap;
      case "INITIALIZED→ONLINE":
        return !bootstrap;
      case "OFFLINE→ONLINE":
        return (
          missed.length === 0 &&
          found.some(({ gate, about }) => gate === "reward" && (!gates.offPolicy || about.includes("estimated")))
        );
      case "ONLINE→SERVING":
        return missed.length === 0 && (!gates.canary || found.some(({ gate }) => gate === "canary"));
      case "SERVING→ONLINE":
        return stakes === "normal" && (missed.includes("reward") || missed.includes("deviation"));
      case "SERVING→OFFLINE":
      case "ONLINE→OFFLINE":
        if (because === "learner-lost") return cause.kind === "learner-lost";
        if (because === "rollback")
          return gates.rollback !== null && (missed.includes("excess") || missed.includes("faults"));
        return from === "SERVING" && stakes === "high" && because === "retraining";
      default:
        return false;
    }
  }

  test("a state remembers its newest hundred moves, and the last one leads to its stage", () => {
    const profile = profileOf({ gates: noGates });
    const wish = (kind: "promote" | "roll-back"): Evidence => ({ kind: "operator", at, wish: kind, detail: "again" });
    const there = [wish("promote"), wish("roll-back")];
    const { state } = run(profile, [start, ...times(60, there).flat()]);
    expect(state.history).toHaveLength(100);
    expect(state.history.map(({ from, to }) => `${from}→${to}`)).toEqual(
      times(50, ["OFFLINE→ONLINE", "ONLINE→OFFLINE"]).flat(),
    );
    expect(state.stage).toBe("OFFLINE");
  });

  test("the same evidence leads to the same state, and the input is left as it was", () => {
    fc.assert(
      fc.property(profiles, fc.array(evidence, { maxLength: 30 }), (options, story) => {
        const profile = profileOf(options);
        const before = JSON.stringify(story);
        expect(run(profile, story)).toEqual(run(profile, story));
        expect(JSON.stringify(story)).toBe(before);
      }),
      { numRuns: 50 },
    );
  });
});

test("of learner and fallback the cheaper one acts, as long as the fallback keeps the budget", () => {
  const worth = { budget: 0.01, dearer: 0.05 };
  const absolute = (value: number) => ({ kind: "absolute", value }) as const;
  const thresholds = { online: absolute(0), serving: absolute(200), deviation: absolute(50) };
  const life = unwrap(
    parseLifecycleProfile({
      ...thresholds,
      window: 2,
      gates: { ...modelGates({ mode: "act", attainment: 0.99 }), shadow: null, worth },
    }),
  );
  const after = (state: AgentState, scores: readonly Partial<EpisodeScore>[]): AgentState =>
    scores.reduce((before: AgentState, score) => lifecycleStep(life, before, episode(score, null)).state, state);
  const bill = (cost: number, more: Partial<EpisodeScore> = {}) => ({ cost, fallbackCost: 100, ...more });
  // In shadow its plan would cost more than the rules, which miss nothing: they go on acting.
  const dear = after(freshAgentState, [bill(120), bill(120)]);
  expect(dear.stage).toBe("OFFLINE");
  // Cheaper over the window of two: 120 and 70 are less than 200.
  expect(after(dear, [bill(70)])).toMatchObject({ stage: "ONLINE", because: "model-ready" });
  // Five missed steps in 400 are more than one in a hundred, however cheap.
  expect(after(dear, [bill(300, { violations: 5 })]).stage).toBe("ONLINE");
  const online = after(freshAgentState, [bill(70)]);
  const acting = { learnerShare: 1 };
  expect(after(online, [bill(104, acting), bill(104, acting)]).stage).toBe("ONLINE");
  expect(after(online, [bill(108, acting), bill(104, acting)])).toMatchObject({
    stage: "OFFLINE",
    because: "not-worth",
  });
  // It is missed with more than the rules would give (3 steps of 200, 2 may be): they are no cure, whatever they kept before.
  const missing = { ...acting, violations: 3 };
  expect(after(online, [bill(200, acting), bill(200, missing)]).stage).toBe("ONLINE");
  // A bad start of the rules is no proof: they are tried again, and what they miss then is added to it.
  const late = after(freshAgentState, [bill(300, { violations: 5 })]);
  const again = after(late, [bill(200, acting), bill(200, acting)]);
  expect(again).toMatchObject({ stage: "OFFLINE", because: "not-worth", fallback: [{ violations: 5 }] });
  expect(after(again, [bill(200), bill(200)]).stage).toBe("OFFLINE");
  // Where they missed more than the budget over 400 steps they have no claim to be cheap.
  const proven = after(again, [bill(200), bill(200), bill(200, { violations: 5 })]);
  expect(proven.stage).toBe("ONLINE");
  expect(after(proven, [bill(200, acting), bill(200, acting)]).stage).toBe("ONLINE");
});

test("a fallback that fails gives way at once, where a model proposes and nobody has decided otherwise", () => {
  const absolute = (value: number) => ({ kind: "absolute", value }) as const;
  const parsed = (more: object) =>
    unwrap(
      parseLifecycleProfile({
        online: absolute(0),
        serving: absolute(200),
        deviation: absolute(50),
        gates: modelGates({ mode: "act", attainment: 0.99 }),
        ...more,
      }),
    );
  const at = milliseconds(0);
  const failing = (profile: ReturnType<typeof parsed>, state: AgentState) =>
    lifecycleStep(profile, state, { kind: "fallback-fails", at }).state;
  const acting = parsed({});
  const begun = lifecycleStep(acting, freshAgentState, { kind: "start", at }).state;
  expect(failing(acting, begun)).toMatchObject({ stage: "ONLINE", because: "fallback-fails" });
  // Again where it gave way for being dear.
  const cheap = { ...begun, because: "not-worth" } as AgentState;
  expect(failing(acting, cheap).stage).toBe("ONLINE");
  // A person's word and a rollback for faults stand.
  for (const because of ["operator", "rollback"] as const)
    expect(failing(acting, { ...begun, because } as AgentState).stage).toBe("OFFLINE");
  // Nor where it is only to recommend, to stay near the fallback, or where no model proposes.
  for (const other of [
    parsed({ mode: "recommend" }),
    parsed({ mode: "canary", gates: modelGates({ mode: "canary", attainment: 0.99 }) }),
    parsed({ gates: { ...modelGates({ mode: "act", attainment: 0.99 }), byModel: false } }),
  ])
    expect(failing(other, begun).stage).toBe("OFFLINE");
});
