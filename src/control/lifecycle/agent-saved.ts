/**
 * An agent as bytes: its life, its fallback's state, its policy and the last good one, its newest episodes.
 * Owns: the format and its refusals. Not here: files (adapters/), what the agent does with a refused policy (learner-slot.ts).
 *
 * It is a checkpoint of kind "agent", so damage is found by its length and checksum before anything is believed.
 */
import type { GuardState } from "../../act/index.ts";
import type { Failure, Ms, Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { Checkpoint, NumberBlock, Transition } from "../../learn/rl/index.ts";
import { decodeCheckpoint, encodeCheckpoint } from "../../learn/rl/index.ts";
import type { EpisodeLogState } from "./episode-log.ts";
import type { ExplorationState } from "./exploration.ts";
import type { FallbackSave } from "./fallback-slot.ts";
import type { LearnerEffectState } from "./learner-effect.ts";
import { loadLifecycle, saveLifecycle } from "./saved.ts";
import type { AgentState } from "./state.ts";
import type { WatchState } from "./watch.ts";

const AGENT_SCHEMA = 6;

/** What is plain JSON of an agent, besides its life. */
export interface AgentNotes extends ExplorationState {
  readonly guard: GuardState;
  readonly effect: LearnerEffectState;
  /** The task's own, between two looks. */
  readonly memory: unknown;
  readonly watch: WatchState;
  readonly trips: readonly boolean[];
  readonly constraint: number;
  readonly sinceEstimate: number;
  readonly before: Ms | null;
}

export interface AgentSave {
  readonly workload: string;
  readonly fallback: FallbackSave;
  readonly state: AgentState;
  readonly notes: AgentNotes;
  readonly log: EpisodeLogState;
  readonly learner: Uint8Array;
  readonly good: Uint8Array | null;
  /** Whether the learner's bytes hold its replay. */
  readonly isResumable: boolean;
}

export function encodeAgent(save: AgentSave): Uint8Array {
  const { workload, fallback, state, notes, isResumable, learner, good } = save;
  const { kept, ...log } = save.log;
  const meta = { schema: AGENT_SCHEMA, workload, fallback, lifecycle: saveLifecycle(state), notes, log, isResumable };
  const blocks = { learner, ...(good ? { good } : {}), ...episodeBlocks(kept) };
  return encodeCheckpoint({ kind: "agent", meta: meta as unknown as Checkpoint["meta"], blocks });
}

/** Refuses the state of another workload, fallback or version: nothing of it would fit. */
export function decodeAgent(
  bytes: Uint8Array,
  expected: { readonly workload: string; readonly fallback: string },
): Result<AgentSave> {
  const decoded = decodeCheckpoint(bytes);
  if (!decoded.ok) return decoded;
  const { kind, meta, blocks } = decoded.value;
  if (kind !== "agent") return foreign(`it was written by '${kind}', not by an agent`);
  if (meta.schema !== AGENT_SCHEMA) {
    return err(
      failure(
        "agent.schema",
        `the agent's state has schema version ${String(meta.schema)} and this program reads version ${AGENT_SCHEMA}; use the program that wrote it, or let the agent begin again`,
      ),
    );
  }
  // The checksum has vouched for the content, so what this version wrote has this version's shapes.
  const { workload, fallback, lifecycle, notes, log, isResumable } = meta as unknown as {
    readonly workload: string;
    readonly fallback: AgentSave["fallback"];
    readonly lifecycle: string;
    readonly notes: AgentNotes;
    readonly log: Omit<EpisodeLogState, "kept">;
    readonly isResumable: boolean;
  };
  if (workload !== expected.workload) return foreign(`it is of workload ${workload}, not of ${expected.workload}`);
  if (fallback.name !== expected.fallback)
    return foreign(`its fallback is ${fallback.name} and this agent's is ${expected.fallback}`);
  const state = loadLifecycle(lifecycle);
  if (!state.ok) return state;
  const { learner, good } = blocks;
  if (!(learner instanceof Uint8Array)) return foreign("it has no policy");
  return ok({
    workload,
    fallback,
    state: state.value,
    notes,
    log: { ...log, kept: episodesOf(blocks) },
    isResumable,
    learner,
    good: good instanceof Uint8Array ? good : null,
  });
}

function foreign(why: string): { readonly ok: false; readonly failure: Failure } {
  return err(
    failure("agent.foreign", `the saved state does not belong to this agent: ${why}; begin again, or use its own`),
  );
}

/** Episodes as flat columns: one row per step, and the lengths to cut them by. */
function episodeBlocks(episodes: readonly (readonly Transition[])[]): { [name: string]: NumberBlock } {
  const steps = episodes.flat();
  const column = (of: (step: Transition) => ArrayLike<number>) =>
    Float32Array.from(steps.flatMap((step) => Array.from(of(step))));
  return {
    "episodes/lengths": Int32Array.from(episodes.map(({ length }) => length)),
    "episodes/obs": column(({ obs }) => obs),
    "episodes/action": column(({ action }) => action),
    "episodes/next": column(({ nextObs }) => nextObs),
    "episodes/reward": Float64Array.from(steps.map((step) => step.reward)),
    "episodes/ended": Uint8Array.from(steps.map((step) => (step.end === "no" ? 0 : 1))),
  };
}

function episodesOf(blocks: { readonly [name: string]: NumberBlock }): Transition[][] {
  const of = (name: string): NumberBlock => blocks[`episodes/${name}`] ?? new Float32Array(0);
  const [lengths, obs, action, next] = [of("lengths"), of("obs"), of("action"), of("next")];
  const [rewards, ended] = [of("reward"), of("ended")];
  const width = (block: NumberBlock) => (rewards.length === 0 ? 0 : block.length / rewards.length);
  const row = (block: NumberBlock, at: number) =>
    Float32Array.from(block.subarray(at * width(block), (at + 1) * width(block)));
  let at = 0;
  return Array.from(lengths, (length) =>
    Array.from({ length }, () => {
      const step: Transition = {
        obs: row(obs, at),
        action: row(action, at),
        nextObs: row(next, at),
        reward: rewards[at] ?? 0,
        end: ended[at] === 1 ? "truncated" : "no",
      };
      at += 1;
      return step;
    }),
  );
}
