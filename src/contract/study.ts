/**
 * A study's result as `coxswain reproduce --json` prints it, and the function that checks it.
 * Owns: the shape, and the check without a library: the browser reads result files as well.
 * Not here: the schema of the API (schemas/plane.ts), running studies (studies).
 */

export interface PublishedRange {
  readonly low: number;
  readonly high: number;
  readonly unit: string;
  /** The table, figure or page of the paper. */
  readonly where: string;
}

export interface MeasuredInterval {
  readonly mean: number;
  /** The ends of the 95 % interval over `n` seeds. */
  readonly lo: number;
  readonly hi: number;
  readonly n: number;
  readonly unit: string;
}

interface MeasuredRow {
  /** Stable, for machines. */
  readonly id: string;
  readonly what: string;
  readonly paper: PublishedRange | null;
  readonly ours: MeasuredInterval;
  /** A sentence with a number in it. */
  readonly claim: string;
}

/** The number that the interval is held against. */
export interface ClaimTarget {
  readonly direction: "at-least" | "at-most";
  readonly bound: number;
  /** The value that would mean no effect (0 % more, 1×); null where the figure has none, as a share of faults found. */
  readonly none: number | null;
}

/** What this product promises its users: kept where the near end of our interval clears the bound. */
export interface PromiseRow extends MeasuredRow {
  readonly kind: "promise";
  readonly target: ClaimTarget;
  readonly holds: boolean;
}

export type Outcome = "reproduced" | "same-direction" | "not";

/** A paper's figure or statement, and how far ours agrees with it. */
export interface ReproductionRow extends MeasuredRow {
  readonly kind: "reproduction";
  readonly target: ClaimTarget;
  readonly outcome: Outcome;
  /** Whether it is reproduced. */
  readonly holds: boolean;
}

/** Described and not judged. */
export interface ShownRow extends MeasuredRow {
  readonly kind: "shown";
  readonly holds: null;
}

export type StudyResultRow = PromiseRow | ReproductionRow | ShownRow;

/** Promises and reproductions, counted apart. */
export interface StudyTally {
  readonly promises: number;
  readonly promisesHeld: number;
  readonly reproductions: number;
  readonly reproduced: number;
  readonly sameDirection: number;
}

export function tallyOf(rows: readonly StudyResultRow[]): StudyTally {
  const promises = rows.filter(({ kind }) => kind === "promise");
  const outcomes = rows.flatMap((row) => (row.kind === "reproduction" ? [row.outcome] : []));
  return {
    promises: promises.length,
    promisesHeld: promises.filter(({ holds }) => holds === true).length,
    reproductions: outcomes.length,
    reproduced: outcomes.filter((outcome) => outcome === "reproduced").length,
    sameDirection: outcomes.filter((outcome) => outcome === "same-direction").length,
  };
}

/** The fields of DESIGN's study document that a page shows; further ones are let through. */
export interface StudyResult {
  readonly study: string;
  readonly title: string;
  readonly quick: boolean;
  readonly seeds: readonly number[];
  readonly wallSeconds: number;
  readonly world: string;
  readonly rows: readonly StudyResultRow[];
  readonly version: string;
}

export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

/** The document, or the first thing wrong with it: `rows[2].ours.mean: expected a number, found "fast"`. */
export function parseStudyResult(document: unknown): Parsed<StudyResult> {
  const problem = firstProblem(document, STUDY_RESULT, "the document");
  return problem === undefined ? { ok: true, value: document as StudyResult } : { ok: false, problem };
}

type Shape =
  | "text"
  | "number"
  | "truth"
  | "nothing"
  | { readonly [field: string]: Shape }
  | readonly [Shape]
  | Maybe
  | OneOf
  | ByField;

class Maybe {
  readonly shape: Shape;

  constructor(shape: Shape) {
    this.shape = shape;
  }
}

class OneOf {
  readonly texts: readonly string[];

  constructor(...texts: readonly string[]) {
    this.texts = texts;
  }
}

/** An object that has further fields according to one of them. */
class ByField {
  readonly field: string;
  readonly shapes: { readonly [text: string]: { readonly [field: string]: Shape } };

  constructor(field: string, shapes: ByField["shapes"]) {
    this.field = field;
    this.shapes = shapes;
  }
}

const measured = {
  id: "text",
  what: "text",
  paper: new Maybe({ low: "number", high: "number", unit: "text", where: "text" }),
  ours: { mean: "number", lo: "number", hi: "number", n: "number", unit: "text" },
  claim: "text",
} as const;
const target = { direction: new OneOf("at-least", "at-most"), bound: "number", none: new Maybe("number") } as const;

const STUDY_RESULT: Shape = {
  study: "text",
  title: "text",
  quick: "truth",
  seeds: ["number"],
  wallSeconds: "number",
  world: "text",
  version: "text",
  rows: [
    new ByField("kind", {
      promise: { ...measured, target, holds: "truth" },
      reproduction: { ...measured, target, outcome: new OneOf("reproduced", "same-direction", "not"), holds: "truth" },
      shown: { ...measured, holds: "nothing" },
    }),
  ],
};

function firstProblem(value: unknown, shape: Shape, path: string): string | undefined {
  if (shape instanceof Maybe) return value === null ? undefined : firstProblem(value, shape.shape, path);
  if (shape === "text") return typeof value === "string" ? undefined : expected(path, "text", value);
  if (shape === "number") return Number.isFinite(value) ? undefined : expected(path, "a number", value);
  if (shape === "truth") return typeof value === "boolean" ? undefined : expected(path, "true or false", value);
  if (shape === "nothing") return value === null ? undefined : expected(path, "null", value);
  if (shape instanceof OneOf)
    return shape.texts.includes(value as string) ? undefined : expected(path, shape.texts.join(" or "), value);
  if (isList(shape)) {
    if (!Array.isArray(value)) return expected(path, "a list", value);
    return firstOf(value.map((item, index) => () => firstProblem(item, shape[0], `${path}[${index}]`)));
  }
  if (typeof value !== "object" || value === null) return expected(path, "an object", value);
  const prefix = path === "the document" ? "" : `${path}.`;
  if (shape instanceof ByField) {
    const found = (value as Record<string, unknown>)[shape.field];
    const own = shape.shapes[String(found)];
    if (own !== undefined) return firstProblem(value, own, path);
    return expected(`${prefix}${shape.field}`, Object.keys(shape.shapes).join(" or "), found);
  }
  return firstOf(
    Object.entries(shape).map(
      ([name, inner]) =>
        () =>
          firstProblem((value as Record<string, unknown>)[name], inner, `${prefix}${name}`),
    ),
  );
}

const isList = (shape: Shape): shape is readonly [Shape] => Array.isArray(shape);

function firstOf(checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const problem = check();
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function expected(path: string, what: string, found: unknown): string {
  const shown = found === undefined ? "nothing" : (JSON.stringify(found)?.slice(0, 40) ?? typeof found);
  return `${path}: expected ${what}, found ${shown}`;
}
