/**
 * From history to a recommendation.
 * Owns: percentile, margin, confidence, floor, in this order; policy caps; what a pod of given limits would get.
 * Not here: when a pod is given it (updater.ts), namespace LimitRanges (the cluster world has none).
 */
import type { Bytes, Millicores } from "../../../base/index.ts";
import { bytes, millicores } from "../../../base/index.ts";
import type { ContainerPolicy, Percentiles, ResourceName, Resources, VpaConfig, VpaPolicies } from "./config.ts";
import { policyFor } from "./config.ts";
import { percentile } from "./histogram.ts";
import type { ContainerAggregate, VpaState } from "./history.ts";

export interface ContainerRecommendation {
  readonly container: string;
  readonly target: Partial<Resources>;
  readonly lower: Partial<Resources>;
  readonly upper: Partial<Resources>;
  /** Before the policy's bounds. */
  readonly uncapped: Partial<Resources>;
}

/** Amounts are whole and end at 1e14, as in the original: an unbounded upper bound is that number. */
const maxAmount = 1e14;
const amount = (value: number): number => (value > 0 ? Math.min(Math.trunc(value), maxAmount) : 0);

/** Days of history at one sample a minute; the shorter of the time covered and the samples seen. */
export function confidenceOf(
  { firstSample, lastSample, samples }: ContainerAggregate,
  { confidenceInterval }: VpaConfig,
): number {
  const lifespan = (lastSample ?? 0) - (firstSample ?? 0);
  return Math.min(lifespan / confidenceInterval, samples / (confidenceInterval / 60_000));
}

interface Estimate {
  readonly percentile: number;
  /** multiplier and exponent of (1 + multiplier/confidence)^exponent; the target has none. */
  readonly spread?: { readonly multiplier: number; readonly exponent: number };
}

const wider = { multiplier: 1, exponent: 1 };
const narrower = { multiplier: 0.001, exponent: -2 };

function estimate(aggregate: ContainerAggregate, config: VpaConfig, wanted: Record<ResourceName, Estimate>): Resources {
  const confidence = confidenceOf(aggregate, config);
  const one = (resource: ResourceName, scale: number): number => {
    const { percentile: share, spread } = wanted[resource];
    const base = amount(percentile(aggregate[resource], config[resource].histogram, share) * scale);
    const withMargin = base + amount(base * config.safetyMargin);
    if (spread === undefined) return withMargin;
    return amount(withMargin * (1 + spread.multiplier / confidence) ** spread.exponent);
  };
  return { cpu: millicores(one("cpu", 1000)), memory: bytes(one("memory", 1)) };
}

export function estimateContainer(
  aggregate: ContainerAggregate,
  config: VpaConfig,
): { readonly target: Resources; readonly lower: Resources; readonly upper: Resources } {
  const at = (which: keyof Percentiles, spread?: Estimate["spread"]): Resources =>
    estimate(aggregate, config, {
      cpu: { percentile: config.cpu.percentiles[which], ...(spread && { spread }) },
      memory: { percentile: config.memory.percentiles[which], ...(spread && { spread }) },
    });
  return { target: at("target"), lower: at("lower", narrower), upper: at("upper", wider) };
}

/** The recommendation for every container that has history and is not switched off, within its policy's bounds. */
export function vpaRecommend(
  config: VpaConfig,
  state: VpaState,
  policies: VpaPolicies = {},
): ContainerRecommendation[] {
  const containers = Object.keys(state.aggregates)
    .filter((container) => policyFor(policies, container).mode !== "Off")
    .sort();
  // The pod's floor is split evenly, however unequal the containers are.
  const share = 1 / containers.length;
  const floor: Resources = {
    cpu: millicores(amount(amount(config.podMinimum.cpu) * share)),
    memory: bytes(amount(amount(config.podMinimum.memory) * share)),
  };
  return containers.map((container) => {
    const aggregate = state.aggregates[container];
    if (aggregate === undefined) throw new Error("a key of the aggregates names one");
    const policy = policyFor(policies, container);
    const { target, lower, upper } = estimateContainer(aggregate, config);
    const finish = (value: Resources): Partial<Resources> =>
      controlled(roundUp({ cpu: max(value.cpu, floor.cpu), memory: max(value.memory, floor.memory) }, config), policy);
    const uncapped = finish(target);
    return {
      container,
      target: capToPolicy(uncapped, policy),
      lower: capToPolicy(finish(lower), policy),
      upper: capToPolicy(finish(upper), policy),
      uncapped,
    };
  });
}

const max = <T extends number>(a: T, b: T): T => (a > b ? a : b);

function roundUp({ cpu, memory }: Resources, { roundCpu, roundMemory }: VpaConfig): Resources {
  return {
    cpu: millicores(Math.ceil(cpu / roundCpu) * roundCpu),
    memory: bytes(Math.ceil(memory / roundMemory) * roundMemory),
  };
}

function controlled(resources: Resources, { controlledResources }: ContainerPolicy): Partial<Resources> {
  if (controlledResources === undefined) return resources;
  return {
    ...(controlledResources.includes("cpu") && { cpu: resources.cpu }),
    ...(controlledResources.includes("memory") && { memory: resources.memory }),
  };
}

function each(
  resources: Partial<Resources>,
  change: (resource: ResourceName, value: number) => number,
): Partial<Resources> {
  return {
    ...(resources.cpu !== undefined && { cpu: change("cpu", resources.cpu) as Millicores }),
    ...(resources.memory !== undefined && { memory: change("memory", resources.memory) as Bytes }),
  };
}

/** The maximum wins where minimum and maximum contradict each other; a bound of zero is no bound. */
export function capToPolicy(
  resources: Partial<Resources>,
  { minAllowed, maxAllowed }: ContainerPolicy,
): Partial<Resources> {
  return each(resources, (resource, value) => {
    const raised = Math.max(value, minAllowed?.[resource] || 0);
    return Math.min(raised, maxAllowed?.[resource] || Number.POSITIVE_INFINITY);
  });
}

/** What a container was created with. */
export interface ContainerSpec {
  readonly requests: Partial<Resources>;
  readonly limits: Partial<Resources>;
}

/** Requests and limits a container gets. Limits keep their ratio to the request unless only requests are controlled. */
export function applyRecommendation(
  recommended: Partial<Resources>,
  spec: ContainerSpec,
  policy: ContainerPolicy = {},
): { readonly requests: Partial<Resources>; readonly limits: Partial<Resources> } {
  if (policy.controlledValues === "RequestsOnly") {
    // A request above the limit would be refused by the API server.
    const requests = each(recommended, (resource, value) => Math.min(value, spec.limits[resource] ?? value));
    return { requests: { ...spec.requests, ...requests }, limits: spec.limits };
  }
  const limits: { cpu?: Millicores; memory?: Bytes } = { ...spec.limits };
  if (recommended.cpu && spec.limits.cpu) limits.cpu = millicores(proportional(recommended.cpu, spec, "cpu"));
  if (recommended.memory && spec.limits.memory) limits.memory = bytes(proportional(recommended.memory, spec, "memory"));
  return { requests: { ...spec.requests, ...recommended }, limits };
}

function proportional(recommended: number, { requests, limits }: ContainerSpec, resource: ResourceName): number {
  const limit = limits[resource] ?? 0;
  // A limit without a request means a request equal to it.
  const request = requests[resource] || limit;
  const product = limit * recommended;
  if (product <= Number.MAX_SAFE_INTEGER) return Math.floor(product / request);
  return Number((BigInt(limit) * BigInt(Math.trunc(recommended))) / BigInt(request));
}
