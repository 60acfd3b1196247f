// A learner of one's own in the slot of an autoscaling agent: HPA and VPA act until it has earned it, every wish of it
// passes shield and guard, and the fallback takes over within one step when it fails.
// The learner repeats what paid best at similar moments. It is no good autoscaler; the point is that it can do no harm.
// docs/guide/own-task-and-learner.md walks through this file.
//
// prints: INITIALIZED → OFFLINE (bootstrap) after 0 steps
// prints: OFFLINE → ONLINE (earned) after … steps
// prints: the learner throws: fallback acts (learner-crashed)
// prints: and later: learner
import {
  err,
  failure,
  mebibytes,
  millicores,
  milliseconds,
  ok,
  parseWorkloadId,
  type Result,
  seconds,
  unwrap,
} from "coxswain/base";
import { Agent, offPolicyEstimator, parseLifecycleProfile } from "coxswain/control";
import {
  actionSpace,
  autoscaleTask,
  hpaVpaController,
  mostPerEpisode,
  observationSpace,
  parseHpaConfig,
  podLimits,
  podsTask,
} from "coxswain/pods";
import {
  type ActOptions,
  actionShapeOf,
  type Decision,
  decodeCheckpoint,
  encodeCheckpoint,
  type Learner,
  type LearnerShape,
  type Transition,
  type UpdateStats,
} from "coxswain/rl";
import { characterizationNodes, composeApplication, fluidWorld, generateLoad } from "coxswain/sim";

// ── The learner ──────────────────────────────────────────────────────────────────────────────────────────

const NEIGHBOURS = 8;
const KEPT = 2_000;

class RepeatsTheBest implements Learner {
  readonly kind = "example-repeats-the-best";
  readonly learnsFrom = "any";
  readonly shape: LearnerShape;
  steps = 0;
  isBroken = false;
  #memory: { obs: Float32Array; action: Float32Array; reward: number }[] = [];

  constructor(shape: LearnerShape) {
    this.shape = shape;
  }

