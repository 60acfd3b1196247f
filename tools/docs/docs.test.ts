/** Each check of the documentation must find its planted mistake and leave its sound neighbour alone. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { configSchema, jsonSchemaOf, profileSchema } from "../../src/cli/config/index.ts";
import { leavesOf as settingsOf } from "../../src/cli/config/leaves.ts";
import { takeoverReasons } from "../../src/control/lifecycle/index.ts";
import { promiseAtLeast, reproduceAtLeast, type StudyReport, shown } from "../../src/studies/index.ts";
import { temporaryFolder } from "../../test/fixtures/folders/temporary-folder.ts";
import { outdatedCounts } from "./claims.ts";
import { checkCode } from "./code-blocks.ts";
import { commandsIn, unknownCommands } from "./commands.ts";
import { configurationPage, flagsOf, leavesOf, type Schema, typeText, variableOf } from "./configuration.ts";
import { failureCodeProblems } from "./failure-codes.ts";
import { hygieneProblems } from "./hygiene.ts";
import { brokenLinks, orphans } from "./links.ts";
import { anchorsIn, splitFences } from "./markdown.ts";
import { withResults } from "./results.ts";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

function folderWith(files: Record<string, string>): string {
  const folder = temporaryFolder("docs");
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

test("fences are told from prose, with their lines", () => {
  const { fences, prose } = splitFences("a\n```ts\nconst x = 1;\n```\nb\n");
  expect(fences).toEqual([{ info: "ts", line: 3, body: "const x = 1;\n" }]);
  expect(prose).toEqual(["a", "", "", "", "b", ""]);
});

test("anchors follow the headings, numbered from the second use on, and not the code", () => {
  const text = "# Two commands\n## `npm test`: what it needs\n## Next\n## Next\n```sh\n# no heading\n```\n";
  expect([...anchorsIn(text)]).toEqual(["two-commands", "npm-test-what-it-needs", "next", "next-1"]);
});

test("a link to a missing file, a missing heading, or out of the repository is found; the others pass", () => {
  const other = "# There\n";
  const text = [
    "[fine](other.md) [fine](other.md#there) [fine](#here) [fine](https://example.org/x)",
    "# Here",
    "[bad](absent.md)",
    "[bad](other.md#absent)",
    "![bad](../../picture.svg)",
    "`[no link](absent.md)`",
  ].join("\n");
  const folder = folderWith({ "docs/page.md": text, "docs/other.md": other });
  expect(brokenLinks(folder, [{ path: "docs/page.md", text }])).toEqual([
    "docs/page.md:3: absent.md leads to no file",
    "docs/page.md:4: other.md#absent names no heading of docs/other.md",
    "docs/page.md:5: ../../picture.svg leads out of the repository",
  ]);
});

test("a code block that does not compile is found at its line in the page", () => {
  const text =
    'Text.\n\n```ts\nimport { seededRng } from "coxswain/base";\nconst n: string = seededRng(1).next();\n```\n';
  const { compiled, problems } = checkCode(root, [{ path: "docs/planted-page.md", text }]);
  expect(compiled).toBe(1);
  expect(problems).toEqual([expect.stringMatching(/^docs\/planted-page\.md:5: error TS2322/)]);
});

test("a runnable command block that fails is found; one that is not marked is not run", () => {
  const text = "```sh runnable\nexit 7\n```\n```sh\nexit 8\n```\n```sh runnable\ntrue\n```\n";
  const { ran, problems } = checkCode(folderWith({}), [{ path: "p.md", text }]);
  expect(ran).toBe(2);
  expect(problems).toEqual([expect.stringMatching(/^p\.md:2: ended with 7/)]);
});

test("failure codes and their table must agree in both directions, through helpers too", () => {
  const sources = [
    {
      path: "src/a.ts",
      text: 'failure("store.locked", "x");\nhelper("store.full");\nopen("store.json");\nother("unrelated.word");\n',
    },
  ];
  const guide = {
    path: "failures.md",
    text: "| code | meaning |\n|---|---|\n| `store.locked` | x |\n| `store.gone` | x |\n",
  };
  expect(failureCodeProblems(sources, guide)).toEqual([
    'src/a.ts:2: the code "store.full" has no row in failures.md',
    'failures.md: "store.gone" has a row, but no source can raise it',
  ]);
});

test("marks, skipped tests, machine paths, registry addresses and long files are found", () => {
  const long = `// a file\n${"x;\n".repeat(500)}`;
  const excused = `// Over 500 lines because it is one table.\n${"x;\n".repeat(500)}`;
  const found = hygieneProblems([
    { path: "src/a.ts", text: `// ${"TO"}DO later\n` },
    { path: "src/a.test.ts", text: `${"test"}.skip("x", () => {});\n` },
    { path: "docs/a.md", text: `see /${"work"}/main\n` },
    { path: "package-lock.json", text: `"resolved": "https://example.org/x.tgz"\n"resolved": "dashboard"\n` },
    { path: "src/long.ts", text: long },
    { path: "src/excused.ts", text: excused },
    { path: "src/fine.ts", text: 'const at = "src/work/x.ts"; // hacking, to do\n' },
  ]);
  expect(found.map((problem) => problem.replace(/:(?: |\d).*/, ""))).toEqual([
    "src/a.ts",
    "src/a.test.ts",
    "docs/a.md",
    "package-lock.json",
    "src/long.ts",
  ]);
});

