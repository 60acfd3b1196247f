import { expect, test } from "vitest";
import { connectNats, pauseBefore } from "./connection.ts";

const codeOf = async (servers: readonly string[], parts: { allowPlain?: boolean } = {}): Promise<string> => {
  const link = await connectNats({ servers, name: "a test", ...parts });
  return link.ok ? "ok" : link.failure.code;
};

test("another machine is reached with encryption only, unless the network is trusted", async () => {
  expect(await codeOf(["nats://nats.example.org:4222"])).toBe("nats.plain");
  expect(await codeOf(["http://127.0.0.1:4222"])).toBe("nats.address");
  expect(await codeOf(["127.0.0.1:4222"])).toBe("nats.address");
  expect(await codeOf(["nats://someone:secret@127.0.0.1:4222"])).toBe("nats.address");
});

test("where nobody listens, the failure says so and that it may pass", async () => {
  // Port 1 is nobody's.
  const link = await connectNats({ servers: ["nats://127.0.0.1:1"], name: "a test" });
  expect(link).toMatchObject({ ok: false, failure: { code: "nats.unreachable", retry: true } });
});

test("pauses grow to a second, and chance adds up to as much again", () => {
  expect([0, 1, 2, 3, 4, 5, 60].map((tries) => pauseBefore(tries, 0))).toEqual([50, 100, 200, 400, 800, 1_000, 1_000]);
  expect(pauseBefore(60, 0.5)).toBe(1_500);
});
