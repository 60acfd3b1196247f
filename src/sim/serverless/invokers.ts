/**
 * The machines of a serverless platform, and in which order a function tries them.
 * Owns: their calibration, the paper's two clusters, home invokers and the way on from them.
 * Not here: what runs on them (pool.ts), how they are shared (contention.ts).
 */

export interface InvokerSpec {
  readonly name: string;
  readonly cores: number;
  /** CPU work per core and second, relative to the reference processor. */
  readonly speed: number;
  /** MiB that containers may reserve; OpenWhisk's user-memory. */
  readonly memory: number;
  /** MB/s of memory, MiB of last-level cache, MB/s of network and storage. */
  readonly bandwidth: number;
  readonly cache: number;
  readonly io: number;
}

/**
 * SIMPPO, section 4: two sockets of Xeon E5-2683 v3 (14 cores, 35 MB of cache, four channels DDR4-2133: 68 GB/s each, of
 * which about 80 % can be had) and 500 GB; network of 10 Gbit/s and the part of memory for containers assumed [0.5..0.95].
 */
const localMachine = { cores: 28, speed: 1, memory: 400_000, bandwidth: 110_000, cache: 70, io: 1_250 } as const;

/**
 * SIMPPO, section 7.4: virtual machines of 8 cores and 16 GB. A core is taken for half a physical one with its sibling busy
 * [0.5..1], bandwidth and cache for its part of a two-socket machine of 40 cores, network as IBM Cloud grants 2 Gbit/s a core
 * up to 16; all assumed.
 */
const cloudMachine = { cores: 8, speed: 0.8, memory: 13_000, bandwidth: 40_000, cache: 11, io: 2_000 } as const;

export const localInvokers = (count = 4): readonly InvokerSpec[] =>
  Array.from({ length: count }, (_, i) => ({ name: `invoker${i}`, ...localMachine }));

export const cloudInvokers = (count = 20): readonly InvokerSpec[] =>
  Array.from({ length: count }, (_, i) => ({ name: `invoker${i}`, ...cloudMachine }));

/**
 * The order in which a function tries invokers: from its home, hash mod count, by a step that is coprime to the count, so
 * that all are met once and two functions rarely meet in the same order (OpenWhisk, ShardingContainerPoolBalancer).
 */
export function probingOrder(hash: number, count: number): Int32Array {
  const steps = coprimeSteps(count);
  const step = steps[hash % steps.length]!;
  return Int32Array.from({ length: count }, (_, i) => (hash + i * step) % count);
}

/** Up to the count, those coprime to it and to one another. */
function coprimeSteps(count: number): readonly number[] {
  const steps: number[] = [];
  for (let step = 1; step <= count; step++)
    if (divisor(step, count) === 1 && steps.every((other) => divisor(step, other) === 1)) steps.push(step);
  return steps;
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));

/** Of a name, not negative; FNV-1a. */
export function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % 0x7fffffff;
}
