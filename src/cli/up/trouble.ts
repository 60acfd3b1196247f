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
    return { since: this.#since, what: sentence(view, { since: this.#since, killed, count, of: this.#missed.length }) };
  }
}

interface Found {
  readonly since: number;
  readonly killed: number;
  /** Steps that missed it, of those that are looked back on. */
  readonly count: number;
  readonly of: number;
}

function sentence(view: TroubleView, found: Found): string {
  const { since, killed } = found;
  const { sample, acting, faults } = view;
  const lasting = Math.max(1, Math.round((sample.at - since) / 60_000));
  const why = [...faults, shortage(sample, killed)].join("; ");
  return `${missed(view, found)} for ${lasting} min: ${why}. ${acting}`;
}

/** In words that hold for the newest step too, which may have kept the promise that others missed. */
function missed({ sample, slo }: TroubleView, { count, of }: { readonly count: number; readonly of: number }): string {
  const { preservation } = sample;
  if (preservation !== null && preservation < 1) return `SLO missed (${shortfall(sample, slo, preservation)})`;
  const newest = preservation === null ? "the newest could not be measured" : "the newest kept it";
  return `SLO missed in ${count} of the last ${of} steps (${newest})`;
}

function shortfall({ latency }: Sample, slo: SloDocument, preservation: number): string {
  if (slo.kind !== "latency") return `${percent(preservation)} of the promised throughput`;
  const { percentile, target } = slo;
  const promised = `promised ${Math.round(target)} ms at p${Math.round(percentile * 1_000) / 10}`;
  if (latency === null) return `no answers, ${promised}`;
  // What preservation lacks beyond the latency is requests that were never answered (sloPreservation): they have none.
  const answered = percentile * preservation * Math.max(1, latency / target);
  const unanswered = answered < percentile - 1e-9 ? `${percent(answered)} of requests answered` : null;
  if (latency > target) {
    const slow = `${Math.ceil(latency)} ms, ${promised}`;
    return unanswered === null ? slow : `${slow}; only ${unanswered}`;
  }
  return `only ${unanswered ?? "some requests answered"}, promised ${percent(percentile)} within ${Math.round(target)} ms`;
}

/** Rounded down, for 98.96 % is not the 99 % that was promised. */
const percent = (share: number): string => `${Math.floor(1_000 * share + 1e-6) / 10} %`;

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
