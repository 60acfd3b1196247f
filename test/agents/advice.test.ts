/** A task's work beside the loop: what is due goes to the trainer, and what comes of it into the task's memory. */
import { expect, test } from "vitest";
import { failure, ok } from "../../src/base/index.ts";
import { loopAgent } from "../../src/control/loop/index.ts";
import { Rig, workload } from "./rig.ts";

const job = { kind: "counting", config: { upTo: 3 } };

test("work for the task goes before training, and its outcome is the agent's to take", () => {
  const rig = new Rig();
  const taken: unknown[] = [];
  let isDue = true;
  let refusal: { readonly ok: false; readonly failure: ReturnType<typeof failure> } | undefined;
  const agent = new Proxy(rig.agent, {
    get(target, name) {
      if (name === "adviceWork") return isDue ? job : undefined;
      if (name === "takeAdvice")
        return (advice: unknown) => {
          taken.push(advice);
          return refusal ?? ok(undefined);
        };
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const driven = loopAgent({ agent, estimate: { seed: 1 }, replaySize: 0, trainEvery: 1 });
  driven.tick({ ...rig.world.input(), health: {} });
  expect(driven.training()).toEqual(job);
  expect(driven.adopt([1, 2, 3]).ok).toBe(true);
  expect(taken).toEqual([[1, 2, 3]]);
  // A policy in it that cannot be taken over is a failed round, so that it is not made again at once.
  refusal = { ok: false, failure: failure("rl.policy-not-finite", "damaged") };
  driven.tick({ ...rig.world.input(), health: {} });
  driven.training();
  expect(driven.adopt([4])).toMatchObject({ ok: false, failure: { code: "rl.policy-not-finite" } });
  isDue = false;
  driven.tick({ ...rig.world.input(), health: {} });
  expect(driven.training()).toMatchObject({ kind: "agent training", config: { workload } });
  // What is not a policy is refused again.
  expect(driven.adopt([1, 2, 3])).toMatchObject({ ok: false, failure: { code: "loop.outcome" } });
});
