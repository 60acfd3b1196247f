/**
 * Questions about services, answered with the documents of the API.
 * Owns: the documents, and for how long an answer that costs a query stays good. Not here: what is known
 * (service-knowledge.ts), HTTP (server).
 */
import type { IntakeCounts } from "../../../adapters/otlp/index.ts";
import type { Ms, Result } from "../../../base/index.ts";
import { assertNever, err, failure, milliseconds, minutes, ok } from "../../../base/index.ts";
import type {
  ActingDone,
  ActingMode,
  GraphVertex,
  InstanceDocument,
  PathsDocument,
  RequestDocument,
  RequestSloDone,
  ServiceGraphDocument,
  ServicesDocument,
  ServicesQuestion,
  SpanListeners,
  SuspectsDocument,
} from "../../../contract/index.ts";
import type { SavedServices } from "../../../contract/schemas/index.ts";
import type { TraceStore } from "../../../observe/telemetry/index.ts";
import type { Mitigator } from "./mitigator.ts";
import { MOST_SLOS, type RequestSlos } from "./request-slos.ts";
import type { ServiceKnowledge } from "./service-knowledge.ts";
import { writeServices } from "./services-file.ts";
import type { SimulatedApplication } from "./simulated-application.ts";
import { summaryDocument, traceDocument } from "./trace-documents.ts";
import type { TracePipeline } from "./trace-pipeline.ts";

export interface Answering {
  readonly now: () => Ms;
  readonly listeners: SpanListeners;
  readonly intake: () => IntakeCounts;
  readonly pipeline: TracePipeline;
  readonly store: TraceStore;
  readonly knowledge: ServiceKnowledge;
  readonly slos: RequestSlos;
  /** The application and who acts on it. */
  readonly simulated: SimulatedApplication | null;
  readonly mitigator: Mitigator | null;
  /** Where what a person says is kept; null for nowhere. */
  readonly folder: string | null;
  /** What was said about acting before this start. */
  readonly saved: Pick<SavedServices, "mode" | "since">;
}

const GRAPH_SPAN: Ms = minutes(5);
/** A page that is open asks every few seconds, and so do others: one query serves them all. */
const GOOD_FOR = 2_000;
const MOST_PATHS = 12;

export class Answers {
  readonly #about: Answering;
  readonly #kept = new Map<string, { readonly at: number; readonly document: Promise<unknown> }>();

  constructor(about: Answering) {
    this.#about = about;
  }

  /** Another one as soon as an answer may be another one; a simulated application is never the same for long. */
  get version(): string {
    const { now, intake, pipeline, simulated, knowledge } = this.#about;
    if (simulated !== null) return String(now());
    const { requests, spans } = intake();
    return [requests, spans, pipeline.coordinator.assembler.waitingSpans, knowledge.localizer.isTrained].join(" ");
  }

