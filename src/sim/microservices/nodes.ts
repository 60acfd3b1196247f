/**
 * The machines of the microservices world: two processor classes, each with five resources.
 * Owns: their calibration, and the dissertation's cluster. Not here: how they are shared (../sharing.ts).
 */

/** Amounts by resource, in the order of `resources`: cores, MB/s, MiB, MB/s, MB/s. */
export type Amounts = readonly [cpu: number, memory: number, llc: number, io: number, network: number];

export interface ProcessorClass {
  /** CPU work per hardware thread and second, relative to the reference processor (Xeon E5). */
  readonly speed: number;
  /** Whether memory bandwidth and cache can be divided by limits (Intel CAT and MBA). FIRM, note 7: not on POWER. */
  readonly hasPartitions: boolean;
}

/**
 * Speeds as in the cluster world: assumed [0.6..1.2]; a POWER core divides itself among up to eight threads where a Xeon
 * core has two.
 */
export const processorClasses = {
  xeon: { speed: 1, hasPartitions: true },
  power: { speed: 0.8, hasPartitions: false },
} as const satisfies Readonly<Record<string, ProcessorClass>>;

export type ProcessorClassName = keyof typeof processorClasses;

export interface MicroserviceNode {
  readonly name: string;
  readonly processor: ProcessorClassName;
  readonly capacity: Amounts;
}

/**
 * Memory: two sockets of four channels DDR4-2400, 154 GB/s (Xeon E5 v4); two of POWER9 with eight channels DDR4-2666,
 * 340 GB/s. Cache: 35 MB a socket (14 cores × 2.5 MB); 120 MB a socket. Vendors' figures. Disk and network: assumed
 * [200..2,000 and 1,250..3,125 MB/s]: one SATA SSD of 500 MB/s, one port of 10 Gbit/s.
 */
const capacities: { readonly [P in ProcessorClassName]: Amounts } = {
  xeon: [56, 154_000, 70, 500, 1_250],
  power: [192, 340_000, 240, 500, 1_250],
};

export const nodeOf = (name: string, processor: ProcessorClassName): MicroserviceNode => ({
  name,
  processor,
  capacity: capacities[processor],
});

/** FIRM 3.3.1: fifteen two-socket nodes of 56 to 192 cores, nine of them Xeon, the others POWER. */
export function firmNodes(): readonly MicroserviceNode[] {
  return [
    ...Array.from({ length: 9 }, (_, i) => nodeOf(`x86-${i}`, "xeon")),
    ...Array.from({ length: 6 }, (_, i) => nodeOf(`ppc64-${i}`, "power")),
  ];
}
