/**
 * Loads that a study's cluster can serve.
 * Owns: what rate the largest deployment sustains for an application, before and after every update; cutting a load to it.
 * Not here: the recorded and generated loads themselves, which know no such bound.
 *
 * A load that nobody could serve compares nothing: every controller would be at its bounds and violate. So the mean is
 * lowered where the heaviest version of the application asks for it, and minutes above the peak are cut to the peak.
 * The application's work is never touched.
 */
import type { Application } from "./application.ts";
import { studyCapacity, updatedPayloads } from "./calibration.ts";
import { withPayloads } from "./compose.ts";
import { type Load, meanRate, scaleLoad } from "./load.ts";
import { meanWork } from "./request.ts";

/**
 * Requests per second that twelve replicas of four cores serve with room to spare, by CPU and by threads, whichever
 * ends first; for the application with all its payloads updated, or as it is if that is heavier.
 */
export function servableRate(application: Application): number {
  const heaviest = application.payloads === undefined ? application : withPayloads(application, updatedPayloads);
  return Math.min(rateOf(application), rateOf(heaviest));
}

function rateOf(application: Application): number {
  const { replicas, coresPerReplica, peakShare } = studyCapacity;
  const { cpu, wait } = meanWork(application);
  const byCores = (replicas * coresPerReplica * 1_000) / cpu;
  const byThreads = (replicas * application.threads * 1_000) / (cpu + wait);
  return peakShare * Math.min(byCores, byThreads);
}

/**
 * The load at its mean, or at the highest mean whose peak is servable. Minutes above the peak are cut to it and the others
 * raised until the mean is back; a load that is silent most of the time reaches the peak before that and keeps a lower mean.
 */
export function studyLoad(load: Load, application: Application): Load {
  const { peakToMean } = studyCapacity;
  const mean = Math.min(meanRate(load), servableRate(application) / peakToMean);
  const peak = peakToMean * mean;
  let cut = load.perMinute;
  for (let round = 0; round < ROUNDS; round++) {
    const { perMinute } = scaleLoad({ ...load, perMinute: cut }, mean);
    cut = perMinute.map((rate) => Math.min(rate, peak));
    if (meanRate({ perMinute: cut }) > 0.999 * mean) break;
  }
  return { ...load, perMinute: cut };
}

/** Enough for a cut load to come within a thousandth of its mean, or for its busy minutes to be all at the peak. */
const ROUNDS = 40;
