/**
 * Tasks in words, and the page that shows their workloads.
 * Owns: both. A task that is not known here has its own heading on the overview. Pure.
 */
import type { KnownRoute } from "../router.ts";
import { capitalized } from "./fallback.ts";

interface TaskWords {
  /** All of them, as a heading. */
  readonly many: string;
  /** Before the name of one, where the name alone says too little: "Service user". */
  readonly one: string;
  readonly page: "overview" | "services";
}

const KNOWN: ReadonlyMap<string, TaskWords> = new Map([
  ["pods", { many: "Workloads", one: "", page: "overview" }],
  ["mitigation", { many: "Services", one: "service", page: "services" }],
]);

const wordsOf = (task: string): TaskWords => KNOWN.get(task) ?? { many: capitalized(task), one: "", page: "overview" };

export const tasksTitle = (task: string): string => wordsOf(task).many;

/** Within a sentence: "service user". */
export function namedIn(task: string, title: string): string {
  const { one } = wordsOf(task);
  return one === "" ? title : `${one} ${title}`;
}

export const pageOf = (task: string): TaskWords["page"] => wordsOf(task).page;

/** Where one comes from, for whoever wants back. */
export function homeOf(task: string): { readonly title: string; readonly to: KnownRoute } {
  return pageOf(task) === "services"
    ? { title: "Services", to: { view: "services", trace: null } }
    : { title: "Overview", to: { view: "overview" } };
}
