/**
 * How many promises are kept and how many figures reproduced is counted in the pages of results; where another page
 * repeats the counts beside a link, they must agree.
 */
import { dirname, join, normalize } from "node:path";
import type { Page } from "./markdown.ts";

const REPEATED = /\]\(([^)]*\bresults\/[a-z-]+\.md)\) \| (\d+ of \d+|–) \| (\d+ of \d+|–) \|/g;
const NONE = "–";

export function outdatedCounts(pages: readonly Page[]): string[] {
  const problems: string[] = [];
  for (const { path, text } of pages) {
    for (const [, target = "", promises, figures] of text.matchAll(REPEATED)) {
      const results = normalize(join(dirname(path), target));
      const counted = pages.find((page) => page.path === results)?.text ?? "";
      const kept = /\b(\d+ of \d+) promises kept/.exec(counted)?.[1] ?? NONE;
      const reproduced = /\b(\d+ of \d+) figures reproduced/.exec(counted)?.[1] ?? NONE;
      if (promises !== kept || figures !== reproduced)
        problems.push(
          `${path}: says that ${results} has ${promises} promises and ${figures} figures, which has ${kept} and ${reproduced}`,
        );
    }
  }
  return problems;
}
