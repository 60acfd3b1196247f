/**
 * docs/guide/configuration.md, made of what the program says about itself: the JSON Schemas of its settings and of a
 * workload's profile, the defaults that a profile gets, and the help of `up`.
 * Owns: the page's text. Not here: asking the program (ask-program.ts), writing the file (../write-docs.ts), comparing (../docs-check.ts).
 */

export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  /** Of a setting whose environment variable is not the usual one. */
  readonly variable?: string;
  /** Of a setting that never stands in a file, so that it has no default. */
  readonly secret?: boolean;
}

export interface Sources {
  /** `coxswain config schema`. */
  readonly settings: Schema;
  /** `coxswain config schema --profile`. */
  readonly profile: Schema;
  /** The least profile there can be, with everything that was left out. */
  readonly profileDefaults: Readonly<Record<string, unknown>>;
  /** `coxswain up --help`. */
  readonly upHelp: string;
}

export function configurationPage({ settings, profile, profileDefaults, upHelp }: Sources): string {
  return [
    "# Configuration reference",
    "",
    "<!-- Made by `npm run docs:write` from the schemas. Changes go there: `npm run docs:check` compares. -->",
    "",
    "Every setting, every key of a profile and every flag of `up`. This page is generated from the schemas that the program",
    "itself checks with, so it cannot say anything else than the program does.",
    "",
    "- [Settings of the program](#settings-of-the-program), in a file or in environment variables",
    "- [The profile of a workload](#the-profile-of-a-workload), one YAML file each",
    "- [Flags of coxswain up](#flags-of-coxswain-up)",
    "- [Other environment variables](#other-environment-variables)",
    "",
    "## Settings of the program",
    "",
    "[The command line](command-line.md#settings) says where settings are looked for and which wins. `coxswain config print",
    "--show-origin` shows the ones in force, and `coxswain config schema` prints this list for editors. An unknown key is an",
    "error.",
    "",
    ...settingTables(settings),
    "## The profile of a workload",
    "",
    "[The profile](profile.md) explains these keys with an example; `coxswain config profile FILE` checks one and prints it with",
    "its defaults. A key without a default is needed.",
    "",
    ...table(
      ["key", "type", "unless given", "meaning"],
      leavesOf(profile).map(({ path, schema, isRequired, about }) => [
        code(path.join(".")),
        typeText(schema),
        isRequired ? "needed" : defaultText(schema.default ?? valueAt(profileDefaults, path)),
        about,
      ]),
    ),
    "",
    "## Flags of coxswain up",
    "",
    "`npm start -- FLAGS` passes them on. They are not settings: neither a file nor a variable sets them.",
    "",
    ...table(["flag", "what it does"], flagsOf(upHelp)),
    "",
    "## Other environment variables",
    "",
    ...table(["variable", "what it does"], [...variables]),
    "",
  ].join("\n");
}

/** What is read outside of the schemas, each where the second column says. */
const variables: readonly (readonly [string, string])[] = [
  ["`COXSWAIN_CONFIG`", "the file with the settings, unless `--config` names one"],
  ["`COXSWAIN_DATASETS`", "folder with recorded data, for studies that can use it ([workloads](workloads.md#loads))"],
  ["`XDG_STATE_HOME`", "`up` keeps its data in `coxswain` below it; without it in `~/.local/state/coxswain`"],
  ["`OTEL_EXPORTER_OTLP_ENDPOINT`", "where traces go; without it there are none ([observing](observing.md#traces))"],
  ["`NO_COLOR`, `FORCE_COLOR`", "no colours, or colours even without a terminal"],
];

interface Leaf {
  readonly path: readonly string[];
  readonly schema: Schema;
  readonly isRequired: boolean;
  /** Its own description, or that of the nearest object around it. */
  readonly about: string;
}

export function leavesOf(schema: Schema): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const collect = (at: Schema, leaf: Omit<Leaf, "schema">): void => {
    if (at.properties === undefined) {
      leaves.push({ ...leaf, schema: at, about: at.description ?? leaf.about });
      return;
    }
    const about = at.description ?? leaf.about;
    for (const [key, child] of Object.entries(at.properties))
      collect(withDefault(child, valueAt(at.default, [key])), {
        path: [...leaf.path, key],
        isRequired: leaf.isRequired && (at.required ?? []).includes(key),
        about,
      });
  };
  collect(schema, { path: [], isRequired: true, about: "" });
  return leaves;
}

