/**
 * The learner's place in an agent: whatever it does, the agent goes on.
 * Owns: catching what it throws, timing it, the last good checkpoint, and the way back after a fault, one rung a step:
 * the last good checkpoint, then a learner made anew. Not here: what follows for the agent's life (lifecycle.ts).
 */
import type { Failure, Ms, Result } from "../../base/index.ts";
import { err, failure, failureOf, ok } from "../../base/index.ts";
import type { Familiar } from "../../learn/meta/index.ts";
import { isFamiliar } from "../../learn/meta/index.ts";
import type { ActOptions, Checkpoint, Decision, Learner, Transition, UpdateStats } from "../../learn/rl/index.ts";
import { decodeCheckpoint } from "../../learn/rl/index.ts";
import type { Health } from "./health.ts";

export interface SlotOptions {
  /** Attempt 0 is the first; later ones must differ in their seed, or the same end would be met again. */
  createLearner(attempt: number): Learner;
  /** Time of a clock that never goes back, for noticing a slow learner. Without it nothing is timed. */
  readonly stopwatch?: () => Ms;
  readonly slowAfter: Ms;
  /** Steps without a further try, after one that did not help. */
  readonly retryAfter: number;
}

/** What was done about a fault. */
export type Mending =
  | { readonly kind: "restored"; readonly fault: string }
  | { readonly kind: "checkpoint"; readonly state: Health["checkpoint"]; readonly fault: string }
  /** The policy is gone; a new one has been made, which knows nothing. */
  | { readonly kind: "rebuilt"; readonly fault: string };

/** Whose the saved policy was. */
export type Restored =
  | { readonly kind: "own"; readonly refused: readonly Failure[] }
  /** Of these kinds; the same one where only its shape or its settings differ. */
  | { readonly kind: "another's"; readonly was: string; readonly is: string };

/** A learner whose nearness to seen actions can be set, such as BCQ. */
interface Constrained {
  setConstraint(constraint: number): void;
}

const hasConstraint = (learner: object): learner is Constrained => "setConstraint" in learner;

/** A learner that learns from what it has kept of the past. */
interface Replaying {
  clearReplay(): void;
}

/** A learner that learns from what its own policy has just done. */
interface OnPolicy {
  clearRollout(): void;
}

const hasRollout = (learner: object): learner is OnPolicy => "clearRollout" in learner;

const hasReplay = (learner: object): learner is Replaying => "clearReplay" in learner;

export class LearnerSlot {
  readonly #options: SlotOptions;
  #learner: Learner;
  #attempt = 0;
  #good: Uint8Array | null = null;
  #condition: Health["learner"] = "well";
  #checkpoint: Health["checkpoint"] = "good";
  #fault = "";
  /** Steps until the next try. */
  #pause = 0;
  /** Repairs since the learner last did something right. */
  #repairs = 0;
  #refused = 0;

  constructor(options: SlotOptions) {
    this.#options = options;
    this.#learner = options.createLearner(0);
  }

  get learner(): Learner {
    return this.#learner;
  }

