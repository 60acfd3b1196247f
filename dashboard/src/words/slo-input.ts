/**
 * What a person typed for an SLO, checked before it is sent.
 * Owns: the limits that the server sets too, and the sentences beside the fields. Pure.
 */
import type { SloDocument } from "../../../src/server/plane-contract.ts";

export type SloKind = SloDocument["kind"];
export type SloField = "percentile" | "target";

/** As it stands in the fields. */
export interface TypedSlo {
  readonly kind: SloKind;
  /** Of a hundred: 99, 99.9. */
  readonly percentile: string;
  readonly target: string;
}

export type CheckedSlo =
  | { readonly ok: true; readonly slo: SloDocument }
  | { readonly ok: false; readonly problems: Readonly<Partial<Record<SloField, string>>> };

/** An hour, in milliseconds. */
const LONGEST = 3_600_000;
const MOST_REQUESTS = 1e9;
const USUAL_PERCENTILE = 99;

export function typedSlo(slo: SloDocument): TypedSlo {
  const percentile = slo.kind === "latency" ? ofHundred(slo.percentile) : USUAL_PERCENTILE;
  return { kind: slo.kind, percentile: String(percentile), target: slo.kind === "none" ? "" : String(slo.target) };
}

/** 0.99 and 99 are both in use; a person reads and types the latter. */
const ofHundred = (percentile: number): number => (percentile < 1 ? Number((percentile * 100).toFixed(6)) : percentile);

export function checkSlo({ kind, percentile, target }: TypedSlo): CheckedSlo {
  if (kind === "none") return { ok: true, slo: { kind } };
  const wanted = numberOf(target);
  const unit = kind === "latency" ? "milliseconds" : "requests per second";
  const most = kind === "latency" ? LONGEST : MOST_REQUESTS;
  const problems: Partial<Record<SloField, string>> = {};
  if (wanted === null) problems.target = `Give a number of ${unit}, such as ${kind === "latency" ? "250" : "40"}.`;
  else if (wanted <= 0) problems.target = "Give more than 0: nothing can keep such a target.";
  else if (wanted > most)
    problems.target =
      kind === "latency"
        ? "Give at most 3,600,000 ms, which is an hour."
        : "Give at most a billion requests per second.";
  if (kind === "throughput")
    return wanted === null || problems.target !== undefined
      ? { ok: false, problems }
      : { ok: true, slo: { kind, target: wanted } };
  const share = numberOf(percentile);
  if (share === null || share <= 0 || share >= 100)
    problems.percentile = "Give a percentile between 0 and 100, such as 99.";
  if (wanted === null || share === null || Object.keys(problems).length > 0) return { ok: false, problems };
  return { ok: true, slo: { kind, percentile: Number((share / 100).toFixed(8)), target: wanted } };
}

/** With a comma for a decimal point as well; null where it is no number. */
function numberOf(text: string): number | null {
  const trimmed = text.trim().replace(",", ".");
  return /^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(trimmed) ? Number(trimmed) : null;
}

/** Which field a refusal of the server is about; null where it is about none of them. */
export function fieldOf(code: string, detail: string): SloField | null {
  if (code === "plane.slo-percentile" || /\bpercentile\b/.test(detail)) return "percentile";
  return code === "slo.invalid" || /\btarget\b/.test(detail) ? "target" : null;
}
