/**
 * Simulated worlds. `eventWorld` runs every request, `fluidWorld` is the fast rung for training; both have the face of
 * `ClusterWorld`. Start reading at cluster/world.ts (the face), then cluster/event/event-world.ts. The microservices world
 * is built the same way: microservices/world.ts, then microservices/event/event-world.ts; so is the serverless one:
 * serverless/world.ts, then serverless/platform.ts.
 */
export { simActuator } from "./cluster/actuator.ts";
export type { AgreementCell, CellMeasurement } from "./cluster/agreement.ts";
export { cellRate, latencyError, measureCell } from "./cluster/agreement.ts";
export type { EventClusterWorld } from "./cluster/event/event-world.ts";
export { eventWorld } from "./cluster/event/event-world.ts";
export { fluidWorld } from "./cluster/fluid/fluid-world.ts";
export { shareCells } from "./cluster/fluid/response-table.ts";
export { cellMemory } from "./cluster/fluid/shared-cells.ts";
export { costOf } from "./cluster/pricing.ts";
export type { NodeSpec, ProcessorName } from "./cluster/processors.ts";
export { characterizationNodes, evaluationNodes, processors } from "./cluster/processors.ts";
export type { WorldOptions } from "./cluster/spec.ts";
export type {
  Application,
  Load,
  LoadShape,
  LoadStatistics,
  Segment,
  UpdateScenario,
} from "./cluster/workloads/index.ts";
export {
  applyScenario,
  composeApplication,
  describeLoad,
  generateApplications,
  generateHeldOut,
  generateLoad,
  HIGH_PER_DAY,
  isolatedLatency,
  meanRate,
  meanWork,
  rateAt,
  recordedLoads,
  scenariosFor,
  segmentOf,
  segments,
  splitApplications,
  studyLoad,
  varyDays,
} from "./cluster/workloads/index.ts";
export type { ClusterWorld, WorkloadTruth, WorkloadUpdate } from "./cluster/world.ts";
export { EventQueue } from "./engine/index.ts";
export type { Call, MicroserviceApplication, ServiceSpec } from "./microservices/applications/index.ts";
export {
  applicationNamed,
  applications,
  call,
  hotelReservation,
  trainTicket,
} from "./microservices/applications/index.ts";
export { profiles } from "./microservices/calibration.ts";
export type { CampaignVerdict, CountedRequests } from "./microservices/campaign.ts";
export { breaksSlo, missed, runCampaign, thresholdOf } from "./microservices/campaign.ts";
export { microserviceWorld } from "./microservices/event/event-world.ts";
export { fluidMicroserviceWorld } from "./microservices/fluid/fluid-world.ts";
export { isolatedSlos } from "./microservices/isolated.ts";
export { firmNodes } from "./microservices/nodes.ts";
export { simulatedGround } from "./microservices/pretraining-ground.ts";
export { disturbedApplication } from "./microservices/pretraining-traces.ts";
export { simulatedServices } from "./microservices/services-port.ts";
export type { ApplicationTruth, MicroserviceWorld, RequestTruth } from "./microservices/world.ts";
export { serverlessActuator } from "./serverless/actuator.ts";
export { serverlessWorld } from "./serverless/event/event-world.ts";
export { fluidServerlessWorld } from "./serverless/fluid/fluid-world.ts";
export type { FunctionProfile } from "./serverless/functions.ts";
export { functionMix, functionNames, functionProfiles } from "./serverless/functions.ts";
export { cloudInvokers, localInvokers } from "./serverless/invokers.ts";
export { isolatedSlo } from "./serverless/isolated.ts";
export type { FunctionKind } from "./serverless/kinds.ts";
export { functionKind, functionKinds } from "./serverless/kinds.ts";
export type { InvocationPattern } from "./serverless/patterns.ts";
export { poissonPattern, recordedPattern } from "./serverless/patterns.ts";
export type { FunctionSpec, ServerlessOptions } from "./serverless/spec.ts";
export type { FunctionTruth, InvokerView, ServerlessWorld } from "./serverless/world.ts";
