/**
 * The sixteen segments: the smallest pieces of which applications are made.
 * Owns: what one call of a segment does as a function of its payload. Not here: the numbers (calibration.ts), how a
 * request is made of segments (compose.ts).
 */
import { type Bytes, bytes, mebibytes } from "../../../base/index.ts";
import { basePayloads, type Growth, type PayloadKind, type SegmentCosts, segmentCosts } from "./calibration.ts";

export type SegmentName = keyof typeof segmentCosts;

/** The payload sets that an application is called with, by kind; equally likely within a set. */
export type Payloads = Readonly<Record<PayloadKind, readonly number[]>>;

/** One call: mean values for a payload. */
export interface SegmentWork {
  /** Core-milliseconds on the reference processor, on up to `width` threads, then `wait` milliseconds without CPU. */
  readonly cpu: number;
  readonly width: number;
  readonly wait: number;
  readonly io: Bytes;
  readonly network: Bytes;
  /** Held while the request is in the pod. */
  readonly memory: Bytes;
  /** What the process would like to keep for it between requests. */
  readonly cache: Bytes;
}

export interface Segment {
  readonly name: SegmentName;
  readonly sensitivity: SegmentCosts["sensitivity"];
  /** What its payload counts; null when every call is alike. */
  readonly payload: PayloadKind | null;
  /** Libraries, models and pools in the process, once however often the segment is called. */
  readonly resident: Bytes;
  /** Factor on its CPU time when nothing is cached. */
  readonly missPenalty: number;
  work(payload: number): SegmentWork;
}

export const segments: readonly Segment[] = Object.entries(segmentCosts).map(([name, costs]) =>
  segmentFrom(name as SegmentName, costs),
);

const byName = new Map<string, Segment>(segments.map((segment) => [segment.name, segment]));

export function segmentOf(name: string): Segment | undefined {
  return byName.get(name);
}

/** The payloads of a segment in a set of payloads: at least one, and `[1]` where calls are alike. */
export function payloadsOf(segment: Segment, payloads: Payloads = basePayloads): readonly number[] {
  return segment.payload === null ? [1] : payloads[segment.payload];
}

function segmentFrom(name: SegmentName, costs: SegmentCosts): Segment {
  return {
    name,
    sensitivity: costs.sensitivity,
    payload: costs.payload,
    resident: mebibytes(costs.resident),
    missPenalty: costs.missPenalty,
    work: (payload) => ({
      cpu: grown(costs.cpu, payload),
      width: costs.width,
      wait: grown(costs.wait, payload),
      io: bytes(Math.round(1_000 * grown(costs.io, payload))),
      network: bytes(Math.round(1_000 * grown(costs.network, payload))),
      memory: mebibytes(grown(costs.perRequest, payload)),
      cache: mebibytes(grown(costs.cache, payload)),
    }),
  };
}

function grown({ fixed, scale = 0, power = 1 }: Growth, payload: number): number {
  return fixed + scale * payload ** power;
}
