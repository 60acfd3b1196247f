/**
 * One agent of a fleet in a process of its own: what it remembers between two answers, and what it learns from them.
 * Owns: complete transitions out of answers that overlap by a step, going on after a gap. Not here: messages for many members
 * (remote-party.ts), files, the network.
 *
 * An answer closes step t: with it come what the others were at t and what the team earned by t − 1. So the transition of t − 1 is
 * complete then, and the one of t is half known. Where the coordinator was lost, or rules acted instead, what is half known is
 * dropped, and the policy goes on from its last checkpoint with the transitions that are on disk since: the last of them ends there.
 */
import { err, failure, ok, type Result, type Rng, type WorkloadId } from "../../base/index.ts";
import type { Decision, Learner } from "../../learn/rl/index.ts";
import type { FunctionBounds, FunctionSetting, Pool } from "../tasks/functions/index.ts";
import { functionFeatures, sharedValues } from "../tasks/functions/index.ts";
import type { MemberAnswer, MemberReport, MemberSight, StepAnswer } from "./fleet-protocol.ts";
import type { Variant } from "./variants.ts";

/** What an agent keeps of a step, whole: it can be learned from again after a restart. */
export interface FleetTransition {
  readonly agent: WorkloadId;
  readonly incarnation: number;
  readonly step: number;
  /** Updates of the policy that chose. */
  readonly updates: number;
  readonly obs: Float32Array;
  readonly action: Float32Array;
  readonly logProb: number;
  readonly reward: number;
  readonly nextObs: Float32Array;
  readonly context: Float32Array;
  readonly nextContext: Float32Array;
}

export interface RemoteMemberOptions {
  readonly agent: WorkloadId;
  readonly incarnation: number;
  readonly variant: Variant;
  readonly pool: Pool;
  readonly bounds: FunctionBounds;
  readonly learner: Learner;
  readonly choiceOf: (action: Float32Array) => number;
  readonly rng: Rng;
  readonly learning: boolean;
  /** What an earlier life left: its checkpoint, and the transitions since. */
  readonly past: MemberPast | undefined;
  readonly sight: MemberSight;
}

export interface MemberPast {
  /** Null where there is none yet: it begins with the learner as it was made. */
  readonly checkpoint: Uint8Array | null;
  readonly updates: number;
  /** Of any age; those of other policies than the checkpoint's are left out. */
  readonly transitions: readonly FleetTransition[];
}

interface Chosen {
  readonly step: number;
  readonly obs: Float32Array;
  readonly decision: Decision;
}

interface HalfKnown extends Chosen {
  readonly context: Float32Array;
  readonly reward: number;
}

/** With optimisers, and a rollout that is empty: steps since the checkpoint are in the log of transitions. */
const RESUMABLE = { resumable: true } as const;

export class RemoteMember {
  readonly agent: WorkloadId;
  readonly incarnation: number;
  readonly #options: RemoteMemberOptions;
  #sight: MemberSight;
  #before: FunctionSetting;
  #reward: number | null = null;
  #sent: Chosen | undefined;
  #open: HalfKnown | undefined;
  #kept = 0;
  #updates: number;
  #checkpoint: Uint8Array;
  /** Learned from since the checkpoint. */
  #since: FleetTransition[] = [];

  constructor(options: RemoteMemberOptions) {
    const { agent, incarnation, past, sight, learner } = options;
    this.agent = agent;
    this.incarnation = incarnation;
    this.#options = options;
    this.#sight = sight;
    this.#before = sight.have;
    this.#updates = past?.updates ?? 0;
    this.#checkpoint = past?.checkpoint ?? learner.save(RESUMABLE);
    this.#since = (past?.transitions ?? []).filter(({ updates }) => updates === this.#updates);
  }

  get updates(): number {
    return this.#updates;
  }

  get kept(): number {
    return this.#kept;
  }

