/**
 * No sequence of proposals on services, however wild, breaks a bound, a step, a cool-down, a node's room or the number of
 * replicas; and what the guard changed is always written down. The checks work the rules out again, not with its code.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Limits, Ms, Resource } from "../base/index.ts";
import { milliseconds, ratio, resources, seconds, unwrap } from "../base/index.ts";
import type { ServiceAction } from "./instance-action.ts";
import type { GuardedInstance, GuardedNode, ServiceGuardState, ServiceVerdict } from "./instance-guard.ts";
import { freshServiceGuardState, guardServiceAction } from "./instance-guard.ts";
import type { ServiceGuardLimits } from "./instance-limits.ts";
import { parseServiceGuardLimits } from "./instance-limits.ts";

const wild = fc.oneof(
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, -0, -1, 1e308, -1e308, 5e-324),
  fc.double(),
);
const sensible = fc.double({ min: 0, max: 60, noNaN: true });
const wish = fc.oneof({ weight: 4, arbitrary: sensible }, { weight: 1, arbitrary: wild });
const names = ["a-0", "a-1", "b-0"] as const;

const actionArbitrary: fc.Arbitrary<ServiceAction> = fc.oneof(
  fc.constant({ kind: "hold" as const }),
  fc.record({
    kind: fc.constant("set-limits" as const),
    instance: fc.constantFrom(...names, "ghost-0"),
    limits: fc.record(
      { cpu: wish, memory: wish, llc: wish, io: wish, network: wish },
      { requiredKeys: [] },
    ) as fc.Arbitrary<Partial<Limits>>,
  }),
  fc.record({
    kind: fc.constant("scale-service" as const),
    service: fc.constantFrom("a", "b", "ghost"),
    replicas: fc.oneof({ weight: 4, arbitrary: fc.double({ min: -3, max: 25, noNaN: true }) }, wild),
  }),
);

const limitsArbitrary: fc.Arbitrary<ServiceGuardLimits> = fc
  .record({
    up: fc.double({ min: 1, max: 9, noNaN: true }),
    down: fc.double({ min: 0.05, max: 1, noNaN: true }),
    wait: fc.record({ up: fc.integer({ min: 0, max: 5 }), down: fc.integer({ min: 0, max: 20 }) }),
    waitReplicas: fc.record({ up: fc.integer({ min: 0, max: 5 }), down: fc.integer({ min: 0, max: 40 }) }),
    range: fc.tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 0, max: 8 })),
    absolute: fc.integer({ min: 1, max: 4 }),
    relative: fc.double({ min: 0, max: 2, noNaN: true }),
  })
  .map(({ up, down, wait, waitReplicas, range, absolute, relative }) =>
    unwrap(
      parseServiceGuardLimits({
        step: { up, down },
        cooldown: { up: seconds(wait.up), down: seconds(wait.down) },
        replicas: {
          min: range[0],
          max: range[0] + range[1],
          step: { absolute, relative: ratio(relative) },
          cooldown: { up: seconds(waitReplicas.up), down: seconds(waitReplicas.down) },
        },
      }),
    ),
  );

const amounts = (min: number, max: number): fc.Arbitrary<Limits> => {
  const one = fc.double({ min, max, noNaN: true });
  return fc.record({ cpu: one, memory: one, llc: one, io: one, network: one });
};

const added = (a: Limits, b: Limits): Limits => combine(a, (r, value) => value + b[r]);
function combine(of: Limits, change: (resource: Resource, value: number) => number): Limits {
  const { cpu, memory, llc, io, network } = of;
  return {
    cpu: change("cpu", cpu),
    memory: change("memory", memory),
    llc: change("llc", llc),
    io: change("io", io),
    network: change("network", network),
  };
}

const instancesArbitrary = fc
  .array(
    fc.record({
      lower: amounts(0, 4),
      width: amounts(0, 40),
      limits: amounts(0, 50),
      threads: fc.integer({ min: 0, max: 64 }),
      node: fc.constantFrom("n0", "n1", "nowhere"),
    }),
    { minLength: names.length, maxLength: names.length },
  )
  .map((all) =>
    all.map(
      ({ lower, width, limits, threads, node }, i): GuardedInstance => ({
        ...{ instance: names[i] as string, service: (names[i] as string).slice(0, 1), node },
        ...{ lower, upper: added(lower, width), limits, threads },
      }),
    ),
  );

const tickArbitrary = fc.record({
  action: actionArbitrary,
  waits: fc.integer({ min: -3, max: 15 }),
  age: fc.oneof({ weight: 6, arbitrary: fc.integer({ min: -5, max: 10 }) }, fc.integer({ min: -30, max: 90 })),
});

const worldArbitrary = fc.record({
  limits: limitsArbitrary,
  instances: instancesArbitrary,
  nodes: fc
    .tuple(amounts(-5, 60), amounts(-5, 60))
    .map((rooms): readonly GuardedNode[] => rooms.map((room, i) => ({ node: `n${i}`, room }))),
  ticks: fc.array(tickArbitrary, { minLength: 1, maxLength: 12 }),
});

function must(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`broken: ${what}`);
}

interface Moment {
  readonly limits: ServiceGuardLimits;
  readonly instances: readonly GuardedInstance[];
  readonly nodes: readonly GuardedNode[];
  readonly now: Ms;
  /** By key as the checks write it: when it was really changed last. */
  readonly changed: ReadonlyMap<string, number>;
}

