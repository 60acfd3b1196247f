/**
 * The text of a JSON string as UTF-8, without its escapes.
 * Owns: what each escape stands for. Not here: that they are valid (json-reader.ts looks first).
 */

/** Some bytes of somebody's. */
export interface ByteRange {
  bytes: Uint8Array;
  from: number;
  to: number;
}

export const byteRange = (): ByteRange => ({ bytes: new Uint8Array(0), from: 0, to: 0 });

export const BACKSLASH = 0x5c;
export const LETTER_U = 0x75;
export const ZERO = 0x30;
export const NINE = 0x39;

/** What a letter behind a backslash stands for; 0 for those that may not be there, and for u. */
export const UNESCAPED = new Uint8Array(256);
for (const [letter, meant] of ['""', "\\\\", "//", "b\b", "f\f", "n\n", "r\r", "t\t"].map((pair) => [...pair]))
  UNESCAPED[letter?.charCodeAt(0) ?? 0] = meant?.charCodeAt(0) ?? 0;

/** Writes the text of the range to `into`, from `at` on; there must be room for as many bytes. Returns where it ends. */
export function unescaped({ bytes, from, to }: ByteRange, into: Uint8Array, at: number): number {
  let length = at;
  for (let next = from; next < to; next++) {
    if (bytes[next] !== BACKSLASH) {
      into[length++] = bytes[next]!;
      continue;
    }
    next += 1;
    const meant = UNESCAPED[bytes[next]!]!;
    if (meant > 0) {
      into[length++] = meant;
      continue;
    }
    let code = hex4(bytes, next + 1);
    next += 4;
    // Two halves make one character; a half alone stands for none, as in every encoder.
    const isPair = code >= 0xd800 && code < 0xdc00 && bytes[next + 1] === BACKSLASH && bytes[next + 2] === LETTER_U;
    const low = isPair ? hex4(bytes, next + 3) : 0;
    if (low >= 0xdc00 && low < 0xe000) {
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      next += 6;
    } else if (code >= 0xd800 && code < 0xe000) code = 0xfffd;
    length = writeUtf8(into, length, code);
  }
  return length;
}

/** Four digits that were seen to be some. */
function hex4(bytes: Uint8Array, at: number): number {
  let code = 0;
  for (let k = at; k < at + 4; k++) {
    const byte = bytes[k]!;
    code = (code << 4) | (byte <= NINE ? byte - ZERO : (byte | 0x20) - 0x57);
  }
  return code;
}

function writeUtf8(into: Uint8Array, at: number, code: number): number {
  if (code < 0x80) {
    into[at] = code;
    return at + 1;
  }
  // The first byte says by its leading ones how many there are; each that follows has six bits.
  const more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  into[at] = ((0xf0 << (3 - more)) & 0xff) | (code >> (6 * more));
  for (let k = 1; k <= more; k++) into[at + k] = 0x80 | ((code >> (6 * (more - k))) & 63);
  return at + more + 1;
}
