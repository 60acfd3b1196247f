/**
 * The paper's thousand applications, and which of them may be learned on before a study begins.
 * Owns: the two ways to divide them. Not here: drawing scenes of them (scene.ts), the generator (sim).
 */
import type { Application } from "../sim/index.ts";
import { generateApplications, generateHeldOut, splitApplications } from "../sim/index.ts";

/**
 * `split`: four fifths and one fifth at random, as in the paper, so that what is unseen is made of segments that were
 * seen. `held-out`: every unseen application has a segment that none of the known ones has.
 */
export type PoolKind = "split" | "held-out";

export interface ApplicationPool {
  /** For training beforehand. */
  readonly known: readonly Application[];
  /** For evaluation. */
  readonly unseen: readonly Application[];
}

const POOL_SEED = 2023;

const makers: Readonly<Record<PoolKind, () => ApplicationPool>> = {
  split() {
    const { train, test } = splitApplications(generateApplications({ seed: POOL_SEED }), POOL_SEED);
    return { known: train, unseen: test };
  },
  "held-out"() {
    const { train, unseen } = generateHeldOut({ seed: POOL_SEED });
    return { known: train, unseen };
  },
};

const pools = new Map<PoolKind, ApplicationPool>();

export function applicationPool(kind: PoolKind): ApplicationPool {
  const pool = pools.get(kind) ?? makers[kind]();
  pools.set(kind, pool);
  return pool;
}
