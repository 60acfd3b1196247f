/**
 * A vertical autoscaler that has run for days, made from one day that repeats.
 * Owns: filling the histograms as if every sample of every day had been observed, at the price of one day.
 * Not here: observing (history.ts).
 *
 * A sample's weight doubles with every half-life, so a day that repeats has the weights of its first day times
 * 1 + 2^(day/halfLife) + 4^(…) + …: no approximation, only another order of adding.
 */
import type { Bytes, Millicores, Ms, Result } from "../../../base/index.ts";
import { err, failure, ok } from "../../../base/index.ts";
import type { VpaConfig } from "./config.ts";
import { minSampleWeight } from "./config.ts";
import { addSample, emptyHistogram } from "./histogram.ts";
import type { VpaState } from "./history.ts";
import { freshVpaState } from "./history.ts";

export interface WarmHistory {
  /** Use of one pod in the course of a day, evenly spaced: 1440 values are one a minute, as the VPA samples. */
  readonly cpu: ArrayLike<Millicores>;
  readonly memory: ArrayLike<Bytes>;
  /** Pods that used as much, each with samples of its own. */
  readonly pods: number;
  readonly days: number;
  /** When the last day ended. */
  readonly until: Ms;
}

const day = 86_400_000;

/** The pods of the history are gone: only what the VPA keeps of their containers is there. */
export function warmVpaState(config: VpaConfig, container: string, history: WarmHistory): Result<VpaState> {
  const problem = problemOf(history);
  if (problem !== undefined) return err(failure("vpa.history", `the VPA's history cannot be used: ${problem}`));
  const { pods, days, until } = history;
  if (days === 0 || pods === 0) return ok(freshVpaState);
  const start = until - days * day;
  const cpu = emptyHistogram(config.cpu.histogram);
  const spacing = day / history.cpu.length;
  const repeated = pods * repetitions(days, config.cpu.histogram.halfLife);
  for (let index = 0; index < history.cpu.length; index += 1)
    addSample(cpu, config.cpu.histogram, {
      value: Math.ceil(history.cpu[index] as number) / 1000,
      weight: minSampleWeight * repeated,
      at: (start + index * spacing) as Ms,
    });
  return ok({
    aggregates: {
      [container]: {
        cpu,
        memory: memoryHistogram(config, history, start),
        firstSample: start as Ms,
        lastSample: (until - spacing) as Ms,
        samples: pods * days * history.cpu.length,
      },
    },
    pods: {},
  });
}

const repetitions = (days: number, halfLife: Ms): number => {
  let sum = 0;
  for (let index = 0; index < days; index += 1) sum += 2 ** ((index * day) / halfLife);
  return sum;
};

/** Memory is remembered by the peak of each interval, at the interval's end. */
function memoryHistogram(config: VpaConfig, { memory, pods, days }: WarmHistory, start: number) {
  const shape = config.memory.histogram;
  const histogram = emptyHistogram(shape);
  let peak = 0;
  for (let index = 0; index < memory.length; index += 1) peak = Math.max(peak, Math.ceil(memory[index] as number));
  const intervals = Math.ceil((days * day) / config.memoryInterval);
  for (let index = 1; index <= intervals; index += 1)
    addSample(histogram, shape, { value: peak, weight: pods, at: (start + index * config.memoryInterval) as Ms });
  return histogram;
}

function problemOf({ cpu, memory, pods, days, until }: WarmHistory): string | undefined {
  for (const [name, samples] of Object.entries({ cpu, memory })) {
    if (samples.length === 0) return `its day has no ${name} samples`;
    for (let index = 0; index < samples.length; index += 1)
      if (!((samples[index] as number) >= 0 && Number.isFinite(samples[index] as number)))
        return `${name} sample ${index} is ${String(samples[index])}: give finite numbers from 0`;
  }
  if (!(Number.isSafeInteger(pods) && pods >= 0)) return `pods is ${pods}: give a whole number from 0`;
  if (!(Number.isSafeInteger(days) && days >= 0)) return `days is ${days}: give a whole number from 0`;
  return Number.isFinite(until) ? undefined : `until is ${until}: give the time at which the last day ended`;
}
