/**
 * Whether the services' thread can be relied on, and what it lost.
 * Owns: the sentences, and that they are told only when they change. Not here: /readyz (server), the log's sentences, which
 * name files.
 */
import type { JournalDamage } from "../../../adapters/otlp/index.ts";
import type { Readiness } from "../../../contract/index.ts";

export interface ServicesCondition {
  /** Spans or traces cannot be kept right now. */
  readonly isTroubled: boolean;
  readonly damage: JournalDamage;
  /** Of the services' agents: those of before a restart are awaited, could not begin, or are there and say it themselves. */
  readonly agents: "none" | "awaited" | "lost" | Readiness;
}

const NOTHING: Readiness = { reasons: [], notes: [] };

export function servicesReadiness({ isTroubled, damage, agents }: ServicesCondition): Readiness {
  const own = typeof agents === "string" ? NOTHING : agents;
  const { places } = damage;
  return {
    reasons: [
      ...(isTroubled ? ["spans cannot be kept"] : []),
      ...(agents === "awaited" ? ["the services' agents of before are not back yet"] : []),
      ...own.reasons.map((reason) => `services: ${reason}`),
    ],
    notes: [
      ...(places > 0
        ? [`the span journal was damaged in ${places} place${places === 1 ? "" : "s"}: acknowledged spans are lost`]
        : []),
      ...(agents === "lost" ? ["the services' agents could not begin"] : []),
      ...own.notes.map((note) => `services: ${note}`),
    ],
  };
}

/** Tells what is new. */
export class ReadinessTeller {
  readonly #look: () => ServicesCondition;
  readonly #post: (readiness: Readiness) => void;
  #told = "";

  constructor(look: () => ServicesCondition, post: (readiness: Readiness) => void) {
    this.#look = look;
    this.#post = post;
  }

  tell(): void {
    const readiness = servicesReadiness(this.#look());
    const text = JSON.stringify(readiness);
    if (text !== this.#told) this.#post(readiness);
    this.#told = text;
  }
}