test("a page that names a script or a command that does not exist is found; prose is no command", () => {
  const text = [
    "Run `npm run lint`, `npm run absent` or `bin/coxswain demo`; the coxswain steers, `coxswain fly` does not.",
    "```sh",
    "npm run --silent gone && coxswain reproduce x",
    "```",
    '```ts\nimport { x } from "coxswain/base"; // coxswain nothing\n```',
  ].join("\n");
  const known = { scripts: ["lint"], commands: ["demo", "reproduce"] };
  expect(unknownCommands([{ path: "p.md", text }], known)).toEqual([
    'p.md:3: package.json has no script "gone"',
    'p.md:1: package.json has no script "absent"',
    'p.md:1: coxswain has no command "fly"',
  ]);
});

test("commands are read from the help", () => {
  const help = "Usage: x\n\nCommands:\n  demo [options]  shows\n  help [command]  explains\n\nExamples:\n  other\n";
  expect(commandsIn(help)).toEqual(["demo", "help"]);
});

test("the configuration page has each setting with the variable that the program reads", () => {
  const listed = leavesOf(jsonSchemaOf(configSchema) as Schema);
  expect(listed.map(({ path, schema }) => [path.join("."), variableOf(path, schema)])).toEqual(
    settingsOf(configSchema).map(({ path, variable }) => [path.join("."), variable]),
  );
});

test("each setting and each key of a profile says what it means, and a setting has a default", () => {
  const settings = leavesOf(jsonSchemaOf(configSchema) as Schema);
  const keys = [...settings, ...leavesOf(jsonSchemaOf(profileSchema) as Schema)];
  expect(keys.filter(({ about }) => about === "").map(({ path }) => path.join("."))).toEqual([]);
  // A secret has none: it never stands in a settings file.
  const bare = settings.filter(({ schema }) => schema.default === undefined && schema.secret !== true);
  expect(bare.map(({ path }) => path.join("."))).toEqual([]);
});

test("types are said in words, without limits that nobody set", () => {
  expect(typeText({ type: "integer", exclusiveMinimum: 0, maximum: Number.MAX_SAFE_INTEGER })).toBe(
    "whole number above 0",
  );
  expect(
    typeText({ anyOf: [{ const: "none" }, { type: "object", properties: { latency: { properties: { p: {} } } } }] }),
  ).toBe("`none` or `{ latency: { p } }`");
  expect(typeText({ type: "array", items: { type: "number", minimum: 0, maximum: 1 } })).toBe(
    "list of number from 0 to 1",
  );
});

test("flags are read from the help, over the end of the line", () => {
  const help = "Options:\n  --port <n>  which one;\n              0 for any\n  -h, --help  help\n\nExamples:\n  x\n";
  expect(flagsOf(help)).toEqual([
    ["`--port <n>`", "which one; 0 for any"],
    ["`-h, --help`", "help"],
  ]);
});

test("a key of a profile is needed, or has the default that the program gives it", () => {
  const profile: Schema = {
    required: ["workload"],
    properties: {
      workload: { type: "string", description: "its name" },
      reward: { description: "what counts", properties: { online: { type: "number" }, alpha: { default: 0.5 } } },
    },
  };
  const page = configurationPage({ settings: {}, profile, profileDefaults: { reward: { online: 7 } }, upHelp: "" });
  expect(page).toContain("| `workload` | text | needed | its name |");
  expect(page).toContain("| `reward.online` | number | `7` | what counts |");
  expect(page).toContain("| `reward.alpha` | any | `0.5` | what counts |");
});

