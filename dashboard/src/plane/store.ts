/**
 * What the page knows of the control plane: signals, so that a number changes one text node and nothing around it.
 * Owns: the meaning of every update, the bounds of what is kept. Not here: where updates come from (stream.ts).
 */
import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type {
  Account,
  AgentDocument,
  BudgetDocument,
  DecisionDocument,
  EventDocument,
  FallbackDocument,
  FaultName,
  KnobDocument,
  LiveUpdate,
  ReleaseDocument,
  Sample,
  SloDocument,
  StreamMessages,
  ToldWorkload,
  Trouble,
  WorkloadDocument,
  WorldDocument,
} from "../../../src/contract/index.ts";
import { noAccount, sumAccounts, utilisationOf } from "../../../src/contract/index.ts";
import { UNKNOWN_FALLBACK } from "../words/fallback.ts";
import { headline, type Standing, standingOf } from "../words/standing.ts";
import { pageOf } from "../words/tasks.ts";
import { History } from "./history.ts";

export const POINTS = 720;
const DECISIONS = POINTS;
const EVENTS = 1000;

export interface WorkloadCell {
  readonly id: string;
  readonly task: string;
  readonly title: Signal<string>;
  readonly slo: Signal<SloDocument>;
  readonly judgedBy: Signal<string | null>;
  readonly objective: Signal<string | null>;
  readonly twinRules: Signal<FallbackDocument | null>;
  readonly knobs: Signal<readonly KnobDocument[]>;
  readonly agent: Signal<string>;
  readonly now: Signal<Sample | null>;
  readonly account: Signal<Account>;
  readonly budget: Signal<BudgetDocument | null>;
  readonly twin: Signal<{ readonly now: Sample | null; readonly account: Account } | null>;
  readonly release: Signal<ReleaseDocument | null>;
  readonly trouble: Signal<Trouble | null>;
  readonly faults: Signal<readonly FaultName[]>;
  readonly revision: Signal<number>;
  readonly standing: ReadonlySignal<Standing>;
  readonly history: History;
  /** Rises when the history grew. */
  readonly grown: Signal<number>;
  /** Newest last. */
  readonly decisions: Signal<readonly DecisionDocument[]>;
  hasPast: boolean;
}

export class PlaneStore {
  readonly cells = signal<ReadonlyMap<string, WorkloadCell>>(new Map());
  readonly #agents = new Map<string, Signal<AgentDocument>>();
  readonly agentIds = signal<readonly string[]>([]);
  /** Newest first. */
  readonly events = signal<readonly EventDocument[]>([]);
  /** The cluster, and its time. Workloads of other worlds go by their own clocks: each by its newest sample. */
  readonly at = signal<number | null>(null);
  readonly world = signal<WorldDocument | null>(null);
  /** Rises when what only spans tell has changed. */
  readonly servicesChanged = signal(0);
  /** Whether there is one, and what rises when there is news of it. */
  readonly hasFleet = signal(false);
  readonly fleetChanged = signal(0);
  readonly version = signal("");
  readonly hasSnapshot = signal(false);

