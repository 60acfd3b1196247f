/**
 * The portfolio as work beside the loop: when it is due, its job as plain data, and what comes of it.
 * Not here: what is advised (portfolio.ts), acting on it (seat.ts), threads (control/loop's trainer).
 */
import type { AdviceJob, Advisor } from "../../../index.ts";
import type { AutoscaleTask } from "../autoscale.ts";
import type { ObservationMemory } from "../observation.ts";
import type { Advice, AdviceOptions, AdviceWork } from "./portfolio.ts";
import { advise } from "./portfolio.ts";
import type { Records } from "./records.ts";

export const PODS_ADVICE = "pods advice";

/** Minutes between two: loads have changed by then, and a search takes seconds. */
const EVERY = 360;
const HOUR_MINUTES = 60;

/** Plain data: it crosses threads. */
export interface PodsAdviceWork extends AdviceWork {
  readonly task: Pick<AutoscaleTask, "slo" | "bounds" | "attainment">;
}

export function podsAdvisor({ slo, bounds, attainment }: PodsAdviceWork["task"]): Advisor {
  return {
    work(memory): AdviceJob | undefined {
      const { calibration } = memory as ObservationMemory;
      if (!calibration) return undefined;
      const { records, advice } = calibration;
      const newest = newestOf(records);
      if (newest - (advice?.at ?? oldestOf(records)) < EVERY) return undefined;
      const config: PodsAdviceWork = { records, before: advice, task: { slo, bounds, attainment } };
      return { kind: PODS_ADVICE, config };
    },
    advise: (config) => podsAdvice(config as PodsAdviceWork),
    advised(memory, advice) {
      const { calibration, ...others } = memory as ObservationMemory;
      return calibration && isAdvice(advice)
        ? { ...others, calibration: { ...calibration, advice, excess: 0 } }
        : memory;
    },
  };
}

export function podsAdvice({ records, before, task }: PodsAdviceWork): Advice {
  const { slo, bounds, attainment } = task;
  const options: AdviceOptions = { slo, bounds, budget: (1 - attainment) as AdviceOptions["budget"] };
  return advise({ records, before }, options);
}

const isAdvice = (value: unknown): value is Advice => typeof value === "object" && value !== null && "seat" in value;

const newestOf = ({ hours }: Records): number => {
  const last = hours.at(-1);
  return last === undefined ? 0 : last.hour * HOUR_MINUTES + (last.minute.at(-1) ?? 0);
};

const oldestOf = ({ hours }: Records): number => {
  const first = hours[0];
  return first === undefined ? 0 : first.hour * HOUR_MINUTES + (first.minute[0] ?? 0);
};
