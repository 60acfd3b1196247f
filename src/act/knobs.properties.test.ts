/**
 * The proof at the head of guard.ts, for any number of knobs of any name: no sequence of proposals, however wild, breaks
 * bounds, grain, step or cool-down, with constraints or without. The checks (guard.conformance.ts) are not the guard's code.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Ms } from "../base/index.ts";
import { milliseconds, parseWorkloadId, seconds, unwrap } from "../base/index.ts";
import type { Draft } from "./draft.ts";
import { checkedGuard, must } from "./guard.conformance.ts";
import type { Constraint, GuardLimits, GuardState, Verdict } from "./guard.ts";
import { freshGuardState, guard } from "./guard.ts";
import type { Knob, Setting } from "./knob.ts";
import { parseGuardLimits } from "./limits.ts";

const workload = unwrap(parseWorkloadId("w"));
const start = 1_700_000_000_000;
/** A value that is read beside the knobs and has no limits: nobody may ask for it, and it stays. */
const unmanaged = "unmanaged";

const nameArbitrary = fc
  .oneof(fc.string({ minLength: 1, maxLength: 8, unit: "grapheme" }), fc.constantFrom("gpu-share", "0", "a.b", "größe"))
  .filter((name) => !(name in {}) && name !== unmanaged);

const factor = fc.double({ min: 0, max: 2, noNaN: true });
const wait = (most: number) => fc.integer({ min: 0, max: most }).map(seconds);

const knobArbitrary: fc.Arbitrary<Omit<Knob, "name">> = fc.constantFrom(0, 1, 5).chain((grain) => {
  const amount = (min: number, max: number): fc.Arbitrary<number> =>
    grain === 0
      ? fc.double({ min, max, noNaN: true })
      : fc.integer({ min: Math.ceil(min), max }).map((times) => times * grain);
  return fc.record({
    unit: fc.constant("units"),
    bounds: fc.tuple(amount(0, 200), amount(0, 200)).map(([a, b]) => ({ min: Math.min(a, b), max: Math.max(a, b) })),
    grain: fc.constant(grain),
    step: fc.record({ absolute: amount(0.5, 40), up: factor, down: factor }),
    cooldown: fc.record({ up: wait(60), down: wait(200) }),
  });
});

const sumOf = (knobs: readonly Knob[], setting: Setting): number =>
  knobs.reduce((sum, { name }) => sum + (setting[name] as number), 0);

/** Made up: all values together are at most so much. What grows gives way, to anywhere on the way back. */
const total = (knobs: readonly Knob[], most: number): Constraint => ({
  rule: "total",
  keep(draft: Draft, { have }): void {
    for (const { name } of knobs) {
      const over = sumOf(knobs, draft.setting) - most;
      const current = have[name] as number;
      if (over > 0 && draft.get(name) > current) draft.set(name, Math.max(current, draft.get(name) - over), "total");
    }
  },
});

type Moves = readonly { readonly at: Ms; readonly count: number }[];
const moveWindow = seconds(100);
const counted = (moves: Moves): number => moves.reduce((sum, { count }) => sum + count, 0);

/** Made up: within a while so many values are moved, and no more. It has a memory. */
const fewMoves = (knobs: readonly Knob[], most: number): Constraint => {
  const moved = (draft: Draft, have: Setting): readonly string[] =>
    knobs.map(({ name }) => name).filter((name) => draft.get(name) !== have[name]);
  return {
    rule: "few-moves",
    current: (memory, { now }) => ((memory ?? []) as Moves).filter(({ at }) => at > now - moveWindow),
    keep(draft, { have }, { memory }): void {
      const left = Math.max(0, most - counted(memory as Moves));
      for (const name of moved(draft, have).slice(left)) draft.set(name, have[name] as number, "few-moves");
    },
    remember(memory, draft, { have, now }): Moves {
      const count = moved(draft, have).length;
      return count === 0 ? (memory as Moves) : [...(memory as Moves), { at: now, count }];
    },
  };
};

interface World {
  readonly limits: GuardLimits;
  readonly most: { readonly total: number; readonly moves: number };
  readonly have: Setting;
}

