/** What an agent of a function sees of OpenWhisk and may do there, through the same task as on the simulated platform. */
import { afterEach, expect, test } from "vitest";
import { freshGuardState, guard } from "../../src/act/index.ts";
import { openWhisk } from "../../src/adapters/openwhisk/index.ts";
import { ManualClock, milliseconds, ok, parseWorkloadId, seconds, unwrap } from "../../src/base/index.ts";
import { functionChoices } from "../../src/control/tasks/functions/index.ts";
import { functionLimits } from "../../src/control/tasks/functions/limits.ts";
import { functionsTask } from "../../src/control/tasks/functions/task.ts";
import { activationTelemetry } from "../../src/observe/telemetry/index.ts";
import { replay } from "../fixtures/http/replay-server.ts";
import { AUTH, exchangesOf } from "../fixtures/openwhisk/exchanges.ts";

const START = 1_700_000_000_000;
const hello = unwrap(parseWorkloadId("hello"));
const { signal } = new AbortController();
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function platform(...names: string[]) {
  const server = await replay(names.flatMap(exchangesOf));
  closing.push(server.close);
  const opened = openWhisk({ url: server.url, auth: AUTH, invokerMemory: 4_096, hasScheduler: true, pageSize: 2 });
  return { server, ...unwrap(opened) };
}

test("a task reads records, offers only what the platform can do, and its decision is carried out", async () => {
  const { server, actuator, records, bounds } = await platform(
    "namespace-limits",
    "activation-pages",
    "already-there",
    "set-limits",
  );
  const allowed = unwrap(await bounds(signal));
  const task = functionsTask({ bounds: allowed });
  const clock = new ManualClock(milliseconds(START + 6_000));
  const telemetry = activationTelemetry({
    source: records,
    setting: async () => ok({ shares: 64, memory: 256, containers: 10 }),
    slos: new Map([[hello, milliseconds(400)]]),
    clock,
    window: seconds(6),
  });
  const reading = unwrap(task.parse(unwrap(await telemetry.read(hello, signal))));
  const seen = unwrap(task.encode(reading, { memory: task.freshMemory, now: clock.now() }));
  // Of two calls one was answered, within the SLO; the other was killed.
  expect(seen.measures.preservation).toBe(0.5);
  const mask = [...seen.values].slice(-functionChoices.length);
  expect(functionChoices.flatMap(({ knob, sign }, i) => (mask[i] === 1 ? [`${knob ?? "hold"} ${sign}`] : []))).toEqual([
    "hold 0",
    "memory 1",
    "memory -1",
    "containers 1",
    "containers -1",
  ]);
  const have = unwrap(await actuator.read(hello, signal));
  // Rules may move several steps at once: 256 to 512 are eight of 32, ten to four are six.
  const limits = unwrap(functionLimits(allowed, { steps: 8 }));
  const verdict = guard(
    { workload: hello, want: { ...have, memory: 512, containers: 4 }, measuredAt: clock.now() },
    { limits, state: freshGuardState, have, nodes: "unlimited", now: clock.now() },
  );
  expect(unwrap(await actuator.apply(verdict.action, signal))).toEqual({ shares: 128, memory: 512, containers: 4 });
  expect({ surprises: server.surprises, left: server.left() }).toEqual({ surprises: [], left: 0 });
});