  async to(question: ServicesQuestion): Promise<Result<unknown>> {
    const { simulated, store, pipeline } = this.#about;
    switch (question.kind) {
      case "services":
        return ok(await this.#services());
      case "graph":
        return ok(await this.#fresh(JSON.stringify(question), () => this.#graph(question)));
      case "suspects":
        return ok(this.#suspects(question.limit));
      case "instances":
        return ok({ items: (simulated?.instances() ?? []).map(instanceDocument), next: null });
      case "requests":
        return ok({ items: this.#requests(), next: null });
      case "paths":
        return ok(this.#paths(question.request));
      case "traces": {
        const { kind: _, from, to, leastMs, ...query } = question;
        const found = await store.find({
          ...query,
          ...(from === undefined ? {} : { fromUs: 1_000 * from }),
          ...(to === undefined ? {} : { toUs: 1_000 * to }),
          ...(leastMs === undefined ? {} : { minDurationUs: 1_000 * leastMs }),
        });
        return ok({ items: found.map(summaryDocument), next: null });
      }
      case "trace": {
        const trace = await store.trace(question.id);
        if (trace !== null) return ok(traceDocument(trace, pipeline.coordinator));
        const text = `there is no trace ${question.id}: it may not be complete yet; GET /v1/traces lists those that are`;
        return err(failure("services.unknown-trace", text));
      }
      case "inject-anomaly":
        return simulated?.inject(question.anomaly) ?? err(NOTHING_SIMULATED);
      case "stop-anomaly":
        return simulated?.stop(question.id) ?? err(NOTHING_SIMULATED);
      case "set-acting":
        return this.#setActing(question.mode);
      case "set-request-slo":
        return this.#setSlo(question);
      default:
        return assertNever(question);
    }
  }

  async #setActing(mode: ActingMode): Promise<Result<ActingDone>> {
    const { mitigator, now } = this.#about;
    if (mitigator === null) return err(NOTHING_SIMULATED);
    const since: number = now();
    const set = await mitigator.setMode(mode, since);
    const saved = set.ok ? this.#save() : set;
    return saved.ok ? ok({ mode, since }) : saved;
  }

  #setSlo({ request, sloMs }: RequestSloDone): Result<RequestSloDone> {
    const { slos, knowledge } = this.#about;
    if (!slos.set(request, sloMs))
      return err(
        failure(
          "services.too-many-slos",
          `${MOST_SLOS} request types have an SLO already: take one back with null first`,
        ),
      );
    knowledge.setSlos(slos.inForce);
    const saved = this.#save();
    return saved.ok ? ok({ request, sloMs }) : saved;
  }

  #save(): Result<void> {
    const { mitigator, slos, folder } = this.#about;
    const { mode, since } = mitigator?.document() ?? this.#about.saved;
    return writeServices(folder, { mode, since, sloMs: slos.said });
  }

  #requests(): readonly RequestDocument[] {
    const { knowledge, slos } = this.#about;
    const { requests, broken } = knowledge.status;
    const own = slos.inForce;
    return requests.map(({ request, slo, p50, p99, completed }) => ({
      request,
      sloMs: slo,
      isOwn: own.has(request),
      p50Ms: p50,
      p99Ms: p99,
      perSecond: completed,
      isBroken: broken.has(request),
    }));
  }

  async #services(): Promise<ServicesDocument> {
    const { now, listeners, intake, pipeline, store, simulated, mitigator } = this.#about;
    const { traces, spans } = await this.#fresh("counts", () => store.counts());
    const { requests, spans: received, refused, dropped } = intake();
    const later = pipeline.coordinator.assembler.counts().dropped;
    const reasons = new Set([...Object.keys(dropped), ...Object.keys(later)]) as Set<keyof typeof later>;
    return {
      at: now(),
      listeners,
      counts: {
        requests,
        spans: received,
        refused,
        dropped: Object.fromEntries(
          [...reasons].map((reason) => [reason, dropped[reason] + later[reason]]).filter(([, count]) => count !== 0),
        ),
        waiting: pipeline.coordinator.assembler.waitingSpans,
        storedTraces: traces,
        storedSpans: spans,
      },
      simulated:
        simulated === null || mitigator === null
          ? null
          : { ...applicationDocument(simulated), acting: mitigator.document() },
    };
  }

  async #graph(question: Extract<ServicesQuestion, { kind: "graph" }>): Promise<ServiceGraphDocument> {
    const { now, store, knowledge } = this.#about;
    const { of } = question;
    const to = milliseconds(question.to ?? now());
    const from = milliseconds(question.from ?? to - GRAPH_SPAN);
    const calls = await store.serviceGraph({ fromUs: 1_000 * from, toUs: 1_000 * to, vertices: of });
    const blame = knowledge.blame(of);
    const vertices = new Map<string, { -readonly [K in keyof GraphVertex]: GraphVertex[K] }>();
    const vertex = (name: string) => {
      const known = vertices.get(name);
      if (known !== undefined) return known;
      const fresh = { name, calls: 0, errors: 0, criticalMs: 0, criticalShare: 0, blame: blame.get(name) ?? 0 };
      vertices.set(name, fresh);
      return fresh;
    };
    for (const { caller, callee, calls: count, errors } of calls) {
      vertex(caller);
      const called = vertex(callee);
      called.calls += count;
      called.errors += errors;
    }
    for (const { service, instance, perRequestUs, share } of knowledge.windows.criticalTimes(from, to)) {
      const one = vertex(of === "services" ? service : instance);
      one.criticalMs += perRequestUs / 1_000;
      one.criticalShare = Math.min(1, one.criticalShare + share);
    }
    return {
      from,
      to,
      of,
      vertices: [...vertices.values()],
      edges: calls.map(({ caller, callee, calls: count, errors, meanUs, p99Us, criticalCalls }) => ({
        caller,
        callee,
        calls: count,
        errors,
        meanMs: meanUs / 1_000,
        p99Ms: p99Us / 1_000,
        criticalCalls,
      })),
    };
  }

