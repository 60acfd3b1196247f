/**
 * Autoscalers as people run them, without tuning: an HPA on CPU and what the developer asked for.
 * Owns: which there are, what their pods ask for, the driver of each. They act through the same guard as everybody.
 * Not here: the rules of a careful operator (rules.ts, measure-rules.ts).
 *
 * Beside the tuned rules they say where most clusters are: utilisation targets that documentation and charts propose, and the
 * generous requests of somebody who was woken up once.
 */
import type { Allocation } from "../../act/index.ts";
import type { Millicores } from "../../base/index.ts";
import { bytes, millicores, unwrap } from "../../base/index.ts";
import { defaultUpdaterConfig, hpaVpaController, parseHpaConfig } from "../../control/fallbacks/index.ts";
import type { Scene } from "../../pretraining/index.ts";
import { bounds } from "../../pretraining/index.ts";
import type { Driver } from "./drive.ts";
import { rulesDriver } from "./drivers.ts";

export interface Opponent {
  readonly id: string;
  readonly title: string;
  /** What the developer asked for, per pod. */
  readonly cpu: Millicores;
  /** The HPA's target and its minReplicas. */
  readonly percent: number;
  readonly leastReplicas: number;
}

/** Over what a full pod is thought to need: developers round up, and nobody takes it back. */
const MEMORY_TIMES = 2;

export const opponents: readonly Opponent[] = [
  { id: "hpa-80", title: "HPA at 80 %, 1 core a pod", cpu: millicores(1_000), percent: 80, leastReplicas: 2 },
  { id: "hpa-50", title: "HPA at 50 %, 1 core a pod", cpu: millicores(1_000), percent: 50, leastReplicas: 2 },
  {
    id: "hpa-over",
    title: "over-provisioned HPA: 50 %, 2 cores a pod, 3 at least",
    cpu: millicores(2_000),
    percent: 50,
    leastReplicas: 3,
  },
];

/** The allocation that the developer's requests begin with, for a scene as it was drawn: as many pods as everybody begins with. */
export function developersStart({ initial }: Scene, { cpu, leastReplicas }: Opponent): Allocation {
  const memory = bytes(Math.min(Math.ceil(MEMORY_TIMES * initial.memory), bounds.memory.max));
  return { replicas: Math.max(initial.replicas, leastReplicas), cpu, memory };
}

/** Changes replicas only: requests stay as they were written. */
export function opponentDriver(scene: Scene, opponent: Opponent): Driver {
  const { cpu, memory } = developersStart(scene, opponent);
  const { percent, leastReplicas } = opponent;
  const hpa = unwrap(
    parseHpaConfig({
      minReplicas: leastReplicas,
      maxReplicas: bounds.replicas.max,
      metrics: [{ type: "resource", resource: "cpu", target: { kind: "utilization", percent } }],
    }),
  );
  const updater = { ...defaultUpdaterConfig, mode: "Off" } as const;
  return rulesDriver(scene, hpaVpaController({ hpa, template: { cpu, memory }, updater }));
}
