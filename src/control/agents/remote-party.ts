/**
 * All members of one fleet in one process: a request for each step, an answer for each request. START READING HERE on agents' side.
 * Owns: which step is next, whose turn of learning it is, what is said of those who are out. Not here: one member
 * (remote-member.ts), sending and waiting (the caller's), files.
 *
 * The order that loses nothing: `take` gives the transitions that are complete, the caller writes them to disk, then `learn`; only
 * then are they counted in the next request, which is when the coordinator hears of them.
 */
import type { Failure, WorkloadId } from "../../base/index.ts";
import type { StepAnswer, StepRequest } from "./fleet-protocol.ts";
import type { FleetTransition, RemoteMember } from "./remote-member.ts";

export interface TakenStep {
  readonly transitions: readonly FleetTransition[];
  /** These are no members any more: all of the process join again. */
  readonly out: readonly WorkloadId[];
  readonly refused: readonly { readonly agent: WorkloadId; readonly code: string; readonly message: string }[];
  readonly acted: number;
}

export class RemoteParty {
  readonly members: ReadonlyMap<WorkloadId, RemoteMember>;
  /** Their next choice does not follow from their last one. */
  readonly #gaps = new Set<WorkloadId>();
  #step: number;

  /** Members that were resumed. */
  constructor(members: readonly RemoteMember[], step: number) {
    this.members = new Map(members.map((member) => [member.agent, member]));
    this.#step = step;
  }

  get step(): number {
    return this.#step;
  }

  request(): StepRequest {
    return { step: this.#step, members: [...this.members.values()].map((member) => member.report(this.#step)) };
  }

  take({ step, next, teamReward, members }: StepAnswer): TakenStep {
    const transitions: FleetTransition[] = [];
    const out: WorkloadId[] = [];
    const refused: TakenStep["refused"][number][] = [];
    let acted = 0;
    this.#step = next;
    for (const answer of members) {
      const member = this.members.get(answer.agent);
      if (member === undefined) continue;
      if (answer.refused !== undefined) refused.push({ agent: answer.agent, ...answer.refused });
      const taken = member.take(answer, { step, teamReward });
      if (!taken.ok) {
        out.push(answer.agent);
        continue;
      }
      const { transition, isGap } = taken.value;
      if (transition !== undefined) transitions.push(transition);
      if (!isGap) acted += 1;
      else this.#gaps.add(answer.agent);
    }
    return { transitions, out, refused, acted };
  }

  /** After all of `take` is on disk. Who was updated, and who could not learn. */
  learn(transitions: readonly FleetTransition[]): {
    readonly updated: readonly RemoteMember[];
    readonly failed: readonly Failure[];
  } {
    const updated: RemoteMember[] = [];
    const failed: Failure[] = [];
    for (const transition of transitions) {
      const member = this.members.get(transition.agent);
      const learned = member?.learn(transition);
      if (learned?.ok === false) failed.push(learned.failure);
      else if (member !== undefined && learned?.value === true) updated.push(member);
    }
    for (const agent of this.#gaps) {
      const resumed = this.members.get(agent)?.resume();
      if (resumed?.ok === false) failed.push(resumed.failure);
    }
    this.#gaps.clear();
    return { updated, failed };
  }

  dispose(): void {
    for (const member of this.members.values()) member.dispose();
  }
}
