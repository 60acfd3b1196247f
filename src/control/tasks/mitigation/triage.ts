/**
 * Who needs help this second (dissertation, Figure 3.2): which SLOs are broken, whose time it was, which services may be
 * given more, and whose turn it is to give something back. START READING HERE for mitigation.
 * Owns: that order, once a second; the readings of services that follow from it. The page of services shows the same
 * object that agents act by, so that the culprit shown is the culprit acted on.
 * Not here: critical paths (observe/tracing) and blame (control/localize), which one pipeline and one localizer bring;
 * what a service gets (the agents).
 */
import type { Ms, Resource, Result, WorkloadId } from "../../../base/index.ts";
import { err, failure, ok, resources, seconds } from "../../../base/index.ts";
import type { InstanceReading, RequestReading, SpanColumns } from "../../../observe/telemetry/index.ts";
import type { Localizer, Suspect } from "../../localize/index.ts";
import { sloMaintenanceOf } from "./observation.ts";
import type { ServicesPort } from "./port.ts";
import { RecentLatencies } from "./recent-latency.ts";
import type { ServiceReading, Standing } from "./service-reading.ts";
import { type Finding, ServiceReadings } from "./service-readings.ts";

export type TriageLocalizer = Pick<Localizer, "read" | "suspects" | "promise">;

export interface TriageOptions {
  readonly localizer: TriageLocalizer;
  /** The id of a service as a managed workload. */
  readonly idOf: (service: string) => WorkloadId;
  /**
   * Who is acted on while an SLO is broken. `culprits`, as in the paper: whom the localizer calls one, and after three
   * intervals without any the likeliest. `pressed`, the default: the likeliest at once where there is no culprit, and every
   * suspect that telemetry shows at the end of a limit, since a surge of requests has no culprit.
   */
  readonly acting?: "culprits" | "pressed";
  /** Over which the latency of now is taken. */
  readonly latencyWindow?: Ms;
  /** While nobody waits for it, a service may give something back once in so many intervals; 0: never. */
  readonly trimEvery?: number;
}

export type TriageView = Pick<ServicesPort, "now" | "readInstances" | "readRequests" | "readNodes" | "readService">;

export interface TriageStatus {
  readonly at: Ms;
  /** Request types with an SLO, of the application's ingress and of users' own. */
  readonly requests: readonly RequestReading[];
  /** Those whose SLO is broken now, with their SM. */
  readonly broken: ReadonlyMap<string, number>;
}

/** A limit of which so much is used holds its container back: a scrape's mean over two seconds, so all of it for most of them. */
const PRESSED = 0.8;
/** Requests that fail beyond what a 99th percentile forgives break an SLO, however fast the others are. */
const FAILING = 0.01;
/** What is broken is not kept, even where the 99th percentile of a few requests still is. */
const JUST_BROKEN = 0.99;
/** Intervals for which a surge is taken for granted; then telemetry has told of it, or it is none. */
const SURGE = 3;
/** Intervals after which a violation is taken for one that limits do not mend, such as a slow network. */
const STUBBORN = 10;
/** Intervals that a violation may go on without a culprit before the likeliest suspect is taken for one, in the paper's way. */
const PATIENCE = 3;
/** For types that only spans tell of: senders hold theirs back for some seconds, so a shorter window would be empty now and then. */
const SENT_WINDOW: Ms = seconds(10);

/** One interval's telemetry. */
interface Round {
  readonly now: Ms;
  readonly instances: readonly InstanceReading[];
  readonly broken: ReadonlyMap<string, number>;
  /** Of requests. */
  readonly types: number;
}

export class Triage {
  readonly #options: Required<Omit<TriageOptions, "localizer" | "idOf">>;
  readonly #recent = new RecentLatencies(SENT_WINDOW);
  readonly #maker: ServiceReadings;
  #localizer: TriageLocalizer;
  #slos: ReadonlyMap<string, Ms> = new Map();
  #intervals = 0;
  #unblamed = 0;
  /** Intervals: since an SLO is broken, and by container since it is blamed. */
  #brokenFor = 0;
  #blamedFor = new Map<string, number>();
  #status: TriageStatus | null = null;
  #suspects: { readonly at: Ms; readonly list: readonly Suspect[] } | null = null;
  #readings: ReadonlyMap<string, ServiceReading> = new Map();

