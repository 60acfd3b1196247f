export type { Access, Role, Token } from "./access.ts";
export type { App, AppOptions } from "./app.ts";
export { createApp } from "./app.ts";
export type { AuditEntry, AuditSink } from "./audit.ts";
export type {
  EmbeddingsDocument,
  MeasuredInterval,
  NeighbourDocument,
  Parsed,
  Place,
  PlacedWorkload,
  PoolMember,
  PublishedRange,
  StudyResult,
  StudyResultRow,
} from "./contract.ts";
export { parseStudyResult } from "./contract.ts";
export type { ControlPlane } from "./control-plane.ts";
export type { Limits, ServerClock } from "./limits.ts";
export { defaultLimits } from "./limits.ts";
export type { RunningServer, ServerOptions } from "./node-server.ts";
export { openServer } from "./node-server.ts";
export type {
  Account,
  AgentDocument,
  AllocationDocument,
  Command,
  CommandDone,
  DecisionDocument,
  EventDocument,
  FamiliarityDocument,
  FaultName,
  Judged,
  LiveUpdate,
  LoopDocument,
  MetricsDocument,
  MetricsSide,
  ModeName,
  OverviewDocument,
  Page,
  PlaneUpdate,
  Problem,
  ReleaseDocument,
  Sample,
  SeriesColumn,
  SeriesDocument,
  Severity,
  SloDocument,
  StageChange,
  StageName,
  StreamMessages,
  StudySummary,
  TrajectoryDocument,
  Trouble,
  WorkloadDocument,
} from "./plane-contract.ts";
export { faults, modes, seriesColumns, severities, stages } from "./plane-contract.ts";
export type { ReadModel, ReadModelLimits } from "./read-model/read-model.ts";
export { createReadModel, defaultReadModelLimits } from "./read-model/read-model.ts";
export type { StaticFile, StaticFiles } from "./routes/dashboard.ts";
export type { PoolMap, PoolShelf } from "./routes/embeddings.ts";
export type { StudyShelf } from "./routes/studies.ts";
export type {
  ActingDocument,
  ActingDone,
  ActingMode,
  AnomalyCommand,
  AnomalyDocument,
  AnomalyDone,
  AnomalyKind,
  AnomalyTargets,
  AnomalyWish,
  GraphEdge,
  GraphVertex,
  InstanceDocument,
  PathShare,
  PathsDocument,
  RemedyChange,
  RemedyDocument,
  ServiceGraphDocument,
  ServiceRequests,
  ServiceResource,
  ServicesCommand,
  ServicesDocument,
  SpanCounts,
  SpanDoors,
  SuspectDocument,
  SuspectsDocument,
  TraceDocument,
  TraceSpanDocument,
  TraceSummaryDocument,
} from "./services-contract.ts";
export { actingModes, anomalyKinds, serviceResources } from "./services-contract.ts";
export type { ServicesPlane, ServicesQuestion } from "./services-plane.ts";
export { openStaticFolder } from "./static-folder.ts";
export { openStudyFolder } from "./study-folder.ts";
