/**
 * `node dist/tools/affected-studies.js <git-ref>`: the studies that CI runs for a change, one id per line: one of each
 * system, and those whose sources differ from the ref's.
 * Owns: what a study's sources are. Not here: running studies (`coxswain reproduce`), which ref CI compares with (.ci/run).
 *
 * A study's sources are what it imports, followed through. Types are erased and do not count. An index that only
 * re-exports is looked through name by name, or every study would depend on every file; it does not count itself, so a
 * name that is pointed at another, unchanged file goes unnoticed.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";

/** They run whatever changed: the smallest real run of each system. */
export const onePerSystem = ["rl-cartpole", "world-cluster", "aware-bootstrap", "firm-mitigation"];

/** Bytes that every study computes with and none imports. */
const EVERYBODYS = "kernels/";

const REGISTRY = "src/studies/registry.ts";

type Names = readonly string[] | "all";

interface Import {
  readonly file: string;
  readonly names: Names;
}

interface Source {
  readonly imports: readonly Import[];
  /** Of a file that only re-exports: where each of its names comes from. */
  readonly names?: ReadonlyMap<string, { readonly file: string; readonly name: string }>;
}

/** The tree at `root`, an absolute path; files are named from there. */
export class SourceTree {
  readonly #root: string;
  readonly #read = new Map<string, Source>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Every registered study's id, which is its file's name. */
  studies(): readonly string[] {
    return this.#source(REGISTRY).imports.map(({ file }) => file.slice("src/studies/".length, -".ts".length));
  }

  /** All files that what this one exports is computed with, itself included. */
  sourcesOf(file: string): ReadonlySet<string> {
    const found = new Set<string>();
    const visited = new Set<string>();
    const visit = ({ file: path, names }: Import) => {
      const source = this.#source(path);
      if (source.names !== undefined) {
        const wanted = names === "all" ? [...source.names.keys()] : names;
        for (const name of wanted) {
          const from = source.names.get(name);
          if (from === undefined || visited.has(`${path} ${name}`)) continue;
          visited.add(`${path} ${name}`);
          visit({ file: from.file, names: [from.name] });
        }
        return;
      }
      if (found.has(path)) return;
      found.add(path);
      for (const next of source.imports) visit(next);
    };
    visit({ file, names: "all" });
    return found;
  }

  #source(file: string): Source {
    const known = this.#read.get(file);
    if (known !== undefined) return known;
    const source = file.endsWith(".ts") ? this.#parse(file) : { imports: [] };
    this.#read.set(file, source);
    return source;
  }

  #parse(file: string): Source {
    const text = readFileSync(join(this.#root, file), "utf8");
    const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
    const resolve = (specifier: string): string => normalize(join(dirname(file), specifier));
    const imports: Import[] = [];
    const names = new Map<string, { file: string; name: string }>();
    let isIndex = tree.statements.length > 0;
    for (const statement of tree.statements) {
      const specifier = relativeSpecifier(statement);
      const isReExport = ts.isExportDeclaration(statement) && specifier !== undefined;
      if (!isReExport) isIndex = false;
      if (specifier === undefined) imports.push(...this.#filesNamedIn(statement, resolve));
      else if (ts.isImportDeclaration(statement)) {
        const wanted = importedNames(statement);
        if (wanted === "all" || wanted.length > 0) imports.push({ file: resolve(specifier), names: wanted });
      } else if (isReExport && !statement.isTypeOnly) {
        const { exportClause } = statement;
        if (exportClause === undefined || !ts.isNamedExports(exportClause)) {
          isIndex = false;
          imports.push({ file: resolve(specifier), names: "all" });
          continue;
        }
        for (const { isTypeOnly, propertyName, name } of exportClause.elements) {
          if (isTypeOnly) continue;
          names.set(name.text, { file: resolve(specifier), name: (propertyName ?? name).text });
        }
      }
    }
    if (isIndex) return { imports: [], names };
    const passedOn = [...names.values()].map((one): Import => ({ file: one.file, names: [one.name] }));
    return { imports: [...imports, ...passedOn] };
  }

  /** Modules that are named in code, such as a worker's entry or what `import()` loads. */
  #filesNamedIn(statement: ts.Statement, resolve: (specifier: string) => string): readonly Import[] {
    const found: Import[] = [];
    const look = (node: ts.Node) => {
      if (ts.isStringLiteral(node) && /^\.{1,2}\/.*\.ts$/.test(node.text)) {
        const file = resolve(node.text);
        if (existsSync(join(this.#root, file))) found.push({ file, names: "all" });
      }
      ts.forEachChild(node, look);
    };
    look(statement);
    return found;
  }
}

function relativeSpecifier(statement: ts.Statement): string | undefined {
  if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return undefined;
  const { moduleSpecifier } = statement;
  if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return undefined;
  return moduleSpecifier.text.startsWith(".") ? moduleSpecifier.text : undefined;
}

/** None where only types are imported. */
function importedNames({ importClause }: ts.ImportDeclaration): Names {
  if (importClause === undefined) return "all";
  if (importClause.phaseModifier === ts.SyntaxKind.TypeKeyword) return [];
  const { namedBindings, name } = importClause;
  if (name !== undefined || namedBindings === undefined || !ts.isNamedImports(namedBindings)) return "all";
  return namedBindings.elements
    .filter(({ isTypeOnly }) => !isTypeOnly)
    .map(({ propertyName, name: local }) => (propertyName ?? local).text);
}

/** The studies to run when these files changed, in the registry's order. */
export function affectedStudies(tree: SourceTree, changed: readonly string[]): readonly string[] {
  const everybodys = changed.some((file) => file.startsWith(EVERYBODYS));
  return tree.studies().filter((id) => {
    if (everybodys || onePerSystem.includes(id)) return true;
    const sources = tree.sourcesOf(`src/studies/${id}.ts`);
    return changed.some((file) => sources.has(file));
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [ref, ...more] = process.argv.slice(2);
  if (ref === undefined || ref.startsWith("-") || more.length > 0) {
    console.error("usage: node dist/tools/affected-studies.js <git-ref>");
    process.exit(2);
  }
  // Against the working tree, so that it also tells what an uncommitted change touches.
  const git = spawnSync("git", ["diff", "--name-only", "--no-renames", ref, "--"], { encoding: "utf8" });
  if (git.status !== 0) {
    console.error(`cannot compare with '${ref}': ${git.stderr.trim()}`);
    process.exit(1);
  }
  for (const id of affectedStudies(new SourceTree(process.cwd()), git.stdout.split("\n").filter(Boolean)))
    console.log(id);
}
