/**
 * What one message of a stranger may cost.
 * Owns: the limits of a message's contents and the failures that say so. Not here: its bytes (http-body.ts), of which the
 * cost cannot be told: an element that says nothing takes two of them and, built, a hundred times as much.
 */
import { type Failure, failure } from "../../base/index.ts";
import type { JsonLimits } from "./json-reader.ts";

export interface DecodeLimits {
  readonly mostSpans: number;
  /** Of protobuf: everything with a tag of its own that is looked at. */
  readonly mostFields: number;
  /** Of OTLP's JSON, which is read as it stands. */
  readonly json: JsonLimits;
  /** Values of Jaeger's and Zipkin's JSON, which are built before they are read. */
  readonly mostBuilt: number;
}

const DEEPEST = 100;

/**
 * For a port: a collector sends 8,192 spans at a time unless told otherwise, and a span with ten attributes has about 60
 * values in JSON. A message that is at these limits takes about a tenth of a second.
 */
export const receiverLimits: DecodeLimits = {
  mostSpans: 65_536,
  mostFields: 2_000_000,
  json: { deepest: DEEPEST, mostValues: 2_000_000, mostBuilt: 100_000 },
  mostBuilt: 200_000,
};

/** For files that somebody chose to read. */
export const fileLimits: DecodeLimits = {
  mostSpans: Number.POSITIVE_INFINITY,
  mostFields: Number.POSITIVE_INFINITY,
  json: { deepest: DEEPEST, mostValues: Number.POSITIVE_INFINITY, mostBuilt: Number.POSITIVE_INFINITY },
  mostBuilt: Number.POSITIVE_INFINITY,
};

export const tooMany = (what: string): Failure =>
  failure("otlp.too-many", `the message ${what}: let the exporter send smaller batches`);

export const tooDeep = (what: string): Failure =>
  failure("otlp.too-deep", `the message ${what}: no span needs that, check the exporter`);

/** Thrown in the middle of a message that has more spans than it may; caught where it was begun. */
export class TooManySpans extends Error {
  constructor(most: number) {
    super(`has more than ${most} spans`);
  }
}
