/**
 * From history to a recommendation.
 * Owns: percentile, margin, confidence, floor, in this order; policy caps; what a pod of given limits would get.
 * Not here: when a pod is given it (updater.ts), namespace LimitRanges (the cluster world has none).
 */
import type { Bytes, Millicores } from "../../../base/index.ts";
import { bytes, millicores } from "../../../base/index.ts";
import type { ContainerPolicy, Quantiles, ResourceName, Resources, VpaConfig, VpaPolicies } from "./config.ts";
import { policyFor } from "./config.ts";
import { quantile } from "./histogram.ts";
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
  readonly which: keyof Quantiles;
  /** multiplier and exponent of (1 + multiplier/confidence)^exponent; the target has none. */
  readonly spread?: { readonly multiplier: number; readonly exponent: number };
}

const estimates: Readonly<Record<keyof Quantiles, Estimate>> = {
  target: { which: "target" },
  lower: { which: "lower", spread: { multiplier: 0.001, exponent: -2 } },
  upper: { which: "upper", spread: { multiplier: 1, exponent: 1 } },
};

function estimate(aggregate: ContainerAggregate, config: VpaConfig, { which, spread }: Estimate): Resources {
  const confidence = confidenceOf(aggregate, config);
  const one = (resource: ResourceName, scale: number): number => {
    const { histogram, quantiles } = config[resource];
    const base = amount(quantile(aggregate[resource], histogram, quantiles[which]) * scale);
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
  return {
    target: estimate(aggregate, config, estimates.target),
    lower: estimate(aggregate, config, estimates.lower),
    upper: estimate(aggregate, config, estimates.upper),
  };
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
  const { cpu, memory } = resources;
  if (cpu !== undefined && memory !== undefined)
    return { cpu: change("cpu", cpu) as Millicores, memory: change("memory", memory) as Bytes };
  if (cpu !== undefined) return { cpu: change("cpu", cpu) as Millicores };
  return memory === undefined ? {} : { memory: change("memory", memory) as Bytes };
}

/** The maximum wins where minimum and maximum contradict each other; a bound of zero is no bound. */
export function cappedAmount(
  value: number,
  resource: ResourceName,
  { minAllowed, maxAllowed }: Pick<ContainerPolicy, "minAllowed" | "maxAllowed">,
): number {
  const raised = Math.max(value, minAllowed?.[resource] || 0);
  return Math.min(raised, maxAllowed?.[resource] || Number.POSITIVE_INFINITY);
}

export function capToPolicy(resources: Partial<Resources>, policy: ContainerPolicy): Partial<Resources> {
  return each(resources, (resource, value) => cappedAmount(value, resource, policy));
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
  const limits = each(spec.limits, (resource, limit) =>
    recommended[resource] && limit ? proportional(recommended[resource], spec, resource) : limit,
  );
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
