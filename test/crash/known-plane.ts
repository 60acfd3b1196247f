/**
 * What the answers of a running plane have told, kept by somebody who does not forget.
 * Owns: settings, promises and moves from stage to stage as they were answered or shown, and the comparison with a later
 * document. Not here: asking and killing (running-up.ts), when to do either (up-crash.test.ts).
 */
import { expect } from "vitest";
import type {
  AgentDocument,
  CommandDone,
  SloDocument,
  StageChange,
  WorkloadDocument,
} from "../../src/contract/index.ts";

/** What a person was told is so. */
export interface Settings {
  readonly mode: AgentDocument["mode"];
  readonly isPaused: boolean;
  readonly revision: number;
}

export interface Promised {
  readonly slo: SloDocument;
  readonly revision: number;
}

/** Something that a person asks for, and what it changes if it is done. */
export interface Write {
  readonly path: string;
  readonly method: string;
  readonly body?: unknown;
  readonly agent?: { readonly id: string; readonly isMove: boolean; change(settings: Settings): Settings };
  readonly workload?: { readonly id: string; readonly slo: SloDocument };
}

/** An agent shows no more; then its oldest moves are forgotten. */
const MOVES_SHOWN = 100;

interface Sofar {
  readonly moves: ReadonlyMap<string, readonly StageChange[]>;
  readonly movedByHand: ReadonlyMap<string, number>;
}

export class KnownPlane {
  readonly settings = new Map<string, Settings>();
  readonly workloads = new Map<string, Promised>();
  /** All that was ever shown of an agent's way, also what its document has forgotten since. */
  readonly moves = new Map<string, readonly StageChange[]>();
  /** Moves by hand that were answered with 2xx. */
  readonly movedByHand = new Map<string, number>();
  acknowledged = 0;

  /** What was answered with 200. */
  note(write: Write, { revision }: CommandDone): void {
    this.acknowledged += 1;
    const { agent, workload } = write;
    const settings = agent && this.settings.get(agent.id);
    if (agent && settings) this.settings.set(agent.id, { ...agent.change(settings), revision });
    if (agent?.isMove) this.movedByHand.set(agent.id, (this.movedByHand.get(agent.id) ?? 0) + 1);
    if (workload) this.workloads.set(workload.id, { slo: workload.slo, revision });
  }

  /** What is known now: whatever is asked from now on must show it. */
  get sofar(): Sofar {
    return { moves: new Map(this.moves), movedByHand: new Map(this.movedByHand) };
  }

  /**
   * At any moment: a stage that its history leads to, and a history that goes on from what had been shown, and has what
   * had been answered, when this document was asked for.
   */
  see({ id, stage, since, history }: AgentDocument, sofar: Sofar): void {
    expect(history.at(-1)?.to ?? "INITIALIZED", `the end of the history of ${id}`).toBe(stage);
    expect(history.at(-1)?.at ?? since, `since when ${id} is in its stage`).toBe(since);
    history.forEach(({ from }, index) => {
      if (index > 0) expect(from, `move ${index} of ${id}`).toBe(history[index - 1]?.to);
    });
    const known = sofar.moves.get(id) ?? [];
    const last = JSON.stringify(known.at(-1));
    const end = 1 + history.findLastIndex((move) => JSON.stringify(move) === last);
    if (known.length > 0) {
      const expected = history.length === MOVES_SHOWN ? known.slice(-Math.max(1, end)) : known;
      expect(history.slice(0, end), `the way of ${id}, as shown before`).toEqual(expected);
    }
    const all = [...known, ...history.slice(end)];
    const found = all.filter(({ because }) => because === "operator").length;
    // More is right: what was under way may have been done, and a new SLO moves an agent that acts.
    expect(found, `moves of ${id} by hand`).toBeGreaterThanOrEqual(sofar.movedByHand.get(id) ?? 0);
    // A document that was asked for earlier may arrive later.
    if (all.length > (this.moves.get(id)?.length ?? 0)) this.moves.set(id, all);
  }

  /** After a restart: as it was answered, or as it would be if what was under way had been done. */
  compareAgent(document: AgentDocument, underWay: Write | undefined): void {
    this.see(document, this.sofar);
    const { id, mode, isPaused, revision } = document;
    const before = this.settings.get(id);
    if (before) {
      const perhaps = underWay?.agent?.id === id ? [underWay.agent.change(before)] : [];
      // The agent's own file is written first: a kill between the two leaves a move under the revision before it.
      const changed = perhaps.flatMap((settings) => [
        { ...settings, revision: before.revision + 1 },
        { ...settings, revision: before.revision },
      ]);
      expect([before, ...changed], `settings of ${id}`).toContainEqual({ mode, isPaused, revision });
    }
    this.settings.set(id, { mode, isPaused, revision });
  }

  compareWorkload({ id, slo, revision }: WorkloadDocument, underWay: Write | undefined): void {
    const before = this.workloads.get(id);
    if (before) {
      const changed = underWay?.workload;
      const perhaps = changed?.id === id ? [{ slo: changed.slo, revision: before.revision + 1 }] : [];
      expect([before, ...perhaps], `the SLO of ${id}`).toContainEqual({ slo, revision });
    }
    this.workloads.set(id, { slo, revision });
  }
}
