/**
 * The control plane of the demonstration cluster. START READING HERE.
 * Owns: moving the world's time, measuring both worlds at every control step, telling it as updates, and what survives.
 * Not here: deciding (control/lifecycle, through control/loop), commands (commands.ts), threads (plane-worker.ts), the
 * HTTP side (server).
 *
 * Time is the world's: both loops sleep by a clock that moves only when the worlds have been moved first. So everything
 * that a turn needs has happened when it begins, and how fast the wall's time passes changes nothing but the training,
 * which runs beside. With `isLockstep` the world waits for training too, and the same seed gives the same updates.
 */
import { setImmediate as nextLoopTurn } from "node:timers/promises";
import type { AgentId, Ms, Result } from "../../base/index.ts";
import { err, failure, ManualClock, milliseconds, ok, parseAgentId, seconds, unwrap } from "../../base/index.ts";
import type { EventSink, LoopEvent, StateStore } from "../../control/loop/index.ts";
import { ControlLoop } from "../../control/loop/index.ts";
import type { TrajectoryStore } from "../../learn/trajectory/index.ts";
import { compact } from "../../learn/trajectory/index.ts";
import type { Slo } from "../../observe/telemetry/index.ts";
import type { Command, PlaneUpdate, Trouble } from "../../server/index.ts";
import type { ClusterWorld, EventClusterWorld } from "../../sim/index.ts";
import { simActuator } from "../../sim/index.ts";
import type { CommandAnswer } from "./commands.ts";
import { obey } from "./commands.ts";
import { decisionOf } from "./decisions.ts";
import { DemoAgent } from "./demo-agent.ts";
import { bounds, guardLimits } from "./demo-cluster.ts";
import { fallbackOf, historyOf } from "./demo-rules.ts";
import type { DemoWorkload } from "./demo-workloads.ts";
import { eventText } from "./event-texts.ts";
import type { ActiveFault } from "./faults.ts";
import type { Happened } from "./happenings.ts";
import { Happenings } from "./happenings.ts";
import { addTo, allocationDocument, emptyAccount, sampleOf } from "./measure.ts";
import type { PlaneParts } from "./plane-parts.ts";
import type { PlaneWatch } from "./plane-watch.ts";
import { rulesSeat } from "./rules-seat.ts";
import type { SavedPlane } from "./saved-plane.ts";
import { writePlane } from "./saved-plane.ts";
import { TimedStates } from "./timed-states.ts";
import { TroubleWatch } from "./trouble.ts";
import type { Commanded, Saying, Ward } from "./ward.ts";
import { nodeSource, openWorld, WorldTelemetry } from "./worlds.ts";

export const CONTROL_STEP: Ms = seconds(15);
/** Documents of agents, which carry their histories, that are told with one step. */
const AGENTS_PER_STEP = 6;
/** Steps between two looks at how much the trajectory store holds. */
const COMPACT_EVERY = 2_000;

