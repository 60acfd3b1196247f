/**
 * Which workload is in trouble, since when, and why as far as the measurements say.
 * Owns: when missed steps are trouble and when they are over, and the sentence about it.
 * Not here: the measurements (measure.ts).
 */
import type { Sample, SloDocument, Trouble } from "../../server/index.ts";

export interface TroubleView {
  readonly sample: Sample;
  readonly slo: SloDocument;
  /** Who acts, for the sentence. */
  readonly acting: string;
  readonly oomKills: number;
  /** In words, where one was injected. */
  readonly faults: readonly string[];
}

/** Steps that are looked back on, how many of them missed are trouble, and how few are its end. */
const LOOK_BACK = 12;
const MANY = 6;
const FEW = 1;

export class TroubleWatch {
  #missed: boolean[] = [];
  #since: number | null;
  #firstMiss = 0;
  #kills: number[] = [];

  constructor(since: number | null = null) {
    this.#since = since;
  }

  get since(): number | null {
    return this.#since;
  }

  see(view: TroubleView): Trouble | null {
    const { sample } = view;
    const isMissed = sample.preservation !== null && sample.preservation < 1;
    if (isMissed && !this.#missed.includes(true)) this.#firstMiss = sample.at;
    this.#missed = [...this.#missed, isMissed].slice(-LOOK_BACK);
    this.#kills = [...this.#kills, view.oomKills].slice(-LOOK_BACK);
    const count = this.#missed.filter(Boolean).length;
    if (this.#since === null && count >= MANY) this.#since = this.#firstMiss;
    if (this.#since !== null && count <= FEW && this.#missed.length === LOOK_BACK) this.#since = null;
    if (this.#since === null) return null;
    const killed = this.#kills.reduce((sum, kills) => sum + kills, 0);
    return { since: this.#since, what: sentence(view, { since: this.#since, killed }) };
  }
}

function sentence(view: TroubleView, { since, killed }: { readonly since: number; readonly killed: number }): string {
  const { sample, acting, faults } = view;
  const lasting = Math.max(1, Math.round((sample.at - since) / 60_000));
  const why = [...faults, shortage(sample, killed)].join("; ");
  return `${missed(view)} for ${lasting} min: ${why}. ${acting}`;
}

function missed({ sample, slo }: TroubleView): string {
  if (slo.kind === "latency") {
    const found = sample.latency === null ? "no answers" : `${Math.round(sample.latency)} ms`;
    return `SLO missed (${found}, promised ${Math.round(slo.target)} ms at p${Math.round(slo.percentile * 1_000) / 10})`;
  }
  const kept = Math.round(100 * (sample.preservation ?? 0));
  return `SLO missed (${kept} % of the promised throughput)`;
}

/** Which dimension is short, by what the pods used of what they have. */
function shortage({ use, have, ready }: Sample, killed: number): string {
  const granted = { cpu: have.cpu * Math.max(1, ready), memory: have.memory * Math.max(1, ready) };
  const cpu = (use.cpu ?? 0) / granted.cpu;
  const memory = (use.memory ?? 0) / granted.memory;
  if (killed > 0) return `memory is short, ${killed} pods were killed for it`;
  if (ready < have.replicas) return `replicas are short, ${ready} of ${have.replicas} are ready`;
  if (cpu >= 0.8) return `CPU is short, ${Math.round(100 * cpu)} % of it is used`;
  if (memory >= 0.95) return `memory is short, ${Math.round(100 * memory)} % of it is used`;
  if (cpu >= 0.45) return `CPU is short in bursts, ${Math.round(100 * cpu)} % of it is used on average`;
  return `no dimension is short (CPU ${Math.round(100 * cpu)} %, memory ${Math.round(100 * memory)} %), so pods are too slow or too few for the bursts`;
}
