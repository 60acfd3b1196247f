/** Sums up what an agent of a fleet did in an episode. Owns: the sums and their means. */
import type { WorkloadId } from "../../base/index.ts";
import type { FleetOutcome } from "../tasks/functions/index.ts";

/** In means over its steps, but for what is counted. */
export interface AgentEpisode {
  readonly workload: WorkloadId;
  /** Its own, over the whole episode. */
  readonly reward: number;
  readonly preservation: number;
  /** Share of steps in which the SLO was missed. */
  readonly missed: number;
  readonly cpu: number;
  readonly memory: number;
  /** Cores and MiB that it asked for. */
  readonly coresAsked: number;
  readonly memoryAsked: number;
  /** Decisions, and how many of them were done as proposed. */
  readonly decisions: number;
  readonly asProposed: number;
}

const SHARES_PER_CORE = 1_024;

export class Tally {
  readonly #workload: WorkloadId;
  #steps = 0;
  #reward = 0;
  #preservation = 0;
  #missed = 0;
  #cpu = 0;
  #memory = 0;
  #coresAsked = 0;
  #memoryAsked = 0;
  #asProposed = 0;

  constructor(workload: WorkloadId) {
    this.#workload = workload;
  }

  get steps(): number {
    return this.#steps;
  }

  add({ seen: { measures }, reward, carried: { setting, asProposed } }: FleetOutcome): void {
    this.#steps += 1;
    this.#reward += reward;
    this.#preservation += measures.preservation;
    this.#missed += measures.preservation < 1 ? 1 : 0;
    this.#cpu += measures.cpu;
    this.#memory += measures.memory;
    this.#coresAsked += (setting.containers * setting.shares) / SHARES_PER_CORE;
    this.#memoryAsked += setting.containers * setting.memory;
    this.#asProposed += asProposed ? 1 : 0;
  }

  done(): AgentEpisode {
    const mean = (sum: number): number => (this.#steps > 0 ? sum / this.#steps : 0);
    return {
      workload: this.#workload,
      reward: this.#reward,
      preservation: mean(this.#preservation),
      missed: mean(this.#missed),
      cpu: mean(this.#cpu),
      memory: mean(this.#memory),
      coresAsked: mean(this.#coresAsked),
      memoryAsked: mean(this.#memoryAsked),
      decisions: this.#steps,
      asProposed: this.#asProposed,
    };
  }
}
