/**
 * The process that gets killed: opens a store, writes planned batches, and prints one line per acknowledgement.
 * Writes to a pipe are synchronous on Linux, so a printed line means that the store had acknowledged before.
 */

import { writeSync } from "node:fs";
// Not through the index: a hundred processes start here, and loading the HTTP parts would take most of their time.
import { openDuckdbStore } from "../../src/adapters/store/duckdb.ts";
import { plannedBatch, plannedCompletions } from "./planned-batches.ts";

const [path = "", roundText = "0", retry = "", lastWords = "none"] = process.argv.slice(2);
const round = Number(roundText);
let acknowledged = -1;
const say = (line: string): void => {
  writeSync(1, `${line}\n`);
  acknowledged += 1;
  // The sharpest moment of all: nothing that the acknowledgement promised can still be made true after it.
  if (String(acknowledged) === lastWords) process.kill(process.pid, "SIGKILL");
};

// A small log makes checkpoints frequent, so that many kills fall into one.
const store = await openDuckdbStore({ path, checkpointMiB: 1 });
say("open");
if (retry !== "") {
  // The batch the last process died over, once more: it must be stored exactly once, however far it had come.
  const [lastRound, lastBatch] = retry.split(":").map(Number);
  await store.append(plannedBatch(lastRound ?? 0, lastBatch ?? 0));
  say(`append ${lastRound} ${lastBatch}`);
}
for (let batch = 0; ; batch++) {
  await store.append(plannedBatch(round, batch));
  say(`append ${round} ${batch}`);
  if (batch % 2 === 1) {
    await store.complete(plannedCompletions(round, batch - 1));
    say(`complete ${round} ${batch - 1}`);
  }
}
