export type { DuckdbStoreOptions } from "./duckdb.ts";
export { openDuckdbStore } from "./duckdb.ts";
export { memoryStore } from "./memory.ts";
export type { RemoteStoreOptions } from "./remote-client.ts";
export { connectStore } from "./remote-client.ts";
export type { StoreServer, StoreServerOptions } from "./remote-server.ts";
export { serveStore } from "./remote-server.ts";
export { exportJsonl, exportParquet, importJsonl, importParquet } from "./transfer.ts";
