import { expect, test } from "vitest";
import { type AgentId, failure, milliseconds, ok } from "../base/index.ts";
import { memoryStates, TimedStates } from "./timed-states.ts";

test("agents of whose states one was left out are counted, each once", async () => {
  const inner = memoryStates();
  const damaged = [failure("state.corrupt", "it is damaged")];
  const states = new TimedStates(
    { ...inner, read: async (agent) => ok({ states: [], damaged: agent === "a" ? damaged : [] }) },
    () => milliseconds(0),
  );
  const { signal } = new AbortController();
  for (const id of ["a", "a", "b"]) await states.read(id as AgentId, signal);
  expect(states.damaged).toBe(1);
});
