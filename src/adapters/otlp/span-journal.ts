/**
 * Spans that a sender was told are taken, on disk until their traces are in the store.
 * Owns: the files, which are OTLP in frames; reading them after a crash; dropping what is no longer needed.
 * Not here: which traces the store has already (whoever reads the journal asks it), putting traces together.
 *
 * A batch is handed to the operating system before its sender hears of it, so a process that is killed loses none. It is
 * not forced to the disk: after a power cut the last seconds may be missing, which a sender's own memory loses as well.
 */
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { err, type Failure, failure, type Ms, ok, type Result } from "../../base/index.ts";
import { NameTable, type SpanColumns } from "../../observe/telemetry/index.ts";
import { OtlpProtoDecoder } from "./proto-decode.ts";
import { encodeOtlp } from "./proto-encode.ts";

export interface SpanJournalOptions {
  readonly folder: string;
  /** A file is closed after this much, and can be dropped only as a whole; 10 s and 16 MiB unless said. */
  readonly fileMs?: number;
  readonly fileBytes?: number;
}

export interface SpanJournal {
  /** Resolves nothing later: when this returns, the batch outlives the process. */
  append(batch: SpanColumns, now: Ms): Result<void>;
  /** Batches of before the journal was opened, oldest first; each is the caller's until the next. */
  before(): Generator<SpanColumns>;
  /** What was appended until then is in the store, or nobody wants it. */
  forget(until: Ms): void;
  close(): void;
}

interface JournalFile {
  readonly path: string;
  /** When its last batch came. */
  newest: number;
}

const HEADER = 8;
const NAME = /^(\d{10})\.spans$/;

/** What an earlier process left counts as having come now: it has to be put together once more. */
export function openSpanJournal(options: SpanJournalOptions, now: Ms): Result<SpanJournal> {
  try {
    mkdirSync(options.folder, { recursive: true });
    const names = readdirSync(options.folder)
      .filter((name) => NAME.test(name))
      .sort();
    const left = names.map((name) => ({ path: join(options.folder, name), newest: now }));
    const number = 1 + Number(NAME.exec(names.at(-1) ?? "")?.[1] ?? 0);
    return ok(new Journal(options, { left, number }));
  } catch (thrown) {
    return err(unwritable(options.folder, thrown));
  }
}

class Journal implements SpanJournal {
  readonly #folder: string;
  readonly #fileMs: number;
  readonly #fileBytes: number;
  readonly #left: readonly JournalFile[];
  #closed: JournalFile[];
  #number: number;
  #open: { readonly file: JournalFile; readonly handle: number; readonly since: number; bytes: number } | undefined;
  readonly #header = Buffer.alloc(HEADER);

  constructor(
    { folder, fileMs = 10_000, fileBytes = 16 * 2 ** 20 }: SpanJournalOptions,
    { left, number }: { readonly left: readonly JournalFile[]; readonly number: number },
  ) {
    this.#folder = folder;
    this.#fileMs = fileMs;
    this.#fileBytes = fileBytes;
    this.#left = left;
    this.#closed = [...left];
    this.#number = number;
  }

  append(batch: SpanColumns, now: Ms): Result<void> {
    if (batch.length === 0) return ok(undefined);
    const bytes = encodeOtlp(batch);
    this.#header.writeUInt32LE(bytes.length, 0);
    this.#header.writeUInt32LE(crc32(bytes), 4);
    try {
      const open = this.#fileFor(now);
      writeWhole(open.handle, this.#header);
      writeWhole(open.handle, bytes);
      open.bytes += HEADER + bytes.length;
      open.file.newest = now;
      return ok(undefined);
    } catch (thrown) {
      // What stands in the file is half a frame, and nothing may follow it.
      this.#closeFile();
      return err(unwritable(this.#folder, thrown));
    }
  }

  *before(): Generator<SpanColumns> {
    const decoder = new OtlpProtoDecoder(new NameTable());
    for (const { path } of this.#left) {
      for (const message of framesOf(readFileSync(path))) {
        const decoded = decoder.decode(message);
        if (decoded.ok) yield decoded.value.batch;
      }
    }
  }

  forget(until: Ms): void {
    const open = this.#open;
    if (open !== undefined && open.file.newest <= until) this.#closeFile();
    const gone = this.#closed.filter(({ newest }) => newest <= until);
    if (gone.length === 0) return;
    this.#closed = this.#closed.filter(({ newest }) => newest > until);
    for (const { path } of gone) rmSync(path, { force: true });
  }

  close(): void {
    this.#closeFile();
  }

  #fileFor(now: number) {
    const open = this.#open;
    if (open !== undefined && open.bytes < this.#fileBytes && now - open.since < this.#fileMs) return open;
    this.#closeFile();
    const path = join(this.#folder, `${String(this.#number++).padStart(10, "0")}.spans`);
    const fresh = { file: { path, newest: now }, handle: openSync(path, "wx"), since: now, bytes: 0 };
    this.#open = fresh;
    return fresh;
  }

  #closeFile(): void {
    if (this.#open === undefined) return;
    closeSync(this.#open.handle);
    this.#closed.push(this.#open.file);
    this.#open = undefined;
  }
}

/** Up to the first frame that is not whole: it was being written when the process ended, so nobody was told it is taken. */
function* framesOf(bytes: Buffer): Generator<Uint8Array> {
  for (let at = 0; at + HEADER <= bytes.length; ) {
    const end = at + HEADER + bytes.readUInt32LE(at);
    if (end > bytes.length) return;
    const message = bytes.subarray(at + HEADER, end);
    if (crc32(message) !== bytes.readUInt32LE(at + 4)) return;
    yield message;
    at = end;
  }
}

function writeWhole(handle: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(handle, bytes, at);
}

const unwritable = (folder: string, thrown: unknown): Failure => {
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  const text = `the spans that wait can not be kept in ${folder} (${why}): check the disk; senders are asked to come back`;
  return failure("otlp.journal", text, { cause: thrown, retry: true });
};
