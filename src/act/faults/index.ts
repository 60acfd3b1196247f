/** Anomalies: what can be injected, whether it may be, campaigns drawn at random, and who is to blame. */

export type { FaultKind } from "../../base/index.ts";
export { faultKinds } from "../../base/index.ts";
export type { FaultChange, FaultContext, FaultLimits, FaultRefusal, FaultState } from "./fault-guard.ts";
export { faultLimits, freshFaultState, guardInjection, stopInjection } from "./fault-guard.ts";
export type { FaultTarget, Injection } from "./injection.ts";
export { endOf, faultPatterns, intensityAt, kindFits, targetName } from "./injection.ts";
export type { Label } from "./labels.ts";
export { breakingIntensity, labelOf } from "./labels.ts";
export { randomCampaign, USUAL_RATE, USUAL_WINDOW, windowedCampaign } from "./random-campaign.ts";
