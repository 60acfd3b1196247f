/**
 * A simulated application by the wall's clock. Its own clock is behind after the machine has slept; spans, people and agents
 * go by the wall's.
 */
import type { Ms } from "../../../base/index.ts";
import type { ServicesPort } from "../../../control/tasks/mitigation/index.ts";
import type { Span, WorkloadReading } from "../../../observe/telemetry/index.ts";
import type { MicroserviceWorld } from "../../../sim/index.ts";

const later = (at: Ms, ahead: number): Ms => (at + ahead) as Ms;

export const spansLater = (spans: readonly Span[], ahead: number): readonly Span[] =>
  ahead === 0
    ? spans
    : spans.map((one) => ({ ...one, startUs: one.startUs + 1_000 * ahead, endUs: one.endUs + 1_000 * ahead }));

function serviceLater(reading: WorkloadReading, ahead: number): WorkloadReading {
  if (ahead === 0) return reading;
  return {
    ...reading,
    at: later(reading.at, ahead),
    pods: reading.pods.map((pod) => ({
      ...pod,
      createdAt: later(pod.createdAt, ahead),
      readyAt: pod.readyAt === null ? null : later(pod.readyAt, ahead),
    })),
    ooms: reading.ooms.map((kill) => ({ ...kill, at: later(kill.at, ahead) })),
  };
}

/** `ahead`: the wall's time less the world's, as it is now. */
export function wallPort(world: MicroserviceWorld, ahead: () => number): ServicesPort {
  return {
    get now() {
      return later(world.now, ahead());
    },
    readInstances: () => world.readInstances().map((one) => ({ ...one, at: later(one.at, ahead()) })),
    readRequests: () => world.readRequests().map((one) => ({ ...one, at: later(one.at, ahead()) })),
    readNodes: () => world.readNodes(),
    readService: (service) => serviceLater(world.readService(service), ahead()),
    takeSpans: () => spansLater(world.takeSpans(), ahead()),
    setLimits: (instance, limits) => world.setLimits(instance, limits),
    scale: (service, replicas) => world.scale(service, replicas),
  };
}
