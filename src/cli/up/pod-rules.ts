/**
 * HPA and VPA as a simulated workload has them, beside its agent and alone in the twin.
 * Owns: their configuration from the workload's rules, what the VPA knows of the days before, and the typical twin's rules.
 * Not here: the rules themselves (control/fallbacks), their turns in the twin (control/loop).
 */
import type { Allocation } from "../../act/index.ts";
import type { Ms } from "../../base/index.ts";
import { bytes, millicores, unwrap } from "../../base/index.ts";
import type { HpaVpaControllerState, PodFallback, WarmHistory } from "../../control/fallbacks/index.ts";
import {
  developersStart,
  hpaAlone,
  hpaVpaController,
  parseHpaConfig,
  typicalHpa,
} from "../../control/fallbacks/index.ts";
import type { LoadHistory } from "../../control/tasks/pods/index.ts";
import { meanWork, processors, rateAt } from "../../sim/index.ts";
import { PROCESSOR } from "./demo-cluster.ts";
import type { SimulatedWorkload } from "./simulated-workload.ts";

/** As people read it. */
export const FALLBACK_TITLE = "HPA and VPA";

export function fallbackOf({ initial, rules, bounds }: SimulatedWorkload): PodFallback<HpaVpaControllerState> {
  const hpa = unwrap(
    parseHpaConfig({
      minReplicas: rules.leastReplicas,
      maxReplicas: bounds.replicas.max,
      metrics: [{ type: "resource", resource: "cpu", target: { kind: "utilization", percent: rules.targetPercent } }],
    }),
  );
  return hpaVpaController({
    hpa,
    template: { cpu: initial.cpu, memory: initial.memory },
    bounds: { cpu: { min: millicores(rules.leastCpu), max: bounds.cpu.max }, memory: bounds.memory },
  });
}

/** `tuned`: the workload's own rules, as its agent falls back to. `typical`: an HPA at 80 % and requests as developers write them. */
export const twinKinds = ["tuned", "typical"] as const;
export type TwinKind = (typeof twinKinds)[number];

export const TYPICAL_TITLE = `HPA at ${typicalHpa.percent} % with requests as written`;

/** What the twin begins with. */
export function twinStart({ initial, bounds }: SimulatedWorkload, twin: TwinKind): Allocation {
  if (twin === "tuned") return initial;
  const { replicas, cpu, memory } = developersStart(typicalHpa, { initial, mostMemory: bounds.memory.max });
  return {
    replicas: Math.min(replicas, bounds.replicas.max),
    cpu: millicores(Math.min(Math.max(cpu, bounds.cpu.min), bounds.cpu.max)),
    memory,
  };
}

export function typicalRules(workload: SimulatedWorkload): PodFallback<HpaVpaControllerState> {
  const requests = twinStart(workload, "typical");
  return hpaAlone(typicalHpa, { requests, mostReplicas: workload.bounds.replicas.max });
}

const MINUTE = 60_000;
const DAY_MINUTES = 1_440;
const HISTORY_DAYS = 3;

/** The same days as requests per minute: what a metrics store knows of a workload before an agent comes. */
export function loadHistoryOf({ load }: SimulatedWorkload, until: Ms): LoadHistory {
  const length = HISTORY_DAYS * DAY_MINUTES;
  // A load comes again after its last minute, so that what was before it is its end.
  const whole = load.perMinute.length * MINUTE;
  const before = (minutes: number): number => (((until - minutes * MINUTE) % whole) + whole) % whole;
  return { perMinute: Array.from({ length }, (_, i) => rateAt(load, before(length - i))), until };
}

/** What the pods used over the last eight days: a VPA that knows nothing of the past is no fair opponent. */
export function historyOf({ application, load, initial }: SimulatedWorkload, until: Ms): WarmHistory {
  const { cpu, wait } = meanWork(application);
  const perRequest = cpu / processors[PROCESSOR].speed;
  const { base, cache, perRequest: perRequestMemory } = application.memory;
  const day = Array.from(
    { length: DAY_MINUTES },
    (_, minute) => rateAt(load, until + minute * MINUTE) / initial.replicas,
  );
  return {
    cpu: day.map((rate) => millicores(rate * perRequest)),
    memory: day.map((rate) => bytes(base + cache + ((rate * (perRequest + wait)) / 1_000) * perRequestMemory)),
    pods: initial.replicas,
    days: 8,
    until,
  };
}
