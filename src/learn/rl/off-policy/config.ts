/**
 * What an off-policy estimate can be told, and what it goes by unless told.
 * Owns: the settings. Not here: what is made of them (evidence.ts, estimate.ts).
 */

export interface OffPolicyConfig {
  /** Steps of an episode: what is estimated is the sum of that many rewards. */
  readonly horizon: number;
  /** Random cosines on which Q is linear. */
  readonly features: number;
  /** Ridge per row of data, of Q and of the behaviour. */
  readonly ridge: number;
  /** The least width of the behaviour's and the policy's densities, in actions of [−1, 1]. */
  readonly sigmaFloor: number;
  /** Volume of the policy's density as a share of the behaviour's; see WeightOptions. */
  readonly policyWidth: number;
  /** Steps whose importance ratios are multiplied. */
  readonly window: number;
  /** The most that one step's importance ratio may be. */
  readonly weightClip: number;
  /**
   * The share of the doubly robust correction that may itself be wrong. What is left of fitted-Q's error after it is the
   * product of that error and the relative error of the weights, and more episodes of the same kind do not lessen it.
   */
  readonly doubt: number;
  /** With fewer effective steps than this share of all, the doubly robust correction is not trusted. */
  readonly leastShare: number;
  /** An action this many of the behaviour's widths away from its mean was never seen: the step counts as the worst one recorded. */
  readonly reach: number;
}

export const offPolicyDefaults: OffPolicyConfig = {
  horizon: 100,
  features: 96,
  ridge: 1e-4,
  sigmaFloor: 0.05,
  policyWidth: 0.3,
  window: 1,
  weightClip: 5,
  doubt: 0.25,
  leastShare: 0.05,
  reach: 3,
};
