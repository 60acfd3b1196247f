/**
 * The coordinator's side of a fleet whose agents are in other processes: sessions, steps, and the platform that is acted on.
 * Owns: who is waited for, when a step is closed, what becomes of members that say nothing or nonsense: rules act for them.
 * Not here: membership and sums (coordinator.ts), the platform (control/tasks/functions), messages as bytes (adapters/nats).
 *
 * Pure but for what the platform does: time and sessions' names are arguments. A process is trusted with nothing: each choice passes
 * the function's own guard, names are bound to sessions, and who asks too often is answered with a code, then not at all.
 */
import {
  CodedError,
  err,
  type Failure,
  failure,
  type Ms,
  milliseconds,
  ok,
  type Result,
  type WorkloadId,
} from "../../base/index.ts";
import type { FunctionReading } from "../../observe/telemetry/index.ts";
import type { Fallback } from "../index.ts";
import {
  type Fleet,
  type FleetDecision,
  type FleetFunction,
  type FleetWorld,
  type FunctionSetting,
  functionChoices,
  type Pool,
} from "../tasks/functions/index.ts";
import type { Coordinator, Membership } from "./coordinator.ts";
import type {
  JoinAnswer,
  JoinRequest,
  MemberAnswer,
  MemberReport,
  MemberSight,
  StepAnswer,
  StepRequest,
} from "./fleet-protocol.ts";
import { usualCharge, type VariantName } from "./variants.ts";

export interface FleetHostOptions<F extends FleetFunction, W extends FleetWorld<F>> {
  /** In an episode without an end. */
  readonly fleet: Fleet<F, W>;
  readonly coordinator: Coordinator;
  readonly variant: VariantName;
  readonly contextSize: number;
  readonly pool: Pool;
  readonly groupOf?: (workload: WorkloadId) => string;
  /** Acts for functions whose agent is gone, late or talks nonsense. */
  readonly rules: (workload: WorkloadId) => Fallback<unknown, FunctionReading, FunctionSetting>;
  /** Time between two closings at least, and how long members are waited for beyond it. */
  readonly pace: Ms;
  readonly patience: Ms;
}

/** What outlives the coordinator's process, so that a restarted one knows its members. */
export interface KeptMember {
  readonly agent: WorkloadId;
  readonly incarnation: number;
  readonly group: string;
  readonly session: string;
  /** What its process was told of the pool when it joined, as text. */
  readonly terms: string;
  readonly values: readonly number[] | null;
}

export interface MemberState extends Membership {
  readonly process: string;
  /** Transitions that it said are on its disk. */
  readonly kept: number;
  /** Who acted for it in the last step: itself, or the rules by name. */
  readonly actor: string;
  readonly lastRefusal: string | null;
}

export interface HostState {
  readonly step: number;
  readonly members: readonly MemberState[];
  readonly rules: string;
  /** Functions of the pool without a member: rules act for them. */
  readonly unattended: readonly WorkloadId[];
  readonly refusals: Readonly<Record<string, number>>;
}

/** Requests of one session for one open step, and joins of one agent within one: a busy network may send something twice. */
const MOST_ASKED = 8;
/** From here on nothing is answered. */
const MOST_ANSWERED = 32;

interface Seat {
  readonly session: string;
  readonly incarnation: number;
  readonly process: string;
  kept: number;
  actor: string;
  lastRefusal: string | null;
  /** Waited for: it has just joined, or was there in the last step. */
  isAwaited: boolean;
  hasSpoken: boolean;
}

interface Asked {
  readonly request: StepRequest;
  readonly refused: ReadonlyMap<WorkloadId, Failure>;
}

export class FleetHost<F extends FleetFunction, W extends FleetWorld<F> = FleetWorld<F>> {
  readonly #options: FleetHostOptions<F, W>;
  readonly #seats = new Map<WorkloadId, Seat>();
  readonly #rules = new Map<
    WorkloadId,
    { readonly fallback: Fallback<unknown, FunctionReading, FunctionSetting>; state: unknown }
  >();
  /** Of the open step, by session. */
  readonly #asked = new Map<string, Asked>();
  readonly #counts = new Map<string, number>();
  readonly #joins = new Map<WorkloadId, number>();
  readonly #choices = new Map<WorkloadId, number>();
  readonly #refusals = new Map<string, number>();
  #openedAt: Ms;