const longestOf = ({ cooldown, replicas }: ServiceGuardLimits): number =>
  Math.max(cooldown.up, cooldown.down, replicas.cooldown.up, replicas.cooldown.down);

const SLACK = 1 + 1e-12;

function checkLimits(
  action: ServiceAction & { kind: "set-limits" },
  { limits, instances, nodes, now, changed }: Moment,
) {
  const one = instances.find(({ instance }) => instance === action.instance) as GuardedInstance;
  must(Object.keys(action.limits).length > 0, "an action without a change is a hold");
  for (const resource of resources) {
    const to = action.limits[resource];
    if (to === undefined) continue;
    const have = one.limits[resource];
    must(Number.isFinite(to) && to >= 0, `${resource} is an amount`);
    must(to !== have, "limits that stay are left out");
    const lower = one.lower[resource];
    const upper = resource === "cpu" ? Math.max(lower, Math.min(one.upper.cpu, one.threads)) : one.upper[resource];
    const isWithin = to >= lower && to <= upper;
    const isLedBack = (have > upper && to < have && to > upper) || (have < lower && to > have && to < lower);
    must(isWithin || isLedBack, `${resource} ${to} is within ${lower} and ${upper}, or on its way there from ${have}`);
    if (have > 0) {
      must(to <= have * limits.step.up * SLACK, `${resource} rises by a step at most`);
      must(to * SLACK >= have * limits.step.down, `${resource} falls by a step at most`);
    }
    if (to > have) {
      const room = nodes.find(({ node }) => node === one.node)?.room[resource] ?? 0;
      must(to - have <= Math.max(0, room) * SLACK + 1e-9, `${resource} rises within the room of its node`);
    }
    const last = changed.get(`${one.instance}.${resource}`);
    const wait = to > have ? limits.cooldown.up : limits.cooldown.down;
    must(last === undefined || wait === 0 || now - last >= wait, `${resource} has cooled down`);
  }
}

function checkReplicas(action: ServiceAction & { kind: "scale-service" }, { limits, instances, now, changed }: Moment) {
  const have = instances.filter(({ service }) => service === action.service).length;
  const { min, max, step, cooldown } = limits.replicas;
  const { replicas } = action;
  must(Number.isInteger(replicas), "replicas are whole");
  must(replicas !== have, "a count that stays is a hold");
  const isLedBack =
    (have > max && replicas > max && replicas < have) || (have < min && replicas < min && replicas > have);
  must((replicas >= min && replicas <= max) || isLedBack, `${replicas} replicas are within ${min} and ${max}`);
  must(Math.abs(replicas - have) <= Math.max(step.absolute, step.relative * have), "replicas move by a step at most");
  const last = changed.get(action.service);
  const wait = replicas > have ? cooldown.up : cooldown.down;
  must(last === undefined || wait === 0 || now - last >= wait, "replicas have cooled down");
}

function checkRecord(wished: ServiceAction, { action, changed, refused }: ServiceVerdict): void {
  if (refused !== undefined) {
    must(action.kind === "hold" && changed.length === 0, "what is refused is a hold with nothing changed");
    return;
  }
  // Per value the corrections lead from the wish to what may be done, without a gap.
  for (const what of [...resources, "replicas"] as const) {
    const chain = changed.filter((change) => change.what === what);
    if (chain.length === 0) continue;
    const asked =
      wished.kind === "set-limits"
        ? wished.limits[what as Resource]
        : wished.kind === "scale-service"
          ? wished.replicas
          : 0;
    must(Object.is((chain[0]?.from ?? 0) + 0, (asked ?? Number.NaN) + 0), `the record of ${what} begins with the wish`);
    for (let i = 1; i < chain.length; i++)
      must(chain[i]?.from === chain[i - 1]?.to, `the record of ${what} has no gap`);
    const done =
      action.kind === "set-limits"
        ? action.limits[what as Resource]
        : action.kind === "scale-service"
          ? action.replicas
          : undefined;
    must(
      done === undefined || done === chain[chain.length - 1]?.to,
      `the record of ${what} ends with what may be done`,
    );
  }
}

