/** Anomalies: what can be injected, whether it may be, campaigns drawn at random, and who is to blame. */
export type {
  FaultChange,
  FaultContext,
  FaultLimits,
  FaultRefusal,
  FaultState,
  FaultVerdict,
} from "./fault-guard.ts";
export { faultLimits, freshFaultState, guardInjection, stopInjection } from "./fault-guard.ts";
export type { FaultKind, FaultPattern, FaultTarget, Injection } from "./injection.ts";
export { endOf, faultKinds, faultPatterns, intensityAt, kindFits, PULSE_HALF, targetName } from "./injection.ts";
export type { Label, ThresholdOptions } from "./labels.ts";
export { breakingIntensity, labelOf } from "./labels.ts";
export type { RandomOptions, WindowsOptions } from "./random-campaign.ts";
export { randomCampaign, USUAL_RATE, USUAL_WINDOW, windowedCampaign } from "./random-campaign.ts";
