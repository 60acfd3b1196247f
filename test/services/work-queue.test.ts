import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { jetstreamManager } from "@nats-io/jetstream";
import { Objm } from "@nats-io/obj";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { WorkBuild } from "../../src/adapters/nats/index.ts";
import { connectNats, type NatsLink, offerId, WorkQueue, WorkResults } from "../../src/adapters/nats/index.ts";
import { unwrap } from "../../src/base/index.ts";
import { cleanEnv, executable, runCli } from "../e2e/run-cli.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { type NatsServer, startNats } from "./nats-server.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const studies = fileURLToPath(new URL("./work-studies.mjs", import.meta.url));
const options = { timeout: 90_000 };

let server: NatsServer;
let link: NatsLink;
beforeAll(async () => {
  server = await startNats();
  link = unwrap(await connectNats({ servers: [server.url], name: "test" }));
});
afterAll(async () => {
  await link?.close();
  await server?.stop();
});

let cwd: string;
const started: Worker[] = [];
beforeEach(() => {
  cwd = temporaryFolder("work");
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((worker) => worker.end("SIGKILL")));
});

interface Worker {
  readonly child: ChildProcess;
  stdout: string;
  stderr: string;
  /** Once it has said this so often. */
  says(text: string, times?: number): Promise<void>;
  end(signal: NodeJS.Signals): Promise<number | null>;
}

let workers = 0;

function startWorker(args: readonly string[] = [], { env = {}, bin = executable } = {}): Worker {
  workers += 1;
  const folder = join(cwd, `worker-${workers}`);
  mkdirSync(folder);
  const line = [bin, "worker", "--server", server.url, "--jobs", "1", "--log-level", "info", ...args];
  const child = spawn(process.execPath, [...line, "--module", studies], { cwd: folder, env: cleanEnv(env) });
  const gone = new Promise<number | null>((resolve) => child.once("close", resolve));
  const worker: Worker = {
    child,
    stdout: "",
    stderr: "",
    async says(text, times = 1) {
      const count = () => (worker.stdout + worker.stderr).split(text).length - 1;
      for (let tries = 0; count() < times; tries++) {
        if (tries > 1_200 || child.exitCode !== null)
          throw new Error(`the worker did not say '${text}':\n${worker.stderr}`);
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    },
    end(signal) {
      child.kill(signal);
      return gone;
    },
  };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    worker.stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    worker.stderr += text;
  });
  started.push(worker);
  return worker;
}

/** Of the study's seeds, where the number of jobs does not matter. */
const FEW = ["--seeds", "3"];
/** One thread of one's own, and others' help. Outcomes of other tests are not taken: the queue keeps them for a day. */
const helped = (...more: readonly string[]) => ["--workers", "1", "--fresh", "--queue", server.url, ...more];

interface Asked {
  readonly folder: string;
  readonly args?: readonly string[];
  readonly study?: string;
  readonly onText?: (text: string) => void;
}

function ask({ folder, args = [], study = "walk", onText }: Asked) {
  const place = join(cwd, folder);
  mkdirSync(place);
  const line = ["reproduce", study, "--quick", "--log-level", "info", "--json", "--module", studies];
  let text = "";
  return runCli([...line, ...args], {
    cwd: place,
    whileRunning: (child) =>
      child.stderr?.on("data", (more: string) => {
        text += more;
        onText?.(text);
      }),
  });
}

/** Each kept result by its file, as the text that is on disk. */
function keptResults(folder: string, study = "walk"): Readonly<Record<string, string>> {
  const place = join(cwd, folder, ".coxswain", "studies", study);
  const files = readdirSync(place, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".json"));
  return Object.fromEntries(
    files.map((file) => {
      const { seconds, ...rest } = JSON.parse(readFileSync(join(place, file), "utf8"));
      expect(seconds).toBeGreaterThan(0);
      return [file, JSON.stringify(rest)];
    }),
  );
}

const linesWith = (stderr: string, text: string) =>
  stderr
    .split("\n")
    .filter((line) => line.includes(text))
    .map((line) => JSON.parse(line));

const counted = (stderr: string) => linesWith(stderr, "jobs by where they were computed").at(-1);