  constructor(options: FleetHostOptions<F, W>, now: Ms) {
    this.#options = options;
    this.#openedAt = now;
    for (const { id } of options.fleet.functions) {
      const fallback = options.rules(id);
      this.#rules.set(id, { fallback, state: fallback.start() });
    }
  }

  /**
   * Members that an earlier coordinator of the pool wrote down: they go on without joining again. Where its settings were others,
   * such as the variant, what they were told no longer holds: their session is not known, and they join again.
   */
  restore(
    members: readonly KeptMember[],
    { step, lastIncarnation, now }: { readonly step: number; readonly lastIncarnation: number; readonly now: Ms },
  ): void {
    const terms = this.#terms();
    const known = members.filter((member) => this.#rules.has(member.agent) && member.terms === terms);
    this.#options.coordinator.restore({
      step,
      lastIncarnation,
      members: known.map(({ agent, incarnation, group, values }) => ({
        agent,
        incarnation,
        group,
        values,
        seenAt: now,
      })),
    });
    for (const { agent, session, incarnation } of known)
      this.#seat(agent, { session, incarnation, process: "as before" });
  }

  /** What is to be kept of those who were heard of since. */
  keep(since: Ms): readonly KeptMember[] {
    const terms = this.#terms();
    return this.#options.coordinator.snapshot().members.flatMap(({ agent, incarnation, group, values, seenAt }) => {
      const seat = this.#seats.get(agent);
      return seat === undefined || seenAt < since
        ? []
        : [{ agent, incarnation, group, values, terms, session: seat.session }];
    });
  }

  join({ name, agents }: JoinRequest, { session, now }: { readonly session: string; readonly now: Ms }): JoinAnswer {
    const { coordinator, variant, contextSize, pool, pace, patience, groupOf } = this.#options;
    const members: JoinAnswer["members"][number][] = [];
    const refused: JoinAnswer["refused"][number][] = [];
    for (const agent of agents) {
      const joined = this.#admit(agent, now, groupOf?.(agent));
      if (!joined.ok) {
        refused.push({ agent, code: this.#count(joined.failure).code, message: joined.failure.message });
        continue;
      }
      const { incarnation, group } = joined.value;
      this.#seat(agent, { session, incarnation, process: name });
      members.push({ agent, incarnation, group, ...this.#sight(agent) });
    }
    return {
      session,
      step: coordinator.step,
      variant,
      contextSize,
      pool,
      stepTakes: pace + patience,
      members,
      refused,
    };
  }

  leave(session: string): readonly WorkloadId[] {
    const { coordinator } = this.#options;
    const gone: WorkloadId[] = [];
    for (const { agent, incarnation } of coordinator.members()) {
      if (this.#seats.get(agent)?.session !== session) continue;
      coordinator.leave(agent, incarnation);
      this.#seats.delete(agent);
      this.#choices.delete(agent);
      gone.push(agent);
    }
    this.#asked.delete(session);
    return gone;
  }

  /**
   * One request of a session, before it is read: false for one that asks so often that it gets no answer, a failure for one that is
   * told so.
   */
  admits(session: string): Result<boolean> {
    const count = (this.#counts.get(session) ?? 0) + 1;
    // Names that nobody has are counted together: they could be made up without end.
    const known = [...this.#seats.values()].some((seat) => seat.session === session);
    const key = known ? session : "";
    const asked = known ? count : (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, asked);
    if (asked > MOST_ANSWERED) return ok(false);
    if (asked > MOST_ASKED)
      return err(
        this.#count(failure("agents.flood", `more than ${MOST_ASKED} requests came for one step; wait for its answer`)),
      );
    if (!known)
      return err(
        this.#count(
          failure("agents.no-session", "this session is not known: it expired, or its agents joined elsewhere; join"),
        ),
      );
    return ok(true);
  }

  /** Undefined: the answer comes with the step's closing. */
  ask(session: string, request: StepRequest, now: Ms): Result<StepAnswer | undefined> {
    const { coordinator } = this.#options;
    if (this.#asked.has(session))
      return err(
        this.#count(
          failure("agents.repeated-step", `this session sent step ${coordinator.step} twice; the first one counts`),
        ),
      );
    if (request.step !== coordinator.step) return ok(this.#late(session, request, now));
    const refused = new Map<WorkloadId, Failure>();
    for (const report of request.members) {
      const taken = this.#take(session, report, now);
      const seat = this.#seatOf(session, report.agent);
      if (seat !== undefined) seat.hasSpoken = true;
      if (taken.ok) continue;
      this.#count(taken.failure);
      refused.set(report.agent, taken.failure);
      if (seat !== undefined) seat.lastRefusal = taken.failure.code;
    }
    this.#asked.set(session, { request, refused });
    return ok(undefined);
  }

  /** When the step is closed at the latest, and whether there is a reason to wait. */
  due(now: Ms): { readonly isDue: boolean; readonly at: Ms } {
    const { pace, patience } = this.#options;
    const seats = [...this.#seats.values()];
    const isWaiting = seats.length === 0 || seats.some(({ isAwaited, hasSpoken }) => isAwaited && !hasSpoken);
    const hasAny = seats.some(({ hasSpoken }) => hasSpoken);
    const at = milliseconds(this.#openedAt + pace + (isWaiting || !hasAny ? patience : 0));
    return { isDue: now >= at, at };
  }

  /** Answers are by session. */
  close(now: Ms): { readonly step: number; readonly answers: ReadonlyMap<string, StepAnswer> } {
    const { coordinator, fleet } = this.#options;
    const closed = coordinator.closeStep(now);
    for (const agent of closed.expired) {
      this.#seats.delete(agent);
      this.#choices.delete(agent);
    }
    const { outcomes } = fleet.step(this.#decisions());
    const answers = new Map<string, StepAnswer>();
    for (const [session, { request, refused }] of this.#asked) {
      const members = request.members.map(({ agent, incarnation }): MemberAnswer => {
        const isMember = this.#isMember(session, agent, incarnation);
        const failed = refused.get(agent) ?? (isMember ? undefined : stale(agent));
        return {
          ...this.#answer(agent, { isMember, failed }),
          acted: isMember && this.#choices.has(agent),
          reward: outcomes.get(agent)?.reward ?? null,
        };
      });
      answers.set(session, { step: closed.step, next: coordinator.step, teamReward: closed.teamReward, members });
    }
    for (const [agent, seat] of this.#seats) {
      seat.actor = this.#choices.has(agent) ? "agent" : this.#ruleName(agent);
      // Nobody waits a second time for one that said nothing.
      seat.isAwaited = seat.hasSpoken;
      seat.hasSpoken = false;
    }
    for (const map of [this.#asked, this.#counts, this.#choices, this.#joins]) map.clear();
    this.#openedAt = now;
    return { step: closed.step, answers };
  }

  state(): HostState {
    const { coordinator, fleet } = this.#options;
    const members = coordinator.members().map((member) => {
      const {
        process = "",
        kept = 0,
        actor = this.#ruleName(member.agent),
        lastRefusal = null,
      } = this.#seats.get(member.agent) ?? {};
      return { ...member, process, kept, actor, lastRefusal };
    });
    const attended = new Set(members.map(({ agent }) => agent));
    const [first] = this.#rules.values();
    return {
      step: coordinator.step,
      members,
      rules: first?.fallback.name ?? "",
      unattended: fleet.agents.filter((agent) => !attended.has(agent)),
      refusals: Object.fromEntries(this.#refusals),
    };
  }

  // ── One member ───────────────────────────────────────────────────────────────────────────────────────

  #admit(agent: WorkloadId, now: Ms, group: string | undefined): Result<Membership> {
    if (!this.#rules.has(agent))
      return err(
        failure("fleet.unknown-agent", `this pool has no function '${agent}'; take names from its configuration`),
      );
    const joins = (this.#joins.get(agent) ?? 0) + 1;
    this.#joins.set(agent, joins);
    if (joins > MOST_ASKED)
      return err(failure("agents.flood", `${agent} joined more than ${MOST_ASKED} times within a step; see who does`));
    return this.#options.coordinator.join(agent, group === undefined ? { now } : { now, group });
  }

  #seat(agent: WorkloadId, whose: Pick<Seat, "session" | "incarnation" | "process">): void {
    this.#choices.delete(agent);
    this.#seats.set(agent, {
      ...whose,
      kept: 0,
      actor: this.#ruleName(agent),
      lastRefusal: null,
      isAwaited: true,
      hasSpoken: false,
    });
  }

  #take(session: string, report: MemberReport, now: Ms): Result<void> {
    const { agent, incarnation, values, reward, choice, kept } = report;
    const seat = this.#seatOf(session, agent);
    if (seat === undefined)
      return err(
        failure(
          "agents.not-yours",
          `${agent} belongs to another process or to none; speak for agents that joined with you`,
        ),
      );
    const { coordinator } = this.#options;
    const taken = coordinator.report({ agent, incarnation, step: coordinator.step, values, reward }, now);
    if (!taken.ok) return taken;
    seat.kept = kept;
    seat.lastRefusal = null;
    if (choice === null) return ok(undefined);
    if (!Number.isInteger(choice) || choice < 0 || choice >= functionChoices.length)
      return err(failure("agents.choice", `${agent} chose ${choice}; choices are 0 to ${functionChoices.length - 1}`));
    this.#choices.set(agent, choice);
    return ok(undefined);
  }

  /** One that is behind, or ahead of a coordinator that began again: told where things stand, at once. */
  #late(session: string, { step, members }: StepRequest, now: Ms): StepAnswer {
    const { coordinator } = this.#options;
    const why = failure("agents.late", `step ${step} is not the one that is open (${coordinator.step}); go on from it`);
    this.#count(why);
    return {
      step: null,
      next: coordinator.step,
      teamReward: null,
      members: members.map(({ agent, incarnation }) => {
        const isMember = this.#isMember(session, agent, incarnation);
        const seat = this.#seatOf(session, agent);
        if (isMember && seat !== undefined) {
          coordinator.heartbeat(agent, incarnation, now);
          seat.isAwaited = true;
        }
        return {
          ...this.#answer(agent, { isMember, failed: isMember ? why : stale(agent) }),
          acted: false,
          reward: null,
        };
      }),
    };
  }

  #answer(
    agent: WorkloadId,
    { isMember, failed }: { readonly isMember: boolean; readonly failed: Failure | undefined },
  ) {
    const global = isMember ? this.#options.coordinator.globalState(agent) : undefined;
    return {
      agent,
      seen: isMember ? this.#sight(agent) : null,
      global: global?.ok === true ? global.value : new Float32Array(0),
      ...(failed === undefined ? {} : { refused: { code: failed.code, message: failed.message } }),
    };
  }

  #isMember(session: string, agent: WorkloadId, incarnation: number): boolean {
    return this.#seatOf(session, agent)?.incarnation === incarnation;
  }

  /** All that members act by and are told only when they join. */
  #terms(): string {
    const { variant, contextSize, pool, pace, patience } = this.#options;
    return JSON.stringify([variant, contextSize, pool.cores, pool.memory, pace + patience]);
  }

  #seatOf(session: string, agent: WorkloadId): Seat | undefined {
    const seat = this.#seats.get(agent);
    return seat?.session === session ? seat : undefined;
  }

  #sight(agent: WorkloadId): MemberSight {
    const { values, have, measures } = this.#options.fleet.seen(agent);
    const { preservation, cpu, memory } = measures;
    return { obs: values, have, measures: { preservation, cpu, memory } };
  }

  // ── The platform ─────────────────────────────────────────────────────────────────────────────────────

  #decisions(): ReadonlyMap<WorkloadId, FleetDecision> {
    const { fleet } = this.#options;
    const decisions = new Map<WorkloadId, FleetDecision>();
    for (const agent of fleet.agents) {
      const choice = this.#choices.get(agent);
      const rule = this.#rules.get(agent);
      if (rule === undefined) throw new CodedError(failure("fleet.unknown-agent", `nobody knows rules for '${agent}'`));
      // Rules look at every step, so that what they remember is of now when they have to act.
      const { want, state } = rule.fallback.step(rule.state, fleet.world.read(agent), fleet.world.now);
      rule.state = state;
      const action = choice ?? { ...fleet.seen(agent).have, ...want };
      decisions.set(agent, { action, charge: usualCharge });
    }
    return decisions;
  }

  #ruleName(agent: WorkloadId): string {
    return this.#rules.get(agent)?.fallback.name ?? "";
  }

  #count<T extends Failure>(refusal: T): T {
    this.#refusals.set(refusal.code, (this.#refusals.get(refusal.code) ?? 0) + 1);
    return refusal;
  }
}

const stale = (agent: WorkloadId): Failure =>
  failure("agents.unknown", `${agent} is no member of the fleet as this incarnation; join`);
