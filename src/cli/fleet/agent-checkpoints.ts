/**
 * Checkpoints of a fleet's agents: the policy after each update, with how many updates it has had.
 * Owns: their bytes, and taking the last good one. Not here: the files (adapters/runtime/state-files.ts), the policy's own bytes.
 */
import { stateFiles } from "../../adapters/runtime/index.ts";
import { CodedError, type Failure, failure, parseAgentId, unwrap, type WorkloadId } from "../../base/index.ts";
import type { RemoteMember } from "../../control/agents/index.ts";
import type { Learner } from "../../learn/rl/index.ts";

export interface AgentCheckpoints {
  /** Whole on disk when it resolves; throws where it cannot be. */
  save(members: readonly Pick<RemoteMember, "agent" | "updates" | "checkpoint">[]): Promise<void>;
  /** Undefined where there is none. The learner is one that the checkpoint has to fit; what it was is lost. */
  load(
    agent: WorkloadId,
    learner: Learner,
  ): Promise<{ readonly updates: number; readonly checkpoint: Uint8Array } | undefined>;
}

const HEADER_BYTES = 8;
const never = new AbortController().signal;

export function agentCheckpoints({
  folder,
  onDamaged,
}: {
  readonly folder: string;
  readonly onDamaged: (failure: Failure) => void;
}): AgentCheckpoints {
  const files = stateFiles({ folder });
  const idOf = (agent: WorkloadId) => unwrap(parseAgentId(agent));
  return {
    async save(members) {
      await Promise.all(
        members.map(async ({ agent, updates, checkpoint }) => {
          const bytes = new Uint8Array(HEADER_BYTES + checkpoint.length);
          new DataView(bytes.buffer).setFloat64(0, updates);
          bytes.set(checkpoint, HEADER_BYTES);
          unwrap(await files.write(idOf(agent), bytes, never));
        }),
      );
    },
    async load(agent, learner) {
      const { states, damaged } = unwrap(await files.read(idOf(agent), never));
      for (const broken of damaged) onDamaged(broken);
      let refused: Failure | undefined;
      for (const state of states) {
        const checkpoint = state.slice(HEADER_BYTES);
        const loaded = learner.load(checkpoint);
        if (loaded.ok) return { updates: new DataView(state.buffer, state.byteOffset).getFloat64(0), checkpoint };
        refused ??= loaded.failure;
      }
      if (refused !== undefined)
        throw new CodedError(
          failure(
            "agents.foreign-checkpoint",
            `the checkpoint of ${agent} in ${folder} is of another kind of agent (${refused.message}); give another data folder`,
          ),
        );
      return undefined;
    },
  };
}
