/**
 * Kubernetes autoscaling of services: one HPA for each, each with its own state, all with one configuration.
 * Owns: the rhythm, and one sync of a service; as the fallback of one service's agent, and for a whole application in
 * studies. Not here: the HPA itself (../hpa/hpa.ts).
 *
 * It scales replicas by CPU use and touches no limit: contention for anything else it cannot see (dissertation, Fig. 3.1).
 */
import type { Ms } from "../../../../base/index.ts";
import { seconds, unwrap } from "../../../../base/index.ts";
import type { WorkloadReading } from "../../../../observe/telemetry/index.ts";
import type { HpaConfig, HpaState } from "../../../fallbacks/index.ts";
import {
  freshHpaState,
  hpaPods,
  hpaReading,
  hpaStep,
  hpaSyncPeriod,
  parseHpaConfig,
} from "../../../fallbacks/index.ts";
import type { Fallback } from "../../../index.ts";
import type { ServiceSetting } from "../action.ts";
import type { ServiceProposal, ServicesController } from "../port.ts";
import type { ServiceReading } from "../service-reading.ts";

export interface ServiceHpaConfig {
  readonly hpa: HpaConfig;
  /** Over which CPU readings are means. */
  readonly metricsWindow?: Ms;
}

/** As many replicas as the guard of services allows; everything else as Kubernetes has it. */
const MOST_REPLICAS = 16;
const METRICS_WINDOW = seconds(2);

/** CPU at so many percent of the request; 80 where a user says nothing. */
export const serviceHpa = (percent = 80): HpaConfig =>
  unwrap(
    parseHpaConfig({
      maxReplicas: MOST_REPLICAS,
      metrics: [{ type: "resource", resource: "cpu", target: { kind: "utilization", percent } }],
    }),
  );

/** One service's. Plain data. */
export interface ServiceHpaState {
  readonly hpa: HpaState;
  /** null before the first. */
  readonly syncedAt: Ms | null;
}

const fresh: ServiceHpaState = Object.freeze({ hpa: freshHpaState, syncedAt: null });

const isDue = ({ syncedAt }: ServiceHpaState, now: Ms): boolean =>
  // A clock that went back: nobody knows how long ago it was.
  syncedAt === null || now - syncedAt >= hpaSyncPeriod || now < syncedAt;

function sync(
  { hpa, metricsWindow = METRICS_WINDOW }: ServiceHpaConfig,
  state: ServiceHpaState,
  { reading, now }: { readonly reading: WorkloadReading; readonly now: Ms },
) {
  const step = hpaStep(hpa, state.hpa, {
    now,
    replicas: reading.spec.replicas,
    statusReplicas: reading.pods.length,
    pods: hpaPods(reading),
    readings: hpa.metrics.map((metric) => hpaReading(metric, reading, metricsWindow)),
  });
  return { step, state: { hpa: step.state, syncedAt: now } };
}

/** For the agent of one service. */
export function serviceHpaFallback(
  config: ServiceHpaConfig = { hpa: serviceHpa() },
): Fallback<ServiceHpaState, ServiceReading, ServiceSetting> {
  return {
    name: "hpa",
    start: () => fresh,
    step: (state, { autoscaled }, now) => {
      if (!isDue(state, now)) return { want: {}, reasons: [], state };
      const { step, state: next } = sync(config, state, { reading: autoscaled, now });
      return { want: { replicas: step.desired }, reasons: step.reasons, state: next };
    },
  };
}

/** For all services of an application at once. */
export function serviceHpaController(config: ServiceHpaConfig): ServicesController {
  const states = new Map<string, ServiceHpaState>();
  return {
    name: "kubernetes",
    control(services): readonly ServiceProposal[] {
      const { now } = services;
      const names = new Set(services.readInstances().map(({ service }) => service));
      const proposals: ServiceProposal[] = [];
      for (const service of names) {
        const state = states.get(service) ?? fresh;
        if (!isDue(state, now)) continue;
        const reading = services.readService(service);
        const { step, state: next } = sync(config, state, { reading, now });
        states.set(service, next);
        const { replicas } = reading.spec;
        if (step.desired === replicas) continue;
        proposals.push({
          action: { kind: "scale-service", service, replicas: step.desired },
          measuredAt: reading.at,
          why: `the HPA of ${service} wants ${step.desired} replicas in place of ${replicas} for its CPU use`,
        });
      }
      return proposals;
    },
  };
}
