/**
 * What a workload's turns saw of it: the newest reading as a measured step, and the setting it has by now.
 * Owns: both, and what is known where nothing arrived. A world is not read a second time for it: some of what a reading
 * tells, such as kills, is told once, and it is the controller's to hear.
 */
import type { Setting } from "../act/index.ts";
import type { Ms, Result } from "../base/index.ts";
import type { AnyTaskView, Measured } from "../control/index.ts";
import type { AgentInput } from "../control/loop/index.ts";
import type { Slo } from "../observe/telemetry/index.ts";

export interface SeenOptions {
  readonly view: AnyTaskView;
  /** What it is known to have before anything was read. */
  readonly have: Setting | null;
  readonly controlStep: Ms;
}

export class Seen {
  readonly #view: AnyTaskView;
  readonly #controlStep: Ms;
  #have: Setting | null;
  #newest: Measured | null = null;
  #isNew = false;

  constructor({ view, have, controlStep }: SeenOptions) {
    this.#view = view;
    this.#have = have;
    this.#controlStep = controlStep;
  }

  /** null before anything is known. */
  get have(): Setting | null {
    return this.#have;
  }

  /** A turn has looked; answers with what it saw, null where no reading arrived. */
  see({ reading, have }: Pick<AgentInput, "reading" | "have">, slo: Slo): Measured | null {
    if (have.ok) this.#have = have.value;
    if (!reading.ok || this.#have === null) return null;
    this.#newest = this.#view.measure(reading.value, { slo, have: this.#have, passed: this.#controlStep });
    this.#isNew = true;
    return this.#newest;
  }

  acted(outcome: Result<Setting>): void {
    if (outcome.ok) this.#have = outcome.value;
  }

  /** The step that has just ended. Without a new reading nothing was measured, and who was ready still counts as ready. */
  endStep(slo: Slo): { readonly measured: Measured; readonly have: Setting } | null {
    const have = this.#have;
    if (have === null) return null;
    const wasNew = this.#isNew;
    this.#isNew = false;
    if (this.#newest !== null && wasNew) return { measured: this.#newest, have };
    const unseen = this.#view.measure(null, { slo, have, passed: this.#controlStep });
    return { measured: this.#newest === null ? unseen : { ...unseen, ready: this.#newest.ready }, have };
  }
}
