import { expect, test } from "vitest";
import { ok, parseWorkloadId, unwrap } from "../../base/index.ts";
import {
  readJoin,
  readJoinAnswer,
  readStep,
  readStepAnswer,
  writeAnswer,
  writeJoin,
  writeStep,
} from "./fleet-messages.ts";

const agents = Array.from({ length: 1_000 }, (_, i) => unwrap(parseWorkloadId(`function-${i + 1}`)));
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
/** Not short as text, as measured numbers are. */
const numbers = (length: number): Float32Array => Float32Array.from({ length }, (_, i) => 0.1 + i / 3);
const sight = {
  obs: numbers(14),
  have: { shares: 1_024, memory: 512, containers: 10 },
  measures: { preservation: 1 / 3, cpu: 1 / 3, memory: 1 / 3 },
};

test("as many agents as one process may have fit into each request and each answer", () => {
  expect(readJoin(bytes(writeJoin({ name: "a test", agents })))).toMatchObject({ ok: true });
  const members = agents.map((agent) => ({ agent, incarnation: 1_000_001 }));
  const reports = members.map((member) => ({
    ...member,
    values: [1 / 3, 2 / 3, 1 / 7],
    reward: 1 / 3,
    choice: 3,
    kept: 100_000,
  }));
  expect(readStep(bytes(writeStep({ step: 1e9, members: reports })))).toMatchObject({ ok: true });
  const joined = {
    session: "a session",
    step: 1e9,
    variant: "simppo" as const,
    contextSize: 6,
    pool: { cores: 8, memory: 32_768 },
    stepTakes: 12_000,
    members: members.map((member) => ({ ...member, group: "all", ...sight })),
    refused: [],
  };
  expect(readJoinAnswer(bytes(writeAnswer(ok(joined))))).toMatchObject({ ok: true });
  const answer = {
    step: 1e9,
    next: 1e9 + 1,
    teamReward: 1 / 3,
    members: agents.map((agent) => ({ agent, acted: true, seen: sight, reward: 1 / 3, global: numbers(6) })),
  };
  expect(readStepAnswer(bytes(writeAnswer(ok(answer))))).toMatchObject({ ok: true });
});
