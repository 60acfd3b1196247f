/** `coxswain env serve` as a process, played by the package's own client. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connectEnv } from "../../src/adapters/rpc/index.ts";
import { milliseconds } from "../../src/base/index.ts";
import { mitigationEntry } from "../../src/cli/environments/mitigation-env.ts";
import { podsEnv } from "../../src/cli/environments/pods-env.ts";
import { buildEnv, makeEnv } from "../../src/learn/env/index.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { cleanEnv, executable, runCli } from "./run-cli.ts";

let cwd: string;
const stops: (() => unknown)[] = [];
beforeEach(() => {
  cwd = temporaryFolder("env");
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** Its address, and how it ends at Ctrl-C. */
async function serve(...args: readonly string[]) {
  const child = spawn(process.execPath, [executable, "env", "serve", "--port", "0", ...args], {
    cwd,
    env: cleanEnv({}),
  });
  stops.push(() => child.kill("SIGKILL"));
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => resolve(text.trim()));
    child.on("close", () => reject(new Error("it ended without an address")));
  });
  return {
    url,
    stop: () => {
      child.kill("SIGINT");
      return ended;
    },
  };
}

const own = fileURLToPath(new URL("../fixtures/modules/own.mjs", import.meta.url));

test("classic, autoscaling and users' environments are played over the wire as at home, until Ctrl-C", async () => {
  const { url, stop } = await serve("--module", own);
  const cartPole = await connectEnv<Float32Array, number>({ url, id: "CartPole-v1" });
  const home = makeEnv("CartPole-v1");
  expect(await cartPole.reset({ seed: 3 })).toEqual(home.reset({ seed: 3 }));
  expect(await cartPole.step(1)).toEqual(home.step(1));
  await cartPole.close();

  const config = { application: 2, seed: 5 };
  const pods = await connectEnv<Float32Array, Float32Array>({ url, id: "AutoscaleFluid-v0", config });
  const near = buildEnv<Float32Array, Float32Array>(podsEnv("fluid"), { config });
  expect(await pods.reset({ seed: 3 })).toEqual(near.reset({ seed: 3 }));
  const action = Float32Array.of(0.25, -0.5, 0);
  expect(await pods.step(action)).toEqual(near.step(action));
  await pods.close();

  const mitigation = await connectEnv<Float32Array, Float32Array>({ url, id: "Mitigation-v0" });
  const same = buildEnv<Float32Array, Float32Array>(mitigationEntry);
  expect(await mitigation.reset({ seed: 3 })).toEqual(same.reset({ seed: 3 }));
  const limits = Float32Array.of(0.5, 0, 0, -0.5, 1);
  expect(await mitigation.step(limits)).toEqual(same.step(limits));
  await mitigation.close();

  const seen = await connectEnv<Float32Array, number>({ url, id: "SeenChoice-v0" });
  const { obs } = await seen.reset({ seed: 1 });
  expect((await seen.step(obs[0] ?? 0)).reward).toBe(1);
  await seen.close();

  await expect(connectEnv({ url, id: "AutoscaleFluid-v0", config: { aplication: 2 } })).rejects.toMatchObject({
    failure: { code: "env.config" },
  });
  await expect(connectEnv({ url, id: "AutoscaleFluyd-v0" })).rejects.toThrow("did you mean 'AutoscaleFluid-v0'?");
  expect(await stop()).toBe(130);
}, 180_000);

test("whoever has no player's token is turned away", async () => {
  writeFileSync(join(cwd, "tokens"), "viewer ann viewer-secret-0123456789\nplayer bob player-secret-0123456789\n");
  const { url, stop } = await serve("--token-file", "tokens");
  const patience = milliseconds(2_000);
  const env = await connectEnv<Float32Array, number>({
    url,
    id: "CartPole-v1",
    accessToken: "player-secret-0123456789",
  });
  expect((await env.reset({ seed: 1 })).obs).toHaveLength(4);
  await env.close();
  await expect(
    connectEnv({ url, id: "CartPole-v1", accessToken: "viewer-secret-0123456789", patience }),
  ).rejects.toThrow();
  await stop();
}, 180_000);

test("an address that others reach needs a token, and a port that is taken is one line", async () => {
  const open = await runCli(["env", "serve", "--host", "0.0.0.0", "--port", "0", "--json"], { cwd });
  expect(open.code).toBe(2);
  expect(JSON.parse(open.stderr)).toMatchObject({ code: "env.token-required" });
  const taken = createServer().listen(0, "127.0.0.1");
  stops.push(() => taken.close());
  await new Promise((resolve) => taken.once("listening", resolve));
  const { port } = taken.address() as AddressInfo;
  const busy = await runCli(["env", "serve", "--port", String(port), "--json"], { cwd });
  expect(JSON.parse(busy.stderr)).toMatchObject({ code: "env.bind" });
});
