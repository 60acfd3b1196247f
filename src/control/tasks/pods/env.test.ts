import { describe, expect, test } from "vitest";
import type { Action, Allocation } from "../../../act/index.ts";
import { afterAction } from "../../../act/index.ts";
import type { Ms, Ratio, Result, Rng, WorkloadId } from "../../../base/index.ts";
import {
  cores,
  err,
  failure,
  mebibytes,
  millicores,
  milliseconds,
  minutes,
  ok,
  parseWorkloadId,
  perSecond,
  seconds,
  seededRng,
  unwrap,
} from "../../../base/index.ts";
import type { Env } from "../../../learn/env/index.ts";
import { checkEnv } from "../../../learn/env/index.ts";
import type { WorkloadReading } from "../../../observe/telemetry/index.ts";
import { decodeAction, encodeAction } from "./action.ts";
import type { AutoscaleOptions } from "./autoscale.ts";
import { autoscaleTask, productMode } from "./autoscale.ts";
import type { AutoscaleEnvOptions, AutoscaleStep } from "./env.ts";
import { autoscaleEnv } from "./env.ts";
import type { PodBounds } from "./limits.ts";
import { podLimits } from "./limits.ts";
import { dollars, rateOf } from "./rates.ts";
import type { WorkloadPort } from "./workload-port.ts";

const workload = unwrap(parseWorkloadId("shop"));
const bounds: PodBounds = {
  replicas: { min: 1, max: 10 },
  cpu: { min: millicores(100), max: millicores(2000) },
  memory: { min: mebibytes(64), max: mebibytes(1024) },
};
const taskOf = (options: Partial<AutoscaleOptions> = {}) =>
  unwrap(
    autoscaleTask({
      slo: { kind: "latency", quantile: 0.99, target: milliseconds(500) },
      bounds,
      actions: "limits",
      ...options,
    }),
  );
const quick = { up: milliseconds(0), down: milliseconds(0) };
const limits = unwrap(podLimits({ bounds, cooldown: { replicas: quick, cpu: quick, memory: quick } }));

/** A queue in front of cores, with load that wanders: enough to be an environment, and worked out by hand below. */
class SmallWorld implements WorkloadPort {
  #now: Ms = seconds(0);
  #have: Allocation = { replicas: 2, cpu: millicores(500), memory: mebibytes(256) };
  #load = 10;
  #backlog = 0;
  #used = 0;
  readonly #rng: Rng;
  /** Readings before this moment have nothing measured in them. */
  readonly #measuresFrom: number;

  constructor(rng: Rng, { measuresFrom = 0 } = {}) {
    this.#rng = rng;
    this.#measuresFrom = measuresFrom;
  }

  get now(): Ms {
    return this.#now;
  }

