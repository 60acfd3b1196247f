import { afterEach, describe, expect, test } from "vitest";
import { type Exchange, replay } from "../../../test/fixtures/http/replay-server.ts";
import { AUTH, exchangesOf, readingHello } from "../../../test/fixtures/openwhisk/exchanges.ts";
import { standIn } from "../../../test/fixtures/openwhisk/stand-in.ts";
import { actuatorConformance } from "../../act/actuator.conformance.ts";
import type { Setting } from "../../act/index.ts";
import { type Clock, milliseconds, parseWorkloadId, seconds, unwrap } from "../../base/index.ts";
import { type OpenWhiskOptions, openWhisk } from "./index.ts";
import { boundsOf, sharesOf } from "./limits.ts";

const hello = unwrap(parseWorkloadId("hello"));
const { signal } = new AbortController();
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

const usual = { auth: AUTH, invokerMemory: 4_096, hasScheduler: true };

/** Time passes only in sleep, at once. */
function sleepyClock() {
  const slept: number[] = [];
  let now = 0;
  const clock: Clock = {
    now: () => milliseconds(now),
    monotonic: () => milliseconds(now),
    async sleep(duration) {
      slept.push(duration);
      now += duration;
    },
  };
  return { clock, slept };
}

async function against(exchanges: readonly Exchange[], options: Partial<OpenWhiskOptions> = {}) {
  const server = await replay(exchanges);
  closing.push(server.close);
  return { server, ...unwrap(openWhisk({ ...usual, url: server.url, ...options })) };
}

// An invoker of 4,096 MiB holds 16 containers of 256 MiB: 1,024 / 16 shares for each, a quarter of the MiB.
actuatorConformance(
  "OpenWhisk",
  async () => {
    const server = await standIn();
    closing.push(async () => {
      await server.close();
      expect(server.surprises).toEqual([]);
    });
    return { workload: hello, actuator: unwrap(openWhisk({ ...usual, url: server.url })).actuator };
  },
  {
    start: { shares: 64, memory: 256, containers: 10 },
    sets: [
      { memory: 512 },
      { containers: 3 },
      { shares: 128, memory: 512 },
      { shares: 64 },
      { memory: 128, containers: 0 },
    ],
    settled: (asked: Setting): Setting => ({ ...asked, shares: (asked.memory as number) / 4 }),
  },
);

test("an update that would change nothing is not sent, since it would cost every warm container", async () => {
  const server = await standIn();
  closing.push(server.close);
  const { actuator } = unwrap(openWhisk({ ...usual, url: server.url }));
  const set = { memory: 512 };
  await actuator.apply({ kind: "set", workload: hello, set }, signal);
  await actuator.apply({ kind: "set", workload: hello, set }, signal);
  await actuator.apply({ kind: "hold", workload: hello }, signal);
  expect(server.puts()).toBe(1);
});

describe("conversations", () => {
  const want = { kind: "set", workload: hello, set: { memory: 512, containers: 4 } } as const;

  test("limits are read, set without what stays, and read again", async () => {
    const { server, actuator } = await against(exchangesOf("set-limits"));
    expect(unwrap(await actuator.apply(want, signal))).toEqual({ shares: 128, memory: 512, containers: 4 });
    expect({ surprises: server.surprises, left: server.left() }).toEqual({ surprises: [], left: 0 });
  });

  test("after a conflict the action is read again and only what is still missing is set", async () => {
    const { server, actuator } = await against(exchangesOf("conflict"));
    expect(unwrap(await actuator.apply(want, signal))).toEqual({ shares: 128, memory: 512, containers: 4 });
    expect({ surprises: server.surprises, left: server.left() }).toEqual({ surprises: [], left: 0 });
  });

  test("a second conflict is the caller's to hear of", async () => {
    const { server, actuator } = await against(exchangesOf("conflict-twice"));
    const applied = await actuator.apply(want, signal);
    expect(applied).toMatchObject({ ok: false, failure: { code: "functions.platform.conflict", retry: true } });
    expect({ surprises: server.surprises, left: server.left() }).toEqual({ surprises: [], left: 0 });
  });

  test("an action whose containers were never limited has the namespace's limit", async () => {
    const { server, actuator } = await against(exchangesOf("never-limited"));
    expect(unwrap(await actuator.read(hello, signal))).toEqual({ shares: 64, memory: 256, containers: 100 });
    expect(server.surprises).toEqual([]);
  });

  test("a sequence has no containers and is no function", async () => {
    const { actuator } = await against(exchangesOf("sequence"));
    const read = await actuator.read(hello, signal);
    expect(read).toMatchObject({ ok: false, failure: { code: "actuator.unknown-workload" } });
  });

  test("a limit beyond the namespace's is refused in OpenWhisk's own words", async () => {
    const { actuator } = await against(exchangesOf("beyond-namespace"));
    const applied = await actuator.apply({ kind: "set", workload: hello, set: { memory: 2_048 } }, signal);
    expect(applied).toMatchObject({ ok: false, failure: { code: "functions.platform.refused", retry: false } });
    expect(applied.ok ? "" : applied.failure.message).toContain("exceeds allowed threshold of 512 MB");
  });

  test("the namespace's limits are the bounds of its functions", async () => {
    const { bounds } = await against(exchangesOf("namespace-limits"));
    expect(unwrap(await bounds(signal))).toEqual({
      shares: { min: 2, max: 1_024, step: 1_024 },
      memory: { min: 128, max: 512, step: 32 },
      containers: { min: 1, max: 100, step: 1 },
    });
  });
});

