/**
 * Spans that a sender was told are taken, on disk until their traces are in the store.
 * Owns: the files, which are OTLP in frames; reading them after a crash, with a count of what could not be read; dropping
 * what is no longer needed. Not here: frames (journal-frames.ts), which traces the store has already (whoever reads the
 * journal asks it), putting traces together.
 *
 * A batch is handed to the operating system before its sender hears of it, so a process that is killed loses none. It is
 * not forced to the disk: after a power cut the last seconds may be missing, which a sender's own memory loses as well.
 *
 * Only the end of the newest file can be torn, by the end of the process: what is written in part is taken off again. All
 * else that is not whole is damage: it is skipped and counted.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { err, type Failure, failure, type Ms, ok, type Result } from "../../base/index.ts";
import { NameTable, type SpanColumns } from "../../observe/telemetry/index.ts";
import { makeFolder, randomWords } from "../runtime/index.ts";
import { frameOf, framesIn } from "./journal-frames.ts";
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
  /** What of them could not be read, as far as they were asked for. */
  damage(): JournalDamage;
  /** What was appended until then is in the store, or nobody wants it. */
  forget(until: Ms): void;
  close(): void;
}

export interface JournalDamage {
  /** Stretches without a whole frame; a frame or more of acknowledged spans was in each. */
  readonly places: number;
  readonly bytes: number;
  readonly files: readonly string[];
}

interface JournalFile {
  readonly path: string;
  /** Of its frames. */
  readonly key: number;
  /** When its last batch came. */
  newest: number;
}

/** Its number and its key. An earlier version had no key: nothing in such a file is a frame of this one. */
const NAME = /^(\d{10})(?:-([0-9a-f]{8}))?\.spans$/;

/** What an earlier process left counts as having come now: it has to be put together once more. */
export function openSpanJournal(options: SpanJournalOptions, now: Ms): Result<SpanJournal> {
  try {
    makeFolder(options.folder);
    const names = readdirSync(options.folder)
      .filter((name) => NAME.test(name))
      .sort();
    const left = names.map((name) => ({
      path: join(options.folder, name),
      key: Number.parseInt(NAME.exec(name)?.[2] ?? "0", 16),
      newest: now,
    }));
    const number = 1 + Number(NAME.exec(names.at(-1) ?? "")?.[1] ?? 0);
    takeOffTornEnd(left.at(-1));
    return ok(new Journal(options, { left, number }));
  } catch (thrown) {
    return err(unwritable(options.folder, thrown));
  }
}

/** Nobody was told that it is taken. It must go before another file follows, or it would look like damage. */
function takeOffTornEnd(last: JournalFile | undefined): void {
  if (last === undefined) return;
  for (const found of framesIn(readFileSync(last.path), last.key))
    if (found.kind === "torn") truncateSync(last.path, found.at);
}

class Journal implements SpanJournal {
  readonly #folder: string;
  readonly #fileMs: number;
  readonly #fileBytes: number;
  readonly #left: readonly JournalFile[];
  #closed: JournalFile[];
  #number: number;
  #open: { readonly file: JournalFile; readonly handle: number; readonly since: number; bytes: number } | undefined;
  #damage = { places: 0, bytes: 0, files: new Set<string>() };

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
    try {
      const open = this.#fileFor(now);
      const frame = frameOf(encodeOtlp(batch), open.file.key);
      this.#write(open, frame);
      open.bytes += frame.length;
      open.file.newest = Math.max(open.file.newest, now);
      return ok(undefined);
    } catch (thrown) {
      return err(unwritable(this.#folder, thrown));
    }
  }

  #write({ handle, bytes }: { readonly handle: number; readonly bytes: number }, frame: Uint8Array): void {
    try {
      for (let at = 0; at < frame.length; ) at += writeSync(handle, frame, at);
    } catch (thrown) {
      // Nothing may follow half a frame.
      this.#closeFile(() => ftruncateSync(handle, bytes));
      throw thrown;
    }
  }

  *before(): Generator<SpanColumns> {
    const decoder = new OtlpProtoDecoder(new NameTable({ random: randomWords }));
    this.#damage = { places: 0, bytes: 0, files: new Set() };
    for (const { path, key } of this.#left) {
      const content = contentOf(path);
      if (content === undefined) this.#lose(path, 0);
      for (const found of framesIn(content ?? Buffer.alloc(0), key)) {
        if (found.kind !== "message") {
          this.#lose(path, found.kind === "torn" ? (content?.length ?? 0) - found.at : found.bytes);
          continue;
        }
        const decoded = decoder.decode(found.message);
        if (decoded.ok) yield decoded.value.batch;
        else this.#lose(path, found.message.length);
      }
    }
  }

  #lose(path: string, bytes: number): void {
    this.#damage.places += 1;
    this.#damage.bytes += bytes;
    this.#damage.files.add(path);
  }

  damage(): JournalDamage {
    const { places, bytes, files } = this.#damage;
    return { places, bytes, files: [...files] };
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
    const key = randomBytes(4).readUInt32LE();
    const name = `${String(this.#number++).padStart(10, "0")}-${key.toString(16).padStart(8, "0")}.spans`;
    const path = join(this.#folder, name);
    const fresh = { file: { path, key, newest: now }, handle: openSync(path, "wx", 0o600), since: now, bytes: 0 };
    this.#open = fresh;
    return fresh;
  }

  #closeFile(before: () => void = () => undefined): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    this.#closed.push(open.file);
    try {
      before();
    } finally {
      closeSync(open.handle);
    }
  }
}

/** A file that cannot be read, by a defect of the disk, is damage as every other. */
function contentOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

const unwritable = (folder: string, thrown: unknown): Failure => {
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  const text = `the spans that wait cannot be kept in ${folder} (${why}): check the disk; senders are asked to come back`;
  return failure("otlp.journal", text, { cause: thrown, retry: true });
};
