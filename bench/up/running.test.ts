import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { heapOf } from "./running.ts";

function child(answer: (events: EventEmitter) => void) {
  const events = new EventEmitter();
  const send = () => {
    queueMicrotask(() => answer(events));
    return true;
  };
  return { events, process: Object.assign(events, { send }) as unknown as Parameters<typeof heapOf>[0] };
}

test("however often the memory is asked for, nobody goes on listening", async () => {
  const figures = { heapUsed: 1, threads: 1, resident: 2 };
  const { events, process } = child((all) => all.emit("message", figures));
  for (let i = 0; i < 12; i++) expect(await heapOf(process)).toBe(figures);
  expect([events.listenerCount("exit"), events.listenerCount("message")]).toEqual([0, 0]);
});

test("a process that ends instead of answering is told as such", async () => {
  const { events, process } = child((all) => all.emit("exit", 1));
  await expect(heapOf(process)).rejects.toThrow("ended while its memory was looked at");
  expect(events.listenerCount("message")).toBe(0);
});
