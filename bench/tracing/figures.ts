/** From timings to the figures of `bench tracing`. Processor time: "on one core" is what a span costs, whoever computes it. */
import { assembleTraces, CriticalPathFinder } from "../../src/observe/tracing/index.ts";
import { type Figure, round } from "../report.ts";
import type { Timing } from "../statistics.ts";
import type { Crisp } from "./crisp.ts";
import type { Workload } from "./workload.ts";

type Timings = ReadonlyMap<string, Timing>;

const INGEST_TARGET = 100_000;
const PATHS_TARGET = 50_000;
/** The paper's bound on lost throughput, and the processor time of a request that it is held against. */
const PAPER_OVERHEAD = 0.004;

const rate = (timing: Timing | undefined, count: number, of: "best" | "median"): number =>
  timing === undefined ? Number.NaN : (count * 1e9) / timing[of];

interface Named {
  readonly id: string;
  readonly what: string;
  readonly unit: string;
  readonly count: number;
}

function perSecond(timing: Timing | undefined, { id, what, unit, count }: Named): Figure {
  return {
    id: `tracing.${id}`,
    what,
    value: round(rate(timing, count, "best")),
    unit,
    median: round(rate(timing, count, "median")),
  };
}

function against(figure: Figure, peer: Timing | undefined, { label, count }: { label: string; count: number }): Figure {
  if (peer === undefined) return figure;
  const theirs = rate(peer, count, "best");
  return { ...figure, peer: `${label}: ${round(theirs)} ${figure.unit}`, ratio: round(figure.value / theirs) };
}

export function decodeFigures(timings: Timings, spans: number): Figure[] {
  const unit = "spans/s";
  const what = "OTLP protobuf decoded into columns, 10 attributes a span, messages of 1,000 spans";
  const decode = perSecond(timings.get("decode"), { id: "decode", what, unit, count: spans });
  const json = perSecond(timings.get("json"), {
    id: "decode-json",
    what: "the same messages as OTLP's JSON, decoded from their bytes within the limits of a port",
    unit,
    count: spans,
  });
  return [
    against(decode, timings.get("library"), { label: "protobuf-es", count: spans }),
    against(json, timings.get("parsed"), { label: "JSON.parse and a walk", count: spans }),
  ];
}

export function ingestFigures(timings: Timings, spans: number): Figure[] {
  const unit = "spans/s";
  const ingest = timings.get("ingest");
  const value = rate(ingest, spans, "best");
  const micros = 1e6 / value;
  return [
    perSecond(timings.get("assemble"), {
      id: "assemble",
      what: "decoded, assembled, critical path and signature found, not stored",
      unit,
      count: spans,
    }),
    {
      ...perSecond(ingest, {
        id: "ingest",
        what: "the same and durably stored with all attributes, 10,000 spans a commit",
        unit,
        count: spans,
      }),
      target: `at least ${INGEST_TARGET} spans/s on one core`,
      holds: value >= INGEST_TARGET,
    },
    {
      id: "tracing.cpu",
      what: "processor time per span, from the message's bytes to the disk",
      value: round(micros),
      unit: "µs",
    },
    {
      id: "tracing.overhead",
      what: `processor time that one span of a request may stand for so that all of this costs ${100 * PAPER_OVERHEAD} % of it, the paper's bound`,
      value: round(micros / PAPER_OVERHEAD / 1_000),
      unit: "ms",
    },
  ];
}

export function pathFigures(timings: Timings, traces: number): Figure[] {
  const unit = "traces/s";
  const paths = perSecond(timings.get("paths"), {
    id: "paths",
    what: "critical paths of assembled traces of 20 spans",
    unit,
    count: traces,
  });
  const file = perSecond(timings.get("file"), {
    id: "file",
    what: "critical paths from the bytes of a Jaeger file on: parsed, assembled, found",
    unit,
    count: traces,
  });
  return [
    {
      ...against(paths, timings.get("crisp-paths"), { label: "CRISP", count: traces }),
      target: `at least ${PATHS_TARGET} traces/s`,
      holds: paths.value >= PATHS_TARGET,
    },
    against(file, timings.get("crisp-file"), { label: "CRISP", count: traces }),
  ];
}

/** How many of the traces have the same path in CRISP: contenders that compute different things are not compared. */
export async function agreementFigure({ traces }: Workload, crisp: Crisp): Promise<Figure[]> {
  const theirs = await crisp.fingerprints();
  if (theirs === undefined) return [];
  const { block } = assembleTraces(traces.flat());
  const finder = new CriticalPathFinder();
  // Traces come out in the order of their roots' arrival, which is that of the file.
  const ours = traces.map((_, trace) => {
    finder.find(block, trace);
    let sum = 0;
    for (let k = 0; k < finder.length; k++)
      sum += block.spans.spanIds[2 * ((block.offsets[trace] as number) + finder.spanAt(k)) + 1] as number;
    return sum;
  });
  const same = ours.filter((sum, trace) => sum === theirs[trace]).length;
  return [
    {
      id: "tracing.agreement",
      what: "traces of the file with the same path in CRISP",
      value: round((100 * same) / ours.length),
      unit: "%",
      target: "all of them",
      holds: same === ours.length,
    },
  ];
}
