/**
 * No sequence of proposals, however wild, breaks a bound, the rate, the cool-down, the budget or the nodes' room; and
 * what the guard changed is always written down. The checks below work the rules out again, not with the guard's code.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Ms } from "../base/index.ts";
import { bytes, millicores, milliseconds, parseWorkloadId, ratio, seconds, unwrap } from "../base/index.ts";
import type { Allocation, Dimension } from "./action.ts";
import { afterAction, dimensions, reconcile } from "./action.ts";
import type { NodeRoom } from "./capacity.ts";
import type { GuardState, Verdict } from "./guard.ts";
import { freshGuardState, guard } from "./guard.ts";
import type { GuardLimits } from "./limits.ts";
import { parseGuardLimits } from "./limits.ts";

const workload = unwrap(parseWorkloadId("w"));
const start = 1_700_000_000_000;

/** Anything a broken policy may say. */
const wild = fc.oneof(
  fc.constantFrom(
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    0,
    -0,
    -1,
    1e308,
    -1e308,
    5e-324,
    2 ** 53,
  ),
  fc.double(),
  fc.double({ min: -50, max: 50, noNaN: true }),
  fc.integer({ min: -10, max: 6000 }),
);
const wish = (low: number, high: number) =>
  fc.oneof({ weight: 3, arbitrary: fc.integer({ min: low, max: high }) }, { weight: 1, arbitrary: wild });
const wantArbitrary: fc.Arbitrary<Partial<Allocation>> = fc.record(
  { replicas: wish(0, 25), cpu: wish(10, 5000), memory: wish(1, 9000) },
  { requiredKeys: [] },
) as fc.Arbitrary<Partial<Allocation>>;

const pair = (low: number, high: number) =>
  fc
    .tuple(fc.integer({ min: low, max: high }), fc.integer({ min: low, max: high }))
    .map(([a, b]) => ({ min: Math.min(a, b), max: Math.max(a, b) }));
const stepLimit = (most: number) =>
  fc.record({ absolute: fc.integer({ min: 1, max: most }), relative: fc.double({ min: 0, max: 2, noNaN: true }) });
const cooldown = fc.record({ up: fc.integer({ min: 0, max: 60 }), down: fc.integer({ min: 0, max: 300 }) });

const limitsArbitrary: fc.Arbitrary<GuardLimits> = fc
  .record({
    bounds: fc.record({ replicas: pair(0, 20), cpu: pair(1, 4000), memory: pair(1, 8000) }),
    step: fc.record({ replicas: stepLimit(5), cpu: stepLimit(500), memory: stepLimit(800) }),
    cooldown: fc.record({ replicas: cooldown, cpu: cooldown, memory: cooldown }),
    disruption: fc.record({ replicas: fc.integer({ min: 0, max: 15 }), window: fc.integer({ min: 1, max: 600 }) }),
    restarts: fc.record({ cpu: fc.boolean(), memory: fc.boolean() }),
  })
  .map(({ bounds, step, cooldown: wait, disruption, restarts }) => {
    const inMs = (c: { up: number; down: number }) => ({ up: seconds(c.up), down: seconds(c.down) });
    return unwrap(
      parseGuardLimits({
        bounds: bounds as GuardLimits["bounds"],
        step: {
          replicas: { ...step.replicas, relative: ratio(step.replicas.relative) },
          cpu: { absolute: millicores(step.cpu.absolute), relative: ratio(step.cpu.relative) },
          memory: { absolute: bytes(step.memory.absolute), relative: ratio(step.memory.relative) },
        },
        cooldown: { replicas: inMs(wait.replicas), cpu: inMs(wait.cpu), memory: inMs(wait.memory) },
        disruption: { replicas: disruption.replicas, window: seconds(disruption.window) },
        restarts,
      }),
    );
  });

const nodesArbitrary: fc.Arbitrary<readonly NodeRoom[] | "unlimited"> = fc.oneof(
  fc.constant("unlimited" as const),
  fc.array(fc.record({ cpu: fc.integer({ min: 0, max: 9000 }), memory: fc.integer({ min: 0, max: 20_000 }) }), {
    maxLength: 4,
  }),
) as fc.Arbitrary<readonly NodeRoom[] | "unlimited">;

/** A modest wish: one value, a little off what is there. */
const nearArbitrary = fc.record({ dimension: fc.constantFrom(...dimensions), offset: fc.integer({ min: -2, max: 2 }) });

const tickArbitrary = fc.record({
  want: wantArbitrary,
  near: fc.option(nearArbitrary, { freq: 2 }),
  pods: fc.option(fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 12 }), { freq: 2 }),
  nodes: nodesArbitrary,
  waits: fc.integer({ min: 0, max: 120 }),
  dataAge: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 90 }) },
    { weight: 1, arbitrary: fc.integer({ min: -20, max: 500 }) },
  ),
});

/** As `expect`, without its price: these checks run hundreds of thousands of times. */
function must(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`broken: ${what}`);
}

