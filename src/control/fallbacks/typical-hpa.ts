/**
 * An autoscaler as people run it, without tuning: an HPA on CPU, and requests as the developer wrote them.
 * Owns: the most usual settings, what pods then ask for, the controller. Not here: the rules of a careful operator (studies, cli/up).
 */
import type { Allocation } from "../../act/index.ts";
import type { Bytes, Millicores } from "../../base/index.ts";
import { bytes, millicores, unwrap } from "../../base/index.ts";
import type { PodFallback } from "./fallback.ts";
import { parseHpaConfig } from "./hpa/config.ts";
import type { HpaVpaControllerState } from "./hpa-vpa-controller.ts";
import { hpaVpaController } from "./hpa-vpa-controller.ts";
import { defaultUpdaterConfig } from "./vpa/config.ts";

export interface TypicalHpa {
  /** What the developer asked for, per pod. */
  readonly cpu: Millicores;
  /** The HPA's target and its minReplicas. */
  readonly percent: number;
  readonly leastReplicas: number;
}

/** The target that documentation and charts propose. */
export const typicalHpa: TypicalHpa = Object.freeze({ cpu: millicores(1_000), percent: 80, leastReplicas: 2 });

/** Over what a full pod is thought to need: developers round up, and nobody takes it back. */
const MEMORY_TIMES = 2;

interface Start {
  readonly initial: Pick<Allocation, "replicas" | "memory">;
  readonly mostMemory: Bytes;
}

/** The allocation that the developer's requests begin with: as many pods as everybody begins with. */
export function developersStart({ cpu, leastReplicas }: TypicalHpa, { initial, mostMemory }: Start): Allocation {
  const memory = bytes(Math.min(Math.ceil(MEMORY_TIMES * initial.memory), mostMemory));
  return { replicas: Math.max(initial.replicas, leastReplicas), cpu, memory };
}

interface Asked {
  readonly requests: Pick<Allocation, "cpu" | "memory">;
  readonly mostReplicas: number;
}

/** Changes replicas only: requests stay as they were written. */
export function hpaAlone(
  { percent, leastReplicas }: Omit<TypicalHpa, "cpu">,
  { requests: { cpu, memory }, mostReplicas }: Asked,
): PodFallback<HpaVpaControllerState> {
  const hpa = unwrap(
    parseHpaConfig({
      minReplicas: Math.min(leastReplicas, mostReplicas),
      maxReplicas: mostReplicas,
      metrics: [{ type: "resource", resource: "cpu", target: { kind: "utilization", percent } }],
    }),
  );
  const updater = { ...defaultUpdaterConfig, mode: "Off" } as const;
  return { ...hpaVpaController({ hpa, template: { cpu, memory }, updater }), name: "hpa" };
}
