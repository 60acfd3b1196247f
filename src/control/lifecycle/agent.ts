/**
 * The agent of one workload: who acts, what is done, what is learned from it. START READING HERE, after lifecycle.ts.
 * Owns: one tick from a reading to a guarded action, the accounts of episodes, training, and all that must survive.
 * Not here: when to tick and whom to ask (control/loop), doing it (an actuator), any decision rule of its own.
 *
 * Synchronous and deterministic: the same inputs give the same ticks. The fallback is stepped in every tick, whoever
 * acts, so that it is never cold when it has to take over. Over 500 lines, because one tick is read best in one place; each
 * part that can stand alone has a file of its own.
 */
import type { GuardState, Setting } from "../../act/index.ts";
import { freshGuardState } from "../../act/index.ts";
import type { Actor, Failure, Ms, Reason, Result, WorkloadId } from "../../base/index.ts";
import { err, milliseconds, ok } from "../../base/index.ts";
import type { Decision, SaveOptions, Transition, UpdateStats } from "../../learn/rl/index.ts";
import { actionSize } from "../../learn/rl/index.ts";
import type { AdviceJob, Seen, TaskReading } from "../index.ts";
import type { AgentOptions, AgentSettings } from "./agent-options.ts";
import { agentDefaults } from "./agent-options.ts";
import { decodeAgent, encodeAgent } from "./agent-saved.ts";
import { completionOf } from "./completion.ts";
import type { Moment, Plan } from "./decision.ts";
import { isTrip, planFallback, planLearner, planTakeover, shadowStep } from "./decision.ts";
import { DomainMatch } from "./domain-match.ts";
import { EpisodeLog } from "./episode-log.ts";
import { EventLog } from "./event-log.ts";
import { Exploration } from "./exploration.ts";
import type { FallbackSave } from "./fallback-slot.ts";
import { FallbackSlot } from "./fallback-slot.ts";
import type { FamiliarityReport } from "./familiarity.ts";
import type { ActingChoice, Health } from "./health.ts";
import { healthOf, isLearnerFault, mayAct, whilePaused } from "./health.ts";
import { excessNow } from "./judge.ts";
import { LearnerEffect } from "./learner-effect.ts";
import { LearnerSlot } from "./learner-slot.ts";
import { bandOf, isMeasuring, lifecycleStep } from "./lifecycle.ts";
import { operatorProblem } from "./operator.ts";
import type { Sight } from "./sight.ts";
import { look } from "./sight.ts";
import type { AgentState, Evidence, OffPolicyScore, OperatorWish } from "./state.ts";
import { freshAgentState } from "./state.ts";
import type { CompletedStep, PendingStep, StepRecord, Tick, TickInput, TrainReport } from "./tick.ts";
import { TripRate } from "./trip-rate.ts";
import { Watch } from "./watch.ts";

/** Where no shield says otherwise. */
const UNLIMITED = { limit: Number.POSITIVE_INFINITY, upwards: [] };

interface Decided<S extends Setting> {
  readonly choice: ActingChoice;
  readonly proposal: Decision | null;
  /** undefined where there is nothing to decide on. */
  readonly plan: Plan<S> | undefined;
  /** What there would be if the fallback had been alone; null where nobody can tell. */
  readonly alone: S | null;
}

/** Reading, setting, what is seen, and the fallback's state: the agent knows them only through its task. */
export class Agent<R extends TaskReading, S extends Setting, O extends Seen, F> {
  readonly #options: AgentOptions<R, S, O, F>;
  readonly #settings: AgentSettings;
  readonly #slot: LearnerSlot;
  readonly #fallback: FallbackSlot<R, S, F>;
  readonly #exploration: Exploration;
  readonly #trips: TripRate;
  readonly #log: EpisodeLog;
  readonly #watch = new Watch<R, S, O>();
  readonly #events = new EventLog();
  readonly #effect = new LearnerEffect();
  readonly #match: DomainMatch;
  #state: AgentState = freshAgentState;
  #guard: GuardState = freshGuardState;
  /** As it was before the newest tick, in case that tick's action could not be done. */
  #guardBefore: GuardState = freshGuardState;
  #memory: unknown;
  #pending: PendingStep<S, O> | undefined;
  #constraint = 1;
  #sinceEstimate = 0;
  #before: Ms | null = null;
  /** Whether the task knew enough of the workload at the newest look. */
  #isReady = true;
  /** Why the learner refused the newest step that it was shown. */
  #refusal: string | undefined;

