/**
 * Fetches the published results that lie beside the page.
 * Owns: which file belongs to which study; a file that breaks the contract becomes a visible problem, not a hole.
 */
import { parseStudyResult, type StudyResult } from "../../../src/server/contract.ts";

export type PublishedStudy =
  | { readonly kind: "result"; readonly result: StudyResult; readonly figures: readonly string[] }
  | { readonly kind: "unreadable"; readonly file: string; readonly problem: string };

export async function loadStudies(folder: URL): Promise<readonly PublishedStudy[]> {
  const names = (await fetchJson(new URL("index.json", folder))) as readonly string[];
  const results = names.filter((name) => name.endsWith(".json"));
  return Promise.all(results.map((file) => loadStudy(folder, { file, names })));
}

async function loadStudy(
  folder: URL,
  { file, names }: { file: string; names: readonly string[] },
): Promise<PublishedStudy> {
  const parsed = parseStudyResult(await fetchJson(new URL(file, folder)));
  if (!parsed.ok) return { kind: "unreadable", file, problem: parsed.problem };
  const id = parsed.value.study;
  const figures = names.filter((name) => name.endsWith(".svg") && (name === `${id}.svg` || name.startsWith(`${id}-`)));
  return { kind: "result", result: parsed.value, figures: figures.map((name) => new URL(name, folder).href) };
}

async function fetchJson(address: URL): Promise<unknown> {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address.pathname} answered ${answer.status}`);
  return answer.json();
}
