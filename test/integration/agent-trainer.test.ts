/** An agent's training on a real thread: the same outcome as in place, and a thread that dies costs one round. */
import { afterEach, describe, expect, test } from "vitest";
import type { AgentId } from "../../src/base/index.ts";
import { unwrap } from "../../src/base/index.ts";
import type { AgentTrainer } from "../../src/cli/agents/agent-trainer.ts";
import { openAgentTrainer } from "../../src/cli/agents/agent-trainer.ts";
import type { TrainingOutcome } from "../../src/control/lifecycle/index.ts";
import { AGENT_TRAINING_TASK } from "../../src/control/lifecycle/index.ts";
import type { TrainingJob } from "../../src/control/loop/index.ts";
import { EPISODE, shopLife } from "../fixtures/loop/shop-life.ts";

const open: AgentTrainer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((trainer) => trainer.close()));
});

/** The first job that an agent hands out once it has something to learn from, and what training in place makes of it. */
async function jobAndOutcome(): Promise<{ job: TrainingJob; inPlace: TrainingOutcome }> {
  const life = shopLife();
  await life.turns(5 * EPISODE);
  await life.loop.stop();
  const last = life.trained.findLast(({ outcome }) => outcome.updates > 0 && outcome.estimate !== null);
  if (last === undefined) throw new Error("no round of training ended with an estimate");
  return { job: last.job, inPlace: last.outcome };
}

describe("training on a thread", () => {
  test("gives the same policy and the same estimate, to the last bit, as training in place", async () => {
    const { job, inPlace } = await jobAndOutcome();
    const threads = openAgentTrainer({ threads: 1 });
    open.push(threads);
    const outcome = unwrap(await threads.trainer.train(job, new AbortController().signal)) as TrainingOutcome;
    expect(outcome.updates).toBe(inPlace.updates);
    expect(Buffer.from(outcome.policy).equals(inPlace.policy)).toBe(true);
    expect(outcome.estimate).toEqual(inPlace.estimate);
  });

  test("of a save that is damaged is a coded failure, and the thread goes on", async () => {
    const { job } = await jobAndOutcome();
    const threads = openAgentTrainer({ threads: 1 });
    open.push(threads);
    const { signal } = new AbortController();
    const damaged = { ...(job.config as { saved: Uint8Array }), saved: Uint8Array.of(1, 2, 3) };
    const refused = await threads.trainer.train(
      { agent: "shop" as AgentId, kind: AGENT_TRAINING_TASK, config: damaged },
      signal,
    );
    expect(refused).toMatchObject({ ok: false, failure: { code: "checkpoint.corrupt" } });
    expect((await threads.trainer.train(job, signal)).ok).toBe(true);
  });
});
