import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { type Connection, openConnection } from "./connection.ts";

const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const thing of open.splice(0)) thing.close();
});

async function connectionTo(answer: RequestListener): Promise<Connection> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const connection = openConnection(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  open.push(connection, server);
  return connection;
}

test("answers of a known length, in chunks and without a body end where they end, one after another", async () => {
  const asked: string[] = [];
  const connection = await connectionTo((request, response) => {
    asked.push(request.url ?? "");
    if (request.url === "/long") {
      response.setHeader("content-length", 3_000_000);
      response.end(Buffer.alloc(3_000_000));
    } else if (request.url === "/chunks") {
      response.write("0\r\n\r\nnot the end");
      setTimeout(() => response.end("0\r\n"), 5);
    } else response.writeHead(304).end();
  });
  const statuses: number[] = [];
  for (const path of ["/long", "/chunks", "/nothing", "/chunks", "/long"]) statuses.push(await connection.ask(path));
  expect(statuses).toEqual([200, 200, 304, 200, 200]);
  expect(asked).toHaveLength(5);
});

test("a connection that is cut answers 0 and is not open any more", async () => {
  const connection = await connectionTo((_, response) => {
    response.socket?.destroy();
  });
  expect(await connection.ask("/")).toBe(0);
  expect(connection.isOpen).toBe(false);
  expect(await connection.ask("/")).toBe(0);
});
