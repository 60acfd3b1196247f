/**
 * What the agent's tests drive it with: a world of one formula, a fallback that always wants the same, a learner that
 * does as it is told. Owns: no test of its own.
 */
import type { Allocation } from "../../src/act/index.ts";
import { afterAction } from "../../src/act/index.ts";
import type { Reason, Result, WorkloadId } from "../../src/base/index.ts";
import {
  err,
  failure,
  mebibytes,
  millicores,
  milliseconds,
  ok,
  perSecond,
  ratio,
  seconds,
  unwrap,
} from "../../src/base/index.ts";
import type { PodFallback } from "../../src/control/fallbacks/index.ts";
import { Agent } from "../../src/control/lifecycle/agent.ts";
import type { AgentOptions } from "../../src/control/lifecycle/agent-options.ts";
import { defaultGates, parseLifecycleProfile } from "../../src/control/lifecycle/profile.ts";
import type { AgentEvent, Tick, TickInput } from "../../src/control/lifecycle/tick.ts";
import type { Observation, ShieldOptions } from "../../src/control/tasks/pods/index.ts";
import { autoscaleTask, defaultShield, encodeAction, podLimits, podsTask } from "../../src/control/tasks/pods/index.ts";
import type { Decision, Learner, Transition } from "../../src/learn/rl/index.ts";
import { decodeCheckpoint, encodeCheckpoint } from "../../src/learn/rl/index.ts";
import type { WorkloadReading } from "../../src/observe/telemetry/index.ts";

// ── A tiny world: latency is the target times demand over capacity, so at 2,000 millicores it is just met ──────────

export const workload = "shop" as WorkloadId;
const target = 100;
export const bounds = {
  replicas: { min: 1, max: 16 },
  cpu: { min: millicores(100), max: millicores(1600) },
  memory: { min: mebibytes(64), max: mebibytes(1024) },
};
export const task = unwrap(
  autoscaleTask({
    slo: { kind: "latency", quantile: 0.99, target: milliseconds(target) },
    bounds,
    episodeSteps: 10,
    switchCost: 0,
    // So that an action can be written down without knowing what was measured.
    actions: "limits",
  }),
);
/** What actions in limits do not ask for. */
export const noNeed = { cores: 0, memory: 0 };
export const limits = unwrap(
  podLimits({
    bounds,
    step: {
      replicas: { absolute: 16, relative: ratio(1) },
      cpu: { absolute: millicores(1600), relative: ratio(1) },
      memory: { absolute: mebibytes(1024), relative: ratio(1) },
    },
    cooldown: {
      replicas: { up: seconds(0), down: seconds(0) },
      cpu: { up: seconds(0), down: seconds(0) },
      memory: { up: seconds(0), down: seconds(0) },
    },
    disruption: { members: 1000, window: seconds(60) },
  }),
);

export const sizes = (replicas: number, cpu: number, memory = 256): Allocation => ({
  replicas,
  cpu: millicores(cpu),
  memory: mebibytes(memory),
});
/** What the fallback always asks for: twice the demand. */
export const fallbackWants = sizes(8, 500);
/** What a trained policy asks for: five quarters of the demand. */
export const betterWish = sizes(5, 500);

class World {
  now = seconds(1_000);
  have: Allocation = fallbackWants;
  demand = 2_000;

  reading(): WorkloadReading {
    const { replicas, cpu, memory } = this.have;
    const load = this.demand / (replicas * cpu);
    const pod = { createdAt: seconds(0), readyAt: seconds(1), cpuLimit: cpu, memoryLimit: memory, restarts: 0 };
    const used = { cpu: millicores(Math.min(1, load) * cpu), memory: mebibytes(128) };
    return {
      workload,
      at: milliseconds(this.now - 15_000),
      spec: this.have,
      pods: Array.from({ length: replicas }, (_, i) => ({ ...pod, ...used, pod: `shop-${i}` })),
      use: { cpu: ratio(Math.min(1, load)), memory: ratio(mebibytes(128) / memory), io: ratio(0), network: ratio(0) },
      latency: milliseconds(target * load),
      offered: perSecond(20),
      completed: perSecond(20),
      failed: perSecond(0),
      ooms: [],
    };
  }

  input(): PodInput {
    return { reading: ok(this.reading()), have: ok(this.have), nodes: "unlimited", now: milliseconds(this.now) };
  }
}

export type PodInput = TickInput<WorkloadReading, Allocation>;
export type PodTick = Tick<Allocation>;
type Counted = { readonly steps: number };

const fallback: PodFallback<Counted> = {
  name: "scripted",
  start: () => ({ steps: 0 }),
  step: ({ steps }) => ({ want: fallbackWants, reasons: [], state: { steps: steps + 1 } }),
};

export type Mood = "well" | "throws" | "not finite" | "refuses" | "diverges";