test(
  "results are a local run's, to the byte, though a worker is killed at a job and the server with its store",
  options,
  async () => {
    const [first, second] = [startWorker(), startWorker()];
    await Promise.all([first.says("waits for jobs"), second.says("waits for jobs")]);
    let isAfterOutage: (() => void) | undefined;
    const halfway = new Promise<void>((resolve) => {
      isAfterOutage = resolve;
    });
    const asked = ask({
      folder: "asked",
      args: helped(),
      onText: (text) => text.includes('"done":6') && isAfterOutage?.(),
    });
    await first.says("job taken", 2);
    await first.end("SIGKILL");
    await halfway;
    await server.kill();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await server.restart();
    const { code, stderr, stdout } = await asked;
    expect(code, stderr).toBe(0);

    const local = await ask({ folder: "local", args: [] });
    expect(local.code, local.stderr).toBe(0);
    expect(Object.keys(keptResults("asked"))).toHaveLength(16);
    expect(keptResults("asked")).toEqual(keptResults("local"));
    expect(JSON.parse(stdout).rows).toEqual(JSON.parse(local.stdout).rows);

    const by = new Set(linesWith(stderr, "job finished").map((line) => line.by));
    expect(by.size).toBe(3);
    const { here, elsewhere, refused } = counted(stderr);
    expect(here + elsewhere).toBe(16);
    expect(refused).toBe(0);
    // Some were too large for a message, which ends at 128 KiB.
    const sizes = linesWith(second.stderr, "job done").map(({ bytes }) => bytes);
    expect(Math.max(...sizes)).toBeGreaterThan(128 * 1_024);

    expect(await second.end("SIGTERM")).toBe(143);
    expect(second.stderr).toContain("worker stopped");
  },
);

test("a worker that is told to stop hands its job back, and it is computed at once", options, async () => {
  const worker = startWorker();
  await worker.says("waits for jobs");
  const asked = ask({ folder: "asked", args: helped(...FEW) });
  await worker.says("job taken");
  expect(await worker.end("SIGTERM")).toBe(143);
  expect(worker.stderr).toContain("job handed back");
  const other = startWorker();
  await other.says("job done");
  const { code, stderr } = await asked;
  expect(code, stderr).toBe(0);
  // The very job that was handed back, given out for the second time.
  expect(linesWith(other.stderr, "job taken")[0]).toMatchObject({ time: 2 });
});

test("a worker with other sources takes nothing and says why, and others do the work", options, async () => {
  const copy = join(cwd, "copy");
  for (const part of ["bin", "package.json", "dist/src"])
    cpSync(join(root, part), join(copy, part), { recursive: true, filter: (path) => !/\.(?:map|d\.ts)$/.test(path) });
  for (const part of ["kernels", "node_modules"]) symlinkSync(join(root, part), join(copy, part));
  appendFileSync(join(copy, "dist", "src", "studies", "claim.js"), "\n// Another rule.\n");
  const other = startWorker([], { bin: join(copy, "bin", "coxswain") });
  const same = startWorker();
  await Promise.all([other.says("waits for jobs"), same.says("waits for jobs")]);
  const asked = ask({ folder: "asked", args: helped("--seeds", "5") });
  await other.says("work.other-build");
  const { code, stderr } = await asked;
  expect(code, stderr).toBe(0);
  expect(counted(stderr).elsewhere).toBeGreaterThan(0);
  expect(other.stderr).not.toContain("job taken");
  expect(linesWith(other.stderr, "work.other-build")[0].message).toMatch(
    /: other sources \([0-9a-f]{16}, here [0-9a-f]{16}\);/,
  );
});