  /** The learner, if it began from a shared model. */
  get familiar(): Familiar | undefined {
    return isFamiliar(this.#learner) ? this.#learner : undefined;
  }

  get attempt(): number {
    return this.#attempt;
  }

  get good(): Uint8Array | null {
    return this.#good;
  }

  get condition(): Pick<Health, "learner" | "checkpoint"> {
    return { learner: this.#condition, checkpoint: this.#checkpoint };
  }

  get fault(): string {
    return this.#fault;
  }

  get isWell(): boolean {
    return this.#condition === "well" && this.#checkpoint === "good";
  }

  /** A proposal, or the failure that has been noted as the learner's condition. */
  propose(obs: Float32Array, act: ActOptions): Result<Decision> {
    const begun = this.#options.stopwatch?.() ?? 0;
    try {
      const decision = this.#learner.act(obs, act);
      const took = (this.#options.stopwatch?.() ?? 0) - begun;
      if (!decision.ok) return err(this.#note("not-finite", decision.failure));
      if (!decision.value.action.every(Number.isFinite)) {
        const found = `[${decision.value.action.join(", ")}]`;
        return err(
          this.#note("not-finite", failure("agent.not-finite", `the learner proposed ${found}; the fallback acts`)),
        );
      }
      if (took > this.#options.slowAfter) {
        const words = `the learner took ${Math.round(took)} ms for one proposal, more than the ${this.#options.slowAfter} ms it has; the fallback acts`;
        this.#pause = this.#options.retryAfter;
        return err(this.#note("slow", failure("agent.slow-learner", words)));
      }
      this.#repairs = 0;
      return decision;
    } catch (thrown) {
      return err(this.#note("crashed", crashed("chose an action", thrown)));
    }
  }

  /** Steps that were offered to it and that it refused. */
  get refused(): number {
    return this.#refused;
  }

  /** Whether it may be shown what others did, and what was done long ago. */
  get takesAnySteps(): boolean {
    return this.#learner.learnsFrom === "any";
  }

  /** Whether training could change it at all. */
  get mayLearn(): boolean {
    return this.#learner.learnsFrom !== "nothing";
  }

  /** Nonsense is refused by the learner itself, which is no fault of it; it is counted, and told by whoever asked. */
  observe(transition: Transition): Result<void> {
    const taken = this.#observe(transition);
    if (!taken.ok) this.#refused += 1;
    return taken;
  }

  #observe(transition: Transition): Result<void> {
    try {
      return this.#learner.observe(transition);
    } catch (thrown) {
      return err(this.#note("crashed", crashed("took in a step", thrown)));
    }
  }

  /** Steps from long ago, oldest first. A learner that is not well is about to be replaced, and would lose them. */
  recall(steps: readonly Transition[], { afresh }: { readonly afresh: boolean }): readonly Failure[] {
    if (!this.takesAnySteps) return [];
    const refused: Failure[] = [];
    if (afresh && this.isWell && hasReplay(this.#learner)) this.#learner.clearReplay();
    for (const step of steps) {
      if (!this.isWell) break;
      const taken = this.observe(step);
      if (!taken.ok) refused.push(taken.failure);
    }
    return refused;
  }

  update(): Result<UpdateStats | undefined> {
    try {
      return ok(this.#learner.update());
    } catch (thrown) {
      return err(this.#note("crashed", crashed("learned", thrown)));
    }
  }

  setConstraint(constraint: number): void {
    if (hasConstraint(this.#learner)) this.#learner.setConstraint(constraint);
  }

  /** The learner as it is now is one to come back to. */
  keepAsGood(): void {
    try {
      this.#good = this.#learner.save();
    } catch (thrown) {
      this.#note("crashed", crashed("saved itself", thrown));
    }
  }

  /** Takes over parameters; after a failure everything is as it was. */
  adopt(bytes: Uint8Array): Result<void> {
    try {
      const loaded = this.#learner.load(bytes);
      if (loaded.ok) this.#heal();
      return loaded;
    } catch (thrown) {
      return err(crashed("loaded a checkpoint", thrown));
    }
  }

  /**
   * Takes over parameters if the policy that they make answers; refused, the one that was there is back. `isTrained`: they
   * were learned from the steps that are here, so an on-policy learner has consumed them.
   */
  tryOut(
    bytes: Uint8Array,
    { probe, isTrained }: { readonly probe: Float32Array | undefined; readonly isTrained: boolean },
  ): Result<void> {
    const before = this.#learner.save();
    const adopted = this.adopt(bytes);
    if (!adopted.ok) return adopted;
    const answer = probe ? this.propose(probe, { explore: false }) : undefined;
    if (answer && !answer.ok) {
      this.adopt(before);
      return answer;
    }
    if (isTrained && hasRollout(this.#learner)) this.#learner.clearRollout();
    return ok(undefined);
  }

  /** After a restart: the newest parameters, else the last good ones, else a condition that says what is wrong. */
  restore(newest: Uint8Array | null, good: Uint8Array | null): Restored {
    this.#good = good;
    const found = newest === null ? missing() : this.adopt(newest);
    if (found.ok) return { kind: "own", refused: [] };
    const again = good === null ? missing() : this.adopt(good);
    if (again.ok) return { kind: "own", refused: [found.failure] };
    this.#good = null;
    // Its owner has chosen this learner instead, which is as it was made.
    const other = newest === null ? undefined : otherThan(this.#learner, newest);
    if (other !== undefined) return { kind: "another's", ...other };
    this.#checkpoint = checkpointState(found.failure);
    this.#fault = found.failure.message;
    return { kind: "own", refused: [found.failure, again.failure] };
  }

  /** At the end of a step: one rung of the way back, if there is something to mend and a try is due. */
  mend(): Mending | undefined {
    if (this.isWell) return undefined;
    if (this.#pause > 0) {
      this.#pause -= 1;
      // A slow learner is asked again after the pause; nothing about it is broken.
      if (this.#pause === 0 && this.#condition === "slow") this.#heal();
      return undefined;
    }
    return this.#checkpoint === "good" ? this.#goBack() : this.#rebuild();
  }

  #goBack(): Mending {
    const fault = this.#fault;
    // The same checkpoint a second time, with nothing done right in between: it is the checkpoint.
    const loaded = this.#good === null ? missing() : this.#repairs > 0 ? worthless() : this.adopt(this.#good);
    if (loaded.ok) {
      this.#repairs += 1;
      return { kind: "restored", fault };
    }
    this.#checkpoint = checkpointState(loaded.failure);
    this.#good = null;
    return { kind: "checkpoint", state: this.#checkpoint, fault };
  }

  #rebuild(): Mending {
    const fault = this.#fault;
    this.#repairs += 1;
    this.#pause = this.#repairs > 1 ? this.#options.retryAfter : 0;
    this.#attempt += 1;
    const fresh = this.#options.createLearner(this.#attempt);
    this.#learner.dispose();
    this.#learner = fresh;
    this.#condition = "well";
    this.#checkpoint = "good";
    this.#fault = "";
    return { kind: "rebuilt", fault };
  }

  #heal(): void {
    this.#condition = "well";
    this.#checkpoint = "good";
    this.#fault = "";
    this.#pause = 0;
  }

  #note(condition: Exclude<Health["learner"], "well">, why: Failure): Failure {
    this.#condition = condition;
    this.#fault = why.message;
    return why;
  }

  dispose(): void {
    this.#learner.dispose();
  }
}

/** The two kinds, where intact bytes are of a learner of another kind, shape or settings. */
function otherThan(learner: Learner, bytes: Uint8Array): { readonly was: string; readonly is: string } | undefined {
  const [theirs, own] = [decodeCheckpoint(bytes), decodeCheckpoint(learner.save())];
  if (!theirs.ok || !own.ok || identityOf(theirs.value) === identityOf(own.value)) return undefined;
  return { was: theirs.value.kind, is: own.value.kind };
}

const identityOf = ({ kind, meta: { shape, hidden, config } }: Checkpoint) =>
  JSON.stringify([kind, shape, hidden, config]);

function crashed(when: string, thrown: unknown): Failure {
  const known = failureOf(thrown);
  const words = thrown instanceof Error ? thrown.message : String(thrown);
  return failure(
    "agent.learner-crashed",
    `the learner threw when it ${when}: ${words.slice(0, 300)}; the fallback acts`,
    {
      cause: known ?? thrown,
    },
  );
}

const missing = () => err(failure("agent.no-checkpoint", "there is no checkpoint of the policy; the fallback acts"));
const worthless = () =>
  err(
    failure(
      "agent.bad-checkpoint",
      "the policy fails again right after its last good checkpoint was loaded; it is given up",
    ),
  );

const otherVersion: ReadonlySet<string> = new Set(["checkpoint.schema", "checkpoint.mismatch", "meta.other-model"]);

function checkpointState({ code }: Failure): Exclude<Health["checkpoint"], "good"> {
  if (code === "agent.no-checkpoint") return "missing";
  // A policy of other shapes is one of another version of the task.
  return otherVersion.has(code) ? "other-version" : "corrupt";
}
