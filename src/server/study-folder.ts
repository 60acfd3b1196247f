/**
 * Published studies in a folder: `<id>.json` and the figures `<id>.svg` and `<id>-….svg` beside it.
 * Owns: reading them, again when a file has changed. Not here: the routes (routes/studies.ts).
 */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { err, type Failure, failure, ok, type Result } from "../base/index.ts";
import { parseStudyResult, type StudyResult, tallyOf } from "../contract/index.ts";
import type { StudyShelf } from "./routes/studies.ts";

export interface StudyFolderOptions {
  /** Told once of every version of a result that cannot be read, and so is not in the list. */
  readonly onUnreadable?: (file: string, why: Failure) => void;
}

export function openStudyFolder(folder: string, { onUnreadable }: StudyFolderOptions = {}): StudyShelf {
  const known = new Map<string, { readonly stamp: string; readonly result: Result<StudyResult> }>();

  // A folder that is not there (a package without results) is one without studies.
  const names = async (): Promise<readonly string[]> => (await readdir(folder).catch(() => [])).sort();
  const figuresOf = (id: string, all: readonly string[]): readonly string[] =>
    all.filter((name) => name === `${id}.svg` || (name.startsWith(`${id}-`) && name.endsWith(".svg")));

  const read = async (id: string): Promise<Result<StudyResult> | undefined> => {
    // Only what the listing names is opened, so an id cannot lead out of the folder.
    if (!(await names()).includes(`${id}.json`)) return undefined;
    const path = join(folder, `${id}.json`);
    try {
      const { mtimeMs, size } = await stat(path);
      const stamp = `${mtimeMs} ${size}`;
      const cached = known.get(id);
      if (cached?.stamp === stamp) return cached.result;
      const result = parseText(id, await readFile(path, "utf8"));
      // Two who ask at once both read it, and one of them tells.
      const isNews = known.get(id)?.stamp !== stamp;
      known.set(id, { stamp, result });
      if (!result.ok && isNews) onUnreadable?.(path, result.failure);
      return result;
    } catch (thrown) {
      return unreadable(id, (thrown as Error).message);
    }
  };

  return {
    read,
    async list() {
      const all = await names();
      const ids = all.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length));
      const results = await Promise.all(ids.map(async (id) => ({ id, result: await read(id) })));
      return results.flatMap(({ id, result }) => {
        if (result?.ok !== true) return [];
        const { title, quick, version, seeds, rows } = result.value;
        return {
          id,
          title,
          quick,
          version,
          seeds: seeds.length,
          ...tallyOf(rows),
          figures: figuresOf(id, all),
        };
      });
    },
    async figure(id, name) {
      if (!figuresOf(id, await names()).includes(name)) return undefined;
      return new Uint8Array(await readFile(join(folder, name)));
    },
  };
}

function parseText(id: string, text: string): Result<StudyResult> {
  try {
    const parsed = parseStudyResult(JSON.parse(text));
    return parsed.ok ? ok(parsed.value) : unreadable(id, parsed.problem);
  } catch (thrown) {
    return unreadable(id, (thrown as Error).message);
  }
}

const unreadable = (id: string, problem: string): Result<never> =>
  err(failure("server.study-unreadable", `the result of study '${id}' cannot be read: ${problem.slice(0, 200)}`));
