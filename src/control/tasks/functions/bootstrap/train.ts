/**
 * A policy continues to learn in the simulator fitted to its function, and is compared there with what acts now and with the rules.
 * Owns: how long it learns, by what reward, and who is best. Pure; it takes seconds, so it is done beside the loop.
 * Not here: the simulator (fit.ts, model.ts), when it is due and what becomes of it (advisor.ts).
 *
 * On-policy learners have nothing to learn from the fallback's steps, and few steps of their own: in the simulator they act as much as
 * they need, from any setting, and nobody's calls are late for it (SIMPPO, discussion).
 */
import { milliseconds, type Rng, seededRng, unwrap } from "../../../../base/index.ts";
import { type Learner, openLearner } from "../../../../learn/rl/index.ts";
import type { Kernels } from "../../../../learn/tensor/index.ts";
import { ensureController } from "../../../fallbacks/index.ts";
import type { FunctionSetting } from "../action.ts";
import { ManagedFunction } from "../managed-function.ts";
import { functionsTask } from "../task.ts";
import type { BootstrapAdvice, BootstrapEstimate, Bootstrapped, BootstrapSeat } from "./advice.ts";
import { type FittedFunction, fitFunction } from "./fit.ts";
import { ModelWorld, type ModelWorldOptions } from "./model.ts";
import { type RecordedStep, stepsOf } from "./records.ts";
import type { BootstrapWork } from "./work.ts";

/** Steps of an episode: a policy that acts for days must know what comes of many steps of its own. */
const EPISODE = 300;
/** Lives that each is given, through the newest part of the records again and again, and their steps: those that count, and those before. */
const TRIALS = 3;
const COUNTED = 300;
const SETTLING = 60;
/** An episode begins so many steps of each knob away from what was recorded, at most: policies take over from rules, and after people. */
const AWAY = 12;
/** Episodes between two looks at how the candidate does; the best that was met is kept. */
const LOOK_EVERY = 10;
/** Nobody takes another's place for a gain that is within the noise, in reward of a step. */
const CLEAR = 0.01;
/** Share of steps that may be missed more than by the rules: what differs less is noise. */
const MORE = 0.02;
/** Rewards are for use, and many small containers are well used: nobody may cost more than the rules by more than this. */
const DEARER = 1.1;

export function functionBootstrap(work: BootstrapWork, { kernels }: { readonly kernels: Kernels }): Bootstrapped {
  const { records, workload, slo, step, seed } = work;
  const steps = stepsOf(records);
  const at = steps.at(-1)?.at ?? 0;
  const fitted = fitFunction(steps, { workload, slo, step, seed });
  if (!fitted.ok)
    return {
      advice: { at, seat: "policy", error: null, estimates: null, refused: fitted.failure.code },
      policy: null,
    };
  const life = new ModelLife(work, fitted.value);
  const before = unwrap(openLearner(work.policy, kernels));
  const candidate = unwrap(openLearner(work.policy, kernels));
  try {
    life.train(candidate);
    const estimates = {
      candidate: life.estimate(chooserOf(candidate)),
      policy: life.estimate(chooserOf(before)),
      rules: life.estimateRules(),
    };
    const seat = seatOf(estimates);
    const advice: BootstrapAdvice = { at, seat, error: fitted.value.error, estimates, refused: null };
    return { advice, policy: seat === "candidate" ? candidate.save() : null };
  } finally {
    before.dispose();
    candidate.dispose();
  }
}

/** A candidate has to earn more than both, and to miss and cost no more than the rules; who acts now, to be as good as the rules. */
export function seatOf({ candidate, policy, rules }: NonNullable<BootstrapAdvice["estimates"]>): BootstrapSeat {
  const isSound = (one: BootstrapEstimate): boolean =>
    one.reward >= rules.reward && one.missed <= rules.missed + MORE && one.cost <= DEARER * rules.cost;
  if (isSound(candidate) && (candidate.reward >= policy.reward + CLEAR || !isSound(policy))) return "candidate";
  return isSound(policy) ? "policy" : "rules";
}

type Chooser = (world: ModelWorld, managed: ManagedFunction, rng: Rng) => void;

/** As it acts: drawn from its chances. */
const chooserOf =
  (learner: Learner): Chooser =>
  (world, managed, rng) => {
    const { action } = unwrap(learner.act(managed.seen.values, { explore: true, explorer: { rng } }));
    managed.choose(world, action[0] as number);
  };

interface Part {
  readonly from: number;
  readonly to: number;
  readonly trials: number;
}

class ModelLife {
  readonly #work: BootstrapWork;
  readonly #fitted: FittedFunction;
  readonly #steps: readonly RecordedStep[];
  readonly #rng: Rng;

