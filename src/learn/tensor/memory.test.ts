import { describe, expect, test } from "vitest";
import { type GrowableBuffer, Memory, NULL, offset, type Ptr } from "./memory.ts";

/** Grows up to a number of pages, as an engine's memory does. */
function backing(pages: number, most: number): GrowableBuffer {
  let buffer = new ArrayBuffer(pages * 65_536);
  return {
    get buffer() {
      return buffer;
    },
    grow(more) {
      const before = buffer.byteLength / 65_536;
      if (before + more > most) throw new RangeError("no more pages");
      buffer = new ArrayBuffer((before + more) * 65_536);
      return before;
    },
  };
}

describe("memory", () => {
  test("blocks are aligned, apart from each other and never the null pointer", () => {
    const memory = new Memory(backing(1, 1));
    const blocks = [memory.alloc(1), memory.alloc(17), memory.alloc(0), memory.alloc(3)];
    for (const block of blocks) {
      expect(block).not.toBe(NULL);
      expect(block % 64).toBe(0);
    }
    expect(blocks.map((block) => block - (blocks[0] as number))).toEqual([0, 64, 192, 256]);
  });

  test("keeps away from what the kernels reserve", () => {
    expect(new Memory(backing(1, 1), { reserved: 1000 }).alloc(1)).toBe(1024);
  });

  test("counts what is in use, and a freed block comes back zeroed for the same size only", () => {
    const memory = new Memory(backing(1, 1));
    const [a, b] = [memory.alloc(16), memory.alloc(32)];
    expect(memory.used).toBe(64 + 128);
    memory.view(a, 16).fill(9);
    memory.free(a);
    expect(memory.used).toBe(128);
    expect(memory.alloc(64)).not.toBe(a);
    const again = memory.alloc(10);
    expect(again).toBe(a);
    expect([...memory.view(again, 16)]).toEqual(new Array(16).fill(0));
    memory.free(b);
  });

  test("what was not allocated, or was freed already, cannot be freed", () => {
    const memory = new Memory(backing(1, 1));
    const block = memory.alloc(4);
    memory.free(block);
    expect(() => memory.free(block)).toThrow(RangeError);
    expect(() => memory.free(offset(block, 1))).toThrow(RangeError);
  });

  test("sizes that are no counts are refused", () => {
    const memory = new Memory(backing(1, 1));
    for (const size of [-1, 1.5, Number.NaN]) expect(() => memory.alloc(size)).toThrow(RangeError);
  });

  test("growing renews the view and tells the kernels", () => {
    const told: number[] = [];
    const memory = new Memory(backing(1, 100), { onGrow: (buffer) => told.push(buffer.byteLength) });
    memory.alloc(30_000);
    expect(told).toEqual([2 * 65_536]);
    expect(memory.f32.byteLength).toBe(2 * 65_536);
  });

  test("close to its limit it grows by what is needed, where a quarter more would be refused", () => {
    // Eight pages of nine: a quarter would be two more.
    const memory = new Memory(backing(8, 9));
    const floats = (8 * 65_536) / 4;
    expect(memory.alloc(floats)).toBe(64);
    expect(memory.f32.byteLength).toBe(9 * 65_536);
  });

  test("at its limit it fails with a code and stays usable", () => {
    const memory = new Memory(backing(1, 2));
    expect(() => memory.alloc(1_000_000)).toThrowError(expect.objectContaining({ code: "tensor.out-of-memory" }));
    expect((memory.alloc(8) as Ptr) > 0).toBe(true);
  });
});
