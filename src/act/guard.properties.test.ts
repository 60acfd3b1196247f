/**
 * The guard with the knobs and constraints of pods: no sequence of proposals, however wild, breaks a bound, the rate, the
 * cool-down, the budget or the nodes' room; and what the guard changed is always written down. The checks below work the
 * rules out again, not with the guard's code. For knobs of any kind: knobs.properties.test.ts.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Ms } from "../base/index.ts";
import { bytes, millicores, milliseconds, parseWorkloadId, ratio, seconds, unwrap } from "../base/index.ts";
import type { PodBounds, PodLimitOptions } from "../control/tasks/pods/index.ts";
import { podLimits } from "../control/tasks/pods/index.ts";
import type { Allocation, Dimension } from "./allocation.ts";
import { dimensions } from "./allocation.ts";
import { checkedGuard, must } from "./guard.conformance.ts";
import type { GuardLimits, GuardState, NodeRoom, Verdict } from "./guard.ts";
import { freshGuardState, guard } from "./guard.ts";

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

/** What was asked for, and what the guard keeps of it: the checks look at the former. */
interface Kept {
  readonly asked: Required<Omit<PodLimitOptions, "maxDataAge" | "maxDataSkew">>;
  readonly limits: GuardLimits;
}

const keptArbitrary: fc.Arbitrary<Kept> = fc
  .record({
    bounds: fc.record({ replicas: pair(0, 20), cpu: pair(1, 4000), memory: pair(1, 8000) }),
    step: fc.record({ replicas: stepLimit(5), cpu: stepLimit(500), memory: stepLimit(800) }),
    cooldown: fc.record({ replicas: cooldown, cpu: cooldown, memory: cooldown }),
    disruption: fc.record({ members: fc.integer({ min: 0, max: 15 }), window: fc.integer({ min: 1, max: 600 }) }),
    restarts: fc.record({ cpu: fc.boolean(), memory: fc.boolean() }),
  })
  .map(({ bounds, step, cooldown: wait, disruption, restarts }) => {
    const inMs = (c: { up: number; down: number }) => ({ up: seconds(c.up), down: seconds(c.down) });
    const asked: Kept["asked"] = {
      bounds: bounds as PodBounds,
      step: {
        replicas: { ...step.replicas, relative: ratio(step.replicas.relative) },
        cpu: { absolute: millicores(step.cpu.absolute), relative: ratio(step.cpu.relative) },
        memory: { absolute: bytes(step.memory.absolute), relative: ratio(step.memory.relative) },
      },
      cooldown: { replicas: inMs(wait.replicas), cpu: inMs(wait.cpu), memory: inMs(wait.memory) },
      disruption: { members: disruption.members, window: seconds(disruption.window) },
      restarts,
    };
    return { asked, limits: unwrap(podLimits(asked)) };
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
  followers: fc.option(fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 12 }), { freq: 2 }),
  nodes: nodesArbitrary,
  waits: fc.integer({ min: 0, max: 120 }),
  dataAge: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 90 }) },
    { weight: 1, arbitrary: fc.integer({ min: -20, max: 500 }) },
  ),
});

