import { expect, test } from "vitest";
import type { Failure, Result } from "../../base/index.ts";
import { err, failure, ManualClock, milliseconds, ok, parseWorkloadId, seconds, unwrap } from "../../base/index.ts";
import type { ActivationBatch, ActivationCursor, ActivationSource, StoredActivation } from "./activation.ts";
import { activationTelemetry } from "./activation-telemetry.ts";
import { parseFunctionReading } from "./decode.ts";

const [hello, resize] = ["hello", "resize"].map((id) => unwrap(parseWorkloadId(id))) as [never, never];
const setting = { shares: 64, memory: 256, containers: 10 };
const { signal } = new AbortController();

const record = (id: string, arrivedAt: number, parts: Partial<StoredActivation> = {}): StoredActivation => ({
  id,
  workload: hello,
  arrivedAt: milliseconds(arrivedAt),
  outcome: "completed",
  waiting: 0,
  coldStart: 0,
  execution: 100,
  memory: 256,
  concurrency: 1,
  ...parts,
});

/** A source in memory: what is put in is handed out with the next question. */
function world() {
  const clock = new ManualClock(seconds(100));
  const asked: ActivationCursor[] = [];
  const answers: (Result<Partial<ActivationBatch>> | Promise<Result<Partial<ActivationBatch>>>)[] = [];
  const source: ActivationSource = {
    functions: async () => ok({ functions: [], leftOut: [] }),
    async activations(cursor) {
      asked.push(cursor);
      const answer = (await answers.shift()) ?? ok({});
      if (!answer.ok) return answer;
      return ok({
        records: [],
        cursor: { since: clock.now(), seen: [] },
        isComplete: true,
        malformed: 0,
        ...answer.value,
      });
    },
  };
  const telemetry = activationTelemetry({
    source,
    setting: async () => ok(setting),
    slos: new Map([
      [hello, milliseconds(250)],
      [resize, milliseconds(900)],
    ]),
    clock,
    window: seconds(10),
  });
  return { clock, asked, answers, telemetry };
}

test("a reading has what records say, and null for what they do not", async () => {
  const { answers, asked, telemetry } = world();
  answers.push(
    ok({
      records: [
        record("a", 95_000),
        record("b", 97_000, { workload: resize }),
        record("c", 99_000, { outcome: "killed" }),
      ],
    }),
  );
  const reading = unwrap(await telemetry.read(hello, signal));
  expect(reading).toEqual({
    workload: hello,
    at: 100_000,
    setting,
    slo: 250,
    ready: 1,
    starting: 0,
    use: { cpu: null, memory: null },
    latency: 100,
    execution: 100,
    waiting: 0,
    coldStart: 0,
    // One answered and one killed in ten seconds.
    offered: 0.2,
    completed: 0.1,
    failed: 0.1,
    kills: 1,
  });
  expect(parseFunctionReading(reading).ok).toBe(true);
  // The window before the beginning is asked for too: records of it are there already.
  expect(asked).toEqual([{ since: 90_000, seen: [] }]);
});

test("those who look in the same second share one question", async () => {
  const { clock, asked, telemetry } = world();
  await Promise.all([telemetry.read(hello, signal), telemetry.read(resize, signal)]);
  clock.advance(milliseconds(999));
  await telemetry.read(hello, signal);
  expect(asked.length).toBe(1);
  clock.advance(milliseconds(1));
  await telemetry.read(hello, signal);
  // From where the first answer led to.
  expect(asked[1]).toEqual({ since: 100_000, seen: [] });
});

test("a failure is told and not kept, and the next one who looks asks anew from the same place", async () => {
  const { answers, asked, telemetry } = world();
  const busy: Failure = failure("functions.platform.busy", "busy", { retry: true });
  answers.push(err(busy), ok({ records: [record("a", 95_000)] }));
  expect(await telemetry.read(hello, signal)).toEqual(err(busy));
  expect(unwrap(await telemetry.read(hello, signal))).toMatchObject({ completed: 0.1 });
  expect(asked[1]).toEqual(asked[0]);
});

test("after records were lost a reading fails, and then counts from there", async () => {
  const { clock, answers, telemetry } = world();
  answers.push(ok({ isComplete: false, records: [record("a", 99_000)] }));
  expect(await telemetry.read(hello, signal)).toMatchObject({
    ok: false,
    failure: { code: "functions.platform.behind" },
  });
  clock.advance(seconds(2));
  answers.push(ok({ records: [record("b", 101_000)] }));
  // One call within the two seconds of which nothing is missing.
  expect(unwrap(await telemetry.read(hello, signal))).toMatchObject({ completed: 0.5 });
});

test("records of the future mean that a clock is wrong", async () => {
  const { answers, telemetry } = world();
  answers.push(ok({ records: [record("a", 106_000)] }));
  expect(await telemetry.read(hello, signal)).toMatchObject({ ok: false, failure: { code: "telemetry.future" } });
});

test("whoever gives up is told so, and the others still get their answer", async () => {
  const { answers, telemetry } = world();
  let answer: (result: Result<Partial<ActivationBatch>>) => void = () => undefined;
  answers.push(
    new Promise((resolve) => {
      answer = resolve;
    }),
  );
  const impatient = new AbortController();
  const first = telemetry.read(hello, impatient.signal);
  const second = telemetry.read(resize, signal);
  impatient.abort();
  expect(await first).toMatchObject({ ok: false, failure: { code: "telemetry.aborted", retry: true } });
  answer(ok({}));
  expect((await second).ok).toBe(true);
});

test("a function without an SLO is not known", async () => {
  const { telemetry } = world();
  const nobody = unwrap(parseWorkloadId("nobody"));
  expect(await telemetry.read(nobody, signal)).toMatchObject({
    ok: false,
    failure: { code: "telemetry.unknown-workload" },
  });
});
