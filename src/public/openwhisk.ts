/** `coxswain/openwhisk`: functions on OpenWhisk, their limits and their activation records. */

export type { FixedKnob, OpenWhisk, OpenWhiskBounds, OpenWhiskOptions } from "../adapters/openwhisk/index.ts";
export { openWhisk } from "../adapters/openwhisk/index.ts";
export type {
  ActivationBatch,
  ActivationCursor,
  ActivationSource,
  ActivationTelemetryOptions,
  DeployedFunction,
  StoredActivation,
} from "../observe/telemetry/index.ts";
export { activationTelemetry } from "../observe/telemetry/index.ts";
