/**
 * Fetches the published results: those that the control plane has now, or where it keeps none, those that were built in
 * with the page.
 * Owns: which of the two, which figure belongs to which study; a result that cannot be read becomes a visible problem,
 * not a hole.
 */

import type { Page, StudySummary } from "../../../src/contract/index.ts";
import { parseStudyResult, type StudyResult } from "../../../src/contract/index.ts";
import { ask, PlaneProblem } from "./client.ts";

export interface Figure {
  readonly name: string;
  /** Reads it with the token where one is needed, which an <img> cannot. */
  readonly read: () => Promise<string>;
}

export type PublishedStudy =
  | { readonly kind: "result"; readonly result: StudyResult; readonly figures: readonly Figure[] }
  | { readonly kind: "unreadable"; readonly id: string; readonly problem: string };

export interface PublishedStudies {
  /** Now: read from where `coxswain reproduce` writes. Built in: as they were when the page was built. */
  readonly from: "now" | "built-in";
  readonly studies: readonly PublishedStudy[];
}

export async function loadStudies(builtIn: URL): Promise<PublishedStudies> {
  const names = await builtInNames(builtIn);
  const listed = await listStudies();
  if (listed === null || (listed.length === 0 && names.length > 0))
    return {
      from: "built-in",
      studies: await Promise.all(resultsIn(names).map((id) => readBuiltIn(id, { builtIn, names }))),
    };
  const ids = new Set(listed.map(({ id }) => id));
  // The list leaves out what cannot be read; asked for by name, it says why.
  const unlisted = resultsIn(names).filter((id) => !ids.has(id));
  const studies = await Promise.all([
    ...listed.map(({ id, figures }) => readStudy(id, figures)),
    ...unlisted.map((id) => readStudy(id, [])),
  ]);
  return { from: "now", studies: studies.filter((study) => study !== null) };
}

/** Null where the server keeps no studies. */
async function listStudies(): Promise<readonly StudySummary[] | null> {
  try {
    return ((await (await ask("studies")).json()) as Page<StudySummary>).items;
  } catch (problem) {
    if (problem instanceof PlaneProblem && problem.status === 404) return null;
    throw problem;
  }
}

/** Null where there is no such study any more. */
async function readStudy(id: string, figures: readonly string[]): Promise<PublishedStudy | null> {
  const path = `studies/${encodeURIComponent(id)}`;
  try {
    const parsed = parseStudyResult(await (await ask(path)).json());
    if (!parsed.ok)
      return { kind: "unreadable", id, problem: `the result of study '${id}' cannot be read: ${parsed.problem}` };
    return {
      kind: "result",
      result: parsed.value,
      figures: figures.map((name) => ({
        name,
        read: async () => (await ask(`${path}/figures/${encodeURIComponent(name)}`)).text(),
      })),
    };
  } catch (problem) {
    if (!(problem instanceof PlaneProblem)) throw problem;
    return problem.status === 404 ? null : { kind: "unreadable", id, problem: problem.message };
  }
}

const resultsIn = (names: readonly string[]): readonly string[] =>
  names.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length));

async function builtInNames(folder: URL): Promise<readonly string[]> {
  const answer = await fetch(new URL("index.json", folder));
  return answer.ok ? ((await answer.json()) as readonly string[]) : [];
}

async function readBuiltIn(
  id: string,
  { builtIn, names }: { builtIn: URL; names: readonly string[] },
): Promise<PublishedStudy> {
  const file = await fetch(new URL(`${id}.json`, builtIn));
  if (!file.ok)
    return {
      kind: "unreadable",
      id,
      problem: `the result of study '${id}' cannot be read: its file answered ${file.status}`,
    };
  const parsed = parseStudyResult(await file.json());
  if (!parsed.ok)
    return { kind: "unreadable", id, problem: `the result of study '${id}' cannot be read: ${parsed.problem}` };
  const figures = names.filter((name) => name === `${id}.svg` || (name.startsWith(`${id}-`) && name.endsWith(".svg")));
  const read = async (name: string): Promise<string> => (await fetch(new URL(name, builtIn))).text();
  return {
    kind: "result",
    result: parsed.value,
    figures: figures.map((name) => ({ name, read: () => read(name) })),
  };
}
