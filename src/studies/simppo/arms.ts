/**
 * The methods of SIMPPO's studies: a fleet is trained, then serves without learning, and is scored.
 * Owns: what each arm does and what it answers. Not here: the scene (scene.ts), rules and bound (rules.ts).
 */
import { unwrap } from "../../base/index.ts";
import {
  type AgentEpisode,
  type EpisodeOptions,
  type FleetEpisode,
  FleetTraining,
  JointTraining,
  type Variant,
  type VariantName,
  variants,
} from "../../control/agents/index.ts";
import type { BadChoices } from "../../control/tasks/functions/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";
import { type FunctionSpec, functionKind, functionKinds, type ServerlessWorld } from "../../sim/index.ts";
import { bestConstants, clairvoyant, ensure, nobody, type RulesOf, relaxedEnsure, withRules } from "./rules.ts";
import { Scene, type SceneConfig } from "./scene.ts";
import { type FunctionScore, Score } from "./score.ts";

export interface ArmConfig {
  /** Where agents serve and all is scored. */
  readonly scene: SceneConfig;
  /** Where agents learn: the fluid rung is several times as fast. */
  readonly trainRung: SceneConfig["rung"];
  readonly trainEpisodes: number;
  readonly serveEpisodes: number;
  readonly badChoices: BadChoices;
  /** Episodes of a constant length, before they grow to twice that (section 5.1 has about 70); they never do unless given. */
  readonly growsAfter?: number;
}

export interface ServedFunction extends FunctionScore {
  /** Of an episode, by the task's own measure. */
  readonly reward: number;
  /** Share of steps whose 99th percentile was above the SLO. */
  readonly missedSteps: number;
  readonly coresAsked: number;
  readonly memoryAsked: number;
}

export interface ArmResult {
  /** Mean over agents of what each earned in an episode of training. */
  readonly curve: readonly number[];
  readonly updates: number;
  readonly served: readonly ServedFunction[];
  /** The same over the whole life: training and exploration included. */
  readonly life: { readonly missedSteps: number; readonly coresAsked: number; readonly memoryAsked: number };
  readonly asProposed: number;
}

export type RuleArm = "nobody" | "best-constant" | "ensure" | "ensure-util" | "clairvoyant";

export interface ArmRun {
  readonly config: ArmConfig;
  readonly kernels: Kernels;
  readonly seed: number;
  readonly progress: (fraction: number) => void;
  /** Other functions than the scene's own. */
  readonly functions?: readonly FunctionSpec[];
}

type Fleet = FleetTraining<FunctionSpec, ServerlessWorld>;

/** All functions on one platform, trained together by a variant. */
export function trainTogether(variant: VariantName, run: ArmRun): ArmResult {
  const { functions = new Scene(run.config.scene).functions } = run;
  const learning = learners(run, functions, { variant, rung: run.config.trainRung });
  const trained = train([learning], run);
  return finish(trained, serve([asServed([learning], functions, { variant, run })], run), run);
}

/** Each trained with the platform to itself, and served so. */
export function trainAlone(variant: VariantName, run: ArmRun): ArmResult {
  return learnAlone(variant, run).alone();
}

/** Each trained with the platform to itself, then all put onto one, and each alone again: the paper's baseline. */
export function trainApart(run: ArmRun): { readonly alone: ArmResult; readonly together: ArmResult } {
  const learned = learnAlone("s-rl", run);
  return { alone: learned.alone(), together: learned.together() };
}

function learnAlone(variant: VariantName, run: ArmRun) {
  const { functions = new Scene(run.config.scene).functions } = run;
  const own = functions.map((spec) => learners(run, [spec], { variant, rung: run.config.trainRung }));
  const trained = train(own, run);
  const { algorithm = "ppo" }: Variant = variants[variant];
  const how = { explore: algorithm === "ppo" };
  return {
    alone: () => {
      const apart = functions.map((spec, i) => asServed([own[i] as Fleet], [spec], { variant, run }));
      return finish(trained, serve(apart, run, how), run);
    },
    together: () => finish(trained, serve([asServed(own, functions, { variant, run })], run, how), run),
  };
}

