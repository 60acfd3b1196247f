/**
 * What the studies that hold FIRM against others have in common: applications, their load, and what everybody is given.
 * Not here: what is done to the applications and what is counted (firm-mitigation.ts, firm-endtoend.ts).
 */
import { type FaultKind, faultKinds } from "../../act/faults/index.ts";
import { usualRate } from "./applications.ts";
import { type FirmConfig, firmConfig } from "./firm-method.ts";
import type { RuleConfigs } from "./methods.ts";
import { chosenRules } from "./rules.ts";

export interface ComparisonConfig {
  readonly applications: readonly string[];
  /** Requests per second, by application. */
  readonly rates: Readonly<Record<string, number>>;
  readonly methods: readonly string[];
  readonly kinds: readonly FaultKind[];
  /** Share of requests that are traced, for every method alike. */
  readonly sampling: number;
  readonly rules: RuleConfigs;
  readonly firm: FirmConfig;
}

/** Of the usual rates. */
const PART = 0.4;

export function comparisonConfig(methods: readonly string[], { quick }: { readonly quick: boolean }): ComparisonConfig {
  const applications = quick ? ["hotel-reservation"] : ["social-network", "media", "hotel-reservation", "train-ticket"];
  return {
    applications,
    // Two in five of the usual requests, and limits that are made for them: so ten seeds of four applications take minutes
    // in the event world and not hours. A quick run also traces fewer of them.
    rates: Object.fromEntries(applications.map((name) => [name, (usualRate[name] as number) * PART])),
    methods,
    kinds: faultKinds,
    sampling: quick ? 0.25 : 0.5,
    rules: { ...chosenRules, ...(quick && { rehearsal: 9 }) },
    firm: firmConfig({ quick }),
  };
}

/** Every method on every application. */
export const comparisonUnits = ({ applications, methods }: ComparisonConfig): readonly string[] =>
  applications.flatMap((name) => methods.map((method) => `${name}/${method}`));