test("garbage in the queue and among outcomes is refused and counted, and all jobs are done", options, async () => {
  const worker = startWorker(["--json"]);
  await worker.says("studies");
  await worker.says("}");
  const build = (JSON.parse(worker.stdout) as { build: WorkBuild }).build;
  const queue = unwrap(await WorkQueue.open({ connection: link.connection, build }));
  const publish = (subject: string, content: string) => link.connection.publish(subject, content);
  const jobs = `coxswain.work.jobs.${queue.mark}`;
  const job = { kind: "unit", seed: 1, unit: "short", models: {} } as const;
  const offer = { schema: 1, build, study: "walk", quick: true, fingerprint: "0123456789abcdef", job } as const;
  publish(`${jobs}.x.1`, "\u0000not JSON");
  publish(`${jobs}.x.2`, "[".repeat(10_000));
  publish(`${jobs}.x.3`, JSON.stringify({ ...offer, module: "/etc/passwd" }));
  // Well made, under another's name.
  publish(`${jobs}.x.4`, JSON.stringify(offer));
  const strangers = [
    offer,
    { ...offer, study: "../../etc/passwd" },
    { ...offer, study: "walk", job: { kind: "model", name: "__proto__" } as const },
  ];
  for (const stranger of strangers) unwrap(await queue.offer(stranger));
  await worker.says("refused a message of the work queue", 7);
  expect(worker.stderr).toContain('"refused":7');

  const outcomes = new Set<string>();
  const manager = await jetstreamManager(link.connection);
  const asked = ask({ folder: "asked", args: helped(...FEW) });
  // Of jobs that wait: an outcome that is not valid JSON, and one that JSON reads as infinite.
  for (let tries = 0; outcomes.size < 2 && tries < 400; tries++) {
    const { state } = await manager.streams.info("coxswain-work", { subjects_filter: `${jobs}.>` });
    for (const subject of Object.keys(state.subjects ?? {}).slice(2, 4)) outcomes.add(subject);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  const [one = "", two = ""] = [...outcomes].map((subject) => subject.replace(".jobs.", ".outcomes."));
  publish(one, "no outcome");
  publish(two, '{"schema":1,"by":"x","seconds":1,"result":{"kind":"value","value":{"at":1e999}}}');
  const { code, stderr } = await asked;
  expect(code, stderr).toBe(0);
  expect(counted(stderr)).toMatchObject({ refused: 2 });
  const local = await ask({ folder: "local", args: ["--workers", "4", ...FEW] });
  expect(local.code, local.stderr).toBe(0);
  expect(keptResults("asked")).toEqual(keptResults("local"));
  expect(worker.child.exitCode).toBeNull();
});

test("a job that a worker fails at is computed by whoever asked", options, async () => {
  const worker = startWorker([], { env: { WALK_BREAKS: "1" } });
  await worker.says("waits for jobs");
  const { code, stderr } = await ask({ folder: "asked", study: "walk-broken", args: helped("--seeds", "2") });
  expect(code, stderr).toBe(0);
  const [told] = linesWith(stderr, "a worker failed at a job");
  expect(told).toMatchObject({ code: "study.crashed", job: expect.stringContaining("walk-broken, unit") });
  expect(told.message).toBe("Error: a shoe is lost");
  expect(counted(stderr)).toMatchObject({ here: 4, elsewhere: 0 });
});

test("a result that the server has no room for fails its job at the worker, and whoever asked computes it", async () => {
  const manager = await jetstreamManager(link.connection);
  await manager.streams.delete("OBJ_coxswain-work").catch(() => false);
  await new Objm(link.connection).create("coxswain-work", { max_bytes: 4_096 });
  try {
    const worker = startWorker();
    await worker.says("waits for jobs");
    const { code, stderr } = await ask({ folder: "asked", args: helped(...FEW) });
    expect(code, stderr).toBe(0);
    expect(Object.keys(keptResults("asked"))).toHaveLength(6);
    expect(worker.stderr).toContain("cannot store an outcome yet");
    expect(linesWith(worker.stderr, "job failed")[0]).toMatchObject({ code: "nats.jetstream" });
    expect(linesWith(stderr, "a worker failed at a job")[0]).toMatchObject({ code: "nats.jetstream" });
  } finally {
    await manager.streams.delete("OBJ_coxswain-work");
  }
}, 90_000);

test(
  "a job that nobody comes back from is given out a few times, then it fails the study by its name",
  options,
  async () => {
    const build = { version: "0", sources: "0".repeat(16), kernels: "wasm", engine: "x", arch: "x", modules: "" };
    const queue = unwrap(await WorkQueue.open({ connection: link.connection, build, ackWaitMs: 1_000, tries: 2 }));
    const job = { kind: "unit", seed: 1, unit: "short", models: {} } as const;
    const offer = { schema: 1, build, study: "walk", quick: true, fingerprint: "0123456789abcdef", job } as const;
    for (let times = 0; times < 3; times++) unwrap(await queue.offer(offer));
    const { signal } = new AbortController();
    for (const wornOut of [false, false, true]) {
      const taken = unwrap(await queue.take({ waitMs: 5_000, signal }));
      expect(taken).toMatchObject({ kind: "job", job: { isWornOut: wornOut, id: offerId(offer) } });
    }

    // A worker of the asker's build writes this when it is given such a job.
    const worker = startWorker(["--json"]);
    await worker.says("}");
    await worker.says("studies");
    const own = (JSON.parse(worker.stdout) as { build: WorkBuild }).build;
    await worker.end("SIGTERM");
    const results = unwrap(
      await WorkResults.open(
        link.connection,
        unwrap(await WorkQueue.open({ connection: link.connection, build: own })).mark,
      ),
    );
    const asked = ask({ folder: "asked", args: helped(...FEW) });
    const manager = await jetstreamManager(link.connection);
    let subject: string | undefined;
    while (subject === undefined) {
      const { state } = await manager.streams.info("coxswain-work", { subjects_filter: "coxswain.work.jobs.>" });
      subject = Object.keys(state.subjects ?? {}).find((one) => !one.includes(queue.mark));
    }
    const [fingerprint = "", id = ""] = subject.split(".").slice(-2);
    const result = { kind: "failure", code: "work.gave-up", message: "given out 5 times" } as const;
    unwrap(await results.publish(fingerprint, id, { schema: 1, by: "x", seconds: 0, result }));
    const { code, stderr } = await asked;
    expect(code).toBe(1);
    const [failure] = linesWith(stderr, '"retry"');
    expect(failure).toMatchObject({ code: "work.gave-up", retry: false });
    expect(failure.message).toMatch(/^walk, unit '(short|long)', seed \d: given out 5 times/);
  },
);
