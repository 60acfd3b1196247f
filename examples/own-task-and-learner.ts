// A task and a learner of one's own: how many items a queue consumer takes at once, learned with a table.
// Large batches serve more items per second, small ones let no item wait for its batch to fill.
// docs/guide/own-task-and-learner.md walks through this file.
//
// prints: the task: 0 problems
// prints: always 32: …
// prints: the rule: …
// prints: the table, after 60000 steps: … better than the rule
// prints: opened again from … bytes, it earns the same
import { err, failure, ok, type Result, type Rng, seededRng, unwrap } from "coxswain/base";
import { box, buildEnv, type Core, checkEnv, discrete, type EnvEntry, makeEnv, registerEnv } from "coxswain/env";
import {
  type ActOptions,
  type Decision,
  decodeCheckpoint,
  encodeCheckpoint,
  evaluate,
  type Learner,
  type LearnerShape,
  type Transition,
  type UpdateStats,
} from "coxswain/rl";

// ── The task: what is seen, what can be done, what it earns ──────────────────────────────────────────────

const sizes = [1, 2, 4, 8, 16, 32, 64];
const MOST_RATE = 150;
const MOST_WAITING = 600;
/** Items per second: 50 ms for a batch, and 5 ms for each item in it. */
const capacity = (size: number) => size / (0.05 + 0.005 * size);
const sizeOf = (action: number | undefined) => sizes[action ?? 0] ?? 1;
const within = (value: number, most: number) => Math.min(most, Math.max(0, value));

const core: Core = {
  observationSpace: box({ low: [0, 0], high: [1, 1] }), // arrivals and waiting items, as shares of their most
  actionSpace: discrete(sizes.length),
  stateSize: 2, // items per second that arrive, items that wait
  initial(state, rng) {
    state[0] = 10 + 130 * rng.next();
    state[1] = 0;
  },
  transition({ state: [rate = 0, waiting = 0], action: [choice], next, rng }) {
    next[0] = Math.max(5, within(rate + 8 * rng.normal(), MOST_RATE));
    next[1] = within(waiting + rate - capacity(sizeOf(choice)), MOST_WAITING);
  },
  observe([rate = 0, waiting = 0], obs) {
    obs[0] = rate / MOST_RATE;
    obs[1] = waiting / MOST_WAITING;
  },
  // Seconds that an item waits: for its batch to fill, and for those before it.
  reward({ state: [rate = 1], action: [choice], next: [, waiting = 0] }) {
    const size = sizeOf(choice);
    return -(size / (2 * rate) + waiting / capacity(size));
  },
  isTerminal: () => false,
};
const task: EnvEntry = { id: "BatchSize-v0", maxSteps: 200, core: () => core };
registerEnv(task); // now every part of the package finds it by its name
console.log(`the task: ${checkEnv(() => buildEnv(task)).length} problems`);

// ── The learner: Q-learning over a table ─────────────────────────────────────────────────────────────────

const RATES = 15;
const QUEUES = 8;
const EXPLORE = 0.1;
const DISCOUNT = 0.9;
const STEP_SIZE = 0.1;

class TableLearner implements Learner {
  readonly kind = "example-table";
  readonly learnsFrom = "any";
  readonly shape: LearnerShape = {
    obs: 2,
    action: { kind: "discrete", n: sizes.length },
    actorContext: 0,
    criticContext: 0,
  };
  steps = 0;
  readonly #rng: Rng;
  readonly #values = new Float64Array(RATES * QUEUES * sizes.length);
  #news: Transition[] = [];

  constructor(seed: number) {
    this.#rng = seededRng(seed);
  }

  /** A failure says: do not act on this, let the fallback act. It never guesses and never throws. */
  act(obs: ArrayLike<number>, { explore, explorer }: ActOptions): Result<Decision> {
    if (!Number.isFinite(obs[0]) || !Number.isFinite(obs[1]))
      return err(failure("example.not-finite", "the observation is no number; check where it comes from"));
    const rng = explorer?.rng ?? this.#rng;
    const isDrawn = explore && rng.next() < EXPLORE;
    const action = isDrawn ? Math.floor(rng.next() * sizes.length) : this.#best(this.#cell(obs));
    return ok({ action: Float32Array.of(action), logProb: 0 });
  }

