import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { milliseconds, unwrap } from "../../base/index.ts";
import { NameTable, type Span, spanColumnsOf } from "../../observe/telemetry/index.ts";
import { openSpanJournal, type SpanJournal } from "./span-journal.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "coxswain-journal-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const span = (id: number, service = "shop"): Span => ({
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: id.toString(16).padStart(16, "0"),
  ...(id === 1 ? {} : { parentId: "0000000000000001" }),
  service,
  instance: `${service}-0`,
  operation: "GET /",
  kind: "server",
  startUs: 1_000 * id,
  endUs: 1_000 * id + 500,
  status: "ok",
  attributes: { "http.method": "GET" },
});
const batchOf = (...spans: Span[]) => spanColumnsOf(spans, new NameTable());
const open = (at = 0): SpanJournal => unwrap(openSpanJournal({ folder }, milliseconds(at)));
function spansOf(journal: SpanJournal): Span[] {
  const spans: Span[] = [];
  for (const batch of journal.before()) for (let row = 0; row < batch.length; row++) spans.push(batch.spanAt(row));
  return spans;
}

test("what was appended is there after the process is gone, in order and whole", () => {
  const first = open();
  unwrap(first.append(batchOf(span(1), span(2, "cart")), milliseconds(10)));
  unwrap(first.append(batchOf(span(3)), milliseconds(20)));
  // Not closed: it was killed.
  expect(spansOf(open())).toEqual([span(1), span(2, "cart"), span(3)]);
});

test("a frame that was being written, or was changed since, and all behind it are left out", () => {
  const first = open();
  unwrap(first.append(batchOf(span(1)), milliseconds(10)));
  unwrap(first.append(batchOf(span(2)), milliseconds(20)));
  const file = join(folder, readdirSync(folder)[0] ?? "");
  const whole = readFileSync(file);
  truncateSync(file, whole.length - 1);
  expect(spansOf(open())).toEqual([span(1)]);
  writeFileSync(file, whole);
  expect(spansOf(open())).toEqual([span(1), span(2)]);
  // In the service's name of the first frame: still protobuf, no longer what was written.
  const changed = Buffer.from(whole);
  changed[whole.indexOf("shop")] = 0x73 ^ 1;
  writeFileSync(file, changed);
  expect(spansOf(open())).toEqual([]);
  appendFileSync(file, Buffer.from([255, 255, 255, 255]));
  expect(spansOf(open())).toEqual([]);
});

test("files are dropped when all in them came before what is stored, and not sooner", () => {
  const journal = unwrap(openSpanJournal({ folder, fileMs: 10 }, milliseconds(0)));
  for (const at of [0, 5, 12, 30]) unwrap(journal.append(batchOf(span(at + 1)), milliseconds(at)));
  expect(readdirSync(folder)).toHaveLength(3);
  journal.forget(milliseconds(4));
  expect(readdirSync(folder)).toHaveLength(3);
  journal.forget(milliseconds(12));
  expect(readdirSync(folder)).toHaveLength(1);
  journal.forget(milliseconds(30));
  expect(readdirSync(folder)).toEqual([]);
  unwrap(journal.append(batchOf(span(40)), milliseconds(40)));
  expect(spansOf(open())).toEqual([span(40)]);
});

test("what an earlier process left is kept until it could be put together again", () => {
  unwrap(open().append(batchOf(span(1)), milliseconds(10)));
  const second = open(1_000);
  second.forget(milliseconds(999));
  expect(readdirSync(folder)).toHaveLength(1);
  unwrap(second.append(batchOf(span(2)), milliseconds(1_001)));
  expect(spansOf(open(2_000))).toEqual([span(1), span(2)]);
  second.forget(milliseconds(1_000));
  expect(spansOf(open(2_000))).toEqual([span(2)]);
});

test("where nothing can be written it says so, and a sender may come back", () => {
  writeFileSync(join(folder, "file"), "");
  const journal = openSpanJournal({ folder: join(folder, "file", "below") }, milliseconds(0));
  expect(journal).toMatchObject({ ok: false, failure: { code: "otlp.journal", retry: true } });
});
