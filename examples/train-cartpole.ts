// Trains PPO on CartPole for a few seconds, keeps the policy as bytes, opens it again and lets it play.
//
// prints: after 10000 steps: mean return …
// prints: after 30000 steps: mean return …
// prints: the policy is … bytes
// prints: opened again, it balances the pole for … steps on average: more than 100
import { unwrap } from "coxswain/base";
import { evaluate, openLearner, ppoDefaults, train } from "coxswain/rl";
import { loadKernels } from "coxswain/runtime";

const kernels = loadKernels(); // the native kernels where they were built, else WebAssembly
const { checkpoint } = await train({
  envId: "CartPole-v1",
  algorithm: { kind: "ppo", config: { ...ppoDefaults, lr: { from: 1e-3, to: 0, fraction: 1 } } },
  seed: 1,
  kernels,
  totalSteps: 30_000,
  evaluation: { every: 10_000, episodes: 10 },
  callbacks: {
    onEvaluation: ({ steps, mean }) => void console.log(`after ${steps} steps: mean return ${mean.toFixed(0)}`),
  },
});
console.log(`the policy is ${checkpoint.length} bytes`);

const learner = unwrap(openLearner(checkpoint, kernels));
const { mean } = evaluate(learner, { envId: "CartPole-v1", episodes: 20, seed: 99 });
const verdict = mean > 100 ? "more than 100" : "not enough";
console.log(`opened again, it balances the pole for ${mean.toFixed(0)} steps on average: ${verdict}`);
