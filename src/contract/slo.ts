/**
 * Kinds of SLO as people meet them: one row each. START HERE to add a kind.
 * Owns: a kind's fields with their units and bounds, how it is written in a profile, the series it is judged by and shown
 * on, and its words. Documents, schemas, profiles, server, texts and the dashboard follow from these rows.
 * Not here: how a measurement is judged (observe/telemetry/slo, a file for each kind), how numbers look (dashboard/words).
 */
import type { SeriesColumn } from "./series.ts";

/** With how it is written beside a field. */
export const sloUnits = { milliseconds: "ms", "requests per second": "req/s", share: "0 to 1" } as const;
export type SloUnit = keyof typeof sloUnits;

/** A number that a person gives. */
export interface SloField {
  readonly label: string;
  readonly unit: SloUnit;
  /** What it may be, both ends included: what a person can mean and a measurement can tell. */
  readonly least: number;
  readonly most: number;
  /** Taken where a profile does not say. */
  readonly usual?: number;
  readonly example: number;
  /** In the OpenAPI document. */
  readonly about: string;
  /** In the YAML of a profile: its key there, and what it is. */
  readonly key: string;
  readonly keyAbout: string;
  /** Said beside the field: where it is no number, too little or too much; the first where another is not given. */
  readonly ask: string;
  readonly tooLittle?: string;
  readonly tooMuch?: string;
}

/** What is known of a step that missed its SLO. */
export interface SloMiss {
  readonly latency: number | null;
  readonly preservation: number;
}

interface Described<F extends Readonly<Record<string, SloField>>> {
  /** In the order in which they are asked for and written. */
  readonly fields: F;
  /** As one of several to choose from. */
  readonly choice: string;
  /** Before the target, or alone where there is none: "throughput at least". */
  readonly promise: string;
  /** What is not known where nothing was measured. */
  readonly measures: string;
  /** The series that the SLO is held against, and on which side of the target it is met; null without a target. */
  readonly judged: { readonly by: SeriesColumn; readonly target: "ceiling" | "floor" } | null;
  /** Where it is judged by preservation: what a share of it is called, in a sentence and as the name of a line. */
  readonly share?: { readonly found: string; readonly line: string };
  /** The chart that has the target in it. */
  readonly chart: SeriesColumn | null;
  /** Whether requests may wait, so that the usual rules may run a workload fuller. */
  readonly mayQueue: boolean;
  /** How far it was missed: "320 ms, promised 250 ms at p99". */
  shortfall(slo: { readonly [name in keyof F]: number }, miss: SloMiss): string;
}

/** Has no effect but the types: the fields that a row names are those that its words may use. */
const kind = <F extends Readonly<Record<string, SloField>>>(row: Described<F>): Described<F> => row;

