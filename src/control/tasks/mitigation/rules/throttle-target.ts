/**
 * Autothrottle-like control of an application's CPU limits: a Captain per container, a Tower over all of them.
 * Owns: the two rhythms and what passes between them. Not here: either of the two (captain.ts, tower.ts).
 *
 * Wang et al., "Autothrottle: A Practical Bi-Level Approach to Resource Management for SLO-Targeted Microservices", NSDI
 * 2024. It is younger than FIRM and stronger on CPU than anything FIRM was compared with; it limits nothing but CPU.
 */
import type { Ms, Rng } from "../../../../base/index.ts";
import { minutes, seededRng } from "../../../../base/index.ts";
import type { InstanceReading, RequestReading } from "../../../../observe/telemetry/index.ts";
import type { ServiceProposal, ServicesController, ServicesView } from "../port.ts";
import { type CaptainConfig, type CaptainState, captainConfig, captainStep, freshCaptain } from "./captain.ts";
import {
  busyServices,
  chooseArm,
  type TowerArm,
  type TowerConfig,
  type TowerSample,
  throttleTargets,
  towerConfig,
} from "./tower.ts";

/** What a warm-up leaves behind, plain data. */
export interface TowerMemory {
  readonly busy: readonly string[];
  readonly samples: readonly TowerSample[];
}

export interface ThrottleTargetConfig {
  readonly captain: CaptainConfig;
  readonly tower: TowerConfig;
  /** Between two choices of targets. */
  readonly every: Ms;
  readonly rng: Rng;
  readonly memory: TowerMemory;
  /** During a warm-up: the arms to try in turn, in place of choosing. */
  readonly rehearse?: readonly TowerArm[];
}

/** Controls, and remembers what it saw for the next time. */
export interface ThrottleTargetController extends ServicesController {
  readonly memory: TowerMemory;
}

export function throttleTargetController(options: Partial<ThrottleTargetConfig> = {}): ThrottleTargetController {
  return new Controller({
    captain: captainConfig,
    tower: towerConfig,
    every: minutes(1),
    rng: seededRng(0).fork("tower"),
    memory: { busy: [], samples: [] },
    ...options,
  });
}

class Controller implements ThrottleTargetController {
  readonly name = "autothrottle";
  readonly #config: ThrottleTargetConfig;
  readonly #captains = new Map<string, CaptainState>();
  readonly #samples: TowerSample[];
  #busy: ReadonlySet<string>;
  #arm: TowerArm;
  #rehearsed = 0;
  #minute: Minute;
  #since: Ms | null = null;

  constructor(config: ThrottleTargetConfig) {
    this.#config = config;
    this.#samples = [...config.memory.samples];
    this.#busy = new Set(config.memory.busy);
    this.#arm = config.rehearse?.[0] ?? { busy: 0, idle: 0 };
    this.#minute = new Minute();
  }

  get memory(): TowerMemory {
    return { busy: [...this.#busy], samples: [...this.#samples] };
  }

  control(services: ServicesView): readonly ServiceProposal[] {
    const { now } = services;
    const instances = services.readInstances();
    if (this.#since === null) {
      this.#since = now;
      this.#choose(meanRate(services.readRequests()));
    }
    this.#minute.add(services.readRequests(), instances);
    if (now - this.#since >= this.#config.every) {
      this.#since = now;
      this.#learn();
    }
    return instances.flatMap((reading) => this.#captain(reading));
  }

  #captain(reading: InstanceReading): ServiceProposal[] {
    const { instance, service, counters, at, limits, isReady } = reading;
    if (counters === null || !isReady) return [];
    const { captain } = this.#config;
    const rung = this.#busy.has(service) ? this.#arm.busy : this.#arm.idle;
    const target = throttleTargets[rung] as number;
    const input = { target, limit: limits.cpu, at: at / 1_000, counters };
    const step = captainStep(captain, this.#captains.get(instance) ?? freshCaptain(captain), input);
    this.#captains.set(instance, step.state);
    if (step.limit === limits.cpu) return [];
    return [
      {
        action: { kind: "set-limits", instance, limits: { cpu: step.limit } },
        measuredAt: at,
        why: `${step.why}: ${instance} is to be throttled in ${100 * target} % of its periods`,
      },
    ];
  }

  /** A minute is over: what it cost, and where to go from here. */
  #learn(): void {
    const { sample, uses } = this.#minute.over(this.#arm);
    this.#minute = new Minute();
    if (sample !== null) this.#samples.push(sample);
    if (this.#busy.size === 0 && Object.keys(uses).length > 1) this.#busy = busyServices(uses);
    this.#choose(sample?.perSecond ?? 0);
  }

  #choose(perSecond: number): void {
    const { rehearse, tower, rng } = this.#config;
    const rehearsed = rehearse?.[this.#rehearsed++];
    this.#arm = rehearsed ?? chooseArm(this.#samples, perSecond, { config: tower, rng });
  }
}

const meanRate = (requests: readonly RequestReading[]): number =>
  requests.reduce((sum, { offered }) => sum + offered, 0);

/** What the Tower sees of one minute. */
class Minute {
  #looks = 0;
  #perSecond = 0;
  #cores = 0;
  readonly #overSlo = new Map<string, { sum: number; count: number }>();
  readonly #uses = new Map<string, { sum: number; count: number }>();

  add(requests: readonly RequestReading[], instances: readonly InstanceReading[]): void {
    if (requests.length === 0) return;
    this.#looks++;
    this.#perSecond += meanRate(requests);
    for (const { request, p99, slo } of requests) if (p99 !== null) addTo(this.#overSlo, request, p99 / slo);
    for (const { service, limits, use } of instances) {
      this.#cores += limits.cpu;
      if (use !== null) addTo(this.#uses, service, use.cpu * limits.cpu);
    }
  }

  /** Means by type first: the worst of many noisy looks would always be beyond the SLO. */
  over(arm: TowerArm): { readonly sample: TowerSample | null; readonly uses: Readonly<Record<string, number>> } {
    const uses = Object.fromEntries([...this.#uses].map(([name, { sum, count }]) => [name, sum / count]));
    if (this.#looks === 0 || this.#overSlo.size === 0) return { sample: null, uses };
    const overSlo = Math.max(...[...this.#overSlo.values()].map(({ sum, count }) => sum / count));
    const { perSecond, cores } = { perSecond: this.#perSecond / this.#looks, cores: this.#cores / this.#looks };
    return { sample: { arm, perSecond, overSlo, cores }, uses };
  }
}

function addTo(means: Map<string, { sum: number; count: number }>, name: string, value: number): void {
  const known = means.get(name);
  if (known === undefined) means.set(name, { sum: value, count: 1 });
  else {
    known.sum += value;
    known.count++;
  }
}
