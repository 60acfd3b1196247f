/**
 * Training of mitigating agents (dissertation 3.2.4, Algorithm 3.3; 3.3.3): one for all services, one for each, transferred.
 * START READING HERE for pre-training. Owns: the episodes, the curriculum, checkpoints and their evaluation.
 * Not here: the scene (scene.ts), settings (config.ts), the world (ground.ts), the algorithm (learn/rl/ddpg.ts).
 *
 * Deterministic in its options: same seed, same bytes.
 */
import { CodedError, failure, ok, type Rng, seededRng, unwrap } from "../../../../base/index.ts";
import { createNoise, Ddpg, type Noise } from "../../../../learn/rl/index.ts";
import type { Kernels } from "../../../../learn/tensor/index.ts";
import { MITIGATION_ACTIONS } from "../action.ts";
import type { MitigationAgent } from "../agent.ts";
import { EPSILON_DECAY, episodeLength, type MitigationTraining, mitigationShape } from "./config.ts";
import type { PretrainingGround } from "./ground.ts";
import { type ManagedSight, PretrainingScene } from "./scene.ts";

export interface TrainMitigationOptions extends MitigationTraining {
  readonly ground: PretrainingGround;
  readonly seed: number;
  readonly kernels: Kernels;
  /** Whose containers are managed; all where absent. */
  readonly services?: readonly string[];
  /** One policy for all of them, unless each is to have its own. */
  readonly each?: boolean;
  /** Policies to begin with, as `checkpoints` has them; a common one under `ALL` serves whoever has none of its own. */
  readonly from?: Checkpoints;
  /** Evaluate and keep policies after every so many episodes; the last ones are always kept. */
  readonly checkpointEvery?: number;
  readonly evaluation?: EvaluationConfig;
  readonly onEpisode?: (episode: TrainedEpisode) => void;
  readonly signal?: AbortSignal;
}

export interface EvaluationConfig {
  /** Seconds of anomalies, and how many times. The paper has one minute. */
  readonly length: number;
  readonly scenes: number;
  /** Whose containers are managed when it is judged; those of the training where absent. */
  readonly services?: readonly string[];
}

/** The one policy for all services. */
export const ALL = "all";

/** By service, or `ALL`. */
export type Checkpoints = Readonly<Record<string, Uint8Array>>;

export interface TrainedEpisode {
  readonly episode: number;
  readonly length: number;
  /** Mean per service and second. */
  readonly reward: number;
}

export interface Judgement {
  /** After so many episodes. */
  readonly episodes: number;
  /** Mean per service and second: of all, by service, and of those that were to blame. */
  readonly reward: number;
  readonly rewards: Readonly<Record<string, number>>;
  readonly blamedReward: number | null;
  /** Of requests that ended: late, given up or refused. */
  readonly missedShare: number;
  readonly requestedCores: number;
}

export interface TrainedMitigation {
  readonly episodes: readonly TrainedEpisode[];
  readonly judgements: readonly Judgement[];
  readonly checkpoints: Checkpoints;
  /** Those of the best judgement, by reward; the last ones where nobody judged. */
  readonly best: Checkpoints;
  readonly gradientSteps: number;
}

export function trainMitigation(options: TrainMitigationOptions): TrainedMitigation {
  const { ground, seed, episodes, curriculum, checkpointEvery, evaluation, onEpisode, signal } = options;
  const services = options.services ?? ground.services;
  const fleet = new Fleet({ ...options, services });
  const rng = seededRng(seed).fork("mitigation");
  const done: TrainedEpisode[] = [];
  const judgements: Judgement[] = [];
  let best: { readonly reward: number; readonly checkpoints: Checkpoints } | undefined;
  const judge = (after: number): void => {
    if (evaluation === undefined) return;
    const judged = judgeMitigation(fleet, { ...options, services, evaluation, episodes: after });
    judgements.push(judged);
    if (best === undefined || judged.reward > best.reward) best = { reward: judged.reward, checkpoints: fleet.save() };
  };
  try {
    judge(0);
    for (let episode = 0; episode < episodes; episode++) {
      signal?.throwIfAborted();
      const length = episodeLength(curriculum, episode / Math.max(1, episodes));
      const scene = new PretrainingScene({ ...options, rng: rng.fork(episode), length, managed: new Set(services) });
      const one = { episode, length, reward: fleet.learnIn(scene, length, options.updatesPerStep) };
      done.push(one);
      onEpisode?.(one);
      const count = episode + 1;
      if (checkpointEvery !== undefined && (count % checkpointEvery === 0 || count === episodes)) judge(count);
    }
    const checkpoints = fleet.save();
    const { gradientSteps } = fleet;
    return { episodes: done, judgements, checkpoints, best: best?.checkpoints ?? checkpoints, gradientSteps };
  } finally {
    fleet.dispose();
  }
}

