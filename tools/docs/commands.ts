/**
 * A page may name only commands that exist: `npm run …` must be a script of package.json, and `coxswain …` in code must
 * be a command of the command line. Prose is left alone: there "coxswain steers" is a sentence.
 */
import { type Page, splitFences } from "./markdown.ts";

export interface Known {
  readonly scripts: readonly string[];
  readonly commands: readonly string[];
}

export function unknownCommands(pages: readonly Page[], { scripts, commands }: Known): string[] {
  const problems: string[] = [];
  for (const page of pages) {
    for (const { line, code } of codeIn(page.text)) {
      for (const [, script] of code.matchAll(/\bnpm run (?:--?[a-z]+ )*([a-z][a-z:-]*)/g))
        if (script !== undefined && !scripts.includes(script))
          problems.push(`${page.path}:${line}: package.json has no script "${script}"`);
      for (const [, command] of code.matchAll(/(?:^|\s|\/)coxswain ([a-z][a-z-]*)(?![\w./])/g))
        if (command !== undefined && !commands.includes(command))
          problems.push(`${page.path}:${line}: coxswain has no command "${command}"`);
    }
  }
  return problems;
}

/** The commands that `coxswain --help` lists. */
export function commandsIn(help: string): string[] {
  const list = /^Commands:\n((?: {2}.*\n)+)/m.exec(help)?.[1] ?? "";
  return [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, command]) => command ?? "");
}

function* codeIn(text: string): Iterable<{ line: number; code: string }> {
  const { fences, prose } = splitFences(text);
  for (const { info, line, body } of fences) {
    if (!/^(?:sh|bash|console)\b/.test(info)) continue;
    for (const [index, code] of body.split("\n").entries()) yield { line: line + index, code };
  }
  for (const [index, line] of prose.entries())
    for (const [, code] of line.matchAll(/`([^`]+)`/g)) if (code !== undefined) yield { line: index + 1, code };
}
