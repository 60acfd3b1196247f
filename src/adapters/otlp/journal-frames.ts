/**
 * Messages in an append-only file, each in a frame of its own.
 * Owns: what a frame looks like, and finding all that are whole in a file that is damaged anywhere.
 * Not here: the files (span-journal.ts), what a message means.
 *
 * A frame is a mark, the message's length and checksum, a checksum of these three, and the message. A length is believed only
 * when the header's own checksum fits, so that one damaged byte costs the frame it lies in and no other. The header's checksum
 * begins with a number that the file has by its name: whoever sends messages does not know it, and cannot put frames
 * into them that would be found when the message around them is damaged.
 */
import { crc32 } from "node:zlib";

const MARK = Buffer.from([0xc0, 0x78, 0x73, 0x31]);
const CHECKED = MARK.length + 8;
const HEADER = CHECKED + 4;

export function frameOf(message: Uint8Array, key: number): Buffer {
  const frame = Buffer.allocUnsafe(HEADER + message.length);
  MARK.copy(frame);
  frame.writeUInt32LE(message.length, MARK.length);
  frame.writeUInt32LE(crc32(message), MARK.length + 4);
  frame.writeUInt32LE(crc32(frame.subarray(0, CHECKED), key), CHECKED);
  frame.set(message, HEADER);
  return frame;
}

export type Found =
  | { readonly kind: "message"; readonly message: Uint8Array }
  /** No frame begins here that is whole; the next one, or the end, is so many bytes further. */
  | { readonly kind: "damage"; readonly bytes: number }
  /** The file ends within a frame that is whole so far: it was being written. */
  | { readonly kind: "torn"; readonly at: number };

export function* framesIn(bytes: Buffer, key: number): Generator<Found> {
  for (let at = 0; at < bytes.length; ) {
    const message = messageAt(bytes, at, key);
    if (message !== undefined) {
      yield { kind: "message", message };
      at += HEADER + message.length;
      continue;
    }
    const next = nextFrame(bytes, at, key);
    if (next === bytes.length && isTorn(bytes, at, key)) yield { kind: "torn", at };
    else yield { kind: "damage", bytes: next - at };
    at = next;
  }
}

/** Where a frame that begins here would end; undefined where its header is none. */
function endOf(bytes: Buffer, at: number, key: number): number | undefined {
  if (at + HEADER > bytes.length || MARK.compare(bytes, at, at + MARK.length) !== 0) return undefined;
  if (crc32(bytes.subarray(at, at + CHECKED), key) !== bytes.readUInt32LE(at + CHECKED)) return undefined;
  return at + HEADER + bytes.readUInt32LE(at + MARK.length);
}

function messageAt(bytes: Buffer, at: number, key: number): Uint8Array | undefined {
  const end = endOf(bytes, at, key);
  if (end === undefined || end > bytes.length) return undefined;
  const message = bytes.subarray(at + HEADER, end);
  return crc32(message) === bytes.readUInt32LE(at + MARK.length + 4) ? message : undefined;
}

/** The first place behind a frame that is not whole where one begins that is, or whose header is and follows it. */
function nextFrame(bytes: Buffer, at: number, key: number): number {
  const end = endOf(bytes, at, key) ?? at;
  if (end > at && (end === bytes.length || endOf(bytes, end, key) !== undefined)) return end;
  for (let next = bytes.indexOf(MARK, at + 1); next >= 0; next = bytes.indexOf(MARK, next + 1))
    if (messageAt(bytes, next, key) !== undefined) return next;
  return bytes.length;
}

function isTorn(bytes: Buffer, at: number, key: number): boolean {
  return bytes.length - at < HEADER || (endOf(bytes, at, key) ?? 0) > bytes.length;
}
