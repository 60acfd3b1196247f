/**
 * Environments: the contract, spaces, the functional core, vector environments, wrappers, the checker, and the classic
 * control tasks. Start reading at contract.ts, then core.ts.
 */

export type { CheckOptions, Problem } from "./check-env.ts";
export { checkEnv } from "./check-env.ts";
export type { DictSpace, DictValue, TupleSpace, TupleValue } from "./composite-space.ts";
export { dict, tuple } from "./composite-space.ts";
export type {
  AsyncEnv,
  Autoreset,
  End,
  Env,
  EnvSpec,
  Reset,
  ResetRequest,
  Step,
  VectorEnv,
  VectorReset,
  Waiting,
} from "./contract.ts";
export { END_CODE } from "./contract.ts";
export type { Core, Move } from "./core.ts";
export type { EnvConfig, EnvEntry } from "./entry.ts";
export { flatSize, flatten } from "./flatten.ts";
export type { MakeOptions, MakeVectorOptions } from "./make.ts";
export { buildEnv, buildVectorEnv } from "./make.ts";
export type { BuiltinEnvs } from "./registry.ts";
export { envIds, envSpec, makeEnv, makeVectorEnv, registerEnv } from "./registry.ts";
export type { MomentsState } from "./running-moments.ts";
export type {
  BoxSpace,
  DiscreteSpace,
  MultiBinarySpace,
  MultiDiscreteSpace,
  NumericSpace,
  NumericValue,
  Space,
} from "./space.ts";
export { box, discrete, isNumericSpace, multiBinary, multiDiscrete } from "./space.ts";
export type { SpaceJson } from "./space-json.ts";
export { spaceFromJson, spaceToJson } from "./space-json.ts";
export { toAsync } from "./to-async.ts";
export type { Hooks, Wrapped, Wrapper } from "./wrapper.ts";
export { wrap } from "./wrapper.ts";
export { delayAction, delayObservation } from "./wrappers/delay.ts";
export { guardFinite } from "./wrappers/guard-finite.ts";
export type { Normalizer } from "./wrappers/normalize.ts";
export { normalizeObservation, normalizeReward } from "./wrappers/normalize.ts";
export type { EpisodeRecorder, EpisodeSummary } from "./wrappers/record-episodes.ts";
export { recordEpisodes } from "./wrappers/record-episodes.ts";
export { rescaleAction } from "./wrappers/rescale-action.ts";
export { timeLimit } from "./wrappers/time-limit.ts";