const worldArbitrary: fc.Arbitrary<World> = fc
  .record({
    names: fc.uniqueArray(nameArbitrary, { minLength: 1, maxLength: 8, size: "max" }),
    knobs: fc.array(knobArbitrary, { minLength: 8, maxLength: 8 }),
    /** Where in its bounds each begins; some begin outside, or between two multiples of the grain. */
    places: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 8, maxLength: 8 }),
    odd: fc.option(fc.record({ which: fc.nat({ max: 7 }), at: fc.double({ min: 0, max: 2000, noNaN: true }) }), {
      freq: 2,
    }),
    constraints: fc.constantFrom("none", "total", "both"),
    /** How much more than at the beginning all values together may be. */
    room: fc.double({ min: -20, max: 60, noNaN: true }),
    moves: fc.integer({ min: 0, max: 20 }),
  })
  .map(({ names, knobs: bare, places, odd, constraints, room, moves }) => {
    const knobs = names.map((name, i): Knob => ({ ...(bare[i] as Omit<Knob, "name">), name }));
    const have: Record<string, number> = { [unmanaged]: 0.5 };
    knobs.forEach(({ name, bounds: { min, max }, grain }, i) => {
      const inside = min + (places[i] as number) * (max - min);
      have[name] = i === odd?.which ? odd.at : grain === 0 ? inside : Math.floor(inside / grain) * grain;
    });
    const most = { total: sumOf(knobs, have) + room, moves };
    const all = [fewMoves(knobs, most.moves), total(knobs, most.total)];
    const kept = constraints === "none" ? [] : constraints === "total" ? all.slice(1) : all;
    return { limits: unwrap(parseGuardLimits({ knobs, constraints: kept })), most, have };
  });

/** Anything a broken policy may say. */
const wild = fc.oneof(
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 1e308, -1e308, 5e-324, 2 ** 53),
  fc.double(),
);
type Wish = (knob: Knob, have: number) => number;
const wishArbitrary: fc.Arbitrary<Wish> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.double({ min: -0.5, max: 1.5, noNaN: true }).map(
      (t): Wish =>
        ({ bounds: { min, max } }) =>
          min + t * (max - min),
    ),
  },
  {
    weight: 6,
    arbitrary: fc.integer({ min: -3, max: 3 }).map(
      (times): Wish =>
        ({ grain }, have) =>
          have + times * (grain || 1),
    ),
  },
  {
    weight: 1,
    arbitrary: wild.map(
      (value): Wish =>
        () =>
          value,
    ),
  },
);

type Wishes = readonly (Wish | null)[];
const wishesArbitrary: fc.Arbitrary<Wishes> = fc.array(fc.option(wishArbitrary, { freq: 2 }), {
  minLength: 8,
  maxLength: 8,
});

const ticksArbitrary = fc.array(
  fc.record({
    wishes: wishesArbitrary,
    asksUnmanaged: fc.nat({ max: 19 }).map((n) => n === 0),
    waits: fc.integer({ min: 0, max: 120 }),
    dataAge: fc.oneof(
      { weight: 9, arbitrary: fc.integer({ min: 0, max: 90 }) },
      { weight: 1, arbitrary: fc.integer({ min: -20, max: 500 }) },
    ),
  }),
  { minLength: 1, maxLength: 25, size: "max" },
);

function wantOf(knobs: readonly Knob[], wishes: Wishes, have: Setting): Record<string, number> {
  const want: Record<string, number> = {};
  knobs.forEach((knob, i) => {
    const wish = wishes[i];
    if (wish) want[knob.name] = wish(knob, have[knob.name] as number);
  });
  return want;
}

function checkConstraints({ limits, most }: World, have: Setting, { setting, state }: Verdict): void {
  const rules = limits.constraints.map(({ rule }) => rule);
  if (rules.includes("total") && sumOf(limits.knobs, have) <= most.total)
    must(sumOf(limits.knobs, setting) <= most.total + 1e-9, "the total is kept");
  if (rules.includes("few-moves"))
    must(counted((state.constraints["few-moves"] ?? []) as Moves) <= most.moves, "no more are moved than may be");
}