export interface JudgeOptions
  extends Pick<TrainMitigationOptions, "ground" | "alpha" | "actions" | "scene" | "services"> {
  readonly evaluation: EvaluationConfig;
  readonly episodes: number;
}

/** Scenes that no training has seen and that all are judged by: their seeds are their own. */
const JUDGE_SEED = 20_261_116;

/** Null: nobody changes anything. */
export function judgeMitigation(agent: MitigationAgent | null, options: JudgeOptions): Judgement {
  const { ground, evaluation, episodes } = options;
  const managed = new Set(evaluation.services ?? options.services ?? ground.services);
  const rng = seededRng(JUDGE_SEED).fork(ground.name);
  const all = new Mean();
  const blamed = new Mean();
  const byService = new Map<string, Mean>();
  let ended = 0;
  let missed = 0;
  let cores = 0;
  for (let i = 0; i < evaluation.scenes; i++) {
    const scene = new PretrainingScene({ ...options, rng: rng.fork(i), length: evaluation.length, managed });
    let sights = scene.look();
    for (let second = 0; second < evaluation.length; second++) {
      const moves = sights.flatMap((sight) => {
        const action = agent?.act(sight.reading.service, sight.seen.values);
        return action === undefined ? [] : [{ sight, action: Float32Array.from(unwrap(action)) }];
      });
      const outcome = scene.step(moves);
      ended += outcome.ended;
      missed += outcome.missed;
      cores += outcome.requestedCpu;
      sights = scene.look();
      for (const { reward, reading } of sights) {
        all.add(reward);
        if (reading.sloMaintenance < 1) blamed.add(reward);
        const own = byService.get(reading.service) ?? new Mean();
        byService.set(reading.service, own);
        own.add(reward);
      }
    }
  }
  return {
    episodes,
    reward: all.value ?? 0,
    rewards: Object.fromEntries([...byService].map(([service, mean]) => [service, mean.value ?? 0])),
    blamedReward: blamed.value,
    missedShare: ended > 0 ? missed / ended : 0,
    requestedCores: cores / Math.max(1, evaluation.scenes * evaluation.length),
  };
}

/** Policies that are not trained any further, for controllers. */
export function openMitigationAgent(
  checkpoints: Checkpoints,
  { kernels, ddpg }: { readonly kernels: Kernels } & Pick<MitigationTraining, "ddpg">,
): MitigationAgent & { dispose(): void } {
  const learners = new Map<string, Ddpg>();
  for (const [name, bytes] of Object.entries(checkpoints)) {
    const learner = new Ddpg({ kernels, shape: mitigationShape, config: ddpg, seed: 0 });
    unwrap(learner.load(bytes));
    learners.set(name, learner);
  }
  return {
    act: (service, observation) => actWith(learners.get(service) ?? learners.get(ALL), service, observation),
    dispose: () => {
      for (const learner of learners.values()) learner.dispose();
    },
  };
}

function actWith(learner: Ddpg | undefined, service: string, observation: Float32Array) {
  if (learner === undefined)
    throw new CodedError(
      failure("firm.no-policy", `there is no policy for ${service}: train one for it, or one for all services`),
    );
  const decision = learner.act(observation, { explore: false });
  return decision.ok ? ok(decision.value.action) : decision;
}

interface FleetOptions extends TrainMitigationOptions {
  readonly services: readonly string[];
}

