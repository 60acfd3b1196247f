import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { node, spansOf } from "../../../test/fixtures/traces/span-tree.ts";
import { encodeOtlp } from "../../adapters/otlp/index.ts";
import { NameTable, spanColumnsOf } from "../../observe/telemetry/index.ts";
import { run } from "../program.ts";
import type { Shell } from "../shell.ts";
import type { CriticalPathsReport } from "./critical-paths.ts";

let cwd: string;
beforeEach(() => {
  cwd = temporaryFolder("trace");
});

async function trace(...args: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const shell: Shell = {
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    env: {},
    cwd,
    signal: new AbortController().signal,
    now: () => 0,
    exitWith() {},
  };
  const code = await run(shell, ["trace", "critical-path", ...args]);
  return { code, stdout: out.join(""), stderr: err.join("") };
}

const report = async (...args: readonly string[]): Promise<CriticalPathsReport> => {
  const { code, stdout, stderr } = await trace(...args, "--json");
  expect(stderr).toBe("");
  expect(code).toBe(0);
  return JSON.parse(stdout) as CriticalPathsReport;
};

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../../test/fixtures/traces/${name}`, import.meta.url));

const steps = ({ shown }: CriticalPathsReport): string[] =>
  shown.path.map(({ service, exclusiveUs }) => `${service} ${exclusiveUs / 1_000}`);

describe("the critical path of a file", () => {
  test("of Jaeger", async () => {
    const found = await report(fixture("jaeger.json"));
    expect(found).toMatchObject({ algorithm: "corrected", traces: 1, spans: 4, dropped: {}, orphans: 0 });
    expect(found.files[0]).toMatchObject({ format: "jaeger", spans: 4 });
    // Text from 10 to 40, post-storage from 40 to 75 of 80 ms; the home timeline is written in the background.
    expect(steps(found)).toEqual(["nginx 15", "text 30", "post-storage 35"]);
    expect(found.shown.background).toEqual(["home-timeline/write_home_timeline"]);
  });

  test("as the algorithm is printed, in its own order", async () => {
    const found = await report(fixture("jaeger.json"), "--printed");
    expect(found.algorithm).toBe("printed");
    expect(found.shown.path.map(({ service }) => service)).toEqual(["nginx", "post-storage", "text"]);
  });

  test("of Zipkin, with the halves of a shared span", async () => {
    const found = await report(fixture("zipkin.json"));
    expect(found.files[0]?.format).toBe("zipkin");
    expect(steps(found)).toEqual(["frontend 30", "frontend 4", "backend 6", "backend 20", "frontend 0"]);
  });

  test("of OTLP: protobuf, gzip, JSON lines, with lengths before each message", async () => {
    const one = encodeOtlp(spanColumnsOf(spansOf(node("a", [0, 3_000], [node("b", [1_000, 2_000])])), new NameTable()));
    const two = encodeOtlp(spanColumnsOf(spansOf(node("a", [0, 5_000]), { trace: 2 }), new NameTable()));
    const prefixed = [one, two].flatMap((bytes) => [0, 0, bytes.length >> 8, bytes.length & 255, ...bytes]);
    const line = (id: string, end: string) =>
      JSON.stringify({
        resourceSpans: [
          {
            scopeSpans: [
              {
                spans: [
                  {
                    traceId: id.repeat(32),
                    spanId: id.repeat(16),
                    name: "op",
                    startTimeUnixNano: "0",
                    endTimeUnixNano: end,
                  },
                ],
              },
            ],
          },
        ],
      });
    writeFileSync(join(cwd, "one.pb"), one);
    writeFileSync(join(cwd, "one.pb.gz"), gzipSync(one));
    writeFileSync(join(cwd, "two.pb"), Uint8Array.from(prefixed));
    writeFileSync(join(cwd, "lines.jsonl"), `${line("1", "1000")}\n\n${line("2", "9000000")}\n`);
    expect(steps(await report("one.pb"))).toEqual(["a 2", "b 1"]);
    expect(steps(await report("one.pb.gz"))).toEqual(["a 2", "b 1"]);
    expect(await report("two.pb")).toMatchObject({ traces: 2, shown: { durationUs: 5_000 } });
    expect(await report("lines.jsonl")).toMatchObject({ traces: 2, shown: { durationUs: 9_000 } });
  });

  test("several files are one, and spans of a trace may lie in any of them", async () => {
    const spans = spansOf(node("a", [0, 3_000], [node("b", [1_000, 2_000])]));
    spans.forEach((span, k) => {
      writeFileSync(join(cwd, `${k}.pb`), encodeOtlp(spanColumnsOf([span], new NameTable())));
    });
    const found = await report("1.pb", "0.pb");
    expect(found).toMatchObject({ traces: 1, orphans: 0 });
    expect(steps(found)).toEqual(["a 2", "b 1"]);
  });

  test("from an address", async () => {
    const server = createServer((request, response) => {
      response.statusCode = request.url === "/api/traces?service=nginx" ? 200 : 404;
      response.end(readFileSync(fixture("jaeger.json")));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    try {
      expect((await report(`http://127.0.0.1:${port}/api/traces?service=nginx`)).traces).toBe(1);
      const missing = await trace(`http://127.0.0.1:${port}/elsewhere`);
      expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining("it answers 404") });
    } finally {
      server.close();
    }
  });
});

