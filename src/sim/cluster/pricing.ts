/**
 * What an operator pays: reserved CPU and memory at on-demand prices, plus a price per disruption.
 * Owns: the price list, the same for both rungs and for every method.
 */

/** Dollars. AWS Fargate, Linux on x86, us-east-1, on demand: 0.04048 per vCPU-hour and 0.004445 per GB-hour. */
export const prices = {
  perCoreSecond: 0.040_48 / 3_600,
  perByteSecond: 0.004_445 / 3_600 / 1_000_000_000,
  /**
   * A pod that is killed, or stopped while it works. Assumed, tried from 0 to 0.01: about a minute of one core, for the
   * connections, caches and compiled code that go with it.
   */
  perDisruption: 0.000_7,
} as const;

export interface Bill {
  /** Core-seconds and byte-seconds that were reserved, used or not. */
  readonly coreSeconds: number;
  readonly byteSeconds: number;
  readonly disruptions: number;
}

export function costOf({ coreSeconds, byteSeconds, disruptions }: Bill): number {
  return coreSeconds * prices.perCoreSecond + byteSeconds * prices.perByteSecond + disruptions * prices.perDisruption;
}