interface Moment {
  readonly asked: Kept["asked"];
  readonly have: Allocation;
  readonly nodes: readonly NodeRoom[] | "unlimited";
  readonly verdict: Verdict<Allocation>;
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

function checkBoundsAndStep({ asked, have, verdict: { setting } }: Moment): void {
  for (const dimension of dimensions) {
    const [was, is] = [have[dimension], setting[dimension]];
    must(Number.isInteger(is), `${dimension} is whole`);
    must(is >= asked.bounds[dimension].min, `${dimension} keeps its lower bound`);
    must(is <= asked.bounds[dimension].max, `${dimension} keeps its upper bound`);
    const { absolute, relative } = asked.step[dimension];
    must(Math.abs(is - was) <= Math.max(absolute, relative * was), `${dimension} keeps its step`);
  }
}

function checkCapacity({ have, nodes, verdict: { setting } }: Moment): void {
  if (nodes === "unlimited" || placed(setting, nodes) === setting.replicas) return;
  // What does not fit was there before, and nothing of it has grown.
  for (const dimension of dimensions) must(setting[dimension] <= have[dimension], `${dimension} keeps to the room`);
}

const followersIn = (action: Verdict["action"]): readonly string[] | undefined =>
  action.kind === "set" ? action.followers : undefined;

/** Pods that follow and pods that are held back are those that were asked for: none is lost and none is added. */
function checkFollowers(followers: readonly string[] | undefined, verdict: Verdict): void {
  const { action, heldBack = [], refused } = verdict;
  const follow = followersIn(action);
  if (followers === undefined || refused !== undefined) {
    must(follow === undefined && heldBack.length === 0, "nobody follows unasked");
    return;
  }
  const asked = [...new Set(followers)];
  must(action.kind === "hold" || follow !== undefined, "those who were not named do not follow");
  must([...(follow ?? []), ...heldBack].join() === asked.join(), "followers are kept in their order");
}

/** Pods removed and restarted by what was granted. */
function disruptedBy({ asked: { restarts }, have, verdict }: Moment): number {
  const { setting, action } = verdict;
  const removed = Math.max(0, have.replicas - setting.replicas);
  const isNewSize = have.cpu !== setting.cpu || have.memory !== setting.memory;
  const restarting =
    (restarts.cpu && have.cpu !== setting.cpu) ||
    (restarts.memory && have.memory !== setting.memory) ||
    (!isNewSize && (restarts.cpu || restarts.memory));
  // Without names all pods that stay take a new size; with names these do, of which no more exist than replicas.
  const resized = followersIn(action)?.length ?? (isNewSize ? Math.min(have.replicas, setting.replicas) : 0);
  return removed + (restarting ? Math.min(have.replicas, resized) : 0);
}

test("no sequence of proposals breaks a limit, and every correction is written down", () => {
  const seen = { accepted: 0, corrected: 0, refused: 0, trimmed: 0 };
  const count = ({ refused, changed, action, heldBack }: Verdict): void => {
    if (refused !== undefined) seen.refused += 1;
    else if (changed.length > 0) seen.corrected += 1;
    else seen.accepted += 1;
    if ((followersIn(action)?.length ?? 0) > 0 && heldBack !== undefined) seen.trimmed += 1;
  };
  fc.assert(
    fc.property(
      keptArbitrary,
      fc.array(tickArbitrary, { minLength: 1, maxLength: 25 }),
      fc.infiniteStream(fc.nat()),
      ({ asked, limits }, ticks, seed) => {
        const inside = (dimension: Dimension): number => {
          const { min, max } = asked.bounds[dimension];
          return min + ((seed.next().value ?? 0) % (max - min + 1));
        };
        // Refusals, the record and the memory of changes are checked here.
        const ask = checkedGuard();
        let have = { replicas: inside("replicas"), cpu: inside("cpu"), memory: inside("memory") } as Allocation;
        let state: GuardState = freshGuardState;
        let now = milliseconds(start);
        const changedAt = new Map<Dimension, Ms>();
        const disruptions: { at: Ms; count: number }[] = [];
        for (const { want: wildWant, near, nodes, waits, dataAge, followers: numbers } of ticks) {
          const followers = numbers?.map((number) => `p${number}`);
          const want = near === null ? wildWant : { [near.dimension]: have[near.dimension] + near.offset };
          now = milliseconds(now + waits * 1000);
          const measuredAt = milliseconds(now - dataAge * 1000);
          const proposal = { workload, want, measuredAt, ...(followers && { followers }) };
          const verdict = ask(proposal, { limits, state, have, nodes, now }) as Verdict<Allocation>;
          const moment: Moment = { asked, have, nodes, verdict };
          checkBoundsAndStep(moment);
          checkCapacity(moment);
          checkFollowers(followers, verdict);
          count(verdict);

          const { setting } = verdict;
          for (const dimension of dimensions) {
            const [was, is] = [have[dimension], setting[dimension]];
            if (was === is) continue;
            const last = changedAt.get(dimension);
            const { up, down } = asked.cooldown[dimension];
            if (last !== undefined) must(now - last >= (is > was ? up : down), `${dimension} keeps its cool-down`);
            changedAt.set(dimension, now);
          }
          disruptions.push({ at: now, count: disruptedBy(moment) });
          const recent = disruptions.filter(({ at }) => at > now - asked.disruption.window);
          const disrupted = recent.reduce((sum, one) => sum + one.count, 0);
          must(disrupted <= asked.disruption.members, "the budget is kept");
          have = setting;
          state = JSON.parse(JSON.stringify(verdict.state)) as GuardState;
        }
      },
    ),
    { seed: 20_231, numRuns: 300 },
  );
  // The property means something only if all three happen often.
  expect(Math.min(seen.accepted, seen.corrected, seen.refused)).toBeGreaterThan(150);
  expect(seen.trimmed).toBeGreaterThan(30);
});

test("the guard is a function: same input, same verdict, and nothing of the input is touched", () => {
  fc.assert(
    fc.property(keptArbitrary, tickArbitrary, ({ asked, limits }, { want, nodes, dataAge }) => {
      const have = {
        replicas: asked.bounds.replicas.min,
        cpu: asked.bounds.cpu.max,
        memory: asked.bounds.memory.min,
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
      keptArbitrary,
      fc.array(
        fc.record({
          want: wantArbitrary,
          jump: fc.oneof(fc.integer({ min: -100_000, max: 100_000 }), fc.constant(Number.NaN)),
        }),
        { maxLength: 20 },
      ),
      ({ asked, limits }, ticks) => {
        let have = {
          replicas: asked.bounds.replicas.max,
          cpu: asked.bounds.cpu.min,
          memory: asked.bounds.memory.max,
        } as Allocation;
        const ask = checkedGuard();
        let state: GuardState = freshGuardState;
        for (const { want, jump } of ticks) {
          const now = milliseconds(start + jump * 1000);
          const proposal = { workload, want, measuredAt: now };
          const context = { limits, state, have, nodes: "unlimited" as const, now };
          const verdict = ask(proposal, context) as Verdict<Allocation>;
          checkBoundsAndStep({ asked, have, nodes: "unlimited", verdict });
          for (const at of Object.values(verdict.state.changedAt)) must(Number.isFinite(at), "the memory stays finite");
          have = verdict.setting;
          state = verdict.state;
        }
        // After the longest wait a plain wish in bounds is granted or led towards.
        const later = milliseconds(Math.max(start, ...Object.values(state.changedAt)) + 100_000_000_000);
        const goal = have.replicas < asked.bounds.replicas.max ? have.replicas + 1 : have.replicas;
        const verdict = guard(
          { workload, want: { replicas: goal }, measuredAt: later },
          { limits, state, have, nodes: "unlimited", now: later },
        );
        expect(verdict.setting.replicas).toBe(goal);
      },
    ),
    { seed: 99, numRuns: 100 },
  );
});
