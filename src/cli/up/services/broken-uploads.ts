/**
 * What to say about senders that went away in the middle, and about connections that brought no request.
 * Both happen whenever a sender restarts or somebody scans ports: nothing is wrong here, so it is a count in the log, at
 * most once a minute, and never a defect.
 */
import type { IntakeCounts } from "../../../adapters/otlp/index.ts";
import { type Ms, minutes } from "../../../base/index.ts";

const EVERY = minutes(1);

export class BrokenUploads {
  #told = 0;
  #at = Number.NEGATIVE_INFINITY;

  /** Null when there is nothing new, or something was said within the last minute. */
  sentence({ refused }: IntakeCounts, now: Ms): string | null {
    const brokenOff = refused["otlp.aborted"] ?? 0;
    const noise = refused["otlp.not-http"] ?? 0;
    if (brokenOff + noise === this.#told || now - this.#at < EVERY) return null;
    this.#told = brokenOff + noise;
    this.#at = now;
    return `since the start ${brokenOff} uploads of spans were broken off by their senders, and ${noise} connections brought no request in time`;
  }
}
