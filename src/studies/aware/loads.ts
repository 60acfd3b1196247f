/**
 * The loads of a study: recorded ones for full runs, generated ones where no data set is needed.
 * Not here: reading the data set (adapters/datasets), what a load is (sim).
 */
import type { RecordedFunction } from "../../adapters/datasets/index.ts";
import { locateDataset, readAzureFunctions } from "../../adapters/datasets/index.ts";
import { unwrap } from "../../base/index.ts";
import type { Load } from "../../sim/index.ts";
import { recordedLoads } from "../../sim/index.ts";

export type LoadSource = "recorded" | "generated";

/** By level; undefined: whoever needs a load generates it. */
export type LoadPool = Readonly<Record<Load["level"], readonly Load[]>> | undefined;

let records: Promise<readonly RecordedFunction[]> | undefined;

async function readRecords(): Promise<readonly RecordedFunction[]> {
  return unwrap(await readAzureFunctions(unwrap(locateDataset("azure-functions-2019"))));
}

/** Every seed scales the recorded loads anew. Fails with the data set's name and origin where it is not to be found. */
export async function loadPool(source: LoadSource, seed: number): Promise<LoadPool> {
  if (source === "generated") return undefined;
  // Read once per thread: jobs are many and the file is the same.
  records ??= readRecords();
  return recordedLoads(await records, { studySeed: seed });
}
