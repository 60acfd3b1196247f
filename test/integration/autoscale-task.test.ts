/** The autoscaling task and its fallback over the real worlds: what their own tests show on small ones holds there too. */
import { describe, expect, test } from "vitest";
import type { Allocation, GuardState, Verdict } from "../../src/act/index.ts";
import { freshGuardState, guard } from "../../src/act/index.ts";
import type { Rng } from "../../src/base/index.ts";
import { mebibytes, millicores, milliseconds, minutes, ratio, seconds, unwrap } from "../../src/base/index.ts";
import type { HpaVpaControllerState } from "../../src/control/fallbacks/index.ts";
import { hpaVpaController, parseHpaConfig } from "../../src/control/fallbacks/index.ts";
import { autoscaleEnv, autoscaleTask, encodeAction, podLimits } from "../../src/control/tasks/pods/index.ts";
import type { Env } from "../../src/learn/env/index.ts";
import { checkEnv } from "../../src/learn/env/index.ts";
import { parseReading } from "../../src/observe/telemetry/index.ts";
import type { ClusterWorld, WorldOptions } from "../../src/sim/index.ts";
import {
  evaluationNodes,
  eventWorld,
  fluidWorld,
  generateApplications,
  generateLoad,
  isolatedLatency,
  studyLoad,
} from "../../src/sim/index.ts";
import { shop as workload } from "../fixtures/sim/simple-cluster.ts";

const bounds = {
  replicas: { min: 1, max: 12 },
  cpu: { min: millicores(100), max: millicores(4000) },
  memory: { min: mebibytes(64), max: mebibytes(2048) },
};
const [application] = generateApplications({ seed: 1001, count: 1 });
if (application === undefined) throw new Error("one was asked for");
const slo = {
  kind: "latency",
  quantile: 0.99,
  target: milliseconds(1.5 * isolatedLatency(application, 0.99, { speed: 0.8 })),
} as const;
const task = unwrap(autoscaleTask({ slo, bounds, episodeSteps: 40, actions: "limits" }));
const initial = { replicas: 4, cpu: millicores(1000), memory: mebibytes(1024) };
const load = studyLoad(generateLoad({ seed: 1001, level: "high", days: 1 }), application);
const worldOptions = (seed: number): WorldOptions => ({
  seed,
  start: seconds(0),
  nodes: evaluationNodes(),
  workloads: [
    {
      id: workload,
      application,
      load,
      slo,
      initial,
      resize: "recreate",
    },
  ],
});
const rungs = { fluid: fluidWorld, event: eventWorld } satisfies Record<
  string,
  (options: WorldOptions) => ClusterWorld
>;
const limits = unwrap(podLimits({ bounds, restarts: { cpu: true, memory: true } }));

describe.each(Object.entries(rungs))("the %s world", (_name, open) => {
  const make = () =>
    autoscaleEnv({
      id: "AutoscaleWorld-v0",
      task,
      workload,
      limits,
      settle: minutes(2),
      makeWorld: (rng: Rng) => open(worldOptions(rng.uint32())),
    });

  test("is a sound environment", () => {
    expect(checkEnv(() => make() as Env<unknown, unknown>, { steps: 50 })).toEqual([]);
  });

  test("rewards an ample setting with the SLO kept, and a starved one less", () => {
    const earned = (allocation: typeof initial): number => {
      const env = make();
      env.reset({ seed: 1002 });
      let sum = 0;
      for (let step = 0; step < 40; step += 1)
        sum += env.step(encodeAction(task, allocation, { cores: 0, memory: 0 })).reward;
      return sum / 40;
    };
    const [ample, starved] = [earned(initial), earned({ replicas: 1, cpu: millicores(100), memory: mebibytes(1024) })];
    expect(ample).toBeGreaterThan(1);
    expect(starved).toBeLessThan(ample);
  });

  test("gives readings that the decoder accepts", () => {
    const world = open(worldOptions(1003));
    world.advance(minutes(3));
    const reading = world.read(workload);
    expect(parseReading(JSON.parse(JSON.stringify(reading)))).toEqual({ ok: true, value: reading });
  });
});

test("HPA and VPA move pods to their size one by one, within the budget, and then hold still", () => {
  const hpa = unwrap(parseHpaConfig({ maxReplicas: bounds.replicas.max }));
  const fallback = hpaVpaController({ hpa, template: initial, bounds });
  const steady = { ...load, perMinute: Float64Array.of(12) };
  const [workloadSpec] = worldOptions(0).workloads;
  if (workloadSpec === undefined) throw new Error("there is one");
  const world = eventWorld({ ...worldOptions(1004), workloads: [{ ...workloadSpec, load: steady }] });
  world.advance(minutes(3));
  const open = unwrap(
    podLimits({
      bounds,
      restarts: { cpu: true, memory: true },
      cooldown: {
        replicas: { up: seconds(0), down: seconds(0) },
        cpu: { up: seconds(0), down: seconds(0) },
        memory: { up: seconds(0), down: seconds(0) },
      },
      step: {
        replicas: { absolute: 12, relative: ratio(10) },
        cpu: { absolute: millicores(4000), relative: ratio(10) },
        memory: { absolute: mebibytes(2048), relative: ratio(10) },
      },
    }),
  );
  // Eight days at 0.4 cores and 400 MiB a pod: far less than what the pods start with.
  let state: HpaVpaControllerState = fallback.start({
    history: {
      cpu: Array.from({ length: 1440 }, () => millicores(400)),
      memory: Array.from({ length: 1440 }, () => mebibytes(400)),
      pods: 4,
      days: 8,
      until: world.now,
    },
  });
  let guarded: GuardState = freshGuardState;
  const verdicts: Verdict<Allocation>[] = [];
  for (let step = 0; step < 80; step += 1) {
    const [reading, have, now] = [world.read(workload), world.allocation(workload), world.now];
    const { want, followers, state: next } = fallback.step(state, reading, now);
    const verdict = guard(
      { workload, want, measuredAt: reading.at, ...(followers && { followers }) },
      { limits: open, state: guarded, have, nodes: world.nodes(workload), now },
    );
    unwrap(world.apply(verdict.action));
    verdicts.push(verdict);
    state = JSON.parse(JSON.stringify(next)) as HpaVpaControllerState;
    guarded = verdict.state;
    world.advance(milliseconds(now + seconds(15)));
  }
  const moved = verdicts.map(({ action }) => (action.kind === "set" ? (action.followers?.length ?? 0) : 0));
  // Four pods: never more than half at once, all of them in the end.
  expect(Math.max(...moved)).toBeLessThanOrEqual(2);
  expect(moved.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(4);
  const { spec, pods } = world.read(workload);
  expect(spec.cpu).toBeLessThan(initial.cpu);
  expect(pods.every(({ cpuLimit }) => Math.abs(cpuLimit - spec.cpu) <= 0.2 * spec.cpu)).toBe(true);
  expect(verdicts.slice(-8).filter(({ action }) => action.kind !== "hold").length).toBeLessThanOrEqual(4);
});
