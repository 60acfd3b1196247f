/**
 * Where recorded data lies on this machine.
 * Owns: the variable that names the folder, and for each data set what it is and where anyone can get it.
 * Not here: reading a set (one file each).
 *
 * The package ships no data set. What needs one says so; everything else runs without.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { err, failure, ok, type Result } from "../../base/index.ts";

export const DATASETS_VARIABLE = "COXSWAIN_DATASETS";

const sets = {
  "azure-functions-2019": {
    what: "per-minute calls of Azure functions over a day",
    from: "https://github.com/vhive-serverless/invitro (data/traces; the Azure Functions 2019 trace, CC-BY 4.0)",
  },
  "nezha-traces": {
    what: "spans of Online Boutique and Train-Ticket with labelled faults",
    from: "https://github.com/IntelligentDDS/Nezha (rca_data and construct_data; MIT)",
  },
} as const;

export type DatasetName = keyof typeof sets;

/** The folder of a data set, or what to get, from where, and where to put it. */
export function locateDataset(name: DatasetName, env: NodeJS.ProcessEnv = process.env): Result<string> {
  const { what, from } = sets[name];
  const root = env[DATASETS_VARIABLE];
  if (root === undefined || root === "") {
    const message = `the data set ${name} (${what}) is needed and ${DATASETS_VARIABLE} is not set; get it from ${from} and set the variable to the folder that holds ${name}/`;
    return err(failure("dataset.unset", message));
  }
  const folder = join(root, name);
  if (existsSync(folder)) return ok(folder);
  const message = `the data set ${name} (${what}) is not in ${root}; get it from ${from} and put it into ${folder}`;
  return err(failure("dataset.missing", message));
}
