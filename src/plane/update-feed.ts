/**
 * A plane's updates as the thread that shows them has them: to whoever listens, now or later.
 * Owns: who is told what, and handing on the past of before a restart once. Not here: what is kept of this run for those who
 * come later (backlog.ts), the messages between threads (cli/up).
 */
import type { PlaneUpdate, SubscribeOptions, TakeUpdates } from "../contract/index.ts";
import { Backlog } from "./backlog.ts";

export class UpdateFeed {
  readonly #backlog = new Backlog();
  readonly #listeners = new Set<TakeUpdates>();
  /** Who waits for the past. */
  #takePast: TakeUpdates | undefined;
  #past: readonly PlaneUpdate[] = [];

  subscribe(take: TakeUpdates, { past }: SubscribeOptions = {}): () => void {
    if (past !== undefined) {
      this.#takePast = past;
      this.addPast([]);
    }
    const before = this.#backlog.all();
    if (before.length > 0) take(before);
    this.#listeners.add(take);
    return () => {
      this.#listeners.delete(take);
      if (this.#takePast === past) this.#takePast = undefined;
    };
  }

  add(updates: readonly PlaneUpdate[]): void {
    this.#backlog.add(updates);
    for (const take of this.#listeners) take(updates);
  }

  /** Nobody but who asks for it is told: it is large, and it was counted and logged when it was told first. */
  addPast(updates: readonly PlaneUpdate[]): void {
    const past = [...this.#past, ...updates];
    this.#past = this.#takePast === undefined ? past : [];
    if (past.length > 0) this.#takePast?.(past);
  }
}
