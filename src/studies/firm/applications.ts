/**
 * The four applications as the FIRM studies run them: how many requests come, and which containers anomalies are done to.
 * Owns: rates and campaigns. No value was chosen by looking at how a controller does.
 */
import type { FaultKind, FaultTarget, Injection } from "../../act/faults/index.ts";
import { type Ms, type Rng, seconds } from "../../base/index.ts";
import type { Call, MicroserviceApplication } from "../../sim/index.ts";

/** Requests per second that limits are made for, and that come: two to four tenths of the default CPU limits are used. */
export const usualRate: Readonly<Record<string, number>> = {
  "social-network": 500,
  media: 500,
  "hotel-reservation": 500,
  "train-ticket": 150,
};

/** Services that a request of the usual mix visits at least this often: anomalies elsewhere are not felt by anybody. */
const LEAST_VISITS = 0.05;

/** Containers that enough requests pass on their way: where an anomaly can be felt. */
export function busyTargets(application: MicroserviceApplication): readonly FaultTarget[] {
  const weights = application.requests.reduce((sum, { weight }) => sum + weight, 0);
  const visits = new Map<string, number>();
  const visit = ({ service, stages }: Call, share: number): void => {
    visits.set(service, (visits.get(service) ?? 0) + share);
    for (const stage of stages) for (const call of stage) visit(call, share);
  };
  for (const { root, weight } of application.requests) visit(root, weight / weights);
  return application.services
    .filter(({ name }) => (visits.get(name) ?? 0) >= LEAST_VISITS)
    .map(({ name }): FaultTarget => ({ on: "instance", service: name, replica: 0 }));
}

export interface SequenceOptions {
  readonly from: Ms;
  readonly count: number;
  /** WORLDS: an anomaly persists for at least two minutes. */
  readonly lasts: Ms;
  /** Between the end of one and the start of the next: what one did passes before the next begins. */
  readonly pause: Ms;
  readonly kinds: readonly FaultKind[];
  readonly intensity: { readonly min: number; readonly max: number };
}

/** One anomaly after another, the kinds in turn from one drawn at random; target and intensity at random. */
export function sequence(
  rng: Rng,
  application: MicroserviceApplication,
  options: SequenceOptions,
): readonly Injection[] {
  const { from, count, lasts, pause, kinds, intensity } = options;
  const targets = busyTargets(application);
  const first = rng.int(kinds.length);
  return Array.from({ length: count }, (_, i): Injection => {
    const kind = kinds[(first + i) % kinds.length] as FaultKind;
    const anywhere = targets[rng.int(targets.length)] as FaultTarget;
    return {
      id: `${i}-${kind}`,
      kind,
      target: kind === "workload-variation" ? { on: "requests", request: "all" } : anywhere,
      start: (from + i * (lasts + pause)) as Ms,
      duration: lasts,
      pattern: "constant",
      intensity: intensity.min + (intensity.max - intensity.min) * rng.next(),
    };
  });
}

export const endOfSequence = ({ from, count, lasts, pause }: SequenceOptions): Ms =>
  (from + count * (lasts + pause)) as Ms;

export const usualSequence: Omit<SequenceOptions, "kinds" | "count"> = {
  from: seconds(60),
  lasts: seconds(120),
  pause: seconds(60),
  intensity: { min: 0.5, max: 1 },
};
