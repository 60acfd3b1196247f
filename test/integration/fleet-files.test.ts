import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openTransitionLog, tryKernels } from "../../src/adapters/runtime/index.ts";
import { type Failure, parseWorkloadId, unwrap } from "../../src/base/index.ts";
import { agentCheckpoints } from "../../src/cli/fleet/agent-checkpoints.ts";
import type { FleetTransition } from "../../src/control/agents/index.ts";
import { functionsLearner } from "../../src/control/tasks/functions/index.ts";
import { createLearner } from "../../src/learn/rl/index.ts";

const agent = unwrap(parseWorkloadId("function-1"));
const kernels = unwrap(tryKernels("wasm"));
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "coxswain-fleet-files-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const transition = (step: number): FleetTransition => ({
  agent,
  incarnation: 1,
  step,
  updates: 0,
  obs: Float32Array.of(0.1, step),
  action: Float32Array.of(3),
  logProb: -1.9459101090932196,
  reward: 0.1 + 0.2,
  nextObs: Float32Array.of(1 / 3, step + 1),
  context: new Float32Array(0),
  nextContext: new Float32Array(0),
});

const learnerOf = (seed: number, criticContext = 6) => {
  const { algorithm, action } = functionsLearner("ppo", { badChoices: "masked", minibatch: 5 });
  return createLearner(algorithm, { kernels, shape: { obs: 14, action, actorContext: 0, criticContext }, seed });
};

test("transitions are read as they were written; one that was being written is cut off, and the next follows whole", () => {
  const log = openTransitionLog({ folder });
  log.append([transition(1), transition(2)]);
  log.close();
  appendFileSync(join(folder, "transitions.log"), "000000ff 12345678 {half");
  const again = openTransitionLog({ folder });
  expect(again.recent(agent)).toEqual([transition(1), transition(2)]);
  again.append([transition(3)]);
  again.close();
  const third = openTransitionLog({ folder });
  expect(third.recent(agent).map(({ step }) => step)).toEqual([1, 2, 3]);
  expect(third.damaged).toBe(0);
  third.close();
});

test("a full log is put aside, and its newest transitions are still known", () => {
  const log = openTransitionLog({ folder, mostBytes: 600 });
  for (let step = 1; step <= 7; step++) log.append([transition(step)]);
  log.close();
  const again = openTransitionLog({ folder });
  expect(again.recent(agent).at(-1)?.step).toBe(7);
  expect(again.recent(agent).length).toBeLessThan(7);
  again.close();
});

test("a damaged checkpoint is refused with a sentence, and the one before it is used", async () => {
  const damaged: Failure[] = [];
  const open = () => agentCheckpoints({ folder, onDamaged: (failure) => damaged.push(failure) });
  const [first, second] = [learnerOf(1).save({ resumable: true }), learnerOf(2).save({ resumable: true })];
  const files = open();
  expect(await files.load(agent, learnerOf(3))).toBeUndefined();
  await files.save([{ agent, updates: 4, checkpoint: first }]);
  await files.save([{ agent, updates: 5, checkpoint: second }]);
  expect(await open().load(agent, learnerOf(3))).toEqual({ updates: 5, checkpoint: second });
  const file = join(folder, agent, "newest");
  const bytes = readFileSync(file);
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(file, bytes);
  expect(await open().load(agent, learnerOf(3))).toEqual({ updates: 4, checkpoint: first });
  expect(damaged.map(({ code }) => code)).toEqual(["state.corrupt"]);
});

test("a checkpoint of another kind of agent is refused, and not written over", async () => {
  const files = agentCheckpoints({ folder, onDamaged: () => undefined });
  await files.save([{ agent, updates: 4, checkpoint: learnerOf(1).save({ resumable: true }) }]);
  await expect(files.load(agent, learnerOf(3, 12))).rejects.toMatchObject({
    failure: { code: "agents.foreign-checkpoint" },
  });
});
