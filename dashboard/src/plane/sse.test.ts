import { expect, test } from "vitest";
import { EventParser } from "./sse.ts";

test("events are the same however the text is cut", () => {
  const text = ': hello\nretry: 1000\nid: a.1\nevent: snapshot\ndata: {"a":\ndata: 1}\n\n: still here\n\ndata: x\n\n';
  const expected = [
    { name: "snapshot", data: '{"a":\n1}' },
    { name: "message", data: "x" },
  ];
  for (const size of [1, 2, 3, 7, 1000]) {
    const parser = new EventParser();
    const found = [];
    for (let from = 0; from < text.length; from += size) found.push(...parser.take(text.slice(from, from + size)));
    expect(found).toEqual(expected);
  }
});

test("an event without its empty line is not delivered", () => {
  expect(new EventParser().take("event: updates\ndata: []\n")).toEqual([]);
});
