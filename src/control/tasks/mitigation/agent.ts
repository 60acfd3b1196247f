/**
 * Whoever says what a container should get: one policy for all services, or one for each.
 * Owns: the contract between policies (learn/rl) and those who ask them (control/loop/mitigation, trainings).
 */
import type { Result } from "../../../base/index.ts";

export interface MitigationAgent {
  /**
   * Five numbers in [−1, 1] for a container of this service, by what `encodeMitigation` says of it. A failure means: do not
   * act on this, let the fallback act. The answer may be overwritten by the next call.
   */
  act(service: string, observation: Float32Array): Result<ArrayLike<number>>;
}