  constructor({ localizer, idOf, acting, latencyWindow, trimEvery }: TriageOptions) {
    this.#localizer = localizer;
    this.#maker = new ServiceReadings(idOf);
    this.#options = {
      acting: acting ?? "pressed",
      latencyWindow: latencyWindow ?? seconds(2),
      trimEvery: trimEvery ?? 5,
    };
  }

  /** Of the last turn. */
  get status(): TriageStatus | null {
    return this.#status;
  }

  /** Of the last turn's moment, likeliest first. Found when first asked for: while nothing is broken few ask. */
  get suspects(): { readonly at: Ms; readonly list: readonly Suspect[] } {
    const at = this.#status?.at ?? (0 as Ms);
    if (this.#suspects?.at !== at) this.#suspects = { at, list: this.#localizer.suspects(at) };
    return this.#suspects;
  }

  /** From now on another one is asked, which has learned more. */
  use(localizer: TriageLocalizer): void {
    this.#localizer = localizer;
  }

  /** SLOs of request types by name: those of users' own, of which only spans tell, and others for those of the ingress. */
  setSlos(slos: ReadonlyMap<string, Ms>): void {
    this.#slos = slos;
  }

  /** Spans as they come, whoever sent them; those that wait for the rest of their trace, too. */
  see(spans: SpanColumns, now: Ms): void {
    this.#recent.add(spans, now);
  }

  /** One interval. */
  turn(view: TriageView): TriageStatus {
    const { now } = view;
    this.#intervals++;
    this.#recent.advance(now);
    const instances = view.readInstances();
    const requests = this.#withSlos(view.readRequests(), now);
    this.#localizer.read({ instances, requests });
    const broken = this.#broken(requests, now);
    this.#status = { at: now, requests, broken };
    const round: Round = { now, instances, broken, types: requests.length };
    const findings = broken.size > 0 ? this.#mitigate(round) : this.#fit(round);
    this.#readings = this.#maker.make(view, { instances, requests, findings });
    return this.#status;
  }

  /** Of the last turn. */
  reading(service: string): Result<ServiceReading> {
    const found = this.#readings.get(service);
    if (found !== undefined) return ok(found);
    return err(failure("mitigation.unknown-workload", `telemetry knows no container of ${service}`, { retry: true }));
  }

  /** Of the last turn. */
  get readings(): ReadonlyMap<string, ServiceReading> {
    return this.#readings;
  }

  #withSlos(requests: readonly RequestReading[], now: Ms): readonly RequestReading[] {
    if (this.#slos.size === 0) return requests;
    const known = new Set(requests.map(({ request }) => request));
    const own = [...this.#slos].filter(([request]) => !known.has(request));
    return [
      ...requests.map((reading) => {
        const slo = this.#slos.get(reading.request);
        return slo === undefined ? reading : { ...reading, slo };
      }),
      ...own.map(([request, slo]) => this.#recent.reading(request, { slo, now, window: SENT_WINDOW })),
    ];
  }

  /** By request type whose SLO is broken: its SM. From spans where there are some, which are newer than the ingress's window. */
  #broken(requests: readonly RequestReading[], now: Ms): ReadonlyMap<string, number> {
    const broken = new Map<string, number>();
    for (const { request, slo, p99, failed, offered } of requests) {
      const recent = this.#recent.of(request, { now, window: this.#options.latencyWindow });
      const isFailing = failed > FAILING * offered;
      const isSlow = recent.count > 0 ? recent.isBroken(slo) : p99 !== null && p99 > slo;
      if (!isSlow && !isFailing) continue;
      const latency = isFailing || recent.p99 === null ? p99 : recent.p99;
      broken.set(request, Math.min(JUST_BROKEN, sloMaintenanceOf(slo, latency)));
    }
    return broken;
  }

  #mitigate(round: Round): ReadonlyMap<string, Finding> {
    const { broken, now, instances } = round;
    const { list: suspects } = this.suspects;
    const readings = new Map(instances.map((reading) => [reading.instance, reading]));
    const blamed = this.#blamed(suspects, readings);
    const isPrinted = this.#options.acting === "culprits";
    const worst = Math.min(...broken.values());
    const findings = new Map<string, Finding>();
    for (const suspect of suspects) {
      const reading = readings.get(suspect.instance);
      // It may be gone by now, or this scrape has missed it.
      if (reading === undefined || reading.use === null) continue;
      const isBlamed = blamed.has(suspect);
      const lacking = isPrinted || isBlamed ? [] : this.#pressed(reading, round);
      if (!isBlamed && lacking.length === 0) continue;
      this.#localizer.promise(suspect, now);
      const standing: Standing = isBlamed
        ? // Telemetry is a second or two behind spans: of what a culprit lacks nothing is known yet when it is named.
          { kind: "blamed", because: suspect.reason }
        : { kind: "pressed", because: `it fills or is about to fill its ${lacking.join(", ")}`, lacking };
      merge(findings, reading.service, { standing, sloMaintenance: broken.get(suspect.request) ?? worst });
    }
    if (!isPrinted && ++this.#brokenFor > STUBBORN)
      this.#byTurns(findings, round, "the SLO is broken, but not for want of its limits");
    else waitAll(findings, instances, "an SLO is broken, and not by it");
    return findings;
  }

  /** Where all types of requests break at once it is likely a surge, and telemetry tells of full limits a second after. */
  #pressed(reading: InstanceReading, { broken, types }: Round): readonly Resource[] {
    const pressed = pressedOf(reading);
    const isSurge = types > 1 && broken.size === types && this.#brokenFor < SURGE;
    return isSurge && !pressed.includes("cpu") ? ["cpu", ...pressed] : pressed;
  }

  /** Culprits, or the likeliest where nobody is called one; not those whom more limits have not helped and who fill none. */
  #blamed(suspects: readonly Suspect[], readings: ReadonlyMap<string, InstanceReading>): ReadonlySet<Suspect> {
    const isPrinted = this.#options.acting === "culprits";
    const culprits = suspects.filter(({ isCulprit }) => isCulprit);
    this.#unblamed = culprits.length > 0 ? 0 : this.#unblamed + 1;
    const likeliest = this.#unblamed >= (isPrinted ? PATIENCE : 1) ? suspects.slice(0, 1) : [];
    const blamed = [...culprits, ...likeliest];
    if (isPrinted) return new Set(blamed);
    this.#blamedFor = new Map(blamed.map(({ instance }) => [instance, (this.#blamedFor.get(instance) ?? 0) + 1]));
    return new Set(
      blamed.filter(({ instance }) => {
        const reading = readings.get(instance);
        const isHelped = (this.#blamedFor.get(instance) as number) <= STUBBORN;
        return isHelped || (reading !== undefined && pressedOf(reading).length > 0);
      }),
    );
  }

  /** Nobody is harmed: what containers do not need is taken back, a few services at a time. */
  #fit(round: Round): ReadonlyMap<string, Finding> {
    this.#unblamed = 0;
    this.#brokenFor = 0;
    this.#blamedFor.clear();
    const findings = new Map<string, Finding>();
    this.#byTurns(findings, round, "no SLO is broken");
    return findings;
  }

  #byTurns(findings: Map<string, Finding>, { instances }: Round, because: string): void {
    const { trimEvery } = this.#options;
    const others = [...new Set(instances.map(({ service }) => service))].filter((service) => !findings.has(service));
    others.forEach((service, i) => {
      const isTurn = trimEvery > 0 && (i + this.#intervals) % trimEvery === 0;
      const standing: Standing = isTurn
        ? { kind: "fitted", because }
        : { kind: "waiting", because: trimEvery === 0 ? "nothing is taken back" : "it is another service's turn" };
      findings.set(service, { standing, sloMaintenance: 1 });
    });
  }
}

