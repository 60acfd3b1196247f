import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { milliseconds, unwrap } from "../../base/index.ts";
import { NameTable, type Span, spanColumnsOf } from "../../observe/telemetry/index.ts";
import { openSpanJournal, type SpanJournal } from "./span-journal.ts";

let folder: string;
beforeEach(() => {
  folder = temporaryFolder("journal");
});

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

/** Without the first, which has no parent: all frames are of one length. */
const NINE = [2, 3, 4, 5, 6, 7, 8, 9, 10];

/** Every frame holds one span, so the spans that return say which frames did. */
function threeFiles(): { readonly file: string; readonly bytes: Buffer; readonly ids: readonly number[] }[] {
  const journal = unwrap(openSpanJournal({ folder, fileMs: 10 }, milliseconds(0)));
  for (const [k, id] of NINE.entries()) unwrap(journal.append(batchOf(span(id)), milliseconds(4 * k)));
  journal.close();
  const names = readdirSync(folder).sort();
  expect(names).toHaveLength(3);
  return names.map((name, k) => {
    const file = join(folder, name);
    return { file, bytes: readFileSync(file), ids: NINE.slice(3 * k, 3 * k + 3) };
  });
}
const idsOf = (journal: SpanJournal): number[] => spansOf(journal).map(({ spanId }) => Number.parseInt(spanId, 16));

test("any damaged byte of any file loses the frame it lies in, is counted, and loses nothing else", () => {
  for (const { file, bytes, ids } of threeFiles()) {
    const frame = bytes.length / ids.length;
    // Every byte of the headers, and of the messages, which are all alike, every seventh.
    const places = [...bytes.keys()].filter((at) => at % frame < 20 || at % 7 === 0);
    for (const at of places) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ (at % 2 === 0 ? 0xff : 1 << (at % 8));
      writeFileSync(file, damaged);
      const journal = open();
      const lost = ids[Math.floor(at / frame)];
      expect(idsOf(journal), `byte ${at} of ${file}`).toEqual(NINE.filter((id) => id !== lost));
      expect(journal.damage()).toEqual({ places: 1, bytes: frame, files: [file] });
    }
    writeFileSync(file, bytes);
  }
  expect(idsOf(open())).toEqual(NINE);
});

test("stretches that are overwritten, cut out or put in lose only the frames that they touch", () => {
  const files = threeFiles();
  const change = fc.record({
    file: fc.nat(2),
    from: fc.nat(1_000),
    cut: fc.nat(300),
    put: fc.uint8Array({ maxLength: 300 }),
  });
  fc.assert(
    fc.property(change, ({ file: which, from, cut, put }) => {
      const { file, bytes, ids } = files[which] as (typeof files)[number];
      const frame = bytes.length / ids.length;
      const start = from % bytes.length;
      const end = Math.min(bytes.length, start + cut);
      writeFileSync(file, Buffer.concat([bytes.subarray(0, start), put, bytes.subarray(end)]));
      const back = idsOf(open());
      const touched = (k: number): boolean => start < (k + 1) * frame && end > k * frame;
      const whole = NINE.filter((id) => !ids.includes(id) || !touched(ids.indexOf(id)));
      expect(back).toEqual(expect.arrayContaining(whole));
      // What returns is what was written, in order.
      expect(back).toEqual(NINE.filter((id) => back.includes(id)));
      writeFileSync(file, bytes);
    }),
    { numRuns: 100 },
  );
});

test("what was being written when the process ended is no damage, and is gone when the next one ends too", () => {
  const last = threeFiles()[2] as ReturnType<typeof threeFiles>[number];
  truncateSync(last.file, last.bytes.length - 1);
  const second = open();
  expect(idsOf(second)).toEqual(NINE.slice(0, -1));
  expect(second.damage().places).toBe(0);
  unwrap(second.append(batchOf(span(11)), milliseconds(100)));
  const third = open();
  expect(idsOf(third)).toEqual([...NINE.slice(0, -1), 11]);
  expect(third.damage().places).toBe(0);
});

test("a file that was cut short and is not the last is damage", () => {
  const [first] = threeFiles();
  truncateSync(first?.file ?? "", (first?.bytes.length ?? 0) - 1);
  const journal = open();
  expect(idsOf(journal)).toEqual(NINE.filter((id) => id !== 4));
  expect(journal.damage()).toMatchObject({ places: 1, files: [first?.file] });
});

test("a sender cannot put frames into its spans: they are found in a damaged frame and not believed", () => {
  const first = open();
  unwrap(first.append(batchOf(span(1)), milliseconds(10)));
  const [name = ""] = readdirSync(folder);
  const inner = readFileSync(join(folder, name)).toString("latin1");
  rmSync(join(folder, name));
  const second = open();
  unwrap(second.append(batchOf({ ...span(2), operation: inner }), milliseconds(20)));
  unwrap(second.append(batchOf(span(3)), milliseconds(20)));
  const file = join(folder, readdirSync(folder)[0] ?? "");
  const bytes = readFileSync(file);
  bytes[0] = 0;
  writeFileSync(file, bytes);
  expect(spansOf(open())).toEqual([span(3)]);
});

test("files of an earlier version are counted as damage and not believed", () => {
  writeFileSync(join(folder, "0000000001.spans"), Buffer.alloc(100, 7));
  const journal = open();
  expect(idsOf(journal)).toEqual([]);
  expect(journal.damage()).toMatchObject({ places: 1, bytes: 100 });
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
