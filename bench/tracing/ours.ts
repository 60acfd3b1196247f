/** Our side of `bench tracing`: each is one iteration over the whole workload. */

import { OtlpJsonDecoder, OtlpProtoDecoder, readSpans, receiverLimits } from "../../src/adapters/otlp/index.ts";
import { openTraceStore } from "../../src/adapters/store/index.ts";
import { type Ms, unwrap } from "../../src/base/index.ts";
import { NameTable, type TraceStore } from "../../src/observe/telemetry/index.ts";
import { assembleTraces, CriticalPathFinder, TracingCoordinator } from "../../src/observe/tracing/index.ts";
import { local, type Timed } from "../measure.ts";
import { decodeParsedOtlp } from "./json-peer.ts";
import { libraryDecoder } from "./proto-peer.ts";
import { otlpJsonBodies, type Workload } from "./workload.ts";

export function decoding({ bodies }: Workload): Timed {
  const decoder = new OtlpProtoDecoder(new NameTable());
  return local((iterations) => {
    for (let k = 0; k < iterations; k++) for (const body of bodies) unwrap(decoder.decode(body));
  });
}

export function libraryDecoding({ bodies, spans }: Workload): Timed {
  const decode = libraryDecoder();
  return local((iterations) => {
    for (let k = 0; k < iterations; k++) {
      let found = 0;
      for (const body of bodies) found += decode(body);
      if (found !== spans) throw new Error(`the library found ${found} of ${spans} spans`);
    }
  });
}

export function jsonDecoding(load: Workload): Timed {
  const bodies = otlpJsonBodies(load);
  const decoder = new OtlpJsonDecoder(new NameTable(), receiverLimits);
  return local((iterations) => {
    for (let k = 0; k < iterations; k++) for (const body of bodies) unwrap(decoder.decode(body));
  });
}

/** The same spans by JSON.parse and a walk over what it built. */
export function parsedDecoding(load: Workload): Timed {
  const bodies = otlpJsonBodies(load);
  const names = new NameTable();
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  return local((iterations) => {
    for (let k = 0; k < iterations; k++)
      for (const body of bodies) unwrap(decodeParsedOtlp(JSON.parse(utf8.decode(body)), names));
  });
}

/** Decode, assemble, critical path, signature, and a durable append; the same requests come under new ids every time. */
export class Ingest implements Timed {
  readonly #load: Workload;
  readonly #store: TraceStore;
  readonly #decoder: OtlpProtoDecoder;
  readonly #coordinator: TracingCoordinator;
  #turn = 0;

  private constructor(load: Workload, store: TraceStore) {
    this.#load = load;
    this.#store = store;
    const names = new NameTable();
    this.#decoder = new OtlpProtoDecoder(names);
    this.#coordinator = new TracingCoordinator(names, { limits: { futureAllowance: Number.POSITIVE_INFINITY as Ms } });
  }

  static async open(load: Workload, path: string): Promise<Ingest> {
    return new Ingest(load, await openTraceStore({ path }));
  }

  time(_task: string, iterations: number) {
    return this.#time(iterations, true);
  }

  /** The same without the store: what the analysis costs. */
  unstored(): Timed {
    return { time: (_task, iterations) => this.#time(iterations, false) };
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #time(iterations: number, isStored: boolean) {
    const cpu = process.cpuUsage();
    const wall = process.hrtime.bigint();
    for (let k = 0; k < iterations; k++) await this.#once(isStored);
    const wallNs = Number(process.hrtime.bigint() - wall);
    const used = process.cpuUsage(cpu);
    return { iterations, wallNs, cpuNs: (used.user + used.system) * 1_000 };
  }

  async #once(isStored: boolean): Promise<void> {
    this.#turn += 1;
    // A request every turn of the clock: the traces of the last turn are sealed by now, these are flushed below.
    const now = (this.#turn * 1_000) as Ms;
    for (const body of this.#load.bodies) {
      const { batch } = unwrap(this.#decoder.decode(body));
      // New ids: the first word of each trace's id is the turn.
      for (let row = 0; row < batch.length; row++) batch.traceIds[4 * row] = this.#turn;
      this.#coordinator.admit(batch, now);
    }
    const traces = this.#coordinator.flush(now);
    if (traces === null || traces.block.spans.length !== this.#load.spans)
      throw new Error(`${traces?.block.spans.length ?? 0} of ${this.#load.spans} spans came out`);
    if (isStored) await this.#store.append(traces);
    this.#coordinator.release(traces);
  }
}

export function pathFinding({ traces }: Workload): Timed {
  const { block } = assembleTraces(traces.flat());
  const finder = new CriticalPathFinder();
  return local((iterations) => {
    let steps = 0;
    for (let k = 0; k < iterations; k++)
      for (let trace = 0; trace < block.size; trace++) steps += finder.find(block, trace).length;
    if (steps === 0) throw new Error("no path was found");
  });
}

/** From the bytes of the file on: parse, assemble, find. */
export function fromFile(file: string): Timed {
  const finder = new CriticalPathFinder();
  return {
    async time(_task, iterations) {
      const cpu = process.cpuUsage();
      const wall = process.hrtime.bigint();
      for (let k = 0; k < iterations; k++) {
        const names = new NameTable();
        const { batches } = unwrap(await readSpans(file, { names, format: "jaeger" }));
        const { block } = assembleTraces({ batches: batches.map(({ batch }) => batch), names });
        for (let trace = 0; trace < block.size; trace++) finder.find(block, trace);
      }
      const wallNs = Number(process.hrtime.bigint() - wall);
      const used = process.cpuUsage(cpu);
      return { iterations, wallNs, cpuNs: (used.user + used.system) * 1_000 };
    },
  };
}
