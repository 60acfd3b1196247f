/**
 * FIRM at the wheel (dissertation, Figure 3.2): an SLO is broken, critical paths say whose time it was, the localizer says
 * who is to blame, and the agent says what that container gets. START READING HERE.
 * Owns: that order, every control interval; tightening limits while nobody is harmed; handing over to the fallback.
 * Not here: the guard and the world (drive.ts), critical paths (observe/tracing), blame (control/localize), the meaning of
 * the agent's numbers (control/tasks/mitigation).
 *
 * Anything odd (telemetry missing or old, a number that is none, an error on the way) hands the very same interval to the
 * fallback, Kubernetes autoscaling, and says why. The next interval is tried again.
 */
import type { ServiceProposal } from "../../../act/index.ts";
import type { Limits, Ms, Resource } from "../../../base/index.ts";
import { CodedError, milliseconds, resources, seconds, unwrap } from "../../../base/index.ts";
import { type InstanceReading, NameTable, type RequestReading, SpanColumns } from "../../../observe/telemetry/index.ts";
import { TracingCoordinator } from "../../../observe/tracing/index.ts";
import type { Localizer, Suspect } from "../../localize/index.ts";
import {
  compositionOf,
  decodeMitigation,
  encodeMitigation,
  type MitigationActions,
  type MitigationAgent,
  offeredOf,
  type ServicesController,
  type ServicesView,
  sloMaintenanceOf,
  UseMemory,
  workloadChangeOf,
} from "../../tasks/index.ts";
import { RecentLatencies } from "./recent-latency.ts";

export interface FirmOptions {
  readonly agent: MitigationAgent;
  readonly localizer: Pick<Localizer, "observe" | "read" | "suspects" | "promise">;
  /** Who acts when something is odd. */
  readonly fallback: ServicesController;
  /** What the agent was trained to say. */
  readonly actions?: MitigationActions;
  /** Over which the latency of now is taken. */
  readonly latencyWindow?: Ms;
  /** How long a trace waits for late spans once its root has come; spans of background work that end later are not seen. */
  readonly settle?: Ms;
  /**
   * Who is acted on while an SLO is broken. `culprits`, as in the paper: whom the localizer calls one, and after three
   * intervals without any the likeliest. `pressed`, the default: the likeliest at once where there is no culprit, and every
   * suspect that telemetry shows at the end of a limit, since a surge of requests has no culprit.
   */
  readonly acting?: "culprits" | "pressed";
  /** While no SLO is broken, the agent is asked about every container once in so many intervals; 0: never. */
  readonly trimEvery?: number;
}

export interface FirmStatus {
  readonly at: Ms;
  readonly acts: "agent" | "fallback";
  /** Why the fallback acts; null where the agent does. */
  readonly why: string | null;
  /** Request types whose SLO is broken now, with their SM. */
  readonly broken: ReadonlyMap<string, number>;
  readonly suspects: readonly Suspect[];
}

/** As old as readings may be: many scrapes. */
const OLDEST_READING: Ms = seconds(10);
/** Containers without a sample beyond this part of all: the pipeline is broken, not one scrape. */
const MOST_MISSING = 0.5;
/** A limit of which so much is used holds its container back: a scrape's mean over two seconds, so all of it for most of them. */
const PRESSED = 0.8;

/** One interval's telemetry. */
interface Sight {
  readonly now: Ms;
  readonly instances: readonly InstanceReading[];
  readonly broken: ReadonlyMap<string, number>;
  /** Of requests. */
  readonly types: number;
  readonly workloadChange: number;
  readonly composition: number;
  readonly rooms: ReadonlyMap<string, Limits>;
  readonly replicas: ReadonlyMap<string, number>;
}

/** Why the agent is asked about a container. */
interface Asked {
  readonly sloMaintenance: number;
  readonly because: string;
  /** Resources that it may have needed more of than it was let use; any where absent. */
  readonly lacking?: ReadonlySet<Resource>;
}

export class FirmController implements ServicesController {
  readonly name = "firm";
  readonly #options: Required<FirmOptions>;
  readonly #names = new NameTable();
  readonly #tracing: TracingCoordinator;
  readonly #recent: RecentLatencies;
  readonly #used = new UseMemory();
  #offeredBefore: number | null = null;
  #intervals = 0;
  #unblamed = 0;
  /** Intervals: since an SLO is broken, and by container since it is blamed. */
  #brokenFor = 0;
  #blamedFor = new Map<string, number>();
  #status: FirmStatus | null = null;

