/**
 * The names that the package offers, read from src/public, and docs/guide/package.md, which lists them.
 * Owns: what an entry file may contain, and the page's text. Not here: writing the file (../write-docs.ts), comparing
 * (../docs-check.ts).
 *
 * The page is the list that a reviewer sees change: a name cannot become public without a line of its diff.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const PACKAGE_PAGE = "docs/guide/package.md";
const FOLDER = "src/public";
const REEXPORT = /export (type )?\{([^}]*)\} from "[^"]+";/g;
const HEADER = /^\/\*\* `coxswain\/([a-z]+)`: (.+) \*\/\n/;

export interface PublicEntry {
  /** As users import it, after `coxswain/`. */
  readonly name: string;
  readonly about: string;
  /** Functions, classes and constants. */
  readonly values: readonly string[];
  readonly types: readonly string[];
}

export interface PublicEntries {
  readonly entries: readonly PublicEntry[];
  readonly problems: readonly string[];
}

export function readPublicEntries(root: string): PublicEntries {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    exports: Readonly<Record<string, unknown>>;
  };
  const names = readdirSync(join(root, FOLDER)).map((file) => file.replace(/\.ts$/, ""));
  const read = names.sort().map((name) => publicEntry(name, readFileSync(join(root, FOLDER, `${name}.ts`), "utf8")));
  const entries = read.map(({ entry }) => entry);
  const expected = { "./package.json": "./package.json", ...Object.fromEntries(names.map(packed)) };
  const problems = read.flatMap(({ problems }) => problems);
  if (JSON.stringify(exports) !== JSON.stringify(expected))
    problems.push(`package.json: 'exports' is not the files of ${FOLDER}; it should be ${JSON.stringify(expected)}`);
  return { entries, problems: [...problems, ...repeated(entries)] };
}

const packed = (name: string) => [
  `./${name}`,
  { types: `./dist/${FOLDER}/${name}.d.ts`, default: `./dist/${FOLDER}/${name}.js` },
];

export function publicEntry(name: string, text: string): { entry: PublicEntry; problems: string[] } {
  const path = `${FOLDER}/${name}.ts`;
  const [, called, about = ""] = HEADER.exec(text) ?? [];
  const problems = called === name ? [] : [`${path}: begins without "/** \`coxswain/${name}\`: what it is for. */"`];
  const rest = text.replace(HEADER, "").replace(REEXPORT, "").trim();
  if (rest !== "")
    problems.push(`${path}: has more than names that are exported from elsewhere: ${rest.split("\n")[0]}`);
  const found = [...text.matchAll(REEXPORT)].flatMap(([, type, list = ""]) =>
    list
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "")
      .map((item) => ({ name: item.split(" as ").at(-1) ?? item, isType: type !== undefined })),
  );
  const pick = (isType: boolean) =>
    found
      .filter((one) => one.isType === isType)
      .map((one) => one.name)
      .sort();
  return { entry: { name, about, values: pick(false), types: pick(true) }, problems };
}

/** One name leads to one thing, whichever entry a reader finds it in. */
function repeated(entries: readonly PublicEntry[]): string[] {
  const names = entries.flatMap(({ name, values, types }) => [...values, ...types].map((one) => [one, name] as const));
  const first = new Map<string, string>();
  return names.flatMap(([one, entry]) => {
    const before = first.get(one);
    first.set(one, before ?? entry);
    return before === undefined ? [] : [`${FOLDER}: '${one}' is in ${before} and in ${entry}; keep one`];
  });
}

export function packagePage(entries: readonly PublicEntry[]): string {
  const total = entries.reduce((sum, { values, types }) => sum + values.length + types.length, 0);
  return [
    "# What the package exports",
    "",
    "<!-- Made by `npm run docs:write` from src/public. Changes go there: `npm run docs:check` compares. -->",
    "",
    `All ${total} names that programs and modules may import, by entry; nothing else is public, and what is not listed here may`,
    "change without notice. [Getting started](getting-started.md) and [your own task and learner](own-task-and-learner.md)",
    "show them at work; their types and comments are in the declarations of the package.",
    "",
    ...entries.flatMap(({ name, about, values, types }) => [
      `## coxswain/${name}`,
      "",
      capital(about),
      "",
      ...listed("Values", values),
      ...listed("Types", types),
      "",
    ]),
  ]
    .join("\n")
    .replace(/\n+$/, "\n");
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const listed = (what: string, names: readonly string[]): string[] =>
  names.length === 0 ? [] : [`- ${what}: ${names.map((name) => `\`${name}\``).join(", ")}`];
