/**
 * The five resources of a container that are limited one by one (dissertation 3.2.4), in its order.
 * Owns: their names and the tuple of limits, which readings, actions and worlds all speak of.
 */
export const resources = ["cpu", "memory", "llc", "io", "network"] as const;
export type Resource = (typeof resources)[number];

/** Of one container: cores, MB/s of memory bandwidth, MiB of last-level cache, MB/s of disk, MB/s of network. */
export type Limits = { readonly [R in Resource]: number };
