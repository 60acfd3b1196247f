// Trains PPO on Acrobot with the steps of every rollout taken on worker threads: one, then two.
//
// prints: 1 thread(s): 8192 steps, policy of … bytes
// prints: 2 thread(s): 8192 steps, policy of … bytes
// prints: the two policies are the same, byte for byte
import { ppoDefaults, trainParallel } from "coxswain/rl";
import { loadKernels, openRolloutPool } from "coxswain/runtime";

const kernels = loadKernels();
const policies: Uint8Array[] = [];
for (const threads of [1, 2]) {
  const pool = openRolloutPool({ threads, kernels });
  const { steps, checkpoint } = await trainParallel({
    envId: "Acrobot-v1",
    algorithm: { kind: "ppo", config: { ...ppoDefaults, streams: 8 } },
    seed: 1,
    kernels,
    totalSteps: 8_192,
    pool,
  });
  await pool.close();
  console.log(`${threads} thread(s): ${steps} steps, policy of ${checkpoint.length} bytes`);
  policies.push(checkpoint);
}
const [one, two] = policies;
const isSame = one?.every((byte, i) => byte === two?.[i]);
console.log(`the two policies are ${isSame ? "the same, byte for byte" : "different"}`);
