/**
 * Simulated worlds. `eventWorld` runs every request, `fluidWorld` is the fast rung for training; both have the face of
 * `ClusterWorld`. Start reading at cluster/world.ts (the face), then cluster/event/event-world.ts. The microservices world
 * is built the same way: microservices/world.ts, then microservices/event/event-world.ts.
 */
export { simActuator } from "./cluster/actuator.ts";
export type { AgreementCell, CellMeasurement, MeasureOptions } from "./cluster/agreement.ts";
export { cellRate, latencyError, measureCell } from "./cluster/agreement.ts";
export type { EventClusterWorld, EventWorldOptions } from "./cluster/event/event-world.ts";
export { eventWorld } from "./cluster/event/event-world.ts";
export type { Balancing } from "./cluster/event/request-flow.ts";
export { fluidWorld } from "./cluster/fluid/fluid-world.ts";
export { shareCells } from "./cluster/fluid/response-table.ts";
export { cellMemory } from "./cluster/fluid/shared-cells.ts";
export { mechanics } from "./cluster/mechanics.ts";
export type { MetricsConfig } from "./cluster/metrics/config.ts";
export { metricsDefaults, podGrants } from "./cluster/metrics/config.ts";
export type { Bill } from "./cluster/pricing.ts";
export { costOf, prices } from "./cluster/pricing.ts";
export type { NodeSpec, Processor, ProcessorName } from "./cluster/processors.ts";
export { characterizationNodes, evaluationNodes, processors } from "./cluster/processors.ts";
export type { WorkloadSpec, WorldOptions } from "./cluster/spec.ts";
export type {
  Application,
  Arrivals,
  ComposeOptions,
  CountsOptions,
  GenerateLoadOptions,
  GenerateOptions,
  HeldOutSplit,
  IsolatedOptions,
  Load,
  LoadShape,
  LoadStatistics,
  PayloadKind,
  Payloads,
  Phase,
  RecordedOptions,
  ScenarioOptions,
  Segment,
  SegmentName,
  SegmentWork,
  ServerSettings,
  SplitApplications,
  UpdateScenario,
} from "./cluster/workloads/index.ts";
export {
  applyScenario,
  arrivals,
  composeApplication,
  DISPERSION_SPAN,
  describeLoad,
  generateApplications,
  generateHeldOut,
  generateLoad,
  HIGH_PER_DAY,
  isolatedLatency,
  loadFromCounts,
  meanRate,
  meanWork,
  payloadsOf,
  rateAt,
  recordedLoads,
  requestLength,
  sampleRequest,
  scaleLoad,
  scenariosFor,
  segmentOf,
  segments,
  servableRate,
  splitApplications,
  studyLoad,
  updateScenarios,
  withPayloads,
} from "./cluster/workloads/index.ts";
export type { ClusterWorld, WorkloadTruth, WorkloadUpdate } from "./cluster/world.ts";
export type { Ticket } from "./engine/index.ts";
export { EventQueue } from "./engine/index.ts";
export type {
  MeasureCellOptions,
  MicroserviceCell,
  MicroserviceMeasurement,
} from "./microservices/agreement.ts";
export { measureMicroserviceCell } from "./microservices/agreement.ts";
export type {
  Call,
  MicroserviceApplication,
  RequestType,
  ServiceOrigin,
  ServiceSpec,
} from "./microservices/applications/index.ts";
export {
  applicationNamed,
  applications,
  call,
  edgesOf,
  hotelReservation,
  lookup,
  mediaService,
  parseApplication,
  socialNetwork,
  trainTicket,
} from "./microservices/applications/index.ts";
export type { Profile, ProfileName } from "./microservices/calibration.ts";
export { operationLatency, profiles } from "./microservices/calibration.ts";
export type { CampaignOptions, CampaignVerdict, CountedRequests, ThresholdRun } from "./microservices/campaign.ts";
export { breaksSlo, missed, runCampaign, thresholdOf } from "./microservices/campaign.ts";
export type { EventMicroserviceWorld } from "./microservices/event/event-world.ts";
export { microserviceWorld } from "./microservices/event/event-world.ts";
export type { FluidOptions } from "./microservices/fluid/fluid-world.ts";
export { fluidMicroserviceWorld } from "./microservices/fluid/fluid-world.ts";
export type { IsolatedRequests } from "./microservices/isolated.ts";
export { isolatedRequests, isolatedSlos } from "./microservices/isolated.ts";
export type { Amounts, MicroserviceNode, ProcessorClassName } from "./microservices/nodes.ts";
export { firmNodes, nodeOf, processorClasses } from "./microservices/nodes.ts";
export type { SimulatedServices } from "./microservices/services-port.ts";
export { simulatedServices } from "./microservices/services-port.ts";
export type { MicroserviceWorldOptions, TracingOptions } from "./microservices/spec.ts";
export type { ApplicationTruth, MicroserviceWorld, RequestTruth } from "./microservices/world.ts";
