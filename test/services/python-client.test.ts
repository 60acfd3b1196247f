/** Gymnasium and PettingZoo judge the environments through clients/python, against a real `env serve`. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cleanEnv, executable } from "../e2e/run-cli.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { pythonTool, runTool } from "../fixtures/python/python-tool.ts";

const client = fileURLToPath(new URL("../../clients/python", import.meta.url));
const tool = await pythonTool("pettingzoo-1.27.0", ["gymnasium==1.4.0", "pettingzoo==1.27.0", "numpy==2.4.6"]);
const folder = temporaryFolder("python-client");
let host: ChildProcess;
let callUrl = "";

beforeAll(async () => {
  const started = spawn(process.execPath, [executable, "env", "serve", "--port", "0", "--call-port", "0", "--json"], {
    cwd: folder,
    env: cleanEnv({}),
    stdio: ["ignore", "pipe", "ignore"],
  });
  host = started;
  ({ callUrl } = await new Promise<{ callUrl: string }>((resolve, reject) => {
    let printed = "";
    started.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      if (printed.includes("}")) resolve(JSON.parse(printed));
    });
    started.once("close", (code) =>
      reject(new Error(`env serve ended with ${code}: build it first, with npm run build`)),
    );
  }));
});
afterAll(() => {
  host?.kill("SIGKILL");
});

const play = (program: string) => {
  if ("why" in tool) throw new Error(tool.why);
  const env = { ...process.env, PYTHONPATH: client, PYTHONDONTWRITEBYTECODE: "1" };
  return runTool(join(tool.bin, "python3"), [join(client, program), callUrl], { cwd: folder, env });
};

test("single environments pass Gymnasium's checker, fleets PettingZoo's, and failures have codes", {
  timeout: 300_000,
}, async () => {
  const { code, output } = await play("tests/check.py");
  expect(output).toContain("passed failures");
  expect(code).toBe(0);
});

test("the example steps a fleet with choices that are allowed", async () => {
  const { code, output } = await play("examples/random_fleet.py");
  expect(output).toContain("500 steps of 12 agents");
  expect(code).toBe(0);
});
