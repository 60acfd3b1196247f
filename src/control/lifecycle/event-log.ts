/**
 * What an agent has to tell with its next tick.
 * Owns: events that happen between ticks (training, loading), and saying once when somebody else takes the wheel.
 */
import type { Ms, Stage } from "../../base/index.ts";
import type { AgentEvent } from "./tick.ts";

export interface Acting {
  readonly stage: Stage;
  readonly who: string;
  readonly why: string;
  /** What is behind it, for a person. */
  readonly detail: string;
}

export class EventLog {
  #untold: AgentEvent[] = [];
  #last: Pick<Acting, "stage" | "who" | "why"> | undefined;

  tell(event: AgentEvent): void {
    this.#untold.push(event);
  }

  /** A change of stage is told by the lifecycle, with its evidence; this is for hand-overs within one. */
  tellHandover({ stage, who, why, detail }: Acting, at: Ms): void {
    const last = this.#last;
    if (last !== undefined && last.who === who && last.why === why && last.stage === stage) return;
    this.#last = { stage, who, why };
    if (last === undefined || last.stage !== stage) return;
    this.tell({
      at,
      name: "handover",
      evidence: { from: { who: last.who, rule: last.why }, to: { who, rule: why }, detail },
    });
  }

  /** All that was not told yet, once. */
  take(): readonly AgentEvent[] {
    const events = this.#untold;
    this.#untold = [];
    return events;
  }

  /** After a load: whoever acted before is not known. */
  forgetWhoActed(): void {
    this.#last = undefined;
  }
}
