/**
 * What must not be in the tree: marks of unfinished work, addresses of one machine or registry, files that outgrew
 * their room without saying why, and download addresses in the lock file.
 * The patterns are put together from pieces, or this file would find itself.
 */

export interface TreeFile {
  readonly path: string;
  readonly text: string;
}

const LONGEST = 500;
const HEADER_LINES = 20;

const MARKS = new RegExp(`\\b(?:${["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"].join("|")})\\b`);
const SKIPPED = new RegExp(`\\b(?:test|it|describe)\\.(?:${["skip", "only", "todo"].join("|")})\\b`);
const MACHINE_PATH = new RegExp(`(?:^|[^A-Za-z0-9_./-])/(?:${["work", "farm", "root"].join("|")})/`);
const REGISTRY = new RegExp(
  [
    "registry" + "\\.npmjs",
    "registry" + "\\.yarnpkg",
    "deb" + "\\.debian",
    "pypi" + "\\.org",
    "proxy" + "\\.golang",
  ].join("|"),
);

const CODE_FILE = /\.(?:ts|tsx|mjs|c|h|sh|css)$/;

export function hygieneProblems(files: readonly TreeFile[]): string[] {
  const problems: string[] = [];
  for (const { path, text } of files) {
    const lines = text.split("\n");
    for (const [index, line] of lines.entries()) {
      const where = `${path}:${index + 1}`;
      if (CODE_FILE.test(path) && MARKS.test(line))
        problems.push(`${where}: a mark of unfinished work; finish it, or say it in an issue`);
      if (/\.tsx?$/.test(path) && SKIPPED.test(line) && !/["'`]/.test(line.slice(0, line.search(SKIPPED))))
        problems.push(`${where}: a test that is skipped, or that keeps others from running`);
      if (MACHINE_PATH.test(line)) problems.push(`${where}: a path of one machine`);
      if (REGISTRY.test(line)) problems.push(`${where}: the address of a package registry`);
      if (path.endsWith("package-lock.json") && /"resolved": "[a-z+]+:/.test(line))
        problems.push(`${where}: a download address; .npmrc leaves them out (omit-lockfile-registry-resolved)`);
    }
    const size = text.endsWith("\n") ? lines.length - 1 : lines.length;
    const isCode = CODE_FILE.test(path) && !/\.test\.tsx?$/.test(path);
    // Nobody reads or writes what a generator wrote.
    const isWritten = isCode && !path.includes("/generated/");
    if (isWritten && size > LONGEST && !/over 500 lines/i.test(lines.slice(0, HEADER_LINES).join("\n")))
      problems.push(`${path}: ${size} lines; split it, or give the reason in its header ("Over 500 lines because …")`);
  }
  return problems;
}
