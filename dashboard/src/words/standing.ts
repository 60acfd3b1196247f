/**
 * How a workload stands, in words: met, over its target, in trouble; and against its twin.
 * Owns: the sentences of the overview and what counts as better. Pure.
 */
import type { Account, ReleaseDocument, Sample, SloDocument, Trouble } from "../../../src/server/plane-contract.ts";
import { elapsed, latency, load, percent, shortClock } from "./format.ts";

export interface Standing {
  readonly kind: "trouble" | "over" | "met" | "free" | "unknown";
  /** Two or three words. */
  readonly label: string;
  /** One sentence. */
  readonly sentence: string;
}

interface Seen {
  readonly slo: SloDocument;
  readonly now: Sample | null;
  readonly trouble: Trouble | null;
}

export function standingOf({ slo, now, trouble }: Seen): Standing {
  if (trouble !== null) {
    // Who found the trouble may have said how long it lasts, or since when.
    const isSaid =
      now === null || now.at <= trouble.since || /\b(?:for \d+ (?:s|min|h)|since \d[\d-]*[ :]\d)/.test(trouble.what);
    const lasting = isSaid ? "" : ` For ${elapsed(now.at - trouble.since)}.`;
    return { kind: "trouble", label: "In trouble", sentence: `${asSentence(trouble.what)}${lasting}` };
  }
  if (now === null) return { kind: "unknown", label: "Waiting", sentence: "Nothing has been measured yet." };
  switch (slo.kind) {
    case "none":
      return { kind: "free", label: "No SLO", sentence: "Nobody asked it for a latency or a throughput." };
    case "latency":
      return againstLatency(slo, now);
    case "throughput":
      return now.preservation === null
        ? { kind: "unknown", label: "Not measured", sentence: "No throughput was measured in the last step." }
        : against({
            isMet: now.preservation >= 1,
            // The served rate itself is not measured, and no more than was asked for can be served.
            found: `${percent(now.preservation)} served`,
            asked: `target ${load(slo.target)}`,
          });
  }
}

function againstLatency(slo: Extract<SloDocument, { kind: "latency" }>, now: Sample): Standing {
  const asked = `target ${latency(slo.target)}`;
  // Requests that were never answered have no latency, and still break the promise.
  const isBroken = now.preservation !== null && now.preservation < 1;
  if (now.latency === null)
    return isBroken
      ? against({ isMet: false, found: "No request was answered", asked })
      : { kind: "unknown", label: "Not measured", sentence: "No latency was measured in the last step." };
  const found = `${percentileName(slo.percentile)} ${latency(now.latency)}`;
  if (now.latency <= slo.target && isBroken)
    return against({ isMet: false, found, asked: `${asked}, but requests went unanswered` });
  return against({ isMet: now.latency <= slo.target, found, asked });
}

function against({ isMet, found, asked }: { isMet: boolean; found: string; asked: string }): Standing {
  const sentence = `${found}, ${asked}`;
  return isMet ? { kind: "met", label: "SLO met", sentence } : { kind: "over", label: "Over target", sentence };
}

/** 0.95 and 95 are both in use for the same percentile. */
export function percentileName(percentile: number): string {
  const value = percentile <= 1 ? percentile * 100 : percentile;
  return `p${Number(value.toFixed(2))}`;
}

export function sloWords(slo: SloDocument): string {
  switch (slo.kind) {
    case "latency":
      return `${percentileName(slo.percentile)} latency at most ${latency(slo.target)}`;
    case "throughput":
      return `throughput at least ${load(slo.target)}`;
    case "none":
      return "no SLO";
  }
}

/** What a release that needs more than the first one did says for itself; null where there is none. */
export function releaseWords(release: ReleaseDocument | null): string | null {
  if (release === null || release.needs === null) return null;
  return `Release ${release.version} since ${shortClock(release.since)}: ${release.needs}`;
}

export interface Misses {
  readonly ours: number;
  readonly twin: number;
  readonly of: number;
}

/** Steps after a moment that missed the SLO, with the agent and under HPA and VPA alone; null while there are none. */
export function missesSince(history: MissHistory, from: number): Misses | null {
  const first = history.at.findIndex((at) => at > from);
  if (first === -1) return null;
  const missed = (kept: readonly (number | null)[]): number =>
    kept.slice(first).filter((value) => value !== null && value < 1).length;
  return {
    ours: missed(history.ours.preservation),
    twin: missed(history.twin.preservation),
    of: history.at.length - first,
  };
}

