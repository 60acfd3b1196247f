export type { DuckdbStoreOptions } from "./duckdb.ts";
export { openDuckdbStore } from "./duckdb.ts";
export { memoryStore } from "./memory.ts";
