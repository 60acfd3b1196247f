/**
 * How a workload stands, in words: met, over its target, in trouble; and against its twin.
 * Owns: the sentences of the overview and what counts as better. Pure.
 */
import {
  type Account,
  describeSlo,
  type ReleaseDocument,
  type Sample,
  type SloDocument,
  type Trouble,
  troubleText,
  utilisationOf,
} from "../../../src/contract/index.ts";
import { capitalized } from "./fallback.ts";
import { latency, percent, shortClock } from "./format.ts";
import { percentileName, targetWords } from "./slo-words.ts";

export interface Standing {
  readonly kind: "trouble" | "over" | "met" | "free" | "unknown";
  /** Two or three words. */
  readonly label: string;
  /** One sentence. */
  readonly sentence: string;
}

interface Seen {
  readonly slo: SloDocument;
  /** What it is judged by in place of an SLO of its own, as one plural. */
  readonly judgedBy?: string | null;
  readonly now: Sample | null;
  readonly trouble: Trouble | null;
}

export function standingOf({ slo, judgedBy = null, now, trouble }: Seen): Standing {
  if (trouble !== null) return { kind: "trouble", label: "In trouble", sentence: troubleText(trouble) };
  if (now === null) return { kind: "unknown", label: "Waiting", sentence: "Nothing has been measured yet." };
  if (judgedBy !== null) return byOthers(now.preservation, judgedBy);
  const { judged, measures, share } = describeSlo(slo.kind);
  if (judged === null) return { kind: "free", label: "No SLO", sentence: "Nothing is promised for it." };
  const asked = `target ${targetWords(slo)}`;
  const unknown: Standing = {
    kind: "unknown",
    label: "Not measured",
    sentence: `No ${measures} was measured in the last step.`,
  };
  if ("quantile" in slo) return againstLatency(slo, { now, asked, unknown });
  return now.preservation === null
    ? unknown
    : against({ isMet: now.preservation >= 1, found: `${percent(now.preservation)} ${share?.found ?? "kept"}`, asked });
}

/** Nothing is promised of it, but of what it is part of. */
function byOthers(preservation: number | null, judgedBy: string): Standing {
  if (preservation === null)
    return { kind: "unknown", label: "Not measured", sentence: `Whether ${judgedBy} are kept was not measured.` };
  return preservation >= 1
    ? { kind: "met", label: "SLOs met", sentence: `${capitalized(judgedBy)} are kept.` }
    : {
        kind: "over",
        label: "SLOs missed",
        sentence: `${capitalized(judgedBy)} are kept to ${percent(preservation)}.`,
      };
}

type WithQuantile = Extract<SloDocument, { readonly quantile: number }>;

interface Against {
  readonly now: Sample;
  readonly asked: string;
  readonly unknown: Standing;
}

function againstLatency(slo: WithQuantile, { now, asked, unknown }: Against): Standing {
  // Requests that were never answered have no latency, and still break the promise.
  const isBroken = now.preservation !== null && now.preservation < 1;
  if (now.latency === null)
    return isBroken ? against({ isMet: false, found: "No request was answered", asked }) : unknown;
  const found = `${percentileName(slo.quantile)} ${latency(now.latency)}`;
  if (now.latency <= slo.target && isBroken)
    return against({ isMet: false, found, asked: `${asked}, but requests went unanswered` });
  return against({ isMet: now.latency <= slo.target, found, asked });
}

function against({ isMet, found, asked }: { isMet: boolean; found: string; asked: string }): Standing {
  const sentence = `${found}, ${asked}`;
  return isMet ? { kind: "met", label: "SLO met", sentence } : { kind: "over", label: "Over target", sentence };
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

/** Steps after a moment that missed the SLO, with the agent and under its fallback alone; null while there are none. */
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

const ratio = (part: number, of: number): number | null => (of > 0 ? part / of : null);

export const attainment = (account: Account): number | null => ratio(account.steps - account.violations, account.steps);

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
/** Of what was granted under that name. */
export function compareUse(name: string | undefined, { ours, twin }: Compared): Comparison {
  const shareOf = (account: Account | null): number | null =>
    account === null || name === undefined ? null : (utilisationOf(account)[name] ?? null);
  return compare(shareOf(ours), shareOf(twin), false);
}
export const compareCost = ({ ours, twin }: Compared): Comparison =>
  compare(ours.cost, twin === null ? null : twin.cost, true);

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