export class Plane implements Commanded {
  readonly startedAt: Ms;
  readonly wards: readonly Ward[];
  readonly store: TrajectoryStore;
  readonly #parts: PlaneParts;
  readonly #watch: PlaneWatch | undefined;
  readonly #clock: ManualClock;
  readonly #managed: EventClusterWorld;
  readonly #twin: EventClusterWorld;
  readonly #telemetry: WorldTelemetry;
  readonly #twinTelemetry: WorldTelemetry;
  readonly #states: TimedStates;
  readonly #twinStates: TimedStates;
  readonly #loop: ControlLoop;
  readonly #twinLoop: ControlLoop;
  #boundary: number;
  #steps = 0;
  /** The ward whose turn to be told of it is. */
  #nextTold = 0;
  readonly #happenings: Happenings;
  #updates: PlaneUpdate[] = [];
  #compacting: Promise<void> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: PlaneParts, watch?: PlaneWatch) {
    const { seed, saved, start } = parts;
    this.#parts = parts;
    this.#watch = watch;
    this.store = parts.store;
    this.startedAt = milliseconds(saved?.startedAt ?? start);
    this.#clock = new ManualClock(start);
    this.#boundary = start + CONTROL_STEP;
    const { workloads } = parts;
    const { startedAt } = this;
    this.#happenings = new Happenings({ workloads, faults: saved?.faults ?? [], startedAt, now: start });
    this.wards = parts.workloads.map((workload, slot) => this.#wardOf(workload, slot));
    const placed = (which: "have" | "twinHave") =>
      this.wards.map(({ workload, agent }) => ({
        workload,
        application: this.#happenings.softwareOf(workload),
        slo: agent.slo,
        have: (saved?.workloads[workload.id]?.[which] ?? workload.initial) as DemoWorkload["initial"],
      }));
    this.#managed = openWorld(placed("have"), { seed, start });
    this.#twin = openWorld(placed("twinHave"), { seed, start });
    this.#happenings.enter([this.#managed, this.#twin]);
    const isLost = (workload: string) => this.#happenings.isTelemetryLost(workload);
    this.#telemetry = new WorldTelemetry(this.#managed, isLost);
    this.#twinTelemetry = new WorldTelemetry(this.#twin, isLost);
    const now = () => this.#clock.now();
    this.#states = new TimedStates(parts.states, now);
    this.#twinStates = new TimedStates(parts.twinStates, now);
    this.#loop = this.#openLoop(this.#managed, {
      telemetry: this.#telemetry,
      states: this.#states,
      events: { write: async (events) => this.#hear(events) },
      isManaged: true,
    });
    this.#twinLoop = this.#openLoop(this.#twin, {
      telemetry: this.#twinTelemetry,
      states: this.#twinStates,
      events: { write: async () => undefined },
      isManaged: false,
    });
  }

  get now(): Ms {
    return this.#clock.now();
  }

  get seed(): number {
    return this.#parts.seed;
  }

  /** Steps of world time since it was opened. */
  get steps(): number {
    return this.#steps;
  }

  #wardOf(workload: DemoWorkload, slot: number): Ward {
    const { saved, history, start, seed, kernels, shared } = this.#parts;
    const id = unwrap(parseAgentId(`${workload.id}-agent`));
    const before = saved?.workloads[workload.id];
    // What was told is newer than what was saved, or as old.
    const told = history.accounts.get(workload.id);
    return {
      workload,
      agent: new DemoAgent({
        id,
        workload,
        slo: (before?.slo ?? workload.slo) as Slo,
        wishes: saved?.agents[id] ?? { mode: "act", isPaused: false, revision: 1 },
        kernels,
        shared,
        seed: seed + 101 * (slot + 1),
        startedAt: this.startedAt,
        now: start,
      }),
      troubles: new TroubleWatch(before?.troubleSince ?? null),
      trouble: null,
      account: told?.own ?? before?.account ?? emptyAccount,
      twinAccount: told?.twin ?? before?.twinAccount ?? emptyAccount,
      revision: before?.revision ?? 1,
    };
  }

  #openLoop(
    world: ClusterWorld,
    {
      telemetry,
      states,
      events,
      isManaged,
    }: { telemetry: WorldTelemetry; states: StateStore; events: EventSink; isManaged: boolean },
  ): ControlLoop {
    const { store, twinStore, trainer, speed } = this.#parts;
    // Limits are of the wall's time and the clock is the world's, which passes faster.
    const walls = (n: number): Ms => milliseconds(Math.max(600_000, n * 1_000 * speed));
    return new ControlLoop({
      clock: this.#clock,
      telemetry,
      actuator: simActuator(world),
      nodes: nodeSource(world),
      store: isManaged ? store : twinStore,
      events,
      state: states,
      ...(isManaged ? { trainer } : {}),
      ...(isManaged && this.#watch?.watcher ? { watcher: this.#watch.watcher } : {}),
      config: {
        period: CONTROL_STEP,
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
    for (const { workload, agent } of this.wards) {
      const added = this.#loop.add({ agent: agent.id, workload: workload.id, create: () => agent.seat() });
      if (!added.ok) return added;
      const rules = this.#twinLoop.add({
        agent: agent.id,
        workload: workload.id,
        create: () =>
          rulesSeat({
            workload: workload.id,
            fallback: fallbackOf(workload),
            start: { history: historyOf(workload, this.startedAt) },
            limits: guardLimits,
          }),
      });
      if (!rules.ok) return rules;
    }
    for (const ward of this.wards) this.tellWorkload(ward);
    // Durable before the first turn, so that a start that is killed at once is not repeated at the very same moment.
    const saved = this.save();
    while (saved.ok && this.#steps === 0) await this.advance();
    return saved;
  }

  /** To the next moment at which anything is due. */
  advance(): Promise<void> {
    return this.#alone(async () => {
      const next = Math.min(this.#clock.nextDue, this.#boundary);
      for (const world of [this.#managed, this.#twin]) world.advance(milliseconds(Math.max(world.now, next)));
      if (next >= this.#boundary) this.#endStep();
      this.#clock.advanceTo(milliseconds(next));
      await this.#settle();
    });
  }

  /** When that is. */
  get nextMoment(): number {
    return Math.min(this.#clock.nextDue, this.#boundary);
  }

  /** Turns are over when every promise that could go on has gone on. */
  async #settle(): Promise<void> {
    do await nextLoopTurn();
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
    this.#boundary += CONTROL_STEP;
    this.#steps += 1;
    for (const happened of this.#happenings.moveTo(this.#managed.now)) this.#tellHappened(happened);
    const at = this.#managed.now;
    const samples = this.wards.map((ward) => this.#measure(ward));
    this.#updates.push({ kind: "samples", at, samples });
    this.#tellSomeAgents();
    if (this.#steps % COMPACT_EVERY === 0) this.#compact();
  }

  #measure(ward: Ward) {
    const { workload, agent } = ward;
    const { id } = workload;
    const { task } = agent;
    const truth = this.#managed.truth(id);
    const twinTruth = this.#twin.truth(id);
    const have = this.#managed.allocation(id);
    const sample = sampleOf({ truth, have, ready: this.#telemetry.ready(id), task });
    const twinHave = this.#twin.allocation(id);
    const twin = sampleOf({ truth: twinTruth, have: twinHave, ready: this.#twinTelemetry.ready(id), task });
    ward.account = addTo(ward.account, truth, sample);
    ward.twinAccount = addTo(ward.twinAccount, twinTruth, twin);
    const before = ward.trouble;
    ward.trouble = ward.troubles.see({
      sample,
      slo: agent.slo,
      acting: agent.acting,
      oomKills: truth.oomKills,
      most: bounds.replicas.max,
      causes: this.#happenings.causesOf(id),
    });
    this.#tellTrouble(ward, before);
    return { workload: id, sample, twin, account: ward.account, twinAccount: ward.twinAccount };
  }

  /** One event when it begins and one when it is over, however many steps lie between. */
  #tellTrouble(ward: Ward, before: Trouble | null): void {
    const { trouble, workload } = ward;
    const { title } = workload;
    const isNew = (before === null) !== (trouble === null);
    if (before === null && trouble !== null)
      this.say({ severity: "warning", kind: "slo", text: `${title}: ${trouble.what}`, ward });
    if (before !== null && trouble === null) {
      const minutes = Math.max(1, Math.round((this.#managed.now - before.since) / 60_000));
      this.say({ severity: "notice", kind: "slo", text: `${title}: keeps its SLO again, after ${minutes} min`, ward });
    }
    // The sentence has the newest figures: once a minute is often enough.
    if (isNew || (trouble !== null && this.#steps % 4 === 0)) this.tellWorkload(ward);
  }

  // ── Telling ──────────────────────────────────────────────────────────────────────────────────────────

  /** What has not been told yet, in order. */
  takeUpdates(wall = 0): readonly PlaneUpdate[] {
    const updates = this.#updates;
    this.#updates = [];
    const own = this.#watch?.updates(this.#loop.status, { world: this.now, wall }) ?? [];
    return own.length === 0 ? updates : [...updates, ...own];
  }

  tellWorkload(ward: Ward): void {
    this.#updates.push(this.#workloadUpdate(ward));
  }

  #workloadUpdate({ workload: { id, title }, agent, trouble, revision }: Ward): PlaneUpdate {
    const release = this.#happenings.releaseOf(id);
    return { kind: "workload", workload: { id, title, slo: agent.slo, agent: agent.id, release, trouble, revision } };
  }

  /** What was told before a restart, behind the workloads that it is about; once. */
  takePast(): readonly PlaneUpdate[] {
    return [...this.wards.map((ward) => this.#workloadUpdate(ward)), ...this.#parts.history.takePast()];
  }

  /**
   * A few at a step, in turn: whoever began together ends episodes together, and the documents of all of them at once
   * would hold up whoever asks the server meanwhile. The first look is everybody's, and a move waits for nobody.
   */
  #tellSomeAgents(): void {
    const first = this.#nextTold;
    let room = this.#steps === 1 ? this.wards.length : AGENTS_PER_STEP;
    for (const ward of [...this.wards.slice(first), ...this.wards.slice(0, first)]) {
      const { hasNews, moves, savedMoves } = ward.agent;
      if (!hasNews || (room <= 0 && moves === savedMoves)) continue;
      this.tellAgent(ward);
      room -= 1;
      if (room === 0) this.#nextTold = this.wards.indexOf(ward) + 1;
    }
  }

  tellAgent({ agent }: Ward): void {
    agent.hasNews = false;
    this.#updates.push({ kind: "agent", agent: agent.document() });
  }

  say(what: Saying): void {
    const { severity, kind, text, ward, at = this.now, evidence = null } = what;
    const event = { at, severity, kind, workload: ward.workload.id, agent: ward.agent.id, text, evidence };
    this.#updates.push({ kind: "event", event });
  }

  #hear(events: readonly LoopEvent[]): void {
    this.#watch?.note(events);
    for (const event of events) {
      const ward = this.wards.find(({ workload }) => workload.id === event.workload);
      if (ward === undefined) continue;
      // Its saved state may be read late, after a failing disk, and a paused agent has no other news.
      if (event.kind === "restarted") ward.agent.hasNews = true;
      if (event.kind === "decision") this.#updates.push({ kind: "decision", decision: decisionOf(ward, event) });
      const told = eventText(event, ward.workload.title);
      if (told === undefined) continue;
      const evidence = event.kind === "agent" ? plain(event.event.evidence) : null;
      this.say({ ...told, ward, at: event.at, evidence });
    }
  }

  // ── Faults, commands ─────────────────────────────────────────────────────────────────────────────────

  addFault(ward: Ward, fault: ActiveFault): void {
    this.#happenings.addFault(ward.workload, fault);
  }

  #tellHappened({ workload, severity, kind, text }: Happened): void {
    const ward = this.wards.find((one) => one.workload.id === workload);
    if (ward === undefined) return;
    this.say({ severity, kind, text: `${ward.workload.title}: ${text}`, ward, at: this.#managed.now });
    this.tellWorkload(ward);
  }

  command(command: Command, revision: number | null): Promise<Result<CommandAnswer>> {
    return this.#alone(() => obey(this, command, revision));
  }

  // ── Surviving ────────────────────────────────────────────────────────────────────────────────────────

  /** On disk when it returns. Without a folder nothing is kept. */
  save(): Result<void> {
    const { folder } = this.#parts;
    return folder === null ? ok(undefined) : writePlane(folder, this.#document());
  }

  /** The agent's own state, and the plane's with it. */
  async saveAgent({ agent }: Ward): Promise<Result<void>> {
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
      for (const ward of this.wards) {
        const { id, moves, savedMoves } = ward.agent;
        // What could not be read yet must not be written over: such an agent begins on its first day, and is told so.
        if (moves === savedMoves || !this.#states.isKnown(id)) continue;
        // The loop saves it too, but nobody waits for that.
        const saved = await this.saveAgent(ward);
        if (!saved.ok) return saved;
      }
      const written = this.#parts.history.append(updates);
      return written.ok ? ok(updates) : written;
    });
  }

  #document(): SavedPlane {
    return {
      schema: 2,
      seed: this.seed,
      startedAt: this.startedAt,
      at: this.now,
      workloads: Object.fromEntries(
        this.wards.map(({ workload: { id }, agent, revision, account, twinAccount, troubles }) => [
          id,
          {
            slo: agent.slo,
            revision,
            have: allocationDocument(this.#managed.allocation(id)),
            twinHave: allocationDocument(this.#twin.allocation(id)),
            account,
            twinAccount,
            troubleSince: troubles.since,
          },
        ]),
      ),
      agents: Object.fromEntries(
        this.wards.map(({ agent }) => [agent.id as AgentId, agent.wishes]),
      ) as SavedPlane["agents"],
      faults: [...this.#happenings.faults],
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
        const [ward] = this.wards;
        const words = thrown instanceof Error ? thrown.message : String(thrown);
        if (ward) this.say({ severity: "warning", kind: "store", text: `old trajectories stay: ${words}`, ward });
      },
    );
  }

  /** No more turns; everything is saved and delivered. */
  async close(): Promise<Result<void>> {
    return this.#alone(async () => {
      await Promise.all([this.#loop.stop(), this.#twinLoop.stop()]);
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

const unread = (agent: AgentId) =>
  failure("plane.unread", `what was saved of ${agent} could not be read yet, so nothing is written over it`, {
    retry: true,
  });

/** What crosses threads and JSON: no typed arrays, no causes. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null)) as unknown;
