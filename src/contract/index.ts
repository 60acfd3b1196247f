/**
 * What the parts of the product tell one another, and the outside: plain types and the lists of names that they need.
 * It has no library, so that the dashboard can take it as it is; the same as schemas is in schemas/.
 */

// Names that the lifecycle, the guard of faults and the worlds have as well.
export type {
  Actor,
  FaultKind as AnomalyKind,
  Mode as ModeName,
  Reason,
  Resource as ServiceResource,
  Stage as StageName,
} from "../base/index.ts";
export { actors, faultKinds as anomalyKinds, modes, resources as serviceResources, stages } from "../base/index.ts";
export { noAccount, sumAccounts, utilisationOf } from "./accounts.ts";
export type {
  CommandDone,
  MetricsDocument,
  MetricsSide,
  Page,
  Problem,
  StudySummary,
  TaskMetrics,
} from "./api.ts";
export type { ControlPlane, ManagedWorld, Readiness, SubscribeOptions, TakeUpdates } from "./control-plane.ts";
export { dashboardViews } from "./dashboard-views.ts";
export type { EmbeddingsDocument, NeighbourDocument, Place } from "./embeddings.ts";
export type {
  FleetChange,
  FleetDocument,
  FleetHost,
  FleetLately,
  FleetLoss,
  FleetMember,
} from "./fleet.ts";
export type { LoopDocument, TimingsDocument } from "./loop.ts";
export type {
  Account,
  AgentDocument,
  BudgetDocument,
  Command,
  DecisionDocument,
  EventDocument,
  FallbackDocument,
  FamiliarityDocument,
  FaultName,
  Judged,
  KnobDocument,
  OverviewDocument,
  ReleaseDocument,
  Sample,
  SeriesDocument,
  SettingDocument,
  Severity,
  StageChange,
  SteeringCounts,
  SteeringDocument,
  TrajectoryDocument,
  Trouble,
  UseDocument,
  WorkloadDocument,
  WorldDocument,
} from "./plane.ts";
export { faults, severities, troubleText } from "./plane.ts";
export type { SeriesColumn } from "./series.ts";
export { seriesColumns } from "./series.ts";
export type {
  ActingDocument,
  ActingDone,
  ActingMode,
  AnomalyDocument,
  AnomalyDone,
  AnomalyTargets,
  AnomalyWish,
  GraphEdge,
  GraphVertex,
  InstanceDocument,
  PathsDocument,
  RemedyChange,
  RemedyDocument,
  RequestDocument,
  RequestSloDone,
  ServiceGraphDocument,
  ServicesCommand,
  ServicesDocument,
  SpanListeners,
  SuspectDocument,
  SuspectsDocument,
  TraceDocument,
  TraceSummaryDocument,
} from "./services.ts";
export { actingModes } from "./services.ts";
export type { ServicesPlane, ServicesQuestion } from "./services-plane.ts";
export { isSameSetting } from "./settings.ts";
export type {
  SloDocument,
  SloField,
  SloFieldName,
  SloKindName,
  SloUnit,
} from "./slo.ts";
export { describeSlo, sloFields, sloKindNames, sloKinds, sloNumbers, sloShortfall, sloUnits } from "./slo.ts";
export type {
  ClaimTarget,
  MeasuredInterval,
  Outcome,
  PublishedRange,
  StudyResult,
  StudyResultRow,
  StudyTally,
} from "./study.ts";
export { parseStudyResult, tallyOf } from "./study.ts";
export type { LiveUpdate, PlaneUpdate, StreamMessages, ToldWorkload } from "./updates.ts";
