/**
 * The control plane's metrics, for Prometheus. START READING HERE.
 * Owns: what is remembered of the plane's updates, and which value each metric has at a scrape. It runs where the updates
 * arrive, which need not be the thread of the loop. Not here: names (catalog.ts), the text format (registry.ts), the route.
 *
 * Updates come many times a second, scrapes every few seconds: an update only puts something down, a scrape does the work.
 */
import type {
  Account,
  AgentDocument,
  BudgetDocument,
  KnobDocument,
  LoopDocument,
  PlaneUpdate,
  Sample,
} from "../../contract/index.ts";
import { actors, stages } from "../../contract/index.ts";
import { type AnswerSeen, Answers } from "./answers.ts";
import type { MetricKey } from "./catalog.ts";
import { MetricsPage } from "./registry.ts";
import { Tally } from "./tally.ts";

export interface PlaneMetricsOptions {
  /** Workloads, and agents, that are shown; further ones are only counted. */
  readonly mostListed?: number;
  /** Whether figures of this process are shown too. */
  readonly withProcess?: boolean;
}

type Workload = Extract<PlaneUpdate, { readonly kind: "workload" }>["workload"];
type Decision = Extract<PlaneUpdate, { readonly kind: "decision" }>["decision"];

interface Runs {
  readonly own: Run;
  readonly twin: Run | null;
  readonly budget: BudgetDocument | null;
}

interface Run {
  readonly step: Sample | null;
  readonly sums: Account;
}

/** Distinct combinations of labels of one counter; there are about thirty reasons today. */
const MOST_COMBINATIONS = 128;

interface Shown {
  readonly key: MetricKey;
  /** From the document's unit to the metric's. */
  readonly scale: number;
}

/** Knobs that have a metric of their own. */
const KNOBS: ReadonlyMap<string, Shown> = new Map([
  ["replicas in pods", { key: "replicas", scale: 1 }],
  ["cpu in millicores", { key: "cpuLimit", scale: 1e-3 }],
  ["memory in bytes", { key: "memoryLimit", scale: 1 }],
]);

/** Sums that have one, in core-seconds and byte-seconds, as tasks add them up. */
const SUMS = ["cpuUsed", "cpuGranted", "memoryUsed", "memoryGranted"] as const satisfies readonly MetricKey[];

export class PlaneMetrics {
  readonly #page: MetricsPage;
  readonly #most: number;
  readonly #runs = new Map<string, Runs>();
  readonly #workloads = new Map<string, Workload>();
  readonly #agents = new Map<string, AgentDocument>();
  /** By agent: for which reason the fallback sits in its slot, if it does. */
  readonly #takenOver = new Map<string, string>();
  readonly #failedActions = new Map<string, number>();
  readonly #unlisted = { workload: new Set<string>(), agent: new Set<string>() };
  readonly #decisions = new Tally({ most: MOST_COMBINATIONS });
  readonly #guardChanges = new Tally({ most: MOST_COMBINATIONS });
  readonly #guardRefusals = new Tally({ most: MOST_COMBINATIONS });
  readonly #shieldChanges = new Tally({ most: MOST_COMBINATIONS });
  readonly #takeovers = new Tally({ most: MOST_COMBINATIONS });
  readonly #events = new Tally({ most: MOST_COMBINATIONS });
  readonly #answers = new Answers();
  #loop: LoopDocument | undefined;
  #crowded = 0;

  constructor({ mostListed = 1_000, withProcess = true }: PlaneMetricsOptions = {}) {
    this.#page = new MetricsPage({ withProcess });
    this.#most = mostListed;
  }

  get contentType(): string {
    return this.#page.contentType;
  }

  /** A subscriber of the plane's updates. */
  take(updates: readonly PlaneUpdate[]): void {
    for (const update of updates) this.#takeOne(update);
  }

  /** A request that the API has answered. */
  answered(answer: AnswerSeen): void {
    this.#answers.add(answer);
  }

  /** A connection had to go, or was not taken, since there are too many. */
  crowded(): void {
    this.#crowded += 1;
  }

