import { expect, test } from "vitest";
import { unwrap } from "../../base/index.ts";
import { openPlane } from "./open-plane.ts";

// Runs the compiled worker in dist/; `npm test` builds first.
const settings = {
  seed: 3,
  world: "",
  workloads: null,
  targets: [
    {
      workload: "shop",
      slo: { latency: { targetMs: 400 } },
      bounds: { replicas: { max: 8 }, cpu: { min: "100m", max: 2 }, memory: { min: "128Mi", max: "1Gi" } },
      mode: "act",
      episodeSteps: 10,
      // It has to act in order to learn; what it must reach to stop learning, it never does.
      bootstrap: false,
      reward: { thresholds: { serving: 9.9, deviation: 0.1 } },
      learner: { kind: "ppo", config: { rolloutSteps: 10, minibatch: 5, hidden: [16] } },
      simulate: { application: "web-shop", load: { meanPerSecond: 12 } },
    },
  ],
  folder: null,
  speed: 4_000,
  start: Date.UTC(2026, 0, 5, 6),
  kernels: "auto",
  trainingThreads: 1,
  sharedModel: null,
  store: { kind: "embedded" },
  modules: [],
} as const;

test("an agent of a profile learns with PPO: each rollout is trained on once, and steps that come meanwhile are left out", async () => {
  const plane = unwrap(await openPlane(settings));
  const refused: string[] = [];
  let updates = 0;
  let stage = "";
  await new Promise<void>((resolve, reject) => {
    plane.subscribe((told) => {
      for (const update of told) {
        if (update.kind === "event" && update.event.kind === "observation-refused") refused.push(update.event.text);
        if (update.kind === "agent") ({ updates, stage } = update.agent);
      }
      // A refusal is told when steps were taken before it: a second one shows that the rollout before was consumed.
      if (updates >= 3 && refused.length >= 2) resolve();
    });
    void plane.lost.then((why) => reject(new Error(why.message)));
  });
  expect(stage).toBe("ONLINE");
  expect(refused[0]).toContain("until it has been trained");
  await plane.close();
}, 120_000);
