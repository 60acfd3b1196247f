/**
 * SLOs of request types: those of the configuration, and what a person has said since.
 * Owns: which of the two holds. Not here: judging requests by them (control/tasks/mitigation/triage.ts), keeping them
 * (services-file.ts).
 */
import { type Ms, milliseconds } from "../../../base/index.ts";

type Said = Readonly<Record<string, number | null>>;

/** Names come from anybody who may send a command; as many as an ingress has. */
export const MOST_SLOS = 500;

export class RequestSlos {
  readonly #configured: Readonly<Record<string, number>>;
  #said: Said;

  constructor(configured: Readonly<Record<string, number>>, said: Said) {
    this.#configured = configured;
    this.#said = said;
  }

  /** What a person has said, null where they took back the one of the configuration. */
  get said(): Said {
    return this.#said;
  }

  get inForce(): ReadonlyMap<string, Ms> {
    const all = Object.entries({ ...this.#configured, ...this.#said });
    return new Map(all.flatMap(([request, slo]) => (slo === null ? [] : [[request, milliseconds(slo)] as const])));
  }

  /** null: it has none of its own any more. False where there are too many already. */
  set(request: string, sloMs: number | null): boolean {
    if (sloMs !== null && !this.inForce.has(request) && this.inForce.size >= MOST_SLOS) return false;
    const { [request]: _, ...others } = this.#said;
    const isConfigured = Object.hasOwn(this.#configured, request);
    this.#said = sloMs === null && !isConfigured ? others : { ...others, [request]: sloMs };
    return true;
  }
}
