import { expect, test } from "vitest";
import type { Injection } from "../../act/faults/index.ts";
import { milliseconds, seconds } from "../../base/index.ts";
import { brokenShare, type Look, mitigationOf } from "./violations.ts";

const injection: Injection = {
  id: "a",
  kind: "cpu",
  target: { on: "instance", service: "geo", replica: 0 },
  start: seconds(10),
  duration: seconds(30),
  pattern: "constant",
  intensity: 1,
};

/** Half a second each, 100 requests of one type: late ones by look, none where nothing is said. */
const looksWith = (late: (second: number) => number, until = 60): Look[] =>
  Array.from({ length: until * 2 }, (_, i) => ({
    from: milliseconds(i * 500),
    to: milliseconds((i + 1) * 500),
    requests: [{ completed: 100, timedOut: 0, dropped: 0, late: late(i / 2), inFlight: 3 }],
  }));

test("a violation lasts from the first broken look to the first from which five seconds keep the SLO", () => {
  // Broken from 11 s up to 14.5 s: 3.5 s.
  const looks = looksWith((at) => (at >= 11 && at < 14.5 ? 50 : 0));
  expect(mitigationOf(injection, looks)).toEqual({
    injection: "a",
    kind: "cpu",
    target: injection.target,
    outcome: "mitigated",
    onset: 1,
    lasted: 3.5,
  });
});

test("a violation that ends with its injection is censored, also where five quiet seconds would reach beyond", () => {
  const whole = looksWith((at) => (at >= 10 && at < 40 ? 50 : 0));
  expect(mitigationOf(injection, whole)).toMatchObject({ outcome: "censored", onset: 0, lasted: 30 });
  // Quiet from 36 s on, of which only 4 s are within the injection.
  const nearly = looksWith((at) => (at >= 10 && at < 36 ? 50 : 0));
  expect(mitigationOf(injection, nearly)).toMatchObject({ outcome: "censored", lasted: 30 });
  const justInTime = looksWith((at) => (at >= 10 && at < 35 ? 50 : 0));
  expect(mitigationOf(injection, justInTime)).toMatchObject({ outcome: "mitigated", lasted: 25 });
});

test("one unlucky look is no violation, and a violation that comes back is not over", () => {
  // 4 of 100 break a look (1 % and two deviations are 2.99), 4 of 1,000 do not break five seconds.
  const unlucky = looksWith((at) => (at === 15 ? 4 : 0));
  expect(mitigationOf(injection, unlucky)).toMatchObject({ outcome: "unbroken", onset: null, lasted: 0 });
  const back = looksWith((at) => ((at >= 12 && at < 14) || (at >= 16 && at < 18) ? 50 : 0));
  expect(mitigationOf(injection, back)).toMatchObject({ outcome: "mitigated", onset: 2, lasted: 6 });
});

test("what is broken before an injection or after it is not its doing", () => {
  const around = looksWith((at) => (at < 10 || at >= 40 ? 50 : 0));
  expect(mitigationOf(injection, around)).toMatchObject({ outcome: "unbroken" });
});

test("requests that are refused or given up count as missed", () => {
  const looks = looksWith(() => 0).map((look, i) => ({
    ...look,
    requests: [
      { completed: 90, timedOut: 5, dropped: 5, late: 0, inFlight: 0, ...(i < 24 && { timedOut: 0, dropped: 0 }) },
    ],
  }));
  expect(mitigationOf(injection, looks)).toMatchObject({ outcome: "censored", onset: 2, lasted: 28 });
});

test("the broken share is told over settling times, one after another", () => {
  // Twelve of them; broken from 8 to 11 s is in the second and third.
  expect(brokenShare(looksWith((at) => (at >= 8 && at < 11 ? 50 : 0)))).toBeCloseTo(2 / 12, 12);
  expect(brokenShare(looksWith(() => 0, 63))).toBe(0);
  expect(brokenShare([])).toBe(0);
});