  #suspects(limit: number): SuspectsDocument {
    const { suspects, localizer } = this.#about.knowledge;
    return {
      at: suspects.at,
      isTrained: localizer.isTrained,
      items: suspects.list.slice(0, limit).map(({ expectedSaving, ...suspect }) => ({
        ...suspect,
        expectedSavingMs: expectedSaving,
      })),
    };
  }

  #paths(asked: string | undefined): PathsDocument {
    const { pipeline, knowledge } = this.#about;
    const types = pipeline.coordinator.signatures.requestTypes();
    const request = asked ?? types[0]?.name ?? null;
    const windows = request === null ? [] : knowledge.windows.windows(request);
    const [first] = windows;
    return {
      request,
      requests: types.map(({ name }) => name),
      windowMs: first === undefined ? 0 : first.to - first.from,
      windows: windows.map(({ from, types: [type] }) => ({
        from,
        requests: type?.requests ?? 0,
        meanMs: type === undefined ? null : type.meanUs / 1_000,
        paths: (type?.paths ?? [])
          .slice(0, MOST_PATHS)
          .map(({ signature, count, meanUs }) => ({ signature, count, meanMs: meanUs / 1_000 })),
        others: (type?.others ?? 0) + (type?.paths ?? []).slice(MOST_PATHS).reduce((sum, { count }) => sum + count, 0),
      })),
      paths: (types.find(({ name }) => name === request)?.paths ?? [])
        .slice(0, MOST_PATHS)
        .map(({ signature, count, meanUs, steps, exclusiveUs }) => ({
          signature,
          count,
          meanMs: meanUs / 1_000,
          steps: steps.map((step, k) => ({ ...step, exclusiveMs: (exclusiveUs[k] ?? 0) / 1_000 })),
        })),
    };
  }

  /** The answer of a moment ago, or a new one. */
  #fresh<T>(key: string, make: () => Promise<T>): Promise<T> {
    const now = this.#about.now();
    for (const [name, { at }] of this.#kept) if (now - at >= GOOD_FOR || now < at) this.#kept.delete(name);
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept.document as Promise<T>;
    const document = make();
    this.#kept.set(key, { at: now, document });
    // What failed is asked again.
    document.catch(() => this.#kept.delete(key));
    return document;
  }
}

const NOTHING_SIMULATED = failure(
  "services.no-application",
  "no application is simulated here, so nothing can be let go wrong and nobody can act: spans that others send come without a way to their containers; start it with --application hotel-reservation",
);

function applicationDocument(
  simulated: SimulatedApplication,
): Omit<NonNullable<ServicesDocument["simulated"]>, "acting"> {
  const twins = simulated.twinRequests();
  return {
    application: simulated.application.name,
    requests: simulated.requests().map(({ request, slo, p50, p99, offered, completed, failed }, i) => ({
      request,
      sloMs: slo,
      p50Ms: p50,
      p99Ms: p99,
      offered,
      completed,
      failed,
      twinP99Ms: twins[i]?.p99 ?? null,
    })),
    targets: simulated.targets(),
    anomalies: simulated.anomalies(),
  };
}

const instanceDocument = ({
  instance,
  service,
  node,
  isReady,
  limits,
  lower,
  upper,
  use,
}: ReturnType<SimulatedApplication["instances"]>[number]): InstanceDocument => ({
  instance,
  service,
  node,
  isReady,
  limits,
  lower,
  upper,
  use,
});
