import { join } from "node:path";
import { connectStore, memoryStore, openDuckdbStore, serveStore } from "../../src/adapters/store/index.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
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
  const folder = temporaryFolder("store");
  const path = join(folder, "trajectories.duckdb");
  let store = await openDuckdbStore({ path });
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await openDuckdbStore({ path });
      return store;
    },
    dispose: () => store.close(),
  };
});

// The owner of the remote store keeps its records in memory here: the DuckDB store has its own run above, and what is
// under test is the way between two ends, which goes over a real loopback socket.
trajectoryStoreConformance(
  "remote",
  async () => {
    const owned = memoryStore();
    const server = await serveStore({ store: owned });
    let store = connectStore({ url: server.url });
    return {
      store,
      reopen: async () => {
        await store.close();
        store = connectStore({ url: server.url });
        return store;
      },
      dispose: async () => {
        await store.close();
        await server.close();
        await owned.close();
      },
    };
  },
  { histories: 40 },
);