  advance(until: Ms): void {
    const elapsed = (until - this.#now) / 1000;
    if (elapsed < 0) throw new Error("time went back");
    if (elapsed === 0) return;
    this.#now = until;
    this.#load = Math.max(1, this.#load + this.#rng.normal());
    const capacity = (this.#have.replicas * this.#have.cpu) / 1000;
    // Every request needs 50 ms of a core.
    const work = this.#backlog + this.#load * 0.05 * elapsed;
    const done = Math.min(work, capacity * elapsed);
    this.#backlog = work - done;
    this.#used = done / (capacity * elapsed);
  }

  read(asked: WorkloadId): WorkloadReading {
    if (asked !== workload) throw new Error("another workload");
    const isMeasured = this.#now >= this.#measuresFrom;
    const use = (value: number): Ratio | null => (isMeasured ? (value as Ratio) : null);
    return {
      workload,
      at: this.#now,
      spec: this.#have,
      pods: [
        {
          pod: "p",
          createdAt: seconds(0),
          readyAt: seconds(0),
          cpuLimit: this.#have.cpu,
          memoryLimit: this.#have.memory,
          cpu: null,
          memory: null,
          restarts: 0,
        },
      ],
      use: { cpu: use(this.#used), memory: use(mebibytes(64) / this.#have.memory), io: use(0), network: use(0) },
      latency: milliseconds(100 + 1000 * this.#backlog),
      offered: perSecond(this.#load),
      completed: perSecond(this.#load),
      failed: perSecond(0),
      ooms: [],
    };
  }

  allocation(): Allocation {
    return this.#have;
  }

  apply(action: Action<Allocation>): Result<Allocation> {
    this.#have = afterAction(this.#have, action);
    return ok(this.#have);
  }

  nodes() {
    return [{ cpu: cores(8), memory: mebibytes(16_384) }];
  }
}

const make = (options: Partial<AutoscaleEnvOptions> = {}) =>
  autoscaleEnv({
    id: "AutoscaleSmall-v0",
    task: taskOf(),
    workload,
    makeWorld: (rng) => new SmallWorld(rng),
    limits,
    ...options,
  });
const holding = (allocation: Allocation): Float32Array => encodeAction(taskOf(), allocation, { cores: 0, memory: 0 });
const start: Allocation = { replicas: 2, cpu: millicores(500), memory: mebibytes(256) };

test.each(["paper", "extended"] as const)("the checker finds nothing wrong (%s features)", (features) => {
  const task = taskOf({ features });
  expect(checkEnv(() => make({ task }) as Env<unknown, unknown>, { steps: 250 })).toEqual([]);
});

test("one that goes on in its world is checked clean too", () => {
  expect(
    checkEnv(() => make({ continues: true, settle: minutes(2) }) as Env<unknown, unknown>, { steps: 250 }),
  ).toEqual([]);
});

test("an episode is 100 steps of 15 s, cut and not ended", () => {
  const steps: AutoscaleStep[] = [];
  const env = make({ onStep: (step) => steps.push(step) });
  env.reset({ seed: 1 });
  const ends = Array.from({ length: 100 }, () => env.step(holding(start)).end);
  expect(ends.slice(0, 99).every((end) => end === "no")).toBe(true);
  expect(ends[99]).toBe("truncated");
  expect(steps.at(-1)?.world.now).toBe(1_500_000);
  expect(() => env.step(holding(start))).toThrow(/reset/);
});

test("the reward of a quiet step is as worked out by hand", () => {
  const steps: AutoscaleStep[] = [];
  const env = make({ onStep: (step) => steps.push(step), makeWorld: () => new SmallWorld(still) });
  env.reset({ seed: 1 });
  const { reward } = env.step(holding(start));
  // 10/s · 50 ms of 1 core: use 0.5; memory 64 of 256 MiB; latency 100 of 500 ms: 1 + 0.5·(0.5 + 0.25)
  expect(reward).toBeCloseTo(1.375, 6);
  // Twice the replicas: use 0.25 and 0.25 of it; totals halve both ways: 0.5·0.5·(0.5 + 0.5) = 0.25 for the change
  const doubled = env.step(holding({ ...start, replicas: 4 }));
  expect(steps.at(-1)?.reward).toEqual({
    total: expect.closeTo(1.25 - 0.25, 6),
    slo: 1,
    utilisation: expect.closeTo(0.25, 6),
    switchCost: expect.closeTo(0.25, 6),
  });
  expect(doubled.reward).toBe(steps.at(-1)?.reward.total);
  expect(env.step(holding({ ...start, replicas: 4 })).reward).toBeCloseTo(1.25, 6);
});

/** A stream that never moves the load. */
const still: Rng = { ...seededRng(0), normal: () => 0, next: () => 0.5 } as Rng;

describe("around the capacity model's plan", () => {
  const steered = (options: Partial<AutoscaleEnvOptions> = {}) => make({ task: taskOf(productMode), ...options });

  test.each([false, true])("the checker finds nothing wrong (goes on in its world: %s)", (continues) => {
    expect(checkEnv(() => steered({ continues }) as Env<unknown, unknown>, { steps: 250 })).toEqual([]);
  });

  test("an episode begins when there is a plan, and an action has two numbers", () => {
    const steps: AutoscaleStep[] = [];
    const env = steered({ onStep: (step) => steps.push(step) });
    expect(env.actionSpace.size).toBe(2);
    // The model has no plan before it has seen 20 steps.
    expect(env.reset({ seed: 1 }).info?.at).toBeGreaterThanOrEqual(20 * 15_000);
    expect(() => env.step(Float32Array.of(0, 0, 0))).toThrow(/Float32Array/);
    env.step(Float32Array.of(0, 0));
    expect(steps[0]?.verdict.refused).toBeUndefined();
  });

  test("a step earns what it saves of the bill of the plan that it was decided by, less its misses", () => {
    const steps: AutoscaleStep[] = [];
    const env = steered({ onStep: (step) => steps.push(step), makeWorld: () => new SmallWorld(still) });
    env.reset({ seed: 1 });
    const rewards = [0, 0, 1, 0.5, 0, -1, 0, 0].map((cores) => env.step(Float32Array.of(cores, 0)).reward);
    const zeros: number[] = [];
    for (const [i, { verdict, observation, reward }] of steps.entries()) {
      expect(reward).toEqual({ total: rewards[i] });
      const plan = steps[i - 1]?.observation.modelled?.plan?.setting;
      if (!plan) continue;
      const missed = observation.measures.preservation < 1 ? 6 : 0;
      expect(rewards[i]).toBeCloseTo(1 - rateOf(verdict.setting, dollars) / rateOf(plan, dollars) - missed, 9);
      if (missed === 0 && rateOf(verdict.setting, dollars) === rateOf(plan, dollars)) zeros.push(rewards[i] as number);
    }
    // Steps in which the plan itself was in force.
    expect(zeros.length).toBeGreaterThan(0);
    expect(zeros.every((earned) => earned === 0)).toBe(true);
  });

  test("where nothing can be learned an action means nothing and nothing is changed", () => {
    const steps: AutoscaleStep[] = [];
    class Silent extends SmallWorld {
      override read(asked: WorkloadId): WorkloadReading {
        return { ...super.read(asked), latency: null, offered: perSecond(0), completed: perSecond(0) };
      }
    }
    const env = steered({ onStep: (step) => steps.push(step), makeWorld: (rng) => new Silent(rng) });
    env.reset({ seed: 1 });
    expect(env.step(Float32Array.of(1, 1)).reward).toBe(0);
    expect(steps[0]?.verdict).toMatchObject({ action: { kind: "hold" }, refused: "not-finite", setting: start });
  });
});

describe("every action passes the guard", () => {
  test("a wild one is led to what may be had, and the environment says what was done", () => {
    const steps: AutoscaleStep[] = [];
    const env = make({ onStep: (step) => steps.push(step) });
    env.reset({ seed: 3 });
    env.step(Float32Array.of(1, 1, 1));
    // 500 + max(250, 250), 256 + max(256, 128), and 2 + max(4, 2) replicas
    expect(steps[0]?.verdict.setting).toEqual({ replicas: 6, cpu: 750, memory: mebibytes(512) });
    expect(steps[0]?.world.allocation(workload)).toEqual(steps[0]?.verdict.setting);
    expect(steps[0]?.verdict.changed.every(({ rule }) => rule === "step")).toBe(true);
    expect(decodeAction(taskOf(), [1, 1, 1], { cores: 0, memory: 0 })).toEqual({
      replicas: 10,
      cpu: 2000,
      memory: mebibytes(1024),
    });
  });

  test("an action that is no action is refused before anything is done", () => {
    const env = make();
    env.reset({ seed: 3 });
    expect(() => env.step(Float32Array.of(0, Number.NaN, 0))).toThrow(/space|Float32Array/);
    expect(() => env.step(Float32Array.of(0, 0))).toThrow(/Float32Array/);
    expect(env.step(Float32Array.of(0, 0, 0)).end).toBe("no");
  });
});

describe("worlds", () => {
  test("differ from episode to episode, and come back with the seed", () => {
    const env = make();
    const episode = (seed?: number): number[] => {
      env.reset(seed === undefined ? {} : { seed });
      return Array.from({ length: 5 }, () => env.step(holding(start)).reward);
    };
    const [first, second, third] = [episode(7), episode(), episode()];
    expect(second).not.toEqual(first);
    expect(third).not.toEqual(second);
    expect([episode(7), episode()]).toEqual([first, second]);
  });

  test("go on where an environment continues", () => {
    const steps: AutoscaleStep[] = [];
    const env = make({ continues: true, onStep: (step) => steps.push(step) });
    env.reset({ seed: 7 });
    env.step(holding({ ...start, replicas: 5 }));
    env.reset();
    env.step(holding({ ...start, replicas: 5 }));
    expect(steps[1]?.world).toBe(steps[0]?.world);
    expect(steps[1]?.world.now).toBe(30_000);
    expect(steps[1]?.verdict.action.kind).toBe("hold");
  });

  test("are waited for until they have been measured", () => {
    const env = make({ makeWorld: (rng) => new SmallWorld(rng, { measuresFrom: 60_000 }) });
    expect(env.reset({ seed: 1 }).info).toEqual({ workload, at: 60_000 });
  });

  test("that never measure anything are a failure with a name", () => {
    const env = make({ makeWorld: (rng) => new SmallWorld(rng, { measuresFrom: Number.POSITIVE_INFINITY }) });
    expect(() => env.reset({ seed: 1 })).toThrow(expect.objectContaining({ code: "telemetry.never-measured" }));
  });

  test("that refuse an action end the episode with their own failure", () => {
    class Refusing extends SmallWorld {
      override apply(): Result<Allocation> {
        return err(failure("actuator.unknown-workload", "gone"));
      }
    }
    const env = make({ makeWorld: (rng) => new Refusing(rng) });
    env.reset({ seed: 1 });
    expect(() => env.step(holding(start))).toThrow(expect.objectContaining({ code: "actuator.unknown-workload" }));
    expect(() => env.step(holding(start))).toThrow(expect.objectContaining({ code: "env.needs-reset" }));
  });
});
