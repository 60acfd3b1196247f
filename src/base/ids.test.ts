import fc from "fast-check";
import { expect, test } from "vitest";
import { parseAgentId, parseEpisodeId, parseRunId, parseWorkloadId } from "./ids.ts";

test.each(["a", "A1", "cart-pole.v1", "run_2024-01-01", "x".repeat(128)])("'%s' is an id", (text) => {
  for (const parse of [parseAgentId, parseEpisodeId, parseRunId, parseWorkloadId])
    expect(parse(text)).toEqual({ ok: true, value: text });
});

test.each(["", " ", "-a", "a-", ".", "..", "a b", "a/b", "a\\b", "a\n", "ä", "a:b", "x".repeat(129), "../etc"])(
  "'%s' is no id",
  (text) => {
    expect(parseAgentId(text)).toMatchObject({ ok: false, failure: { code: "id.invalid", retry: false } });
  },
);

test("the failure says which kind of id, shows the text cut short, and says what is allowed", () => {
  const result = parseEpisodeId(`bad id ${"x".repeat(500)}`);
  if (result.ok) expect.unreachable();
  else {
    expect(result.failure.message).toContain("the episode id 'bad id xxx");
    expect(result.failure.message.length).toBeLessThan(250);
    expect(result.failure.message).toContain("use 1 to 128 letters");
  }
});

test("whatever is accepted is safe as a file name and needs no escaping in a URL", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 140 }), (text) => {
      const result = parseRunId(text);
      if (result.ok) {
        expect(encodeURIComponent(text)).toBe(text);
        expect(text).not.toMatch(/^\.|\/|\0/);
      }
    }),
    { seed: 3, numRuns: 500 },
  );
});
