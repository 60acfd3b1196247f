import { expect, test } from "vitest";
import { applicationPool } from "./pools.ts";

test("800 applications are known and 200 others unseen", () => {
  const { known, unseen } = applicationPool("split");
  expect([known.length, unseen.length]).toEqual([800, 200]);
  const ids = new Set(known.map(({ id }) => id));
  expect(unseen.some(({ id }) => ids.has(id))).toBe(false);
});

test("where segments are held out, every unseen application has one that no known one has", () => {
  const { known, unseen } = applicationPool("held-out");
  const segments = new Set(known.flatMap((application) => application.segments));
  expect(segments.size).toBe(14);
  expect(unseen.length).toBeGreaterThanOrEqual(20);
  expect(unseen.every((application) => application.segments.some((name) => !segments.has(name)))).toBe(true);
});