/** One policy for all of them: joint-action learning, for two or three. */
export function trainJointly(run: ArmRun): ArmResult {
  const { config, kernels, seed, functions = new Scene(config.scene).functions } = run;
  const on = (rung: SceneConfig["rung"]) =>
    new JointTraining({ fleet: new Scene({ ...config.scene, rung }).fleet(functions), kernels, seed });
  const learning = on(config.trainRung);
  const trained = train([learning], run);
  const serving = on(config.scene.rung);
  unwrap(serving.learner.load(learning.learner.save()));
  return finish(trained, serve([serving], run), run);
}

/** The same policies, on the platform that is reported. */
function asServed(
  trained: readonly Fleet[],
  functions: readonly FunctionSpec[],
  { variant, run }: { readonly variant: VariantName; readonly run: ArmRun },
): Fleet {
  const serving = learners(run, functions, { variant, rung: run.config.scene.rung });
  for (const { id } of functions)
    for (const fleet of trained) {
      const policy = fleet.learner(id);
      if (policy !== undefined) serving.adopt(id, policy.save());
    }
  return serving;
}

/** Rules need no training: they are served at once, on the same episodes. */
export function runRules(arm: RuleArm, run: ArmRun, { alone = false } = {}): ArmResult {
  const scene = new Scene(run.config.scene);
  const { kernels, seed, config } = run;
  const fleets = (alone ? scene.functions.map((spec) => [spec]) : [scene.functions]).map((functions) => {
    const episodes = config.serveEpisodes;
    const served = { scene, functions, kernels, seed, episodes };
    // Constants are chosen on other episodes than those that are reported.
    return withRules(served, rulesOf(arm, { ...served, seed: seed + 50_000, episodes: 1 }, served));
  });
  return finish({ curve: [], updates: 0, sums: noSums() }, serve(fleets, run), run);
}

function rulesOf(arm: RuleArm, trial: Parameters<typeof bestConstants>[0], served: typeof trial): RulesOf {
  switch (arm) {
    case "nobody":
      return nobody;
    case "ensure":
      return ensure;
    case "ensure-util":
      return relaxedEnsure;
    case "best-constant":
      return bestConstants(trial);
    case "clairvoyant":
      return clairvoyant(trial)(served);
  }
}

function learners(
  run: ArmRun,
  functions: readonly FunctionSpec[],
  { variant, rung }: { readonly variant: VariantName; readonly rung: SceneConfig["rung"] },
): Fleet {
  const { badChoices } = run.config;
  const scene = new Scene({ ...run.config.scene, rung });
  return new FleetTraining({
    fleet: scene.fleet(functions, { badChoices }),
    variant: variants[variant],
    kernels: run.kernels,
    seed: run.seed,
    pool: scene.pool,
    bounds: scene.bounds,
    badChoices,
    groups: kindsOf(functions),
  });
}

function kindsOf(functions: readonly FunctionSpec[]) {
  const profiles = new Map(functions.map(({ id, profile }) => [id as string, profile.name]));
  return { names: functionKinds, of: (workload: string) => functionKind(profiles.get(workload) ?? "") };
}

interface Sums {
  agentEpisodes: number;
  missedSteps: number;
  coresAsked: number;
  memoryAsked: number;
  decisions: number;
  asProposed: number;
}

interface Trained {
  readonly curve: readonly number[];
  readonly updates: number;
  readonly sums: Sums;
}

const noSums = (): Sums => ({
  agentEpisodes: 0,
  missedSteps: 0,
  coresAsked: 0,
  memoryAsked: 0,
  decisions: 0,
  asProposed: 0,
});

