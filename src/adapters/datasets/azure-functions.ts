/**
 * Recorded calls of Azure functions, one count per minute.
 * Owns: reading the two samples of the data set azure-functions-2019. Not here: what a load is (sim/cluster/workloads makes one
 * of the counts), where the set lies (locate.ts).
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { err, failure, ok, type Result } from "../../base/index.ts";

export interface RecordedFunction {
  readonly id: string;
  readonly counts: Float64Array;
}

const files = {
  /** 857 functions over the 1,440 minutes of a day. */
  day: "f1250_invocations_day.csv.gz",
  /** 500 functions over minutes 480 to 959. */
  "eight-hours": "f500_invocations_min480-959.csv.gz",
} as const;

export type AzureSample = keyof typeof files;

/** All functions of a sample; `folder` is what `locateDataset("azure-functions-2019")` answers. */
export async function readAzureFunctions(
  folder: string,
  { sample = "day" }: { readonly sample?: AzureSample } = {},
): Promise<Result<RecordedFunction[]>> {
  const path = join(folder, files[sample]);
  let text: string;
  try {
    text = (await promisify(gunzip)(await readFile(path))).toString("utf8");
  } catch (cause) {
    const message = `${path} cannot be read or is no gzip file; fetch the data set azure-functions-2019 again`;
    return err(failure("dataset.unreadable", message, { cause }));
  }
  return parseInvocations(text, path);
}

/** Columns are found by their headings, since the samples order them differently. */
export function parseInvocations(text: string, path: string): Result<RecordedFunction[]> {
  const [heading = "", ...lines] = text.trimEnd().split("\n");
  const columns = heading.trimEnd().split(",");
  const name = columns.indexOf("HashFunction");
  const minutes = columns.flatMap((column, index) => (/^(?:minute_)?\d+$/.test(column) ? [index] : []));
  if (name < 0 || minutes.length === 0) {
    return malformed(path, "line 1 names no column HashFunction or no minutes");
  }
  const functions: RecordedFunction[] = [];
  for (const [index, line] of lines.entries()) {
    const fields = line.trimEnd().split(",");
    if (fields.length !== columns.length) {
      return malformed(path, `line ${index + 2} has ${fields.length} fields where the first has ${columns.length}`);
    }
    const counts = Float64Array.from(minutes, (column) => count(fields[column] ?? ""));
    const wrong = counts.findIndex(Number.isNaN);
    if (wrong >= 0) {
      return malformed(path, `line ${index + 2} has no count in column ${columns[minutes[wrong] ?? 0]}`);
    }
    functions.push({ id: fields[name] ?? "", counts });
  }
  return ok(functions);
}

function count(field: string): number {
  return /^\d+$/.test(field) ? Number(field) : Number.NaN;
}

function malformed(path: string, what: string): Result<never> {
  return err(failure("dataset.malformed", `${path}: ${what}; fetch the data set azure-functions-2019 again`));
}
