import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { unwrap } from "../../base/index.ts";
import { openPlane } from "./open-plane.ts";

const agents = fileURLToPath(new URL("../../../test/fixtures/modules/agents.mjs", import.meta.url));
const target = (workload: string, learner: string) => ({
  workload,
  slo: { latency: { targetMs: 400 } },
  bounds: { replicas: { max: 8 }, cpu: { min: "100m", max: 2 }, memory: { min: "128Mi", max: "1Gi" } },
  mode: "act",
  episodeSteps: 10,
  learner: { kind: learner },
  simulate: { application: "web-shop", load: { meanPerSecond: 12 } },
});

// Runs the compiled worker in dist/; `npm test` builds first.
const settings = {
  seed: 3,
  world: "",
  workloads: null,
  targets: [target("shop", "repeats"), target("other-shop", "td3")],
  folder: null,
  speed: 4_000,
  start: Date.UTC(2026, 0, 5, 6),
  kernels: "auto",
  trainingThreads: 1,
  sharedModel: null,
  store: { kind: "embedded" },
} as const;

test("agents learn with TD3 and with a learner of the user's module, which training threads load too", async () => {
  const plane = unwrap(await openPlane({ ...settings, modules: [agents] }));
  const trained = new Set<string>();
  await new Promise<void>((resolve, reject) => {
    plane.subscribe((updates) => {
      for (const update of updates) {
        if (update.kind !== "agent") continue;
        if (update.agent.updates > 0 && update.agent.estimate !== null) trained.add(update.agent.id);
      }
      if (trained.size === 2) resolve();
    });
    void plane.lost.then((why) => reject(new Error(why.message)));
  });
  await plane.close();
}, 120_000);

test("without the module the plane says which learners there are", async () => {
  expect(await openPlane({ ...settings, modules: [] })).toMatchObject({
    ok: false,
    failure: { code: "agent.learner", message: expect.stringContaining("there is no learner 'repeats'") },
  });
});
