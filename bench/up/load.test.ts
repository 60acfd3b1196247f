import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { quantile, steadyLoad } from "./load.ts";

test("the percentile is the smallest value that so many are not above", () => {
  const hundred = Float64Array.from({ length: 100 }, (_, i) => i + 1);
  expect(quantile(hundred, 0.99)).toBe(99);
  expect(quantile(hundred, 1)).toBe(100);
  expect(quantile(hundred, 0)).toBe(1);
  expect(quantile(Float64Array.of(7), 0.5)).toBe(7);
  expect(quantile(new Float64Array(), 0.5)).toBeNaN();
});

test("every request of the schedule is sent, paths in turn, and refusals count as failed", async () => {
  const asked = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    asked.set(path, (asked.get(path) ?? 0) + 1);
    response.writeHead(path === "/bad" ? 429 : 200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { signal } = new AbortController();
  const result = await steadyLoad({ url, paths: ["/a", "/b", "/bad"], perSecond: 300, seconds: 0.2, signal });
  await new Promise<void>((resolve) => server.close(() => resolve()));
  expect(Object.fromEntries(asked)).toEqual({ "/a": 20, "/b": 20, "/bad": 20 });
  expect(result).toMatchObject({ sent: 60, failed: 20 });
  expect(result.times).toHaveLength(40);
  expect([...result.times]).toEqual([...result.times].sort((a, b) => a - b));
});