interface Moment {
  readonly limits: GuardLimits;
  readonly have: Allocation;
  readonly want: Partial<Allocation>;
  readonly nodes: readonly NodeRoom[] | "unlimited";
  readonly now: Ms;
  readonly verdict: Verdict;
}

/** The replicas of a size that a greedy packing of one node after the other places. */
function placed({ replicas, cpu, memory }: Allocation, nodes: readonly NodeRoom[]): number {
  let count = 0;
  for (const node of nodes) {
    let left = { ...node } as { cpu: number; memory: number };
    while (count < replicas && left.cpu >= cpu && left.memory >= memory) {
      left = { cpu: left.cpu - cpu, memory: left.memory - memory };
      count += 1;
    }
  }
  return count;
}

function checkBoundsAndStep({ limits, have, verdict: { allocation } }: Moment): void {
  for (const dimension of dimensions) {
    const [was, is] = [have[dimension], allocation[dimension]];
    must(Number.isInteger(is), `${dimension} is whole`);
    must(is >= limits.bounds[dimension].min, `${dimension} keeps its lower bound`);
    must(is <= limits.bounds[dimension].max, `${dimension} keeps its upper bound`);
    const { absolute, relative } = limits.step[dimension];
    must(Math.abs(is - was) <= Math.max(absolute, relative * was), `${dimension} keeps its step`);
  }
}

function checkCapacity({ have, nodes, verdict: { allocation } }: Moment): void {
  if (nodes === "unlimited" || placed(allocation, nodes) === allocation.replicas) return;
  // What does not fit was there before, and nothing of it has grown.
  for (const dimension of dimensions) must(allocation[dimension] <= have[dimension], `${dimension} keeps to the room`);
}

function checkRecord({ have, want, verdict }: Moment): void {
  const { allocation, changed, refused, action } = verdict;
  const after = afterAction(have, action);
  for (const dimension of dimensions)
    must(Object.is(after[dimension], allocation[dimension]), "the action leads there");
  must(reconcile(workload, allocation, after).kind === "hold", "a second time is a hold");
  if (refused !== undefined) {
    must(allocation === have && action.kind === "hold" && changed.length === 0, "a refusal leaves all as it is");
    return;
  }
  for (const dimension of dimensions) {
    // The chain of corrections leads from the wish to what was granted, without a gap.
    let value: number = (want[dimension] ?? have[dimension]) + 0; // -0 is 0
    for (const change of changed.filter((one) => one.dimension === dimension)) {
      must(change.from === value && change.to !== value, `${dimension} is recorded without a gap`);
      value = change.to;
    }
    must(value === allocation[dimension], `${dimension} is recorded to the end`);
  }
}

const followersOf = (action: Verdict["action"]): readonly string[] | undefined =>
  "pods" in action ? action.pods : undefined;

/** Pods that follow and pods that are held back are those that were asked for: none is lost and none is added. */
function checkFollowers(pods: readonly string[] | undefined, { action, heldBack = [], refused }: Verdict): void {
  const follow = followersOf(action);
  if (pods === undefined || refused !== undefined) {
    must(follow === undefined && heldBack.length === 0, "nobody follows unasked");
    return;
  }
  const asked = [...new Set(pods)];
  if (action.kind === "hold" || action.kind === "scale")
    must(heldBack.length === asked.length, "all are held back where nothing is resized");
  else must([...(follow ?? []), ...heldBack].join() === asked.join(), "followers are kept in their order");
}

function refusalExpected({ want, now, limits }: Moment, measuredAt: Ms): boolean {
  const isWild = Object.values(want).some((value) => !Number.isFinite(value));
  return isWild || now - measuredAt > limits.maxDataAge || measuredAt - now > limits.maxDataSkew;
}

