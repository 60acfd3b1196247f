import { cpSync, rmSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { loadKernels } from "../../adapters/runtime/index.ts";
import { milliseconds, ok, unwrap } from "../../base/index.ts";
import type { PlaneUpdate } from "../../contract/index.ts";
import type { SavedPlane } from "../../contract/schemas/index.ts";
import { agentTrainingKinds } from "../../control/lifecycle/index.ts";
import type { Trainer } from "../../control/loop/index.ts";
import { Plane } from "../../plane/index.ts";
import { readPlane, writePlane } from "./saved-plane-file.ts";
import { openParts } from "./wiring.ts";

const kernels = loadKernels({ prefer: "wasm" });
const start = milliseconds(Date.UTC(2026, 0, 5, 6));
const IDS = ["web-shop", "image-resizing", "ml-serving", "queue-worker"];

const { tasks } = agentTrainingKinds();
const nobody: Trainer = { slots: 0, train: async () => ok(undefined) };
const inPlace: Trainer = {
  slots: 1,
  train: async ({ kind, config }) =>
    ok(await tasks[kind]?.(config, { kernels, isCancelled: () => false, progress: () => undefined })),
};

interface Opened {
  readonly folder?: string | null;
  readonly seed?: number;
  readonly workloads?: number | null;
  readonly trainer?: Trainer;
}

async function openPlane(opened: Opened = {}): Promise<Plane> {
  const { folder = null, seed = 3, workloads = null, trainer = inPlace } = opened;
  const options = { seed, workloads, folder, speed: 100, start, kernels, trainer, isLockstep: true };
  const plane = new Plane(unwrap(await openParts(options)));
  unwrap(await plane.begin());
  return plane;
}

/** Further steps; the first one was taken by `begin`. */
async function advance(plane: Plane, steps: number): Promise<PlaneUpdate[]> {
  const until = plane.steps + steps;
  while (plane.steps < until) await plane.advance();
  return [...plane.takeUpdates()];
}

let folder: string;
beforeEach(() => {
  folder = temporaryFolder("plane");
});
afterEach(() => rmSync(`${folder}-left`, { recursive: true, force: true }));

/** What a process that is killed now would leave behind, but for the trajectories, which its store still holds. */
function asKilled(): string {
  const left = `${folder}-left`;
  cpSync(folder, left, { recursive: true, filter: (from) => !from.includes("trajectories") });
  return left;
}

const of = <K extends PlaneUpdate["kind"]>(updates: readonly PlaneUpdate[], kind: K) =>
  updates.filter((update): update is Extract<PlaneUpdate, { kind: K }> => update.kind === kind);

test("every step is measured for four workloads and their twins, and the agents begin with the rules", async () => {
  const plane = await openPlane();
  const updates = await advance(plane, 5);
  const samples = of(updates, "samples");
  expect(samples.map(({ at }) => at - start)).toEqual([15, 30, 45, 60, 75, 90].map((s) => s * 1_000));
  for (const { samples: rows } of samples) {
    expect(rows.map(({ workload }) => workload)).toEqual(IDS);
    // While the rules act in both worlds, both meet the same requests and do the same.
    for (const { sample, twin, account, twinAccount } of rows) {
      expect(sample).toEqual(twin);
      expect(account).toEqual(twinAccount);
    }
  }
  expect(samples.at(-1)?.samples[0]?.account.steps).toBe(6);
  const agents = of(updates, "agent").map(({ agent }) => agent);
  expect(agents.filter(({ stage }) => stage === "OFFLINE").map(({ workload }) => workload)).toEqual(
    expect.arrayContaining(IDS),
  );
  expect(agents.at(-1)?.history).toMatchObject([{ from: "INITIALIZED", to: "OFFLINE", because: "bootstrap" }]);
  expect(of(updates, "decision")[0]?.decision).toMatchObject({ who: "fallback", stage: "OFFLINE" });
  expect(of(updates, "event").map(({ event }) => event.text)).toContainEqual(
    "Web shop: INITIALIZED → OFFLINE, because it learns from HPA and VPA first",
  );
  await plane.close();
});

test("the same seed gives the same updates, training included", async () => {
  const runs: PlaneUpdate[][] = [];
  for (let run = 0; run < 2; run++) {
    const plane = await openPlane();
    runs.push(await advance(plane, 12));
    await plane.close();
  }
  expect(runs[0]?.length).toBeGreaterThan(60);
  expect(runs[0]).toEqual(runs[1]);
  const other = await openPlane({ seed: 4 });
  expect(await advance(other, 12)).not.toEqual(runs[0]);
  await other.close();
});

test("commands raise the revision, and one that rests on an older look is told so", async () => {
  const plane = await openPlane();
  await advance(plane, 2);
  const agent = "web-shop-agent";
  expect(unwrap(await plane.command({ kind: "pause", agent }, 1))).toEqual({ revision: 2 });
  const late = await plane.command({ kind: "resume", agent }, 1);
  expect(late).toMatchObject({ ok: false, failure: { code: "plane.revision" } });
  const updates = await advance(plane, 2);
  expect(of(updates, "agent").at(-1)?.agent).toMatchObject({ id: agent, isPaused: true, revision: 2 });
  expect(of(updates, "decision").filter(({ decision }) => decision.agent === agent)[0]?.decision.why[0]?.rule).toBe(
    "paused",
  );
  expect(unwrap(await plane.command({ kind: "resume", agent }, null))).toEqual({ revision: 3 });
  expect(await plane.command({ kind: "promote", agent }, 3)).toMatchObject({
    ok: false,
    failure: { code: "lifecycle.operator", message: expect.stringContaining("too little was seen of the workload") },
  });
  expect(await plane.command({ kind: "pause", agent: "nobody" }, null)).toMatchObject({
    ok: false,
    failure: { code: "plane.unknown-agent" },
  });
  await plane.close();
});

test("a load surge reaches both worlds and ends by itself; lost telemetry is told", async () => {
  const plane = await openPlane({ trainer: nobody });
  const [before] = of(await advance(plane, 8), "samples").slice(-1);
  const workload = "web-shop";
  unwrap(await plane.command({ kind: "inject", workload, fault: "load-surge" }, 1));
  unwrap(await plane.command({ kind: "inject", workload, fault: "telemetry-lost" }, 2));
  const updates = await advance(plane, 8);
  const after = of(updates, "samples").at(-1)?.samples[0];
  expect(after?.sample.load).toBeGreaterThan(1.5 * (before?.samples[0]?.sample.load ?? Number.POSITIVE_INFINITY));
  expect(after?.twin?.load).toBe(after?.sample.load);
  expect(of(updates, "event").map(({ event }) => event.text)).toContainEqual(
    expect.stringMatching(/^Web shop: the telemetry fails/),
  );
  const later = of(await advance(plane, 76), "event").map(({ event }) => event.text);
  expect(later).toContainEqual("Web shop: the fault load-surge is over");
  await plane.close();
});

test("a lost node takes pods of both worlds with it, and comes back", async () => {
  const [plane, without] = [await openPlane({ trainer: nobody }), await openPlane({ trainer: nobody })];
  await Promise.all([advance(plane, 4), advance(without, 4)]);
  const workload = "web-shop";
  unwrap(await plane.command({ kind: "inject", workload, fault: "node-lost" }, null));
  const row = async (one: Plane) => of(await advance(one, 1), "samples")[0]?.samples[0];
  const [hit, calm] = [await row(plane), await row(without)];
  // The pod that is gone was a disruption, which has its price.
  expect(hit?.sample.cost).toBeGreaterThan(calm?.sample.cost ?? Number.POSITIVE_INFINITY);
  expect(hit?.twin).toEqual(hit?.sample);
  const later = of(await advance(plane, 80), "event").map(({ event }) => event.text);
  expect(later).toContainEqual("Web shop: the fault node-lost is over");
  await Promise.all([plane.close(), without.close()]);
});

test("a release comes to both worlds at the same moment, is announced once, and still runs after a restart", async () => {
  unwrap(await (await openPlane({ folder, trainer: nobody })).close());
  // A world that began so long ago that the first release, three hours after its beginning, is a few steps away.
  const saved = unwrap(readPlane(folder)) as SavedPlane;
  const startedAt = saved.startedAt - 3 * 3_600_000 + 10 * 15_000;
  unwrap(writePlane(folder, { ...saved, startedAt }));
  const rowsOf = (updates: readonly PlaneUpdate[]) =>
    of(updates, "samples").flatMap(({ samples }) => samples.filter((row) => row.workload === "ml-serving"));
  const cpuPerRequest = (updates: readonly PlaneUpdate[]): number => {
    const rows = rowsOf(updates);
    const sum = (value: (row: (typeof rows)[number]) => number | null | undefined) =>
      rows.reduce((all, row) => all + (value(row) ?? 0), 0);
    return sum(({ sample }) => sample.use.cpu) / sum(({ sample }) => sample.load);
  };
  const releases = (updates: readonly PlaneUpdate[]) =>
    of(updates, "event").flatMap(({ event }) => (event.kind === "release" ? [event] : []));
  const second = await openPlane({ folder, trainer: nobody });
  const before = await advance(second, 7);
  expect(releases(before)).toEqual([]);
  const after = await advance(second, 20);
  expect(releases(after)).toMatchObject([
    {
      workload: "ml-serving",
      text: expect.stringMatching(/^ML serving: release 2\.4: .* 2 times the CPU per request$/),
    },
  ]);
  expect(releases(after)[0]?.at).toBeGreaterThanOrEqual(startedAt + 3 * 3_600_000);
  // The rules act in both, until they have missed the SLO for minutes. Nobody expects anything of the twin.
  for (const { sample, twin } of [...rowsOf(before), ...rowsOf(after)])
    expect(twin).toEqual({ ...sample, expected: null });
  expect(of(after, "workload")[0]?.workload.release).toMatchObject({ version: "2.4" });
  const usual = cpuPerRequest(before);
  // One step of the portion was without it.
  expect(cpuPerRequest(after) / usual).toBeGreaterThan(1.6);
  unwrap(await second.close());
  const third = await openPlane({ folder, trainer: nobody });
  const later = await advance(third, 10);
  expect(releases(later)).toEqual([]);
  expect(cpuPerRequest(later) / usual).toBeGreaterThan(1.6);
  await third.close();
});

test("trouble is told once when it begins and once when it is over, with how long it was", async () => {
  const plane = await openPlane({ trainer: nobody });
  const workload = "web-shop";
  // Nobody can answer within a millisecond: every step misses, until anything will do.
  const slo = { kind: "latency", quantile: 0.99 } as const;
  unwrap(await plane.command({ kind: "set-slo", workload, slo: { ...slo, target: 1 } }, null));
  await advance(plane, 20);
  unwrap(await plane.command({ kind: "set-slo", workload, slo: { ...slo, target: 60_000 } }, null));
  plane.takeUpdates();
  const begun = plane.now;
  const texts = of(await advance(plane, 20), "event").flatMap(({ event }) =>
    event.kind === "slo" && event.workload === workload ? event : [],
  );
  expect(texts).toHaveLength(1);
  const [{ text, severity, at } = { text: "", severity: "", at: 0 }] = texts;
  expect(severity).toBe("notice");
  // Eleven good steps after twenty bad ones, which began with the first of them.
  expect(text).toBe(`Web shop: keeps its SLO again, after ${Math.round((at - begun) / 60_000 + 5)} min`);
  await plane.close();
});

test("an SLO can be given another target, not another quantile", async () => {
  const plane = await openPlane();
  await advance(plane, 1);
  const workload = "web-shop";
  const slo = { kind: "latency", quantile: 0.99, target: 1_234 } as const;
  expect(unwrap(await plane.command({ kind: "set-slo", workload, slo }, 1))).toEqual({ revision: 2 });
  expect(of(plane.takeUpdates(), "workload").at(-1)?.workload).toMatchObject({ slo, revision: 2 });
  const p50 = await plane.command({ kind: "set-slo", workload, slo: { ...slo, quantile: 0.5 } }, null);
  expect(p50).toMatchObject({ ok: false, failure: { code: "plane.slo-quantile" } });
  await plane.close();
});

test("an SLO can be of another kind, by which the next steps are judged, also after a restart", async () => {
  const workload = "web-shop";
  const kept = (updates: readonly PlaneUpdate[]) =>
    of(updates, "samples").flatMap(({ samples }) =>
      samples.flatMap((one) => (one.workload === workload ? [one.sample.preservation] : [])),
    );
  const first = await openPlane({ folder, trainer: nobody });
  const atOnce = { kind: "latency", quantile: 0.99, target: 1 } as const;
  unwrap(await first.command({ kind: "set-slo", workload, slo: atOnce }, null));
  expect(kept(await advance(first, 6)).at(-1)).toBeLessThan(1);
  // Nobody answers within a millisecond, but everybody is answered.
  const slo = { kind: "availability", target: 1 } as const;
  unwrap(await first.command({ kind: "set-slo", workload, slo }, null));
  unwrap(await first.close());
  expect(unwrap(readPlane(folder))?.workloads[workload]?.slo).toEqual(slo);
  const second = await openPlane({ folder, trainer: nobody });
  expect(of(second.takePast(), "workload")[0]?.workload).toMatchObject({ id: workload, slo });
  expect(kept(await advance(second, 6)).at(-1)).toBe(1);
  await second.close();
});

test("a second start goes on where the first one was, with its time, accounts, settings and agents", async () => {
  const first = await openPlane({ folder });
  await advance(first, 25);
  unwrap(await first.command({ kind: "set-mode", agent: "ml-serving-agent", mode: "recommend" }, 1));
  unwrap(await first.close());
  const saved = unwrap(readPlane(folder));
  const second = await openPlane({ folder, seed: 99 });
  const past = second.takePast();
  expect(past.slice(0, 4).map(({ kind }) => kind)).toEqual(Array(4).fill("workload"));
  expect(second.seed).toBe(3);
  expect(second.now).toBeGreaterThan(start + 26 * 15_000 - 1);
  const updates = await advance(second, 4);
  const row = of(updates, "samples")[0]?.samples[0];
  expect(row?.account.steps).toBe(27);
  expect(row?.budget).toMatchObject({ steps: 27, missed: row?.account.violations });
  expect(row?.sample.have).toEqual(saved?.workloads["web-shop"]?.have);
  const agents = of(updates, "agent").map(({ agent }) => agent);
  expect(agents.find(({ id }) => id === "ml-serving-agent")).toMatchObject({ mode: "recommend", revision: 2 });
  // One episode has ended before, and nothing begins again.
  expect(agents.at(-1)?.history).toHaveLength(1);
  expect(of(updates, "event").map(({ event }) => event.text)).toContainEqual(
    "Web shop: the agent goes on from its saved state",
  );
  await second.close();
});

test("a paused agent is shown in its stage after a restart", async () => {
  const first = await openPlane({ folder, trainer: nobody });
  await advance(first, 3);
  for (const id of IDS) unwrap(await first.command({ kind: "pause", agent: `${id}-agent` }, 1));
  unwrap(await first.close());
  const second = await openPlane({ folder, trainer: nobody });
  const agents = of(await advance(second, 2), "agent").map(({ agent }) => agent);
  for (const id of IDS) {
    const last = agents.findLast(({ workload }) => workload === id);
    expect(last).toMatchObject({ stage: "OFFLINE", isPaused: true, acting: "fallback" });
  }
  await second.close();
});

test("what was told is told again after the process was killed, and time goes on behind it", async () => {
  const killed = await openPlane({ folder });
  await advance(killed, 3);
  while (killed.steps < 12) await killed.advance();
  const told = unwrap(await killed.tell());
  const next = await openPlane({ folder: asKilled() });
  const past = next.takePast();
  const kinds = ["samples", "decision", "event"] as const;
  expect(of(told, "samples").map(({ at }) => at - start)).toContain(12 * 15_000);
  for (const kind of kinds) expect(of(past, kind)).toEqual(of(told, kind));
  expect(next.takePast().filter(({ kind }) => kind !== "workload")).toEqual([]);
  const updates = await advance(next, 1);
  const rows = of(updates, "samples");
  expect(rows[0]?.at).toBeGreaterThan(of(told, "samples").at(-1)?.at ?? Number.POSITIVE_INFINITY);
  expect(rows[0]?.samples[0]?.account.steps).toBe(13);
  expect(rows[0]?.samples[0]?.budget?.steps).toBe(13);
  await Promise.all([next.close(), killed.close()]);
});

test("a stage that was told is the agent's stage after the process was killed", async () => {
  const killed = await openPlane({ folder });
  const transitions = of(unwrap(await killed.tell()), "event").filter(({ event }) => event.kind === "transition");
  expect(transitions).toHaveLength(4);
  const next = await openPlane({ folder: asKilled() });
  const agents = of(await advance(next, 1), "agent").map(({ agent }) => agent);
  for (const id of IDS) {
    const agent = agents.find(({ workload }) => workload === id);
    expect(agent).toMatchObject({ stage: "OFFLINE", history: [{ from: "INITIALIZED", to: "OFFLINE" }] });
  }
  await Promise.all([next.close(), killed.close()]);
});

test("as many workloads as asked for, each with its own load and promise; the first four are the usual ones", async () => {
  const plane = await openPlane({ workloads: 9, folder });
  expect(plane.workloads.map(({ target }) => target.id).slice(0, 4)).toEqual(IDS);
  expect(new Set(plane.workloads.map(({ target }) => target.title)).size).toBe(9);
  expect(new Set(plane.workloads.map(({ agent }) => JSON.stringify(agent.slo))).size).toBe(9);
  expect(of(plane.takeUpdates(), "samples")[0]?.samples).toHaveLength(9);
  await plane.close();
  const again = await openPlane({ folder });
  expect(again.workloads).toHaveLength(9);
  await again.close();
});

test("what was answered is on disk, though nothing was closed", async () => {
  const killed = await openPlane({ folder });
  await advance(killed, 3);
  unwrap(await killed.command({ kind: "pause", agent: "queue-worker-agent" }, 1));
  const saved = unwrap(readPlane(folder));
  expect(saved?.agents["queue-worker-agent"]).toMatchObject({ isPaused: true, revision: 2 });
  expect(saved?.at).toBe(killed.now);
  await killed.close();
});

test("a move by hand is in the agent's document when it is answered, and after the process was killed right then", async () => {
  const killed = await openPlane({ folder, trainer: nobody });
  // Until its model knows enough to act, and not so long that it acts of itself.
  await advance(killed, 30);
  const agent = "web-shop-agent";
  for (const kind of ["promote", "promote"] as const) unwrap(await killed.command({ kind, agent }, null));
  const told = of(unwrap(await killed.tell()), "agent").map((update) => update.agent);
  expect(told.map(({ stage, revision }) => `${stage} ${revision}`)).toEqual(["ONLINE 2", "SERVING 3"]);
  const path = ["INITIALIZED→OFFLINE", "OFFLINE→ONLINE", "ONLINE→SERVING"];
  const pathOf = (document: (typeof told)[number] | undefined) =>
    document?.history.map(({ from, to }) => `${from}→${to}`);
  expect(told.map(pathOf)).toEqual([path.slice(0, 2), path]);
  const next = await openPlane({ folder: asKilled(), trainer: nobody });
  const shown = of(next.takeUpdates(), "agent").findLast((update) => update.agent.id === agent)?.agent;
  expect(shown).toMatchObject({ stage: "SERVING", revision: 3, history: told.at(-1)?.history });
  await Promise.all([next.close(), killed.close()]);
});