  constructor(options: FirmOptions) {
    this.#options = {
      ...{ actions: "headroom", acting: "pressed", latencyWindow: seconds(2), settle: milliseconds(0), trimEvery: 5 },
      ...options,
    };
    this.#tracing = new TracingCoordinator(this.#names, { limits: { settle: this.#options.settle } });
    this.#recent = new RecentLatencies(this.#options.latencyWindow);
  }

  /** Of the last interval. */
  get status(): FirmStatus | null {
    return this.#status;
  }

  control(services: ServicesView): readonly ServiceProposal[] {
    this.#intervals++;
    try {
      const sight = this.#look(services);
      const odd = oddityOf(sight);
      if (odd !== null) return this.#handOver(services, odd);
      return sight.broken.size > 0 ? this.#mitigate(sight) : this.#trim(sight);
    } catch (error) {
      // Whatever it was, containers are somebody's to look after until the next interval.
      return this.#handOver(services, textOf(error));
    }
  }

  #handOver(services: ServicesView, why: string): readonly ServiceProposal[] {
    this.#status = { at: services.now, acts: "fallback", why, broken: new Map(), suspects: [] };
    return this.#options.fallback
      .control(services)
      .map((proposal) => ({ ...proposal, why: `${proposal.why} (the agent may not act: ${why})` }));
  }

  #look(services: ServicesView): Sight {
    const { now } = services;
    const { localizer } = this.#options;
    const instances = services.readInstances();
    const requests = services.readRequests();
    const spans = services.takeSpans();
    this.#recent.add(spans, now);
    if (spans.length > 0) {
      const columns = new SpanColumns(this.#names);
      for (const span of spans) columns.addSpan(span);
      this.#tracing.admit(columns, now);
    }
    const traces = this.#tracing.collect(now);
    if (traces !== null) {
      localizer.observe(traces);
      this.#tracing.release(traces);
    }
    localizer.read({ instances, requests });
    this.#used.note(instances);
    const offered = offeredOf(requests);
    const workloadChange = workloadChangeOf(offered, this.#offeredBefore);
    this.#offeredBefore = offered;
    const replicas = new Map<string, number>();
    for (const { service } of instances) replicas.set(service, (replicas.get(service) ?? 0) + 1);
    return {
      ...{ now, instances, workloadChange, replicas },
      broken: this.#broken(requests),
      types: requests.length,
      composition: compositionOf(requests.map((request) => request.offered)),
      rooms: new Map(services.readNodes().map(({ node, room }) => [node, room])),
    };
  }

  /** By request type whose SLO is broken: its SM. From spans where there are some, which are newer than the ingress's window. */
  #broken(requests: readonly RequestReading[]): ReadonlyMap<string, number> {
    const broken = new Map<string, number>();
    for (const { request, slo, p99, failed, offered } of requests) {
      const recent = this.#recent.of(request);
      const isFailing = failed > FAILING * offered;
      const isSlow = recent.count > 0 ? recent.isBroken(slo) : p99 !== null && p99 > slo;
      if (!isSlow && !isFailing) continue;
      const latency = isFailing || recent.p99 === null ? p99 : recent.p99;
      broken.set(request, Math.min(JUST_BROKEN, sloMaintenanceOf(slo, latency)));
    }
    return broken;
  }

  #mitigate(sight: Sight): readonly ServiceProposal[] {
    const { localizer } = this.#options;
    const suspects = localizer.suspects(sight.now);
    this.#status = { at: sight.now, acts: "agent", why: null, broken: sight.broken, suspects };
    const readings = new Map(sight.instances.map((reading) => [reading.instance, reading]));
    const blamed = this.#blamed(suspects, readings);
    const isPrinted = this.#options.acting === "culprits";
    const worst = Math.min(...sight.broken.values());
    const acted = new Set<string>();
    const proposals = suspects.flatMap((suspect) => {
      const reading = readings.get(suspect.instance);
      // It may be gone by now, or this scrape has missed it.
      if (reading === undefined || reading.use === null) return [];
      const isBlamed = blamed.has(suspect);
      const pressed = isPrinted || isBlamed ? [] : this.#pressed(reading, sight);
      if (!isBlamed && pressed.length === 0) return [];
      acted.add(suspect.instance);
      localizer.promise(suspect, sight.now);
      const sloMaintenance = sight.broken.get(suspect.request) ?? worst;
      const because = isBlamed ? suspect.reason : `it fills or is about to fill its ${pressed.join(", ")}`;
      return this.#ask(reading, sight, {
        ...{ sloMaintenance, because },
        // Telemetry is a second or two behind spans: of what a culprit lacks nothing is known yet when it is named.
        ...(!isBlamed && { lacking: new Set(pressed) }),
      });
    });
    if (isPrinted || ++this.#brokenFor <= STUBBORN) return proposals;
    const others = sight.instances.filter(({ instance }) => !acted.has(instance));
    return [...proposals, ...this.#byTurns(others, sight, "the SLO is broken, but not for want of its limits")];
  }

  /** Where all types of requests break at once it is likely a surge, and telemetry tells of full limits a second after. */
  #pressed(reading: InstanceReading, { broken, types }: Sight): readonly Resource[] {
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

  /** Nobody is harmed: what containers do not need is taken back, a few of them at a time. */
  #trim(sight: Sight): readonly ServiceProposal[] {
    this.#status = { at: sight.now, acts: "agent", why: null, broken: sight.broken, suspects: [] };
    this.#unblamed = 0;
    this.#brokenFor = 0;
    this.#blamedFor.clear();
    return this.#byTurns(sight.instances, sight, "no SLO is broken");
  }

  #byTurns(instances: readonly InstanceReading[], sight: Sight, because: string): readonly ServiceProposal[] {
    const { trimEvery } = this.#options;
    if (trimEvery === 0) return [];
    return instances.flatMap((reading, i) =>
      reading.use === null || !reading.isReady || (i + this.#intervals) % trimEvery !== 0
        ? []
        : this.#ask(reading, sight, { sloMaintenance: 1, because }),
    );
  }

  #ask(
    instance: InstanceReading,
    { workloadChange, composition, rooms, replicas }: Sight,
    { sloMaintenance, because, lacking }: Asked,
  ): readonly ServiceProposal[] {
    const { agent, actions: kind } = this.#options;
    const { service, use, node, at } = instance;
    const observation = encodeMitigation({
      ...{ sloMaintenance, workloadChange, composition },
      use: use as NonNullable<typeof use>,
    });
    const action = unwrap(agent.act(service, observation));
    if (!Array.from(action).every(Number.isFinite)) throw new RangeError("the agent's answer is not a number");
    const room = rooms.get(node);
    if (room === undefined) throw new RangeError(`nobody has told what is left on node ${node}`);
    const { actions, oversubscribed } = decodeMitigation(action, {
      ...{ kind, instance, room, sloMaintenance, used: this.#used.peakOf(instance) },
      deployed: this.#used.deployedWith(instance),
      ...(lacking !== undefined && { lacking }),
      replicas: replicas.get(service) ?? 1,
    });
    const more = oversubscribed.length > 0 ? `; its node has no more ${oversubscribed.join(", ")}` : "";
    const why = `${instance.instance}: ${because}, SM ${sloMaintenance.toFixed(2)}${more}`;
    return actions.map((one) => ({ action: one, measuredAt: at, why }));
  }
}

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

