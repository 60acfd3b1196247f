/**
 * The little of Markdown that the checks need: fenced blocks, links, headings and their anchors.
 * Not here: what is checked (links.ts, code-blocks.ts, failure-codes.ts).
 */

export interface Page {
  /** Relative to the repository's root. */
  readonly path: string;
  readonly text: string;
}

export interface Fence {
  /** What follows the opening fence: `ts`, `sh runnable`. */
  readonly info: string;
  /** The line of the first line inside, counted from 1. */
  readonly line: number;
  readonly body: string;
}

export interface Link {
  readonly line: number;
  readonly target: string;
}

/** Splits a page into its fenced blocks and the prose around them, which keeps its line numbers. */
export function splitFences(text: string): { fences: Fence[]; prose: string[] } {
  const fences: Fence[] = [];
  const prose: string[] = [];
  let open: { mark: string; info: string; line: number; body: string[] } | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const fence = /^\s*(`{3,}|~{3,})\s*(.*?)\s*$/.exec(line);
    if (open === undefined && fence !== null) {
      open = { mark: fence[1] ?? "```", info: fence[2] ?? "", line: index + 2, body: [] };
      prose.push("");
    } else if (open !== undefined) {
      if (fence !== null && fence[2] === "" && (fence[1] ?? "").startsWith(open.mark)) {
        fences.push({ info: open.info, line: open.line, body: `${open.body.join("\n")}\n` });
        open = undefined;
      } else open.body.push(line);
      prose.push("");
    } else prose.push(line);
  }
  return { fences, prose };
}

/** Inline links and images, and HTML's href and src; code spans are no links. */
export function linksIn(text: string): Link[] {
  const links: Link[] = [];
  for (const [index, raw] of splitFences(text).prose.entries()) {
    const line = raw.replace(/`[^`]*`/g, "");
    for (const [, target] of line.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g))
      if (target !== undefined) links.push({ line: index + 1, target });
    for (const [, target] of line.matchAll(/\b(?:href|src|srcset)="([^"]+)"/g))
      if (target !== undefined) links.push({ line: index + 1, target });
    const reference = /^\s{0,3}\[[^\]]+\]:\s*(\S+)/.exec(line)?.[1];
    if (reference !== undefined) links.push({ line: index + 1, target: reference });
  }
  return links;
}

/** The anchors a page offers: one per heading, numbered from the second use on, and explicit ids. */
export function anchorsIn(text: string): Set<string> {
  const anchors = new Set<string>();
  const uses = new Map<string, number>();
  for (const line of splitFences(text).prose) {
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(line)?.[1];
    if (heading !== undefined) {
      const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]/g, "");
      const slug = plain
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .replace(/\s/g, "-");
      const use = uses.get(slug) ?? 0;
      uses.set(slug, use + 1);
      anchors.add(use === 0 ? slug : `${slug}-${use}`);
    }
    for (const [, id] of line.matchAll(/\b(?:id|name)="([^"]+)"/g)) if (id !== undefined) anchors.add(id);
  }
  return anchors;
}
