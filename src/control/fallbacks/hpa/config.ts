/**
 * What a horizontal autoscaler is told: metrics with targets, bounds, behaviour, and the controller's own constants.
 * Owns: the configuration's types, the defaults of Kubernetes 1.37, and the checks the API server would have made.
 * Not here: how a replica count follows from it (replicas.ts, behavior.ts), YAML (the edge).
 *
 * Quantities are whole milli-units, as Kubernetes keeps them: 1 core is 1000, 1 byte is 1000, 1 request/s is 1000.
 * Integer division happens in these units, so converting later would change decisions.
 */
import type { Bytes, Ms, Result } from "../../../base/index.ts";
import { err, failure, minutes, ok, seconds } from "../../../base/index.ts";

export type HpaResource = "cpu" | "memory";

export type HpaTarget =
  | { readonly kind: "utilization"; readonly percent: number }
  | { readonly kind: "average"; readonly milli: number };

export type HpaTotalTarget =
  | { readonly kind: "value"; readonly milli: number }
  | { readonly kind: "average"; readonly milli: number };

export type HpaMetric =
  | {
      readonly type: "resource";
      readonly resource: HpaResource;
      /** Only this container of each pod; the whole pod when absent. */
      readonly container?: string;
      readonly target: HpaTarget;
    }
  | {
      readonly type: "pods";
      readonly name: string;
      readonly target: { readonly kind: "average"; readonly milli: number };
    }
  | { readonly type: "object"; readonly name: string; readonly target: HpaTotalTarget }
  | { readonly type: "external"; readonly name: string; readonly target: HpaTotalTarget };

export interface HpaPolicy {
  readonly type: "Pods" | "Percent";
  readonly value: number;
  readonly period: Ms;
}

export interface HpaRules {
  readonly stabilization: Ms;
  readonly select: "Max" | "Min" | "Disabled";
  readonly policies: readonly HpaPolicy[];
  /** Replaces the controller's tolerance in this direction. */
  readonly tolerance?: number;
}

export interface HpaBehavior {
  readonly scaleUp: HpaRules;
  readonly scaleDown: HpaRules;
}

export interface HpaConfig {
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly metrics: readonly HpaMetric[];
  /** Absent is not the same as the default rules: another, older path of the algorithm decides then. */
  readonly behavior?: HpaBehavior;
  readonly tolerance: number;
  readonly downscaleStabilization: Ms;
  readonly cpuInitializationPeriod: Ms;
  readonly initialReadinessDelay: Ms;
  readonly mayScaleToZero: boolean;
}

export interface HpaBehaviorOptions {
  readonly scaleUp?: Partial<HpaRules>;
  readonly scaleDown?: Partial<HpaRules>;
}

export interface HpaOptions extends Partial<Omit<HpaConfig, "behavior">> {
  readonly maxReplicas: number;
  readonly behavior?: HpaBehaviorOptions;
}

/** How often the controller looks. A fallback that ticks at another rate is not the HPA people run. */
export const hpaSyncPeriod: Ms = seconds(15);

const defaultUp: HpaRules = {
  stabilization: seconds(0),
  select: "Max",
  policies: [
    { type: "Pods", value: 4, period: seconds(15) },
    { type: "Percent", value: 100, period: seconds(15) },
  ],
};
const defaultDownPolicies: readonly HpaPolicy[] = [{ type: "Percent", value: 100, period: seconds(15) }];

const maxPolicyPeriod = minutes(30);
const maxStabilization = minutes(60);

/** Bytes in the milli-units of a reading or a target. Millicores are milli-units already. */
export const milliBytes = (amount: Bytes): number => amount * 1000;

export function parseHpaConfig(options: HpaOptions): Result<HpaConfig> {
  const { behavior: given, ...rest } = options;
  const downscaleStabilization = options.downscaleStabilization ?? minutes(5);
  const defaults = {
    minReplicas: 1,
    metrics: [{ type: "resource", resource: "cpu", target: { kind: "utilization", percent: 80 } }] as const,
    tolerance: 0.1,
    downscaleStabilization,
    cpuInitializationPeriod: minutes(5),
    initialReadinessDelay: seconds(30),
    mayScaleToZero: true,
  };
  const behavior: HpaBehavior | undefined = given && {
    scaleUp: { ...defaultUp, ...given.scaleUp },
    scaleDown: {
      // Unset means "whatever the controller was started with", not a constant of the API.
      stabilization: downscaleStabilization,
      select: "Max",
      policies: defaultDownPolicies,
      ...given.scaleDown,
    },
  };
  const config: HpaConfig = { ...defaults, ...rest, ...(behavior && { behavior }) };
  const problem = problemOf(config);
  if (problem !== undefined) return err(failure("hpa.config", `the HPA cannot run: ${problem}`));
  return ok(Object.freeze(config));
}

export const isTotalMetric = (metric: HpaMetric): boolean => metric.type === "object" || metric.type === "external";

function problemOf(config: HpaConfig): string | undefined {
  const { minReplicas, maxReplicas, metrics } = config;
  if (!Number.isInteger(maxReplicas) || maxReplicas < 1)
    return `maxReplicas is ${maxReplicas}, give a whole number from 1`;
  if (!Number.isInteger(minReplicas) || minReplicas < 0)
    return `minReplicas is ${minReplicas}, give a whole number from 0`;
  if (minReplicas > maxReplicas) return `minReplicas ${minReplicas} is above maxReplicas ${maxReplicas}`;
  if (minReplicas === 0 && !(config.mayScaleToZero && metrics.some(isTotalMetric)))
    return "minReplicas 0 needs scaling to zero and an object or external metric, because no pod is left to measure";
  if (metrics.length === 0) return "metrics is empty, leave it out for CPU at 80 % or name one";
  for (const metric of metrics) {
    const amount = metric.target.kind === "utilization" ? metric.target.percent : metric.target.milli;
    if (!Number.isInteger(amount) || amount < 1)
      return `the target of a ${metric.type} metric is ${amount}, give a whole number from 1 (percent or milli-units)`;
  }
  if (!(config.tolerance >= 0)) return `tolerance is ${config.tolerance}, give 0 or more`;
  for (const [name, rules] of Object.entries(config.behavior ?? {})) {
    const problem = rulesProblem(rules);
    if (problem !== undefined) return `behavior.${name}: ${problem}`;
  }
  return undefined;
}

function rulesProblem(rules: HpaRules): string | undefined {
  if (!(rules.stabilization >= 0 && rules.stabilization <= maxStabilization))
    return `stabilization is ${rules.stabilization} ms, give 0 to ${maxStabilization}`;
  if (rules.tolerance !== undefined && !(rules.tolerance >= 0))
    return `tolerance is ${rules.tolerance}, give 0 or more`;
  if (rules.policies.length === 0) return "policies is empty, leave it out for the defaults or name one";
  for (const { value, period } of rules.policies) {
    if (!Number.isInteger(value) || value < 1) return `a policy's value is ${value}, give a whole number from 1`;
    if (!(period > 0 && period <= maxPolicyPeriod))
      return `a policy's period is ${period} ms, give up to ${maxPolicyPeriod}`;
  }
  return undefined;
}