  /** The page as it is now. */
  text(): Promise<string> {
    this.#page.begin();
    for (const [workload, runs] of this.#runs) this.#showRuns(workload, runs);
    for (const workload of this.#workloads.values()) this.#showWorkload(workload);
    for (const agent of this.#agents.values()) this.#showAgent(agent);
    this.#showCounts();
    if (this.#loop !== undefined) this.#showLoop(this.#loop);
    for (const [labels, figures] of this.#answers.entries()) {
      const count = figures.counts.reduce((sum, one) => sum + one, 0);
      this.#page.set("requests", labels, count);
      this.#page.setTimings("requestTimes", figures, labels);
    }
    this.#page.set("crowded", [], this.#crowded);
    return this.#page.text();
  }

  #takeOne(update: PlaneUpdate): void {
    switch (update.kind) {
      case "samples":
        for (const { workload, sample, twin, account, twinAccount, budget } of update.samples) {
          if (!this.#hasRoom(this.#runs, workload, "workload")) continue;
          this.#runs.set(workload, {
            own: { step: sample, sums: account },
            twin: twinAccount === null ? null : { step: twin, sums: twinAccount },
            budget,
          });
        }
        break;
      case "workload":
        if (this.#hasRoom(this.#workloads, update.workload.id, "workload"))
          this.#workloads.set(update.workload.id, update.workload);
        break;
      case "agent":
        if (this.#hasRoom(this.#agents, update.agent.id, "agent")) this.#agents.set(update.agent.id, update.agent);
        break;
      case "decision":
        this.#takeDecision(update.decision);
        break;
      case "event":
        this.#events.add(update.event.kind, update.event.severity);
        break;
      case "loop":
        this.#loop = update.loop;
        break;
      case "services":
      case "fleet":
        break;
    }
  }

  #hasRoom(listed: ReadonlyMap<string, unknown>, id: string, of: "workload" | "agent"): boolean {
    if (listed.has(id) || listed.size < this.#most) return true;
    // Bounded too: past twice the room the number says "many" well enough.
    if (this.#unlisted[of].size < this.#most) this.#unlisted[of].add(id);
    return false;
  }

  #takeDecision({ workload, agent, stage, who, why, failure }: Decision): void {
    const [first, ...changes] = why;
    const reason = first?.rule ?? "unknown";
    this.#decisions.add(who, reason);
    if (failure !== null && this.#hasRoom(this.#failedActions, workload, "workload"))
      this.#failedActions.set(workload, (this.#failedActions.get(workload) ?? 0) + 1);
    this.#noteTakeover(agent, (stage === "ONLINE" || stage === "SERVING") && who === "fallback" ? reason : undefined);
    for (const { by, rule, knob } of changes) {
      // What the guard changes it changes in a knob; what it refuses it refuses as a whole.
      if (by === "guard" && knob !== undefined) this.#guardChanges.add(rule, knob);
      else if (by === "guard") this.#guardRefusals.add(rule);
      else if (by === "shield") this.#shieldChanges.add(rule);
    }
  }

  /** Counted when it begins, and when its reason changes; not at every step that it lasts. */
  #noteTakeover(agent: string, reason: string | undefined): void {
    if (reason === undefined) {
      this.#takenOver.delete(agent);
      return;
    }
    if (this.#takenOver.get(agent) === reason || !this.#hasRoom(this.#takenOver, agent, "agent")) return;
    this.#takenOver.set(agent, reason);
    this.#takeovers.add(reason);
  }

  #showRuns(workload: string, { own, twin, budget }: Runs): void {
    this.#page.set("budgetLeft", [workload], budget?.left ?? null);
    for (const window of ["short", "long"] as const)
      this.#page.set("budgetBurn", [workload, window], budget?.burn[window] ?? null);
    const knobs = this.#workloads.get(workload)?.knobs ?? [];
    for (const [run, one] of [
      ["own", own],
      ["twin", twin],
    ] as const) {
      if (one === null) continue;
      this.#showRun([workload, run], one);
      if (one.step !== null) this.#showSetting([workload, run], one.step, knobs);
    }
  }

  #showRun(labels: readonly string[], { step, sums }: Run): void {
    const show = (key: MetricKey, value: number | null) => this.#page.set(key, labels, value);
    if (step !== null) {
      show("preservation", step.preservation);
      show("latency", step.latency === null ? null : step.latency / 1_000);
      show("load", step.load);
      show("ready", step.ready);
      show("reward", step.reward);
    }
    show("steps", sums.steps);
    show("violations", sums.violations);
    show("cost", sums.cost);
    for (const sum of SUMS) show(sum, sums.sums[sum] ?? null);
  }

  /** By name and unit: services have a knob `memory` too, and it is a bandwidth. */
  #showSetting(labels: readonly string[], { have }: Sample, knobs: readonly KnobDocument[]): void {
    for (const { name, unit } of knobs) {
      const value = have[name];
      const own = KNOBS.get(`${name} in ${unit}`);
      if (value === undefined) continue;
      if (own === undefined) this.#page.set("knob", [...labels, name], value);
      else this.#page.set(own.key, labels, value * own.scale);
    }
  }

  #showWorkload({ id, slo, trouble }: Workload): void {
    this.#page.set("sloTarget", [id], slo.kind === "latency" ? slo.target / 1_000 : null);
    this.#page.set("trouble", [id], trouble === null ? 0 : 1);
  }

  #showAgent(agent: AgentDocument): void {
    const labels = [agent.id, agent.workload];
    for (const stage of stages) this.#page.set("stage", [...labels, stage], stage === agent.stage ? 1 : 0);
    for (const who of actors) this.#page.set("acting", [...labels, who], who === agent.acting ? 1 : 0);
    this.#page.set("paused", labels, agent.isPaused ? 1 : 0);
    this.#page.set("tripRatio", labels, agent.guardTripRate);
    this.#page.set("rollbacks", labels, agent.rollbacks);
    this.#page.set("updates", labels, agent.updates);
    const { decisions, asProposed } = agent.steering.total;
    this.#page.set("steered", [...labels, "true"], asProposed);
    this.#page.set("steered", [...labels, "false"], decisions - asProposed);
  }

