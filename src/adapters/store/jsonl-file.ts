/**
 * Whole stores to and from JSONL, for people and scripts. Any store, because it goes through the port.
 * An import is a sequence of appends, so an import that broke off can simply be repeated.
 */

import { createReadStream, createWriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { TrajectoryRecord, TrajectoryStore } from "../../learn/trajectory/index.ts";
import { lineToRecord, recordToLine } from "../../learn/trajectory/index.ts";
import { checkImportable, IMPORT_BATCH, writeWhole } from "./exchange-file.ts";

/** Returns how many records were written. */
export function exportJsonl(store: TrajectoryStore, path: string): Promise<number> {
  return writeWhole(path, async (part) => {
    let written = 0;
    async function* lines(): AsyncIterable<string> {
      for await (const batch of store.scan()) {
        written += batch.length;
        yield `${batch.map(recordToLine).join("\n")}\n`;
      }
    }
    await pipeline(Readable.from(lines()), createWriteStream(part));
    return written;
  });
}

/** Returns how many records were new to the store. */
export async function importJsonl(store: TrajectoryStore, path: string): Promise<number> {
  await checkImportable(path);
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  let added = 0;
  let number = 0;
  let batch: TrajectoryRecord[] = [];
  for await (const line of lines) {
    number += 1;
    if (line.trim() === "") continue;
    batch.push(lineToRecord(line, `${path}:${number}`));
    if (batch.length < IMPORT_BATCH) continue;
    added += (await store.append(batch)).added;
    batch = [];
  }
  return added + (await store.append(batch)).added;
}
