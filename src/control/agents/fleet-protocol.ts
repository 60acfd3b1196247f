/**
 * What an agent's process and the coordinator of a fleet say to each other, once for each step and for all members of a process.
 * Owns: the messages and their order. Not here: bytes and checks at the edge (adapters/nats), what either side does (fleet-host.ts,
 * remote-party.ts).
 *
 * A process joins with the names of its agents and is told a session. From then on it sends one request for each step: of each
 * member what it reports, what its last choice earned and what it chooses now. The answer comes when the step is closed.
 */
import type { Failure, WorkloadId } from "../../base/index.ts";
import type { FunctionSetting, Pool } from "../tasks/functions/index.ts";
import type { VariantName } from "./variants.ts";

/** What a member is shown of its function: as much of `FunctionSeen` as agents need. */
export interface MemberSight {
  readonly obs: Float32Array;
  readonly have: FunctionSetting;
  readonly measures: { readonly preservation: number; readonly cpu: number; readonly memory: number };
}

export interface JoinRequest {
  /** Of the process, for people. */
  readonly name: string;
  readonly agents: readonly WorkloadId[];
}

export interface JoinedMember extends MemberSight {
  readonly agent: WorkloadId;
  readonly incarnation: number;
  readonly group: string;
}

export interface JoinAnswer {
  readonly session: string;
  /** The step that is open. */
  readonly step: number;
  readonly variant: VariantName;
  /** Numbers in a global state; 0 where critics see none. */
  readonly contextSize: number;
  readonly pool: Pool;
  /** How long a step may take until it is closed, ms: an answer that takes much longer will not come. */
  readonly stepTakes: number;
  readonly members: readonly JoinedMember[];
  readonly refused: readonly MemberRefused[];
}

export interface MemberRefused {
  readonly agent: string;
  readonly code: string;
  readonly message: string;
}

export interface StepRequest {
  readonly step: number;
  readonly members: readonly MemberReport[];
}

export interface MemberReport {
  readonly agent: WorkloadId;
  readonly incarnation: number;
  readonly values: ArrayLike<number>;
  /** Its own, of the step before; null where it did nothing in it. */
  readonly reward: number | null;
  /** Null: it cannot choose now, and rules act for it. */
  readonly choice: number | null;
  /** How many transitions of this incarnation are on its disk: what it may be held to. */
  readonly kept: number;
}

export interface StepAnswer {
  /** The step that was closed with this request; null for one that came too late, whose step others closed without it. */
  readonly step: number | null;
  /** The one that is open. */
  readonly next: number;
  /** Mean of what members reported to have earned in the step before. */
  readonly teamReward: number | null;
  readonly members: readonly MemberAnswer[];
}

export interface MemberAnswer {
  readonly agent: WorkloadId;
  /** Whether its choice was handed to the platform; else rules acted. */
  readonly acted: boolean;
  readonly refused?: Pick<Failure, "code" | "message">;
  /** Null for whoever is no member (any more): it has to join again. */
  readonly seen: MemberSight | null;
  /** Of the step that was closed. */
  readonly reward: number | null;
  /** What it sees of the others, as of this closing. */
  readonly global: Float32Array;
}