/** A service is treated by the worst that is said of one of its containers; suspects come likeliest first. */
function merge(findings: Map<string, Finding>, service: string, found: Finding): void {
  const before = findings.get(service);
  if (before === undefined) {
    findings.set(service, found);
    return;
  }
  const sloMaintenance = Math.min(before.sloMaintenance, found.sloMaintenance);
  const [one, other] = [before.standing, found.standing];
  const standing: Standing =
    one.kind === "pressed" && other.kind === "pressed"
      ? { ...one, lacking: [...new Set([...one.lacking, ...other.lacking])] }
      : one.kind === "blamed"
        ? one
        : other;
  findings.set(service, { standing, sloMaintenance });
}

function waitAll(findings: Map<string, Finding>, instances: readonly InstanceReading[], because: string): void {
  for (const { service } of instances)
    if (!findings.has(service)) findings.set(service, { standing: { kind: "waiting", because }, sloMaintenance: 1 });
}

/** Of CPU by the busiest quota period, too: throttled in one is late in one. */
function pressedOf({ use, counters, limits }: InstanceReading): readonly Resource[] {
  return resources.filter((resource) => {
    // A cache is always full.
    if (use === null || resource === "llc") return false;
    const busiest = resource === "cpu" ? (counters?.cpuPeakCores ?? 0) / limits.cpu : 0;
    return Math.max(use[resource], busiest) >= PRESSED;
  });
}
