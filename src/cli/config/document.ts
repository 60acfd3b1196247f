/** One configuration file: YAML, or JSON, which is YAML too; its values and the line of each. */

import { readFileSync } from "node:fs";
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { CodedError, failure } from "../../base/index.ts";

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
    text = readFileSync(resolved, "utf8");
  } catch (cause) {
    throw new CodedError(
      failure("config.unreadable", `${file}: the configuration file can not be read; check the path and its mode`, {
        cause,
      }),
    );
  }
  return parseConfig(text, file);
}

export function parseConfig(text: string, file: string): ConfigDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem) {
    const line = lines.linePos(problem.pos[0]).line;
    throw new CodedError(
      failure("config.syntax", `${file}:${line}: ${sentence(problem.message)}; correct the YAML or JSON there`),
    );
  }
  const root = document.contents;
  if (root !== null && !isMap(root) && !(isScalar(root) && root.value === null)) {
    throw new CodedError(
      failure(
        "config.syntax",
        `${file}:1: expected settings as 'key: value', found a ${isSeq(root) ? "list" : "single value"}`,
      ),
    );
  }
  const value = (document.toJS() ?? {}) as Record<string, unknown>;
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
