import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { CodedError, failure } from "../../base/index.ts";
import { type AsyncEnv, box, discrete, type Env } from "../../learn/env/index.ts";
import { ResetSchema, type ServerMessage, StepSchema } from "./generated/coxswain/env/v1/env_pb.ts";
import { HostedSession, type HostedWorld } from "./hosted-session.ts";

/** Counts upwards; `failing` makes the next steps throw. */
function counter() {
  const seen = { steps: 0, failing: undefined as unknown };
  const env: Env<Float32Array, number> = {
    spec: { id: "Counter-v0" },
    observationSpace: box({ low: 0, high: 100, size: 1 }),
    actionSpace: discrete(2),
    reset: () => ({ obs: Float32Array.of(0), info: {} }),
    step: (action) => {
      env.actionSpace.write(action, new Float64Array(1));
      seen.steps += 1;
      if (seen.failing !== undefined) throw seen.failing;
      return { obs: Float32Array.of(seen.steps), reward: 10 * seen.steps, end: "no" };
    },
    close: () => undefined,
  };
  return { env: env as unknown as HostedWorld, seen };
}

const hosted = (world: HostedWorld, onDefect = (_: unknown) => {}) => new HostedSession({ world, onDefect });
const resetOf = (episode: number) => create(ResetSchema, { episode });
const stepOf = (episode: number, step: number, action = 1) =>
  create(StepSchema, { episode, step, action: [action], decidedAtMs: 1000 + step });
const codeOf = ({ answer }: ServerMessage): string => (answer.case === "problem" ? answer.value.code : "none");
const rewardOf = ({ answer }: ServerMessage): number | undefined =>
  answer.case === "observed" ? answer.value.reward : undefined;

describe("a hosted session", () => {
  test("answers a repeated step from memory and carries it out once", async () => {
    const { env, seen } = counter();
    const session = hosted(env);
    await session.reset(resetOf(1));
    const first = await session.step(stepOf(1, 0));
    const again = await session.step(stepOf(1, 0));
    expect([rewardOf(first), rewardOf(again), seen.steps]).toEqual([10, 10, 1]);
    expect(rewardOf(await session.step(stepOf(1, 1)))).toBe(20);
  });

  test("makes a repeat wait for a step that is still under way", async () => {
    let land = (): void => {};
    let steps = 0;
    const { env } = counter();
    const slow: AsyncEnv<Float32Array, number> = {
      ...(env as unknown as AsyncEnv<Float32Array, number>),
      reset: async () => ({ obs: Float32Array.of(0), info: {} }),
      step: () => {
        steps += 1;
        return new Promise((resolve) => {
          land = () => resolve({ obs: Float32Array.of(1), reward: 7, end: "terminated" });
        });
      },
    };
    const session = hosted(slow as unknown as HostedWorld);
    await session.reset(resetOf(1));
    const both = Promise.all([session.step(stepOf(1, 0)), session.step(stepOf(1, 0)), session.standing()]);
    await new Promise((resolve) => setImmediate(resolve));
    land();
    const [one, two, standing] = await both;
    expect([steps, rewardOf(one), rewardOf(two)]).toEqual([1, 7, 7]);
    expect([standing?.last?.terminated, standing?.last?.truncated]).toEqual([true, false]);
  });

  test("refuses the past, the future and another action for a step that was made", async () => {
    const { env, seen } = counter();
    const session = hosted(env);
    await session.reset(resetOf(3));
    await session.step(stepOf(3, 0));
    await session.step(stepOf(3, 1));
    const strange = [stepOf(3, 0), stepOf(3, 3), stepOf(2, 2), stepOf(3, 1, 0)];
    const codes = [];
    for (const call of strange) codes.push(codeOf(await session.step(call)));
    codes.push(codeOf(await session.reset(resetOf(3))), codeOf(await session.reset(resetOf(2))));
    expect(codes).toEqual(Array.from({ length: 6 }, () => "env.out-of-step"));
    expect(seen.steps).toBe(2);
  });

  test("lets a refused action be corrected, and asks for a reset after a failure of the world", async () => {
    const { env, seen } = counter();
    const session = hosted(env);
    await session.reset(resetOf(1));
    expect(codeOf(await session.step(stepOf(1, 0, 5)))).toBe("space.mismatch");
    expect(rewardOf(await session.step(stepOf(1, 0, 1)))).toBe(10);
    seen.failing = new CodedError(failure("env.not-finite", "a reading is missing"));
    expect(codeOf(await session.step(stepOf(1, 1)))).toBe("env.not-finite");
    seen.failing = undefined;
    // The repeat hears what happened; another action does not reach a world in an unknown state.
    expect(codeOf(await session.step(stepOf(1, 1)))).toBe("env.not-finite");
    expect(codeOf(await session.step(stepOf(1, 1, 0)))).toBe("env.needs-reset");
    expect(seen.steps).toBe(2);
    await session.reset(resetOf(2));
    expect(rewardOf(await session.step(stepOf(2, 0)))).toBe(30);
  });

  test("keeps the insides of a defect on the host", async () => {
    const { env, seen } = counter();
    const log: unknown[] = [];
    const session = hosted(env, (thrown) => log.push(thrown));
    await session.reset(resetOf(1));
    seen.failing = new TypeError("password is undefined");
    const { answer } = await session.step(stepOf(1, 0));
    expect(answer.case === "problem" && [answer.value.code, answer.value.sentence.includes("password")]).toEqual([
      "env.failed",
      false,
    ]);
    expect(log).toEqual([seen.failing]);
  });

  test("tells a returning client its last step with all that a record needs", async () => {
    const { env } = counter();
    const session = hosted(env);
    expect(await session.standing()).toBeUndefined();
    await session.reset(resetOf(1));
    await session.step(stepOf(1, 0, 1));
    await session.step(stepOf(1, 1, 0));
    expect(await session.standing()).toMatchObject({
      last: { episode: 1, step: 1, observation: [2], reward: 20, terminated: false, truncated: false },
      previousObservation: [1],
      action: [0],
      decidedAtMs: 1001,
      previousReward: 10,
    });
  });
});
