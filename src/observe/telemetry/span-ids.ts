/**
 * Trace and span ids as 32-bit words, which is how columns hold and compare them.
 * Owns: hexadecimal to words and back. Not here: the bytes of a wire format (adapters/otlp).
 */

/** A trace id has four words, a span id two; the first holds the leading digits. */
export const TRACE_WORDS = 4;
export const SPAN_WORDS = 2;

const DIGITS = 8;
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/**
 * Reads `words × 8` digits into `into`, or as many fewer as the text has, with zeros before them: Zipkin and Jaeger write
 * 64-bit trace ids with 16 digits or fewer. False for a text that is empty, too long, or has something else in it.
 */
export function hexToWords(text: string, into: Uint32Array, { at, words }: { at: number; words: number }): boolean {
  const most = words * DIGITS;
  if (text.length === 0 || text.length > most) return false;
  for (let k = 0; k < words; k++) into[at + k] = 0;
  let place = most - text.length;
  for (let i = 0; i < text.length; i++, place++) {
    const digit = digitOf(text.charCodeAt(i));
    if (digit < 0) return false;
    const word = at + (place >>> 3);
    into[word] = ((into[word] as number) << 4) | digit;
  }
  return true;
}

function digitOf(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

export function wordsToHex(from: Uint32Array, { at, words }: { at: number; words: number }): string {
  let text = "";
  for (let k = 0; k < words; k++) {
    const word = from[at + k] as number;
    text +=
      (HEX[word >>> 24] as string) +
      (HEX[(word >>> 16) & 255] as string) +
      (HEX[(word >>> 8) & 255] as string) +
      (HEX[word & 255] as string);
  }
  return text;
}

/** All zero means "none" in every format that we read. */
export function isNoId(from: Uint32Array, { at, words }: { at: number; words: number }): boolean {
  for (let k = 0; k < words; k++) if (from[at + k] !== 0) return false;
  return true;
}
