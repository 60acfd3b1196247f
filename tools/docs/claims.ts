/** How many claims hold is counted in the results' pages; where another page repeats the count beside a link, it must agree. */
import { dirname, join, normalize } from "node:path";
import type { Page } from "./markdown.ts";

const REPEATED = /\]\(([^)]*\bresults\/[a-z-]+\.md)\) \| (\d+ of \d+) \|/g;

export function outdatedCounts(pages: readonly Page[]): string[] {
  const problems: string[] = [];
  for (const { path, text } of pages) {
    for (const [, target = "", said] of text.matchAll(REPEATED)) {
      const results = normalize(join(dirname(path), target));
      const counted = /^(\d+ of \d+) claims hold/m.exec(pages.find((page) => page.path === results)?.text ?? "")?.[1];
      if (said !== counted) problems.push(`${path}: says that ${said} claims of ${results} hold, which has ${counted}`);
    }
  }
  return problems;
}