  /** Workloads whose page is the overview; services have their own, and are not counted in with others. */
  readonly #onOverview = computed(() =>
    [...this.cells.value.values()].filter(({ task }) => pageOf(task) === "overview"),
  );
  readonly services = computed(() =>
    [...this.cells.value.values()]
      .filter(({ task }) => pageOf(task) === "services")
      .sort((a, b) => a.title.value.localeCompare(b.title.value)),
  );

  /** Tasks on the overview, in the order in which they came. */
  readonly tasks = computed<readonly string[]>(() => [...new Set(this.#onOverview.value.map(({ task }) => task))]);

  /** Who is in trouble first, the longest-suffering on top; then by name. A row that moved at every step could not be read. */
  readonly order = computed<readonly string[]>(() =>
    this.#onOverview.value
      .map((cell) => ({ id: cell.id, title: cell.title.value, trouble: cell.trouble.value }))
      .sort((a, b) => {
        if (a.trouble !== null && b.trouble !== null) return a.trouble.since - b.trouble.since;
        if (a.trouble !== null || b.trouble !== null) return a.trouble === null ? 1 : -1;
        return a.title.localeCompare(b.title);
      })
      .map(({ id }) => id),
  );

  readonly headline = computed(() =>
    headline(this.#onOverview.value.map((cell) => ({ title: cell.title.value, standing: cell.standing.value }))),
  );

  readonly totals = computed(() => {
    const cells = this.#onOverview.value;
    // The twin's sums are comparable only over the workloads that have one.
    const paired = cells.filter((cell) => cell.twin.value !== null);
    const isComparable = paired.length > 0;
    return {
      ours: sumAccounts((isComparable ? paired : cells).map((cell) => cell.account.value)),
      twin: isComparable ? sumAccounts(paired.map((cell) => cell.twin.value?.account ?? noAccount)) : null,
    };
  });

  /** Of every workload that has a twin and a price, whatever its task, and who acts in their twins. */
  readonly priced = computed(() => {
    const cells = [...this.cells.value.values()].filter((cell) => (cell.twin.value?.account.cost ?? 0) > 0);
    return {
      ours: sumAccounts(cells.map((cell) => cell.account.value)),
      twin: cells.length === 0 ? null : sumAccounts(cells.map((cell) => cell.twin.value?.account ?? noAccount)),
      rules: cells.map((cell) => this.twinRulesOf(cell)),
    };
  });

  /** What anybody's account says the use of, by name. A text, so that nothing is drawn anew while it stays the same. */
  readonly usedNames = computed(() => Object.keys(utilisationOf(this.totals.value.ours)).join(" "));

  /** Of every workload of the overview, one after another. */
  readonly knobs = computed(() => this.#onOverview.value.flatMap((cell) => cell.knobs.value));

  /** What every connection begins with. */
  start({ overview: snapshot, agents, events }: StreamMessages["snapshot"]): void {
    batch(() => {
      const [cluster] = snapshot.worlds;
      this.at.value = cluster?.at ?? null;
      this.world.value = cluster ?? null;
      this.version.value = snapshot.version;
      this.hasFleet.value = snapshot.hasFleet;
      const cells = new Map<string, WorkloadCell>();
      for (const document of snapshot.workloads) {
        const cell = this.cells.peek().get(document.id) ?? newCell(document);
        describe(cell, document);
        // What happened while nobody listened is a hole; the stored past fills it when the charts ask.
        if (document.now !== null && (cell.now.peek()?.at ?? document.now.at) !== document.now.at) {
          cell.history.clear();
          cell.hasPast = false;
          cell.grown.value += 1;
        }
        cell.now.value = document.now;
        cell.account.value = document.account;
        cell.budget.value = document.budget;
        cell.twin.value = document.twin;
        cells.set(document.id, cell);
      }
      this.cells.value = cells;
      for (const agent of agents) this.#takeAgent(agent);
      this.takePastEvents(events);
      this.hasSnapshot.value = true;
      // What was said while nobody listened may have been that.
      this.servicesChanged.value += 1;
    });
  }

  apply(updates: readonly LiveUpdate[]): void {
    batch(() => {
      const decided = new Map<string, DecisionDocument[]>();
      const events: EventDocument[] = [];
      for (const update of updates) {
        switch (update.kind) {
          case "samples":
            this.#takeSamples(update);
            break;
          case "workload":
            this.#takeWorkload(update.workload);
            break;
          case "agent":
            this.#takeAgent(update.agent);
            break;
          case "decision": {
            const list = decided.get(update.decision.workload) ?? [];
            list.push(update.decision);
            decided.set(update.decision.workload, list);
            break;
          }
          case "event":
            events.push(update.event);
            break;
          case "services":
            this.servicesChanged.value += 1;
            break;
          case "fleet":
            this.hasFleet.value = true;
            this.fleetChanged.value += 1;
            break;
        }
      }
      for (const [workload, list] of decided) {
        const cell = this.cells.peek().get(workload);
        if (cell !== undefined) cell.decisions.value = [...cell.decisions.peek(), ...list].slice(-DECISIONS);
      }
      if (events.length > 0) this.events.value = [...events.reverse(), ...this.events.peek()].slice(0, EVENTS);
    });
  }

  agent(id: string): ReadonlySignal<AgentDocument> | undefined {
    return this.#agents.get(id);
  }

  /** Whom an agent manages; undefined while it is not known. */
  workloadOf(agent: string): string | undefined {
    // The list of agents is read so that one that appears later is found.
    void this.agentIds.value;
    return this.#agents.get(agent)?.peek().workload;
  }

  /** Of an agent; in general words while it is not known. */
  fallbackOf(agent: string): FallbackDocument {
    // The list of agents is read so that one that appears later is found.
    void this.agentIds.value;
    return this.#agents.get(agent)?.value.fallback ?? UNKNOWN_FALLBACK;
  }

  /** Who acts in its twin, or would if there were one. */
  twinRulesOf(cell: WorkloadCell): FallbackDocument {
    return cell.twinRules.value ?? this.fallbackOf(cell.agent.value);
  }

  takeAgent(agent: AgentDocument): void {
    batch(() => this.#takeAgent(agent));
  }

  /** Older events from the API, behind those that came live. */
  takePastEvents(past: readonly EventDocument[]): void {
    const known = new Set(this.events.peek().map(({ id }) => id));
    this.events.value = [...this.events.peek(), ...past.filter((event) => !known.has(event.id))]
      .sort((a, b) => b.id - a.id)
      .slice(0, EVENTS);
  }

  takePastDecisions(workload: string, past: readonly DecisionDocument[]): void {
    const cell = this.cells.peek().get(workload);
    if (cell === undefined) return;
    const known = new Set(cell.decisions.peek().map(({ id }) => id));
    cell.decisions.value = [...past.filter(({ id }) => !known.has(id)), ...cell.decisions.peek()]
      .sort((a, b) => a.id - b.id)
      .slice(-DECISIONS);
  }

  #takeSamples(update: Extract<LiveUpdate, { kind: "samples" }>): void {
    const cells = this.cells.peek();
    const tasks = this.world.peek()?.tasks ?? [];
    if (update.samples.some(({ workload }) => tasks.includes(cells.get(workload)?.task ?? "")))
      this.at.value = update.at;
    for (const { workload, sample, twin, account, twinAccount, budget } of update.samples) {
      const cell = cells.get(workload);
      if (cell === undefined) continue;
      cell.now.value = sample;
      cell.account.value = account;
      cell.budget.value = budget;
      cell.twin.value = twinAccount === null ? null : { now: twin, account: twinAccount };
      cell.history.push(sample, twin);
      cell.grown.value += 1;
    }
  }

  #takeWorkload(workload: ToldWorkload): void {
    const known = this.cells.peek().get(workload.id);
    if (known !== undefined) {
      describe(known, workload);
      return;
    }
    const cell = newCell({ ...workload, now: null, account: noAccount, budget: null, twin: null });
    this.cells.value = new Map([...this.cells.peek(), [workload.id, cell]]);
  }

  #takeAgent(agent: AgentDocument): void {
    const known = this.#agents.get(agent.id);
    if (known !== undefined) {
      known.value = agent;
      return;
    }
    this.#agents.set(agent.id, signal(agent));
    this.agentIds.value = [...this.agentIds.peek(), agent.id];
  }
}

function describe(cell: WorkloadCell, document: ToldWorkload): void {
  cell.title.value = document.title;
  // A new object of the same content must not redraw what depends on it.
  if (JSON.stringify(cell.slo.peek()) !== JSON.stringify(document.slo)) cell.slo.value = document.slo;
  if (JSON.stringify(cell.knobs.peek()) !== JSON.stringify(document.knobs)) {
    cell.knobs.value = document.knobs;
    cell.history.begin(document.knobs);
    cell.hasPast = false;
  }
  cell.judgedBy.value = document.judgedBy;
  cell.objective.value = document.objective;
  if (cell.twinRules.peek()?.title !== document.twinRules?.title) cell.twinRules.value = document.twinRules;
  if (cell.faults.peek().join() !== document.faults.join()) cell.faults.value = document.faults;
  cell.agent.value = document.agent;
  cell.release.value = document.release;
  cell.trouble.value = document.trouble;
  cell.revision.value = document.revision;
}

function newCell(document: WorkloadDocument): WorkloadCell {
  const slo = signal(document.slo);
  const now = signal(document.now);
  const trouble = signal(document.trouble);
  const judgedBy = signal(document.judgedBy);
  return {
    id: document.id,
    task: document.task,
    title: signal(document.title),
    slo,
    judgedBy,
    objective: signal(document.objective),
    twinRules: signal(document.twinRules),
    knobs: signal(document.knobs),
    agent: signal(document.agent),
    now,
    account: signal(document.account),
    budget: signal(document.budget),
    twin: signal(document.twin),
    release: signal(document.release),
    trouble,
    faults: signal(document.faults),
    revision: signal(document.revision),
    standing: computed(() =>
      standingOf({ slo: slo.value, judgedBy: judgedBy.value, now: now.value, trouble: trouble.value }),
    ),
    history: new History(POINTS, document.knobs),
    grown: signal(0),
    decisions: signal<readonly DecisionDocument[]>([]),
    hasPast: false,
  };
}
