/** `coxswain worker`: computes jobs of studies that others offer. */

import { isAbsolute, join } from "node:path";
import { Command } from "@commander-js/extra-typings";
import type { Shell } from "../shell.ts";
import { examples, openSession, withSettings } from "./common.ts";
import { wholeNumberOrZero } from "./numbers.ts";
import { queueAccess, withQueueAccess } from "./queue-access.ts";

export const workerCommand = (shell: Shell) =>
  withQueueAccess(
    withSettings(new Command("worker").description("compute jobs of studies that `coxswain reproduce --queue` offers")),
  )
    .option("--server <url>", "NATS server with the work queue", "nats://127.0.0.1:4222")
    .option("--jobs <n>", "jobs at a time; 0 means one per core", wholeNumberOrZero, 0)
    .option("--module <file...>", "load further studies, the same ones that whoever asks has loaded")
    .addHelpText(
      "after",
      examples(
        ["coxswain worker", "jobs from the server on this machine, one per core"],
        ["coxswain worker --server tls://nats.example:4222 --credentials-file worker.creds", "from another machine's"],
        ["coxswain worker --jobs 1", "one at a time, beside other work"],
      ),
    )
    .addHelpText(
      "after",
      "\nIt runs until it is stopped; a job that is not finished then goes to somebody else. It only takes jobs of the very\nsame build: version, sources, kernels, engine and modules.",
    )
    .action(async (options) => {
      const { session, config } = openSession(shell, options);
      const absolute = (path: string) => (isAbsolute(path) ? path : join(shell.cwd, path));
      const { runWorker } = await import("../work/run-worker.ts");
      await runWorker(session, {
        access: queueAccess(shell, options.server, options),
        jobs: options.jobs,
        modules: (options.module ?? []).map(absolute),
        kernels: config.runtime.kernels,
        data: absolute(config.data),
        json: options.json ?? false,
      });
    });