  constructor(options: AgentOptions<R, S, O, F>) {
    this.#options = options;
    this.#settings = { ...agentDefaults, ...options.settings };
    const { slowAfter, retryAfter, tripWindow, minKnown, keepEpisodes } = this.#settings;
    const { stopwatch, task, seed } = options;
    this.#slot = new LearnerSlot({
      createLearner: (attempt) => options.createLearner(attempt),
      ...(stopwatch ? { stopwatch } : {}),
      slowAfter,
      retryAfter,
    });
    const size = actionSize(this.#slot.learner.shape.action);
    const { limit, upwards } = task.shield?.noise ?? UNLIMITED;
    this.#exploration = new Exploration({ ...this.#settings, size, limit, upwards, seed });
    this.#memory = task.freshMemory;
    this.#trips = new TripRate(tripWindow);
    this.#log = new EpisodeLog({ length: task.episodeSteps, minKnown, keep: keepEpisodes });
    this.#fallback = new FallbackSlot(options.fallback);
    this.#match = new DomainMatch(options.shared);
    this.#match.know(this.#slot.familiar);
  }

  get workload(): WorkloadId {
    return this.#options.workload;
  }

  /** The name of its fallback, which its saved state is checked against. */
  get fallback(): string {
    return this.#fallback.name;
  }

  /** Whatever a telemetry source handed over is unknown until this accepts it. */
  parse(arrived: unknown): Result<R> {
    return this.#options.task.parse(arrived);
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
    this.#match.know(this.#slot.familiar);
    return this.#match.report;
  }

  /** That model, for whoever trains the policy beside the loop. */
  get sharedModel(): DomainMatch["model"] {
    return this.#match.model;
  }

  // ── One tick ─────────────────────────────────────────────────────────────────────────────────────────

  tick(input: TickInput<R, S>): Tick<S> {
    const { now } = input;
    const { task, limits, workload } = this.#options;
    if (this.#state.stage === "INITIALIZED") this.#judge(this.#match.start(now));
    const sight = look(input, { task, memory: this.#memory, limits, guard: this.#guard, before: this.#before });
    // A clock that says nothing has not said when the next step would be due.
    if (Number.isFinite(now)) this.#before = now;
    const isFallbacks = this.#state.stage === "OFFLINE" || isMeasuring(this.#options.profile, this.#state);
    this.#watch.see(sight, { isFallbacks, task });
    if (sight.observation) this.#memory = sight.observation.memory;
    this.#isReady = sight.health.model === "ready";

    const completed = this.#complete(sight);
    if (this.#log.isFull) this.#endEpisode(now);
    if (this.#state.stage === "OFFLINE" && !this.isPaused && sight.observation && task.isFailing?.(sight.observation))
      this.#judge({ kind: "fallback-fails", at: now });
    const decided = this.#decide(input, sight);
    const step = this.#begin(sight, decided);
    this.#tellHandover(decided.choice, sight, now);
    this.#mend(now);
    this.#tellFamiliarity(now);

    const { choice, plan, proposal, alone } = decided;
    const { observation, have } = sight;
    const isHeld = choice.who === "nobody" || plan === undefined;
    const next = isHeld ? have : plan.verdict.setting;
    const why: Reason[] = [{ by: "lifecycle", rule: choice.why }];
    if (choice.who === "learner" && observation)
      for (const reason of task.reasons?.(observation) ?? []) why.push(reason);
    if (plan) for (const note of plan.notes) why.push(note);
    if (choice.who === "learner") for (const note of this.#match.notes) why.push(note);
    return {
      stage: this.#state.stage,
      who: choice.who,
      why,
      action: isHeld ? { kind: "hold", workload } : plan.verdict.action,
      verdict: plan?.verdict ?? null,
      recommended: plan?.verdict.setting ?? null,
      wished:
        proposal && observation && sight.health.model === "ready" ? task.decode(proposal.action, observation) : null,
      alone,
      expectedNearness: observation && next ? (task.expectedNearness?.(next, observation) ?? null) : null,
      step,
      completed,
      events: this.#events.take(),
    };
  }

  /** What came of the tick's action. One that was not done is not learned as done, and not counted by the guard. */
  acted(outcome: Result<S>): { readonly executed?: Float32Array } {
    if (!outcome.ok) this.#guard = this.#guardBefore;
    const pending = this.#pending;
    if (!pending) return {};
    const setting = outcome.ok ? outcome.value : pending.previous;
    const executed = this.#options.task.encodeSetting(setting, pending.seen);
    this.#pending = { ...pending, setting, executed };
    return { executed };
  }

  /** The step before is over: its reward is in this reading, if there is one. */
  #complete({ observation, have, health }: Sight<R, S, O>): CompletedStep | undefined {
    const pending = this.#pending;
    this.#pending = undefined;
    // Across a jump of the clock nobody knows how long the step took, and without a look nobody knows what it did.
    if (!pending || !observation || health.clock === "jumped") return undefined;
    const end = this.#log.isFull ? "truncated" : "no";
    const { task } = this.#options;
    const { transition, completed } = completionOf(pending, { observation, have }, { task, end });
    if (this.#slot.isWell && (this.takesAnySteps || this.#isOfRollout(pending.who))) this.#show(transition);
    const isViolation = task.isMissed(observation);
    // Where the learner has given no less than the fallback would for a while, the fallback would have fared alike.
    const usual = this.#effect.isFelt ? this.#watch.usualViolations(task.loadOf(observation)) : Number(isViolation);
    this.#log.complete(transition, { isViolation, usual });
    return completed;
  }

  /** While it serves, a policy takes its best choice: that is no draw that it could be judged by. */
  #isOfRollout(who: Actor): boolean {
    return who === "learner" && this.#state.stage === "ONLINE";
  }

  /** What the learner refuses to learn from is told once per kind of refusal: it may learn nothing at all. */
  #show(transition: Transition): void {
    const taken = this.#slot.observe(transition);
    const code = taken.ok ? undefined : taken.failure.code;
    if (!taken.ok && code !== this.#refusal)
      this.#events.tell({ at: this.#before ?? milliseconds(0), name: "observation-refused", evidence: taken.failure });
    this.#refusal = code;
  }

  #decide(input: TickInput<R, S>, sight: Sight<R, S, O>): Decided<S> {
    const moment = this.#stepFallback(input, sight);
    const proposal = this.#propose(sight, this.#healthOf(input, sight));
    // Asked again, because the proposal itself may have shown that the learner is not well.
    const choice = this.#choose(this.#healthOf(input, sight));
    const plan = moment && this.#plan(moment, { choice, proposal, sight });
    if (moment && plan) {
      this.#watchLearner(moment, { choice, proposal, plan, sight });
      this.#compareCosts(moment, { choice, proposal, plan, sight });
    }
    return { choice, proposal, plan, alone: moment?.alone ?? null };
  }

  /** In every tick with something to look at, whoever acts. */
  #stepFallback({ nodes, now }: TickInput<R, S>, { reading, have }: Sight<R, S, O>): Moment<R, S, O> | undefined {
    if (!reading || !Number.isFinite(now)) return undefined;
    const { workload, task, limits } = this.#options;
    const { isTakeover } = this.#effect;
    const answer = this.#fallback.ask({ reading, have, now, isTakeover, asIf: task.alone });
    if (!have || !answer) return undefined;
    const { fallback, alone } = answer;
    return { workload, task, reading, have, fallback, alone, guard: { limits, state: this.#guard }, nodes, now };
  }

  #healthOf({ health }: TickInput<R, S>, sight: Sight<R, S, O>): Health {
    // A policy that is meant to learn and cannot would explore for nothing.
    const training = this.#state.stage === "ONLINE" ? health?.training : undefined;
    return healthOf(sight.health, { condition: this.#slot.condition, training, guardTripRate: this.#trips.rate });
  }

  #choose(health: Health): ActingChoice {
    const choice = mayAct(this.#options.profile, this.#state, health);
    return this.isPaused ? whilePaused(choice) : choice;
  }

  #propose({ observation }: Sight<R, S, O>, health: Health): Decision | null {
    if (!observation || !this.#slot.isWell || health.model === "learning") return null;
    const { who, why } = this.#choose(health);
    const isNearLimit = this.#options.task.shield?.isNear(observation, this.#watch.usualNearness) ?? false;
    const explore = who === "learner" && why === "training";
    const explorer = this.#exploration.explorer({ isNearLimit });
    const { actorContext } = observation;
    const proposal = this.#slot.propose(
      observation.values,
      actorContext ? { explore, explorer, actorContext } : { explore, explorer },
    );
    return proposal.ok ? proposal.value : null;
  }

  /** What is to be done, or in recommend mode would be. */
  #plan(
    moment: Moment<R, S, O>,
    { choice, proposal, sight }: { choice: ActingChoice; proposal: Decision | null; sight: Sight<R, S, O> },
  ): Plan<S> {
    const { stage } = this.#state;
    const isLearners = choice.who === "nobody" ? stage === "ONLINE" || stage === "SERVING" : choice.who === "learner";
    const { observation } = sight;
    const { profile, task } = this.#options;
    const band = bandOf(profile, this.#state, { hasCeiling: task.shield?.hasCeiling ?? false });
    const { usualNearness, sinceShrink, missedLately } = this.#watch;
    const plan =
      isLearners && proposal && observation
        ? planLearner(moment, {
            action: proposal.action,
            observation,
            band,
            experience: { usualNearness, sinceShrink, missedLately, excess: excessNow(this.#state, this.#log.excess) },
          })
        : this.#effect.isTakeover
          ? planTakeover(moment)
          : planFallback(moment);
    this.#effect.after(choice.who, { less: plan.less, isHarmed: task.isHarmed?.(moment.reading) ?? false });
    if (choice.who !== "nobody") {
      this.#guardBefore = this.#guard;
      this.#guard = plan.verdict.state;
    }
    return plan;
  }

  /** How the learner's wish fared, or would have if it had been followed. */
  #watchLearner(
    moment: Moment<R, S, O>,
    { choice, proposal, plan, sight }: Omit<Decided<S>, "alone"> & { plan: Plan<S>; sight: Sight<R, S, O> },
  ): void {
    const { observation } = sight;
    if (!observation || this.isPaused) return;
    const { tripRules: rules } = this.#settings;
    if (choice.who === "learner") {
      this.#trips.add(isTrip(plan.verdict, rules));
      return;
    }
    const done = plan.verdict.setting;
    const shadow = proposal ? shadowStep(moment, proposal.action, { done, observation, rules }) : undefined;
    this.#log.shadow(shadow);
    if (shadow) this.#trips.add(shadow.isTrip);
  }

  /** What the learner's setting costs, done or wished for, beside what there would be by the fallback alone. */
  #compareCosts(
    { alone }: Moment<R, S, O>,
    { choice, proposal, plan, sight }: Omit<Decided<S>, "alone"> & { plan: Plan<S>; sight: Sight<R, S, O> },
  ): void {
    const { observation } = sight;
    const { task, profile } = this.#options;
    if (!profile.gates.worth || !observation || !proposal || this.isPaused) return;
    const setting = choice.who === "learner" ? plan.verdict.setting : task.decode(proposal.action, observation);
    this.#log.bill(task.costOf(setting, observation), task.costOf(alone, observation));
  }

  #begin({ observation, have }: Sight<R, S, O>, { choice, proposal, plan, alone }: Decided<S>): StepRecord | undefined {
    if (this.isPaused) return undefined;
    const by = choice.who === "learner" ? "learner" : isLearnerFault(choice.why) ? "fault" : "other";
    const { episode, step } = this.#log.begin(by);
    if (!observation || !have) return undefined;
    const setting = choice.who === "nobody" || !plan ? have : plan.verdict.setting;
    const executed = this.#options.task.encodeSetting(setting, observation);
    const { actorContext, criticContext } = observation;
    const obs = observation.values;
    const proposed = proposal?.action ?? executed;
    const logProb = proposal && choice.who === "learner" ? proposal.logProb : null;
    const plain: StepRecord = { episode, step, obs, proposed, executed, logProb };
    const record: StepRecord =
      actorContext || criticContext
        ? { ...plain, ...(actorContext ? { actorContext } : {}), ...(criticContext ? { criticContext } : {}) }
        : plain;
    this.#pending = { record, who: choice.who, previous: have, setting, executed, alone, seen: observation };
    return record;
  }

  // ── The life ─────────────────────────────────────────────────────────────────────────────────────────

  #judge(evidence: Evidence): void {
    const before = this.#state;
    const { state, events } = lifecycleStep(this.#options.profile, before, evidence);
    this.#state = state;
    for (const event of events) this.#events.tell({ at: event.at, name: event.kind, evidence: event });
    if (state.stage !== before.stage) this.#enterStage(state);
  }

  /** A person's decision, between two ticks; refused where it cannot be followed, and then nothing is changed. */
  operate(wish: OperatorWish, detail: string): Result<void> {
    const { profile } = this.#options;
    const { isPaused } = this;
    const { isWell } = this.#slot;
    const problem = operatorProblem(wish, { profile, state: this.#state, isWell, isReady: this.#isReady, isPaused });
    if (problem) return err(problem);
    this.#judge({ kind: "operator", at: this.#before ?? milliseconds(0), wish, detail });
    return ok(undefined);
  }

  #enterStage(state: AgentState): void {
    if (state.stage === "OFFLINE") this.#setConstraint(1);
    if (state.stage === "ONLINE") {
      this.#exploration.begin(this.#match);
      if (state.because === "no-bootstrap" || state.because === "shared-policy") this.#setConstraint(0);
    }
    // What has just passed a gate, or was trained elsewhere, is what one comes back to. A policy that never learned
    // anything is not.
    const isTried = state.stage === "ONLINE" && ["earned", "model-ready", "shared-policy"].includes(state.because);
    if (isTried || state.stage === "SERVING") this.#slot.keepAsGood();
  }

  #endEpisode(at: Ms): void {
    const { score, shadow, steps, known } = this.#log.end();
    this.#exploration.endEpisode({ isOnline: score !== undefined && this.#state.stage === "ONLINE" });
    if (!score) {
      this.#events.tell({ at, name: "episode-discarded", evidence: { steps, known } });
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
    this.#slot.setConstraint(constraint);
  }

  #mend(at: Ms): void {
    const mending = this.#slot.mend();
    if (!mending) return;
    const { kind, fault } = mending;
    if (kind === "checkpoint") {
      this.#events.tell({ at, name: "checkpoint-unusable", evidence: { state: mending.state, fault } });
      return;
    }
    this.#events.tell({ at, name: kind === "restored" ? "learner-restored" : "learner-rebuilt", evidence: { fault } });
    if (kind === "rebuilt") {
      this.recall(this.kept);
      this.#judge({ kind: "learner-lost", at, detail: fault });
    }
    this.#slot.setConstraint(this.#constraint);
  }

  #tellFamiliarity(at: Ms): void {
    this.#match.know(this.#slot.familiar);
    for (const event of this.#match.news(at)) this.#events.tell(event);
    this.#exploration.fade(this.#match);
  }

  #tellHandover({ who, why }: ActingChoice, { detail }: Sight<R, S, O>, at: Ms): void {
    const behind = isLearnerFault(why) ? this.#slot.fault : detail;
    this.#events.tellHandover({ stage: this.#state.stage, who, why, detail: behind }, at);
  }

  // ── Training ─────────────────────────────────────────────────────────────────────────────────────────

  /** Whether the policy learns in this stage, and can. */
  get mayTrain(): boolean {
    const { stage } = this.#state;
    return (stage === "OFFLINE" || stage === "ONLINE") && this.#slot.mayLearn && this.#slot.isWell && !this.isPaused;
  }

  get isEstimateDue(): boolean {
    return (
      this.#options.estimator !== undefined &&
      this.#options.profile.gates.offPolicy !== null &&
      this.#state.stage === "OFFLINE" &&
      this.#slot.isWell &&
      this.#log.kept.length >= this.#options.profile.window &&
      this.#sinceEstimate >= this.#settings.estimateEvery
    );
  }

  /** Gradient updates, and an estimate when one is due. Slow, so never part of a tick; SERVING learns nothing. */
  train({ updates }: { readonly updates: number }): TrainReport {
    let done = 0;
    let stats: UpdateStats | undefined;
    for (; done < updates && this.mayTrain; done++) {
      const updated = this.#slot.update();
      if (!updated.ok) return { updates: done, stats, estimate: undefined, failure: updated.failure };
      // Not enough to learn from yet.
      if (!updated.value) break;
      stats = updated.value;
    }
    const { estimator } = this.#options;
    const score = estimator && this.isEstimateDue ? estimator(this.#slot.learner, this.#log.kept) : undefined;
    if (score) this.takeEstimate(score);
    const estimate = score?.ok ? score.value : undefined;
    return { updates: done, stats, estimate, failure: score && !score.ok ? score.failure : undefined };
  }

  /** An estimate of the policy as it is now, made here or beside the loop. */
  takeEstimate(score: Result<OffPolicyScore>): void {
    this.#sinceEstimate = 0;
    const at = this.#before ?? milliseconds(0);
    if (score.ok) {
      this.#events.tell({ at, name: "estimate", evidence: score.value });
      this.#judge({ kind: "estimate", at, score: score.value });
    } else this.#events.tell({ at, name: "estimate-failed", evidence: score.failure });
  }

  /** Work on what its task remembers, when some is due: done in place by `advise`, or beside the loop. */
  get adviceWork(): AdviceJob | undefined {
    if (this.isPaused) return undefined;
    const { advisor } = this.#options.task;
    // A policy that acts has earned its place, and another one would have to be watched anew: it learns only where it does not.
    if (this.#state.stage !== "OFFLINE") return advisor?.work(this.#memory);
    return advisor?.work(this.#memory, () => this.#slot.learner.save());
  }

  /** What came of it, for the next tick. A policy in it has to pass the gates as any other; refused, nothing of it is taken. */
  takeAdvice(advice: unknown): Result<void> {
    const { advisor } = this.#options.task;
    const policy = advisor?.policyIn?.(advice);
    if (policy) {
      const adopted = this.adopt(policy);
      if (!adopted.ok) return adopted;
      const detail = "a policy that learned beside the loop takes the place of the one before";
      this.#judge({ kind: "candidate", at: this.#before ?? milliseconds(0), detail });
    }
    if (advisor) this.#memory = advisor.advised(this.#memory, advice);
    return ok(undefined);
  }

  /** All of it in place, where time does not matter. Whether something was due. */
  advise(): boolean {
    const work = this.adviceWork;
    if (work) this.takeAdvice(this.#options.task.advisor?.advise(work.config));
    return work !== undefined;
  }

  /** Whether stored steps are of use to its learner. */
  get takesAnySteps(): boolean {
    return this.#slot.takesAnySteps;
  }

  /** Steps that its learner was shown and refused, since it was made. */
  get refusedObservations(): number {
    return this.#slot.refused;
  }

  /** Parameters trained elsewhere, tried on the newest observation first; refused, everything is as it was. */
  adopt(bytes: Uint8Array, { isTrained = true }: { readonly isTrained?: boolean } = {}): Result<void> {
    const tried = this.#slot.tryOut(bytes, { probe: this.#pending?.record.obs, isTrained });
    this.#slot.setConstraint(this.#constraint);
    if (!tried.ok)
      this.#events.tell({ at: this.#before ?? milliseconds(0), name: "adoption-refused", evidence: tried.failure });
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
        effect: this.#effect.state(),
        memory: this.#memory,
        watch: this.#watch.state(),
        trips: this.#trips.state(),
        constraint: this.#constraint,
        sinceEstimate: this.#sinceEstimate,
        ...this.#exploration.state(),
        before: this.#before,
      },
      log: this.#log.state(),
      learner: this.#slot.learner.save(options),
      good: this.#slot.good,
      isResumable: options.resumable ?? false,
    });
  }

  /** Steps of the newest episodes in which the fallback acted, oldest first: what its saved state has of the replay. */
  get kept(): readonly Transition[] {
    return this.#log.kept.flat();
  }

  /** Stored steps, oldest first, after those in the learner's replay or instead of them; answers with why some were refused. */
  recall(steps: readonly Transition[], { afresh = false } = {}): readonly Failure[] {
    return this.#slot.recall(steps, { afresh });
  }

  /** All or nothing, except for the policy: if that is damaged, the last good one is used, or the fallback acts. */
  load(bytes: Uint8Array): Result<void> {
    const { workload } = this.#options;
    const decoded = decodeAgent(bytes, { workload, fallback: this.#fallback.name });
    if (!decoded.ok) return decoded;
    const { state, fallback, notes, log, learner, good, isResumable } = decoded.value;
    this.#state = state;
    this.#fallback.restore(fallback as FallbackSave<S>);
    this.#guard = notes.guard;
    this.#guardBefore = notes.guard;
    this.#effect.restore(notes.effect);
    this.#memory = notes.memory;
    this.#watch.restore(notes.watch);
    this.#before = notes.before;
    this.#log.restore(log);
    this.#pending = undefined;
    this.#events.forgetWhoActed();
    const at = notes.before ?? milliseconds(0);
    const restored = this.#slot.restore(learner, good);
    if (restored.kind === "own") {
      this.#trips.restore(notes.trips);
      this.#sinceEstimate = notes.sinceEstimate;
      this.#exploration.restore(notes);
      this.#constraint = notes.constraint;
      for (const evidence of restored.refused) this.#events.tell({ at, name: "adoption-refused", evidence });
    } else {
      // What the one before had earned is not this one's.
      this.#state = { ...freshAgentState, episodes: state.episodes, history: state.history };
      const { was, is } = restored;
      this.#events.tell({ at, name: "learner-replaced", evidence: { was, is } });
    }
    if (restored.kind === "another's" || !isResumable) this.recall(this.kept);
    this.#slot.setConstraint(this.#constraint);
    this.#match.resume(this.#slot.familiar);
    this.#exploration.fade(this.#match);
    return ok(undefined);
  }

  dispose(): void {
    this.#slot.dispose();
  }
}
