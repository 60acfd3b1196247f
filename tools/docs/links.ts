/** Every relative link of a page leads to a file of the repository, and every anchor to a heading in it. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { anchorsIn, linksIn, type Page } from "./markdown.ts";

export function brokenLinks(root: string, pages: readonly Page[]): string[] {
  const problems: string[] = [];
  for (const page of pages) {
    for (const { line, target } of linksIn(page.text)) {
      if (/^[a-z][a-z0-9+.-]*:/i.test(target)) continue;
      const [file = "", anchor] = target.split("#");
      const path = file === "" ? page.path : normalize(join(dirname(page.path), decodeURIComponent(file)));
      const where = `${page.path}:${line}`;
      if (path.startsWith("..")) problems.push(`${where}: ${target} leads out of the repository`);
      else if (!existsSync(join(root, path))) problems.push(`${where}: ${target} leads to no file`);
      else if (anchor !== undefined && path.endsWith(".md")) {
        const text = path === page.path ? page.text : readFileSync(join(root, path), "utf8");
        if (!anchorsIn(text).has(anchor)) problems.push(`${where}: ${target} names no heading of ${path}`);
      }
    }
  }
  return problems;
}

/** Pages of the documentation that no other page leads to: nobody would find them. */
export function orphans(pages: readonly Page[]): string[] {
  const linked = new Set<string>();
  for (const page of pages)
    for (const { target } of linksIn(page.text)) {
      const [file = ""] = target.split("#");
      const path = normalize(join(dirname(page.path), file));
      if (file !== "" && path !== page.path) linked.add(path);
    }
  return pages
    .filter(({ path }) => path.startsWith("docs/") && !linked.has(path))
    .map(({ path }) => `${path}: no other page links to it`);
}
