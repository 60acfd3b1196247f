/**
 * The control plane: agents of any task over one world. START READING HERE.
 * Owns: moving the world's time, measuring at every control step, telling it as updates, and what survives.
 * Not here: deciding (control/lifecycle, through control/loop), commands (commands.ts), threads and pace (cli/up), the
 * HTTP side (server).
 *
 * A simulated world's time moves only when the plane moves it, the world first and its clock after it. So everything that
 * a turn needs has happened when it begins, and how fast the wall's time passes changes nothing but the training, which
 * runs beside. With `isLockstep` the world waits for training too, and the same seed gives the same updates.
 */
import type { AgentId, Ms, Result } from "../base/index.ts";
import { err, failure, milliseconds, ok } from "../base/index.ts";
import type { Command, FaultName, ModeName, PlaneUpdate, Readiness, Trouble } from "../contract/index.ts";
import { faults as allFaults, troubleText } from "../contract/index.ts";
import type { SavedPlane } from "../contract/schemas/index.ts";
import type { LoopEvent, StateStore } from "../control/loop/index.ts";
import { ControlLoop } from "../control/loop/index.ts";
import type { TrajectoryStore } from "../learn/trajectory/index.ts";
import { compact } from "../learn/trajectory/index.ts";
import { addTo, sampleOf } from "./accounts.ts";
import type { CommandAnswer } from "./commands.ts";
import { obey, setAllModes } from "./commands.ts";
import { decisionOf } from "./decisions.ts";
import { eventText } from "./event-texts.ts";
import { FleetWatch } from "./fleet-watch.ts";
import type { Commanded, ManagedWorkload, Saying } from "./managed-workload.ts";
import { manage, measureStep, savedWorkload, spendBudget, twinRulesOf } from "./managed-workload.ts";
import type { PlaneParts, PlaneWatcher } from "./plane-parts.ts";
import { TimedStates } from "./timed-states.ts";
import { objectiveOf } from "./trouble.ts";
import type { World, WorldEvent, WorldSide } from "./world.ts";

/** Documents of agents, which carry their histories, that are told with one step. */
const AGENTS_PER_STEP = 6;
/** Those that need nothing of the world. */
const OWN_FAULTS: readonly FaultName[] = ["learner-crash"];
/** Steps between two looks at how much the trajectory store holds. */
const COMPACT_EVERY = 2_000;

export class Plane implements Commanded {
  readonly startedAt: Ms;
  readonly workloads: readonly ManagedWorkload[];
  readonly store: TrajectoryStore;
  readonly faults: World["faults"];
  readonly #parts: PlaneParts;
  readonly #world: World;
  readonly #watch: PlaneWatcher | undefined;
  readonly #states: TimedStates;
  readonly #twinStates: TimedStates;
  readonly #loop: ControlLoop;
  readonly #twinLoop: ControlLoop | undefined;
  readonly #fleet: FleetWatch | undefined;
  #boundary: number;
  #steps = 0;
  /** The workload whose turn to be told of it is. */
  #nextTold = 0;
  #updates: PlaneUpdate[] = [];
  #compacting: Promise<void> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isSaved = true;

  constructor(parts: PlaneParts, watch?: PlaneWatcher) {
    const { saved, world, targets, history, controlStep } = parts;
    this.#parts = parts;
    this.#world = world;
    this.#watch = watch;
    this.store = parts.store;
    this.faults = world.faults;
    const now = () => this.now;
    const start = now();
    this.startedAt = milliseconds(saved?.startedAt ?? start);
    this.#boundary = start + controlStep;
    const hasTwin = world.twin !== undefined;
    this.workloads = targets.map((target) => manage(target, { saved, history, controlStep, now: start, hasTwin }));
    const { fleet } = world;
    if (fleet) this.#fleet = new FleetWatch({ fleet, workloads: this.workloads, controlStep, now: start });
    this.#states = new TimedStates(parts.states, now);
    this.#twinStates = new TimedStates(parts.twinStates, now);
    this.#loop = this.#openLoop(world, this.#states, true);
    if (world.twin !== undefined) this.#twinLoop = this.#openLoop(world.twin, this.#twinStates, false);
  }

