/**
 * Trains and serves the agents of a fleet, by any of the variants. START READING at `episode`.
 * Owns: what happens in a step, who learns what from it, models that new agents begin with.
 * Not here: the platform and its functions (control/tasks/functions), one agent (fleet-agent.ts), sums (coordinator.ts).
 *
 * Same seed, same bytes: chance is forked by agent and by use, and agents act and learn in the order in which they joined.
 */
import { type Ms, milliseconds, type Rng, seededRng, unwrap, type WorkloadId } from "../../base/index.ts";
import { createLearner, type Learner, type LearnerShape } from "../../learn/rl/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";
import type { FunctionReading } from "../../observe/telemetry/index.ts";
import type { Fallback } from "../index.ts";
import {
  type BadChoices,
  type Fleet,
  type FleetDecision,
  type FleetFunction,
  type FleetWorld,
  type FunctionBounds,
  type FunctionSetting,
  type FunctionsLearner,
  functionFeatures,
  functionsLearner,
  type Pool,
  sharedValues,
} from "../tasks/functions/index.ts";
import { type Coordinator, createCoordinator } from "./coordinator.ts";
import { FleetAgent } from "./fleet-agent.ts";
import { groupsByMeasuring, type Sensitivity } from "./sensitivity.ts";
import { type AgentEpisode, Tally } from "./tally.ts";
import { coordinatorOf, usualCharge, type Variant } from "./variants.ts";

export interface FleetTrainingOptions<F extends FleetFunction, W extends FleetWorld<F>> {
  readonly fleet: Fleet<F, W>;
  readonly variant: Variant;
  readonly kernels: Kernels;
  readonly seed: number;
  readonly pool: Pool;
  readonly bounds: FunctionBounds;
  readonly badChoices?: BadChoices;
  /** The kind of a function, for base models and for virtual agents by type; one kind unless given, or told by measuring. */
  readonly groups?: { readonly names: readonly string[]; readonly of: (workload: WorkloadId) => string };
  /**
   * In place of `groups`: what slows a member down (`sensitivityOf`), asked once when it joins. So one of which nobody knows the kind begins
   * with the base model of those that it is like.
   */
  readonly sensitivity?: (workload: WorkloadId) => Sensitivity | undefined;
  /** Members that follow rules: they act, and report as all do. */
  readonly rules?: (workload: WorkloadId) => Fallback<unknown, FunctionReading, FunctionSetting> | undefined;
  /** Episodes between two refreshments of the base models. */
  readonly refreshEvery?: number;
}

export interface FleetEpisode {
  /** Mean over agents of what each earned in the episode. */
  readonly reward: number;
  readonly updates: number;
  readonly agents: readonly AgentEpisode[];
}

export interface EpisodeOptions<W> {
  readonly steps?: number;
  /** False: policies act by themselves, and nobody learns. */
  readonly learning: boolean;
  /** Draw from policies; as `learning` unless given. */
  readonly explore?: boolean;
  /** After each step: for scoring by the truth. */
  readonly onStep?: (world: W) => void;
}

const ONE_KIND = { names: ["all"], of: () => "all" } as const;
const REFRESH_EVERY = 20;

export class FleetTraining<F extends FleetFunction, W extends FleetWorld<F>> {
  readonly #options: FleetTrainingOptions<F, W>;
  readonly #groups: NonNullable<FleetTrainingOptions<F, W>["groups"]>;
  readonly #rng: Rng;
  readonly #coordinator: Coordinator;
  /** One for all: what many agents read in each step should be in one place. */
  readonly #learning: FunctionsLearner;
  readonly #shape: LearnerShape;
  readonly #agents = new Map<WorkloadId, FleetAgent>();
  readonly #rules = new Map<WorkloadId, RuleMember>();
  readonly #incarnations = new Map<WorkloadId, number>();
  /** By kind: a policy that learned on functions of that kind. */
  readonly #baseModels = new Map<string, Uint8Array>();
  #episodes = 0;
  #now: Ms = milliseconds(0);

