import { dirname, join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { packagePage, publicEntry, readPublicEntries } from "./public-entries.ts";

const root = process.cwd();

test("an entry's names are read, values and types apart", () => {
  const text =
    '/** `coxswain/x`: a try. */\n\nexport type { B } from "../b.ts";\nexport {\n  c,\n  a as aa,\n} from "../c.ts";\n';
  const { entry, problems } = publicEntry("x", text);
  expect(problems).toEqual([]);
  expect(entry).toEqual({ name: "x", about: "a try.", values: ["aa", "c"], types: ["B"] });
  expect(packagePage([entry])).toContain("All 3 names");
  expect(packagePage([entry])).toContain("## coxswain/x\n\nA try.\n\n- Values: `aa`, `c`\n- Types: `B`\n");
});

test.each([
  ['export * from "../b.ts";', "has more than names that are exported from elsewhere: export *"],
  ["export const own = 1;", "has more than names that are exported from elsewhere: export const own"],
])("%s is refused in an entry", (line, problem) => {
  const { problems } = publicEntry("x", `/** \`coxswain/x\`: a try. */\n${line}\n`);
  expect(problems).toEqual([expect.stringContaining(problem)]);
});

test("an entry without its sentence is refused", () => {
  expect(publicEntry("x", 'export { a } from "../b.ts";\n').problems).toEqual([
    expect.stringContaining("begins without"),
  ]);
});

test("this package's entries are in order", () => {
  expect(readPublicEntries(root).problems).toEqual([]);
});

/** What users write themselves, by the entry that has it. */
const CONTRACTS = {
  control: ["Task", "TaskView", "Fallback", "Actuator", "NodeSource", "Constraint"],
  env: ["Core", "Env", "EnvEntry"],
  plane: ["World", "WorldEntry", "TaskTargetOptions"],
  rl: ["Learner", "LearnerEntry"],
  telemetry: ["TelemetrySource"],
} as const;
/** What users only hand on, so that they need not name what it is made of. */
const HANDED_ON = ["Kernels", "SharedModel", "Slo", "Target", "Rng", "LifecycleProfile", "AgentSettings"];
/** Parts that are written in place or reached through their whole, such as `Knob["step"]`, and what brands are made of. */
const PARTS = new Set([
  ...["Followers", "StepLimit", "Cooldown", "GuardState", "GuardChange", "AgentSettings"],
  ...["DiscreteSpace", "MultiDiscreteSpace", "MultiBinarySpace", "Numbers", "Id", "Quantity"],
]);

test("who writes a task, a learner, a fallback, a world or an environment can name every type of its contract", () => {
  const { entries } = readPublicEntries(root);
  const known = new Set(entries.flatMap(({ types, values }) => [...types, ...values]));
  const files = Object.keys(CONTRACTS).map((name) => `src/public/${name}.ts`);
  // Names are all that is asked for, so neither the language's own types nor libraries are read.
  const options: ts.CompilerOptions = { module: ts.ModuleKind.NodeNext, noLib: true, types: [] };
  const host = ts.createCompilerHost(options);
  host.resolveModuleNameLiterals = (literals, from) =>
    literals.map(({ text }) => ({
      resolvedModule: text.startsWith(".")
        ? { resolvedFileName: join(dirname(from), text), extension: ts.Extension.Ts }
        : undefined,
    }));
  const program = ts.createProgram(files, options, host);
  const checker = program.getTypeChecker();
  const seen = new Set<ts.Symbol>();
  const missing = new Set<string>();

  const visit = (found: ts.Symbol | undefined, from: string): void => {
    if (found === undefined) return;
    const symbol = found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found;
    const declaration = symbol.declarations?.[0];
    if (seen.has(symbol) || declaration === undefined || ts.isTypeParameterDeclaration(declaration)) return;
    if (!declaration.getSourceFile().fileName.includes("src/")) return;
    seen.add(symbol);
    if (!known.has(symbol.name) && !PARTS.has(symbol.name)) missing.add(`${symbol.name} of ${from}`);
    if (HANDED_ON.includes(symbol.name)) return;
    for (const each of symbol.declarations ?? []) walk(each, symbol.name);
  };
  const walk = (node: ts.Node, from: string): void => {
    // Of a class only what its users see.
    if (ts.isClassElement(node) && node.name !== undefined && ts.isPrivateIdentifier(node.name)) return;
    if (ts.isBlock(node)) return;
    if (ts.isTypeReferenceNode(node)) visit(checker.getSymbolAtLocation(node.typeName), from);
    if (ts.isExpressionWithTypeArguments(node)) visit(checker.getSymbolAtLocation(node.expression), from);
    ts.forEachChild(node, (child) => walk(child, from));
  };
  for (const [entry, contracts] of Object.entries(CONTRACTS)) {
    const source = program.getSourceFile(`src/public/${entry}.ts`);
    const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(source as ts.SourceFile) as ts.Symbol);
    for (const contract of contracts) {
      const found = exported.find(({ name }) => name === contract);
      expect(found, `coxswain/${entry} has ${contract}`).toBeDefined();
      visit(found, "");
    }
  }
  expect(seen.size).toBeGreaterThan(60);
  expect([...missing]).toEqual([]);
}, 60_000);
