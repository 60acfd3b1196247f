/**
 * The limits that the guard keeps for a service and for one of its containers: knobs from what the container may have.
 * Owns: defaults that suit decisions every second. Not here: keeping them (act/guard.ts).
 *
 * A partition is set within milliseconds and nothing restarts, so a limit may rise at once and far: a container that lacks
 * something drops requests every second. It falls by halves, and not right after a change: what was just given is not
 * judged before it was seen to work. Replicas as the HPA's own policies have them (double or four), but within seconds.
 */
import type { GuardLimits, Knob, NodeRoom, Setting } from "../../../act/index.ts";
import { MEMBERS_HERE, parseGuardLimits, roomInPlace } from "../../../act/index.ts";
import type { Limits, Ms, Resource } from "../../../base/index.ts";
import { resources, seconds, unwrap } from "../../../base/index.ts";
import type { InstanceReading, NodeReading } from "../../../observe/telemetry/index.ts";

/** Between what a container's limits may be set; more cores than threads are of no use to it. */
export type ContainerBounds = Pick<InstanceReading, "lower" | "upper" | "threads">;

export const MOST_REPLICAS = 16;
const MAX_DATA_AGE: Ms = seconds(10);

const units: { readonly [R in Resource]: string } = {
  cpu: "cores",
  memory: "MB/s",
  llc: "MiB",
  io: "MB/s",
  network: "MB/s",
};

/** To eight times what it is, or down to half of it. */
const STEP = { up: 7, down: 0.5 };
const COOLDOWN = { up: seconds(0), down: seconds(2) };

/** The most that a container's limit is of any use. */
export const mostOf = (resource: Resource, { lower, upper, threads }: ContainerBounds): number =>
  resource === "cpu" ? Math.max(lower.cpu, Math.min(upper.cpu, threads)) : upper[resource];

export const containerKnobs = (bounds: ContainerBounds): readonly Knob[] =>
  resources.map((resource) => {
    const min = bounds.lower[resource];
    return {
      name: resource,
      unit: units[resource],
      bounds: { min, max: Math.max(min, mostOf(resource, bounds)) },
      grain: 0,
      // Half of the least is no more than half of anything there may be: so the factors are what counts.
      step: { absolute: Math.max(min / 2, LEAST_STEP), ...STEP },
      cooldown: COOLDOWN,
    };
  });

const LEAST_STEP = 1e-6;

export const replicasKnob: Knob = {
  name: "replicas",
  unit: "containers",
  bounds: { min: 1, max: MOST_REPLICAS },
  grain: 1,
  step: { absolute: 4, up: 1, down: 1 },
  cooldown: { up: seconds(2), down: seconds(30) },
};

/** Of a whole service: the limits of its containers, and how many there are. */
export const serviceLimits = (bounds: ContainerBounds): GuardLimits =>
  unwrap(
    parseGuardLimits({
      knobs: [...containerKnobs(bounds), replicasKnob],
      constraints: [roomInPlace({ count: replicasKnob.name, sizes: resources, least: bounds.lower })],
      maxDataAge: MAX_DATA_AGE,
    }),
  );

/** Of one container alone, for controllers that set each by itself. */
export const containerLimits = (bounds: ContainerBounds): GuardLimits =>
  unwrap(
    parseGuardLimits({
      knobs: containerKnobs(bounds),
      constraints: [roomInPlace({ sizes: resources, least: bounds.lower })],
      maxDataAge: MAX_DATA_AGE,
    }),
  );

/** How many containers a service has, for the same. */
export const replicaLimits = ({ lower }: Pick<ContainerBounds, "lower">): GuardLimits =>
  unwrap(
    parseGuardLimits({
      knobs: [replicasKnob],
      constraints: [roomInPlace({ count: replicasKnob.name, sizes: [], least: lower })],
      maxDataAge: MAX_DATA_AGE,
    }),
  );

/** The nodes' room as the guard reads it, with how many of these containers are on each. */
export function roomsFor(
  nodes: readonly NodeReading[],
  containers: readonly Pick<InstanceReading, "node">[],
): readonly NodeRoom[] {
  return nodes.map(({ node, room }) => roomOf(room, containers.filter((one) => one.node === node).length));
}

const roomOf = (room: Limits, members: number): Setting => ({
  cpu: room.cpu,
  memory: room.memory,
  llc: room.llc,
  io: room.io,
  network: room.network,
  [MEMBERS_HERE]: members,
});
