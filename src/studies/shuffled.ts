/** Any order of some things, each as likely. */
import type { Rng } from "../base/index.ts";

export function shuffled<T>(items: readonly T[], rng: Rng): T[] {
  const mixed = [...items];
  for (let i = mixed.length - 1; i > 0; i--) {
    const j = rng.int(i + 1);
    const held = mixed[i] as T;
    mixed[i] = mixed[j] as T;
    mixed[j] = held;
  }
  return mixed;
}