  get now(): Ms {
    return this.#world.clock.clock.now();
  }

  get seed(): number {
    return this.#parts.seed;
  }

  /** Of the workloads, each once. */
  get tasks(): readonly string[] {
    return [...new Set(this.workloads.map(({ target }) => target.view.name))];
  }

  /** Steps of world time since it was opened. */
  get steps(): number {
    return this.#steps;
  }

  #openLoop({ telemetry, actuator, nodes }: WorldSide, state: StateStore, isManaged: boolean): ControlLoop {
    const { store, twinStore, trainer, speed, controlStep } = this.#parts;
    // Limits are of the wall's time, and the clock may be a world's, which passes faster.
    const isMoved = this.#world.clock.kind === "moved";
    const walls = (n: number): Ms => milliseconds(isMoved ? Math.max(600_000, n * 1_000 * speed) : n * 1_000);
    const watcher = isManaged ? this.#watch?.watcher : undefined;
    return new ControlLoop({
      clock: this.#world.clock.clock,
      telemetry,
      actuator,
      ...(nodes ? { nodes } : {}),
      store: isManaged ? store : twinStore,
      events: { write: async (events) => (isManaged ? this.#hear(events) : undefined) },
      state,
      ...(isManaged ? { trainer } : {}),
      ...(watcher ? { watcher } : {}),
      config: {
        period: controlStep,
        look: walls(3),
        act: walls(3),
        state: walls(10),
        training: walls(120),
        recall: walls(30),
      },
    });
  }

  /**
   * Gives the agents and the twin's rules their turns, and the first step to everybody: an agent finds its saved state in
   * its first turn, and before that nobody can say in which stage it is, or change it.
   */
  async begin(): Promise<Result<void>> {
    for (const { target, agent, createRules } of this.workloads) {
      const added = this.#loop.add({ agent: agent.id, workload: target.id, create: () => agent.slot() });
      if (!added.ok) return added;
      const rules = this.#twinLoop?.add({ agent: agent.id, workload: target.id, create: createRules });
      if (rules !== undefined && !rules.ok) return rules;
    }
    for (const workload of this.workloads) this.tellWorkload(workload);
    // Durable before the first turn, so that a start that is killed at once is not repeated at the very same moment.
    const saved = this.save();
    while (saved.ok && this.#steps === 0) await this.advance();
    return saved;
  }

  /** To the next moment at which anything is due. */
  async advance(): Promise<void> {
    const { clock } = this.#world;
    if (clock.kind === "moved")
      return this.#alone(async () => {
        const next = this.nextMoment;
        clock.advance(milliseconds(next));
        if (next >= this.#boundary) this.#endStep();
        clock.clock.advanceTo(milliseconds(next));
        await this.#settle();
      });
    // Nobody is kept waiting by a plane that sleeps.
    await clock.clock.sleep(milliseconds(Math.max(0, this.#boundary - this.now)));
    return this.#alone(async () => this.#endStep());
  }

  /** When that is. */
  get nextMoment(): number {
    const { clock } = this.#world;
    return clock.kind === "moved" ? Math.min(clock.clock.nextDue, this.#boundary) : this.#boundary;
  }

  /** Turns are over when every promise that could go on has gone on. */
  async #settle(): Promise<void> {
    do await this.#parts.settle();
    while (this.#states.isBeingRead || this.#twinStates.isBeingRead);
    if (this.#parts.isLockstep) await this.#parts.idle();
  }

  /** Steps and commands never overlap: nobody changes an agent in the middle of its turn. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#last.then(work);
    this.#last = run.catch(() => undefined);
    return run;
  }

  // ── Measuring ────────────────────────────────────────────────────────────────────────────────────────

  #endStep(): void {
    const at = milliseconds(this.#boundary);
    this.#boundary += this.#parts.controlStep;
    this.#steps += 1;
    for (const happened of this.#world.events?.moveTo(at) ?? []) this.#tellHappened(happened, at);
    const samples = this.workloads.flatMap((workload) => this.#measure(workload, at) ?? []);
    this.#updates.push({ kind: "samples", at, samples });
    this.#tellFleet(at);
    this.#tellSomeAgents();
    if (this.#steps % COMPACT_EVERY === 0) this.#compact();
  }

  /** Undefined while nobody knows what the workload has. */
  #measure(workload: ManagedWorkload, at: Ms) {
    const { target, agent, twinSeen } = workload;
    const own = measureStep(agent.seen, { side: this.#world, target, slo: agent.slo });
    const twin = twinSeen && measureStep(twinSeen, { side: this.#world.twin, target, slo: agent.slo });
    if (own === null) return undefined;
    this.#fleet?.add(target.id, own.measured, twin?.measured ?? null);
    workload.account = addTo(workload.account, own.measured);
    if (twin && workload.twinAccount) workload.twinAccount = addTo(workload.twinAccount, twin.measured);
    const { preservation } = own.measured;
    const budget = spendBudget(workload, { at, preservation }, this.#parts.controlStep);
    const before = workload.trouble;
    const causes = this.#world.events?.causesOf(target.id) ?? [];
    workload.trouble = workload.troubles.see({ at, ...own, slo: agent.slo, acting: agent.acting, causes });
    this.#tellTrouble(workload, before, at);
    return {
      workload: target.id,
      sample: sampleOf(at, { ...own, expected: agent.takeExpected() }),
      twin: twin && sampleOf(at, { ...twin, expected: null }),
      account: workload.account,
      twinAccount: workload.twinAccount,
      budget,
    };
  }

  #tellFleet(at: Ms): void {
    if (this.#fleet === undefined) return;
    const { hasNews, left } = this.#fleet.endStep(at);
    for (const workload of this.workloads.filter(({ target }) => left.includes(target.id))) {
      workload.troubles.forget();
      if (workload.trouble === null) continue;
      // That it went was told; that it keeps its SLO again would be wrong.
      workload.trouble = null;
      this.tellWorkload(workload);
    }
    if (hasNews) this.#updates.push({ kind: "fleet", fleet: this.#fleet.document(at) });
  }

  /** One event when it begins and one when it is over, however many steps lie between. */
  #tellTrouble(workload: ManagedWorkload, before: Trouble | null, at: Ms): void {
    const { trouble, target } = workload;
    const { title } = target;
    const isNew = (before === null) !== (trouble === null);
    if (before === null && trouble !== null)
      this.say({ severity: "warning", kind: "slo", text: `${title}: ${troubleText(trouble)}`, workload });
    if (before !== null && trouble === null) {
      const text = `${title}: keeps ${objectiveOf(target.view)} again, after ${lasting(at - before.since)}`;
      this.say({ severity: "notice", kind: "slo", text, workload });
    }
    // The sentence has the newest figures: once a minute is often enough.
    if (isNew || (trouble !== null && this.#steps % 4 === 0)) this.tellWorkload(workload);
  }

  // ── Telling ──────────────────────────────────────────────────────────────────────────────────────────

  /** What has not been told yet, in order. */
  takeUpdates(wall = 0): readonly PlaneUpdate[] {
    const updates = this.#updates;
    this.#updates = [];
    const own = this.#watch?.updates(this.#loop.status, { world: this.now, wall }) ?? [];
    return own.length === 0 ? updates : [...updates, ...own];
  }

  tellWorkload(workload: ManagedWorkload): void {
    this.#updates.push(this.#workloadUpdate(workload));
  }

  #workloadUpdate(workload: ManagedWorkload): PlaneUpdate {
    const { target, agent, trouble, revision } = workload;
    const { id, title, view } = target;
    return {
      kind: "workload",
      workload: {
        id,
        task: view.name,
        title,
        slo: agent.slo,
        judgedBy: view.judgedBy ?? null,
        objective: target.objective ?? null,
        twinRules: twinRulesOf(workload),
        knobs: view.knobs,
        agent: agent.id,
        release: this.#world.events?.releaseOf(id) ?? null,
        trouble,
        faults: this.faults === undefined ? OWN_FAULTS : allFaults,
        revision,
      },
    };
  }

  /** What was told before a restart, behind the workloads that it is about; once. */
  takePast(): readonly PlaneUpdate[] {
    return [...this.workloads.map((one) => this.#workloadUpdate(one)), ...this.#parts.history.takePast()];
  }

  /**
   * A few at a step, in turn: whoever began together ends episodes together, and the documents of all of them at once
   * would hold up whoever asks the server meanwhile. The first look is everybody's, and a move waits for nobody.
   */
  #tellSomeAgents(): void {
    const first = this.#nextTold;
    let room = this.#steps === 1 ? this.workloads.length : AGENTS_PER_STEP;
    for (const workload of [...this.workloads.slice(first), ...this.workloads.slice(0, first)]) {
      const { hasNews, moves, savedMoves } = workload.agent;
      if (!hasNews || (room <= 0 && moves === savedMoves)) continue;
      this.tellAgent(workload);
      room -= 1;
      if (room === 0) this.#nextTold = this.workloads.indexOf(workload) + 1;
    }
  }

  tellAgent({ agent }: ManagedWorkload): void {
    agent.hasNews = false;
    this.#updates.push({ kind: "agent", agent: agent.document() });
  }

  say(what: Saying): void {
    const { severity, kind, text, workload, at = this.now, evidence = null } = what;
    const { target, agent } = workload;
    const event = { at, severity, kind, workload: target.id, agent: agent.id, text, evidence };
    this.#updates.push({ kind: "event", event });
  }

  #hear(events: readonly LoopEvent[]): void {
    this.#watch?.note(events);
    for (const event of events) {
      const workload = this.workloads.find(({ target }) => target.id === event.workload);
      if (workload === undefined) continue;
      // Its saved state may be read late, after a failing disk, and a paused agent has no other news.
      if (event.kind === "restarted") workload.agent.hasNews = true;
      if (event.kind === "decision") {
        const decision = decisionOf(workload, event);
        workload.agent.decided(decision);
        this.#updates.push({ kind: "decision", decision });
      }
      const told = eventText(event, { title: workload.target.title, fallback: workload.target.fallback.title });
      if (told === undefined) continue;
      const evidence = event.kind === "agent" ? plain(event.event.evidence) : null;
      this.say({ ...told, workload, at: event.at, evidence });
    }
  }

  #tellHappened({ workload: id, severity, kind, text }: WorldEvent, at: Ms): void {
    const workload = this.workloads.find(({ target }) => target.id === id);
    if (workload === undefined) return;
    this.say({ severity, kind, text: `${workload.target.title}: ${text}`, workload, at });
    this.tellWorkload(workload);
  }

  command(command: Command, revision: number | null): Promise<Result<CommandAnswer>> {
    return this.#alone(() => obey(this, command, revision));
  }

  /** For all agents at once. */
  setModes(mode: ModeName): Promise<Result<void>> {
    return this.#alone(async () => setAllModes(this, mode));
  }

  // ── Surviving ────────────────────────────────────────────────────────────────────────────────────────

  /** On disk when it returns, where anything is kept. */
  save(): Result<void> {
    const saved = this.#parts.saves?.write(this.#document()) ?? ok(undefined);
    this.#isSaved = saved.ok;
    return saved;
  }

  /** Whoever relies on it relies on what it remembers too. */
  readiness(): Readiness {
    const unread = this.workloads.filter(({ agent }) => !this.#states.isKnown(agent.id)).length;
    const { unsaved } = this.#states;
    const { damaged } = this.#parts.history;
    const lost = `${counted(damaged, "line")} of what was measured and told cannot be read, and ${damaged === 1 ? "is" : "are"} left out`;
    const states = this.#states.damaged + this.#twinStates.damaged;
    const other = `${counted(states, "agent")} or twins have a saved state that cannot be read, and go on from another or anew`;
    return {
      reasons: [
        ...(unread > 0 ? [`what was saved of ${counted(unread, "agent")} has not been read yet`] : []),
        ...(unsaved > 0 ? [`the state of ${counted(unsaved, "agent")} cannot be saved`] : []),
        ...(this.#isSaved ? [] : ["the state of the control plane cannot be saved"]),
      ],
      notes: [...(damaged > 0 ? [lost] : []), ...(states > 0 ? [other] : [])],
    };
  }

  /** The agent's own state, and the plane's with it. */
  async saveAgent({ agent }: ManagedWorkload): Promise<Result<void>> {
    if (!this.#states.isKnown(agent.id)) return err(unread(agent.id));
    const { moves } = agent;
    const saved = await this.#states.write(agent.id, agent.save(), new AbortController().signal);
    if (!saved.ok) return saved;
    agent.savedMoves = moves;
    return this.save();
  }

  /**
   * What has not been told yet, in order and on disk: whoever was shown something is shown it again after the process was
   * killed. `wall`: milliseconds of any clock, for what is told by the wall's time.
   */
  tell(wall = 0): Promise<Result<readonly PlaneUpdate[]>> {
    return this.#alone(async () => {
      const updates = this.takeUpdates(wall);
      for (const workload of this.workloads) {
        const { id, moves, savedMoves } = workload.agent;
        // What could not be read yet must not be written over: such an agent begins on its first day, and is told so.
        if (moves === savedMoves || !this.#states.isKnown(id)) continue;
        // The loop saves it too, but nobody waits for that.
        const saved = await this.saveAgent(workload);
        if (!saved.ok) return saved;
      }
      const written = this.#parts.history.append(updates);
      return written.ok ? ok(updates) : written;
    });
  }

  #document(): SavedPlane {
    return {
      seed: this.seed,
      startedAt: this.startedAt,
      at: this.now,
      workloads: Object.fromEntries(this.workloads.map((one) => [one.target.id, savedWorkload(one)])),
      agents: Object.fromEntries(this.workloads.map(({ agent }) => [agent.id, { ...agent.wishes }])),
      faults: [...(this.faults?.active ?? [])],
    };
  }

  /** Replay is capped and the rest stays in the store, which has its limit too. */
  #compact(): void {
    if (this.#compacting !== undefined) return;
    const { mostRecords } = this.#parts;
    this.#compacting = compact(this.store, { maxRecords: mostRecords, keepTop: 20, keepBottom: 20 }).then(
      () => {
        this.#compacting = undefined;
      },
      (thrown: unknown) => {
        this.#compacting = undefined;
        const [workload] = this.workloads;
        const words = thrown instanceof Error ? thrown.message : String(thrown);
        const text = `old trajectories stay: ${words}`;
        if (workload) this.say({ severity: "warning", kind: "store", text, workload });
      },
    );
  }

  /** No more turns; everything is saved and delivered. */
  async close(): Promise<Result<void>> {
    return this.#alone(async () => {
      await Promise.all([this.#loop.stop(), this.#twinLoop?.stop()]);
      await this.#compacting;
      const saved = this.save();
      const { history, twinStore } = this.#parts;
      // What the last turns said: to be taken after this.
      const written = history.append(this.#updates);
      history.close();
      await this.store.close();
      await twinStore.close();
      return saved.ok ? written : saved;
    });
  }
}

const lasting = (ms: number): string =>
  ms < 60_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`;

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

const unread = (agent: AgentId) =>
  failure("plane.unread", `what was saved of ${agent} could not be read yet, so nothing is written over it`, {
    retry: true,
  });

/** What crosses threads and JSON: no typed arrays, no causes. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null)) as unknown;
