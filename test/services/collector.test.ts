/**
 * The promise of the README: its lines of YAML make a collector deliver spans into a running `coxswain up`. The lines are
 * read from the pages, and only their ports are changed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ServicesDocument, TraceDocument } from "../../src/contract/index.ts";
import { cleanEnv, executable } from "../e2e/run-cli.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { exportCartTrace } from "../fixtures/traces/cart-trace.ts";
import { builtCollector, startCollector } from "./collector-server.ts";

const ARGS = ["--data", ":memory:", "--workloads", "1", "--speed", "1", "--application", "none"];
const folder = temporaryFolder("collected");
let child: ChildProcess;
let url = "";
let listeners: ServicesDocument["listeners"];

beforeAll(async () => {
  await builtCollector();
  const ports = ["--port", "0", "--otlp-http-port", "0", "--otlp-grpc-port", "0"];
  const started = spawn(process.execPath, [executable, "up", ...ports, ...ARGS], {
    cwd: folder,
    env: cleanEnv({}),
    stdio: ["ignore", "pipe", "ignore"],
  });
  child = started;
  url = await new Promise<string>((resolve, reject) => {
    started.stdout.setEncoding("utf8").on("data", (text: string) => resolve(text.trim()));
    started.once("close", (code) => reject(new Error(`up ended with ${code}: build it first, with npm run build`)));
  });
  ({ listeners } = (await (await fetch(`${url}/v1/services`)).json()) as ServicesDocument);
});
afterAll(() => {
  child?.kill("SIGKILL");
});

/** The block of YAML in a page that defines this exporter. */
function linesFor(exporter: string, page: string): string {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), "utf8");
  const blocks = [...text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, block]) => block ?? "");
  const [found] = blocks.filter((block) => block.includes(`${exporter}:`));
  if (found === undefined) throw new Error(`${page} has no lines for ${exporter}`);
  return found;
}

test.each([
  { page: "README.md", exporter: "otlphttp/coxswain", port: "4318", listener: () => listeners.http },
  { page: "docs/guide/tracing.md", exporter: "otlphttp/coxswain", port: "4318", listener: () => listeners.http },
  { page: "docs/guide/tracing.md", exporter: "otlp/coxswain", port: "4317", listener: () => listeners.grpc },
])(
  "a real collector with the lines of $page for $exporter delivers a trace",
  async ({ page, exporter, port, listener }) => {
    const lines = linesFor(exporter, page);
    expect(lines.split(`:${port}\n`)).toHaveLength(2);
    const open = new URL(String(listener())).port;
    const collector = await startCollector(lines.replace(`:${port}\n`, `:${open}\n`), [exporter]);
    try {
      const id = await exportCartTrace(collector.traces, Date.now() - 1_000);
      const read = async () => {
        const answer = await fetch(`${url}/v1/traces/${id}`);
        return answer.status === 200 ? ((await answer.json()) as TraceDocument) : null;
      };
      await expect.poll(read, { timeout: 50_000, interval: 250, message: collector.said() }).not.toBeNull();
      const found = await read();
      expect(found).toMatchObject({ service: "shop", operation: "GET /cart", durationMs: 100, spans: 2 });
      expect(found?.tree.map(({ instance, criticalMs }) => [instance, criticalMs])).toEqual([
        ["shop-0", 30],
        ["database-0", 70],
      ]);
    } finally {
      await collector.stop();
    }
  },
);
