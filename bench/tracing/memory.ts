/**
 * Memory of an assembler under a stream of any length.
 * Owns: the stream: whole traces, some without a root, some twice, at ten thousand spans per second of an injected clock, so
 * that tens of thousands wait at any time.
 */
import type { Ms } from "../../src/base/index.ts";
import { NameTable } from "../../src/observe/telemetry/index.ts";
import { TraceAssembler } from "../../src/observe/tracing/index.ts";
import { type Figure, round } from "../report.ts";
import { SPANS_PER_TRACE, template } from "./workload.ts";

/** What is allowed: stated here, and held by the limits below. */
const CAP_MIB = 64;

const LIMITS = {
  maxSpans: 200_000,
  maxTraces: 40_000,
  maxAttributeBytes: 24 * 2 ** 20,
  maxReadySpans: 20_000,
  rememberedTraces: 50_000,
} as const;

export function memoryFigures(spans: number): Figure[] {
  const names = new NameTable();
  const assembler = new TraceAssembler(names, LIMITS);
  const batch = template(names);
  let most = 0;
  let out = 0;
  for (let trace = 1; trace * SPANS_PER_TRACE <= spans; trace++) {
    const now = trace * 2;
    for (let row = 0; row < batch.length; row++) {
      batch.traceIds[4 * row + 2] = trace;
      batch.startUs[row] = now * 1_000;
      batch.endUs[row] = now * 1_000 + row;
    }
    // Every tenth trace comes without its root, and every seventh twice.
    const hasRoot = trace % 10 !== 0;
    batch.parentIds[1] = hasRoot ? 0 : 99;
    assembler.admit(batch, now as Ms);
    if (trace % 7 === 0) assembler.admit(batch, now as Ms);
    if (trace % 50 !== 0) continue;
    most = Math.max(most, assembler.allocatedBytes);
    const block = assembler.take();
    if (block === null) continue;
    out += block.spans.length;
    assembler.giveBack(block);
  }
  assembler.flush();
  out += assembler.take()?.spans.length ?? 0;
  const { admitted, dropped } = assembler.counts();
  if (out + dropped.duplicate + dropped["no-room"] + dropped.cycle !== admitted)
    throw new Error(`${admitted} spans went in and ${out} came out: ${assembler.drops.sentence()}`);
  const mebibytes = most / 2 ** 20;
  return [
    {
      id: "tracing.memory",
      what: `memory of an assembler over ${spans / 1e6} million spans, ten thousand a second of an injected clock`,
      value: round(mebibytes),
      unit: "MiB",
      target: `at most ${CAP_MIB} MiB by its limits`,
      holds: mebibytes <= CAP_MIB,
    },
  ];
}
