/**
 * A microservice application as data: its services, and what each type of request does in them.
 * Owns: the types, and the calls that build workflows in the application files.
 * Not here: whether an application makes sense (validate.ts), what a profile costs (../calibration.ts), running it.
 *
 * A call does some work of its own, then its stages one after another, then the rest of its work. The calls of one stage
 * run in parallel; background calls are sent off before the first stage and nobody waits for them.
 */
import type { ProfileName } from "../calibration.ts";

/** `dataset`: in the edge lists that were derived from the sources; `completed`: known of the application, not in them. */
export type ServiceOrigin = "dataset" | "completed";

export interface ServiceSpec {
  readonly name: string;
  readonly origin: ServiceOrigin;
  /** What kind of work it does, and what each resource has to do with it. */
  readonly profile: ProfileName;
  /** Its own time for a call of size 1, in milliseconds: on the reference processor, alone, downstream calls left out. */
  readonly work: number;
  /** Requests that one replica works on at once, those that wait for an answer from downstream included. */
  readonly threads: number;
  /** Caches: the share of look-ups that find what they look for. */
  readonly hitRatio?: number;
}

export interface Call {
  readonly service: string;
  /** Scales work and traffic of this call; 1 is the usual. */
  readonly size: number;
  readonly stages: readonly (readonly Call[])[];
  readonly background: readonly Call[];
  /** Made only when the look-up in this cache, in an earlier stage of the same caller, found nothing. */
  readonly onMissOf?: string;
}

export interface RequestType {
  readonly name: string;
  /** Of all requests, relative to the others. */
  readonly weight: number;
  readonly root: Call;
}

export interface MicroserviceApplication {
  readonly name: string;
  readonly services: readonly ServiceSpec[];
  readonly requests: readonly RequestType[];
}

/** A service as a row of the application files' tables. */
export type ServiceRow = readonly [
  name: string,
  profile: ServiceSpec["profile"],
  work: number,
  threads: number,
  hitRatio?: number,
];

export const services = (origin: ServiceOrigin, rows: readonly ServiceRow[]): readonly ServiceSpec[] =>
  rows.map(([name, profile, work, threads, hitRatio]) => ({
    name,
    origin,
    profile,
    work,
    threads,
    ...(hitRatio === undefined ? {} : { hitRatio }),
  }));

interface CallOptions {
  readonly size?: number;
  readonly background?: readonly Call[];
}

/** A call whose stages are given one after another: a single call, or a list that runs in parallel. */
export function call(
  service: string,
  stages: readonly (Call | readonly Call[])[] = [],
  { size = 1, background = [] }: CallOptions = {},
): Call {
  return { service, size, background, stages: stages.map((stage) => (isCall(stage) ? [stage] : stage)) };
}

const isCall = (stage: Call | readonly Call[]): stage is Call => !Array.isArray(stage);

/** Two stages: the cache, then the store where the cache has nothing. */
export function lookup(cache: string, store: string, { size = 1 }: { readonly size?: number } = {}): readonly Call[] {
  return [call(cache, [], { size }), { ...call(store, [], { size }), onMissOf: cache }];
}

/** Who calls whom, over all request types; each pair once. */
export function edgesOf({ requests }: MicroserviceApplication): readonly (readonly [string, string])[] {
  const seen = new Map<string, readonly [string, string]>();
  const visit = (from: Call): void => {
    for (const to of [...from.background, ...from.stages.flat()]) {
      seen.set(`${from.service} ${to.service}`, [from.service, to.service]);
      visit(to);
    }
  };
  for (const { root } of requests) visit(root);
  return [...seen.values()];
}
