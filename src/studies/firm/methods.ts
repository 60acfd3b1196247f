/**
 * Who is compared in the FIRM studies: the rules with the constants that were chosen for them, and references.
 * Owns: how each is made for one run. Not here: FIRM itself (firm-method.ts), the constants' table (docs/guide/baselines.md).
 */
import { faultKinds, type Injection } from "../../act/faults/index.ts";
import { CodedError, failure, minutes, seededRng } from "../../base/index.ts";
import type { ServicesController } from "../../control/tasks/mitigation/index.ts";
import {
  type AimdConfig,
  aimdController,
  armCount,
  armOf,
  type CaptainConfig,
  serviceHpa,
  serviceHpaController,
  type TowerMemory,
  throttleTargetController,
} from "../../control/tasks/mitigation/index.ts";
import type { MicroserviceApplication } from "../../sim/index.ts";
import { shuffled } from "../shuffled.ts";
import { sequence, usualSequence } from "./applications.ts";
import { runEpisode } from "./episode.ts";
import { oracleController } from "./oracle.ts";

/** Plain JSON, recorded with the results. */
export interface RuleConfigs {
  /** CPU target of every service's HPA, percent. */
  readonly hpaPercent: number;
  readonly aimd: AimdConfig;
  readonly captain: CaptainConfig;
  /** Minutes that the Tower rehearses on the fluid rung before it is judged, each under another arm. */
  readonly rehearsal: number;
}

export interface MethodContext {
  readonly application: MicroserviceApplication;
  readonly perSecond: number;
  readonly injections: readonly Injection[];
  readonly rules: RuleConfigs;
}

/** Those that need no learning; null: nobody changes anything. */
export function ruleOf(method: string, context: MethodContext): ServicesController | null {
  const { injections, rules } = context;
  switch (method) {
    case "nobody":
      return null;
    case "oracle":
      return oracleController(injections);
    case "kubernetes":
      return serviceHpaController({ hpa: serviceHpa(rules.hpaPercent) });
    case "kubernetes-default":
      return serviceHpaController({ hpa: serviceHpa() });
    case "aimd":
      return aimdController(rules.aimd);
    case "autothrottle":
      return throttleTargetController({ captain: rules.captain, memory: rehearsed(context) });
    default:
      throw new CodedError(failure("study.unit", `the FIRM studies know no method '${method}': ask for one they list`));
  }
}

/**
 * As its authors do: arms are tried in a warm-up, and none is explored when it counts. The warm-up has anomalies of the same
 * sort as the run that counts, so that targets which only suit quiet times are known for it.
 */
function rehearsed(context: MethodContext): TowerMemory {
  const { application, perSecond, rules } = context;
  if (rules.rehearsal === 0) return { busy: [], samples: [] };
  const key = JSON.stringify([application.name, perSecond, rules]);
  const memory = rehearsedBefore.get(key) ?? rehearse(context);
  rehearsedBefore.set(key, memory);
  return memory;
}

/** A rehearsal depends on nothing else, so that a worker has each of them once. */
const rehearsedBefore = new Map<string, TowerMemory>();

function rehearse({ application, perSecond, rules }: MethodContext): TowerMemory {
  const count = rules.rehearsal;
  const rng = seededRng(REHEARSAL_SEED).fork(application.name);
  // Spread evenly over the grid of arms, whichever number of them there is time for, in any order.
  const arms = shuffled(
    Array.from({ length: count }, (_, i) => armOf(Math.floor(((i + 0.5) * armCount) / count) % armCount)),
    rng.fork("order"),
  );
  const anomalies = { ...usualSequence, kinds: faultKinds, count: Math.max(1, Math.floor(count / 3)) };
  const controller = throttleTargetController({
    captain: rules.captain,
    rehearse: arms,
    rng: rng.fork("tower"),
  });
  runEpisode({
    seed: REHEARSAL_SEED,
    application,
    rung: "fluid",
    perMinute: [perSecond],
    controller,
    injections: sequence(rng.fork("anomalies"), application, anomalies),
    duration: minutes(count + 0.1),
  });
  return controller.memory;
}

/** No seed that anything is judged on. */
const REHEARSAL_SEED = 1_999;

/** Nobody's method: what becomes of it when nothing is done, and when whoever acts is told the truth. */
export const references = ["nobody", "oracle"] as const;

export const methodTitles: Readonly<Record<string, string>> = {
  nobody: "nobody",
  oracle: "told the truth",
  kubernetes: "Kubernetes autoscaling",
  "kubernetes-default": "Kubernetes autoscaling at 80 %",
  aimd: "AIMD",
  autothrottle: "Autothrottle-like",
  firm: "FIRM",
};
