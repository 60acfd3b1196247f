/**
 * The configuration of one run: flags over environment over file over defaults.
 * Owns: the order, where each value came from, and errors that name the place to correct.
 * Nothing is repaired silently; the accepted value is frozen.
 */

import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { z } from "zod";
import { CodedError, failure } from "../../base/index.ts";
import { closest, didYouMean } from "../suggest.ts";
import { type ConfigDocument, readConfigFile } from "./document.ts";
import { ENV_PREFIX, keysAt, type Leaf, leavesOf } from "./leaves.ts";

export type Origin =
  | { readonly kind: "default" }
  | { readonly kind: "tuned"; readonly by: string }
  | { readonly kind: "file"; readonly file: string; readonly line: number }
  | { readonly kind: "environment"; readonly variable: string }
  | { readonly kind: "flag"; readonly flag: string };

/** A value given on the command line for one setting. */
export interface FlagValue {
  readonly path: readonly string[];
  readonly flag: string;
  readonly value: unknown;
}

export interface LoadOptions<S extends z.ZodType> {
  readonly schema: S;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Named on the command line; otherwise COXSWAIN_CONFIG, then `coxswain.yaml` here, then the user's own. */
  readonly file?: string | undefined;
  readonly flags?: readonly FlagValue[];
  /** Better defaults for what was chosen, such as an algorithm's settings for one task. Anything given wins over them. */
  readonly tuned?: { readonly by: string; readonly value: unknown } | undefined;
}

export interface LoadedConfig<T> {
  readonly config: T;
  /** The file that was read, if any. */
  readonly file: string | undefined;
  /** By dotted path, for every setting. */
  readonly origins: ReadonlyMap<string, Origin>;
  readonly leaves: readonly Leaf[];
  /** Variables that look like misspelt settings, each as a sentence. */
  readonly strangers: readonly string[];
}

const FILE_VARIABLE = "COXSWAIN_CONFIG";

export function loadConfig<S extends z.ZodType>(options: LoadOptions<S>): LoadedConfig<z.output<S>> {
  const { schema, env, flags = [], tuned } = options;
  const leaves = leavesOf(schema);
  const document = findDocument(options);
  const raw: Record<string, unknown> = structuredClone(document?.value ?? {});
  const given = new Map<string, Origin>();
  for (const leaf of leaves) {
    const text = env[leaf.variable];
    if (text === undefined) continue;
    place(raw, leaf.path, fromText(text, leaf));
    given.set(leaf.path.join("."), { kind: "environment", variable: leaf.variable });
  }
  for (const { path, flag, value } of flags) {
    if (value === undefined) continue;
    place(raw, path, value);
    given.set(path.join("."), { kind: "flag", flag });
  }
  for (const { path } of tuned ? leaves : []) {
    if (has(raw, path) || !has(tuned?.value, path)) continue;
    if (place(raw, path, valueAt(tuned?.value, path)))
      given.set(path.join("."), { kind: "tuned", by: tuned?.by ?? "" });
  }
  const originOf = (path: readonly PropertyKey[]): Origin => {
    const known = given.get(path.join("."));
    if (known) return known;
    // A list is the file's as a whole: what one of its items lacks is reported where that item stands.
    const isInList = path.some((key) => typeof key === "number") && document && has(document.value, path.slice(0, 1));
    if (document && (isInList || has(document.value, path))) {
      return { kind: "file", file: document.file, line: document.lineOf(path) };
    }
    return { kind: "default" };
  };
  const written = document && leaves.find((leaf) => leaf.isSecret && has(document.value, leaf.path));
  if (written) throw secretInFile(written, document);
  const parsed = schema.safeParse(raw);
  if (!parsed.success) throw invalid(parsed.error.issues, { schema, document, originOf });
  return {
    config: deepFreeze(parsed.data),
    file: document?.file,
    origins: new Map(leaves.map((leaf) => [leaf.path.join("."), originOf(leaf.path)])),
    leaves,
    strangers: strangersIn(env, leaves),
  };
}

function findDocument({ env, cwd, file }: LoadOptions<z.ZodType>): ConfigDocument | undefined {
  const named = file ?? env[FILE_VARIABLE];
  if (named !== undefined) return readConfigFile(named, isAbsolute(named) ? named : join(cwd, named));
  const home = env.XDG_CONFIG_HOME || (env.HOME ? join(env.HOME, ".config") : undefined);
  const candidates = ["coxswain.yaml", "coxswain.yml", "coxswain.json"].map((name) => ({ name, at: join(cwd, name) }));
  if (home) candidates.push({ name: join(home, "coxswain", "config.yaml"), at: join(home, "coxswain", "config.yaml") });
  const found = candidates.find(({ at }) => existsSync(at));
  return found && readConfigFile(found.name, found.at);
}

/** Text of the environment as the setting's type; what does not convert is left for the schema to refuse. */
function fromText(text: string, { type }: Leaf): unknown {
  switch (type) {
    case "number":
    case "integer":
      return numberIn(text);
    case "boolean":
      return text === "true" || text === "1" ? true : text === "false" || text === "0" ? false : text;
    case "texts":
      return itemsIn(text);
    case "numbers":
      return itemsIn(text).map(numberIn);
    case "string":
      return text;
    case "other":
      return jsonIn(text);
  }
}

