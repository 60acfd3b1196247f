/**
 * The algorithms by name: from a config to a learner, and from a checkpoint's bytes to the learner that wrote it.
 * TD3 is DDPG with three options, so it has a name but no class of its own. Users' learners are named too.
 */

import type { Result } from "../../base/index.ts";
import { CodedError, err, failure, ok } from "../../base/index.ts";
import type { Kernels } from "../tensor/index.ts";
import type { BcqConfig } from "./bcq.ts";
import { Bcq } from "./bcq.ts";
import { decodeCheckpoint } from "./checkpoint.ts";
import type { ConstantConfig } from "./constant.ts";
import { Constant } from "./constant.ts";
import { Ddpg } from "./ddpg.ts";
import type { DdpgConfig } from "./ddpg-config.ts";
import type { DqnConfig } from "./dqn.ts";
import { Dqn } from "./dqn.ts";
import type { Learner, LearnerShape } from "./learner.ts";
import { type LearnerConfig, type LearnerOptions, learnerKinds, registeredLearner } from "./learner-registry.ts";
import type { PpoConfig } from "./ppo.ts";
import { Ppo } from "./ppo.ts";

export type Algorithm =
  | { readonly kind: "ppo"; readonly config: PpoConfig }
  | { readonly kind: "ddpg"; readonly config: DdpgConfig }
  | { readonly kind: "dqn"; readonly config: DqnConfig }
  | { readonly kind: "bcq"; readonly config: BcqConfig }
  | { readonly kind: "constant"; readonly config: ConstantConfig }
  /** One that `registerLearner` was given. */
  | { readonly kind: "registered"; readonly name: string; readonly config: LearnerConfig };

export function createLearner(algorithm: Algorithm, options: LearnerOptions): Learner {
  switch (algorithm.kind) {
    case "ppo":
      return new Ppo({ ...options, config: algorithm.config });
    case "ddpg":
      return new Ddpg({ ...options, config: algorithm.config });
    case "dqn":
      return new Dqn({ ...options, config: algorithm.config });
    case "bcq":
      return new Bcq({ ...options, config: algorithm.config });
    case "constant":
      return new Constant({ shape: options.shape, config: algorithm.config });
    case "registered": {
      const entry = registeredLearner(algorithm.name);
      if (entry === undefined) throw new CodedError(unknownLearner(algorithm.name));
      return entry.create(options, algorithm.config);
    }
  }
}

/** Environments or agents that a learner takes steps from side by side. */
export function streamsOf(algorithm: Algorithm): number {
  return algorithm.kind === "ppo" ? algorithm.config.streams : 1;
}

/** The learner that wrote the bytes, ready to act. A training checkpoint's learner is found inside it. */
export function openLearner(bytes: Uint8Array, kernels: Kernels): Result<Learner> {
  const decoded = decodeCheckpoint(bytes);
  if (!decoded.ok) return decoded;
  const { kind, meta, blocks } = decoded.value;
  if (kind === "training") {
    return blocks.learner instanceof Uint8Array ? openLearner(blocks.learner, kernels) : err(unknownKind(kind));
  }
  const algorithm = algorithmIn(kind, meta.config);
  if (algorithm === undefined || meta.shape === undefined) return err(unknownKind(kind));
  // The checksum has vouched for the content, so config and shape are what a learner of this version wrote.
  const learner = createLearner(algorithm, { kernels, shape: meta.shape as unknown as LearnerShape, seed: 0 });
  const loaded = learner.load(bytes);
  if (loaded.ok) return ok(learner);
  learner.dispose();
  return loaded;
}

const builtIn: ReadonlySet<string> = new Set(["ppo", "ddpg", "dqn", "bcq", "constant"]);

function algorithmIn(kind: string, config: unknown): Algorithm | undefined {
  if (builtIn.has(kind)) return { kind, config } as Algorithm;
  if (registeredLearner(kind) === undefined) return undefined;
  return { kind: "registered", name: kind, config: (config ?? {}) as LearnerConfig };
}

function unknownLearner(name: string) {
  const known = learnerKinds();
  const hint = known.length > 0 ? `known are ${known.join(", ")}` : "load the module that brings it";
  return failure("rl.unknown-learner", `there is no learner '${name}'; ${hint}`);
}

function unknownKind(kind: string) {
  return failure(
    "checkpoint.mismatch",
    `the checkpoint was written by '${kind}', which is no learner known here; use the program that wrote it, load the module of that learner, and see that its checkpoints name their shape`,
  );
}