test("no sequence of proposals breaks a limit of any knob, and every correction is written down", () => {
  const seen = { accepted: 0, corrected: 0, refused: 0, constrained: 0, regrained: 0 };
  const count = ({ refused, changed }: Verdict): void => {
    const rules = changed.map(({ knob, rule }) => `${rule} ${knob}`);
    if (refused !== undefined) seen.refused += 1;
    else if (rules.length > 0) seen.corrected += 1;
    else seen.accepted += 1;
    if (changed.some(({ rule }) => rule === "total" || rule === "few-moves")) seen.constrained += 1;
    if (new Set(rules).size < rules.length) seen.regrained += 1;
  };
  fc.assert(
    fc.property(worldArbitrary, ticksArbitrary, (world, ticks) => {
      const { limits } = world;
      const ask = checkedGuard();
      let { have } = world;
      let state: GuardState = freshGuardState;
      let now = milliseconds(start);
      for (const { wishes, asksUnmanaged, waits, dataAge } of ticks) {
        now = milliseconds(now + waits * 1000);
        const want = wantOf(limits.knobs, wishes, have);
        if (asksUnmanaged) want[unmanaged] = 1;
        const proposal = { workload, want, measuredAt: milliseconds(now - dataAge * 1000) };
        const verdict = ask(proposal, { limits, state, have, nodes: "unlimited", now });
        checkConstraints(world, have, verdict);
        count(verdict);
        have = verdict.setting;
        state = verdict.state;
      }
    }),
    { seed: 20_232, numRuns: 500 },
  );
  // The property means something only if all of this happens often.
  expect(Math.min(seen.accepted, seen.corrected, seen.refused, seen.constrained)).toBeGreaterThan(300);
  expect(seen.regrained).toBeGreaterThan(30);
});

test("clocks that jump, either way, neither break a limit of any knob nor end the guard's work", () => {
  const jumpArbitrary = fc.record({
    wishes: wishesArbitrary,
    jump: fc.oneof(
      fc.integer({ min: -100_000, max: 100_000 }),
      fc.integer({ min: -100, max: 100 }),
      fc.constant(Number.NaN),
    ),
  });
  fc.assert(
    fc.property(worldArbitrary, fc.array(jumpArbitrary, { maxLength: 20 }), ({ limits, have: begin }, ticks) => {
      const ask = checkedGuard();
      let have = begin;
      let state: GuardState = freshGuardState;
      const step = (want: Setting, now: Ms): void => {
        const verdict = ask({ workload, want, measuredAt: now }, { limits, state, have, nodes: "unlimited", now });
        have = verdict.setting;
        state = verdict.state;
      };
      for (const { wishes, jump } of ticks) step(wantOf(limits.knobs, wishes, have), milliseconds(start + jump * 1000));
      // After the longest wait every value can be brought into its bounds, and to any place there.
      if (limits.constraints.length > 0) return;
      const goal = Object.fromEntries(limits.knobs.map(({ name, bounds }) => [name, bounds.max]));
      const isThere = (): boolean => limits.knobs.every(({ name }) => have[name] === goal[name]);
      let now = milliseconds(start + 1_000_000_000);
      for (let i = 0; i < 5000 && !isThere(); i += 1) {
        now = milliseconds(now + 200_000);
        step(goal, now);
      }
      must(isThere(), "every value comes to where it is wanted");
    }),
    { seed: 98, numRuns: 100 },
  );
});

test("the guard is a function for any knobs: same input, same verdict, and nothing of the input is touched", () => {
  fc.assert(
    fc.property(worldArbitrary, wishesArbitrary, ({ limits, have }, wishes) => {
      const now = milliseconds(start);
      const want = Object.freeze(wantOf(limits.knobs, wishes, have));
      const proposal = Object.freeze({ workload, want, measuredAt: now });
      const context = Object.freeze({
        limits,
        state: freshGuardState,
        have: Object.freeze({ ...have }),
        nodes: "unlimited" as const,
        now,
      });
      expect(guard(proposal, context)).toEqual(guard(proposal, context));
    }),
    { seed: 8, numRuns: 100 },
  );
});