function numberIn(text: string): unknown {
  return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
}

function itemsIn(text: string): string[] {
  return text === "" ? [] : text.split(",").map((item) => item.trim());
}

/** Settings that are one of several shapes are written as JSON. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export interface Findings {
  readonly schema: z.ZodType;
  readonly document: ConfigDocument | undefined;
  readonly originOf: (path: readonly PropertyKey[]) => Origin;
}

/** Of what is wrong in one file: nobody corrects more at a time. */
const MOST_LINES = 20;
const LONGEST_KEY = 80;

/** Every issue as one line with its place: the failure of a configuration that cannot be accepted. */
export function invalid(issues: readonly z.core.$ZodIssue[], { schema, document, originOf }: Findings): CodedError {
  const count = issues.reduce((sum, issue) => sum + (issue.code === "unrecognized_keys" ? issue.keys.length : 1), 0);
  const lines = issues.slice(0, MOST_LINES).flatMap((issue) => {
    if (issue.code === "unrecognized_keys") {
      return issue.keys.slice(0, MOST_LINES).map((key) => {
        const where = document ? `${document.file}:${document.lineOf([...issue.path, key])}: ` : "";
        const inside = issue.path.length > 0 ? ` in '${issue.path.join(".")}'` : "";
        return `${where}unknown key '${shortened(key)}'${inside}${insteadOf(key, { path: issue.path, known: keysAt(schema, issue.path) })}`;
      });
    }
    return [`${placeOf(originOf(issue.path))}${issue.path.join(".")} ${reason(issue)}`];
  });
  const code = issues.some((issue) => issue.code === "unrecognized_keys") ? "config.unknown-key" : "config.invalid";
  const shown = lines.slice(0, MOST_LINES);
  const more = count > shown.length ? [`and ${count - shown.length} more`] : [];
  return new CodedError(failure(code, [...shown, ...more].join("\n")));
}

const shortened = (key: string): string => (key.length > LONGEST_KEY ? `${key.slice(0, LONGEST_KEY)}…` : key);

/** The nearest key, or all of a part's keys where none is near and they are few. */
function insteadOf(key: string, { path, known }: { readonly path: readonly PropertyKey[]; known: readonly string[] }) {
  const isFew = path.length > 0 && known.length > 0 && known.length <= 4;
  return didYouMean(key, known) || (isFew ? `; its keys are ${known.join(", ")}` : "");
}

/** Settings files are shared, shown and committed. */
function secretInFile({ path, variable }: Leaf, document: ConfigDocument): CodedError {
  const text = `${document.file}:${document.lineOf(path)}: ${path.join(".")} may not stand in a settings file; set ${variable} instead`;
  return new CodedError(failure("config.secret-in-file", text));
}

function placeOf(origin: Origin): string {
  return origin.kind === "default" ? "" : `${originText(origin)}: `;
}

export function originText(origin: Origin): string {
  switch (origin.kind) {
    case "default":
      return "default";
    case "tuned":
      return `tuned for ${origin.by}`;
    case "file":
      return `${origin.file}:${origin.line}`;
    case "environment":
      return origin.variable;
    case "flag":
      return origin.flag;
  }
}

function reason(issue: z.core.$ZodIssue): string {
  // zod says "Invalid input: expected number, received string"; the settings' own rules read "must be …" or "can never …".
  const text = issue.message.replace(/^Invalid (input|option): /, "").replace(/^Too (small|big): /, "");
  return /^(?:must|can|cannot) /.test(text) ? text : `is not valid: ${text}`;
}

/** Only what looks like a misspelt setting: tests and benches have variables of their own, and a cluster adds some. */
function strangersIn(env: LoadOptions<z.ZodType>["env"], leaves: readonly Leaf[]): readonly string[] {
  const known = leaves.map((leaf) => leaf.variable);
  const others = Object.keys(env).filter((name) => name.startsWith(ENV_PREFIX) && !known.includes(name));
  return others.sort().flatMap((name) => {
    if (name === FILE_VARIABLE) return [];
    const near = closest(
      name.slice(ENV_PREFIX.length),
      known.map((variable) => variable.slice(ENV_PREFIX.length)),
    );
    if (near === undefined) return [];
    return [
      `the environment variable ${name} is not a setting and has no effect; did you mean '${ENV_PREFIX}${near}'?`,
    ];
  });
}

/** False when something that is no object stands in the way; the schema will then say so. */
function place(into: Record<string, unknown>, path: readonly string[], value: unknown): boolean {
  let at = into;
  for (const key of path.slice(0, -1)) {
    at[key] ??= {};
    const child = at[key];
    if (typeof child !== "object" || Array.isArray(child)) return false;
    at = child as Record<string, unknown>;
  }
  at[path[path.length - 1] as string] = value;
  return true;
}

function has(value: unknown, path: readonly PropertyKey[]): boolean {
  let at = value;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return false;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return path.length > 0;
}

export function valueAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const key of path) at = (at as Record<string, unknown> | undefined)?.[key];
  return at;
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const child of Object.values(value)) deepFreeze(child);
  }
  return value;
}
