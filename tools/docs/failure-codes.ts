/**
 * Every failure code in the sources has its row in the guide, and every row its code in the sources.
 * A code is a string literal `area.what` given to `failure(…)`, or any literal whose area is one of theirs: so a code
 * that travels through a helper, or that a caller compares with, is seen as well.
 */
import ts from "typescript";

const CODE = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)+$/;
const FILE_NAME =
  /\.(?:ts|js|mjs|json|jsonl|md|wasm|node|svg|png|yaml|yml|toml|parquet|duckdb|db|wal|tmp|log|csv|gz|sh|bin|c|h)$/;

export interface Source {
  readonly path: string;
  readonly text: string;
}

interface Literal {
  readonly text: string;
  readonly where: string;
  readonly givenToFailure: boolean;
}

function literalsOf({ path, text }: Source): Literal[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: Literal[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) && CODE.test(node.text) && !ts.isImportDeclaration(node.parent)) {
      const call = node.parent;
      const givenToFailure =
        ts.isCallExpression(call) && call.arguments[0] === node && call.expression.getText(file) === "failure";
      const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
      found.push({ text: node.text, where: `${path}:${line}`, givenToFailure });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** The codes of the guide: the first cell of each table row, in backticks. */
function rowsOf(guide: string): string[] {
  return [...guide.matchAll(/^\|\s*`([^`]+)`\s*\|/gm)].map(([, code]) => code ?? "");
}

export function failureCodeProblems(sources: readonly Source[], guide: { path: string; text: string }): string[] {
  const literals = sources.flatMap(literalsOf);
  const raised = literals.filter(({ givenToFailure }) => givenToFailure);
  const rows = rowsOf(guide.text);
  const areaOf = (code: string): string => code.split(".")[0] ?? "";
  const areas = new Set([...raised.map(({ text }) => text), ...rows].map(areaOf));
  const codes = literals.filter(
    ({ text, givenToFailure }) => givenToFailure || (areas.has(areaOf(text)) && !FILE_NAME.test(text)),
  );

  const problems: string[] = [];
  const reported = new Set<string>();
  for (const { text, where } of codes) {
    if (rows.includes(text) || reported.has(text)) continue;
    reported.add(text);
    problems.push(`${where}: the code "${text}" has no row in ${guide.path}`);
  }
  const known = new Set(codes.map(({ text }) => text));
  for (const row of new Set(rows)) {
    if (!known.has(row)) problems.push(`${guide.path}: "${row}" has a row, but no source can raise it`);
    if (rows.filter((other) => other === row).length > 1) problems.push(`${guide.path}: "${row}" has two rows`);
  }
  return problems;
}
