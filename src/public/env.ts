/** `coxswain/env`: environments to learn in, made by you or found by their ids. */

export type {
  BoxSpace,
  Core,
  End,
  Env,
  EnvConfig,
  EnvEntry,
  EnvSpec,
  Move,
  NumericSpace,
  Reset,
  ResetRequest,
  Space,
  Step,
} from "../learn/env/index.ts";
export {
  box,
  buildEnv,
  buildVectorEnv,
  checkEnv,
  discrete,
  makeEnv,
  makeVectorEnv,
  multiDiscrete,
  recordEpisodes,
  registerEnv,
} from "../learn/env/index.ts";
