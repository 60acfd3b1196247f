/**
 * The metrics pipeline's parameters, the same for both rungs: when is measured, over what, and how late it is known.
 * Not here: keeping and delivering samples (pipeline.ts).
 */
import type { Ms } from "../../../base/index.ts";
import { seconds } from "../../../base/index.ts";

export interface MetricsConfig {
  /** Between two scrapes; their phase is drawn per workload. */
  readonly interval: Ms;
  /** CPU, I/O, network and request rates are means over this long. */
  readonly window: Ms;
  /** From a scrape until a controller can read it. */
  readonly delay: Ms;
  /** Latency percentiles are over this long. */
  readonly sloWindow: Ms;
  /** Chance that a pod's sample, or the ingress's, is missing from a scrape. */
  readonly missing: number;
  /** Sigma of a lognormal factor of mean 1 on each rate of a pod: two counters are not read at exactly the same moment. */
  readonly noise: number;
}

/**
 * interval: metrics-server's --metric-resolution and Prometheus' usual scrape interval, 15 s.
 * window: metrics-server takes a rate between two points of the kubelet, 15 to 30 s apart.
 * delay: the kubelet's own housekeeping (10 to 15 s) plus collection; with the interval an age of 15 to 30 s.
 * sloWindow: one minute, as the control task defines it.
 * missing: assumed, tried from 0 to 0.05.
 * noise: assumed, tried from 0 to 0.05; the kubelet's housekeeping moves a point by up to a second of thirty.
 */
export const metricsDefaults: MetricsConfig = {
  interval: seconds(15),
  window: seconds(30),
  delay: seconds(15),
  sloWindow: seconds(60),
  missing: 0.005,
  noise: 0.02,
};

/** What a node grants one pod, which I/O and network use is measured against. Bytes per second. */
export const podGrants = {
  /** A general-purpose cloud disk: 125 MB/s is the baseline of AWS gp3. */
  io: 125_000_000,
  /** Assumed, tried from 0.5 to 5 Gbit/s: one gigabit. */
  network: 125_000_000,
} as const;
