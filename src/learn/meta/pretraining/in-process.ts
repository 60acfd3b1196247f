/** Jobs one after the other on the thread that asks: for tests, for studies whose jobs are threads already. */

import { CodedError, failure } from "../../../base/index.ts";
import type { JobKinds, JobName, Kernels, WorkerPool } from "../../tensor/index.ts";

export function inProcessRunner(kinds: JobKinds, kernels: Kernels): Pick<WorkerPool, "run"> {
  const context = { kernels, isCancelled: () => false, progress: () => undefined };
  return {
    async run({ kind, config }: JobName): Promise<unknown> {
      const task = kinds.tasks[kind];
      if (!task) throw new CodedError(failure("meta.pass", `nobody here can do a job of the kind '${kind}'`));
      return task(config, context);
    },
  };
}
