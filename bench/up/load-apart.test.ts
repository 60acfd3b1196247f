import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startLoadProcess } from "./load-apart.ts";

let server: Server;
let url: string;

beforeEach(async () => {
  server = createServer((request, response) => response.writeHead(request.url === "/bad" ? 429 : 200).end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => new Promise<void>((resolve) => server.close(() => resolve())));

test("another process sends one load after the other and tells what came of each", async () => {
  const { load, stop } = startLoadProcess(new AbortController().signal);
  const first = await load({ url, paths: ["/a", "/bad"], perSecond: 200, seconds: 0.1 });
  const second = await load({ url, paths: ["/a"], perSecond: 200, seconds: 0.2 });
  stop();
  expect(first).toMatchObject({ sent: 20, failed: 10 });
  expect(first.times).toHaveLength(10);
  expect(second).toMatchObject({ sent: 40, failed: 0 });
  expect(second.times).toBeInstanceOf(Float64Array);
});

test("a load that is given up ends at once, with the reason", async () => {
  const giveUp = new AbortController();
  const { load } = startLoadProcess(giveUp.signal);
  const loaded = load({ url, paths: ["/a"], perSecond: 50, seconds: 60 });
  giveUp.abort(new Error("enough"));
  await expect(loaded).rejects.toThrow("enough");
});
