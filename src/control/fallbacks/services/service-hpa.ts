/**
 * Kubernetes autoscaling of an application: one HPA per service, each with its own state, all with one configuration.
 * Owns: the rhythm, and one sync of every service. Not here: the HPA itself (../hpa/hpa.ts).
 *
 * It scales replicas by CPU use and touches no limit: contention for anything else it can not see (dissertation, Fig. 3.1).
 */
import type { ServiceProposal } from "../../../act/index.ts";
import type { Ms } from "../../../base/index.ts";
import { seconds, unwrap } from "../../../base/index.ts";
import type { ServicesController } from "../../tasks/index.ts";
import type { HpaState } from "../hpa/behavior.ts";
import type { HpaConfig } from "../hpa/config.ts";
import { hpaSyncPeriod, parseHpaConfig } from "../hpa/config.ts";
import { freshHpaState, hpaStep } from "../hpa/hpa.ts";
import { hpaPods, hpaReading } from "../hpa/workload.ts";

export interface ServiceHpaConfig {
  readonly hpa: HpaConfig;
  /** Over which CPU readings are means. */
  readonly metricsWindow?: Ms;
}

/** As many replicas as the guard of services allows; everything else as Kubernetes has it. */
const MOST_REPLICAS = 16;

/** CPU at so many percent of the request; 80 where a user says nothing. */
export const serviceHpa = (percent = 80): HpaConfig =>
  unwrap(
    parseHpaConfig({
      maxReplicas: MOST_REPLICAS,
      metrics: [{ type: "resource", resource: "cpu", target: { kind: "utilization", percent } }],
    }),
  );

export function serviceHpaController({ hpa, metricsWindow = seconds(2) }: ServiceHpaConfig): ServicesController {
  const states = new Map<string, HpaState>();
  let lastSync = Number.NEGATIVE_INFINITY;
  return {
    name: "kubernetes",
    control(services): readonly ServiceProposal[] {
      const { now } = services;
      if (now - lastSync < hpaSyncPeriod) return [];
      lastSync = now;
      const names = new Set(services.readInstances().map(({ service }) => service));
      const proposals: ServiceProposal[] = [];
      for (const service of names) {
        const reading = services.readService(service);
        const { replicas } = reading.spec;
        const step = hpaStep(hpa, states.get(service) ?? freshHpaState, {
          now,
          replicas,
          statusReplicas: reading.pods.length,
          pods: hpaPods(reading),
          readings: hpa.metrics.map((metric) => hpaReading(metric, reading, metricsWindow)),
        });
        states.set(service, step.state);
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
