/**
 * Bytes that somebody spoilt, drawn from a seed.
 * Owns: kinds of damage to any bytes. Not here: what the bytes were, who gets them.
 */
import type { Rng } from "../../src/base/index.ts";

type Mutation = (bytes: Uint8Array, rng: Rng) => Uint8Array;

export const pick = <T>(rng: Rng, items: readonly T[]): T => items[rng.int(items.length)] as T;

/** Of messages on the wire. */
export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  bits: (bytes, rng) => {
    const spoilt = Uint8Array.from(bytes);
    for (let count = 1 + rng.int(8); count > 0 && spoilt.length > 0; count--) {
      const at = rng.int(spoilt.length);
      spoilt[at] = (spoilt[at] ?? 0) ^ (1 << rng.int(8));
    }
    return spoilt;
  },
  "cut off": (bytes, rng) => bytes.slice(0, rng.int(bytes.length + 1)),
  /** Lengths of protobuf are among them: a byte of the front half becomes as large as it can, or larger. */
  "length lies": (bytes, rng) => {
    const spoilt = Uint8Array.from(bytes);
    const at = rng.int(Math.max(1, Math.floor(bytes.length / 2)));
    spoilt.set([0xff, 0xff, 0xff, 0xff, pick(rng, [0x01, 0x07, 0x0f, 0x7f])].slice(0, bytes.length - at), at);
    return spoilt;
  },
  "a part twice": (bytes, rng) => {
    const from = rng.int(bytes.length);
    const part = bytes.subarray(from, from + 1 + rng.int(bytes.length - from));
    const to = rng.int(bytes.length);
    return Buffer.concat([bytes.subarray(0, to), part, bytes.subarray(to)]);
  },
  "a part less": (bytes, rng) => {
    const from = rng.int(bytes.length);
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + 1 + rng.int(16))]);
  },
  "many times": (bytes, rng) => Buffer.concat(Array.from({ length: 2 + rng.int(200) }, () => bytes)),
  noise: (bytes, rng) => Uint8Array.from(bytes, () => rng.int(256)),
  nothing: () => new Uint8Array(0),
};

/** Of files, as disks and people spoil them: never the same bytes as before. */
export const DAMAGES: Readonly<Record<string, Mutation>> = {
  "one bit": (bytes, rng) => {
    const spoilt = Uint8Array.from(bytes);
    const at = rng.int(spoilt.length);
    spoilt[at] = (spoilt[at] ?? 0) ^ (1 << rng.int(8));
    return spoilt;
  },
  /** Another digit where one stood: what is still well-formed is the hardest to notice. */
  "another digit": (bytes, rng) => {
    const spoilt = Uint8Array.from(bytes);
    const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;
    let at = rng.int(spoilt.length);
    for (let step = 0; step < spoilt.length && !isDigit(spoilt[at]); step++) at = (at + 1) % spoilt.length;
    spoilt[at] = isDigit(spoilt[at]) ? 0x30 + (((spoilt[at] ?? 0) - 0x30 + 1 + rng.int(9)) % 10) : 0x30;
    return spoilt;
  },
  "cut off": (bytes, rng) => bytes.slice(0, 1 + rng.int(Math.max(1, bytes.length - 1))),
  emptied: () => new Uint8Array(0),
  garbage: (bytes, rng) => Uint8Array.from({ length: Math.min(bytes.length, 65_536) }, () => rng.int(256)),
  "a sector of zeros": (bytes, rng) => {
    const spoilt = Uint8Array.from(bytes);
    const at = rng.int(bytes.length);
    return spoilt.fill(0, at, at + 512);
  },
};