export const sloKinds = {
  latency: kind({
    fields: {
      quantile: {
        label: "Quantile",
        unit: "share",
        least: 0.01,
        most: 0.99999,
        usual: 0.99,
        example: 0.99,
        about: "From 0 to 1: 0.99 is the 99th percentile.",
        key: "quantile",
        keyAbout: "of requests, from 0 to 1: 0.99 is the p99",
        ask: "Give a quantile from 0.01 to 0.99999, such as 0.99.",
      },
      target: {
        label: "Target",
        unit: "milliseconds",
        least: 0.01,
        most: 3_600_000,
        example: 250,
        about: "Milliseconds.",
        key: "targetMs",
        keyAbout: "that latency at this quantile may not pass",
        ask: "Give a number of milliseconds, such as 250.",
        tooLittle: "Give at least 0.01 ms: nothing can keep less.",
        tooMuch: "Give at most 3,600,000 ms, which is an hour.",
      },
    },
    choice: "a latency at most",
    promise: "latency at most",
    measures: "latency",
    judged: { by: "latency", target: "ceiling" },
    chart: "latency",
    mayQueue: false,
    shortfall({ quantile, target }, { latency, preservation }) {
      const promised = `promised ${Math.round(target)} ms at p${Math.round(quantile * 1_000) / 10}`;
      if (latency === null) return `no answers, ${promised}`;
      // What preservation lacks beyond the latency is requests that were never answered: they have none.
      const answered = quantile * preservation * Math.max(1, latency / target);
      const unanswered = answered < quantile - 1e-9 ? `${percent(answered)} of requests answered` : null;
      if (latency > target) {
        const slow = `${Math.ceil(latency)} ms, ${promised}`;
        return unanswered === null ? slow : `${slow}; only ${unanswered}`;
      }
      return `only ${unanswered ?? "some requests answered"}, promised ${percent(quantile)} within ${Math.round(target)} ms`;
    },
  }),
  throughput: kind({
    fields: {
      target: {
        label: "Target",
        unit: "requests per second",
        least: 0.001,
        most: 1e9,
        example: 40,
        about: "Requests per second.",
        key: "targetPerSecond",
        keyAbout: "requests answered per second, as far as so many come",
        ask: "Give a number of requests per second, such as 40.",
        tooLittle: "Give at least 0.001 requests per second, which is four an hour.",
        tooMuch: "Give at most a billion requests per second.",
      },
    },
    choice: "a throughput at least",
    promise: "throughput at least",
    measures: "throughput",
    // The served rate itself is not measured, and no more than was asked for can be served.
    judged: { by: "preservation", target: "floor" },
    share: { found: "served", line: "Share of the throughput served" },
    chart: "load",
    mayQueue: true,
    shortfall: (_slo, { preservation }) => `${percent(preservation)} of the promised throughput`,
  }),
  availability: kind({
    fields: {
      target: {
        label: "Target",
        unit: "share",
        least: 0.01,
        most: 1,
        example: 0.999,
        about: "Share of requests answered, from 0 to 1: 0.999 is 99.9 %.",
        key: "target",
        keyAbout: "share of requests answered, from 0 to 1: 0.999 is 99.9 %",
        ask: "Give a share of requests from 0 to 1, such as 0.999.",
        tooLittle: "Give at least 0.01, which is 1 % of requests.",
        tooMuch: "Give at most 1: 0.999 is 99.9 % of requests.",
      },
    },
    choice: "an availability at least",
    promise: "availability at least",
    measures: "availability",
    judged: { by: "preservation", target: "floor" },
    share: { found: "of the promised answers", line: "Share of the promised answers" },
    chart: "preservation",
    mayQueue: false,
    shortfall: ({ target }, { preservation }) =>
      `${fine(preservation * target)} of requests answered, promised ${fine(target)}`,
  }),
  none: kind({
    fields: {},
    choice: "none",
    promise: "no SLO",
    measures: "nothing",
    judged: null,
    chart: null,
    mayQueue: false,
    // Of others: what is measured of a workload may be about their SLOs.
    shortfall: (_slo, { preservation }) => `${percent(preservation)} of what is promised`,
  }),
};

export type SloKindName = keyof typeof sloKinds;
export const sloKindNames = Object.keys(sloKinds) as readonly SloKindName[];

type Fields<K extends SloKindName> = keyof (typeof sloKinds)[K]["fields"];
/** The names of all kinds' fields. */
export type SloFieldName = { [K in SloKindName]: Fields<K> }[SloKindName];

/** `kind`, and a number for each field of its row. */
export type SloDocument = {
  [K in SloKindName]: { readonly [name in "kind" | Fields<K>]: name extends "kind" ? K : number };
}[SloKindName];

export type SloDescription = Described<{ readonly [name in SloFieldName]?: SloField }>;

export const describeSlo = (name: SloKindName): SloDescription => sloKinds[name];

/** The fields of a kind in order, each with its name. */
export const sloFields = (name: SloKindName): readonly (readonly [SloFieldName, SloField])[] =>
  Object.entries(sloKinds[name].fields) as [SloFieldName, SloField][];

/** A document's numbers by field; absent where its kind has no such field. */
export type SloNumbers = { readonly [name in SloFieldName]?: number };
export const sloNumbers = ({ kind: _kind, ...numbers }: SloDocument): SloNumbers => numbers;

export const sloShortfall = (slo: SloDocument, miss: SloMiss): string =>
  describeSlo(slo.kind).shortfall(sloNumbers(slo), miss);

/** Rounded down, for 98.96 % is not the 99 % that was promised. */
const percent = (share: number): string => `${Math.floor(1_000 * share + 1e-6) / 10} %`;
/** With the decimals that tell nines apart. */
const fine = (share: number): string => `${Math.floor(100_000 * share + 1e-6) / 1_000} %`;
