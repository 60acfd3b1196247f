/**
 * `coxswain store serve` from start to end: one DuckDB file, offered to other processes of this machine.
 * Owns: opening and closing, and forgetting what is too much, for its clients leave that to the owner.
 * Not here: the protocol (adapters/store).
 */
import { resolve } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { openDuckdbStore, serveStore } from "../../adapters/store/index.ts";
import { compact, type TrajectoryStore } from "../../learn/trajectory/index.ts";
import { printJson, printLine, type Session } from "../shell.ts";
import { untilStopped } from "../until-stopped.ts";

export interface StoreServerSettings {
  readonly file: string;
  readonly port: number;
  readonly maxRecords: number;
  readonly json?: boolean | undefined;
}

const COMPACT_EVERY_MS = 60_000;
/** As `up` does with a store of its own: both ends stay, for those who learn from the best and the worst. */
const KEPT_ENDS = { keepTop: 20, keepBottom: 20 };

export async function runStoreServer(session: Session, settings: StoreServerSettings): Promise<void> {
  const { port, maxRecords } = settings;
  const store = await openDuckdbStore({ path: resolve(session.cwd, settings.file) });
  try {
    const server = await serveStore({ store, port });
    try {
      if (settings.json) printJson(session, { url: server.url });
      else printLine(session, server.url);
      const compacting = compactNowAndThen(session, store, maxRecords);
      await untilStopped(session);
      await compacting;
    } finally {
      await server.close();
    }
  } finally {
    await store.close();
  }
}

async function compactNowAndThen(session: Session, store: TrajectoryStore, maxRecords: number): Promise<void> {
  const { signal } = session;
  while (!signal.aborted) {
    await compact(store, { maxRecords, ...KEPT_ENDS }).catch((thrown: unknown) => {
      session.log.error({ err: thrown }, "the store could not be compacted");
    });
    await after(COMPACT_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}
