/**
 * The twelve functions of SIMPPO's Table 3: what one call does, alone on a core of the reference processor (E5-2683 v3).
 * Owns: their calibration. Not here: the platform (calibration.ts), how machines are shared (contention.ts).
 *
 * A call first waits for input and output (storage, network), then computes. SIMPPO prints four latencies at the 99th
 * percentile, end to end, of functions that are alone: Sentiment-Anlys 1,190 ms, Markdown2HTML 179, Uploader 279 (283.4
 * less 1.5 %), Graph-MST about 627 (651.8 less 4 %). Those four are set to about 5 % below, since a controller is never
 * without any waiting; the other times follow the order of SeBS on a slower processor, assumed [0.5..2 times]. Memory
 * bandwidth and working sets in the cache: assumed [0.5..2 times], so that those that the paper calls memory- or
 * data-intensive draw the most. Peaks of memory: SeBS and FunctionBench ask for 128 to 512 MB; assumed [0.7..1.5 times].
 */
import type { runtimeStart } from "./calibration.ts";

export interface FunctionProfile {
  readonly name: string;
  readonly language: keyof typeof runtimeStart;
  /** Imports, model files: what a start takes besides the runtime, ms. SeBS: cold less warm where it has the function. */
  readonly init: number;
  /** Storage and network: time of one call when nothing is short, ms, and what it draws meanwhile, MB/s. */
  readonly io: { readonly time: number; readonly rate: number };
  /** Time of one call on a core, ms; memory traffic meanwhile with the working set cached, MB/s; that set, MiB. */
  readonly compute: { readonly time: number; readonly bandwidth: number; readonly workingSet: number };
  /** MiB: of a usual call at its peak; from which on more makes no difference. */
  readonly memory: { readonly peak: number; readonly comfortable: number };
  /** Coefficient of variation of a call's work. Payloads are fixed (dissertation, 4.9), so it is small. Assumed [0.02..0.2]. */
  readonly variation: number;
}

const of = (profile: FunctionProfile): FunctionProfile => profile;

export const functionProfiles = {
  base64: of({
    name: "Base64",
    language: "python",
    init: 60,
    io: { time: 5, rate: 20 },
    compute: { time: 170, bandwidth: 6_000, workingSet: 5 },
    memory: { peak: 100, comfortable: 150 },
    variation: 0.07,
  }),
  primes: of({
    name: "Primes",
    language: "python",
    init: 60,
    io: { time: 0, rate: 0 },
    compute: { time: 720, bandwidth: 900, workingSet: 1.5 },
    memory: { peak: 120, comfortable: 160 },
    variation: 0.05,
  }),
  "markdown-to-html": of({
    name: "Markdown2HTML",
    language: "python",
    init: 120,
    io: { time: 5, rate: 20 },
    compute: { time: 130, bandwidth: 5_000, workingSet: 6 },
    memory: { peak: 85, comfortable: 128 },
    variation: 0.06,
  }),
  "sentiment-analysis": of({
    name: "Sentiment-Anlys",
    language: "python",
    init: 900,
    io: { time: 10, rate: 10 },
    compute: { time: 960, bandwidth: 1_600, workingSet: 3 },
    memory: { peak: 210, comfortable: 290 },
    variation: 0.06,
  }),
  "image-resize": of({
    name: "Image-Resize",
    language: "java",
    init: 150,
    io: { time: 20, rate: 40 },
    compute: { time: 240, bandwidth: 1_800, workingSet: 3 },
    memory: { peak: 140, comfortable: 220 },
    variation: 0.08,
  }),
  "html-gen": of({
    name: "HTML-Gen",
    language: "python",
    init: 130,
    io: { time: 8, rate: 20 },
    compute: { time: 60, bandwidth: 2_000, workingSet: 2 },
    memory: { peak: 60, comfortable: 100 },
    variation: 0.08,
  }),
  uploader: of({
    name: "Uploader",
    language: "python",
    init: 110,
    io: { time: 185, rate: 45 },
    compute: { time: 30, bandwidth: 1_500, workingSet: 1 },
    memory: { peak: 75, comfortable: 120 },
    variation: 0.08,
  }),
  compression: of({
    name: "Compression",
    language: "python",
    init: 140,
    io: { time: 280, rate: 60 },
    compute: { time: 300, bandwidth: 1_800, workingSet: 2 },
    memory: { peak: 130, comfortable: 200 },
    variation: 0.08,
  }),
  "image-inference": of({
    name: "Image-Inference",
    language: "python",
    init: 1_150,
    io: { time: 25, rate: 40 },
    compute: { time: 420, bandwidth: 3_000, workingSet: 4 },
    memory: { peak: 360, comfortable: 480 },
    variation: 0.06,
  }),
  "page-rank": of({
    name: "Page-Rank",
    language: "python",
    init: 90,
    io: { time: 5, rate: 20 },
    compute: { time: 430, bandwidth: 4_500, workingSet: 7 },
    memory: { peak: 150, comfortable: 230 },
    variation: 0.06,
  }),
  "graph-bft": of({
    name: "Graph-BFT",
    language: "python",
    init: 90,
    io: { time: 5, rate: 20 },
    compute: { time: 330, bandwidth: 4_500, workingSet: 7 },
    memory: { peak: 140, comfortable: 220 },
    variation: 0.06,
  }),
  "graph-mst": of({
    name: "Graph-MST",
    language: "python",
    init: 90,
    io: { time: 5, rate: 20 },
    compute: { time: 500, bandwidth: 4_800, workingSet: 7 },
    memory: { peak: 150, comfortable: 230 },
    variation: 0.06,
  }),
} as const satisfies Readonly<Record<string, FunctionProfile>>;

export type FunctionName = keyof typeof functionProfiles;
export const functionNames = Object.keys(functionProfiles) as readonly FunctionName[];

/** By what the paper calls it: as many functions as asked for, in the order of Table 3 and round again. */
export const functionMix = (count: number): readonly FunctionProfile[] =>
  Array.from({ length: count }, (_, i) => functionProfiles[functionNames[i % functionNames.length] as FunctionName]);
