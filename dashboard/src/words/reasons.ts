/**
 * What an agent's reasons mean: it gives them as data, people read sentences.
 * Owns: the words for who acts and why, for what canary, shield and guard changed, and for why a stage changed. Pure.
 * A reason without words here is shown as it came: nothing is hidden because it is new.
 */
import type { FallbackDocument, Reason } from "../../../src/contract/index.ts";
import { withFallback } from "./fallback.ts";

type Words = Readonly<Record<string, string>>;

const LIFECYCLE: Words = {
  training: "Online: the learner acts and goes on training.",
  serving: "Serving: the learner acts with its settled policy.",
  bootstrapping: "Offline: left to {fallback} while the learner trains on what is done.",
  measuring: "Online: left to {fallback} for one episode, because what that earns here is not known yet.",
  retraining: "Offline again: its rewards fell, so it is left to {fallback} while it retrains.",
  cheaper: "{fallback} is cheaper at present and keeps the SLO as often as promised.",
  "rolled-back": "Rolled back: left to {fallback} until its gates hold again.",
  "not-started": "The agent has not begun, so it is left to {fallback}.",
  paused: "A person paused the agent, so it is left to {fallback}.",
  "recommend-only": "The agent only recommends: nobody acts, and nothing is changed.",
  "workload-vanished": "The workload cannot be found.",
  "allocation-unknown": "What the workload has cannot be read, so it is left to {fallback}.",
  "clock-jumped": "The clock jumped, so it is left to {fallback}.",
  "telemetry-stale": "The measurements are too old to act on, so it is left to {fallback}.",
  "telemetry-unusable": "The measurements cannot be used, so it is left to {fallback}.",
  "model-learning": "Too little was seen of the workload to say what it needs, so it is left to {fallback}.",
  "checkpoint-missing": "The learner's saved state is missing, so it is left to {fallback}.",
  "checkpoint-corrupt": "The learner's saved state is damaged, so it is left to {fallback}.",
  "checkpoint-other-version": "The learner's saved state is of another version, so it is left to {fallback}.",
  "learner-crashed": "The learner crashed, so it is left to {fallback}.",
  "learner-slow": "The learner did not answer in time, so it is left to {fallback}.",
  "output-not-finite": "The learner asked for something that is not a number, so it is left to {fallback}.",
  "guard-trips": "The guard had to correct the learner too often, so it is left to {fallback}.",
};

const SHIELD: Words = {
  "slo-missed": "Shield: the SLO was missed, so no less than {fallback} would give.",
  "out-of-memory": "Shield: pods were killed for want of memory, so no less than {fallback} would give.",
  "memory-near-limit": "Shield: memory is near its limit, so no less than {fallback} would give.",
  "measurements-missing": "Shield: measurements are missing, so no less than {fallback} would give.",
  "savings-spent": "Shield: no violation may be risked to save CPU now, so no less than {fallback} would give.",
  "slo-near": "Shield: the SLO is near, so CPU is not taken away now.",
  "memory-needed": "Shield: as much memory as pods lately needed at most.",
  "descends-slowly": "Shield: CPU and memory go down one step at a time.",
  "not-its-turn": "Shield: it is another service's turn to have its limits fitted, so nothing is changed.",
  "more-than-enough": "Shield: more than {fallback} would give at such a load, so it was cut.",
};

/** Without a full stop where it is about one knob, which follows. */
const GUARD: Words = {
  grain: "Guard: rounded to whole units",
  bounds: "Guard: kept within its bounds",
  "cool-down": "Guard: changed too recently to change again",
  step: "Guard: a smaller step",
  budget: "Guard: as many pods at once as the disruption budget allows",
  capacity: "Guard: no more than the nodes have room for",
  "not-finite": "Guard: refused, the wish is not a number.",
  "unknown-knob": "Guard: refused, the wish is about something that cannot be set.",
  "stale-data": "Guard: refused, the measurements are too old.",
  "data-from-the-future": "Guard: refused, the measurements are from the future.",
  "current-unknown": "Guard: refused, what the workload has is not known.",
  "clock-unknown": "Guard: refused, the time is not known.",
};

/** What the task's own model of the workload says. */
const CAPACITY: Words = {
  need: "Capacity: the least that the model expects to keep the SLO.",
  idle: "Capacity: no requests are expected.",
  relief: "Capacity: the SLO was missed: at least half as much again.",
  held: "Capacity: what cured an overload is given back slowly.",
  "no-cure": "Capacity: the SLO is missed, but more CPU would not cure it, so no more is given.",
};

/** Whose plan it is, where it is not the capacity model's own. */
const PORTFOLIO: Words = {
  prior: "Portfolio: planned by the load alone, which a model of the workload expects to be cheaper.",
};

const BY: Readonly<Record<string, Words>> = {
  lifecycle: LIFECYCLE,
  canary: { band: "Canary: the wish was kept close to what {fallback} would do." },
  shield: SHIELD,
  guard: GUARD,
  capacity: CAPACITY,
  portfolio: PORTFOLIO,
  "domain-match": {
    "neutral-embedding":
      "The shared model has not seen enough of the workload yet, so its policy acts as for any workload.",
    stranger: "The workload is unlike all that the shared model was trained on, so its policy is trained further.",
  },
};

const KNOBS: Words = { cpu: "CPU", llc: "cache", io: "disk" };

export function reasonWords({ by, rule, knob }: Reason, fallback: FallbackDocument): string {
  const of = knob === undefined ? "" : ` (${KNOBS[knob] ?? knob})`;
  const words = by === fallback.name && rule === "alone" ? "{fallback} alone." : BY[by]?.[rule];
  if (words === undefined) return `${by}: ${rule}${of}`;
  return withFallback(of === "" ? words : `${words}${of}.`, fallback.title);
}

const CHANGERS = { canary: "canary band", shield: "shield", guard: "guard" } as const;

/** Who changed the learner's wish, by the reasons of a decision; empty where nobody did. */
export const changedBy = (why: readonly Reason[]): readonly string[] =>
  Object.entries(CHANGERS).flatMap(([by, name]) => (why.some((reason) => reason.by === by) ? [name] : []));

const BECAUSE: Words = {
  bootstrap: "It learns from {fallback} first.",
  "no-bootstrap": "Its profile asks for no bootstrapping.",
  "shared-policy": "It begins with the policy that was trained on many other workloads.",
  earned: "Its estimated reward reached the threshold, and its wishes in shadow were sound.",
  "model-ready": "Its model has learned what the workload needs, and its wishes in shadow were sound.",
  "fallback-fails": "{fallback} missed the SLO for minutes and did not cure it.",
  converged: "Its rewards reached the threshold for Serving and are steady.",
  retraining: "Its rewards fell below the threshold for Serving.",
  rollback: "It missed the SLO more often than {fallback} would have.",
  "not-worth": "It cost more than {fallback} alone would, which keeps the SLO as often as promised.",
  candidate: "A policy that learned beside the loop takes the place of the one before, and is watched first.",
  "learner-lost": "Its learner was lost.",
  operator: "A person decided so.",
};

export const becauseWords = (because: string, fallback: string): string =>
  BECAUSE[because] === undefined ? because : withFallback(BECAUSE[because], fallback);