test("the guide says what to do for each reason to take over, and for each alert", () => {
  const guide = readFileSync(join(root, "docs/guide/operating.md"), "utf8");
  const first = [...guide.matchAll(/^\| `?([A-Za-z-]+)`? \|/gm)].map(([, cell]) => cell);
  const alerts = readFileSync(join(root, "deploy/prometheus/alerts.yml"), "utf8").matchAll(/- alert: (\w+)/g);
  for (const needed of [...takeoverReasons, ...[...alerts].map(([, name]) => name)]) expect(first).toContain(needed);
});

test("counts that are repeated elsewhere have to be those of the results", () => {
  const results = {
    path: "docs/results/x.md",
    text: "# X\n\n**3 of 7 promises kept; 2 of 9 figures reproduced, 1 in the same direction.**\n",
  };
  const promisesOnly = { path: "docs/results/y.md", text: "# Y\n\n6 of 6 promises kept.\n" };
  const readme = (x: string, y: string) => ({
    path: "README.md",
    text: `| [X](docs/results/x.md) | ${x} |\n| [Y](docs/results/y.md) | ${y} |\n`,
  });
  expect(outdatedCounts([results, promisesOnly, readme("3 of 7 | 2 of 9", "6 of 6 | –")])).toEqual([]);
  expect(outdatedCounts([results, promisesOnly, readme("3 of 7 | 3 of 9", "5 of 6 | –")])).toEqual([
    "README.md: says that docs/results/x.md has 3 of 7 promises and 3 of 9 figures, which has 3 of 7 and 2 of 9",
    "README.md: says that docs/results/y.md has 5 of 6 promises and – figures, which has 6 of 6 and –",
  ]);
});

test("tables are made between the markers of a page, and its own words are left alone", () => {
  const ours = { mean: 2, lo: 1, hi: 3, n: 2, unit: "×" };
  const paper = { low: 5, high: 5, unit: "×", where: "Fig. 1" };
  const row = (id: string) => ({ id, what: id, paper: null, ours, claim: "at least 1×" });
  const report = {
    study: "x-one",
    title: "One",
    seeds: [1, 2],
    wallSeconds: 90,
    kernels: "wasm",
    rows: [
      promiseAtLeast(row("kept"), 1),
      reproduceAtLeast({ ...row("short"), paper }, { bound: 5, none: 0 }),
      shown({ id: "plain", what: "plain", ours }),
    ],
  } as unknown as StudyReport;
  const page = "# X\n\nOur words.\n\n<!-- results of: x-one -->\nold\n<!-- end of results -->\n\nMore words.\n";
  const made = withResults(page, () => report);
  expect(made.split("\n")).toEqual([
    ...["# X", "", "Our words.", "", "<!-- results of: x-one -->", ""],
    "**1 of 1 promises kept; 0 of 1 figures reproduced, 1 in the same direction.**",
    "",
    "| study | promises kept | figures reproduced | same direction | not | shown | run |",
    "|---|---|---|---|---|---|---|",
    "| [One](x-one.md) | 1 of 1 | 0 of 1 | 1 | 0 | 1 | 2 seeds (1 to 2), 2 min, wasm kernels |",
    ...["", "## Promises", ""],
    "| study | what | published | ours, 95 % interval | promised | kept |",
    "|---|---|---|---|---|---|",
    "| [x-one](x-one.md) | kept | – | 2 [1, 3] × | at least 1× | yes |",
    ...["", "## Reproductions", ""],
    "| study | what | published | ours, 95 % interval | to reach | outcome |",
    "|---|---|---|---|---|---|",
    "| [x-one](x-one.md) | short | 5 × (Fig. 1) | 2 [1, 3] × | at least 1× | same direction |",
    ...["", "<!-- end of results -->", "", "More words.", ""],
  ]);
  expect(withResults(made, () => report)).toBe(made);
  expect(withResults("# No markers\n", () => report)).toBe("# No markers\n");
});

test("a page that no other page links to is found", () => {
  const pages = [
    { path: "README.md", text: "[guide](docs/guide/a.md#top)" },
    { path: "docs/guide/a.md", text: "[next](b.md)" },
    { path: "docs/guide/b.md", text: "x" },
    { path: "docs/guide/lonely.md", text: "[itself](lonely.md)" },
  ];
  expect(orphans(pages)).toEqual(["docs/guide/lonely.md: no other page links to it"]);
});
