/**
 * `npm run lock:complete`, after every `npm install`: names in the lock file the optional packages of other platforms
 * that the registry at hand did not offer. npm leaves such a package out when it writes the lock file, and then refuses
 * `npm ci` because it is not there. A mirror that lags behind is enough for that.
 * An entry added here has a version and a platform, and no hash: this machine never saw the package.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

export interface LockEntry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface Lock {
  packages: Record<string, LockEntry>;
}

const SYSTEMS = ["android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "aix", "win32"];
const PROCESSORS = ["arm64", "arm", "x64", "ia32", "ppc64", "riscv64", "s390x", "loong64", "mips64el", "wasm32"];

/** What a platform package's name says about where it runs: `@biomejs/cli-linux-x64-musl`. */
export function platformOf(name: string): Pick<LockEntry, "os" | "cpu" | "libc"> {
  const words = name.split(/[/@-]/);
  const os = SYSTEMS.find((word) => words.includes(word));
  const cpu = PROCESSORS.find((word) => words.includes(word));
  const libc = words.some((word) => word.startsWith("musl")) ? "musl" : os === "linux" ? "glibc" : undefined;
  return {
    ...(os !== undefined && { os: [os] }),
    ...(cpu !== undefined && { cpu: [cpu] }),
    ...(libc !== undefined && { libc: [libc] }),
  };
}

/** Optional packages that some entry asks for and no entry describes. */
export function missingOptionals(lock: Lock): { name: string; version: string; dev: boolean }[] {
  const missing: { name: string; version: string; dev: boolean }[] = [];
  for (const [path, entry] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      // npm looks beside the asking package first, then upwards; the places above are enough for what npm hoists.
      const places = [`${path}/node_modules/${name}`, `node_modules/${name}`];
      if (places.some((place) => lock.packages[place] !== undefined)) continue;
      if (!missing.some((other) => other.name === name)) missing.push({ name, version, dev: entry.dev === true });
    }
  }
  return missing;
}

/** The lock with those entries added; packages stay in npm's order. */
export function completed(lock: Lock): Lock {
  const packages = { ...lock.packages };
  for (const { name, version, dev } of missingOptionals(lock)) {
    if (!/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
      throw new Error(`${name}: asked for as "${version}", which is no exact version; add it to the lock file by hand`);
    const { os, cpu, libc } = platformOf(name);
    if (os === undefined && cpu === undefined) throw new Error(`${name}: its name says no platform`);
    packages[`node_modules/${name}`] = {
      version,
      ...(cpu !== undefined && { cpu }),
      ...(dev && { dev }),
      ...(libc !== undefined && { libc }),
      optional: true,
      ...(os !== undefined && { os }),
    };
  }
  const order = Object.keys(packages).sort((a, b) => a.localeCompare(b, "en"));
  return { ...lock, packages: Object.fromEntries(order.map((path) => [path, packages[path] ?? {}])) };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const lock = JSON.parse(readFileSync("package-lock.json", "utf8")) as Lock;
  const missing = missingOptionals(lock);
  if (missing.length > 0) writeFileSync("package-lock.json", `${JSON.stringify(completed(lock), null, 2)}\n`);
  console.log(`lock file: ${missing.length} optional packages of other platforms added`);
}
