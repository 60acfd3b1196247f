/**
 * One configuration file: YAML, or JSON, which is YAML too; its values and the line of each.
 * Owns: how large a file may be, and what its aliases may stand for. Not here: what the settings mean (load.ts and others).
 */

import { closeSync, openSync, readSync } from "node:fs";
import { isAlias, isCollection, isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { CodedError, failure } from "../../base/index.ts";

/** A hundred targets with everything spelt out take a fifth of it. */
const MOST_BYTES = 2 ** 20;
const MOST_LEVELS = 50;
/** Of scalars and keys, aliases written out. */
const MOST_VALUES = 100_000;
const MOST_ALIASES = 1_000;
/** What one anchor may stand for, with the aliases within it. */
const MOST_USES = 100;

export interface ConfigDocument {
  /** As the user wrote it, for messages. */
  readonly file: string;
  readonly value: Readonly<Record<string, unknown>>;
  /** The line of the key at this path, or of the nearest thing above it. */
  lineOf(path: readonly PropertyKey[]): number;
}

export function readConfigFile(file: string, resolved: string): ConfigDocument {
  let text: string;
  try {
    text = textOf(resolved);
  } catch (cause) {
    throw new CodedError(
      failure("config.unreadable", `${file}: the configuration file cannot be read; check the path and its mode`, {
        cause,
      }),
    );
  }
  return parseConfig(text, file);
}

/** One byte more than is taken at most, so that a device or a pipe without an end is not read to its end. */
function textOf(path: string): string {
  const bytes = Buffer.alloc(MOST_BYTES + 1);
  const handle = openSync(path, "r");
  try {
    let length = 0;
    while (length < bytes.length) {
      const read = readSync(handle, bytes, length, bytes.length - length, null);
      if (read === 0) break;
      length += read;
    }
    return bytes.toString("utf8", 0, length);
  } finally {
    closeSync(handle);
  }
}

export function parseConfig(text: string, file: string): ConfigDocument {
  const tooMuch = (what: string): CodedError =>
    new CodedError(
      failure("config.too-much", `${file}: ${what}; no settings need that, so correct or shorten the file`),
    );
  if (Buffer.byteLength(text) > MOST_BYTES) throw tooMuch("it is larger than 1 MiB");
  const lines = new LineCounter();
  // The library compares every key of a map with every other; `survey` does not.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const wrongAt = (offset: number, what: string): CodedError =>
    new CodedError(
      failure("config.syntax", `${file}:${lines.linePos(offset).line}: ${what}; correct the YAML or JSON there`),
    );
  // The library's own recursion ran out of stack, which takes some thousand levels.
  if (document.errors.some(({ code }) => code === "RESOURCE_EXHAUSTION")) throw tooMuch(TOO_DEEP);
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem) throw wrongAt(problem.pos[0], sentence(problem.message));
  const found = survey(document.contents);
  if (found !== null) throw "offset" in found ? wrongAt(found.offset, found.wrong) : tooMuch(found.tooMuch);
  const root = document.contents;
  if (root !== null && !isMap(root) && !(isScalar(root) && root.value === null)) {
    throw new CodedError(
      failure(
        "config.syntax",
        `${file}:1: expected settings as 'key: value', found a ${isSeq(root) ? "list" : "single value"}`,
      ),
    );
  }
  const value = plainOf(document);
  if (value === null) throw tooMuch(`its aliases stand for more than ${MOST_USES} times what they name`);
  const excess = excessIn(value);
  if (excess !== null) throw tooMuch(excess);
  return {
    file,
    value,
    lineOf(path) {
      let at: unknown = root;
      let offset = 0;
      for (const key of path) {
        if (isMap(at)) {
          const pair = at.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key));
          if (!pair) break;
          offset = (pair.key as Node).range?.[0] ?? offset;
          at = pair.value;
        } else if (isSeq(at)) {
          at = at.items[Number(key)];
          offset = (at as Node | undefined)?.range?.[0] ?? offset;
        } else break;
      }
      return lines.linePos(offset).line;
    },
  };
}

/** The parser's text as the middle of a sentence: no capital, no full stop, no second line. */
function sentence(text: string): string {
  const first = (text.split("\n")[0] ?? text).replace(/\.$/, "");
  return first.charAt(0).toLowerCase() + first.slice(1);
}

const TOO_DEEP = `it is nested more than ${MOST_LEVELS} levels deep`;
const TOO_MANY = `it has more than ${MOST_VALUES.toLocaleString("en-US")} values`;

/** Before aliases are followed: the library looks for each one's anchor through the whole document. */
function survey(
  root: unknown,
): { readonly tooMuch: string } | { readonly wrong: string; readonly offset: number } | null {
  const aliases: { readonly name: string; readonly offset: number }[] = [];
  /** Where each was set first. */
  const anchors = new Map<string, number>();
  let values = 0;
  const waiting: { readonly node: unknown; readonly level: number }[] = [{ node: root, level: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, level } = next;
    values += 1;
    const offset = isNode(node) ? offsetOf(node) : 0;
    if (isAlias(node)) aliases.push({ name: node.source, offset });
    else if (isNode(node) && node.anchor !== undefined)
      anchors.set(node.anchor, Math.min(offset, anchors.get(node.anchor) ?? offset));
    if (level > MOST_LEVELS) return { tooMuch: TOO_DEEP };
    if (values > MOST_VALUES) return { tooMuch: TOO_MANY };
    if (aliases.length > MOST_ALIASES)
      return { tooMuch: `it has more than ${MOST_ALIASES.toLocaleString("en-US")} aliases` };
    if (!isCollection(node)) continue;
    const keys = new Set<unknown>();
    for (const item of node.items) {
      if (!isMap(node)) waiting.push({ node: item, level: level + 1 });
      else {
        const { key, value } = item as { readonly key: unknown; readonly value: unknown };
        const name = isScalar(key) ? String(key.value) : key;
        if (keys.has(name)) return { wrong: "map keys must be unique", offset: offsetOf(key as Node) };
        keys.add(name);
        waiting.push({ node: key, level: level + 1 }, { node: value, level: level + 1 });
      }
    }
  }
  const lost = aliases.find(({ name, offset }) => (anchors.get(name) ?? offset) >= offset);
  return lost ? { wrong: `the alias '*${lost.name}' has no anchor before it`, offset: lost.offset } : null;
}

const offsetOf = (node: Node): number => node.range?.[0] ?? 0;

/** Null where an anchor stands for too much; the library says so by this error and nothing else by it after a survey. */
function plainOf(document: ReturnType<typeof parseDocument>): Readonly<Record<string, unknown>> | null {
  try {
    return (document.toJS({ maxAliasCount: MOST_USES }) ?? {}) as Record<string, unknown>;
  } catch (thrown) {
    if (thrown instanceof ReferenceError) return null;
    throw thrown;
  }
}

/** With aliases written out, as whoever checks, copies or prints the value meets them. */
function excessIn(root: unknown): string | null {
  let values = 0;
  const waiting: { readonly value: unknown; readonly level: number }[] = [{ value: root, level: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, level } = next;
    values += 1;
    if (level > MOST_LEVELS) return TOO_DEEP;
    if (values > MOST_VALUES) return TOO_MANY;
    if (typeof value !== "object" || value === null) continue;
    for (const child of Object.values(value)) waiting.push({ value: child, level: level + 1 });
  }
  return null;
}
