/**
 * Lines of an append-only file, each with its length and checksum before it.
 * Owns: what such a line looks like, and finding all that are whole in a file that is damaged anywhere.
 * Not here: the file, what a line says.
 *
 * Text has no line feed in it, so behind a damaged line the next one begins after the next line feed; and a line feed that
 * is itself damaged is found by the length. One damaged byte costs the line it lies in.
 */
import { crc32 } from "node:zlib";

const LINE_FEED = 0x0a;
/** Two numbers of eight hexadecimal digits, a space behind each. */
const HEADER = /^([0-9a-f]{8}) ([0-9a-f]{8}) $/;
const HEADER_BYTES = 18;

const hex = (value: number): string => value.toString(16).padStart(8, "0");

/** `text` without a line feed. */
export function sealedLine(text: string): string {
  const bytes = Buffer.from(text);
  return `${hex(bytes.length)} ${hex(crc32(bytes))} ${text}\n`;
}

export interface SealedLines {
  readonly lines: readonly string[];
  /** Lines, or stretches of several, that are not what was written. */
  readonly damaged: number;
  /** Where the last line begins that was being written; the length of the file where it ends with a whole one. */
  readonly wholeUntil: number;
}

export function sealedLinesIn(bytes: Buffer): SealedLines {
  const lines: string[] = [];
  let damaged = 0;
  let at = 0;
  while (at < bytes.length) {
    const end = endOf(bytes, at);
    if (end !== undefined) {
      lines.push(bytes.toString("utf8", at + HEADER_BYTES, end));
      at = end + 1;
      continue;
    }
    const feed = bytes.indexOf(LINE_FEED, at);
    if (feed < 0) return { lines, damaged, wholeUntil: at };
    // An empty line is nobody's.
    if (feed > at) damaged += 1;
    at = feed + 1;
  }
  return { lines, damaged, wholeUntil: bytes.length };
}

function endOf(bytes: Buffer, at: number): number | undefined {
  const [, length = "", checksum = ""] = HEADER.exec(bytes.toString("latin1", at, at + HEADER_BYTES)) ?? [];
  const begin = at + HEADER_BYTES;
  const end = begin + Number.parseInt(length, 16);
  // Also where it is not a number.
  if (!(end <= bytes.length)) return undefined;
  return crc32(bytes.subarray(begin, end)) === Number.parseInt(checksum, 16) ? end : undefined;
}
