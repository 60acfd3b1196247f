/**
 * How long requests take when nothing is in their way, and the SLOs made of that.
 * Owns: SLOs, which are set once, before any controller is tried: 1.2 times the isolated 99th percentile.
 */
import type { Ms } from "../../base/index.ts";
import { milliseconds, seededRng } from "../../base/index.ts";
import { quantileOf } from "../cluster/metrics/select.ts";
import type { MicroserviceApplication } from "./applications/index.ts";
import { hop, tracing } from "./calibration.ts";
import { processorClasses } from "./nodes.ts";
import { compile } from "./program.ts";
import { type Walker, Workflow } from "./workflow.ts";

export interface IsolatedRequests {
  readonly request: string;
  readonly p50: Ms;
  readonly p99: Ms;
}

/** Enough for a 99th percentile of a lognormal to within a few per cent. */
const REQUESTS = 4_000;
const SEED = 20_200_413;
const SLO_FACTOR = 1.2;

/** By request type, on the slower of the two processor classes: no SLO depends on where a container happens to be. */
export function isolatedRequests(application: MicroserviceApplication): readonly IsolatedRequests[] {
  const program = compile(application);
  const workflow = new Workflow({ program, hop, spread: "profile", overhead: tracing.overhead });
  const slowest = Math.min(...Object.values(processorClasses).map(({ speed }) => speed));
  const alone: Walker = {
    enter: () => 0,
    spend: (call, work) => {
      const { cpu } = program.profiles[program.service[call]!]!;
      return work * (cpu / slowest + (1 - cpu));
    },
  };
  const rng = seededRng(SEED);
  const times = new Float64Array(REQUESTS);
  return application.requests.map(({ name }, type) => {
    for (let i = 0; i < REQUESTS; i++) times[i] = workflow.walk(type, rng.uint32() | 0, alone);
    const at = (quantile: number): Ms => milliseconds(quantileOf(times, REQUESTS, quantile) as number);
    return { request: name, p50: at(0.5), p99: at(0.99) };
  });
}

export const isolatedSlos = (application: MicroserviceApplication): readonly Ms[] =>
  isolatedRequests(application).map(({ p99 }) => milliseconds(SLO_FACTOR * p99));