/** The learners of a training: one, or one for each service. */
class Fleet implements MitigationAgent {
  readonly #learners = new Map<string, Ddpg>();
  readonly #isEach: boolean;
  readonly #explorer: { readonly rng: Rng; readonly noise: Noise };
  /**
   * What a container is paid for its SLO when it is kept. Learners get the rest: the same policies are best, and a critic
   * that begins at 0 has not to climb to 40 first, on a slope on which the actor runs into the corners of its range.
   */
  readonly #usual: number;
  #steps = 0;
  gradientSteps = 0;

  constructor({ services, each = false, from = {}, kernels, ddpg, seed, alpha }: FleetOptions) {
    this.#usual = alpha * MITIGATION_ACTIONS;
    this.#isEach = each;
    for (const [i, name] of (each ? services : [ALL]).entries()) {
      const learner = new Ddpg({ kernels, shape: mitigationShape, config: ddpg, seed: seed + i });
      const begin = from[name] ?? from[ALL];
      if (begin !== undefined) unwrap(learner.load(begin));
      this.#learners.set(name, learner);
    }
    const noise = createNoise(ddpg.noise, MITIGATION_ACTIONS);
    const scale = (): number => Math.max(0, 1 - EPSILON_DECAY * this.#steps);
    this.#explorer = { rng: seededRng(seed).fork("explore"), noise: scaledNoise(noise, scale) };
  }

  act(service: string, observation: Float32Array) {
    return actWith(this.#learnerOf(service), service, observation);
  }

  #learnerOf(service: string): Ddpg | undefined {
    return this.#learners.get(this.#isEach ? service : ALL);
  }

  /** One episode; the mean reward. */
  learnIn(scene: PretrainingScene, length: number, updatesPerStep: number): number {
    const rewards = new Mean();
    let sights = scene.look();
    for (let second = 0; second < length; second++) {
      const moves = sights.map((sight) => ({ sight, action: this.#explore(sight) }));
      scene.step(moves);
      const next = scene.look();
      const after = new Map(next.map((sight) => [sight.reading.service, sight]));
      const end = second === length - 1 ? "truncated" : "no";
      for (const { sight, action } of moves) {
        const then = after.get(sight.reading.service);
        // Gone, or without telemetry: nothing is known of what came of it.
        if (then === undefined) continue;
        rewards.add(then.reward);
        const [obs, nextObs] = [sight.seen.values, then.seen.values];
        const transition = { obs, action, reward: then.reward - this.#usual, nextObs, end } as const;
        unwrap((this.#learnerOf(sight.reading.service) as Ddpg).observe(transition));
        this.#steps++;
      }
      this.#update(updatesPerStep);
      sights = next;
    }
    return rewards.value ?? 0;
  }

  #explore({ reading, seen }: ManagedSight): Float32Array {
    const learner = this.#learnerOf(reading.service) as Ddpg;
    return unwrap(learner.act(seen.values, { explore: true, explorer: this.#explorer })).action;
  }

  #update(times: number): void {
    for (const learner of this.#learners.values())
      for (let i = 0; i < times; i++) this.gradientSteps += learner.update()?.gradientSteps ?? 0;
  }

  save(): Checkpoints {
    return Object.fromEntries([...this.#learners].map(([name, learner]) => [name, learner.save()]));
  }

  dispose(): void {
    for (const learner of this.#learners.values()) learner.dispose();
  }
}

/** Noise that fades while the training goes on (Table 3.3: ε and its decay). */
const scaledNoise = (noise: Noise, scale: () => number): Noise => ({
  ...noise,
  addTo(action, rng) {
    const before = Float32Array.from(action);
    noise.addTo(action, rng);
    const part = scale();
    for (let i = 0; i < action.length; i++) {
      const policy = before[i] as number;
      action[i] = policy + part * ((action[i] as number) - policy);
    }
  },
});

class Mean {
  #sum = 0;
  #count = 0;

  add(value: number): void {
    this.#sum += value;
    this.#count++;
  }

  get value(): number | null {
    return this.#count > 0 ? this.#sum / this.#count : null;
  }
}
