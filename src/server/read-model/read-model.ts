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
  FleetDocument,
  LiveUpdate,
  MetricsDocument,
  MetricsSide,
  OverviewDocument,
  Page,
  PlaneUpdate,
  Sample,
  Severity,
  TaskMetrics,
  WorkloadDocument,
} from "../../contract/index.ts";
import { noAccount, severities, stages, sumAccounts, utilisationOf } from "../../contract/index.ts";
import { createJournal } from "./journal.ts";
import { createRowBuffer, createSeries, hasDistinctColumns, type Series, type SpanQuery } from "./series.ts";

export interface ReadModelLimits {
  /** Of workloads and of agents each; more are refused. */
  readonly things: number;
  /** Workloads with more are refused: a knob takes up to 32 bytes of every point of a series. */
  readonly knobsPerWorkload: number;
  /** Points per tier of a workload's series: four tiers of, for workloads of pods, 184 bytes per point. */
  readonly pointsPerTier: number;
  readonly decisionsPerWorkload: number;
  readonly eventsPerSeverity: number;
}

export const defaultReadModelLimits: ReadModelLimits = {
  things: 1_000,
  knobsPerWorkload: 16,
  pointsPerTier: 1_024,
  decisionsPerWorkload: 512,
  eventsPerSeverity: 1_000,
};

export interface DecisionQuery {
  readonly workload?: string | undefined;
  readonly agent?: string | undefined;
  readonly task?: string | undefined;
  readonly before: number | null;
  readonly limit: number;
}

export interface EventQuery {
  /** The least that is shown. */
  readonly severity?: Severity | undefined;
  readonly workload?: string | undefined;
  readonly task?: string | undefined;
  readonly before: number | null;
  readonly limit: number;
}

export interface ReadModel {
  /** What was taken in, with ids, in order: what the stream passes on. */
  apply(updates: readonly PlaneUpdate[]): readonly LiveUpdate[];
  /** The newest time at which something of these tasks was measured; null before the first. Worlds have clocks of their own. */
  timeOf(tasks: readonly string[]): number | null;
  /** Updates that did not fit: of an unknown workload, out of order, or beyond the limits. */
  readonly refused: number;
  /** All, or those of one task. */
  workloads(task?: string): readonly WorkloadDocument[];
  workload(id: string): WorkloadDocument | undefined;
  agents(task?: string): readonly AgentDocument[];
  agent(id: string): AgentDocument | undefined;
  agentSummaries(): OverviewDocument["agents"];
  /** A SeriesDocument as JSON: most of its text is known from the reading before. */
  tellSeries(workload: string, query: SpanQuery): string | undefined;
  decisions(query: DecisionQuery): Page<DecisionDocument>;
  events(query: EventQuery): Page<EventDocument>;
  /** The newest; undefined where nothing was told of one. */
  fleet(): FleetDocument | undefined;
  /** In the order in which the tasks were first told of. */
  metrics(): MetricsDocument["tasks"];
}

interface Entry {
  document: WorkloadDocument;
  /** Begins with the first sample, which says what of the knobs is measured. */
  series: Series | null;
}