  constructor(work: BootstrapWork, fitted: FittedFunction) {
    this.#steps = stepsOf(work.records);
    this.#work = work;
    this.#fitted = fitted;
    this.#rng = seededRng(work.seed).fork("bootstrap");
  }

  /** On the part of the records that the simulator was fitted to, from wherever somebody may have left the function. */
  train(learner: Learner): void {
    const { course, heldOut } = this.#fitted;
    const rng = this.#rng.fork("training");
    const older = { from: 0, to: heldOut, trials: 1 };
    const allowed = this.estimateRules(older).missed;
    const score = ({ reward, missed }: BootstrapEstimate): number => reward - Math.max(0, missed - allowed);
    let best = { policy: learner.save(), score: score(this.estimate(chooserOf(learner), older)) };
    for (let episode = 0; episode < this.#work.episodes; episode++) {
      const chance = rng.fork(episode);
      const from = chance.fork("from").int(heldOut);
      const initial = this.#anySetting(chance.fork("setting"));
      const { world, managed } = this.#begin({ course: course.slice(0, heldOut), from, initial }, chance);
      const explorer = { rng: chance.fork("choices") };
      for (let step = 1; step <= EPISODE; step++) {
        const obs = managed.seen.values;
        const { action, logProb } = unwrap(learner.act(obs, { explore: true, explorer }));
        const carried = managed.choose(world, action[0] as number);
        this.#pass(world, managed);
        const reward = managed.reward(carried);
        const end = step < EPISODE ? "no" : "truncated";
        unwrap(learner.observe({ obs, action, logProb, reward, nextObs: managed.seen.values, end }));
        learner.update();
      }
      if ((episode + 1) % LOOK_EVERY > 0) continue;
      const now = score(this.estimate(chooserOf(learner), older));
      if (now > best.score) best = { policy: learner.save(), score: now };
    }
    unwrap(learner.load(best.policy));
  }

  /** Over the newest part, unless another is given. */
  estimate(chooser: Chooser, part?: Part): BootstrapEstimate {
    const { course, heldOut } = this.#fitted;
    const { from, to, trials } = part ?? { from: heldOut, to: course.length, trials: TRIALS };
    const newest = course.slice(from, to);
    const { setting } = this.#steps[from] as { readonly setting: FunctionSetting };
    let [reward, missed, cost, count] = [0, 0, 0, 0];
    for (let trial = 0; trial < trials; trial++) {
      // The same calls and settings for everybody.
      const chance = this.#rng.fork("estimate").fork(trial);
      const { world, managed } = this.#begin({ course: newest, from: 0, initial: setting }, chance);
      const choices = chance.fork("choices");
      for (let step = -SETTLING; step < COUNTED; step++) {
        chooser(world, managed, choices);
        this.#pass(world, managed);
        // A policy moves a step at a time from where another left off, once; it acts for days.
        if (step < 0) continue;
        reward += managed.reward({ isBad: false });
        missed += managed.seen.measures.preservation < 1 ? 1 : 0;
        cost += managed.costOf(world.setting());
        count += 1;
      }
    }
    const per = Math.max(1, count);
    return { reward: reward / per, missed: missed / per, cost: cost / per };
  }

  /** ENSURE, whose steps the records began with. */
  estimateRules(part?: Part): BootstrapEstimate {
    const rules = ensureController();
    let state = rules.start();
    return this.estimate((world, managed) => {
      const wish = rules.step(state, world.read(), world.now);
      state = wish.state;
      managed.want(world, { ...world.setting(), ...wish.want });
    }, part);
  }

  #begin(beginning: Pick<ModelWorldOptions, "course" | "from" | "initial">, rng: Rng) {
    const { workload, slo, step, bounds, reward } = this.#work;
    const { model } = this.#fitted;
    const world = new ModelWorld({ ...beginning, model, workload, slo, step, rng: rng.fork("calls") });
    const task = functionsTask({ bounds, reward, controlStep: step });
    const managed = new ManagedFunction({ task, workload, bounds, reward });
    this.#pass(world, managed);
    return { world, managed };
  }

  #pass(world: ModelWorld, managed: ManagedFunction): void {
    world.advance(milliseconds(world.now + this.#work.step));
    unwrap(managed.look(world));
  }

  #anySetting(rng: Rng): FunctionSetting {
    const { bounds } = this.#work;
    const { setting } = this.#steps[rng.int(this.#steps.length)] as { readonly setting: FunctionSetting };
    const near = (knob: keyof FunctionSetting): number => {
      const { min, max, step } = bounds[knob];
      const moved = setting[knob] + step * (rng.int(2 * AWAY + 1) - AWAY);
      return Math.min(max, Math.max(knob === "containers" ? 1 : min, moved));
    };
    return { shares: near("shares"), memory: near("memory"), containers: near("containers") };
  }
}
