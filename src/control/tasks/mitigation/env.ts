/**
 * One service of an application under anomalies as an environment: a policy's action passes the guard, and a second later
 * the service is read, encoded and rewarded, as a mitigating agent's training has it.
 * Owns: episodes, spaces, what an episode begins with. Not here: the world (a port), the scene (pretraining/scene.ts),
 * names of environments (whoever composes a world with this).
 */
import type { Rng } from "../../../base/index.ts";
import { CodedError, failure, seededRng } from "../../../base/index.ts";
import { box, type Env } from "../../../learn/env/index.ts";
import { MITIGATION_ACTIONS, type MitigationActions } from "./action.ts";
import { MITIGATION_FEATURES } from "./observation.ts";
import { usualTraining } from "./pretraining/config.ts";
import type { PretrainingGround } from "./pretraining/ground.ts";
import { type ManagedSight, PretrainingScene } from "./pretraining/scene.ts";

export interface MitigationEnvOptions {
  /** Versioned, as in `Mitigation-v0`. */
  readonly id: string;
  readonly ground: PretrainingGround;
  /** The service whose limits are set; anomalies come to it, and the others keep their limits. */
  readonly service: string;
  readonly actions?: MitigationActions;
  /** Seconds that an episode has. */
  readonly steps: number;
}

/** Seconds that a service may be without telemetry before an episode is given up as a defect of the world. */
const MOST_SILENCE = 60;

const observationSpace = box({
  low: Array.from({ length: MITIGATION_FEATURES }, (_, i) => (i === 1 ? -1 : 0)),
  // Use over limit passes 1 where a limit was just lowered.
  high: Array.from({ length: MITIGATION_FEATURES }, (_, i) => (i === 1 ? 2 : i < 3 ? 1 : 1_000)),
});
const actionSpace = box({ low: -1, high: 1, size: MITIGATION_ACTIONS });

export function mitigationEnv(options: MitigationEnvOptions): Env<Float32Array, Float32Array> {
  const { id, ground, service, steps: most, actions = usualTraining.actions } = options;
  const { alpha, scene: config } = usualTraining;
  const managed = new Set([service]);
  let rng: Rng = seededRng(0);
  let episode = 0;
  let phase: "new" | "running" | "closed" = "new";
  let steps = 0;
  let running: { readonly scene: PretrainingScene; sight: ManagedSight } | undefined;

  /** The service as it is, after as many seconds as telemetry needs to say something. */
  const seen = (scene: PretrainingScene): ManagedSight => {
    for (let silent = 0; silent < MOST_SILENCE; silent++) {
      const [sight] = scene.look();
      if (sight !== undefined) return sight;
      scene.step([]);
    }
    throw new CodedError(
      failure("env.no-telemetry", `${id}: nothing was measured of '${service}' for ${MOST_SILENCE} s; choose another`),
    );
  };

  const requireOpen = (): void => {
    if (phase === "closed")
      throw new CodedError(failure("env.closed", `${id} was closed and cannot be used; make a new one`));
  };

  return {
    spec: { id, maxSteps: most },
    observationSpace,
    actionSpace,
    reset({ seed, options: given = {} } = {}) {
      requireOpen();
      for (const key of Object.keys(given))
        throw new CodedError(failure("env.options", `${id} has no reset option '${key}'; it knows none`));
      phase = "new";
      if (seed !== undefined) {
        rng = seededRng(seed);
        episode = 0;
      }
      const own = rng.fork(episode);
      const scene = new PretrainingScene({ ground, rng: own, length: most, managed, alpha, actions, scene: config });
      episode += 1;
      running = { scene, sight: seen(scene) };
      steps = 0;
      phase = "running";
      return { obs: running.sight.seen.values.slice(), info: { service } };
    },
    step(action) {
      requireOpen();
      if (phase !== "running" || running === undefined)
        throw new CodedError(failure("env.needs-reset", `${id} has no episode under way and cannot step; reset() it`));
      if (!(action instanceof Float32Array && action.length === MITIGATION_ACTIONS && actionSpace.accepts(action)))
        throw new CodedError(
          failure("space.mismatch", `${id} got an action that is not ${actionSpace.describe()}; check the policy`),
        );
      phase = "new"; // and stays so when the world fails
      const { scene } = running;
      scene.step([{ sight: running.sight, action }]);
      running.sight = seen(scene);
      steps += 1;
      const isLast = steps >= most;
      phase = isLast ? "new" : "running";
      const { seen: sight, reward } = running.sight;
      return { obs: sight.values.slice(), reward, end: isLast ? "truncated" : "no" };
    },
    close() {
      phase = "closed";
      running = undefined;
    },
  };
}
