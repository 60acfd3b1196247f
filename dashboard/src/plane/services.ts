/**
 * What the page knows of services: asked for every few seconds while somebody looks, since traces are seconds old anyway.
 * Owns: the signals, when they are asked for anew, and what is shown when that fails. Not here: drawing (views/services.tsx).
 */
import { signal } from "@preact/signals";
import type { Page } from "../../../src/server/plane-contract.ts";
import type {
  ActingMode,
  AnomalyDone,
  AnomalyWish,
  InstanceDocument,
  PathsDocument,
  ServiceGraphDocument,
  ServicesDocument,
  SuspectsDocument,
  TraceDocument,
  TraceSummaryDocument,
} from "../../../src/server/services-contract.ts";
import { ask, PlaneProblem } from "./client.ts";

export interface ServicesSeen {
  readonly services: ServicesDocument;
  readonly graph: ServiceGraphDocument;
  readonly suspects: SuspectsDocument;
  readonly instances: readonly InstanceDocument[];
  readonly paths: PathsDocument;
  readonly traces: readonly TraceSummaryDocument[];
}

type Loaded =
  | { readonly kind: "loading" }
  | { readonly kind: "seen"; readonly seen: ServicesSeen }
  /** The server was started without them. */
  | { readonly kind: "none"; readonly why: string }
  | { readonly kind: "problem"; readonly why: string };

export const servicesState = signal<Loaded>({ kind: "loading" });
/** A request type whose paths are shown; null for the most frequent one. */
export const pathsOf = signal<string | null>(null);
/** Traces of one service only; null for all. */
export const tracesOf = signal<string | null>(null);

export const AGAIN_MS = 2_500;
const TRACES = 12;
const TRACES_SPAN_MS = 300_000;

const read = async <T>(path: string, stop?: AbortSignal): Promise<T> =>
  (await (await ask(path, stop === undefined ? {} : { signal: stop })).json()) as T;

export async function loadServices(stop: AbortSignal): Promise<void> {
  const request = pathsOf.value === null ? "" : `?request=${encodeURIComponent(pathsOf.value)}`;
  const service = tracesOf.value === null ? "" : `&service=${encodeURIComponent(tracesOf.value)}`;
  try {
    const services = await read<ServicesDocument>("services", stop);
    const from = Math.floor(services.at - TRACES_SPAN_MS);
    const [graph, suspects, instances, paths, traces] = await Promise.all([
      read<ServiceGraphDocument>("services/graph", stop),
      read<SuspectsDocument>("services/suspects?limit=8", stop),
      read<Page<InstanceDocument>>("services/instances", stop),
      read<PathsDocument>(`services/paths${request}`, stop),
      read<Page<TraceSummaryDocument>>(`traces?order=slowest&limit=${TRACES}&from=${from}${service}`, stop),
    ]);
    const seen = { services, graph, suspects, instances: instances.items, paths, traces: traces.items };
    servicesState.value = { kind: "seen", seen };
  } catch (problem) {
    if (stop.aborted) return;
    const why = problem instanceof Error ? problem.message : String(problem);
    if (problem instanceof PlaneProblem && problem.code === "services.none")
      servicesState.value = { kind: "none", why };
    // What is shown stays: it is no less true because the connection is gone.
    else if (servicesState.value.kind !== "seen") servicesState.value = { kind: "problem", why };
  }
}

export const readTrace = (id: string, stop: AbortSignal): Promise<TraceDocument> =>
  read(`traces/${encodeURIComponent(id)}`, stop);

export const injectAnomaly = async (wish: AnomalyWish): Promise<AnomalyDone> =>
  (await (
    await ask("services/anomalies", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(wish),
    })
  ).json()) as AnomalyDone;

export const setActing = async (mode: ActingMode): Promise<void> => {
  await ask("services/acting", {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ mode }),
  });
};

export const stopAnomaly = async (id: string): Promise<void> => {
  await ask(`services/anomalies/${encodeURIComponent(id)}/stop`, { method: "POST" });
};
