/**
 * What only spans tell of services: who calls whom, suspects, paths, traces. Their limits, stages and decisions come by the
 * stream, as those of all workloads (store.ts).
 * Owns: the signals, and that it is asked for anew when the stream says that it has changed, while somebody looks; what is
 * shown when that fails. Not here: drawing (views/services.tsx).
 */
import { effect, signal } from "@preact/signals";
import type {
  ActingMode,
  AnomalyDone,
  AnomalyWish,
  Page,
  PathsDocument,
  ServiceGraphDocument,
  ServicesDocument,
  SuspectsDocument,
  TraceDocument,
  TraceSummaryDocument,
} from "../../../src/contract/index.ts";
import { store } from "../state.ts";
import { ask, PlaneProblem } from "./client.ts";

export interface ServicesSeen {
  readonly services: ServicesDocument;
  readonly graph: ServiceGraphDocument;
  readonly suspects: SuspectsDocument;
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

const TRACES = 12;
const TRACES_SPAN_MS = 300_000;

const read = async <T>(path: string, stop?: AbortSignal): Promise<T> =>
  (await (await ask(path, stop === undefined ? {} : { signal: stop })).json()) as T;

/** Looks now, and again whenever it has changed, until it is told to stop. One look after the other: they must not pile up. */
export function followServices(): () => void {
  const stop = new AbortController();
  let isUnderWay = false;
  let isAskedAgain = false;
  const look = async (): Promise<void> => {
    // A page that nobody sees looks once it is seen again.
    if (stop.signal.aborted || document.visibilityState !== "visible") return;
    isAskedAgain = isUnderWay;
    if (isUnderWay) return;
    isUnderWay = true;
    await loadServices(stop.signal);
    isUnderWay = false;
    if (isAskedAgain) await look();
  };
  const forget = effect(() => {
    void store.servicesChanged.value;
    void look();
  });
  const seenAgain = (): void => void look();
  document.addEventListener("visibilitychange", seenAgain);
  return () => {
    stop.abort();
    forget();
    document.removeEventListener("visibilitychange", seenAgain);
  };
}

async function loadServices(stop: AbortSignal): Promise<void> {
  const [pathsAsked, tracesAsked] = [pathsOf.peek(), tracesOf.peek()];
  const request = pathsAsked === null ? "" : `?request=${encodeURIComponent(pathsAsked)}`;
  const service = tracesAsked === null ? "" : `&service=${encodeURIComponent(tracesAsked)}`;
  try {
    const services = await read<ServicesDocument>("services", stop);
    const from = Math.floor(services.at - TRACES_SPAN_MS);
    const [graph, suspects, paths, traces] = await Promise.all([
      read<ServiceGraphDocument>("services/graph", stop),
      read<SuspectsDocument>("services/suspects?limit=8", stop),
      read<PathsDocument>(`services/paths${request}`, stop),
      read<Page<TraceSummaryDocument>>(`traces?order=slowest&limit=${TRACES}&from=${from}${service}`, stop),
    ]);
    const seen = { services, graph, suspects, paths, traces: traces.items };
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
