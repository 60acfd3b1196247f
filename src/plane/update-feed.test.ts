import { expect, test } from "vitest";
import type { PlaneUpdate } from "../contract/index.ts";
import { UpdateFeed } from "./update-feed.ts";

const told = (text: string): PlaneUpdate => ({
  kind: "event",
  event: { at: 0, severity: "info", kind: "note", workload: null, agent: null, text, evidence: null },
});
const texts = (updates: readonly PlaneUpdate[]): string[] =>
  updates.map((update) => (update.kind === "event" ? update.event.text : update.kind));

function listener() {
  const heard: string[] = [];
  return { heard, take: (updates: readonly PlaneUpdate[]) => void heard.push(...texts(updates)) };
}

test("what went before comes first, and the past of before a restart only to the first who asks for it", () => {
  const feed = new UpdateFeed();
  feed.addPast([told("long ago")]);
  feed.add([told("a")]);
  const [plain, asks, late] = [listener(), listener(), listener()];
  feed.subscribe(plain.take);
  feed.subscribe(asks.take, { past: asks.take });
  feed.subscribe(late.take, { past: late.take });
  feed.add([told("b")]);
  expect(plain.heard).toEqual(["a", "b"]);
  expect(asks.heard).toEqual(["long ago", "a", "b"]);
  expect(late.heard).toEqual(["a", "b"]);
});

test("a past that becomes known later is handed on then, and nobody hears anything after leaving", () => {
  const feed = new UpdateFeed();
  const one = listener();
  const leave = feed.subscribe(one.take, { past: one.take });
  feed.addPast([told("long ago")]);
  feed.add([told("a")]);
  leave();
  feed.addPast([told("longer ago")]);
  feed.add([told("b")]);
  expect(one.heard).toEqual(["long ago", "a"]);
});