  act(obs: ArrayLike<number>, { explore, explorer }: ActOptions): Result<Decision> {
    if (this.isBroken) throw new Error("broken on purpose");
    if (this.#memory.length === 0) return err(failure("example.empty", "nothing was seen yet; the fallback acts"));
    const near = this.#memory
      .map((seen) => ({ seen, distance: seen.obs.reduce((sum, value, i) => sum + (value - (obs[i] ?? 0)) ** 2, 0) }))
      .sort((one, other) => one.distance - other.distance)
      .slice(0, NEIGHBOURS);
    const { seen } = near.reduce((best, one) => (one.seen.reward > best.seen.reward ? one : best));
    const action = seen.action.slice();
    // The agent hands over its own noise, which the shield holds; a learner adds it and does not ask how much.
    if (explore) explorer?.noise?.addTo(action, explorer.rng);
    return ok({ action, logProb: 0 });
  }

  observe({ obs, action, reward }: Transition): Result<void> {
    this.steps += 1;
    this.#memory.push({ obs: Float32Array.from(obs), action: Float32Array.from(action), reward });
    if (this.#memory.length > KEPT) this.#memory.shift();
    return ok(undefined);
  }

  /** Remembering is all it does, so there is nothing to compute. */
  update(): UpdateStats | undefined {
    return undefined;
  }

  setProgress(): void {}

  save(): Uint8Array {
    const flat = (pick: "obs" | "action") => Float32Array.from(this.#memory.flatMap((seen) => [...seen[pick]]));
    const rewards = Float32Array.from(this.#memory.map(({ reward }) => reward));
    const blocks = { obs: flat("obs"), action: flat("action"), rewards };
    return encodeCheckpoint({ kind: this.kind, meta: { steps: this.steps }, blocks });
  }

  load(bytes: Uint8Array): Result<void> {
    const found = decodeCheckpoint(bytes);
    if (!found.ok) return found;
    const { obs, action, rewards } = found.value.blocks;
    if (found.value.kind !== this.kind || !obs || !action || !rewards)
      return err(failure("example.foreign", "the checkpoint is of another learner"));
    const rows = rewards.length;
    const row = (block: ArrayLike<number>, i: number) =>
      Float32Array.from(block).slice((i * block.length) / rows, ((i + 1) * block.length) / rows);
    this.#memory = Array.from(rewards, (reward, i) => ({ obs: row(obs, i), action: row(action, i), reward }));
    this.steps = Number(found.value.meta.steps);
    return ok(undefined);
  }

  dispose(): void {}
}

// ── The workload: a simulated service, its promise, its bounds, its rules ────────────────────────────────

const workload = unwrap(parseWorkloadId("shop"));
const bounds = {
  replicas: { min: 1, max: 8 },
  cpu: { min: millicores(250), max: millicores(2_000) },
  memory: { min: mebibytes(128), max: mebibytes(1_024) },
};
const slo = { kind: "latency", quantile: 0.99, target: milliseconds(400) } as const;
const initial = { replicas: 3, cpu: millicores(1_000), memory: mebibytes(512) };
const application = composeApplication(["web-rendering"], {
  id: "shop",
  sigma: 0.25,
  threads: 16,
  queue: 64,
  timeout: seconds(4),
  retries: 1,
  startup: { mean: seconds(8), sigma: 0.3 },
  warmup: { factor: 1.5, span: seconds(30) },
  runtime: mebibytes(80),
});
const load = generateLoad({ seed: 3, days: 1, shape: "periodic", level: "high", mean: 20 });
const world = fluidWorld({
  seed: 3,
  start: milliseconds(0),
  nodes: characterizationNodes(),
  workloads: [{ id: workload, application, load, slo, initial, resize: "in-place" }],
});

const task = unwrap(autoscaleTask({ slo, bounds, episodeSteps: 24 }));
const shape: LearnerShape = {
  obs: observationSpace(task).size,
  action: actionShapeOf(actionSpace),
  actorContext: 0,
  criticContext: 0,
};
let learner = new RepeatsTheBest(shape);
const agent = new Agent({
  workload,
  task: podsTask(task),
  limits: unwrap(podLimits({ bounds })),
  // Short windows, so that a life fits an example.
  profile: unwrap(
    parseLifecycleProfile({
      window: 4,
      maxReward: mostPerEpisode(task),
      online: { kind: "fallback", times: 0.9, plus: 0 },
      serving: { kind: "fallback", times: 0.9, plus: 0 },
      gates: {
        offPolicy: { maxAgeEpisodes: 4, margin: 0.25 },
        shadow: { episodes: 2, maxTripRate: 0.5, maxFailureRate: 0.05, maxRiskyRate: 0.25 },
        canary: { start: 0.25, widen: 2, narrow: 0.5, allowance: 2, slack: 0.1 },
        rollback: { excess: 10, credit: 10, maxFaultShare: 0.5, wait: 3 },
      },
    }),
  ),
  fallback: hpaVpaController({
    hpa: unwrap(
      parseHpaConfig({
        minReplicas: bounds.replicas.min,
        maxReplicas: bounds.replicas.max,
        metrics: [{ type: "resource", resource: "cpu", target: { kind: "utilization", percent: 60 } }],
      }),
    ),
    template: { cpu: initial.cpu, memory: initial.memory },
    bounds,
  }),
  // Asked for again, with a higher number, when a learner was lost.
  createLearner: () => {
    learner = new RepeatsTheBest(shape);
    return learner;
  },
  estimator: offPolicyEstimator({ seed: 1, config: { horizon: task.episodeSteps } }),
  settings: { estimateEvery: 1 },
  seed: 1,
});

// ── The loop by hand: read, decide, do. `ControlLoop` of coxswain/control does the same for many, with deadlines ──

function turn() {
  world.advance(milliseconds(world.now + task.controlStep));
  const tick = agent.tick({
    reading: ok(world.read(workload)),
    have: ok(world.allocation(workload)),
    nodes: world.nodes(workload),
    now: world.now,
  });
  if (tick.action.kind !== "hold") agent.acted(world.apply(tick.action));
  agent.train({ updates: 1 }); // also makes the estimate that the gate to ONLINE asks for
  return tick;
}

let steps = 0;
for (let isOnline = false; !isOnline && steps < 1_000; ) {
  const { events } = turn();
  for (const { name, evidence } of events) {
    if (name !== "transition") continue;
    const { from, to, because } = evidence as { from: string; to: string; because: string };
    console.log(`${from} → ${to} (${because}) after ${steps} steps`);
    isOnline = to === "ONLINE";
  }
  steps += 1;
}

learner.isBroken = true;
const broken = turn();
console.log(`the learner throws: ${broken.who} acts (${broken.why[0]?.rule})`);
learner.isBroken = false;
let last = turn();
for (let i = 0; i < 40 && last.who !== "learner"; i++) last = turn();
console.log(`and later: ${last.who}`);