  /**
   * Before the first choice, and after a gap: as the last checkpoint was, and what was done since learned again. True where that was
   * enough for an update, whose checkpoint a process that was killed did not save any more: it is to be saved.
   */
  resume(): Result<boolean> {
    const { learner, learning } = this.#options;
    this.#open = undefined;
    this.#sent = undefined;
    this.#reward = null;
    const loaded = learner.load(this.#checkpoint);
    if (!loaded.ok) return loaded;
    const since = this.#since;
    if (!learning) return ok(false);
    this.#since = [];
    let isUpdated = false;
    for (const [i, transition] of since.entries()) {
      const next = since[i + 1];
      const goesOn = next?.incarnation === transition.incarnation && next.step === transition.step + 1;
      const observed = this.#observe(transition, goesOn ? "no" : "truncated");
      if (!observed.ok) return observed;
      this.#since.push(transition);
      isUpdated = this.#update() || isUpdated;
    }
    return ok(isUpdated);
  }

  report(step: number): MemberReport {
    const { agent, incarnation } = this;
    const { learner, rng, choiceOf, learning } = this.#options;
    const { obs } = this.#sight;
    const decided = learner.act(obs, { explore: learning, explorer: { rng } });
    this.#sent = decided.ok ? { step, obs, decision: decided.value } : undefined;
    return {
      agent,
      incarnation,
      values: this.#values(),
      reward: this.#reward,
      choice: decided.ok ? choiceOf(decided.value.action) : null,
      kept: this.#kept,
    };
  }

  /** The transition that is complete now, to be written down before `learn`. A failure where the member has to join again. */
  take(
    { acted, seen, reward, global }: MemberAnswer,
    { step, teamReward }: Pick<StepAnswer, "step" | "teamReward">,
  ): Result<{ readonly transition: FleetTransition | undefined; readonly isGap: boolean }> {
    if (seen === null)
      return err(failure("agents.unknown", `${this.agent} is no member of the fleet any more; join again`));
    const [open, sent] = [this.#open, this.#sent];
    const followed = acted && sent?.step === step;
    const transition =
      open === undefined || sent === undefined || sent.step !== step || open.step !== step - 1
        ? undefined
        : this.#complete(open, { nextObs: sent.obs, nextContext: global, teamReward });
    this.#open = followed ? { ...sent, context: global, reward: reward ?? 0 } : undefined;
    this.#sent = undefined;
    this.#reward = followed ? reward : null;
    this.#before = this.#sight.have;
    this.#sight = seen;
    return ok({ transition, isGap: !followed });
  }

  /** After it is on disk. True where the policy was updated: its checkpoint is to be saved. */
  learn(transition: FleetTransition): Result<boolean> {
    this.#kept += 1;
    if (!this.#options.learning) return ok(false);
    const observed = this.#observe(transition, "no");
    if (!observed.ok) return observed;
    this.#since.push(transition);
    return ok(this.#update());
  }

  /** As of the last update. */
  get checkpoint(): Uint8Array {
    return this.#checkpoint;
  }

  dispose(): void {
    this.#options.learner.dispose();
  }

  #update(): boolean {
    const { learner } = this.#options;
    if (learner.update() === undefined) return false;
    this.#updates += 1;
    this.#since = [];
    this.#checkpoint = learner.save(RESUMABLE);
    return true;
  }

  #complete(
    open: HalfKnown,
    {
      nextObs,
      nextContext,
      teamReward,
    }: { readonly nextObs: Float32Array; readonly nextContext: Float32Array; readonly teamReward: number | null },
  ): FleetTransition {
    const { step, obs, decision, context, reward } = open;
    return {
      agent: this.agent,
      incarnation: this.incarnation,
      step,
      updates: this.#updates,
      obs,
      action: decision.action,
      logProb: decision.logProb,
      reward: this.#options.variant.reward === "team" ? (teamReward ?? reward) : reward,
      nextObs,
      context,
      nextContext,
    };
  }

  #observe(transition: FleetTransition, end: "no" | "truncated"): Result<void> {
    const { obs, action, logProb, reward, nextObs, context, nextContext } = transition;
    const hasContext = this.#options.learner.shape.criticContext > 0;
    return this.#options.learner.observe({
      obs,
      action,
      logProb,
      reward,
      nextObs,
      end,
      ...(hasContext ? { criticContext: context, nextCriticContext: nextContext } : {}),
    });
  }

  #values(): Float64Array {
    const { variant, pool, bounds } = this.#options;
    const { obs, have, measures } = this.#sight;
    if (variant.critic === "everything") return Float64Array.from(obs.subarray(0, functionFeatures.length));
    return sharedValues({ have, measures }, { before: this.#before, pool, bounds });
  }
}
