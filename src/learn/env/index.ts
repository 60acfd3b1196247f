/**
 * Environments: the contract, spaces, the functional core, vector environments, wrappers, the checker, and the classic
 * control tasks. Start reading at contract.ts, then core.ts.
 */

export { checkEnv } from "./check-env.ts";
export type { DictSpace, TupleSpace } from "./composite-space.ts";
export { dict, tuple } from "./composite-space.ts";
export type { AsyncEnv, End, Env, EnvSpec, Reset, ResetRequest, Step, VectorEnv, Waiting } from "./contract.ts";
export { END_CODE } from "./contract.ts";
export type { Core, Move } from "./core.ts";
export type { EnvConfig, EnvEntry } from "./entry.ts";
export type { FleetEnv } from "./fleet-contract.ts";
export { buildEnv, buildVectorEnv } from "./make.ts";
export { envIds, envSpec, makeEnv, makeVectorEnv, registerEnv } from "./registry.ts";
export type { BoxSpace, NumericSpace, NumericValue, Space } from "./space.ts";
export { box, discrete, multiBinary, multiDiscrete } from "./space.ts";
export type { SpaceJson } from "./space-json.ts";
export { spaceFromJson } from "./space-json.ts";
export { recordEpisodes } from "./wrappers/record-episodes.ts";
