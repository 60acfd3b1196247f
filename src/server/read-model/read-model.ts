/**
 * What the API shows, in memory: fed by the plane's updates, read by the routes, so that no request waits for the plane.
 * Owns: the newest document of every workload and agent, their series, decisions and events, all bounded; updates that do
 * not fit are refused and counted, never thrown. Not here: time, transport, and where updates come from.
 */
import type {
  Account,
  AgentDocument,
  DecisionDocument,
  EventDocument,
  LiveUpdate,
  MetricsDocument,
  MetricsSide,
  OverviewDocument,
  Page,
  PlaneUpdate,
  Severity,
  WorkloadDocument,
} from "../plane-contract.ts";
import { severities, stages } from "../plane-contract.ts";
import { createJournal } from "./journal.ts";
import { createRowBuffer, createSeries, type Series, type SpanQuery } from "./series.ts";

export interface ReadModelLimits {
  /** Of workloads and of agents each; more are refused. */
  readonly things: number;
  /** Points per tier of a workload's series: four tiers of 168 bytes per point. */
  readonly pointsPerTier: number;
  readonly decisionsPerWorkload: number;
  readonly eventsPerSeverity: number;
}

export const defaultReadModelLimits: ReadModelLimits = {
  things: 1_000,
  pointsPerTier: 1_024,
  decisionsPerWorkload: 512,
  eventsPerSeverity: 1_000,
};

export interface DecisionQuery {
  readonly workload?: string | undefined;
  readonly agent?: string | undefined;
  readonly before: number | null;
  readonly limit: number;
}

export interface EventQuery {
  /** The least that is shown. */
  readonly severity?: Severity | undefined;
  readonly workload?: string | undefined;
  readonly before: number | null;
  readonly limit: number;
}

export interface ReadModel {
  /** What was taken in, with ids, in order: what the stream passes on. */
  apply(updates: readonly PlaneUpdate[]): readonly LiveUpdate[];
  /** The newest time seen; null before the first. */
  readonly at: number | null;
  /** Updates that did not fit: of an unknown workload, out of order, or beyond the limits. */
  readonly refused: number;
  workloads(): readonly WorkloadDocument[];
  workload(id: string): WorkloadDocument | undefined;
  agents(): readonly AgentDocument[];
  agent(id: string): AgentDocument | undefined;
  agentSummaries(): OverviewDocument["agents"];
  /** A SeriesDocument as JSON: most of its text is known from the reading before. */
  tellSeries(workload: string, query: SpanQuery): string | undefined;
  decisions(query: DecisionQuery): Page<DecisionDocument>;
  events(query: EventQuery): Page<EventDocument>;
  metrics(): Omit<MetricsDocument, "server" | "at">;
}

const NOTHING_YET: Account = {
  steps: 0,
  violations: 0,
  cost: 0,
  cpuUsed: 0,
  cpuGranted: 0,
  memoryUsed: 0,
  memoryGranted: 0,
};

interface Entry {
  document: WorkloadDocument;
  readonly series: Series;
}

