/**
 * Agents' saved state with the world's time in front, one write of an agent after the other.
 * Owns: the time, the order, and whether anybody waits for a read. Not here: the files (adapters/runtime).
 *
 * A world that is killed has agents that were saved later than the plane itself. It must not begin before the newest of
 * them, or they would remember what is yet to come.
 */
import type { AgentId, Ms, Result } from "../base/index.ts";
import { ok } from "../base/index.ts";
import type { SavedStates, StateStore } from "../control/loop/index.ts";

const TIME_BYTES = 8;

export class TimedStates implements StateStore {
  readonly #inner: StateStore;
  readonly #now: () => Ms;
  readonly #last = new Map<AgentId, Promise<unknown>>();
  readonly #known = new Set<AgentId>();
  readonly #unsaved = new Set<AgentId>();
  readonly #damaged = new Set<AgentId>();
  #reads = 0;

  constructor(inner: StateStore, now: () => Ms) {
    this.#inner = inner;
    this.#now = now;
  }

  /** While somebody reads, a turn waits for it, and the world's time has to wait for the turn. */
  get isBeingRead(): boolean {
    return this.#reads > 0;
  }

  /** Before it was read, what is there must not be written over. */
  isKnown(agent: AgentId): boolean {
    return this.#known.has(agent);
  }

  /** How many could not be saved at the last try. */
  get unsaved(): number {
    return this.#unsaved.size;
  }

  /** Of how many a saved state was left out when it was read. */
  get damaged(): number {
    return this.#damaged.size;
  }

  async write(agent: AgentId, state: Uint8Array, signal: AbortSignal): Promise<Result<void>> {
    const timed = new Uint8Array(TIME_BYTES + state.length);
    new DataView(timed.buffer).setFloat64(0, this.#now(), true);
    timed.set(state, TIME_BYTES);
    const written = await this.#inTurn(agent, () => this.#inner.write(agent, timed, signal));
    if (written.ok) this.#unsaved.delete(agent);
    else this.#unsaved.add(agent);
    return written;
  }

  async read(agent: AgentId, signal: AbortSignal): Promise<Result<SavedStates>> {
    this.#reads += 1;
    try {
      const found = await this.#inTurn(agent, () => this.#inner.read(agent, signal));
      if (!found.ok) return found;
      this.#known.add(agent);
      if (found.value.damaged.length > 0) this.#damaged.add(agent);
      // A copy of its own: what reads it may need it aligned.
      return ok({ ...found.value, states: found.value.states.map((state) => state.slice(TIME_BYTES)) });
    } finally {
      this.#reads -= 1;
    }
  }

  async setAside(agent: AgentId, signal: AbortSignal): Promise<Result<void>> {
    this.#reads += 1;
    try {
      return await this.#inTurn(agent, () => this.#inner.setAside(agent, signal));
    } finally {
      this.#reads -= 1;
    }
  }

  async #inTurn<T>(agent: AgentId, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(agent);
    const run = (async () => {
      await before?.catch(() => undefined);
      return work();
    })();
    this.#last.set(agent, run);
    return run;
  }
}

/** The newest moment that any of the agents was saved at; -Infinity where none was. */
export async function newestSave(inner: StateStore, agents: readonly AgentId[]): Promise<number> {
  let newest = Number.NEGATIVE_INFINITY;
  for (const agent of agents) {
    const found = await inner.read(agent, new AbortController().signal);
    const state = found.ok ? found.value.states[0] : undefined;
    if (state === undefined || state.length < TIME_BYTES) continue;
    const at = new DataView(state.buffer, state.byteOffset).getFloat64(0, true);
    if (Number.isFinite(at)) newest = Math.max(newest, at);
  }
  return newest;
}

/** For a plane that keeps nothing: gone with the process. */
export function memoryStates(): StateStore {
  const kept = new Map<AgentId, readonly Uint8Array[]>();
  return {
    write: async (agent, state) => {
      kept.set(agent, [state, ...(kept.get(agent) ?? [])].slice(0, 2));
      return ok(undefined);
    },
    read: async (agent) => ok({ states: kept.get(agent) ?? [], damaged: [] }),
    setAside: async (agent) => {
      kept.delete(agent);
      return ok(undefined);
    },
  };
}