/** Of CPU by the busiest quota period, too: throttled in one is late in one. */
function pressedOf({ use, counters, limits }: InstanceReading): readonly Resource[] {
  return resources.filter((resource) => {
    // A cache is always full.
    if (use === null || resource === "llc") return false;
    const busiest = resource === "cpu" ? (counters?.cpuPeakCores ?? 0) / limits.cpu : 0;
    return Math.max(use[resource], busiest) >= PRESSED;
  });
}

function oddityOf({ now, instances }: Sight): string | null {
  if (!Number.isFinite(now)) return "the time is not known";
  if (instances.length === 0) return "telemetry knows no container";
  const missing = instances.filter(({ use, isReady }) => isReady && use === null).length;
  if (missing > MOST_MISSING * instances.length)
    return `telemetry of ${missing} of ${instances.length} containers is missing`;
  const newest = Math.max(...instances.map(({ at }) => at));
  if (!(now - newest <= OLDEST_READING)) return `telemetry is ${Math.round((now - newest) / 1_000)} s old`;
  const isWild = instances.some(({ use }) => use !== null && !Object.values(use).every(Number.isFinite));
  return isWild ? "a utilisation is not a number" : null;
}

const textOf = (error: unknown): string =>
  error instanceof CodedError ? error.failure.message : error instanceof Error ? error.message : String(error);