/** What the world looks like afterwards, without the guard's help. */
function done(action: ServiceAction, instances: readonly GuardedInstance[]): readonly GuardedInstance[] {
  if (action.kind === "set-limits")
    return instances.map((one) =>
      one.instance === action.instance ? { ...one, limits: { ...one.limits, ...action.limits } } : one,
    );
  if (action.kind !== "scale-service") return instances;
  const others = instances.filter(({ service }) => service !== action.service);
  const members = instances.filter(({ service }) => service === action.service);
  const first = members[0] as GuardedInstance;
  const next = Array.from(
    { length: action.replicas },
    (_, i) => members[i] ?? { ...first, instance: `${action.service}-${i}` },
  );
  return [...others, ...next];
}

function charge(action: ServiceAction, before: readonly GuardedInstance[], nodes: readonly GuardedNode[]) {
  if (action.kind !== "set-limits") return nodes;
  const one = before.find(({ instance }) => instance === action.instance) as GuardedInstance;
  return nodes.map((node) =>
    node.node === one.node
      ? { ...node, room: combine(node.room, (r, room) => room - ((action.limits[r] ?? one.limits[r]) - one.limits[r])) }
      : node,
  );
}

test("no sequence of proposals on services breaks a bound, a step, a cool-down, a node's room or the count of replicas", () => {
  let acted = 0;
  let refusals = 0;
  fc.assert(
    fc.property(worldArbitrary, (world) => {
      let instances: readonly GuardedInstance[] = world.instances;
      let nodes = world.nodes;
      let state: ServiceGuardState = freshServiceGuardState;
      let now = 1_000_000;
      const changed = new Map<string, number>();
      for (const { action, waits, age } of world.ticks) {
        now += waits * 1_000;
        // A clock that goes back does not make anything older than it is.
        for (const [key, at] of changed) {
          if (at > now) changed.set(key, now);
          // And what has cooled down once has.
          if (now - at >= longestOf(world.limits)) changed.delete(key);
        }
        const moment: Moment = { limits: world.limits, instances, nodes, now: milliseconds(now), changed };
        const proposal = { action, measuredAt: (now - age * 1_000) as Ms, why: "" };
        const verdict = guardServiceAction(proposal, { ...moment, state });
        if (action.kind !== "hold" && (age > 10 || age < -5))
          must(verdict.refused !== undefined, "only fresh data is used");
        checkRecord(action, verdict);
        if (verdict.refused !== undefined) {
          refusals++;
          must(verdict.state === state, "a refusal leaves the memory as it was");
        }
        const may = verdict.action;
        if (may.kind === "set-limits") checkLimits(may, moment);
        if (may.kind === "scale-service") checkReplicas(may, moment);
        if (may.kind !== "hold") acted++;
        nodes = charge(may, instances, nodes);
        instances = done(may, instances);
        state = verdict.state;
        if (may.kind === "set-limits")
          for (const resource of Object.keys(may.limits)) changed.set(`${may.instance}.${resource}`, now);
        if (may.kind === "scale-service") changed.set(may.service, now);
      }
    }),
    { numRuns: 1_500, seed: 6 },
  );
  // The property would hold of a guard that refuses everything, too.
  expect(acted).toBeGreaterThan(1_500);
  expect(refusals).toBeGreaterThan(500);
});

test("asking for what is there changes nothing, whatever it is", () => {
  fc.assert(
    fc.property(worldArbitrary, ({ limits, instances, nodes }) => {
      const within = instances.map((one) => ({
        ...one,
        limits: combine(one.limits, (r, value) => {
          const upper = r === "cpu" ? Math.max(one.lower.cpu, Math.min(one.upper.cpu, one.threads)) : one.upper[r];
          return Math.min(Math.max(value, one.lower[r]), upper);
        }),
      }));
      const context = { limits, instances: within, nodes, now: milliseconds(0), state: freshServiceGuardState };
      for (const { instance, limits: have } of within) {
        const verdict = guardServiceAction(
          { action: { kind: "set-limits", instance, limits: have }, measuredAt: milliseconds(0), why: "" },
          context,
        );
        must(verdict.action.kind === "hold" && verdict.changed.length === 0, "what is there is left alone");
      }
    }),
    { numRuns: 300, seed: 7 },
  );
});
