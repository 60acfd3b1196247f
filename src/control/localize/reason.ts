/** Why an instance is suspected, in one sentence for people. Owns: the words. */
import type { Ms } from "../../base/index.ts";
import type { Harm } from "./features.ts";
import type { Deviation } from "./habits.ts";
import type { Evidence } from "./resource-evidence.ts";

export interface ReasonInput {
  readonly harm: Harm;
  readonly evidence: Evidence;
  readonly deviation: Deviation;
  readonly isBackground: boolean;
  readonly isTrained: boolean;
  readonly expectedSaving: Ms;
  readonly request: string;
}

/** Below this a rise of use is noise. */
const NOTABLE_PRESSURE = 0.1;
/** And of another behaviour. */
const NOTABLE_CHANGE = 0.25;

export function reasonFor(input: ReasonInput): string {
  const { harm, evidence, deviation, isBackground, isTrained, expectedSaving, request } = input;
  const { relativeImportance, congestionIntensity, elevation } = harm.features;
  const varies = `it varies with ${request} (r = ${digits(relativeImportance)}) and its 99th percentile is ${digits(congestionIntensity)} times its median`;
  const takes =
    expectedSaving > 0
      ? harm.wayShare > harm.workShare
        ? `the way to it takes ${digits(expectedSaving)} ms more than normal`
        : `it takes ${digits(expectedSaving)} ms more than normal (${digits(elevation)} times)`
      : undefined;
  const uses =
    evidence.use !== null && evidence.pressure > NOTABLE_PRESSURE
      ? evidence.resource === "llc"
        ? `${percent(evidence.use)} of its cache accesses miss, ${percent(evidence.pressure)} points above normal`
        : `it uses ${percent(evidence.use)} of its ${evidence.resource} limit, ${percent(evidence.pressure)} points above normal`
      : undefined;
  const behaves =
    deviation.changed > NOTABLE_CHANGE
      ? "it fails, or calls others than it used to, more often than before"
      : undefined;
  const guessed = evidence.use === null ? `no telemetry of it, so ${evidence.resource} is a guess` : undefined;
  const parts = [takes, varies, uses, behaves, guessed, isBackground ? "it works in the background" : undefined];
  const text = parts.filter((part) => part !== undefined).join("; ");
  return isTrained ? text : `${text}; not trained yet, so ranked by these two figures alone`;
}

const digits = (value: number): string => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2));
const percent = (share: number): string => `${Math.round(100 * share)} %`;
