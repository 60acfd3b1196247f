import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore, openDuckdbStore } from "../../src/adapters/store/index.ts";
import { trajectoryStoreConformance } from "./trajectory-store.ts";

trajectoryStoreConformance(
  "memory",
  async () => {
    const store = memoryStore();
    return { store, dispose: () => store.close() };
  },
  { histories: 200 },
);

trajectoryStoreConformance("DuckDB", async () => {
  const folder = await mkdtemp(join(tmpdir(), "coxswain-store-"));
  const path = join(folder, "trajectories.duckdb");
  let store = await openDuckdbStore({ path });
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await openDuckdbStore({ path });
      return store;
    },
    dispose: async () => {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
});
