/**
 * The map of workloads by embedding: /v1/embeddings.
 * Owns: shapes only. Not here: the map itself (cli/up/shared-pool.ts), schemas (schemas/).
 */

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
