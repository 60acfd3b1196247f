/**
 * A simulated application with spans, in which one container after another is disturbed: what localizers are pre-trained on.
 * Owns: the world, and drawing anomalies. Not here: learning (control/localize/pretraining.ts), whose port this implements.
 */
import { type FaultKind, faultKinds } from "../../act/faults/index.ts";
import { type Ms, seededRng } from "../../base/index.ts";
import type { MicroserviceApplication } from "./applications/index.ts";
import { microserviceWorld } from "./event/event-world.ts";
import { isolatedSlos } from "./isolated.ts";
import type { MicroserviceWorld } from "./world.ts";

export interface DisturbedOptions {
  readonly application: MicroserviceApplication;
  readonly seed: number;
  /** Where its time begins; before all that the localizer will see afterwards. */
  readonly start: Ms;
}

export interface DisturbedApplication
  extends Pick<MicroserviceWorld, "now" | "advance" | "takeSpans" | "readInstances" | "readRequests"> {
  disturb(duration: Ms): string | null;
}

const LEAST_INTENSITY = 0.6;
const PER_SECOND = 50;
const KINDS: readonly FaultKind[] = faultKinds.filter((kind) => kind !== "workload-variation");

export function disturbedApplication({ application, seed, start }: DisturbedOptions): DisturbedApplication {
  const rng = seededRng(seed).fork("pretraining");
  const world = microserviceWorld({
    seed,
    start,
    application,
    slos: isolatedSlos(application),
    load: { id: "pretraining", level: "high", perMinute: Float64Array.of(PER_SECOND), dispersion: 1 },
  });
  let count = 0;
  return {
    get now() {
      return world.now;
    },
    advance: (until) => world.advance(until),
    takeSpans: () => world.takeSpans(),
    readInstances: () => world.readInstances(),
    readRequests: () => world.readRequests(),
    disturb(duration) {
      const instances = world.readInstances();
      const target = instances[rng.int(instances.length)];
      const kind = KINDS[rng.int(KINDS.length)];
      if (target === undefined || kind === undefined) return null;
      count += 1;
      world.inject({
        id: `pretraining-${count}`,
        kind,
        target: {
          on: "instance",
          service: target.service,
          replica: Number(target.instance.slice(target.service.length + 1)),
        },
        start: world.now,
        duration,
        pattern: "constant",
        intensity: LEAST_INTENSITY + (1 - LEAST_INTENSITY) * rng.next(),
      });
      return target.instance;
    },
  };
}