/** A learner that does as it is told, and remembers what it was shown. */
export class Scripted implements Learner {
  readonly kind = "scripted";
  readonly learnsFrom = "any";
  readonly shape = {
    obs: 13,
    action: { kind: "continuous" as const, low: [-1, -1, -1], high: [1, 1, 1] },
    actorContext: 0,
    criticContext: 0,
  };
  readonly seen: Transition[] = [];
  readonly explored: boolean[] = [];
  wish: Allocation = betterWish;
  mood: Mood = "well";
  updates = 0;
  constraint = 1;
  isDisposed = false;

  get steps(): number {
    return this.seen.length;
  }

  act(_obs: ArrayLike<number>, { explore, explorer }: Parameters<Learner["act"]>[1]): Result<Decision> {
    if (this.mood === "throws") throw new Error("out of memory");
    if (this.mood === "refuses") return err(failure("rl.policy-not-finite", "broken"));
    this.explored.push(explore);
    const action = encodeAction(task, this.wish, noNeed);
    if (this.mood === "not finite") action[1] = Number.NaN;
    if (explore && explorer?.noise) explorer.noise.addTo(action, explorer.rng);
    return ok({ action, logProb: 0 });
  }

  observe(transition: Transition): Result<void> {
    this.seen.push(transition);
    return ok(undefined);
  }

  clearReplay(): void {
    this.seen.length = 0;
  }

  update() {
    if (this.mood === "diverges") throw new Error("the loss is NaN");
    this.updates += 1;
    return { gradientSteps: 1, criticLoss: 0, actorLoss: 0, more: {} };
  }

  setProgress(): void {}
  setConstraint(constraint: number): void {
    this.constraint = constraint;
  }

  save(): Uint8Array {
    return encodeCheckpoint({ kind: "scripted", meta: { wish: { ...this.wish }, mood: this.mood }, blocks: {} });
  }

  load(bytes: Uint8Array): Result<void> {
    const decoded = decodeCheckpoint(bytes);
    if (!decoded.ok) return decoded;
    this.wish = decoded.value.meta.wish as unknown as Allocation;
    this.mood = decoded.value.meta.mood as Mood;
    return ok(undefined);
  }

  dispose(): void {
    this.isDisposed = true;
  }
}

export const gates = { ...defaultGates, rollback: { ...defaultGates.rollback, excess: 3 } } as typeof defaultGates;
export const profile = unwrap(parseLifecycleProfile({ window: 2, maxReward: 20, gates }));
const goodEstimate = { mean: 17, lower: 16, upper: 18, gainMean: 2, gainLower: 1, method: "by hand", episodes: 2 };

/**
 * CPU may be less than the fallback's while two steps of violation are left to risk, and a tenth more. With the default
 * shield one could hardly tell from the CPU who had acted.
 */
export const generous = Object.freeze({
  ...defaultShield,
  thrift: { allowance: 2 },
  ceiling: { times: 1.1, trouble: null },
});

export type RigOptions = Partial<AgentOptions<WorkloadReading, Allocation, Observation, Counted>> & {
  readonly shield?: ShieldOptions;
};

export class Rig {
  readonly world = new World();
  readonly learners: Scripted[] = [];
  readonly agent: Agent<WorkloadReading, Allocation, Observation, Counted>;
  readonly events: AgentEvent[] = [];
  stopwatch = 0;
  /** The task has no model of the workload that it could act by; over after the next step. */
  knowsTooLittle = false;

  constructor({ shield = generous, ...options }: RigOptions = {}) {
    this.agent = new Agent({
      workload,
      task: { ...podsTask(task, { shield }), isReady: () => !this.knowsTooLittle },
      limits,
      profile,
      fallback,
      createLearner: () => {
        const learner = new Scripted();
        this.learners.push(learner);
        return learner;
      },
      estimator: () => ok(goodEstimate),
      seed: 1,
      settings: { noise: { kind: "none" }, estimateEvery: 2, ...options.settings },
      stopwatch: () => milliseconds(this.stopwatch),
      ...withoutSettings(options),
    });
  }

  get learner(): Scripted {
    return this.learners.at(-1) as Scripted;
  }

  /** One control step: what is decided is done. */
  step(alter: (input: PodInput) => PodInput = (input) => input): PodTick {
    const tick = this.agent.tick(alter(this.world.input()));
    this.knowsTooLittle = false;
    this.events.push(...tick.events);
    this.world.have = afterAction(this.world.have, tick.action);
    this.world.now = seconds(this.world.now / 1000 + 15);
    return tick;
  }

  steps(count: number): PodTick[] {
    return Array.from({ length: count }, () => this.step());
  }

  /** Until the stage is reached, training between the steps; fails rather than runs for ever. */
  until(stage: string): PodTick {
    for (let i = 0; i < 500; i++) {
      const tick = this.step();
      if (tick.stage === stage) return tick;
      this.agent.train({ updates: 1 });
    }
    throw new Error(`never reached ${stage}`);
  }

  get path(): string[] {
    return this.events.flatMap(({ evidence }) =>
      "kind" in evidence && evidence.kind === "transition" ? [`${evidence.from}→${evidence.to}`] : [],
    );
  }
}

function withoutSettings({ settings: _, ...rest }: Omit<RigOptions, "shield">) {
  return rest;
}

export const ruleOf = ({ rule }: Reason): string => rule;
