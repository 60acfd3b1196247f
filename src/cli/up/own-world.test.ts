import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { unwrap } from "../../base/index.ts";
import type { PlaneUpdate } from "../../contract/index.ts";
import { openPlane } from "./open-plane.ts";

const queue = fileURLToPath(new URL("../../../test/fixtures/modules/queue.mjs", import.meta.url));

// Runs the compiled worker in dist/; `npm test` builds first.
const settings = {
  seed: 3,
  world: "queue",
  workloads: null,
  targets: [],
  folder: temporaryFolder("own-world"),
  speed: 2_000,
  start: Date.UTC(2026, 0, 5, 6),
  kernels: "auto",
  trainingThreads: 1,
  sharedModel: null,
  store: { kind: "embedded" },
  modules: [queue],
} as const;

/** Until its agent has learned something; the samples that came until then. */
async function played(): Promise<readonly Extract<PlaneUpdate, { kind: "samples" }>["samples"][number][]> {
  const plane = unwrap(await openPlane(settings));
  expect(plane.world).toMatchObject({ kind: "a queue", tasks: ["queue"] });
  const samples: Extract<PlaneUpdate, { kind: "samples" }>["samples"][number][] = [];
  await new Promise<void>((resolve, reject) => {
    plane.subscribe((updates) => {
      for (const update of updates) {
        if (update.kind === "samples") samples.push(...update.samples);
        if (update.kind === "agent" && update.agent.updates > 0 && samples.length > 0) resolve();
      }
    });
    void plane.lost.then((why) => reject(new Error(why.message)));
  });
  unwrap(await plane.close());
  return samples;
}

test("a world of a module is managed with its own task, and goes on after a restart", async () => {
  const first = await played();
  // 10 messages come a second, and the rule takes a fifth more, until the learner may act.
  expect(first).toContainEqual(
    expect.objectContaining({ workload: "queue", sample: expect.objectContaining({ load: 10, have: { rate: 12 } }) }),
  );
  const again = await played();
  expect(again.at(-1)?.account.steps).toBeGreaterThan(first.at(-1)?.account.steps ?? 0);
}, 120_000);

test("a world that no module brings is one failure", async () => {
  expect(await openPlane({ ...settings, folder: null, world: "quue" })).toMatchObject({
    ok: false,
    failure: { code: "module.unknown-world", message: "there is no world 'quue'; did you mean 'queue'?" },
  });
});