  #showCounts(): void {
    const tallies = [
      ["decisions", this.#decisions],
      ["guardChanges", this.#guardChanges],
      ["guardRefusals", this.#guardRefusals],
      ["shieldChanges", this.#shieldChanges],
      ["takeovers", this.#takeovers],
      ["events", this.#events],
    ] as const;
    for (const [key, tally] of tallies)
      for (const [labels, count] of tally.entries()) this.#page.set(key, labels, count);
    for (const [workload, count] of this.#failedActions) this.#page.set("failedActions", [workload], count);
    for (const of of ["workload", "agent"] as const) this.#page.set("unlisted", [of], this.#unlisted[of].size);
  }

  #showLoop({ ports, recorder, events, training, ...loop }: LoopDocument): void {
    const show = (key: MetricKey, value: number, ...labels: readonly string[]) => this.#page.set(key, labels, value);
    this.#page.setTimings("ticks", loop.ticks);
    this.#page.setTimings("turns", loop.wholeTurns);
    show("skipped", loop.skipped);
    show("crashes", loop.crashes);
    show("lag", loop.lag);
    show("abandoned", loop.abandoned);
    for (const [port, count] of Object.entries(ports.failures)) show("portFailures", count, port);
    for (const [port, agents] of Object.entries(ports.failing)) show("portFailing", agents, port);
    show("recorderWaiting", recorder.waiting);
    for (const outcome of ["durable", "lost", "refused"] as const) show("recorded", recorder[outcome], outcome);
    show("reopened", recorder.reopened);
    show("outboxWaiting", events.waiting);
    for (const outcome of ["delivered", "dropped", "lost"] as const) show("outbox", events[outcome], outcome);
    show("trainingUnderWay", training?.underWay ?? 0);
    show("trainingRounds", training?.succeeded ?? 0, "succeeded");
    show("trainingRounds", training?.failed ?? 0, "failed");
    show("trainingRounds", training?.turnedAway ?? 0, "turned-away");
  }
}
