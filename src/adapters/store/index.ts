export type { DuckdbStoreOptions } from "./duckdb.ts";
export { openDuckdbStore } from "./duckdb.ts";
export { exportJsonl, importJsonl } from "./jsonl-file.ts";
export { memoryStore } from "./memory.ts";
export { exportParquet, importParquet } from "./parquet-file.ts";
export type { RemoteStoreOptions } from "./remote-client.ts";
export { connectStore } from "./remote-client.ts";
export type { StoreServer, StoreServerOptions } from "./remote-server.ts";
export { serveStore } from "./remote-server.ts";
