/**
 * The agent of one workload: who acts, what is done, what is learned from it. START READING HERE, after lifecycle.ts.
 * Owns: one tick from a reading to a guarded action, the accounts of episodes, training, and all that must survive.
 * Not here: when to tick and whom to ask (control/loop), doing it (an actuator), any decision rule of its own.
 *
 * Synchronous and deterministic: the same inputs give the same ticks. The fallback is stepped in every tick, whoever
 * acts, so that it is never cold when it has to take over.
 */
import type { Allocation, GuardState } from "../../act/index.ts";
import { freshGuardState } from "../../act/index.ts";
import type { Failure, Ms, Result } from "../../base/index.ts";
import { err, milliseconds, ok } from "../../base/index.ts";
import type { Decision, SaveOptions, Transition, UpdateStats } from "../../learn/rl/index.ts";
import { actionSize } from "../../learn/rl/index.ts";
import type { ObservationMemory } from "../tasks/index.ts";
import { decodeAction, encodeAction, freshObservationMemory } from "../tasks/index.ts";
import { Acquaintance } from "./acquaintance.ts";
import type { AgentOptions, AgentSettings } from "./agent-options.ts";
import { agentDefaults } from "./agent-options.ts";
import { decodeAgent, encodeAgent } from "./agent-saved.ts";
import { completionOf } from "./completion.ts";
import type { Moment, Plan } from "./decision.ts";
import { isTrip, planFallback, planLearner, planTakeover, shadowStep } from "./decision.ts";
import { Diary } from "./diary.ts";
import { EpisodeLog } from "./episode-log.ts";
import { Exploration } from "./exploration.ts";
import { FallbackSeat } from "./fallback-seat.ts";
import type { FamiliarityReport } from "./familiarity.ts";
import { Footprint } from "./footprint.ts";
import type { ActingChoice, Health } from "./health.ts";
import { healthOf, isLearnerFault, mayAct, whilePaused } from "./health.ts";
import { excessNow } from "./judge.ts";
import { LearnerSeat } from "./learner-seat.ts";
import { bandOf, isMeasuring, lifecycleStep } from "./lifecycle.ts";
import { operatorProblem } from "./operator.ts";
import type { ShieldOptions } from "./shield.ts";
import { defaultShield, isNear } from "./shield.ts";
import type { Sight } from "./sight.ts";
import { look } from "./sight.ts";
import type { AgentState, Evidence, OffPolicyScore, OperatorWish } from "./state.ts";
import { freshAgentState } from "./state.ts";
import type { CompletedStep, PendingStep, StepRecord, Tick, TickInput, TrainReport } from "./tick.ts";
import { TripRate } from "./trip-rate.ts";
import { Watch } from "./watch.ts";

interface Decided {
  readonly choice: ActingChoice;
  readonly proposal: Decision | null;
  /** undefined where there is nothing to decide on. */
  readonly plan: Plan | undefined;
}

export class Agent<S> {
  readonly #options: AgentOptions<S>;
  readonly #settings: AgentSettings;
  readonly #shield: ShieldOptions;
  readonly #seat: LearnerSeat;
  readonly #fallback: FallbackSeat<S>;
  readonly #exploration: Exploration;
  readonly #trips: TripRate;
  readonly #log: EpisodeLog;
  readonly #watch = new Watch();
  readonly #diary = new Diary();
  readonly #footprint = new Footprint();
  readonly #acquaintance: Acquaintance;
  #state: AgentState = freshAgentState;
  #guard: GuardState = freshGuardState;
  /** As it was before the newest tick, in case that tick's action could not be done. */
  #guardBefore: GuardState = freshGuardState;
  #memory: ObservationMemory = freshObservationMemory;
  #pending: PendingStep | undefined;
  #constraint = 1;
  #sinceEstimate = 0;
  #before: Ms | null = null;

