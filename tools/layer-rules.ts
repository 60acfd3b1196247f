/**
 * From the import table (layers.json) to dependency-cruiser's rules.
 * Owns: what the table means. Not here: walking the tree and reporting (layers.ts).
 */
import type { IForbiddenRuleType } from "dependency-cruiser";

export interface LayerTable {
  readonly everyone: readonly string[];
  readonly modules: Readonly<Record<string, readonly string[]>>;
  readonly mayDoIo: readonly string[];
  /** By module: libraries without I/O that it may import although it is pure. */
  readonly pureLibraries: Readonly<Record<string, readonly string[]>>;
  readonly folderNamesRefused: readonly string[];
  readonly dashboardMayImport: readonly string[];
}

/** Tests and the suites they share stand outside the table: they bring implementations and ports together. */
const TEST_FILE = "(\\.test|conformance)\\.tsx?$";
const CONFORMANCE_FILE = "conformance\\.ts$";

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** `learn/*` names every module below a folder, `act` itself and its files, but not the modules inside it. */
function folderPattern(name: string, table: LayerTable): string {
  if (name.endsWith("/*")) return `^src/${literally(name.slice(0, -2))}/[^/]+/`;
  const inner = Object.keys(table.modules)
    .filter((other) => other.startsWith(`${name}/`))
    .map((other) => literally(other.slice(name.length + 1)).replace(/\/\\\*$/, "/[^/]+"));
  return inner.length === 0 ? `^src/${literally(name)}/` : `^src/${literally(name)}/(?!(?:${inner.join("|")})/)`;
}

/** The module a file of src/ belongs to, by the longest name of the table that fits; undefined when none does. */
export function moduleOf(file: string, table: LayerTable): string | undefined {
  const fits = Object.keys(table.modules).filter((name) => new RegExp(folderPattern(name, table)).test(file));
  const name = fits.sort((a, b) => b.length - a.length)[0];
  if (name === undefined || !name.endsWith("/*")) return name;
  return file
    .split("/")
    .slice(1, name.split("/").length + 1)
    .join("/");
}

export function layerRules(table: LayerTable): IForbiddenRuleType[] {
  const patterns = (names: readonly string[]): string[] => names.map((name) => folderPattern(name, table));
  const io = patterns(table.mayDoIo);
  const directions = Object.entries(table.modules).map(
    ([name, allowed]): IForbiddenRuleType => ({
      name: `imports-of-${name}`,
      severity: "error",
      comment: `src/${name} may import only: ${[...table.everyone, ...allowed].join(", ")}`,
      from: { path: folderPattern(name, table), pathNot: TEST_FILE },
      to: { path: "^src/", pathNot: [folderPattern(name, table), ...patterns([...table.everyone, ...allowed])] },
    }),
  );
  const surfaces = Object.keys(table.modules).map((name): IForbiddenRuleType => {
    // With `adapters/*`, "the same module" is the same folder below adapters: $1 is what `from` captured.
    const starred = name.endsWith("/*");
    const folder = starred ? `^src/${literally(name.slice(0, -2))}/([^/]+)/` : folderPattern(name, table);
    return {
      name: `past-the-index-from-${name}`,
      severity: "error",
      comment: "another module is imported through its index.ts, never past it",
      from: { path: folder },
      to: {
        path: "^src/",
        pathNot: [
          starred ? `^src/${literally(name.slice(0, -2))}/$1/` : folder,
          ...Object.keys(table.modules).map((other) =>
            other.endsWith("/*")
              ? `^src/${literally(other.slice(0, -2))}/[^/]+/index\\.ts$`
              : `^src/${literally(other)}/index\\.ts$`,
          ),
          CONFORMANCE_FILE,
        ],
      },
    };
  });
  return [
    ...directions,
    ...surfaces,
    {
      name: "conformance-only-in-tests",
      severity: "error",
      comment: "a conformance suite needs the test runner: only tests may import it",
      from: { path: "^src/", pathNot: TEST_FILE },
      to: { path: CONFORMANCE_FILE },
    },
    {
      name: "no-cycles",
      severity: "error",
      comment: "a cycle means that two files are one, or that a third is missing",
      from: {},
      to: { circular: true },
    },
    {
      name: "unresolvable",
      severity: "error",
      comment: "the import leads nowhere",
      from: {},
      to: { couldNotResolve: true, pathNot: "^coxswain/" },
    },
    {
      name: "io-outside-the-shell",
      severity: "error",
      comment: `only ${table.mayDoIo.join(", ")} may import node:*`,
      from: { path: "^src/", pathNot: [...io, TEST_FILE] },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "library-outside-the-shell",
      severity: "error",
      comment: "pure code may import no library but those that the table's pureLibraries gives to its module",
      from: { path: "^src/", pathNot: [...io, ...patterns(Object.keys(table.pureLibraries)), TEST_FILE] },
      to: { path: "node_modules/" },
    },
    ...Object.entries(table.pureLibraries).map(
      ([name, libraries]): IForbiddenRuleType => ({
        name: `libraries-of-${name}`,
        severity: "error",
        comment: `src/${name} may import only these libraries: ${libraries.join(", ")}`,
        from: { path: folderPattern(name, table), pathNot: TEST_FILE },
        to: { path: "node_modules/", pathNot: libraries.map((library) => `node_modules/${literally(library)}/`) },
      }),
    ),
    {
      name: "development-dependency-shipped",
      severity: "error",
      comment: "shipped code may not import a development dependency",
      from: { path: "^src/", pathNot: TEST_FILE },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"] },
    },
    {
      name: "dashboard-knows-the-contract-only",
      severity: "error",
      comment: `the dashboard may import only: ${table.dashboardMayImport.join(", ")}`,
      from: { path: "^dashboard/" },
      to: {
        path: "^(?:src|bench|tools|test|examples)/",
        // Its tests share documents with those of the server.
        pathNot: [...table.dashboardMayImport.map((file) => `^${literally(file)}$`), "^test/fixtures/documents/"],
      },
    },
    {
      name: "examples-use-the-package",
      severity: "error",
      comment: "an example imports `coxswain/…`, as its readers will",
      from: { path: "^examples/" },
      to: { path: "^(?:src|bench|tools|test)/", dependencyTypesNot: ["aliased", "aliased-subpath-import"] },
    },
    {
      name: "src-imports-outward",
      severity: "error",
      comment: "src/ imports nothing from the folders around it",
      from: { path: "^src/", pathNot: TEST_FILE },
      to: { path: "^(?:bench|tools|test|examples|dashboard)/" },
    },
  ];
}