interface MissHistory {
  /** In seconds. */
  readonly at: readonly number[];
  readonly ours: { readonly preservation: readonly (number | null)[] };
  readonly twin: { readonly preservation: readonly (number | null)[] };
}

function asSentence(text: string): string {
  const trimmed = text.trim();
  return /[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

const ratio = (part: number, of: number): number | null => (of > 0 ? part / of : null);

export const attainment = (account: Account): number | null => ratio(account.steps - account.violations, account.steps);
export const cpuUtilisation = (account: Account): number | null => ratio(account.cpuUsed, account.cpuGranted);
export const memoryUtilisation = (account: Account): number | null => ratio(account.memoryUsed, account.memoryGranted);

export interface Comparison {
  readonly ours: number | null;
  readonly twin: number | null;
  /** Ours less the twin's; for cost relative to the twin's. Null where either is unknown. */
  readonly difference: number | null;
  readonly verdict: "better" | "worse" | "same";
}

interface Compared {
  readonly ours: Account;
  readonly twin: Account | null;
}

const NOTICEABLE = 0.0005;

function compare(ours: number | null, twin: number | null, isRelative: boolean): Comparison {
  if (ours === null || twin === null || (isRelative && twin === 0))
    return { ours, twin, difference: null, verdict: "same" };
  const difference = isRelative ? ours / twin - 1 : ours - twin;
  // More attainment and more utilisation are good, more cost is bad.
  const gain = isRelative ? -difference : difference;
  return { ours, twin, difference, verdict: Math.abs(gain) < NOTICEABLE ? "same" : gain > 0 ? "better" : "worse" };
}

export const compareAttainment = ({ ours, twin }: Compared): Comparison =>
  compare(attainment(ours), twin === null ? null : attainment(twin), false);
export const compareCpu = ({ ours, twin }: Compared): Comparison =>
  compare(cpuUtilisation(ours), twin === null ? null : cpuUtilisation(twin), false);
export const compareMemory = ({ ours, twin }: Compared): Comparison =>
  compare(memoryUtilisation(ours), twin === null ? null : memoryUtilisation(twin), false);
export const compareCost = ({ ours, twin }: Compared): Comparison =>
  compare(ours.cost, twin === null ? null : twin.cost, true);

export const NO_ACCOUNT: Account = {
  steps: 0,
  violations: 0,
  cost: 0,
  cpuUsed: 0,
  cpuGranted: 0,
  memoryUsed: 0,
  memoryGranted: 0,
};

export function sumAccounts(accounts: Iterable<Account>): Account {
  const sum = { ...NO_ACCOUNT } as { -readonly [field in keyof Account]: number };
  for (const account of accounts)
    for (const field of Object.keys(NO_ACCOUNT) as (keyof Account)[]) sum[field] += account[field];
  return sum;
}

export interface Headline {
  /** The worst of all. */
  readonly kind: Standing["kind"];
  readonly text: string;
}

/** The one sentence on top of the overview. */
export function headline(workloads: readonly { readonly title: string; readonly standing: Standing }[]): Headline {
  const those = (kind: Standing["kind"]): readonly string[] =>
    workloads.filter(({ standing }) => standing.kind === kind).map(({ title }) => title);
  const all = workloads.length;
  if (all === 0) return { kind: "free", text: "No workload is managed yet." };
  const [troubled, over] = [those("trouble"), those("over")];
  if (troubled.length > 0)
    return {
      kind: "trouble",
      text:
        troubled.length === 1
          ? `${troubled[0]} is in trouble.`
          : `${troubled.length} of ${all} workloads are in trouble: ${list(troubled)}.`,
    };
  if (over.length > 0)
    return {
      kind: "over",
      text:
        over.length === 1
          ? `${over[0]} is over its target at the moment; no workload is in trouble.`
          : `${over.length} of ${all} workloads are over their target at the moment: ${list(over)}.`,
    };
  if (those("unknown").length === all) return { kind: "unknown", text: "Waiting for the first measurements." };
  return {
    kind: "met",
    text: all === 1 ? `${workloads[0]?.title} is within its SLO.` : `All ${all} workloads are within their SLOs.`,
  };
}

const MOST_NAMED = 3;

function list(names: readonly string[]): string {
  const named = names.slice(0, MOST_NAMED);
  const more = names.length - named.length;
  if (more > 0) return `${named.join(", ")} and ${more} more`;
  return named.length < 2 ? named.join("") : `${named.slice(0, -1).join(", ")} and ${named.at(-1)}`;
}
