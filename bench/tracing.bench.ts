/** `coxswain bench tracing`: spans ingested, assembled, analysed and stored per second, and critical paths per second. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { interleave } from "./measure.ts";
import { type Bench, type BenchContext, type BenchReport, describeMachine, type Figure } from "./report.ts";
import { type Crisp, openCrisp } from "./tracing/crisp.ts";
import { agreementFigure, decodeFigures, ingestFigures, pathFigures } from "./tracing/figures.ts";
import { memoryFigures } from "./tracing/memory.ts";
import { deciding, mitigationFigures, updating } from "./tracing/mitigation.ts";
import {
  decoding,
  fromFile,
  Ingest,
  jsonDecoding,
  libraryDecoding,
  parsedDecoding,
  pathFinding,
} from "./tracing/ours.ts";
import { jaegerDocument, workload } from "./tracing/workload.ts";

/** Enough that a round is not one message, few enough that CRISP's turn takes a second. */
const TRACES = 500;

export const tracingBench: Bench = {
  title: "spans ingested, assembled and stored per second, critical paths per second, one core; FIRM's decisions",
  async run(context): Promise<BenchReport> {
    const machine = describeMachine();
    const folder = await mkdtemp(join(tmpdir(), "coxswain-bench-tracing-"));
    try {
      return { ...(await measureIn(folder, context)), machine: machine() };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function measureIn(folder: string, context: BenchContext): Promise<{ figures: Figure[]; absent: string[] }> {
  const { quick, signal, log } = context;
  const load = workload(TRACES);
  const file = join(folder, "traces.json");
  await writeFile(file, jaegerDocument(load));
  const crisp: Crisp = await openCrisp(file, { folder, signal });
  const ingest = await Ingest.open(load, join(folder, "traces.duckdb"));
  try {
    const agreement = await agreementFigure(load, crisp);
    log(`${load.spans} spans in ${load.bodies.length} messages, again and again`);
    const rounds = { count: quick ? 3 : 9, lengthMs: quick ? 300 : 1_000, warmupMs: quick ? 500 : 1_500, signal };
    const peers =
      crisp.contender === undefined
        ? []
        : [
            { key: "crisp-paths", contender: crisp.contender, task: "paths" },
            { key: "crisp-file", contender: crisp.contender, task: "file" },
          ];
    const { timings, failed } = await interleave(
      [
        { key: "decode", contender: decoding(load), task: "decode" },
        { key: "library", contender: libraryDecoding(load), task: "decode" },
        { key: "json", contender: jsonDecoding(load), task: "decode" },
        { key: "parsed", contender: parsedDecoding(load), task: "decode" },
        { key: "assemble", contender: ingest.unstored(), task: "ingest" },
        { key: "ingest", contender: ingest, task: "ingest" },
        { key: "paths", contender: pathFinding(load), task: "paths" },
        { key: "file", contender: fromFile(file), task: "file" },
        { key: "decision", contender: deciding(), task: "decide" },
        { key: "update", contender: updating(), task: "update" },
        ...peers,
      ],
      rounds,
    );
    for (const [key, why] of failed) log(`${key} failed: ${why}`);
    log("a stream of millions of spans under an injected clock, for its memory");
    const figures = [
      ...decodeFigures(timings, load.spans),
      ...ingestFigures(timings, load.spans),
      ...pathFigures(timings, TRACES),
      ...agreement,
      ...mitigationFigures(timings),
      ...memoryFigures(quick ? 1_000_000 : 20_000_000),
    ];
    return { figures, absent: crisp.absent };
  } finally {
    await crisp.contender?.close();
    await ingest.close();
  }
}