describe("for people", () => {
  test("the paths of each request type are printed, then one request's timeline", async () => {
    const { code, stdout } = await trace(fixture("jaeger.json"));
    expect(code).toBe(0);
    expect(stdout).toContain("1 trace, 4 spans; critical paths by the corrected Algorithm 3.1");
    expect(stdout).toContain("nginx//compose: 1 request");
    expect(stdout).toMatch(
      /100 %\s+80\s+80\s+nginx\/\/compose 15 → text\/compose_text 30 → post-storage\/store_post 35/,
    );
    expect(stdout).toMatch(/text \(text-2\)\s+compose_text\s+10\s+30\s+30\s+█{9}\n/);
    expect(stdout).toContain("in the background: home-timeline/write_home_timeline");
  });

  test("what was not used is said with its reason", async () => {
    const bad = [
      { traceId: "1", id: "1", name: "root", timestamp: 10, duration: 100 },
      { traceId: "1", id: "0", name: "no id", timestamp: 10, duration: 100 },
      { traceId: "1", id: "3", parentId: "9", name: "orphan", timestamp: 20, duration: 10 },
      { traceId: "1", id: "4", name: "no time" },
    ];
    writeFileSync(join(cwd, "bad.json"), JSON.stringify(bad));
    const { stdout } = await trace("bad.json");
    expect(stdout).toContain("1 span without their parent hang below the root");
    expect(stdout).toContain("not used: 1 invalid-id, 1 invalid-field");
  });
});

describe("what cannot be read is told with what to do", () => {
  test.each([
    ["empty", "", "it is empty"],
    ["no JSON", "{nope", "trace.format"],
    ["other JSON", '{"a": 1}', "without resourceSpans, processes or Zipkin's ids"],
    ["other bytes", "\u0001\u0002\u0003", "trace.format"],
    ["a second line", '{"resourceSpans":[]}\n{nope', "line 2"],
    ["nothing in it", "[]", "no trace was found"],
  ])("%s", async (_what, content, said) => {
    writeFileSync(join(cwd, "file"), content);
    const { code, stdout, stderr } = await trace("file", "--json");
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(said);
  });

  test("a file of another format than was said, one that is not there, and a trace that is not in it", async () => {
    expect((await trace(fixture("jaeger.json"), "--format", "zipkin")).stderr).toContain("no list of spans");
    expect((await trace("nowhere.json")).stderr).toContain("does not exist");
    expect((await trace(fixture("jaeger.json"), "--trace", "abc")).stderr).toContain("there is no trace abc");
    expect((await trace(fixture("jaeger.json"), "--format", "xml")).code).toBe(2);
  });
});