describe("knobs that cannot be set", () => {
  test.each([
    ["CPU shares other than those that come with the memory", { shares: 512 }, true],
    ["CPU shares that contradict the memory beside them", { shares: 64, memory: 512 }, true],
    ["containers, where no scheduler heeds their limit", { containers: 3 }, false],
    ["a knob that functions do not have", { replicas: 3 }, true],
    ["half a container", { containers: 1.5 }, true],
    ["no number", { memory: Number.NaN }, true],
  ])("%s are refused and nothing is sent", async (_, set, hasScheduler) => {
    const { server, actuator } = await against(exchangesOf("already-there"), { hasScheduler });
    const applied = await actuator.apply({ kind: "set", workload: hello, set }, signal);
    expect(applied).toMatchObject({ ok: false, failure: { code: "functions.platform.knob", retry: false } });
    expect(server.surprises).toEqual([]);
  });

  test("are named", async () => {
    const knobs = (hasScheduler: boolean) =>
      unwrap(openWhisk({ ...usual, hasScheduler, url: "https://whisk.test" })).fixedKnobs.map(({ knob }) => knob);
    expect([knobs(true), knobs(false)]).toEqual([["shares"], ["shares", "containers"]]);
  });

  test("have a step in the bounds that leads beyond them from everywhere", () => {
    const { shares, containers } = boundsOf({ concurrentInvocations: 100 }, { hasScheduler: false });
    for (const { min, max, step } of [shares, containers])
      for (const value of [min, max]) expect([value + step > max, value - step < min]).toEqual([true, true]);
  });

  test("shares are worked out as the invoker does, in whole containers", () => {
    // 1,024 MiB hold 4 of 256; 3 of 300 (341.33 is cut off); 1,024 of 1, which is less than Docker's least; none of 2,048.
    expect([256, 300, 1, 2_048].map((memory) => sharesOf(memory, 1_024))).toEqual([256, 341, 2, 1_024]);
  });
});

