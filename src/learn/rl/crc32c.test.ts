import fc from "fast-check";
import { expect, test } from "vitest";
import { crc32c } from "./crc32c.ts";

const ascii = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0));

test("the check values published in RFC 3720, appendix B.4, come out", () => {
  expect(crc32c(ascii("123456789"))).toBe(0xe3069283);
  expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
  expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43);
  expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i))).toBe(0x46dd794e);
});

test("eight bytes at a time gives what one bit at a time gives", () => {
  const bitwise = (bytes: Uint8Array) => {
    let crc = 0xffffffff;
    for (const byte of bytes) {
      crc ^= byte;
      for (let k = 0; k < 8; k++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
    }
    return ~crc >>> 0;
  };
  fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => crc32c(bytes) === bitwise(bytes)));
});

test("a checksum can be continued", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.nat(64), (bytes, cut) => {
      const at = Math.min(cut, bytes.length);
      return crc32c(bytes.subarray(at), crc32c(bytes.subarray(0, at))) === crc32c(bytes);
    }),
  );
});
