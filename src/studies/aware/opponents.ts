/**
 * Autoscalers as people run them, without tuning: an HPA on CPU and what the developer asked for.
 * Owns: which there are, the driver of each. They act through the same guard as everybody.
 * Not here: the controller (control/fallbacks), the rules of a careful operator (rules.ts, measure-rules.ts).
 *
 * Beside the tuned rules they say where most clusters are: utilisation targets that documentation and charts propose, and the
 * generous requests of somebody who was woken up once.
 */
import type { Allocation } from "../../act/index.ts";
import { millicores } from "../../base/index.ts";
import type { TypicalHpa } from "../../control/fallbacks/index.ts";
import { developersStart, hpaAlone, typicalHpa } from "../../control/fallbacks/index.ts";
import type { Scene } from "../../pretraining/index.ts";
import { bounds } from "../../pretraining/index.ts";
import type { Driver } from "./drive.ts";
import { rulesDriver } from "./drivers.ts";

export interface Opponent extends TypicalHpa {
  readonly id: string;
  readonly title: string;
}

export const opponents: readonly Opponent[] = [
  { id: "hpa-80", title: "HPA at 80 %, 1 core a pod", ...typicalHpa },
  { id: "hpa-50", title: "HPA at 50 %, 1 core a pod", ...typicalHpa, percent: 50 },
  {
    id: "hpa-over",
    title: "over-provisioned HPA: 50 %, 2 cores a pod, 3 at least",
    cpu: millicores(2_000),
    percent: 50,
    leastReplicas: 3,
  },
];

/** For a scene as it was drawn. */
export const opponentStart = ({ initial }: Scene, opponent: Opponent): Allocation =>
  developersStart(opponent, { initial, mostMemory: bounds.memory.max });

export const opponentDriver = (scene: Scene, opponent: Opponent): Driver =>
  rulesDriver(
    scene,
    hpaAlone(opponent, { requests: opponentStart(scene, opponent), mostReplicas: bounds.replicas.max }),
  );
