/**
 * The machines of a cluster: processor kinds, and the two clusters of the AWARE paper.
 * Owns: the calibration of processors (speed and variance: the environment in ⟨application, environment⟩).
 * Not here: what runs on them (event/, fluid/).
 */
import type { Bytes, Millicores } from "../../base/index.ts";
import { cores, mebibytes } from "../../base/index.ts";

export interface Processor {
  /** Work per hardware thread and second, relative to the reference processor (Xeon E5). */
  readonly speed: number;
  /** Sigma of a lognormal factor of mean 1, drawn once per pod: which core, which neighbours, which clock. */
  readonly sigma: number;
}

/**
 * Speeds: assumed, tried from 0.6 to 1.2. A "CPU" of Kubernetes is a hardware thread, and a POWER core divides itself
 * among up to 8 of them where a Xeon core has 2, so one thread of it does less, although a whole core does more.
 * Sigmas: assumed, tried from 0.02 to 0.15; eight threads that share a core disturb each other more than two.
 */
export const processors = {
  "xeon-e5": { speed: 1, sigma: 0.05 },
  power8: { speed: 0.75, sigma: 0.1 },
  power9: { speed: 0.9, sigma: 0.08 },
} as const satisfies Readonly<Record<string, Processor>>;

export type ProcessorName = keyof typeof processors;

/** Exactly the reference, every time: no machine is like that, but closed forms are. */
const ideal: Processor = { speed: 1, sigma: 0 };

export const isProcessor = (name: string): name is NodeSpec["processor"] =>
  name === "ideal" || Object.hasOwn(processors, name);

export const processorOf = (name: NodeSpec["processor"]): Processor => (name === "ideal" ? ideal : processors[name]);

export interface NodeSpec {
  readonly name: string;
  readonly cpu: Millicores;
  readonly memory: Bytes;
  readonly processor: ProcessorName | "ideal";
}

const gibibytes = (n: number): Bytes => mebibytes(n * 1_024);

const node = (name: string, processor: ProcessorName, size: Pick<NodeSpec, "cpu" | "memory">): NodeSpec => ({
  name,
  processor,
  ...size,
});

/** AWARE section 2.3: five nodes with four cores and 16 GB each, in a public cloud. */
export function characterizationNodes(): readonly NodeSpec[] {
  return Array.from({ length: 5 }, (_, i) => node(`cloud-${i}`, "xeon-e5", { cpu: cores(4), memory: gibibytes(16) }));
}

/**
 * AWARE section 5: eleven two-socket nodes of 56 to 192 CPUs and 500 to 1000 GB, seven of them Xeon E5, the others
 * Power8 and Power9 (two each: the paper does not divide the four).
 */
export function evaluationNodes(): readonly NodeSpec[] {
  const small = { cpu: cores(56), memory: gibibytes(500) };
  const large = { cpu: cores(192), memory: gibibytes(1_000) };
  return [
    ...Array.from({ length: 7 }, (_, i) => node(`x86-${i}`, "xeon-e5", small)),
    ...Array.from({ length: 2 }, (_, i) => node(`p8-${i}`, "power8", large)),
    ...Array.from({ length: 2 }, (_, i) => node(`p9-${i}`, "power9", large)),
  ];
}