/** What is trained and served, episode by episode: agents of their own, or one policy for all. */
interface Trainee {
  episode(options: EpisodeOptions<ServerlessWorld>): FleetEpisode;
  setProgress(progress: number): void;
}

/** Several fleets of one function each count as one fleet: their curves are averaged. */
function train(fleets: readonly Trainee[], { config, progress }: ArmRun): Trained {
  const { trainEpisodes } = config;
  const curve = new Array<number>(trainEpisodes).fill(0);
  const sums = noSums();
  let updates = 0;
  for (const [f, fleet] of fleets.entries())
    for (let i = 0; i < trainEpisodes; i++) {
      const steps = stepsOf(i, config);
      fleet.setProgress(i / trainEpisodes);
      const episode = fleet.episode({ learning: true, steps });
      // Of longer episodes as much counts as of the first ones.
      curve[i]! += (episode.reward * config.scene.steps) / steps / fleets.length;
      updates += episode.updates;
      for (const agent of episode.agents) addTo(sums, agent);
      progress((0.95 * (f + (i + 1) / trainEpisodes)) / fleets.length);
    }
  return { curve, updates, sums };
}

/** Linearly from the scene's steps to twice as many at the end; how far the paper's grow is not printed. */
function stepsOf(episode: number, { scene: { steps }, trainEpisodes, growsAfter }: ArmConfig): number {
  if (growsAfter === undefined || episode < growsAfter) return steps;
  return Math.round(steps * (1 + (episode - growsAfter) / (trainEpisodes - growsAfter)));
}

function addTo(sums: Sums, agent: AgentEpisode): void {
  sums.agentEpisodes += 1;
  sums.missedSteps += agent.missed;
  sums.coresAsked += agent.coresAsked;
  sums.memoryAsked += agent.memoryAsked;
  sums.decisions += agent.decisions;
  sums.asProposed += agent.asProposed;
}

interface Served {
  readonly functions: readonly ServedFunction[];
  readonly sums: Sums;
}

/** Policies that have chances are served as they were trained: their chances are part of them. Others explore only to learn. */
function serve(fleets: readonly Trainee[], { config }: ArmRun, { explore = true } = {}): Served {
  const sums = noSums();
  const functions = fleets.flatMap((fleet) => {
    const score = new Score();
    const means = new Map<string, { reward: number; missed: number; cores: number; memory: number }>();
    for (let i = 0; i < config.serveEpisodes; i++) {
      const { agents } = fleet.episode({ learning: false, explore, onStep: (world) => score.add(world) });
      for (const agent of agents) {
        addTo(sums, agent);
        const mean = means.get(agent.workload) ?? { reward: 0, missed: 0, cores: 0, memory: 0 };
        mean.reward += agent.reward / config.serveEpisodes;
        mean.missed += agent.missed / config.serveEpisodes;
        mean.cores += agent.coresAsked / config.serveEpisodes;
        mean.memory += agent.memoryAsked / config.serveEpisodes;
        means.set(agent.workload, mean);
      }
    }
    return score.done().map((one) => {
      const { reward = 0, missed = 0, cores = 0, memory = 0 } = means.get(one.workload) ?? {};
      return { ...one, reward, missedSteps: missed, coresAsked: cores, memoryAsked: memory };
    });
  });
  return { functions, sums };
}

function finish({ curve, updates, sums }: Trained, served: Served, { progress }: ArmRun): ArmResult {
  const all = noSums();
  for (const one of [sums, served.sums]) for (const key of Object.keys(all) as (keyof Sums)[]) all[key] += one[key];
  const mean = (value: number): number => value / Math.max(1, all.agentEpisodes);
  progress(1);
  return {
    curve,
    updates,
    served: served.functions,
    life: {
      missedSteps: mean(all.missedSteps),
      coresAsked: mean(all.coresAsked),
      memoryAsked: mean(all.memoryAsked),
    },
    asProposed: all.asProposed / Math.max(1, all.decisions),
  };
}
