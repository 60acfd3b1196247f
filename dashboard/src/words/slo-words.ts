/**
 * An SLO in words, whatever its kind.
 * Owns: how numbers of each unit look, and sentences made of the rows in src/contract/slo.ts. Pure.
 */
import { describeSlo, type SloDocument, type SloUnit, sloFields, sloNumbers } from "../../../src/contract/index.ts";
import { latency, load, share } from "./format.ts";

const sayIn: Readonly<Record<SloUnit, (value: number | null | undefined) => string>> = {
  milliseconds: latency,
  "requests per second": load,
  share,
};

/** 0.95 is p95. */
export function percentileName(quantile: number): string {
  const value = quantile * 100;
  return `p${Number(value.toFixed(2))}`;
}

/** The target as it is said of the SLO; nothing where it has none. */
export function targetWords(slo: SloDocument): string {
  const { target } = describeSlo(slo.kind).fields;
  return target === undefined ? "" : sayIn[target.unit](sloNumbers(slo).target);
}

/** "p95", and nothing for an SLO that has no quantile. */
const quantileWords = (slo: SloDocument): string => ("quantile" in slo ? percentileName(slo.quantile) : "");

export function sloWords(slo: SloDocument): string {
  const { promise } = describeSlo(slo.kind);
  return [quantileWords(slo), promise, targetWords(slo)].filter((word) => word !== "").join(" ");
}

/** The target as the series of one column has it: preservation is a share of the target, whatever the target is. */
export function targetOn(slo: SloDocument, column: string): number | null {
  if (sloFields(slo.kind).length === 0) return null;
  return column === "preservation" ? 1 : (sloNumbers(slo).target ?? null);
}

/** "Latency, p95" for the chart that an SLO with a quantile is judged on. */
export const chartTitle = (title: string, slo: SloDocument): string =>
  [title, quantileWords(slo)].filter((word) => word !== "").join(", ");
