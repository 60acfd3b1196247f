/**
 * From segments to an application.
 * Owns: how the segments' costs add up to phases, payload sizes and memory. Not here: which segments an application
 * has and how its server is configured (generate.ts).
 */
import { type Bytes, bytes, CodedError, failure, mebibytes } from "../../../base/index.ts";
import type { Application, Phase } from "./application.ts";
import { applicationRanges, basePayloads } from "./calibration.ts";
import { type Payloads, payloadsOf, type Segment, segmentOf, segments } from "./segments.ts";

/** How the application is served: everything that does not follow from its segments. */
export type ServerSettings = Pick<
  Application,
  "sigma" | "threads" | "queue" | "timeout" | "retries" | "startup" | "warmup"
> & {
  /** The process without the segments' libraries. */
  readonly runtime: Bytes;
};

export interface ComposeOptions extends ServerSettings {
  readonly payloads?: Payloads;
  /** Default: the segments' names, joined. */
  readonly id?: string;
}

/** Calls the named segments one after the other, in this order, each as often as it is named. */
export function composeApplication(names: readonly string[], options: ComposeOptions): Application {
  const parts = names.map(segmentNamed);
  if (parts.length === 0) {
    throw new CodedError(failure("workload.no-segments", "an application has at least one segment; name one"));
  }
  const { runtime, payloads = basePayloads, id = names.join("+"), ...server } = options;
  const kinds = [...new Set(parts)];
  const resident = kinds.reduce((sum, { resident }) => sum + resident, 0);
  return {
    ...server,
    id,
    segments: names,
    ...requestsOf(parts, payloads),
    memory: {
      base: bytes(Math.round(runtime + resident)),
      ...memoryOf(parts, payloads),
    },
  };
}

/** The same application with other payloads: its server stays as it is configured. */
export function withPayloads(application: Application, payloads: Payloads): Application {
  const parts = application.segments.map(segmentNamed);
  return {
    ...application,
    ...requestsOf(parts, payloads),
    memory: { base: application.memory.base, ...memoryOf(parts, payloads) },
  };
}

function segmentNamed(name: string): Segment {
  const segment = segmentOf(name);
  if (segment !== undefined) return segment;
  const known = segments.map(({ name }) => name).join(", ");
  throw new CodedError(
    failure("workload.unknown-segment", `there is no segment called "${name}"; use one of ${known}`),
  );
}

/**
 * A request is small, medium or large throughout: all its segments get the payload of the same rank. Costs have a fixed
 * part, so work grows less than payloads do; `sizes` is the growth of the whole request's work.
 */
function requestsOf(parts: readonly Segment[], payloads: Payloads): Pick<Application, "phases" | "sizes" | "payloads"> {
  const ranks = Math.max(...parts.map((part) => payloadsOf(part, payloads).length));
  const phases = parts.map((part, index) => phaseOf(part, { payloads, handling: index === 0 }));
  const mean = phases.reduce((sum, { cpu, wait }) => sum + cpu + wait, 0);
  const sizes = Array.from({ length: ranks }, (_, rank) => {
    const work = parts.reduce((sum, part) => {
      const { cpu, wait } = part.work(payloadAt(part, { payloads, rank, ranks }));
      return sum + cpu + wait;
    }, applicationRanges.handling);
    return work / mean;
  });
  return { phases, sizes, payloads };
}

function payloadAt(part: Segment, at: { payloads: Payloads; rank: number; ranks: number }): number {
  const set = payloadsOf(part, at.payloads);
  return set[Math.floor((at.rank * set.length) / at.ranks)] ?? 0;
}

function phaseOf(part: Segment, { payloads, handling }: { payloads: Payloads; handling: boolean }): Phase {
  const calls = payloadsOf(part, payloads).map((payload) => part.work(payload));
  const mean = (pick: (call: (typeof calls)[number]) => number) =>
    calls.reduce((sum, call) => sum + pick(call), 0) / calls.length;
  return {
    segment: part.name,
    cpu: mean(({ cpu }) => cpu) + (handling ? applicationRanges.handling : 0),
    width: calls[0]?.width ?? 1,
    wait: mean(({ wait }) => wait),
    io: bytes(mean(({ io }) => io)),
    network: bytes(mean(({ network }) => network)),
  };
}

/**
 * Segments run one after the other and free what they held, so a request needs the largest of its parts; libraries and
 * caches stay. The penalty of an empty cache is felt in the share of the CPU time that uses it.
 */
function memoryOf(parts: readonly Segment[], payloads: Payloads): Omit<Application["memory"], "base"> {
  const means = parts.map((part) => {
    const calls = payloadsOf(part, payloads).map((payload) => part.work(payload));
    return {
      part,
      cpu: calls.reduce((sum, { cpu }) => sum + cpu, 0) / calls.length,
      memory: calls.reduce((sum, { memory }) => sum + memory, 0) / calls.length,
      cache: Math.max(...calls.map(({ cache }) => cache)),
    };
  });
  const cpu = means.reduce((sum, mean) => sum + mean.cpu, applicationRanges.handling);
  const penalty = means.reduce((sum, mean) => sum + (mean.cpu / cpu) * (mean.part.missPenalty - 1), 1);
  const caches = new Map(means.map(({ part, cache }) => [part, cache]));
  const connection = mebibytes(applicationRanges.connection);
  return {
    perRequest: bytes(Math.round(connection + Math.max(...means.map(({ memory }) => memory)))),
    cache: bytes(Math.round([...caches.values()].reduce((sum, cache) => sum + cache, 0))),
    missPenalty: penalty,
  };
}
