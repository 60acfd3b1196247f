/** The loop's Trainer over a pool of threads: a job is named by data, and a lost thread loses that job only. */

import { err, failure, failureOf, ok } from "../../base/index.ts";
import type { Trainer } from "../../control/loop/index.ts";
import type { WorkerPool } from "../../learn/tensor/index.ts";

export function poolTrainer(pool: WorkerPool): Trainer {
  return {
    slots: pool.threads,
    train: async ({ kind, config }, signal) => {
      try {
        return ok(await pool.run({ kind, config }, { signal }));
      } catch (thrown) {
        return err(failureOf(thrown) ?? gaveUp(thrown));
      }
    },
  };
}

function gaveUp(cause: unknown) {
  return failure("train.given-up", "a round of training was given up before it ended; the next one begins anew", {
    retry: true,
    cause,
  });
}