export function createReadModel(limits: ReadModelLimits = defaultReadModelLimits): ReadModel {
  const entries = new Map<string, Entry>();
  const agents = new Map<string, AgentDocument>();
  const decisions = createJournal<DecisionDocument>({ capacityPerLane: limits.decisionsPerWorkload });
  const events = createJournal<EventDocument>({ capacityPerLane: limits.eventsPerSeverity });
  const buffer = createRowBuffer();
  let at: number | null = null;
  let refused = 0;

  const saw = (time: number): void => {
    at = at === null ? time : Math.max(at, time);
  };

  const takeSamples = (update: Extract<PlaneUpdate, { kind: "samples" }>): LiveUpdate | undefined => {
    const kept = update.samples.filter(({ workload, sample, twin, account, twinAccount }) => {
      const entry = entries.get(workload);
      if (entry?.series.add(sample, twin) !== true) {
        refused += 1;
        return false;
      }
      const twinNow = twinAccount === null ? null : { now: twin, account: twinAccount };
      entry.document = { ...entry.document, now: sample, account, twin: twinNow };
      return true;
    });
    if (kept.length === 0) return undefined;
    saw(update.at);
    return kept.length === update.samples.length ? update : { ...update, samples: kept };
  };

  const takeWorkload = (update: Extract<PlaneUpdate, { kind: "workload" }>): LiveUpdate | undefined => {
    const { workload } = update;
    const known = entries.get(workload.id);
    if (known !== undefined) {
      const { now, account, twin } = known.document;
      known.document = { ...workload, now, account, twin };
      return update;
    }
    if (entries.size >= limits.things) {
      refused += 1;
      return undefined;
    }
    const document: WorkloadDocument = { ...workload, now: null, account: NOTHING_YET, twin: null };
    entries.set(workload.id, { document, series: createSeries({ capacity: limits.pointsPerTier, buffer }) });
    return update;
  };

  const takeAgent = (update: Extract<PlaneUpdate, { kind: "agent" }>): LiveUpdate | undefined => {
    if (!agents.has(update.agent.id) && agents.size >= limits.things) {
      refused += 1;
      return undefined;
    }
    agents.set(update.agent.id, update.agent);
    return update;
  };

  const take = (update: PlaneUpdate): LiveUpdate | undefined => {
    switch (update.kind) {
      case "samples":
        return takeSamples(update);
      case "workload":
        return takeWorkload(update);
      case "agent":
        return takeAgent(update);
      case "decision": {
        // A lane per workload: without the workload there would be no bound on the lanes.
        if (!entries.has(update.decision.workload)) {
          refused += 1;
          return undefined;
        }
        saw(update.decision.at);
        const decision = decisions.append(update.decision.workload, (id) => ({ ...update.decision, id }));
        return { kind: "decision", decision };
      }
      case "event": {
        saw(update.event.at);
        const event = events.append(update.event.severity, (id) => ({ ...update.event, id }));
        return { kind: "event", event };
      }
      case "loop":
        // For /metrics alone.
        return undefined;
    }
  };

  return {
    get at() {
      return at;
    },
    get refused() {
      return refused;
    },
    apply: (updates) => updates.flatMap((update) => take(update) ?? []),
    workloads: () => [...entries.values()].map(({ document }) => document),
    workload: (id) => entries.get(id)?.document,
    agents: () => [...agents.values()],
    agent: (id) => agents.get(id),
    agentSummaries: () =>
      [...agents.values()].map(({ id, workload, stage, since, acting, mode, isPaused }) => ({
        id,
        workload,
        stage,
        since,
        acting,
        mode,
        isPaused,
      })),
    tellSeries(workload, query) {
      const entry = entries.get(workload);
      return entry === undefined ? undefined : `{"workload":${JSON.stringify(workload)},${entry.series.tell(query)}}`;
    },
    decisions: ({ workload, agent, before, limit }) =>
      decisions.page({
        lanes: workload === undefined ? undefined : [workload],
        where: agent === undefined ? undefined : (decision) => decision.agent === agent,
        before,
        limit,
      }),
    events: ({ severity, workload, before, limit }) =>
      events.page({
        lanes: severity === undefined ? undefined : severities.slice(severities.indexOf(severity)),
        where: workload === undefined ? undefined : (event) => event.workload === workload,
        before,
        limit,
      }),
    metrics() {
      const documents = [...entries.values()].map(({ document }) => document);
      const byStage = Object.fromEntries(
        stages.map((stage) => [stage, [...agents.values()].filter((agent) => agent.stage === stage).length]),
      ) as MetricsDocument["agentsByStage"];
      return {
        workloads: documents.length,
        inTrouble: documents.filter(({ trouble }) => trouble !== null).length,
        agentsByStage: byStage,
        agentsPaused: [...agents.values()].filter(({ isPaused }) => isPaused).length,
        learned: sideOf(documents.map(({ account }) => account)),
        twin: sideOf(documents.flatMap(({ twin }) => twin?.account ?? [])),
      };
    },
  };
}

function sideOf(accounts: readonly Account[]): MetricsSide {
  const sum = (field: keyof Account): number => accounts.reduce((total, account) => total + account[field], 0);
  const share = (part: number, whole: number): number | null => (whole > 0 ? part / whole : null);
  const steps = sum("steps");
  return {
    steps,
    attainment: share(steps - sum("violations"), steps),
    cpuUtilisation: share(sum("cpuUsed"), sum("cpuGranted")),
    memoryUtilisation: share(sum("memoryUsed"), sum("memoryGranted")),
    cost: sum("cost"),
  };
}
