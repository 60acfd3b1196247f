import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { unwrap } from "../../base/index.ts";
import { type KeptDocument, readKept, writeKept } from "./kept-file.ts";

const THING: KeptDocument<{ readonly count: number }> = {
  format: "coxswain-thing",
  version: 2,
  schema: z.strictObject({ count: z.int().max(9) }),
};
let file = "";
beforeEach(() => {
  file = join(temporaryFolder("kept"), "thing.json");
});
const why = (): string => {
  const read = readKept(file, THING);
  return read.ok ? `read ${JSON.stringify(read.value)}` : read.failure.message;
};

test("a file is two lines of JSON: what it is with a checksum, and the content", () => {
  expect(unwrap(readKept(file, THING))).toBeNull();
  writeKept(file, { count: 7 }, THING);
  // CRC-32 of '{"count":7}' and a line feed, by Python's zlib.
  expect(readFileSync(file, "utf8")).toBe(
    '{"format":"coxswain-thing","version":2,"bytes":12,"checksum":"998aba0f"}\n{"count":7}\n',
  );
  expect(unwrap(readKept(file, THING))).toEqual({ count: 7 });
});

test("every damaged byte of a file, and every cut, is found", () => {
  writeKept(file, { count: 7 }, THING);
  const bytes = readFileSync(file);
  for (let at = 0; at < bytes.length; at++) {
    for (const bit of [1, 4, 128]) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ bit;
      writeFileSync(file, damaged);
      expect(why(), `byte ${at}`).not.toMatch(/^read/);
    }
    writeFileSync(file, bytes);
    truncateSync(file, at);
    expect(why(), `cut at ${at}`).not.toMatch(/^read/);
  }
});

test("what is whole and not this version's, another thing, or out of bounds is refused and says so", () => {
  writeKept(file, { count: 7 }, { ...THING, version: 3 });
  expect(why()).toBe("it was written by another version (3), and this one reads 2");
  writeKept(file, { count: 7 }, { ...THING, format: "coxswain-plane" });
  expect(why()).toBe("it is a coxswain-plane and not a coxswain-thing");
  writeKept(file, { count: 10 }, THING);
  expect(why()).toMatch(/^count: /);
  writeFileSync(file, '{"count":7}');
  expect(why()).toBe("it has no checksum: an earlier version wrote it, or it is damaged");
  writeKept(file, { count: 7 }, THING);
  truncateSync(file, 300 * 2 ** 20);
  expect(why()).toBe("it is larger than 256 MiB");
});
