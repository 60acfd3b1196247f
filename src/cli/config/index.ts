export { jsonSchemaOf } from "./leaves.ts";
export type { FlagValue, LoadedConfig } from "./load.ts";
export { loadConfig } from "./load.ts";
export type { Config } from "./schema.ts";
export { configSchema } from "./schema.ts";
export { asYaml, redacted, shownSettings } from "./show.ts";
export type { TrainConfig } from "./train-schema.ts";
