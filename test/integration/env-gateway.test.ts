/**
 * Agent and world as separate processes: either is killed without warning and comes back, and the environment checker
 * finds nothing through the wire.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";
import { afterEach, expect, test } from "vitest";
import { connectEnv, recordRemote } from "../../src/adapters/rpc/index.ts";
import { memoryStore, openDuckdbStore } from "../../src/adapters/store/index.ts";
import type { AgentId, EpisodeId, Failure } from "../../src/base/index.ts";
import { CodedError } from "../../src/base/index.ts";
import type { Env, SpaceJson } from "../../src/learn/env/index.ts";
import { checkEnv, makeEnv, spaceFromJson } from "../../src/learn/env/index.ts";
import { transitionOf } from "../../src/learn/trajectory/index.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/rpc/${name}`, import.meta.url));
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** A process whose printed lines can be waited for. */
function start(script: string, ...args: string[]) {
  return started(script, [fixture(script), ...args]);
}

function started(name: string, args: readonly string[]) {
  const child: ChildProcess = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
  });
  cleanups.push(() => child.kill("SIGKILL"));
  if (child.stdout === null) throw new Error("its output is a pipe");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    line: async (): Promise<string> => {
      const next = await lines.next();
      if (next.done === true) throw new Error(`${name} ended before it said what was waited for`);
      return next.value;
    },
    kill: async (): Promise<void> => {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}

async function startHost(port = 0) {
  const host = start("host.mjs", String(port));
  return { ...host, url: await host.line() };
}

/** The command that users start. */
async function startCommand() {
  const host = started("env serve", [
    fileURLToPath(new URL("../../bin/coxswain", import.meta.url)),
    "env",
    "serve",
    "--port",
    "0",
  ]);
  return { ...host, url: await host.line() };
}

test("a player that is killed goes on in the same episode, and every step is stored once", async () => {
  const folder = temporaryFolder("gateway");
  const [storeFile, tokenFile] = [join(folder, "store.duckdb"), join(folder, "token")];
  const { url } = await startHost();
  const begins: string[][] = [];
  // Killed twice at a step of its own choosing; the third one plays to the end.
  for (const lastStep of [7, 20, 39]) {
    const player = start("player.mjs", url, storeFile, tokenFile);
    begins.push((await player.line()).split(" "));
    for (let line = await player.line(); !line.startsWith(`step ${lastStep} `); ) line = await player.line();
    if (lastStep < 39) await player.kill();
    else await expect(player.line()).rejects.toThrow("ended");
  }
  const [session = ""] = begins.map(([, id]) => id);
  expect(begins.map(([, id]) => id)).toEqual([session, session, session]);
  expect(Number(begins[1]?.[2])).toBeGreaterThanOrEqual(7);
  expect(Number(begins[2]?.[2])).toBeGreaterThanOrEqual(20);

  const home = makeEnv("Pendulum-v1", { maxSteps: 40 });
  let { obs } = home.reset({ seed: 21 });
  const expected = Array.from({ length: 40 }, (_, step) => {
    const executed = Float32Array.of(Math.sin(step));
    const before = obs;
    const moved = home.step(executed);
    obs = moved.obs;
    return { step, obs: before, executed, reward: moved.reward, end: moved.end };
  });
  const store = await openDuckdbStore({ path: storeFile });
  cleanups.push(() => store.close());
  const records = await store.episode(`${session}.1` as EpisodeId);
  expect(records).toHaveLength(40);
  expect(records).toMatchObject(expected);
  expect(records.filter((record, i) => transitionOf(record, records[i + 1]) === undefined)).toEqual([]);
  expect(await store.counts()).toEqual({ episodes: 1, records: 40, pending: 0 });
});

test("a host that is killed ends the episode by name, and its successor is played on", async () => {
  const store = memoryStore();
  const host = await startHost();
  const connected = await connectEnv<Float32Array, Float32Array>({ url: host.url, id: "ShortPendulum-v0" });
  cleanups.push(() => connected.detach());
  const env = await recordRemote(connected, { store, agent: "player" as AgentId });
  await env.reset({ seed: 5 });
  for (let t = 0; t < 10; t++) await env.step(Float32Array.of(1));
  const { session } = env.moment;
  await host.kill();
  const [step] = await Promise.all([env.step(Float32Array.of(1)), startHost(Number(new URL(host.url).port))]);
  expect([step.end, env.interruption?.code]).toEqual(["truncated", "env.session-lost"]);
  const records = await store.episode(`${session}.1` as EpisodeId);
  expect(records.map(({ end }) => end)).toEqual([...Array.from({ length: 9 }, () => "no"), "truncated"]);
  expect(records.at(-1)?.finalObs).toEqual(step.obs);

  const home = makeEnv("Pendulum-v1", { maxSteps: 40 });
  expect(await env.reset({ seed: 6 })).toEqual(home.reset({ seed: 6 }));
  expect(await env.step(Float32Array.of(-1))).toEqual(home.step(Float32Array.of(-1)));
});

type AnyEnv = Env<unknown, unknown>;
type Described = Pick<AnyEnv, "spec"> & { which: number; observationSpace: SpaceJson; actionSpace: SpaceJson };
type Answer = { ok: true; value: unknown } | { ok: false; failure: Failure };

/** The checker wants worlds that answer at once, so a thread plays and the caller sleeps until it has the answer. */
async function blockingPlayer(url: string): Promise<(id: string) => AnyEnv> {
  const { port1, port2 } = new MessageChannel();
  const word = new Int32Array(new SharedArrayBuffer(4));
  const workerData = { port: port2, url, word };
  const worker = new Worker(fixture("blocking-player.mjs"), { workerData, transferList: [port2] });
  cleanups.push(() => worker.terminate());
  await once(worker, "message");
  const ask = (call: string, which: number, argument?: unknown): unknown => {
    Atomics.store(word, 0, 0);
    port1.postMessage({ call, which, argument });
    Atomics.wait(word, 0, 0, 20_000);
    const answer = receiveMessageOnPort(port1)?.message as Answer | undefined;
    if (answer === undefined) throw new Error(`no answer to ${call}`);
    if (!answer.ok) throw new CodedError(answer.failure);
    return answer.value;
  };
  return (id) => {
    const { which, spec, observationSpace, actionSpace } = ask("open", -1, id) as Described;
    return {
      spec,
      observationSpace: spaceFromJson(observationSpace),
      actionSpace: spaceFromJson(actionSpace),
      reset: (request) => ask("reset", which, request) as ReturnType<AnyEnv["reset"]>,
      step: (action) => ask("step", which, action) as ReturnType<AnyEnv["step"]>,
      close: () => void ask("close", which),
    };
  };
}

test("the environment checker finds nothing wrong with what `env serve` offers, through the wire", async () => {
  const open = await blockingPlayer((await startCommand()).url);
  expect(checkEnv(() => open("CartPole-v1"), { steps: 30 })).toEqual([]);
  expect(checkEnv(() => open("Pendulum-v1"), { steps: 30 })).toEqual([]);
}, 120_000);