  constructor(options: AgentOptions<S>) {
    this.#options = options;
    this.#settings = { ...agentDefaults, ...options.settings };
    this.#shield = options.shield ?? defaultShield;
    const { slowAfter, retryAfter, tripWindow, minKnown, keepEpisodes } = this.#settings;
    const { stopwatch, task, seed } = options;
    this.#seat = new LearnerSeat({
      createLearner: (attempt) => options.createLearner(attempt),
      ...(stopwatch ? { stopwatch } : {}),
      slowAfter,
      retryAfter,
    });
    const size = actionSize(this.#seat.learner.shape.action);
    const limit = this.#shield.noise?.limit ?? Number.POSITIVE_INFINITY;
    this.#exploration = new Exploration({ ...this.#settings, size, limit, seed });
    this.#trips = new TripRate(tripWindow);
    this.#log = new EpisodeLog({ length: task.episodeSteps, minKnown, keep: keepEpisodes });
    this.#fallback = new FallbackSeat(options.fallback, options.fallbackStart);
    this.#acquaintance = new Acquaintance(options.shared);
    this.#acquaintance.know(this.#seat.familiar);
  }

  get state(): AgentState {
    return this.#state;
  }

  get isPaused(): boolean {
    return this.#options.isPaused?.() ?? false;
  }

  /** Share of the newest proposals that the guard corrected or refused. */
  get guardTripRate(): number {
    return this.#trips.rate;
  }

  /** How well the shared model behind its policy knows the workload; null without one. */
  get familiarity(): FamiliarityReport | null {
    this.#acquaintance.know(this.#seat.familiar);
    return this.#acquaintance.report;
  }

  /** That model, for whoever trains the policy beside the loop. */
  get sharedModel(): Acquaintance["model"] {
    return this.#acquaintance.model;
  }

  // ── One tick ─────────────────────────────────────────────────────────────────────────────────────────

  tick(input: TickInput): Tick {
    const { now } = input;
    const { task, limits, workload } = this.#options;
    if (this.#state.stage === "INITIALIZED") this.#judge(this.#acquaintance.start(now));
    const sight = look(input, { task, memory: this.#memory, maxAge: limits.maxDataAge, before: this.#before });
    // A clock that says nothing has not said when the next step would be due.
    if (Number.isFinite(now)) this.#before = now;
    const isFallbacks = this.#state.stage === "OFFLINE" || isMeasuring(this.#options.profile, this.#state);
    this.#watch.see(sight, { isFallbacks });
    if (sight.observation) this.#memory = sight.observation.memory;

    const completed = this.#complete(sight);
    if (this.#log.isFull) this.#endEpisode(now);
    const decided = this.#decide(input, sight);
    const step = this.#begin(sight, decided);
    this.#tellHandover(decided.choice, sight, now);
    this.#mend(now);
    this.#tellFamiliarity(now);

    const { choice, plan, proposal } = decided;
    const { observation } = sight;
    const isHeld = choice.who === "nobody" || plan === undefined;
    return {
      stage: this.#state.stage,
      who: choice.who,
      why: [choice.why, ...(plan?.notes ?? []), ...(choice.who === "learner" ? this.#acquaintance.notes : [])],
      action: isHeld ? { kind: "hold", workload } : plan.verdict.action,
      verdict: plan?.verdict ?? null,
      recommended: plan?.verdict.allocation ?? null,
      wished: proposal && observation ? decodeAction(task, proposal.action, observation.demand) : null,
      ...(step ? { step } : {}),
      ...(completed ? { completed } : {}),
      events: this.#diary.take(),
    };
  }

  /** What came of the tick's action. One that was not done is not learned as done, and not counted by the guard. */
  acted(outcome: Result<Allocation>): { readonly executed?: Float32Array } {
    if (!outcome.ok) this.#guard = this.#guardBefore;
    const pending = this.#pending;
    if (!pending) return {};
    const allocation = outcome.ok ? outcome.value : pending.previous;
    const executed = encodeAction(this.#options.task, allocation, pending.demand);
    this.#pending = { ...pending, allocation, executed };
    return { executed };
  }

  /** The step before is over: its reward is in this reading, if there is one. */
  #complete({ observation, have, health }: Sight): CompletedStep | undefined {
    const pending = this.#pending;
    this.#pending = undefined;
    // Across a jump of the clock nobody knows how long the step took, and without a look nobody knows what it did.
    if (!pending || !observation || health.clock === "jumped") return undefined;
    const end = this.#log.isFull ? "truncated" : "no";
    const { transition, completed } = completionOf(pending, { observation, have }, { task: this.#options.task, end });
    const { measures } = observation;
    if (this.#seat.isWell) this.#seat.observe(transition);
    const isViolation = measures.preservation < 1;
    // Where the learner has given no less than the fallback would for a while, the fallback would have fared alike.
    const usual = this.#footprint.isFelt ? this.#watch.usualViolations(measures.load) : Number(isViolation);
    this.#log.complete(transition, { isViolation, usual });
    return completed;
  }

  #decide(input: TickInput, sight: Sight): Decided {
    const moment = this.#stepFallback(input, sight);
    const proposal = this.#propose(sight, this.#healthOf(input, sight));
    // Asked again, because the proposal itself may have shown that the learner is not well.
    const choice = this.#choose(this.#healthOf(input, sight));
    const plan = moment && this.#plan(moment, { choice, proposal, sight });
    if (moment && plan) this.#watchLearner(moment, { choice, proposal, plan, sight });
    return { choice, proposal, plan };
  }

  /** In every tick with something to look at, whoever acts. */
  #stepFallback({ nodes, now }: TickInput, { reading, have }: Sight): Moment | undefined {
    if (!reading || !Number.isFinite(now)) return undefined;
    const answer = this.#fallback.ask({ reading, have, now, isTakeover: this.#footprint.isTakeover });
    if (!have || !answer) return undefined;
    const { workload, task, limits } = this.#options;
    const { fallback, alone } = answer;
    return { workload, task, reading, have, fallback, alone, guard: { limits, state: this.#guard }, nodes, now };
  }

  #healthOf({ health }: TickInput, sight: Sight): Health {
    // A policy that is meant to learn and can not would explore for nothing.
    const training = this.#state.stage === "ONLINE" ? health?.training : undefined;
    return healthOf(sight.health, { condition: this.#seat.condition, training, guardTripRate: this.#trips.rate });
  }

  #choose(health: Health): ActingChoice {
    const choice = mayAct(this.#options.profile, this.#state, health);
    return this.isPaused ? whilePaused(choice) : choice;
  }

  #propose({ observation }: Sight, health: Health): Decision | null {
    if (!observation || !this.#seat.isWell) return null;
    const { who, why } = this.#choose(health);
    const { caution, noise } = this.#shield;
    const usual = this.#watch.usualNearness;
    const isNearSlo = noise !== null && caution !== null && isNear(observation, { share: caution.share, usual });
    const proposal = this.#seat.propose(observation.values, {
      explore: who === "learner" && why === "training",
      explorer: this.#exploration.explorer({ isNearSlo }),
    });
    return proposal.ok ? proposal.value : null;
  }

  /** What is to be done, or in recommend mode would be. */
  #plan(
    moment: Moment,
    { choice, proposal, sight }: { choice: ActingChoice; proposal: Decision | null; sight: Sight },
  ): Plan {
    const { stage } = this.#state;
    const isLearners = choice.who === "nobody" ? stage === "ONLINE" || stage === "SERVING" : choice.who === "learner";
    const { observation } = sight;
    const band = bandOf(this.#options.profile, this.#state, { hasCeiling: this.#shield.ceiling !== null });
    const { usualNearness, sinceShrink, missedLately } = this.#watch;
    const plan =
      isLearners && proposal && observation
        ? planLearner(moment, {
            action: proposal.action,
            observation,
            band,
            shield: this.#shield,
            experience: { usualNearness, sinceShrink, missedLately, excess: excessNow(this.#state, this.#log.excess) },
          })
        : this.#footprint.isTakeover
          ? planTakeover(moment)
          : planFallback(moment);
    this.#footprint.after(choice.who, { less: plan.less, kills: moment.reading.ooms.length });
    if (choice.who !== "nobody") {
      this.#guardBefore = this.#guard;
      this.#guard = plan.verdict.state;
    }
    return plan;
  }

  /** How the learner's wish fared, or would have if it had been followed. */
  #watchLearner(moment: Moment, { choice, proposal, plan, sight }: Decided & { plan: Plan; sight: Sight }): void {
    const { observation } = sight;
    if (!observation || this.isPaused) return;
    const { tripRules: rules } = this.#settings;
    if (choice.who === "learner") {
      this.#trips.add(isTrip(plan.verdict, rules));
      return;
    }
    const done = plan.verdict.allocation;
    const shadow = proposal ? shadowStep(moment, proposal.action, { done, observation, rules }) : undefined;
    this.#log.shadow(shadow);
    if (shadow) this.#trips.add(shadow.isTrip);
  }

  #begin({ observation, have }: Sight, { choice, proposal, plan }: Decided): StepRecord | undefined {
    if (this.isPaused) return undefined;
    const by = choice.who === "learner" ? "learner" : isLearnerFault(choice.why) ? "fault" : "other";
    const { episode, step } = this.#log.begin(by);
    if (!observation || !have) return undefined;
    const allocation = choice.who === "nobody" || !plan ? have : plan.verdict.allocation;
    const { demand } = observation;
    const executed = encodeAction(this.#options.task, allocation, demand);
    const record: StepRecord = {
      episode,
      step,
      obs: observation.values,
      proposed: proposal?.action ?? executed,
      executed,
      logProb: proposal && choice.who === "learner" ? proposal.logProb : null,
    };
    this.#pending = { record, who: choice.who, previous: have, allocation, executed, demand };
    return record;
  }

  // ── The life ─────────────────────────────────────────────────────────────────────────────────────────

  #judge(evidence: Evidence): void {
    const before = this.#state;
    const { state, events } = lifecycleStep(this.#options.profile, before, evidence);
    this.#state = state;
    for (const event of events) this.#diary.tell({ at: event.at, name: event.kind, evidence: event });
    if (state.stage !== before.stage) this.#enterStage(state);
  }

  /** A person's decision, between two ticks; refused where it can not be followed, and then nothing is changed. */
  operate(wish: OperatorWish, detail: string): Result<void> {
    const { profile } = this.#options;
    const { isPaused } = this;
    const problem = operatorProblem(wish, { profile, state: this.#state, isWell: this.#seat.isWell, isPaused });
    if (problem) return err(problem);
    this.#judge({ kind: "operator", at: this.#before ?? milliseconds(0), wish, detail });
    return ok(undefined);
  }

  #enterStage(state: AgentState): void {
    if (state.stage === "OFFLINE") this.#setConstraint(1);
    if (state.stage === "ONLINE") {
      this.#exploration.begin(this.#acquaintance);
      if (state.because === "no-bootstrap" || state.because === "shared-policy") this.#setConstraint(0);
    }
    // What has just passed a gate, or was trained elsewhere, is what one comes back to. A policy that never learned
    // anything is not.
    const isTried = state.stage === "ONLINE" && (state.because === "earned" || state.because === "shared-policy");
    if (isTried || state.stage === "SERVING") this.#seat.keepAsGood();
  }

  #endEpisode(at: Ms): void {
    const { score, shadow, steps, known } = this.#log.end();
    this.#exploration.endEpisode({ isOnline: score !== undefined && this.#state.stage === "ONLINE" });
    if (!score) {
      this.#diary.tell({ at, name: "episode-discarded", evidence: { steps, known } });
      return;
    }
    if (this.#state.stage === "OFFLINE") this.#sinceEstimate += 1;
    if (this.#state.stage === "ONLINE") {
      this.#setConstraint(Math.max(0, this.#constraint - 1 / this.#settings.annealEpisodes));
    }
    this.#judge({ kind: "episode", at, score, shadow });
  }

  #setConstraint(constraint: number): void {
    this.#constraint = constraint;
    this.#seat.setConstraint(constraint);
  }

  #mend(at: Ms): void {
    const mending = this.#seat.mend();
    if (!mending) return;
    const { kind, fault } = mending;
    if (kind === "checkpoint") {
      this.#diary.tell({ at, name: "checkpoint-unusable", evidence: { state: mending.state, fault } });
      return;
    }
    this.#diary.tell({ at, name: kind === "restored" ? "learner-restored" : "learner-rebuilt", evidence: { fault } });
    if (kind === "rebuilt") {
      this.recall(this.kept);
      this.#judge({ kind: "learner-lost", at, detail: fault });
    }
    this.#seat.setConstraint(this.#constraint);
  }

  #tellFamiliarity(at: Ms): void {
    this.#acquaintance.know(this.#seat.familiar);
    for (const event of this.#acquaintance.news(at)) this.#diary.tell(event);
    this.#exploration.fade(this.#acquaintance);
  }

  #tellHandover({ who, why }: ActingChoice, { detail }: Sight, at: Ms): void {
    const behind = isLearnerFault(why) ? this.#seat.fault : detail;
    this.#diary.tellHandover({ stage: this.#state.stage, who, why, detail: behind }, at);
  }

  // ── Training ─────────────────────────────────────────────────────────────────────────────────────────

  /** Whether the policy learns in this stage, and can. */
  get mayTrain(): boolean {
    const { stage } = this.#state;
    return (stage === "OFFLINE" || stage === "ONLINE") && this.#seat.isWell && !this.isPaused;
  }

  get isEstimateDue(): boolean {
    return (
      this.#options.estimator !== undefined &&
      this.#state.stage === "OFFLINE" &&
      this.#seat.isWell &&
      this.#log.kept.length >= this.#options.profile.window &&
      this.#sinceEstimate >= this.#settings.estimateEvery
    );
  }

  /** Gradient updates, and an estimate when one is due. Slow, so never part of a tick; SERVING learns nothing. */
  train({ updates }: { readonly updates: number }): TrainReport {
    let done = 0;
    let stats: UpdateStats | undefined;
    for (; done < updates && this.mayTrain; done++) {
      const updated = this.#seat.update();
      if (!updated.ok) return { updates: done, stats, estimate: undefined, failure: updated.failure };
      // Not enough to learn from yet.
      if (!updated.value) break;
      stats = updated.value;
    }
    const { estimator } = this.#options;
    const score = estimator && this.isEstimateDue ? estimator(this.#seat.learner, this.#log.kept) : undefined;
    if (score) this.takeEstimate(score);
    const estimate = score?.ok ? score.value : undefined;
    return { updates: done, stats, estimate, failure: score && !score.ok ? score.failure : undefined };
  }

  /** An estimate of the policy as it is now, made here or beside the loop. */
  takeEstimate(score: Result<OffPolicyScore>): void {
    this.#sinceEstimate = 0;
    const at = this.#before ?? milliseconds(0);
    if (score.ok) {
      this.#diary.tell({ at, name: "estimate", evidence: score.value });
      this.#judge({ kind: "estimate", at, score: score.value });
    } else this.#diary.tell({ at, name: "estimate-failed", evidence: score.failure });
  }

  /** Parameters trained elsewhere, tried on the newest observation first; refused, everything is as it was. */
  adopt(bytes: Uint8Array): Result<void> {
    const tried = this.#seat.tryOut(bytes, this.#pending?.record.obs);
    this.#seat.setConstraint(this.#constraint);
    if (!tried.ok)
      this.#diary.tell({ at: this.#before ?? milliseconds(0), name: "adoption-refused", evidence: tried.failure });
    return tried;
  }

  // ── Surviving ────────────────────────────────────────────────────────────────────────────────────────

  save(options: SaveOptions = {}): Uint8Array {
    return encodeAgent({
      workload: this.#options.workload,
      fallback: this.#fallback.save(),
      state: this.#state,
      notes: {
        guard: this.#guard,
        footprint: this.#footprint.state(),
        memory: this.#memory,
        watch: this.#watch.state(),
        trips: this.#trips.state(),
        constraint: this.#constraint,
        sinceEstimate: this.#sinceEstimate,
        ...this.#exploration.state(),
        before: this.#before,
      },
      log: this.#log.state(),
      learner: this.#seat.learner.save(options),
      good: this.#seat.good,
      isResumable: options.resumable ?? false,
    });
  }

  /** Steps of the newest episodes in which the fallback acted, oldest first: what its saved state has of the replay. */
  get kept(): readonly Transition[] {
    return this.#log.kept.flat();
  }

  /** Stored steps, oldest first, after those in the learner's replay or instead of them; answers with why some were refused. */
  recall(steps: readonly Transition[], { afresh = false } = {}): readonly Failure[] {
    return this.#seat.recall(steps, { afresh });
  }

  /** All or nothing, except for the policy: if that is damaged, the last good one is used, or the fallback acts. */
  load(bytes: Uint8Array): Result<void> {
    const { workload } = this.#options;
    const decoded = decodeAgent(bytes, { workload, fallback: this.#fallback.name });
    if (!decoded.ok) return decoded;
    const { state, fallback, notes, log, learner, good, isResumable } = decoded.value;
    this.#state = state;
    this.#fallback.restore(fallback);
    this.#guard = notes.guard;
    this.#guardBefore = notes.guard;
    this.#footprint.restore(notes.footprint);
    this.#memory = notes.memory;
    this.#watch.restore(notes.watch);
    this.#trips.restore(notes.trips);
    this.#sinceEstimate = notes.sinceEstimate;
    this.#exploration.restore(notes);
    this.#before = notes.before;
    this.#log.restore(log);
    this.#pending = undefined;
    this.#diary.forgetWhoActed();
    const at = notes.before ?? milliseconds(0);
    for (const evidence of this.#seat.restore(learner, good))
      this.#diary.tell({ at, name: "adoption-refused", evidence });
    if (!isResumable) this.recall(this.kept);
    this.#setConstraint(notes.constraint);
    this.#acquaintance.resume(this.#seat.familiar);
    this.#exploration.fade(this.#acquaintance);
    return ok(undefined);
  }

  dispose(): void {
    this.#seat.dispose();
  }
}
