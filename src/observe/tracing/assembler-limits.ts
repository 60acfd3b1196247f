/** How long an assembler waits and how much it holds. Its memory follows from these, whatever comes. */
import { type Ms, minutes, seconds } from "../../base/index.ts";

export interface AssemblerLimits {
  /** From a root's arrival until its trace is sealed: longer than exporters hold spans back, by default 5 s. */
  readonly settle: Ms;
  /** The same where the sender says that it holds none back. */
  readonly promptSettle: Ms;
  /** From the newest span until a trace without a root is sealed. */
  readonly rootlessWait: Ms;
  /** How far ahead of our clock a span may start: clocks differ, hours are an error. */
  readonly futureAllowance: Ms;
  /** Spans that wait, in all traces together. */
  readonly maxSpans: number;
  readonly maxTraces: number;
  readonly maxSpansPerTrace: number;
  /** Attribute bytes of spans that wait; 0 keeps none. */
  readonly maxAttributeBytes: number;
  /** Spans in sealed traces that nobody has taken yet. */
  readonly maxReadySpans: number;
  /** Sealed traces that are remembered, to know what is late. */
  readonly rememberedTraces: number;
  readonly maxSkewUs: number;
}

export const defaultAssemblerLimits: AssemblerLimits = {
  settle: seconds(6),
  promptSettle: seconds(1),
  rootlessWait: seconds(30),
  futureAllowance: minutes(5),
  maxSpans: 1_000_000,
  maxTraces: 200_000,
  maxSpansPerTrace: 10_000,
  maxAttributeBytes: 64 * 2 ** 20,
  maxReadySpans: 200_000,
  rememberedTraces: 200_000,
  maxSkewUs: 3.6e9,
};
