/** The machine's clock. */

import { setTimeout as after } from "node:timers/promises";
import type { Clock, Ms } from "../../base/index.ts";

export const systemClock: Clock = {
  now: () => Date.now() as Ms,
  monotonic: () => performance.now() as Ms,
  async sleep(duration, signal) {
    try {
      await after(duration, undefined, signal ? { signal } : {});
    } catch (error) {
      // Node wraps the reason; the port promises the reason itself.
      throw signal?.aborted ? signal.reason : error;
    }
  },
};