describe("what goes wrong on the way", () => {
  const answered = (status: number, body = "{}"): Exchange => readingHello({ status, body });
  const good = exchangesOf("already-there");

  test.each([
    [401, "functions.platform.unauthorized"],
    [403, "functions.platform.unauthorized"],
    [404, "actuator.unknown-workload"],
    [400, "functions.platform.refused"],
  ])("status %d is not asked again", async (status, code) => {
    const { server, actuator } = await against([answered(status, '{"error":"no","code":"x"}')]);
    expect(await actuator.read(hello, signal)).toMatchObject({ ok: false, failure: { code, retry: false } });
    expect(server.surprises).toEqual([]);
  });

  test("a key never gets into a sentence", async () => {
    const { actuator } = await against([answered(401)]);
    const read = await actuator.read(hello, signal);
    expect(JSON.stringify(read)).not.toMatch(/secret-key|dXNlci11dWlk/);
  });

  test("429 and 5xx are asked again with pauses that double", async () => {
    const { clock, slept } = sleepyClock();
    const { actuator } = await against([answered(429), answered(503), answered(500), ...good], { clock });
    expect(unwrap(await actuator.read(hello, signal))).toEqual({ shares: 64, memory: 256, containers: 10 });
    expect(slept).toEqual([200, 400, 800]);
  });

  test.each([
    [429, "functions.platform.busy"],
    [502, "functions.platform.unavailable"],
  ])("status %d for longer than the deadline is a failure that may pass", async (status, code) => {
    const { clock, slept } = sleepyClock();
    const many = Array.from({ length: 9 }, () => answered(status));
    const { server, actuator } = await against(many, { clock, deadline: seconds(5) });
    expect(await actuator.read(hello, signal)).toMatchObject({ ok: false, failure: { code, retry: true } });
    // 200 + 400 + 800 + 1,600 = 3,000; a fifth pause of 2,000 would end at the deadline itself.
    expect(slept).toEqual([200, 400, 800, 1_600]);
    expect(server.left()).toBe(4);
  });

  test("a pause that the platform asks for is kept, or the call ends where it is too long", async () => {
    const { clock, slept } = sleepyClock();
    const wait = (seconds: string) => readingHello({ status: 429, headers: { "retry-after": seconds }, body: "{}" });
    const { actuator } = await against([wait("3"), wait("60")], { clock });
    expect(await actuator.read(hello, signal)).toMatchObject({
      ok: false,
      failure: { code: "functions.platform.busy" },
    });
    expect(slept).toEqual([3_000]);
  });

  test("a request that is not answered in time is asked again, and then given up", async () => {
    const silent = readingHello({ status: 200, isSilent: true });
    const patient = { requestTimeout: milliseconds(60), deadline: milliseconds(400) };
    const { server, actuator } = await against([silent, silent, silent], patient);
    const began = performance.now();
    const read = await actuator.read(hello, signal);
    expect(read).toMatchObject({ ok: false, failure: { code: "functions.platform.timeout", retry: true } });
    // 60 ms, a pause of 200, 60 ms; the next pause of 400 would end after the deadline.
    expect(server.left()).toBe(1);
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  test("whoever gives up is told so, in the middle of a request as in a pause", async () => {
    const { actuator } = await against([readingHello({ status: 200, isSilent: true })]);
    const read = await actuator.read(hello, AbortSignal.timeout(50));
    expect(read).toMatchObject({ ok: false, failure: { code: "actuator.aborted", retry: true } });
    const busy = await against([answered(503)]);
    const paused = await busy.actuator.read(hello, AbortSignal.timeout(100));
    expect(paused).toMatchObject({ ok: false, failure: { code: "actuator.aborted", retry: true } });
  });

  test("a server that is not there is unavailable", async () => {
    const { server, actuator } = await against([], { deadline: milliseconds(100) });
    await server.close();
    const read = await actuator.read(hello, signal);
    expect(read).toMatchObject({ ok: false, failure: { code: "functions.platform.unavailable", retry: true } });
  });

  test.each([
    ["is not JSON", "<html>it works</html>"],
    ["breaks off", '{"exec":{"kind":"nodej'],
    ["is of another shape", '{"exec":{"kind":"nodejs:20"},"limits":{"memory":"256 MB"}}'],
    ["is no object", "17"],
  ])("an answer that %s is malformed", async (_, body) => {
    const { actuator } = await against([answered(200, body)]);
    const read = await actuator.read(hello, signal);
    expect(read).toMatchObject({ ok: false, failure: { code: "functions.platform.malformed", retry: false } });
  });

  test.each([
    ["with its length", { "content-length": "5002" }],
    ["without", { "transfer-encoding": "chunked" }],
  ])("an answer beyond the bound is not read, told %s", async (_, headers) => {
    const long = readingHello({ status: 200, headers, body: JSON.stringify("x".repeat(5_000)) });
    const { actuator } = await against([long], { mostBodyBytes: 4_096 });
    const read = await actuator.read(hello, signal);
    expect(read).toMatchObject({ ok: false, failure: { code: "functions.platform.too-large", retry: false } });
  });

  test("the key does not follow a redirect", async () => {
    const elsewhere = await replay([answered(200)]);
    closing.push(elsewhere.close);
    const moved = readingHello({ status: 307, headers: { location: elsewhere.url } });
    const { actuator } = await against([moved]);
    const read = await actuator.read(hello, signal);
    expect(read).toMatchObject({ ok: false, failure: { code: "functions.platform.refused", retry: false } });
    expect(elsewhere.left()).toBe(1);
  });
});

describe("options that cannot be", () => {
  test.each([
    ["an address that is none", { url: "whisk" }],
    ["another protocol", { url: "ftp://whisk.test" }],
    ["a path", { url: "https://whisk.test/api/v1" }],
    ["a key in the address", { url: "https://user:key@whisk.test" }],
    ["a key that would travel in the clear", { url: "http://whisk.test" }],
    ["a key of another form", { auth: "only-one-part" }],
    ["a namespace that is a path", { namespace: "guest/images" }],
    ["longer pages than OpenWhisk lists", { pageSize: 201 }],
    ["no memory", { invokerMemory: 0 }],
    ["no time", { deadline: milliseconds(0) }],
  ])("%s is refused", (_, options) => {
    const opened = openWhisk({ ...usual, url: "https://whisk.test", ...options });
    expect(opened).toMatchObject({ ok: false, failure: { code: "functions.platform.options" } });
    expect(JSON.stringify(opened)).not.toContain("secret-key");
  });

  test("plain HTTP to another machine is possible for whoever asks for it", () => {
    expect(openWhisk({ ...usual, url: "http://whisk.test", allowPlainHttp: true }).ok).toBe(true);
  });
});
