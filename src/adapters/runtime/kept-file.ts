/**
 * The one envelope of every small file that is kept between runs: a line that says what it is, and the content behind it.
 * Owns: the line (format, version, length and checksum, as JSON), the check that comes before anything is believed, and
 * bounds on size. Not here: what the content means (a schema or the reader of the bytes), append-only files.
 *
 * The line is compared as text with the one that the content would be written with, so no byte of a file is left unchecked.
 * It finds damage; whoever may write the folder can make a line that fits.
 */
import { readFileSync, statSync } from "node:fs";
import { crc32 } from "node:zlib";
import type { Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import { writeFileAtomically } from "./write-file.ts";

export interface KeptFormat {
  /** What it is, such as `coxswain-plane`. */
  readonly format: string;
  /** Other versions are refused: a reader that guesses is worse than one that begins anew. */
  readonly version: number;
}

/** Of JSON: its shape with bounds. */
export interface KeptDocument<T> extends KeptFormat {
  readonly schema: Schema<T>;
}

/** What is needed of a schema library. */
interface Schema<T> {
  safeParse(value: unknown):
    | { readonly success: true; readonly data: T }
    | {
        readonly success: false;
        readonly error: {
          readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
        };
      };
}

const LINE_FEED = 0x0a;
/** Nobody's own state is near it; what is larger is not read at all. */
const MOST_BYTES = 256 * 2 ** 20;

export function inEnvelope(content: Uint8Array, { format, version }: KeptFormat): Uint8Array {
  const line = Buffer.from(lineOf(content, { format, version }));
  return Buffer.concat([line, content]);
}

function lineOf(content: Uint8Array, { format, version }: KeptFormat): string {
  const checksum = crc32(content).toString(16).padStart(8, "0");
  return `${JSON.stringify({ format, version, bytes: content.length, checksum })}\n`;
}

/** A copy of the content; the failure's message is why it cannot be used, as the middle of a sentence. */
export function fromEnvelope(file: Uint8Array, wanted: KeptFormat): Result<Uint8Array> {
  const end = file.indexOf(LINE_FEED) + 1;
  const line = new TextDecoder().decode(file.subarray(0, end));
  // A copy of its own: what Node returns may lie unaligned in a larger buffer.
  const content = new Uint8Array(file.subarray(end));
  if (end > 0 && line === lineOf(content, wanted)) return ok(content);
  return err(failure("file.damaged", whyNot(line, wanted)));
}

const HEADER = /^\{"format":"([a-z-]{1,40})","version":(\d{1,9}),"bytes":\d{1,12},"checksum":"[0-9a-f]{8}"\}\n$/;

function whyNot(line: string, { format, version }: KeptFormat): string {
  const [, found, number] = HEADER.exec(line) ?? [];
  if (found === undefined) return "it has no checksum: an earlier version wrote it, or it is damaged";
  if (found !== format) return `it is a ${found} and not a ${format}`;
  if (Number(number) !== version) return `it was written by another version (${number}), and this one reads ${version}`;
  return "it is damaged: its checksum does not match";
}

/** null where there is none. */
export function readKept<T>(path: string, { schema, ...wanted }: KeptDocument<T>): Result<T | null> {
  try {
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    if (size === undefined) return ok(null);
    if (size > MOST_BYTES) return err(failure("file.damaged", `it is larger than ${MOST_BYTES / 2 ** 20} MiB`));
    const content = fromEnvelope(readFileSync(path), wanted);
    if (!content.ok) return content;
    const parsed = schema.safeParse(JSON.parse(new TextDecoder().decode(content.value)));
    if (parsed.success) return ok(parsed.data);
    const [issue] = parsed.error.issues;
    return err(failure("file.damaged", `${issue?.path.map(String).join(".")}: ${issue?.message}`));
  } catch (cause) {
    return err(failure("file.damaged", cause instanceof Error ? cause.message : String(cause), { cause }));
  }
}

/** On disk when it returns; throws where it cannot be written. */
export function writeKept(path: string, value: unknown, { format, version }: KeptFormat): void {
  const content = Buffer.from(`${JSON.stringify(value)}\n`);
  writeFileAtomically(path, inEnvelope(content, { format, version }));
}
