/** The seven kinds of anomaly that can be injected (dissertation, Table 3.4): worlds, guards and documents speak of them. */
export const faultKinds = [
  "workload-variation",
  "network-delay",
  "cpu",
  "llc",
  "memory-bandwidth",
  "io-bandwidth",
  "network-bandwidth",
] as const;
export type FaultKind = (typeof faultKinds)[number];
