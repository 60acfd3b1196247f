/** Which studies a change touches, in a small tree with known answers and in this one. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { studies } from "../src/studies/index.ts";
import { temporaryFolder } from "../test/fixtures/folders/temporary-folder.ts";
import { affectedStudies, onePerSystem, SourceTree } from "./affected-studies.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Of this checkout: read once for all tests, for it is large. */
const own = new SourceTree(root);

function tree(): string {
  const copy = temporaryFolder("affected");
  const files = {
    "src/studies/registry.ts":
      'import { a } from "./own-a.ts";\nimport { b } from "./own-b.ts";\nimport type { Study } from "./study.ts";\nexport const studies: Study[] = [a, b];\n',
    "src/studies/study.ts": "export interface Study { readonly id: string }\n",
    "src/studies/own-a.ts":
      'import { one } from "../learn/index.ts";\nimport type { T } from "../learn/typed.ts";\nexport const a: T = { id: one };\n',
    "src/studies/own-b.ts": 'export const b = { id: "b", load: () => import("../learn/later.ts") };\n',
    "src/learn/index.ts": 'export { one } from "./one.ts";\nexport { two as second } from "./two.ts";\n',
    "src/learn/one.ts": 'import { deep } from "./deep.ts";\nexport const one = deep;\n',
    "src/learn/deep.ts": 'export const deep = "deep";\n',
    "src/learn/two.ts": "export const two = 2;\n",
    "src/learn/typed.ts": "export interface T { readonly id: string }\n",
    "src/learn/later.ts": 'import { second } from "./index.ts";\nexport const later = second;\n',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    writeFileSync(join(copy, path), text);
  }
  return copy;
}

test.each([
  ["its own file", "src/studies/own-a.ts", ["own-a"]],
  ["what it imports through an index, two files away", "src/learn/deep.ts", ["own-a"]],
  ["a name of the index under another name, from a module loaded in code", "src/learn/two.ts", ["own-b"]],
  ["a module loaded in code", "src/learn/later.ts", ["own-b"]],
  ["types, which are erased", "src/learn/typed.ts", []],
  ["an index, which only passes names on", "src/learn/index.ts", []],
  ["a file that no study imports", "README.md", []],
  ["the kernels, which all compute with", "kernels/kernels.wasm", ["own-a", "own-b"]],
])("a study runs after a change of %s", (_, changed, expected) => {
  expect(affectedStudies(new SourceTree(tree()), [changed])).toEqual(expected);
});

test("in this tree every study is found under its id, and one per system runs after no change at all", () => {
  expect([...own.studies()].sort()).toEqual(studies.map(({ id }) => id).sort());
  expect([...affectedStudies(own, [])].sort()).toEqual([...onePerSystem].sort());
});

test("in this tree a change of the localizer touches FIRM's studies and not the classic problems", () => {
  const affected = affectedStudies(own, ["src/control/localize/localizer.ts"]);
  expect(affected).toContain("firm-localization");
  expect(affected).not.toContain("rl-pendulum");
});

test("in this tree a change of the bootstrap intervals touches every study that has them", () => {
  const affected = affectedStudies(own, ["src/studies/statistics/bootstrap.ts"]);
  expect(affected).toEqual(expect.arrayContaining(["rl-pendulum", "aware-serving", "firm-endtoend"]));
});
