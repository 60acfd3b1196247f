/**
 * `npm run package:check`: what would be published is complete, contains nothing else, and works.
 * The package is really packed and unpacked elsewhere; its command and every one of its entry points are then run from
 * there. Only its dependencies are borrowed from this checkout.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

interface Manifest {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly bin: Readonly<Record<string, string>>;
}

const REQUIRED = [
  "LICENSE",
  "NOTICE",
  "README.md",
  "package.json",
  "bin/coxswain",
  "kernels/kernels.wasm",
  "models/pods/model.ckpt",
  "models/pods/report.json",
  "dashboard/dist/index.html",
];
const REFUSED: readonly (readonly [RegExp, string])[] = [
  [/\.test\.|conformance/, "a test"],
  [/(?<!\.d)\.tsx?$/, "a TypeScript source: the compiled file is what runs"],
  [/\.map$/, "a map to sources that are not in the package"],
  [/tsbuildinfo/, "the compiler's notes"],
  [/\.node$/, "a native binary of this machine"],
  [/^(?:(?:docs|test|tools|examples|\.ci)\/|dashboard\/(?!dist\/))/, "not for users of the package"],
];
/** Models are 1.2 of these MiB, the studies' results that the dashboard shows 0.7. */
const LARGEST_KIB = 8704;

const root = process.cwd();
const scratch = mkdtempSync(join(tmpdir(), "coxswain-package-"));
const problems: string[] = [];
try {
  await check();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

async function check(): Promise<void> {
  const { messages, pkg } = await publint({ pkgDir: root, strict: true, pack: "npm" });
  for (const message of messages) problems.push(`publint: ${formatMessage(message, pkg) ?? message.code}`);

  const packed = execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", scratch], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 26,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const archive = firstArchive(JSON.parse(packed));
  const paths = archive.files.map(({ path }) => path);
  for (const path of REQUIRED) if (!paths.includes(path)) problems.push(`${path}: is missing from the package`);
  for (const path of paths)
    for (const [pattern, what] of REFUSED) if (pattern.test(path)) problems.push(`${path}: ${what}, in the package`);
  const kib = Math.round(archive.unpackedSize / 1024);
  if (kib > LARGEST_KIB) problems.push(`the package unpacks to ${kib} KiB; ${LARGEST_KIB} are allowed`);

  execFileSync("tar", ["-xzf", join(scratch, archive.filename), "-C", scratch]);
  const unpacked = join(scratch, "package");
  symlinkSync(join(root, "node_modules"), join(scratch, "node_modules"));
  const manifest = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8")) as Manifest;
  const entries = Object.entries(manifest.exports).filter(([name]) => !name.endsWith(".json"));
  for (const [name, target] of entries)
    for (const file of typeof target === "string" ? [target] : Object.values(target))
      if (!existsSync(join(unpacked, file))) problems.push(`${name}: ${file} is not in the package`);

  const names = entries.map(([name]) => name.replace(".", "coxswain"));
  writeFileSync(join(unpacked, "probe.mjs"), names.map((name) => `await import(${JSON.stringify(name)});`).join("\n"));
  tryOut("importing every entry point", [join(unpacked, "probe.mjs")]);
  checkTypes(unpacked, names);
  for (const file of Object.values(manifest.bin)) tryOut(`${file} --version`, [join(unpacked, file), "--version"]);
  console.log(
    `package: ${paths.length} files, ${kib} KiB unpacked, ${entries.length} entry points, ${problems.length} problems`,
  );
}

/** A user's program with an ordinary configuration must compile against the published types, their insides included. */
function checkTypes(unpacked: string, names: readonly string[]): void {
  const lines = names.map(
    (name, index) => `import * as entry${index} from ${JSON.stringify(name)};\nexport { entry${index} };`,
  );
  writeFileSync(join(unpacked, "user.ts"), `${lines.join("\n")}\n`);
  const compilerOptions = {
    module: "nodenext",
    target: "es2023",
    lib: ["es2023"],
    strict: true,
    noEmit: true,
    types: ["node"],
  };
  writeFileSync(join(unpacked, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["user.ts"] }));
  tryOut("compiling a user's program", [join(root, "node_modules/typescript/bin/tsc"), "-p", unpacked]);
}

interface Archive {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

/** npm lists one package as an array, and as an object by name where it packs workspaces. */
function firstArchive(report: unknown): Archive {
  const [archive] = Array.isArray(report) ? report : Object.values(report as Record<string, unknown>);
  return archive as Archive;
}

function tryOut(what: string, args: readonly string[]): void {
  const run = spawnSync(process.execPath, args, { cwd: scratch, encoding: "utf8", timeout: 60_000 });
  if (run.status !== 0)
    problems.push(
      `${what} from the unpacked package ended with ${run.status ?? run.signal}: ${(run.stderr || run.stdout).slice(0, 2000)}`,
    );
}
