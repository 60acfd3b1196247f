// An environment of one's own: a service whose load comes and goes, with a number of replicas to choose.
// It is written once as pure functions over plain numbers, checked, stepped alone, then as a hundred copies at once.
//
// prints: checked: 0 problems
// prints: one episode of holding: 200 steps
// prints: dropping to one replica: mean return …
// prints: following load and queue: mean return …
// prints: spec-id: spec.id is 'Replicas'; end it in a version, …
import {
  box,
  buildEnv,
  buildVectorEnv,
  type Core,
  checkEnv,
  discrete,
  type EnvEntry,
  recordEpisodes,
} from "coxswain/env";

const core: Core = {
  observationSpace: box({ low: [0, 1, 0], high: [2, 10, 100] }), // load, replicas, requests that wait
  actionSpace: discrete(3), // one replica less, as many, one more
  stateSize: 3,
  initial(state, rng) {
    state[0] = rng.next();
    state[1] = 3;
    state[2] = 0;
  },
  transition({ state: [load = 0, replicas = 1, waiting = 0], action: [choice = 1], next, rng }) {
    const scaled = Math.min(10, Math.max(1, replicas + choice - 1));
    next[0] = Math.min(2, Math.max(0, load + 0.2 * rng.normal()));
    next[1] = scaled;
    next[2] = Math.min(100, Math.max(0, waiting + 10 * load - 2 * scaled)); // 10 requests at full load, 2 per replica
  },
  observe: (state, obs) => obs.set(state),
  reward: ({ next: [, replicas = 0, waiting = 0] }) => -replicas - waiting, // replicas cost, and so does waiting
  isTerminal: () => false, // a service has no end; one that ended on overflow would pay for failing fast
};
const entry: EnvEntry = { id: "Replicas-v0", maxSteps: 200, core: () => core };

const problems = checkEnv(() => buildEnv(entry));
console.log(`checked: ${problems.length} problems`);

const env = buildEnv<Float32Array, number>(entry);
env.reset({ seed: 1 });
let steps = 0;
for (let end = "no"; end === "no"; steps++) end = env.step(1).end; // "truncated" by the time limit
console.log(`one episode of holding: ${steps} steps`);

/** The mean return of a rule over 100 copies, each from its start to its end. */
function meanReturn(rule: (load: number, replicas: number, waiting: number) => number): string {
  const recorder = recordEpisodes();
  const many = buildVectorEnv(entry, { count: 100, wrappers: [recorder] });
  many.reset({ seed: 1 });
  const actions = new Int32Array(many.count);
  while (recorder.finished < 100) {
    for (let row = 0; row < many.count; row++) {
      const [load = 0, replicas = 0, waiting = 0] = many.obs.subarray(3 * row, 3 * row + 3);
      actions[row] = rule(load, replicas, waiting);
    }
    many.step(actions);
  }
  return (recorder.episodes.reduce((sum, episode) => sum + episode.return, 0) / recorder.episodes.length).toFixed(0);
}
console.log(`dropping to one replica: mean return ${meanReturn(() => 0)}`);
console.log(
  `following load and queue: mean return ${meanReturn((load, replicas, waiting) => {
    const wanted = 5 * load + waiting / 4;
    return wanted > replicas ? 2 : wanted < replicas - 1 ? 0 : 1;
  })}`,
);

// What the checker says when something is missing:
for (const { rule, message } of checkEnv(() => buildEnv({ ...entry, id: "Replicas" })))
  console.log(`${rule}: ${message}`);
