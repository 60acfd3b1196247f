/** The layer check must catch what it claims to: each test plants one violation in a small copy of the layout. */
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../test/fixtures/folders/temporary-folder.ts";
import { checkLayers, readingProblems } from "./layers.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** A tree that obeys the table, plus the files given. */
function tree(planted: Record<string, string>): string {
  const copy = temporaryFolder("layers");
  const files = {
    "src/base/index.ts": 'export { one } from "./one.ts";\n',
    "src/base/one.ts": "export const one = 1;\n",
    "src/learn/env/index.ts": 'export { two } from "./two.ts";\n',
    "src/learn/env/two.ts": 'import { one } from "../../base/index.ts";\nexport const two = one + one;\n',
    "src/learn/rl/index.ts": 'export { three } from "./three.ts";\n',
    "src/learn/rl/three.ts": 'import { two } from "../env/index.ts";\nexport const three = two + 1;\n',
    "src/adapters/store/index.ts": 'export { four } from "./four.ts";\n',
    "src/adapters/store/four.ts": 'import { readFileSync } from "node:fs";\nexport const four = readFileSync;\n',
    "src/contract/index.ts": "export interface Contract { readonly id: string }\n",
    "src/contract/schemas/index.ts": 'import { z } from "zod";\nexport const one = z.number();\n',
    "dashboard/src/app.ts":
      'import type { Contract } from "../../src/contract/index.ts";\nexport const x = {} as Contract;\n',
    ...planted,
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    writeFileSync(join(copy, path), text);
  }
  cpSync(join(root, "tools/layers.json"), join(copy, "tools/layers.json"));
  cpSync(join(root, "package.json"), join(copy, "package.json"));
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

test("a tree that keeps to the table has no problem, and every file of it was read", async () => {
  expect(await checkLayers(tree({}))).toEqual({ files: 11, problems: [] });
});

const violations: readonly (readonly [what: string, path: string, text: string, complaint: RegExp])[] = [
  [
    "learn/env importing learn/rl",
    "src/learn/env/bad-1.ts",
    'export { three } from "../rl/index.ts";',
    /src\/learn\/env may import only/,
  ],
  [
    "the same as a type only",
    "src/learn/env/bad-2.ts",
    'import type { three } from "../rl/index.ts";\nexport type T = typeof three;',
    /src\/learn\/env may import only/,
  ],
  [
    "base importing anything",
    "src/base/bad-3.ts",
    'export { two } from "../learn/env/index.ts";',
    /src\/base may import only/,
  ],
  [
    "an import past another module's index",
    "src/learn/rl/bad-4.ts",
    'export { two } from "../env/two.ts";',
    /through its index.ts/,
  ],
  [
    "an import past another adapter's index",
    "src/adapters/plot/bad-5.ts",
    'export { four } from "../store/four.ts";',
    /through its index.ts/,
  ],
  [
    "node:fs in pure code",
    "src/learn/env/bad-6.ts",
    'import { readFileSync } from "node:fs";\nexport const r = readFileSync;',
    /may import node/,
  ],
  [
    "an I/O library in pure code",
    "src/learn/env/bad-7.ts",
    'import { Hono } from "hono";\nexport const h = Hono;',
    /pure code may import no library but/,
  ],
  [
    "a library in the schemas of the contract other than theirs",
    "src/contract/schemas/bad-8.ts",
    'import { Hono } from "hono";\nexport const h = Hono;',
    /contract\/schemas may import only these libraries/,
  ],
  [
    "the contract's plain types with a library",
    "src/contract/bad-9.ts",
    'import { z } from "zod";\nexport const one = z.number();',
    /pure code may import no library but/,
  ],
  [
    "a dashboard that takes the schemas",
    "dashboard/src/bad-10.ts",
    'export { one } from "../../src/contract/schemas/index.ts";',
    /dashboard may import only/,
  ],
  [
    "a development dependency in shipped code",
    "src/cli/bad-11.ts",
    'import fc from "fast-check";\nexport const f = fc;',
    /development dependency/,
  ],
  ["an import that leads nowhere", "src/learn/env/bad-12.ts", 'export { x } from "./absent.ts";', /leads nowhere/],
  [
    "a dashboard that knows more than the contract",
    "dashboard/src/bad-13.ts",
    'export { one } from "../../src/base/index.ts";',
    /dashboard may import only/,
  ],
  [
    "an example that reaches into src",
    "examples/bad-14.ts",
    'export { one } from "../src/base/index.ts";',
    /an example imports/,
  ],
  ["a folder named utils", "src/base/utils/bad-15.ts", "export const x = 1;", /may not be called "utils"/],
  ["a module nobody planned", "src/extras/bad-16.ts", "export const x = 1;", /belongs to no module/],
];

describe("of a tree with every violation", () => {
  let problems: readonly string[] = [];
  const copy = tree(Object.fromEntries(violations.map(([, path, text]) => [path, `${text}\n`])));
  // One reading for all of them: a cruiser takes as long to begin as to read a hundred files.
  beforeAll(async () => {
    ({ problems } = await checkLayers(copy));
  });

  test("each is told once, and nothing else", () => {
    expect(problems).toHaveLength(violations.length);
  });

  test.each(violations)("%s is caught", (_what, path, _text, complaint) => {
    const told = problems.filter((problem) => problem.includes(path));
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(complaint);
  });
});

test("a cycle is caught, and both its ends are named", async () => {
  const { problems } = await checkLayers(
    tree({
      "src/base/a.ts": 'import { b } from "./b.ts";\nexport const a = (): unknown => b;\n',
      "src/base/b.ts": 'import { a } from "./a.ts";\nexport const b = (): unknown => a;\n',
    }),
  );
  expect(problems.join("\n")).toMatch(/src\/base\/a\.ts → .*src\/base\/b\.ts.*two files are one/);
});

test("a test may bring any module and the file system together, but not past an index", async () => {
  const fine = 'import "node:fs";\nimport { four } from "../../adapters/store/index.ts";\nexport const f = four;\n';
  expect((await checkLayers(tree({ "src/learn/env/x.test.ts": fine }))).problems).toEqual([]);
  const past = 'import { four } from "../../adapters/store/four.ts";\nexport const f = four;\n';
  expect((await checkLayers(tree({ "src/learn/env/x.test.ts": past }))).problems).toHaveLength(1);
});

test("a cruiser that reads nothing, or sees no import, is not believed", () => {
  expect(readingProblems(["src/a.ts"], [])).toEqual([
    "src/a.ts: was not read by the layer check",
    "no import was found in any file: the layer check did not work",
  ]);
  expect(readingProblems(["src/a.ts"], [{ source: "src/a.ts", dependencies: [] }])).toHaveLength(1);
});
