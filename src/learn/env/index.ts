/**
 * Environments: the contract, spaces, the functional core, vector environments, wrappers, the checker, and the classic
 * control tasks. Start reading at contract.ts, then core.ts.
 */

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
export type { BuiltinEnvs, MakeOptions, MakeVectorOptions } from "./registry.ts";
export { envIds, envSpec, makeEnv, makeVectorEnv, registerEnv } from "./registry.ts";
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
export { toAsync } from "./to-async.ts";
export type { Hooks, Wrapped, Wrapper } from "./wrapper.ts";
export { wrap } from "./wrapper.ts";
export { timeLimit } from "./wrappers/time-limit.ts";
