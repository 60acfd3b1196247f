/** The contract as schemas: one per document, plain zod. Not for the dashboard, which takes the plain types. */

export {
  commandDoneSchema,
  embeddingsSchema,
  metricsSchema,
  problemSchema,
  studyResultSchema,
  studySummarySchema,
} from "./api.ts";
export { fleetSchema } from "./fleet.ts";
export { pageOf } from "./parts.ts";
export {
  accountSchema,
  agentSchema,
  budgetSchema,
  decisionSchema,
  eventSchema,
  faultSchema,
  modeSchema,
  overviewSchema,
  sampleSchema,
  seriesSchema,
  severitySchema,
  toldDecisionSchema,
  trajectorySchema,
  workloadSchema,
} from "./plane.ts";
export type { AgentNotes, SavedPlane, SavedServices } from "./saved.ts";
export { agentNotesSchema, savedPlaneSchema, savedServicesSchema } from "./saved.ts";
export {
  actingDoneSchema,
  actingModeSchema,
  anomalyDoneSchema,
  anomalyWishSchema,
  graphSchema,
  instanceSchema,
  pathsSchema,
  requestSchema,
  requestSloSchema,
  servicesSchema,
  suspectsSchema,
  traceSchema,
  traceSummarySchema,
} from "./services.ts";
export { requestSloMs, sloNumberSchema, sloSchema } from "./slo.ts";
export { laggedSchema, liveUpdateSchema, snapshotSchema, updatesSchema } from "./updates.ts";
