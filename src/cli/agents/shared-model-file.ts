/**
 * A shared model from its file.
 * Owns: where in a folder it lies, and one sentence for a file that is not there. Not here: what is in it (learn/meta).
 *
 * A model that cannot be read stops nobody: agents say why they have none, and their fallback acts.
 */
import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { packageRoot } from "../../adapters/runtime/index.ts";
import type { Result } from "../../base/index.ts";
import { err, failure } from "../../base/index.ts";
import type { SharedModel } from "../../learn/meta/index.ts";
import { openSharedModel } from "../../learn/meta/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";

/** What `coxswain pretrain` calls it. */
const MODEL_FILE = "model.ckpt";

/** In place of a path: the model that comes with the package. */
const SHIPPED = "shipped";

/** Where a model lies that settings, a flag or a profile name. */
export const sharedModelPath = (named: string, cwd = "."): string =>
  named === SHIPPED ? join(packageRoot(), "models", "pods") : resolve(cwd, named);

/** `named`: the file, the folder that a pre-training left, or `shipped`. */
export function readSharedModel(named: string, kernels: Kernels): Result<SharedModel> {
  const path = sharedModelPath(named);
  let bytes: Uint8Array;
  try {
    // Plain bytes: a slice of Node's own kind is no copy, and what is read from it would begin elsewhere.
    bytes = new Uint8Array(readFileSync(statSync(path).isDirectory() ? join(path, MODEL_FILE) : path));
  } catch (cause) {
    const words = cause instanceof Error ? cause.message : String(cause);
    return err(
      failure(
        "agent.shared-model-missing",
        `the shared model in ${path} cannot be read (${words}); give the folder of a finished \`coxswain pretrain\`, the fallback acts meanwhile`,
        { cause },
      ),
    );
  }
  const opened = openSharedModel(bytes, kernels);
  if (opened.ok) return opened;
  const { code, message, retry } = opened.failure;
  return err(failure(code, `${path}: ${message}`, { retry, cause: opened.failure }));
}
