/**
 * Which workload is in trouble, since when, and why as far as the measurements say.
 * Owns: when missed steps are trouble and when they are over, and the sentence about it.
 * Not here: the measurements (measure.ts).
 */
import type { AgentDocument, AllocationDocument, Sample, SloDocument, Trouble } from "../../server/index.ts";

export interface TroubleView {
  readonly sample: Sample;
  readonly slo: SloDocument;
  readonly acting: AgentDocument["acting"];
  readonly oomKills: number;
  /** Pods that it may have. */
  readonly most: number;
  /** In words: faults that were injected, a release that needs more. */
  readonly causes: readonly string[];
}

/** Steps that are looked back on, how many of them missed are trouble, and how few are its end. */
const LOOK_BACK = 12;
const MANY = 6;
const FEW = 1;

export class TroubleWatch {
  #missed: boolean[] = [];
  #since: number | null;
  #firstMiss = 0;
  /** What it had when it first missed; unknown after a restart. */
  #had: AllocationDocument | undefined;
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
    if (isMissed && !this.#missed.includes(true) && this.#since === null) {
      this.#firstMiss = sample.at;
      this.#had = sample.have;
    }
    this.#missed = [...this.#missed, isMissed].slice(-LOOK_BACK);
    this.#kills = [...this.#kills, view.oomKills].slice(-LOOK_BACK);
    const count = this.#missed.filter(Boolean).length;
    if (this.#since === null && count >= MANY) this.#since = this.#firstMiss;
    if (this.#since !== null && count <= FEW && this.#missed.length === LOOK_BACK) this.#since = null;
    if (this.#since === null) return null;
    const killed = this.#kills.reduce((sum, kills) => sum + kills, 0);
    this.#had ??= sample.have;
    const found = { since: this.#since, had: this.#had, killed, count, of: this.#missed.length };
    return { since: this.#since, what: sentence(view, found) };
  }
}

interface Found {
  readonly since: number;
  readonly had: AllocationDocument;
  readonly killed: number;
  /** Steps that missed it, of those that are looked back on. */
  readonly count: number;
  readonly of: number;
}

function sentence(view: TroubleView, found: Found): string {
  const { sample, causes } = view;
  const short = shortage(sample, found.killed);
  // Where the cause is known, nobody has to guess it.
  const symptom =
    short ?? (causes.length > 0 ? calm(sample) : `${calm(sample)}, so pods are too slow or too few for bursts`);
  const why = [...causes, symptom, done(view, found.had)].join("; ");
  return `${missed(view, found)}: ${why}.`;
}

/** In words that hold for the newest step too, which may have kept the promise that others missed. */
function missed({ sample, slo }: TroubleView, { since, count, of }: Found): string {
  const { preservation, at } = sample;
  const begun = `since ${clock(since, at)}`;
  if (preservation !== null && preservation < 1)
    return `Misses its SLO ${begun} (${shortfall(sample, slo, preservation)})`;
  const newest = preservation === null ? "the newest could not be measured" : "the newest kept it";
  return `Misses its SLO ${begun}, in ${count} of the last ${of} steps (${newest})`;
}

const DAY = 86_400_000;

/** Of the cluster's time, as the dashboard shows it; with the day where it is another one. */
function clock(since: number, now: number): string {
  const text = new Date(since).toISOString();
  return now - since < DAY ? text.slice(11, 16) : `${text.slice(0, 10)} ${text.slice(11, 16)}`;
}

const actors = { learner: "the agent", fallback: "HPA and VPA", nobody: "nobody" } as const;
/** Of a limit: less is not worth a word. */
const NOTABLE = 0.1;

/** What was done about it since it began. */
function done({ acting, sample: { have }, most }: TroubleView, had: AllocationDocument): string {
  if (acting === "nobody") return "nobody acts";
  const change = have.replicas - had.replicas;
  const isOther = (name: "cpu" | "memory") => Math.abs(have[name] / had[name] - 1) > NOTABLE;
  const gave = [
    ...(change === 0 ? [] : [pods(Math.abs(change), change > 0 ? "more " : "fewer ")]),
    ...(isOther("cpu") ? [`${cores(have.cpu)} instead of ${cores(had.cpu)} cores a pod`] : []),
    ...(isOther("memory") ? [`${mebibytes(have.memory)} instead of ${mebibytes(had.memory)} MiB a pod`] : []),
  ];
  const who = actors[acting];
  if (gave.length > 0) return `${who} gave ${list(gave)}`;
  return `${who} ${acting === "learner" ? "stays" : "stay"} at ${pods(have.replicas)}${have.replicas >= most ? ", the most there may be" : ""}`;
}

const pods = (count: number, more = ""): string => `${count} ${more}${count === 1 ? "pod" : "pods"}`;
const cores = (millicores: number): number => Number((millicores / 1_000).toFixed(2));
const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20);
const list = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;

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

/** Which dimension is short, by what the pods used of what they have; null where none is. */
function shortage(sample: Sample, killed: number): string | null {
  const { have, ready } = sample;
  const { cpu, memory } = shares(sample);
  if (killed > 0) return `memory is short, ${killed} pods were killed for it`;
  if (ready < have.replicas) return `replicas are short, ${ready} of ${have.replicas} are ready`;
  if (cpu >= 0.8) return `CPU is short, ${Math.round(100 * cpu)} % of it is used`;
  if (memory >= 0.95) return `memory is short, ${Math.round(100 * memory)} % of it is used`;
  if (cpu >= 0.45) return `CPU is short in bursts, ${Math.round(100 * cpu)} % of it is used on average`;
  return null;
}

function calm(sample: Sample): string {
  const { cpu, memory } = shares(sample);
  return `nothing is used up (CPU ${Math.round(100 * cpu)} %, memory ${Math.round(100 * memory)} %)`;
}

function shares({ use, have, ready }: Sample): { readonly cpu: number; readonly memory: number } {
  const pods = Math.max(1, ready);
  return { cpu: (use.cpu ?? 0) / (have.cpu * pods), memory: (use.memory ?? 0) / (have.memory * pods) };
}
