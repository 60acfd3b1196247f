/**
 * What the browser may rely on beside the running control plane: a study's result as `coxswain reproduce --json` prints it
 * with the guard that checks it, and the map of workloads by embedding.
 * Not here: the documents of the control plane (plane-contract.ts), routes, storage. It imports nothing, so that the
 * dashboard can take it without taking the server.
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

export interface StudyResultRow {
  readonly id: string;
  readonly what: string;
  readonly paper: PublishedRange | null;
  readonly ours: MeasuredInterval;
  readonly claim: string;
  /** Null where nothing is judged. */
  readonly holds: boolean | null;
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

type Shape = "text" | "number" | "truth" | { readonly [field: string]: Shape } | readonly [Shape] | Maybe;

class Maybe {
  readonly shape: Shape;

  constructor(shape: Shape) {
    this.shape = shape;
  }
}

const STUDY_RESULT: Shape = {
  study: "text",
  title: "text",
  quick: "truth",
  seeds: ["number"],
  wallSeconds: "number",
  world: "text",
  version: "text",
  rows: [
    {
      id: "text",
      what: "text",
      paper: new Maybe({ low: "number", high: "number", unit: "text", where: "text" }),
      ours: { mean: "number", lo: "number", hi: "number", n: "number", unit: "text" },
      claim: "text",
      holds: new Maybe("truth"),
    },
  ],
};

function firstProblem(value: unknown, shape: Shape, path: string): string | undefined {
  if (shape instanceof Maybe) return value === null ? undefined : firstProblem(value, shape.shape, path);
  if (shape === "text") return typeof value === "string" ? undefined : expected(path, "text", value);
  if (shape === "number") return Number.isFinite(value) ? undefined : expected(path, "a number", value);
  if (shape === "truth") return typeof value === "boolean" ? undefined : expected(path, "true or false", value);
  if (isList(shape)) {
    if (!Array.isArray(value)) return expected(path, "a list", value);
    return firstOf(value.map((item, index) => () => firstProblem(item, shape[0], `${path}[${index}]`)));
  }
  if (typeof value !== "object" || value === null) return expected(path, "an object", value);
  const prefix = path === "the document" ? "" : `${path}.`;
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

// ── The map of workloads by embedding ──────────────────────────────────────────────────────────────────────

export interface NeighbourDocument {
  readonly name: string;
  /** Cosine from the middle of the pool: 1 is alike, 0 is no kin. */
  readonly similarity: number;
}

/** On the two directions in which the pool's embeddings differ most. */
export type Place = readonly [number, number];

/** An application that the shared model was trained on. */
export interface PoolMember {
  readonly name: string;
  readonly application: string;
  /** What an allocation has to notice about it: "serial-cpu", "memory", … */
  readonly sensitivity: string;
  /** Of its load: "diurnal", "bursty", … */
  readonly shape: string;
  readonly place: Place;
  /** Other members, most alike first. */
  readonly nearest: readonly NeighbourDocument[];
}

/** A workload that is managed now, by an agent that began with the shared model. */
export interface PlacedWorkload {
  readonly workload: string;
  readonly title: string;
  readonly agent: string;
  readonly state: "neutral" | "known" | "stranger";
  readonly why: string;
  /** null while it is neutral, or where the pool is another model's. */
  readonly place: Place | null;
  readonly nearest: readonly NeighbourDocument[];
}

/** /v1/embeddings. Without a model the lists are empty. */
export interface EmbeddingsDocument {
  readonly model: {
    readonly name: string;
    readonly applications: number;
    readonly rounds: number;
    readonly seed: number;
    /** Mean return of the pool's applications under their own embeddings, and under the neutral one. */
    readonly known: number;
    readonly neutral: number;
    /** Mean returns while it was trained, thinned. */
    readonly curve: readonly { readonly round: number; readonly return: number }[];
  } | null;
  /** Of the variance, by axis. */
  readonly shares: Place;
  readonly members: readonly PoolMember[];
  readonly workloads: readonly PlacedWorkload[];
}