/** An object with a default gives its parts theirs. */
const withDefault = (schema: Schema, value: unknown): Schema =>
  schema.default !== undefined || value === undefined ? schema : { ...schema, default: value };

/** One table for each section, so that a reader finds an algorithm's settings together. */
function settingTables(settings: Schema): string[] {
  const sections = new Map<string, Leaf[]>();
  for (const leaf of leavesOf(settings)) {
    const section = leaf.path.slice(0, -1).join(".");
    sections.set(section, [...(sections.get(section) ?? []), leaf]);
  }
  return [...sections]
    .sort(([one], [other]) => Number(other === "") - Number(one === ""))
    .flatMap(([section, leaves]) => [
      `### ${section === "" ? "At the top" : code(section)}`,
      "",
      ...table(
        ["key", "variable", "type", "default", "meaning"],
        leaves.map(({ path, schema, about }) => [
          code(path.at(-1) ?? ""),
          code(variableOf(path, schema)),
          typeText(schema),
          defaultText(schema.default),
          about,
        ]),
      ),
      "",
    ]);
}

/** The rule of src/cli/config/leaves.ts; a test compares the two. */
export function variableOf(path: readonly string[], { variable }: Pick<Schema, "variable">): string {
  const words = path.map((key) => key.replace(/([a-z0-9])([A-Z])/g, "$1_$2"));
  return variable ?? `COXSWAIN_${words.join("_").toUpperCase()}`;
}

/** zod says of every whole number that a double can hold it exactly; that is no limit worth reading. */
const isRealBound = (bound: number | undefined): bound is number =>
  bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER;

export function typeText(schema: Schema): string {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.map(typeText).join(" or ");
  if (schema.const !== undefined) return code(String(schema.const));
  if (schema.enum !== undefined) return schema.enum.map((value) => code(String(value))).join(", ");
  if (schema.properties !== undefined)
    return code(
      `{ ${Object.entries(schema.properties)
        .map(([key, value]) => `${key}${insideText(value)}`)
        .join(", ")} }`,
    );
  if (schema.type === "array") return `list of ${typeText(schema.items ?? {})}`;
  const name = [schema.type ?? "any"].flat().map((type) => typeNames[type] ?? type);
  return [name.join(" or "), boundsText(schema)].filter((part) => part !== "").join(" ");
}

const typeNames: Readonly<Record<string, string>> = {
  string: "text",
  integer: "whole number",
  boolean: "true or false",
};

function insideText({ const: only, properties }: Schema): string {
  if (only !== undefined) return `: ${String(only)}`;
  return properties === undefined ? "" : `: { ${Object.keys(properties).join(", ")} }`;
}

function boundsText({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema): string {
  const parts = [
    isRealBound(minimum) ? `from ${minimum}` : "",
    isRealBound(exclusiveMinimum) ? `above ${exclusiveMinimum}` : "",
    isRealBound(maximum) ? `to ${maximum}` : "",
    isRealBound(exclusiveMaximum) ? `below ${exclusiveMaximum}` : "",
  ];
  return parts.filter((part) => part !== "").join(" ");
}

const defaultText = (value: unknown): string =>
  value === ""
    ? "empty"
    : value === undefined
      ? "none"
      : code(typeof value === "string" ? value : JSON.stringify(value).replaceAll(/([,:])/g, "$1 "));

function valueAt(from: unknown, path: readonly string[]): unknown {
  let at = from;
  for (const key of path) at = (at as Readonly<Record<string, unknown>> | null | undefined)?.[key];
  return at;
}

/** Options as commander prints them: a flag, two spaces or more, and a text that may go on below, further in. */
export function flagsOf(help: string): readonly (readonly [string, string])[] {
  const list = /^Options:\n((?: {2}.*\n)+)/m.exec(help)?.[1] ?? "";
  const flags: [string, string][] = [];
  for (const line of list.split("\n")) {
    const flag = /^ {2}(-\S.*?) {2,}(\S.*)$/.exec(line);
    const last = flags.at(-1);
    if (flag?.[1] !== undefined && flag[2] !== undefined) flags.push([flag[1], flag[2]]);
    else if (last !== undefined && line.trim() !== "") last[1] += ` ${line.trim()}`;
  }
  return flags.map(([flag, text]) => [code(flag), text.replaceAll("<", "&lt;")]);
}

const code = (text: string): string => `\`${text}\``;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)];
}
