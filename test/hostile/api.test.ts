/**
 * Requests that Schemathesis makes from `/openapi.json`, at a running `coxswain up`: no server error, and every answer is as
 * the document says. Reads go as fast as they can; changes at the pace that the API allows, or all of them would be refused.
 */
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { runTool } from "../fixtures/python/python-tool.ts";
import { isShort, SECONDS, SEED } from "./hostile-form.ts";
import { defectsIn, HostileUp } from "./hostile-up.ts";
import { schemathesis } from "./schemathesis.ts";

const tool = await schemathesis();
if ("why" in tool) console.log(`skipped: ${tool.why}`);

const CHECKS = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
].join(",");
/** Of one operation. */
const EXAMPLES = isShort ? 3 : Math.ceil(SECONDS / 4);

function argsFor(url: string, more: readonly string[]): readonly string[] {
  const what = ["run", `${url}/openapi.json`, "--checks", CHECKS, "--seed", String(SEED % 2 ** 31)];
  // A stream of events has no end to wait for; its own tests are src/server/stream-hub.test.ts.
  const bounds = ["--exclude-path", "/v1/stream", "--request-timeout", "30", "--max-examples", String(EXAMPLES)];
  return [...what, ...bounds, ...more];
}

const WAYS = [
  { what: "reads", more: ["--include-method", "GET", "--phases", "examples,coverage,fuzzing"] },
  {
    what: "changes",
    more: ["--exclude-method", "GET", "--phases", isShort ? "examples,fuzzing" : "examples,coverage,fuzzing"].concat([
      "--rate-limit",
      "5/s",
    ]),
  },
];

test.skipIf("why" in tool)(
  `requests from the API's own document are answered as it says, seed ${SEED}`,
  {
    timeout: 1_000 * (20 * SECONDS + 300),
  },
  async () => {
    const folder = temporaryFolder("hostile-api");
    // Slowly, so that the plane has time to answer: 503 and 504 are in the document, and are findings here.
    const up = new HostileUp(folder, ["--workloads", "2", "--speed", "1"]);
    onTestFinished(() => up.kill());
    const url = await up.url();
    const path = "path" in tool ? tool.path : "";
    const runs = await Promise.all(
      WAYS.map(async ({ what, more }) => ({ what, ...(await runTool(path, argsFor(url, more), { cwd: folder })) })),
    );
    for (const { what, output } of runs)
      console.log(`${what}: ${/^\s*(\d+ generated.*)$/m.exec(output)?.[1] ?? output}`);
    for (const { code, output } of runs) expect(code, output).toBe(0);
    expect(up.isAlive, up.said).toBe(true);
    expect(defectsIn(up.said)).toEqual([]);
  },
);