  observe(transition: Transition): Result<void> {
    this.steps += 1;
    // Arrays are the caller's and may be used again, so they are copied.
    const { obs, action, nextObs } = transition;
    this.#news.push({
      ...transition,
      obs: Float32Array.from(obs),
      action: Float32Array.from(action),
      nextObs: Float32Array.from(nextObs),
    });
    return ok(undefined);
  }

  /** What was executed counts, not what was proposed: the guard may have changed it. */
  update(): UpdateStats | undefined {
    if (this.#news.length === 0) return undefined;
    let wrong = 0;
    for (const { obs, action, reward, nextObs, end } of this.#news) {
      const at = this.#cell(obs) * sizes.length + (action[0] ?? 0);
      // A truncated episode still has a future; only a terminated one has none.
      const next = this.#cell(nextObs);
      const future = end === "terminated" ? 0 : (this.#values[next * sizes.length + this.#best(next)] ?? 0);
      const error = reward + DISCOUNT * future - (this.#values[at] ?? 0);
      this.#values[at] = (this.#values[at] ?? 0) + STEP_SIZE * error;
      wrong += error ** 2;
    }
    const stats = { gradientSteps: this.#news.length, criticLoss: wrong / this.#news.length, actorLoss: 0, more: {} };
    this.#news = [];
    return stats;
  }

  setProgress(): void {} // no schedule follows how far training has come

  save(): Uint8Array {
    return encodeCheckpoint({ kind: this.kind, meta: { steps: this.steps }, blocks: { values: this.#values } });
  }

  /** All or nothing: a damaged or foreign file changes nothing. */
  load(bytes: Uint8Array): Result<void> {
    const found = decodeCheckpoint(bytes);
    if (!found.ok) return found;
    const { values } = found.value.blocks;
    if (found.value.kind !== this.kind || values?.length !== this.#values.length)
      return err(failure("example.foreign", "the checkpoint is of another learner"));
    this.#values.set(values);
    this.steps = Number(found.value.meta.steps);
    return ok(undefined);
  }

  dispose(): void {}

  #cell(obs: ArrayLike<number>): number {
    const rate = Math.min(RATES - 1, Math.floor((obs[0] ?? 0) * RATES));
    // Finer where few wait: that is where the choice matters.
    const queue = Math.min(QUEUES - 1, Math.floor(Math.sqrt(obs[1] ?? 0) * QUEUES));
    return rate * QUEUES + queue;
  }

  #best(cell: number): number {
    const row = this.#values.subarray(cell * sizes.length, (cell + 1) * sizes.length);
    return row.reduce((best, value, i) => (value > (row[best] ?? 0) ? i : best), 0);
  }
}

// ── Both together, against what people run today ─────────────────────────────────────────────────────────

/** The mean reward of an episode, over the same fifty for everyone. */
function meanOf(choose: (obs: Float32Array) => number): number {
  const env = makeEnv<Float32Array, number>(task.id);
  let total = 0;
  for (let episode = 0; episode < 50; episode++) {
    let { obs } = env.reset({ seed: episode });
    for (let end = "no"; end === "no"; ) {
      const step = env.step(choose(obs));
      ({ obs, end } = step);
      total += step.reward;
    }
  }
  return total / 50;
}
console.log(`always 32: ${meanOf(() => sizes.indexOf(32)).toFixed(1)}`);

/** The fallback that the learner has to beat: larger while items wait, smaller when none do. */
let size = 0;
const rule = meanOf(([, waiting = 0]) => {
  if (waiting > 0) size = Math.min(size + 1, sizes.length - 1);
  else size = Math.max(size - 1, 0);
  return size;
});
console.log(`the rule: ${rule.toFixed(1)}`);

const learner = new TableLearner(1);
const env = makeEnv<Float32Array, number>(task.id);
let { obs } = env.reset({ seed: 1_000 });
for (let i = 0; i < 60_000; i++) {
  const { action } = unwrap(learner.act(obs, { explore: true }));
  const step = env.step(action[0] ?? 0);
  unwrap(learner.observe({ obs, action, reward: step.reward, nextObs: step.obs, end: step.end }));
  learner.update();
  obs = step.end === "no" ? step.obs : env.reset().obs;
}
const learned = meanOf((seen) => unwrap(learner.act(seen, { explore: false })).action[0] ?? 0);
const verdict = learned > rule ? "better than the rule" : "not better than the rule";
console.log(`the table, after ${learner.steps} steps: ${learned.toFixed(1)}, ${verdict}`);

// The package's own evaluation takes any learner: no exploration, fresh environments, seeds of their own.
const trial = { envId: task.id, episodes: 20, seed: 7 };
const bytes = learner.save();
const again = new TableLearner(2);
unwrap(again.load(bytes));
const isSame = evaluate(again, trial).mean === evaluate(learner, trial).mean;
console.log(`opened again from ${bytes.length} bytes, it earns ${isSame ? "the same" : "something else"}`);
