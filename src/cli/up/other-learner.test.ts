/** `up` that starts again with another `learner.kind` over the data of the one before. */
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { unwrap } from "../../base/index.ts";
import type { AgentDocument, EventDocument } from "../../contract/index.ts";
import { openPlane } from "./open-plane.ts";

const target = {
  workload: "shop",
  slo: { latency: { targetMs: 400 } },
  bounds: { replicas: { max: 8 }, cpu: { min: "100m", max: 2 }, memory: { min: "128Mi", max: "1Gi" } },
  mode: "act",
  objective: "paper",
  episodeSteps: 10,
  simulate: { application: "web-shop", load: { meanPerSecond: 12 } },
} as const;
const atOnce = { bootstrap: false, reward: { thresholds: { serving: 19.9, deviation: 0.1 } } } as const;

// Runs the compiled worker in dist/; `npm test` builds first.
const settings = {
  seed: 3,
  world: "",
  workloads: null,
  speed: 1_000,
  start: Date.UTC(2026, 0, 5, 6),
  kernels: "auto",
  trainingThreads: 1,
  sharedModel: null,
  store: { kind: "embedded" },
  modules: [],
} as const;

type Told = Omit<EventDocument, "id">;

/** One run over the folder, until the agent's learner was trained in it; what was told in this run. */
async function run(folder: string, more: object): Promise<{ events: readonly Told[]; agent: AgentDocument }> {
  const plane = unwrap(await openPlane({ ...settings, folder, targets: [{ ...target, ...more }] }));
  const events: Told[] = [];
  let first: number | undefined;
  const agent = await new Promise<AgentDocument>((resolve, reject) => {
    plane.subscribe((updates) => {
      for (const update of updates) {
        if (update.kind === "event") events.push(update.event);
        if (update.kind !== "agent") continue;
        first ??= update.agent.updates;
        if (update.agent.updates > first) resolve(update.agent);
      }
    });
    void plane.lost.then((why) => reject(new Error(why.message)));
  });
  await plane.close();
  return { events, agent };
}

test("another kind of learner over the same data begins anew, says so once, and learns", async () => {
  const folder = temporaryFolder("other-learner");
  const said = ({ events }: { events: readonly Told[] }) =>
    events.filter(({ kind, severity }) => /learner|adoption/.test(kind) || severity === "error");
  expect(said(await run(folder, { learner: { kind: "bcq" } }))).toEqual([]);
  const ppo = await run(folder, { ...atOnce, learner: { kind: "ppo", config: { rolloutSteps: 10, minibatch: 5 } } });
  expect(said(ppo)).toMatchObject([{ kind: "learner-replaced", severity: "notice" }]);
  expect(said(ppo)[0]?.text).toContain("the learner is ppo now and was bcq before, so it begins anew");
  expect(ppo.agent.stage).toBe("ONLINE");
  const td3 = await run(folder, { learner: { kind: "td3" } });
  expect(said(td3)).toMatchObject([{ kind: "learner-replaced" }]);
  expect(td3.agent.stage).toBe("OFFLINE");
  // The same one again goes on.
  expect(said(await run(folder, { learner: { kind: "td3" } }))).toEqual([]);
}, 120_000);