test("no sequence of proposals breaks a limit, and every correction is written down", () => {
  let accepted = 0;
  let corrected = 0;
  let refusals = 0;
  let trimmed = 0;
  fc.assert(
    fc.property(
      limitsArbitrary,
      fc.array(tickArbitrary, { minLength: 1, maxLength: 25 }),
      fc.infiniteStream(fc.nat()),
      (limits, ticks, seed) => {
        const inside = (dimension: Dimension): number => {
          const { min, max } = limits.bounds[dimension];
          return min + ((seed.next().value ?? 0) % (max - min + 1));
        };
        let have = { replicas: inside("replicas"), cpu: inside("cpu"), memory: inside("memory") } as Allocation;
        let state: GuardState = freshGuardState;
        let now = milliseconds(start);
        const changedAt = new Map<Dimension, Ms>();
        const disruptions: { at: Ms; count: number }[] = [];
        for (const { want: wildWant, near, nodes, waits, dataAge, pods: numbers } of ticks) {
          const pods = numbers?.map((number) => `p${number}`);
          const want = near === null ? wildWant : { [near.dimension]: have[near.dimension] + near.offset };
          now = milliseconds(now + waits * 1000);
          const measuredAt = milliseconds(now - dataAge * 1000);
          const proposal = { workload, want, measuredAt, ...(pods && { pods }) };
          const verdict = guard(proposal, { limits, state, have, nodes, now });
          const moment: Moment = { limits, have, want, nodes, now, verdict };
          checkBoundsAndStep(moment);
          checkCapacity(moment);
          checkRecord(moment);
          checkFollowers(pods, verdict);
          must(
            (verdict.refused !== undefined) === refusalExpected(moment, measuredAt),
            "refusals are these and no others",
          );

          const { allocation } = verdict;
          for (const dimension of dimensions) {
            const [was, is] = [have[dimension], allocation[dimension]];
            if (was === is) continue;
            const last = changedAt.get(dimension);
            const { up, down } = limits.cooldown[dimension];
            if (last !== undefined) must(now - last >= (is > was ? up : down), `${dimension} keeps its cool-down`);
            changedAt.set(dimension, now);
          }
          const removed = Math.max(0, have.replicas - allocation.replicas);
          const isNewSize = have.cpu !== allocation.cpu || have.memory !== allocation.memory;
          const restarting =
            (limits.restarts.cpu && have.cpu !== allocation.cpu) ||
            (limits.restarts.memory && have.memory !== allocation.memory) ||
            (!isNewSize && (limits.restarts.cpu || limits.restarts.memory));
          const follow = followersOf(verdict.action);
          // Without names all pods that stay take a new size; with names these do, of which no more exist than replicas.
          const resized = follow?.length ?? (isNewSize ? Math.min(have.replicas, allocation.replicas) : 0);
          if (follow !== undefined && follow.length > 0 && verdict.heldBack !== undefined) trimmed += 1;
          disruptions.push({ at: now, count: removed + (restarting ? Math.min(have.replicas, resized) : 0) });
          const recent = disruptions.filter(({ at }) => at > now - limits.disruption.window);
          const disrupted = recent.reduce((sum, { count }) => sum + count, 0);
          must(disrupted <= limits.disruption.replicas, "the budget is kept");

          if (verdict.refused !== undefined) refusals += 1;
          else if (verdict.changed.length > 0) corrected += 1;
          else accepted += 1;
          have = allocation;
          state = JSON.parse(JSON.stringify(verdict.state)) as GuardState;
        }
      },
    ),
    { seed: 20_231, numRuns: 300 },
  );
  // The property means something only if all three happen often.
  expect(Math.min(accepted, corrected, refusals)).toBeGreaterThan(150);
  expect(trimmed).toBeGreaterThan(30);
});

test("the guard is a function: same input, same verdict, and nothing of the input is touched", () => {
  fc.assert(
    fc.property(limitsArbitrary, tickArbitrary, (limits, { want, nodes, dataAge }) => {
      const have = {
        replicas: limits.bounds.replicas.min,
        cpu: limits.bounds.cpu.max,
        memory: limits.bounds.memory.min,
      };
      const now = milliseconds(start);
      const proposal = Object.freeze({
        workload,
        want: Object.freeze(want),
        measuredAt: milliseconds(now - dataAge * 1000),
      });
      const context = Object.freeze({ limits, state: freshGuardState, have: Object.freeze(have), nodes, now });
      expect(guard(proposal, context)).toEqual(guard(proposal, context));
    }),
    { seed: 7, numRuns: 100 },
  );
});

test("clocks that jump, either way, neither break a limit nor end the guard's work", () => {
  fc.assert(
    fc.property(
      limitsArbitrary,
      fc.array(
        fc.record({
          want: wantArbitrary,
          jump: fc.oneof(fc.integer({ min: -100_000, max: 100_000 }), fc.constant(Number.NaN)),
        }),
        { maxLength: 20 },
      ),
      (limits, ticks) => {
        let have = {
          replicas: limits.bounds.replicas.max,
          cpu: limits.bounds.cpu.min,
          memory: limits.bounds.memory.max,
        } as Allocation;
        let state: GuardState = freshGuardState;
        for (const { want, jump } of ticks) {
          const now = milliseconds(start + jump * 1000);
          const verdict = guard({ workload, want, measuredAt: now }, { limits, state, have, nodes: "unlimited", now });
          const moment: Moment = { limits, have, want, nodes: "unlimited", now, verdict };
          checkBoundsAndStep(moment);
          checkRecord(moment);
          for (const at of Object.values(verdict.state.changedAt)) must(Number.isFinite(at), "the memory stays finite");
          have = verdict.allocation;
          state = verdict.state;
        }
        // After the longest wait a plain wish in bounds is granted or led towards.
        const later = milliseconds(Math.max(start, ...Object.values(state.changedAt)) + 100_000_000_000);
        const goal = have.replicas < limits.bounds.replicas.max ? have.replicas + 1 : have.replicas;
        const verdict = guard(
          { workload, want: { replicas: goal }, measuredAt: later },
          { limits, state, have, nodes: "unlimited", now: later },
        );
        expect(verdict.allocation.replicas).toBe(goal);
      },
    ),
    { seed: 99, numRuns: 100 },
  );
});
