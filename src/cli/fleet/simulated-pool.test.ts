import { expect, test } from "vitest";
import { milliseconds, parseWorkloadId, unwrap } from "../../base/index.ts";
import { coordinatorSchema } from "./fleet-schema.ts";
import { simulatedPool } from "./simulated-pool.ts";

const at = milliseconds;
const agents = ["function-1", "function-2"].map((name) => unwrap(parseWorkloadId(name)));

function hostOf(life: number, settings: Readonly<Record<string, unknown>> = {}) {
  const pool = { name: "a-pool", platform: { kind: "simulated", functions: 2 }, ...settings };
  const [parsed] = coordinatorSchema.parse({ data: "nowhere", pools: [pool] }).pools;
  if (parsed === undefined) throw new Error("no pool");
  return simulatedPool(parsed, { life, now: at(0) });
}

test("members go on after a restart, and join again where their pool's settings are others by then", () => {
  const before = hostOf(1);
  before.join({ name: "a test", agents }, { session: "theirs", now: at(0) });
  const kept = before.keep(at(0));
  const past = { step: 100, lastIncarnation: 100, now: at(1) };

  const same = hostOf(2);
  same.restore(kept, past);
  expect(same.state().members.map(({ agent }) => agent)).toEqual(agents);
  expect(same.admits("theirs")).toMatchObject({ ok: true });

  const platform = { kind: "simulated", functions: 2, invokers: 5 };
  for (const others of [{ variant: "simppo-all" }, { patienceSeconds: 9 }, { platform }]) {
    const host = hostOf(2, others);
    host.restore(kept, past);
    expect(host.state().members).toEqual([]);
    expect(host.admits("theirs")).toMatchObject({ ok: false, failure: { code: "agents.no-session" } });
  }
});
