/**
 * A real OpenTelemetry Collector of its own for a test: built with Go from the collector's published modules
 * (otel-collector/), which the module proxy delivers, and started on a free loopback port. What was built once from the
 * same sources is kept in a cache folder: the first build computes for some two and a half minutes of one core.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const sources = fileURLToPath(new URL("otel-collector", import.meta.url));

export interface Collector {
  /** Where programs send their spans: OTLP over HTTP. */
  readonly traces: string;
  /** What it has logged so far. */
  said(): string;
  stop(): Promise<void>;
}

/** The `exporters` of a configuration as people write them, and the names of those that traces go to. */
export async function startCollector(exporters: string, names: readonly string[]): Promise<Collector> {
  const program = await builtCollector();
  const folder = await mkdtemp(join(tmpdir(), "coxswain-collector-"));
  const port = await freePort();
  // Two files, as a collector merges them: one as it was written for people, one with what they have already.
  const [given, own] = [join(folder, "exporters.yaml"), join(folder, "own.yaml")];
  await writeFile(given, exporters);
  await writeFile(
    own,
    `receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:${port}
service:
  telemetry:
    metrics:
      level: none
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [${names.join(", ")}]
`,
  );
  const child = spawn(program, ["--config", given, "--config", own], { stdio: ["ignore", "ignore", "pipe"] });
  let words = "";
  child.stderr.on("data", (data: Buffer) => {
    words = (words + data.toString()).slice(-8_000);
  });
  try {
    await ready(child, () => words);
  } catch (thrown) {
    await end(child, folder);
    throw thrown;
  }
  return { traces: `http://127.0.0.1:${port}/v1/traces`, said: () => words, stop: () => end(child, folder) };
}

async function ready(child: ChildProcess, words: () => string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (words().includes("Everything is ready")) return;
    if (child.exitCode !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`the collector did not start; its last words:\n${words()}`);
}

async function end(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const gone = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGTERM");
    await gone;
  }
  await rm(folder, { recursive: true, force: true });
}

/** Its path; built where it was not yet. */
export async function builtCollector(): Promise<string> {
  const hash = createHash("sha256");
  for (const name of ["go.mod", "go.sum", "main.go"]) hash.update(readFileSync(join(sources, name)));
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "coxswain", "otel-collector");
  const program = join(cache, hash.digest("hex").slice(0, 16));
  if (existsSync(program)) return program;
  await mkdir(cache, { recursive: true });
  const fresh = `${program}.${process.pid}`;
  const built = run("go", ["build", "-trimpath", "-ldflags=-s -w", "-o", fresh, "."], { cwd: sources });
  await built.catch((cause: NodeJS.ErrnoException & { stderr?: string }) => {
    const why =
      cause.code === "ENOENT"
        ? "Go 1.26 or newer is needed to build the OpenTelemetry Collector that this suite tests with: install it so that 'go' is in the PATH"
        : `the OpenTelemetry Collector could not be built with Go from test/services/otel-collector: ${cause.stderr?.trim() ?? cause.message}`;
    throw new Error(why, { cause });
  });
  await rename(fresh, program);
  return program;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}
