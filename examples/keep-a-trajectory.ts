// Records one episode of CartPole into an embedded store, with rewards that arrive later, and learns what it holds.
//
// prints: 1 episode, … steps, … waiting for their reward
// prints: best episode: return …, terminated
// prints: a sample of 32 transitions, … of them final
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { milliseconds, parseAgentId, parseEpisodeId, seededRng, unwrap } from "coxswain/base";
import { makeEnv } from "coxswain/env";
import { type Completion, openDuckdbStore, type TrajectoryRecord } from "coxswain/store";

const folder = mkdtempSync(join(tmpdir(), "coxswain-example-"));
const store = await openDuckdbStore({ path: join(folder, "trajectories.duckdb") });
const rng = seededRng(7);
const episode = unwrap(parseEpisodeId("first"));
const agent = unwrap(parseAgentId("chance"));

const env = makeEnv("CartPole-v1");
let { obs } = env.reset({ seed: 7 });
const records: TrajectoryRecord[] = [];
const late: Completion[] = [];
for (let step = 0, end = "no"; end === "no"; step++) {
  const action = env.actionSpace.sample(rng);
  const chosen = Float32Array.of(action);
  const result = env.step(action);
  end = result.end;
  // The guard of a real system may change the proposal, so both are kept; here they are the same.
  const common = { episode, agent, step, at: milliseconds(step * 20), obs, proposed: chosen, executed: chosen };
  records.push({ ...common, logProb: Math.log(0.5), reward: null, end: result.end });
  late.push({ episode, step, reward: result.reward });
  obs = result.obs;
}
env.close();

await store.append(records); // durable once this resolves
const waiting = await store.counts();
console.log(`${waiting.episodes} episode, ${waiting.records} steps, ${waiting.pending} waiting for their reward`);

await store.complete(late);
const [best] = await store.topEpisodes({ count: 1 });
console.log(`best episode: return ${best?.return}, ${best?.end}`);

const sample = await store.sample({ count: 32, rng });
const final = sample.filter(({ nextObs }) => nextObs === null).length;
console.log(`a sample of ${sample.length} transitions, ${final} of them final`);

await store.close();
rmSync(folder, { recursive: true });
