/**
 * Figures of Linux, Kubernetes and clients that both rungs of the cluster world keep. All times in milliseconds.
 * Not here: processors (processors.ts), prices (pricing.ts), the metrics pipeline (metrics/config.ts), workloads.
 */
export const mechanics = {
  /** A CPU quota is granted per period: Kubernetes' --cpu-cfs-quota-period, 100 ms. What is not used is not kept. */
  quotaPeriod: 100,
  /** A stopped pod may finish what it has: terminationGracePeriodSeconds, 30 s. */
  grace: 30_000,
  /** The kubelet's crash-loop back-off: at once after the first kill, then 10 s, doubling up to 5 minutes. */
  crashBackoff: { first: 10_000, most: 300_000 },
  /** After running this long without a kill, the back-off begins anew (kubelet: twice the longest back-off). */
  crashForgottenAfter: 600_000,
  /** A start on a node that has the image, or a restart in place, against a first start there. Assumed, 0.2 to 0.8. */
  warmStart: 0.5,
  /**
   * From asking for another size in place to the new cgroup limits. Measured on Kubernetes 1.36.3 with containerd 1.6 and
   * cgroup v1 (two cores at load 5 to 17): CPU and memory right within 0.41 s, without a restart.
   */
  resize: 410,
  /** In-place resizes that wait for room this long are done by a new pod, where that is allowed: the VPA updater's deferred timeout. */
  resizeDeferred: 300_000,
  /** Clients: full jitter over a back-off that doubles, as the AWS SDKs' standard mode: 1 s, 2 s … at most 20 s. */
  retryBackoff: { first: 1_000, most: 20_000 },
} as const;
