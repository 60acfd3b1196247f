/** Appends batches until the store refuses, says how far it came and why, then tries once more with one record. */

import { writeSync } from "node:fs";
import { openDuckdbStore } from "../../src/adapters/store/duckdb.ts";
import { failureOf } from "../../src/base/index.ts";
import { plannedBatch } from "./planned-batches.ts";

const [path = ""] = process.argv.slice(2);
const store = await openDuckdbStore({ path });
let batch = 0;
try {
  for (; batch < 10_000; batch++) await store.append(plannedBatch(0, batch));
  writeSync(1, `${JSON.stringify({ acknowledged: batch, code: "none" })}\n`);
} catch (thrown) {
  const { code, message } = failureOf(thrown) ?? { code: "uncoded", message: String(thrown) };
  writeSync(1, `${JSON.stringify({ acknowledged: batch, code, message })}\n`);
}
const { records } = await store.counts();
writeSync(1, `${JSON.stringify({ readable: records })}\n`);
await store.close();
