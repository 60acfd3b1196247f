/**
 * Which charts a workload has: load and what is promised, one per knob, reward.
 * Owns: their columns, titles and units, and what was granted beside what is used. Not here: drawing them (time-charts.tsx).
 */
import { describeSlo, type KnobDocument, type SeriesColumn, type SloDocument } from "../../../src/contract/index.ts";
import { type Columns, useOf } from "../plane/history.ts";
import { latency, load, percent, reward } from "../words/format.ts";
import { countFor, isCount, nameOfAll, sayFor } from "../words/knobs.ts";

export interface Chart {
  readonly column: string;
  /** Drawn beside it, where what is used is held against what is granted. */
  readonly granted?: Granted;
  /** The column of what a model expected of it, drawn beside it where there is any. */
  readonly expected?: SeriesColumn;
  readonly title: string;
  readonly say: (value: number | null | undefined) => string;
  readonly isStepped?: boolean;
  readonly startsAtZero?: boolean;
  readonly steps?: readonly number[];
}

export interface Granted {
  readonly knob: string;
  /** The knob that says how many have so much each; absent where it is that of all. */
  readonly count?: string;
}

/** From 16 MiB to 512 GiB. */
const POWERS_OF_TWO = Array.from({ length: 16 }, (_, index) => 2 ** (24 + index));
const WHOLE_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500];

const LATENCY: Chart = { column: "latency", expected: "expected", title: "Latency", say: latency };
/** For SLOs whose target is on none of the others. */
const KEPT: Chart = { column: "preservation", title: "SLO preservation", say: percent, startsAtZero: false };

/** Load first, then what is promised, then the knobs: their use, where it is measured. */
export function chartsOf({ slo, isJudgedByOthers = false, knobs, used }: Charted): readonly Chart[] {
  return [
    { column: "load", title: "Load", say: load },
    ...(isJudgedByOthers || describeSlo(slo.kind).chart === KEPT.column ? [KEPT] : []),
    // What is judged by others has no latency of its own either.
    ...(isJudgedByOthers ? [] : [LATENCY]),
    ...knobs.map((knob) => knobChart(knob, knobs, used.includes(knob.name))),
    { column: "reward", title: "Reward", say: reward, startsAtZero: false },
  ];
}

interface Charted {
  readonly slo: SloDocument;
  /** It has no SLO of its own, and its preservation is about others'. */
  readonly isJudgedByOthers?: boolean;
  readonly knobs: readonly KnobDocument[];
  /** The knobs whose use is measured. */
  readonly used: readonly string[];
}

function knobChart(knob: KnobDocument, knobs: readonly KnobDocument[], isUsed: boolean): Chart {
  const say = sayFor(knob, knobs);
  const steps = knob.unit === "bytes" ? POWERS_OF_TWO : isCount(knob, knobs) ? WHOLE_STEPS : undefined;
  const drawn = { say, ...(steps === undefined ? {} : { steps }) };
  if (!isUsed) return { ...drawn, column: knob.name, title: knob.title, isStepped: true };
  const count = countFor(knob, knobs)?.name;
  return {
    ...drawn,
    column: useOf(knob.name),
    granted: { knob: knob.name, ...(count === undefined ? {} : { count }) },
    title: nameOfAll(knob.name, knobs),
  };
}

/** A limit may be that of one member, and use is always that of all members together. */
export function grantedAt(columns: Columns, { knob, count }: Granted, index: number): number | null {
  const each = columns[knob]?.[index] ?? null;
  const members = count === undefined ? 1 : (columns[count]?.[index] ?? null);
  return each === null || members === null ? null : each * members;
}

export const grantedToAll = (columns: Columns, granted: Granted): (number | null)[] =>
  (columns[granted.knob] ?? []).map((_value, index) => grantedAt(columns, granted, index));
