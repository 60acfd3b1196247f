/**
 * The lifecycle's state as text, so that it survives a restart.
 * Owns: the schema version and the refusal of what is not such a state. Not here: files (adapters/), the policy's bytes (agent.ts).
 */
import type { Failure, Result } from "../../base/index.ts";
import { stages as allStages, err, failure, ok } from "../../base/index.ts";
import type { AgentState } from "./state.ts";
import { offlineCauses, onlineCauses } from "./state.ts";

export const LIFECYCLE_SCHEMA = 3;

export function saveLifecycle(state: AgentState): string {
  return JSON.stringify({ schema: LIFECYCLE_SCHEMA, state });
}

export type LifecycleFailure = Failure<"lifecycle.corrupt" | "lifecycle.schema">;

export function loadLifecycle(text: string): Result<AgentState, LifecycleFailure> {
  let saved: unknown;
  try {
    saved = JSON.parse(text);
  } catch {
    return corrupt("it is not JSON");
  }
  if (!isObject(saved) || typeof saved.schema !== "number") return corrupt("it has no schema version");
  if (saved.schema !== LIFECYCLE_SCHEMA) {
    return err(
      failure(
        "lifecycle.schema",
        `the saved lifecycle has schema version ${saved.schema} and this program reads version ${LIFECYCLE_SCHEMA}; use the program that wrote it, or let the agent begin again`,
      ),
    );
  }
  const { state } = saved;
  if (!isState(state)) return corrupt("its state lacks a field or has one that is none");
  const arrived = state.history.at(-1)?.to ?? "INITIALIZED";
  if (arrived !== state.stage) return corrupt(`it is in ${state.stage}, but the last of its moves led to ${arrived}`);
  return ok(state);
}

function corrupt(why: string) {
  return err(
    failure(
      "lifecycle.corrupt",
      `the saved lifecycle cannot be read: ${why}; use the one before it, or let the agent begin again`,
    ),
  );
}

type Fields = { readonly [name: string]: unknown };
type Check = (value: unknown) => boolean;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isNumber: Check = (value) => Number.isFinite(value);
const isCount: Check = (value) => Number.isInteger(value) && Number(value) >= 0;
const isShare: Check = (value) => Number.isFinite(value) && Number(value) >= 0 && Number(value) <= 1;
const isText: Check = (value) => typeof value === "string";
const oneOf =
  (...options: readonly string[]): Check =>
  (value) =>
    options.includes(String(value));
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
/** Exactly these fields: one too many is as foreign as one too few. */
const shaped =
  (fields: { readonly [name: string]: Check }): Check =>
  (value) =>
    isObject(value) &&
    Object.keys(value).length === Object.keys(fields).length &&
    Object.entries(fields).every(([name, check]) => check(value[name]));

const isEpisode = shaped({
  episode: isCount,
  reward: isNumber,
  violations: isNumber,
  usual: isNumber,
  learnerShare: isShare,
  faultShare: isShare,
  steps: isCount,
  cost: isNumber,
  fallbackCost: isNumber,
});
const isShadow = shaped({ steps: isCount, failures: isCount, trips: isCount, risky: isCount, distance: isNumber });
const isEstimate = shaped({
  score: shaped({
    mean: isNumber,
    lower: isNumber,
    upper: isNumber,
    gainMean: isNumber,
    gainLower: isNumber,
    method: isText,
    episodes: isCount,
  }),
  age: isCount,
});
const isCanary: Check = (value) =>
  shaped({ kind: oneOf("passed") })(value) || shaped({ kind: oneOf("trial"), band: isNumber })(value);

const isJudgement = shaped({
  gate: isText,
  holds: (value) => typeof value === "boolean",
  found: orNull(isNumber),
  asked: orNull(isNumber),
  about: isText,
});
const isMove = shaped({
  at: isNumber,
  from: oneOf(...allStages),
  to: oneOf(...allStages),
  because: isText,
  evidence: listOf(isJudgement),
});
const memory = {
  stage: isText,
  episodes: isCount,
  fallback: listOf(isEpisode),
  rollbacks: isCount,
  history: listOf(isMove),
};
const learning = { ...memory, recent: listOf(isEpisode), best: orNull(isNumber), excess: isNumber };
const stages: { readonly [S in AgentState["stage"]]: Check } = {
  INITIALIZED: shaped(memory),
  OFFLINE: shaped({
    ...memory,
    because: oneOf(...offlineCauses),
    recent: listOf(isEpisode),
    wait: isCount,
    shadow: listOf(isShadow),
    estimate: orNull(isEstimate),
  }),
  ONLINE: shaped({ ...learning, because: oneOf(...onlineCauses), canary: isCanary }),
  SERVING: shaped(learning),
};

function isState(value: unknown): value is AgentState {
  if (!isObject(value) || typeof value.stage !== "string" || !Object.hasOwn(stages, value.stage)) return false;
  return stages[value.stage as AgentState["stage"]](value);
}
