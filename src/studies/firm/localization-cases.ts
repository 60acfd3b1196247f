/**
 * Anomalies for localisation, one at a time: each breaks an SLO all by itself (dissertation 3.3.2).
 * Owns: drawing them. Not here: running them (localization-scene.ts).
 *
 * Intensities are uniform from the one that starts to break an SLO to the strongest. Most containers do not feel most
 * kinds, whatever the intensity: a cache has no disk to be kept from. They are no culprits and are not drawn; who is tried
 * first depends on how much of a service's time the resource has to do with.
 */
import type { FaultKind, FaultTarget, Injection } from "../../act/faults/index.ts";
import { type Limits, type Ms, type Rng, seconds, seededRng } from "../../base/index.ts";
import {
  isolatedSlos,
  type MicroserviceApplication,
  type MicroserviceWorld,
  microserviceWorld,
  profiles,
  type ServiceSpec,
  thresholdOf,
} from "../../sim/index.ts";

export interface SceneOptions {
  readonly application: MicroserviceApplication;
  readonly seed: number;
  /** Requests of all types. */
  readonly perSecond: number;
  /** Share of requests that are traced; 0 where nobody looks at spans. */
  readonly sampling: number;
  /** Telemetry without noise, holes or delay: for ground truth. */
  readonly isExact?: boolean;
  /** By service; the defaults where absent. */
  readonly limits?: Readonly<Record<string, Limits>>;
}

const slosOf = new WeakMap<MicroserviceApplication, readonly Ms[]>();

export function sceneWorld(options: SceneOptions): MicroserviceWorld {
  const { application, seed, perSecond, sampling, isExact = false, limits = {} } = options;
  const slos = slosOf.get(application) ?? isolatedSlos(application);
  slosOf.set(application, slos);
  const perMinute = Float64Array.of(perSecond);
  return microserviceWorld({
    seed,
    application,
    slos,
    limits,
    tracing: { sampling },
    load: { id: "localization", level: "high", perMinute, dispersion: 1 },
    ...(isExact ? { metrics: { noise: 0, missing: 0, delay: 0 as Ms } } : {}),
  });
}

export interface LocalizationCase {
  readonly seed: number;
  readonly application: MicroserviceApplication;
  readonly injection: Injection;
}

export interface CaseOptions extends Omit<SceneOptions, "sampling" | "isExact" | "limits"> {
  readonly kind: FaultKind;
  readonly start: Ms;
  readonly duration: Ms;
}

/** Containers that are tried before the application is given up as one that does not feel the kind. */
const MOST_TRIES = 8;
/** How closely the intensity that starts to break an SLO is looked for. */
const TOLERANCE = 1 / 8;

/** Null where nothing that was tried breaks an SLO. */
export function drawCase(options: CaseOptions): LocalizationCase | null {
  const { application, seed, kind, start, duration } = options;
  const rng = seededRng(seed).fork("localization");
  const makeWorld = () => sceneWorld({ ...options, sampling: 0 });
  for (const target of targetsFor(rng, application, kind)) {
    const wish: Injection = { id: kind, kind, target, start, duration, pattern: "constant", intensity: 1 };
    const run = { makeWorld, tolerance: TOLERANCE, warmup: seconds(1), span: seconds(5) };
    const threshold = thresholdOf(wish, run);
    if (threshold === null) continue;
    const intensity = threshold + (1 - threshold) * rng.next();
    return { seed, application, injection: { ...wish, intensity } };
  }
  return null;
}

/** In the order in which they are tried; without replacement, by weight. */
function targetsFor(rng: Rng, application: MicroserviceApplication, kind: FaultKind): readonly FaultTarget[] {
  if (kind === "workload-variation") return [{ on: "requests", request: "all" }];
  const keyed = application.services.map((service) => {
    const weight = weightOf(service, kind);
    // The largest of u^(1/w) is drawn with a chance of its weight (Efraimidis and Spirakis).
    return { service, weight, key: weight > 0 ? rng.next() ** (1 / weight) : -1 };
  });
  return keyed
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.key - a.key)
    .slice(0, MOST_TRIES)
    .map(({ service }): FaultTarget => ({ on: "instance", service: service.name, replica: 0 }));
}

/** Milliseconds of a call that the resource has to do with; of CPU and wires everybody needs some. */
function weightOf({ profile, work }: ServiceSpec, kind: FaultKind): number {
  const { memory, io, network } = profiles[profile];
  switch (kind) {
    case "llc":
    case "memory-bandwidth":
      return memory.share * work;
    case "io-bandwidth":
      return io.share * work;
    case "network-bandwidth":
      return network.share * work;
    default:
      return 1;
  }
}
