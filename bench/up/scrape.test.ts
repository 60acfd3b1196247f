import { expect, test } from "vitest";
import { answerTimes, counterOf } from "./scrape.ts";

const page = (counts: readonly (readonly [route: string, le: string, count: number])[]) =>
  counts
    .map(([route, le, count]) => `coxswain_http_request_duration_seconds_bucket{route="${route}",le="${le}"} ${count}`)
    .join("\n");

test("the percentile is the bound that enough of the newer answers kept, over all routes but scrapes and streams", () => {
  const since = page([
    ["/a", "0.001", 5],
    ["/a", "+Inf", 1_000],
  ]);
  const now = page([
    ["/a", "0.001", 55],
    ["/a", "0.01", 1_040],
    ["/a", "+Inf", 1_050],
    ["/b", "0.001", 40],
    ["/b", "0.01", 50],
    ["/b", "+Inf", 50],
    ["/metrics", "0.001", 0],
    ["/metrics", "+Inf", 9_999],
  ]);
  // 100 newer answers, 90 of them within 1 ms.
  expect(answerTimes(now, { since, share: 0.9 })).toBe(1);
  expect(answerTimes(now, { since, share: 0.91 })).toBe(10);
  expect(answerTimes(now, { since: now, share: 0.5 })).toBeNaN();
});

test("a counter is read by its name and labels", () => {
  const text = 'a_total{outcome="failed"} 1\na_total{outcome="succeeded"} 17\nturns_count 3\n';
  expect(counterOf(text, 'a_total{outcome="succeeded"}')).toBe(17);
  expect(counterOf(text, "turns_count")).toBe(3);
  expect(counterOf(text, "nothing")).toBe(0);
});
