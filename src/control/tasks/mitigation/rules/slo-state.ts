/** Whether an application keeps its SLOs, as its ingress tells: what the rules for services go by. */
import type { RequestReading } from "../../../../observe/telemetry/index.ts";

/** A 99th percentile forgives one request in a hundred. */
const FORGIVEN = 0.01;

/** Types of request whose 99th percentile misses the SLO, refused requests included; null: the ingress said nothing. */
export function brokenSlos(readings: readonly RequestReading[]): readonly string[] | null {
  if (readings.length === 0) return null;
  return readings.filter((reading) => isBroken(reading)).map(({ request }) => request);
}

function isBroken({ p99, slo, completed, failed }: RequestReading): boolean {
  // Those who were refused have no latency; they missed the SLO all the same.
  return (p99 !== null && p99 > slo) || failed > FORGIVEN * (completed + failed);
}
