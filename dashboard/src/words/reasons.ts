/**
 * What an agent's reasons mean: it gives them as short codes, people read sentences.
 * Owns: the words for who acts and why, for what shield and guard changed, and for why a stage changed. Pure.
 * A reason without words here is shown as it came: nothing is hidden because it is new.
 */

const ACTING: Readonly<Record<string, string>> = {
  training: "Online: the learner acts and goes on training.",
  serving: "Serving: the learner acts with its settled policy.",
  bootstrapping: "Offline: HPA and VPA act while the learner trains on what they do.",
  measuring: "Online: HPA and VPA act for one episode, because what they earn here is not known yet.",
  "neutral-embedding":
    "The shared model has not seen enough of the workload yet, so its policy acts as for any workload.",
  stranger: "The workload is unlike all that the shared model was trained on, so its policy is trained further.",
  retraining: "Offline again: its rewards fell, so HPA and VPA act while it retrains.",
  "rolled-back": "Rolled back: HPA and VPA act until its gates hold again.",
  "not-started": "The agent has not begun, so HPA and VPA act.",
  paused: "A person paused the agent, so HPA and VPA act.",
  "recommend-only": "The agent only recommends: nobody acts, and nothing is changed.",
  "workload-vanished": "The workload can not be found.",
  "allocation-unknown": "What the workload has can not be read, so HPA and VPA act.",
  "clock-jumped": "The clock jumped, so HPA and VPA act.",
  "telemetry-stale": "The measurements are too old to act on, so HPA and VPA act.",
  "telemetry-unusable": "The measurements can not be used, so HPA and VPA act.",
  "checkpoint-missing": "The learner's saved state is missing, so HPA and VPA act.",
  "checkpoint-corrupt": "The learner's saved state is damaged, so HPA and VPA act.",
  "checkpoint-other-version": "The learner's saved state is of another version, so HPA and VPA act.",
  "learner-crashed": "The learner crashed, so HPA and VPA act.",
  "learner-slow": "The learner did not answer in time, so HPA and VPA act.",
  "output-not-finite": "The learner asked for something that is no number, so HPA and VPA act.",
  "guard-trips": "The guard had to correct the learner too often, so HPA and VPA act.",
  "rules alone": "HPA and VPA alone.",
};

const SHIELD: Readonly<Record<string, string>> = {
  canary: "Canary: the wish was kept close to what HPA and VPA would do.",
  "slo-missed": "Shield: the SLO was missed, so no less than HPA and VPA would give.",
  "out-of-memory": "Shield: pods were killed for want of memory, so no less than HPA and VPA would give.",
  "memory-near-limit": "Shield: memory is near its limit, so no less than HPA and VPA would give.",
  "measurements-missing": "Shield: measurements are missing, so no less than HPA and VPA would give.",
  "savings-spent": "Shield: no violation may be risked to save CPU now, so no less than HPA and VPA would give.",
  "slo-near": "Shield: the SLO is near, so CPU is not taken away now.",
  "memory-needed": "Shield: as much memory as pods lately needed at most.",
  "descends-slowly": "Shield: CPU and memory go down one step at a time.",
  "more-than-enough": "Shield: more than HPA and VPA would give at such a load, so it was cut.",
};

const GUARD: Readonly<Record<string, string>> = {
  "whole-units": "Guard: rounded to whole units",
  bounds: "Guard: kept within its bounds",
  "cool-down": "Guard: changed too recently to change again",
  step: "Guard: a smaller step",
  budget: "Guard: as many pods at once as the disruption budget allows",
  capacity: "Guard: no more than the nodes have room for",
  "not-finite": "Guard: refused, the wish is no number.",
  "stale-data": "Guard: refused, the measurements are too old.",
  "data-from-the-future": "Guard: refused, the measurements are from the future.",
  "current-unknown": "Guard: refused, what the workload has is not known.",
  "clock-unknown": "Guard: refused, the time is not known.",
};

const DIMENSIONS: Readonly<Record<string, string>> = { replicas: "replicas", cpu: "CPU", memory: "memory" };

/** `cool-down: replicas`, as the guard says it, or one word of an agent or its shield. */
export function reasonWords(reason: string): string {
  const known = ACTING[reason] ?? SHIELD[reason] ?? GUARD[reason];
  if (known !== undefined) return known;
  const [rule = "", dimension = ""] = reason.split(": ");
  const words = GUARD[rule];
  const of = DIMENSIONS[dimension];
  return words === undefined || of === undefined ? reason : `${words} (${of}).`;
}

/** Who changed the learner's wish, by the reasons of a decision; empty where nobody did. */
export function changedBy(why: readonly string[]): readonly ("canary band" | "shield" | "guard")[] {
  const isGuards = (reason: string): boolean => (reason.split(": ")[0] ?? "") in GUARD;
  return [
    ...(why.includes("canary") ? (["canary band"] as const) : []),
    ...(why.some((reason) => reason !== "canary" && reason in SHIELD) ? (["shield"] as const) : []),
    ...(why.some(isGuards) ? (["guard"] as const) : []),
  ];
}

const BECAUSE: Readonly<Record<string, string>> = {
  bootstrap: "It learns from HPA and VPA first.",
  "no-bootstrap": "Its profile asks for no bootstrapping.",
  "shared-policy": "It begins with the policy that was trained on many other workloads.",
  earned: "Its estimated reward reached the threshold, and its wishes in shadow were sound.",
  converged: "Its rewards reached the threshold for Serving and are steady.",
  retraining: "Its rewards fell below the threshold for Serving.",
  rollback: "It missed the SLO more often than HPA and VPA would have.",
  "learner-lost": "Its learner was lost.",
  operator: "A person decided so.",
};

export const becauseWords = (because: string): string => BECAUSE[because] ?? because;