  constructor(options: FleetTrainingOptions<F, W>) {
    this.#options = options;
    this.#groups = groupsOf(options);
    this.#rng = seededRng(options.seed).fork("fleet");
    // Nobody is lost within one process: agents leave by name.
    this.#coordinator = createCoordinator(
      coordinatorOf(options.variant, { groups: this.#groups.names, expiry: milliseconds(Number.MAX_VALUE) }),
    );
    const { badChoices = "masked", variant } = options;
    this.#learning = functionsLearner(variant.algorithm ?? "ppo", { badChoices, minibatch: variant.minibatch });
    this.#shape = {
      obs: options.fleet.task.observationSize,
      action: this.#learning.action,
      actorContext: 0,
      criticContext: variant.critic === "own" ? 0 : this.#coordinator.width,
    };
    options.fleet.reset({ seed: this.#rng.fork("worlds").uint32() });
    for (const workload of options.fleet.agents) this.#admit(workload);
  }

  get coordinator(): Coordinator {
    return this.#coordinator;
  }

  learner(workload: WorkloadId): Learner | undefined {
    return this.#agents.get(workload)?.learner;
  }

  /** Goes on with a policy that was trained elsewhere. */
  adopt(workload: WorkloadId, policy: Uint8Array): void {
    const agent = this.#agents.get(workload);
    if (agent !== undefined) unwrap(agent.learner.load(policy));
  }

  /** How far training has come, from 0 to 1: what learners explore may depend on it. */
  setProgress(progress: number): void {
    for (const { learner } of this.#agents.values()) learner.setProgress(progress);
  }

  join(spec: F): void {
    unwrap(this.#options.fleet.join(spec));
    this.#admit(spec.id);
  }

  leave(workload: WorkloadId): void {
    unwrap(this.#options.fleet.leave(workload));
    this.#agents.get(workload)?.learner.dispose();
    const incarnation = this.#incarnations.get(workload) ?? 0;
    unwrap(this.#coordinator.leave(workload, incarnation));
    this.#agents.delete(workload);
    this.#rules.delete(workload);
  }

  episode({ steps, learning, explore = learning, onStep }: EpisodeOptions<W>): FleetEpisode {
    const { fleet, variant } = this.#options;
    fleet.reset(steps === undefined ? {} : { steps });
    for (const rule of this.#rules.values()) rule.state = rule.fallback.start();
    const tallies = new Map(fleet.agents.map((workload) => [workload, new Tally(workload)]));
    let before = new Map(fleet.agents.map((workload) => [workload, fleet.seen(workload).have]));
    this.#tell(before, new Map());
    let contexts = this.#contexts();
    let updates = 0;
    for (let end: "no" | "truncated" = "no"; end === "no"; ) {
      const decisions = this.#decide(contexts, { explore });
      const { outcomes, end: ended } = fleet.step(decisions);
      end = ended;
      onStep?.(fleet.world);
      const rewards = new Map([...outcomes].map(([workload, { reward }]) => [workload, reward]));
      const team = this.#tell(before, rewards);
      const nextContexts = this.#contexts();
      for (const [workload, outcome] of outcomes) {
        tallies.get(workload)?.add(outcome);
        const agent = this.#agents.get(workload);
        if (agent === undefined) continue;
        if (!learning) agent.forget();
        else if (
          agent.learn({
            reward: variant.reward === "team" ? (team ?? outcome.reward) : outcome.reward,
            nextObs: outcome.seen.values,
            nextContext: contextOf(nextContexts, workload),
            end,
          })
        )
          updates += 1;
      }
      contexts = nextContexts;
      before = new Map(fleet.agents.map((workload) => [workload, fleet.seen(workload).have]));
    }
    this.#episodes += 1;
    if (learning && variant.sharing && this.#episodes % (this.#options.refreshEvery ?? REFRESH_EVERY) === 0)
      this.#refreshBaseModels();
    const agents = [...tallies.values()].filter(({ steps: seen }) => seen > 0).map((tally) => tally.done());
    const reward = agents.reduce((sum, agent) => sum + agent.reward, 0) / Math.max(1, agents.length);
    return { reward, updates, agents };
  }

  dispose(): void {
    for (const { learner } of this.#agents.values()) learner.dispose();
  }

  // ── A step ───────────────────────────────────────────────────────────────────────────────────────────

  #decide(
    contexts: ReadonlyMap<WorkloadId, Float32Array>,
    { explore }: { readonly explore: boolean },
  ): Map<WorkloadId, FleetDecision> {
    const { fleet, variant } = this.#options;
    const decisions = new Map<WorkloadId, FleetDecision>();
    for (const [workload, rule] of this.#rules) {
      const { want, state } = rule.fallback.step(rule.state, fleet.world.read(workload), fleet.world.now);
      rule.state = state;
      decisions.set(workload, { action: { ...fleet.seen(workload).have, ...want }, charge: usualCharge });
    }
    for (const agent of this.#inTurn()) {
      const { values } = fleet.seen(agent.workload);
      const action = agent.act(values, contextOf(contexts, agent.workload), { explore });
      decisions.set(agent.workload, { action, charge: variant.turn ?? usualCharge });
    }
    return decisions;
  }

  /** Who decides now: all, or as many as have time to in a step, those with the worst SLO preservation first. */
  #inTurn(): readonly FleetAgent[] {
    const { fleet, variant } = this.#options;
    const here = new Set(fleet.agents);
    const agents = [...this.#agents.values()].filter(({ workload }) => here.has(workload));
    if (variant.turn === undefined) return agents;
    const turns = Math.max(1, Math.floor(fleet.task.controlStep / variant.turn.takes));
    const preservation = ({ workload }: FleetAgent): number => fleet.seen(workload).measures.preservation;
    return agents.sort((a, b) => preservation(a) - preservation(b)).slice(0, turns);
  }

  /** All report; the answer is what the team earned. */
  #tell(before: ReadonlyMap<WorkloadId, FunctionSetting>, rewards: ReadonlyMap<WorkloadId, number>): number | null {
    const { fleet, pool, bounds, variant } = this.#options;
    this.#now = milliseconds(this.#now + fleet.task.controlStep);
    for (const workload of fleet.agents) {
      const incarnation = this.#incarnations.get(workload);
      if (incarnation === undefined) continue;
      const seen = fleet.seen(workload);
      const values =
        variant.critic === "everything"
          ? Float64Array.from(seen.values.subarray(0, functionFeatures.length))
          : sharedValues(seen, { before: before.get(workload) ?? seen.have, pool, bounds });
      const reward = rewards.get(workload) ?? null;
      unwrap(
        this.#coordinator.report(
          { agent: workload, incarnation, step: this.#coordinator.step, values, reward },
          this.#now,
        ),
      );
    }
    return this.#coordinator.closeStep(this.#now).teamReward;
  }

  #contexts(): ReadonlyMap<WorkloadId, Float32Array> {
    if (this.#options.variant.critic === "own") return new Map();
    return new Map([...this.#agents.keys()].map((agent) => [agent, unwrap(this.#coordinator.globalState(agent))]));
  }

  // ── Members ──────────────────────────────────────────────────────────────────────────────────────────

  #admit(workload: WorkloadId): void {
    const { variant, rules } = this.#options;
    const group = this.#groups.of(workload);
    const { incarnation } = unwrap(
      this.#coordinator.join(workload, variant.critic === "by-type" ? { now: this.#now, group } : { now: this.#now }),
    );
    this.#incarnations.set(workload, incarnation);
    const fallback = rules?.(workload);
    if (fallback !== undefined) {
      this.#rules.set(workload, { fallback, state: fallback.start() });
      return;
    }
    const rng = this.#rng.fork(`${workload} ${incarnation}`);
    const { algorithm, choiceOf } = this.#learning;
    const learner = createLearner(algorithm, {
      kernels: this.#options.kernels,
      shape: this.#shape,
      seed: rng.fork("learner").uint32(),
    });
    const base = variant.sharing ? this.#baseModels.get(group) : undefined;
    if (base !== undefined) unwrap(learner.load(base));
    this.#agents.set(
      workload,
      new FleetAgent({ workload, group, learner, rng: rng.fork("choices"), incarnation, choiceOf }),
    );
  }

  /** Of each kind the policy of its longest member: it has learned the most. */
  #refreshBaseModels(): void {
    const done = new Set<string>();
    for (const { group, learner } of this.#agents.values()) {
      if (done.has(group)) continue;
      done.add(group);
      this.#baseModels.set(group, learner.save());
    }
  }
}

function groupsOf<F extends FleetFunction, W extends FleetWorld<F>>({
  groups,
  sensitivity,
  fleet,
}: FleetTrainingOptions<F, W>): NonNullable<FleetTrainingOptions<F, W>["groups"]> {
  if (groups !== undefined || sensitivity === undefined) return groups ?? ONE_KIND;
  const first = fleet.functions.map(({ id }) => id);
  return groupsByMeasuring(first, sensitivity);
}

interface RuleMember {
  readonly fallback: Fallback<unknown, FunctionReading, FunctionSetting>;
  state: unknown;
}

const NO_CONTEXT = new Float32Array(0);
const contextOf = (contexts: ReadonlyMap<WorkloadId, Float32Array>, workload: WorkloadId): Float32Array =>
  contexts.get(workload) ?? NO_CONTEXT;