export function createReadModel(limits: ReadModelLimits = defaultReadModelLimits): ReadModel {
  const entries = new Map<string, Entry>();
  const agents = new Map<string, AgentDocument>();
  const decisions = createJournal<DecisionDocument>({ capacityPerLane: limits.decisionsPerWorkload });
  const events = createJournal<EventDocument>({ capacityPerLane: limits.eventsPerSeverity });
  const buffer = createRowBuffer(limits.knobsPerWorkload);
  let fleet: FleetDocument | undefined;
  let refused = 0;

  const documents = (task?: string): readonly WorkloadDocument[] =>
    [...entries.values()].flatMap(({ document }) => (task === undefined || document.task === task ? [document] : []));

  const isOf = (workload: string | null, task: string): boolean =>
    workload !== null && entries.get(workload)?.document.task === task;

  const agentsOf = (task?: string): readonly AgentDocument[] =>
    [...agents.values()].filter(({ workload }) => task === undefined || isOf(workload, task));

  const timeOf = (tasks: readonly string[]): number | null =>
    documents().reduce<number | null>((newest, { task, now }) => {
      if (now === null || !tasks.includes(task)) return newest;
      return newest === null ? now.at : Math.max(newest, now.at);
    }, null);

  const seriesOf = ({ knobs }: WorkloadDocument, { use }: Sample): Series =>
    createSeries({ capacity: limits.pointsPerTier, buffer, knobs, use });

  const takeSamples = (update: Extract<PlaneUpdate, { kind: "samples" }>): LiveUpdate | undefined => {
    const kept = update.samples.filter(({ workload, sample, twin, account, twinAccount, budget }) => {
      const entry = entries.get(workload);
      if (entry !== undefined) entry.series ??= seriesOf(entry.document, sample);
      if (entry?.series?.add(sample, twin) !== true) {
        refused += 1;
        return false;
      }
      const twinNow = twinAccount === null ? null : { now: twin, account: twinAccount };
      entry.document = { ...entry.document, now: sample, account, budget, twin: twinNow };
      return true;
    });
    if (kept.length === 0) return undefined;
    return kept.length === update.samples.length ? update : { ...update, samples: kept };
  };

  const takeWorkload = (update: Extract<PlaneUpdate, { kind: "workload" }>): LiveUpdate | undefined => {
    const { workload } = update;
    const known = entries.get(workload.id);
    if (known !== undefined) {
      const { now, account, budget, twin } = known.document;
      known.document = { ...workload, now, account, budget, twin };
      return update;
    }
    const { knobs } = workload;
    const isShowable = knobs.length <= limits.knobsPerWorkload && hasDistinctColumns(knobs);
    if (entries.size >= limits.things || !isShowable) {
      refused += 1;
      return undefined;
    }
    const unmeasured = { now: null, account: noAccount, budget: null, twin: null };
    entries.set(workload.id, { document: { ...workload, ...unmeasured }, series: null });
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

  /** A lane of decisions is a workload's; undefined: all of them. */
  const lanesOf = (workload: string | undefined, task: string | undefined): readonly string[] | undefined => {
    const ofTask = task === undefined ? undefined : documents(task).map(({ id }) => id);
    if (workload === undefined) return ofTask;
    return ofTask === undefined || ofTask.includes(workload) ? [workload] : [];
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
        const decision = decisions.append(update.decision.workload, (id) => ({ ...update.decision, id }));
        return { kind: "decision", decision };
      }
      case "event": {
        const event = events.append(update.event.severity, (id) => ({ ...update.event, id }));
        return { kind: "event", event };
      }
      case "services":
        return update;
      case "fleet":
        if (update.fleet.members.length > limits.things) {
          refused += 1;
          return undefined;
        }
        fleet = update.fleet;
        return { kind: "fleet", at: fleet.at };
      case "loop":
        // For /metrics alone.
        return undefined;
    }
  };

  return {
    get refused() {
      return refused;
    },
    apply: (updates) => updates.flatMap((update) => take(update) ?? []),
    timeOf,
    workloads: documents,
    workload: (id) => entries.get(id)?.document,
    agents: agentsOf,
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
      if (entry === undefined) return undefined;
      const { knobs } = entry.document;
      const series = entry.series ?? createSeries({ capacity: 1, buffer, knobs, use: {} });
      return `{"workload":${JSON.stringify(workload)},${series.tell(query)}}`;
    },
    decisions: ({ workload, agent, task, before, limit }) =>
      decisions.page({
        lanes: lanesOf(workload, task),
        where: agent === undefined ? undefined : (decision) => decision.agent === agent,
        before,
        limit,
      }),
    events: ({ severity, workload, task, before, limit }) =>
      events.page({
        lanes: severity === undefined ? undefined : severities.slice(severities.indexOf(severity)),
        where: (event) =>
          (workload === undefined || event.workload === workload) && (task === undefined || isOf(event.workload, task)),
        before,
        limit,
      }),
    fleet: () => fleet,
    metrics() {
      const tasks = [...new Set(documents().map(({ task }) => task))];
      return tasks.map((task) =>
        metricsOf(task, timeOf([task]), { workloads: documents(task), agents: agentsOf(task) }),
      );
    },
  };
}

interface OfTask {
  readonly workloads: readonly WorkloadDocument[];
  readonly agents: readonly AgentDocument[];
}

function metricsOf(task: string, at: number | null, { workloads, agents }: OfTask): TaskMetrics {
  const byStage = Object.fromEntries(
    stages.map((stage) => [stage, agents.filter((agent) => agent.stage === stage).length]),
  ) as TaskMetrics["agentsByStage"];
  return {
    task,
    at,
    workloads: workloads.length,
    inTrouble: workloads.filter(({ trouble }) => trouble !== null).length,
    agentsByStage: byStage,
    agentsPaused: agents.filter(({ isPaused }) => isPaused).length,
    learned: sideOf(workloads.map(({ account }) => account)),
    twin: sideOf(workloads.flatMap(({ twin }) => twin?.account ?? [])),
  };
}

function sideOf(accounts: readonly Account[]): MetricsSide {
  const sum = sumAccounts(accounts);
  const { steps, violations, cost } = sum;
  return {
    steps,
    attainment: steps > 0 ? (steps - violations) / steps : null,
    utilisation: utilisationOf(sum),
    cost,
  };
}
