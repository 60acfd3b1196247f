/**
 * A controller that is told the truth: who is disturbed, and since when. No rule and no agent can do better with the same
 * actions, so what it cannot mend nobody is blamed for.
 */
import { endOf, type Injection } from "../../act/faults/index.ts";
import type { ServiceProposal, ServicesController } from "../../control/tasks/mitigation/index.ts";

/** One second after an anomaly began its container has all it may have, and more of its kind beside it. */
export function oracleController(injections: readonly Injection[]): ServicesController {
  return {
    name: "oracle",
    control({ now, readInstances }): readonly ServiceProposal[] {
      return injections.flatMap((injection): readonly ServiceProposal[] => {
        const { target, kind, start } = injection;
        if (now < start || now >= endOf(injection)) return [];
        const isDisturbed = (service: string): boolean =>
          target.on === "instance" ? target.service === service : kind === "workload-variation";
        const why = `${injection.id} is under way`;
        return readInstances()
          .filter(({ service, isReady }) => isDisturbed(service) && isReady)
          .map(({ instance, upper }) => ({
            action: { kind: "set-limits", instance, limits: upper },
            measuredAt: now,
            why,
          }));
      });
    },
  };
}
