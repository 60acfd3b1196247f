/**
 * Additive increase, multiplicative decrease of every container's five limits: the rule-based opponent that FIRM's authors
 * chose (dissertation 3.3.1, after its references [52] Stüdli et al., CDC 2015, and [53] Gevros and Crowcroft, 2004).
 * Owns: the rule. Not here: bounds, steps and node capacity (the guard's), which constants were chosen and how
 * (docs/guide/baselines.md).
 *
 * While a type of request misses its SLO, limits that are in use rise by a fixed amount per interval; otherwise all fall by a
 * fixed factor. A limit that nobody comes near to is not what a request waits for, so it does not rise: that is the
 * saturation of a user's share in [52].
 */
import type { Limits, Ms, Resource, Result } from "../../../../base/index.ts";
import { err, failure, ok, resources, seconds } from "../../../../base/index.ts";
import type { InstanceReading } from "../../../../observe/telemetry/index.ts";
import type { ServiceProposal, ServicesController } from "../port.ts";
import { brokenSlos } from "./slo-state.ts";

export interface AimdConfig {
  /** Added per interval while an SLO is missed: this share of the most that the limit may be. */
  readonly increase: number;
  /** Kept per interval otherwise. */
  readonly decrease: number;
  /** A limit rises only where its use over it is at least so much. */
  readonly saturation: number;
  readonly interval: Ms;
}

/** Chosen on seeds of their own by the reward that FIRM's agent learns from; docs/guide/baselines.md has the table. */
export const tunedAimd: AimdConfig = { increase: 0.1, decrease: 0.99, saturation: 0.5, interval: seconds(1) };

export function parseAimdConfig(options: Partial<AimdConfig> = {}): Result<AimdConfig> {
  const config = { ...tunedAimd, ...options };
  const { increase, decrease, saturation, interval } = config;
  const problem = !(increase > 0 && increase <= 1)
    ? `increase is ${increase}: give more than 0, at most 1`
    : !(decrease > 0 && decrease < 1)
      ? `decrease is ${decrease}: give more than 0, less than 1`
      : !(saturation >= 0 && saturation <= 1)
        ? `saturation is ${saturation}: give 0 to 1`
        : !(interval > 0)
          ? `interval is ${interval} ms: give more than 0`
          : undefined;
  return problem === undefined ? ok(Object.freeze(config)) : err(failure("aimd.config", `AIMD cannot run: ${problem}`));
}

/** The limits that AIMD wants next; those that stay are left out. */
export function aimdLimits(reading: InstanceReading, isBroken: boolean, config: AimdConfig): Partial<Limits> {
  const { limits, lower, upper, use } = reading;
  const next: Partial<Record<Resource, number>> = {};
  for (const resource of resources) {
    const have = limits[resource];
    const isUsed = use === null || use[resource] >= config.saturation;
    if (isBroken && !isUsed) continue;
    const wanted = isBroken ? have + config.increase * upper[resource] : have * config.decrease;
    const kept = Math.min(Math.max(wanted, lower[resource]), upper[resource]);
    if (kept !== have) next[resource] = kept;
  }
  return next;
}

export function aimdController(config: AimdConfig = tunedAimd): ServicesController {
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    name: "aimd",
    control(services): readonly ServiceProposal[] {
      if (services.now - lastAt < config.interval) return [];
      lastAt = services.now;
      const broken = brokenSlos(services.readRequests());
      // Without a word from the ingress nothing is known, and a limit that falls in the dark may be the wrong one.
      if (broken === null) return [];
      const isBroken = broken.length > 0;
      const why = isBroken
        ? `${broken.join(", ")} ${broken.length === 1 ? "misses its SLO" : "miss their SLOs"}: limits in use rise by ${100 * config.increase} % of the most they may be`
        : `every SLO is kept: limits fall to ${100 * config.decrease} %`;
      return services.readInstances().flatMap((reading): ServiceProposal[] => {
        if (!reading.isReady) return [];
        const limits = aimdLimits(reading, isBroken, config);
        if (Object.keys(limits).length === 0) return [];
        return [{ action: { kind: "set-limits", instance: reading.instance, limits }, measuredAt: reading.at, why }];
      });
    },
  };
}
