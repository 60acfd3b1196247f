/** The process from which requests are sent: one load for each message, its result as the answer. */
import { type LoadOptions, steadyLoad } from "./load.ts";

process.on("message", (options: Omit<LoadOptions, "signal">) => {
  const { signal } = new AbortController();
  void steadyLoad({ ...options, signal }).then((result) => process.send?.(result));
});
