/** Worlds of one or two services, for tests of closed forms. */
import type { Ms } from "../../../base/index.ts";
import { call, type MicroserviceApplication, type ServiceSpec } from "../applications/index.ts";
import type { MicroserviceNode } from "../nodes.ts";
import type { MicroserviceWorldOptions } from "../spec.ts";

export const simpleService: ServiceSpec = {
  name: "only",
  origin: "dataset",
  profile: "ideal",
  work: 10,
  threads: 1,
};

export const steady = (perSecond: number): MicroserviceWorldOptions["load"] => ({
  id: "steady",
  level: "high",
  perMinute: Float64Array.of(perSecond),
  dispersion: 1,
});

export const simpleApplication = (service: Partial<ServiceSpec> = {}): MicroserviceApplication => ({
  name: "simple",
  services: [{ ...simpleService, ...service }],
  requests: [{ name: "ask", weight: 1, root: call("only") }],
});

export const simpleNode = (cores: number): MicroserviceNode => ({
  name: "node",
  processor: "xeon",
  capacity: [cores, 1e6, 1e6, 1e6, 1e6],
});

/** Exponential work of 10 ms on average, no way between containers, no tracing, patient clients, a limit of no effect. */
export function simpleWorld(
  perSecond: number,
  options: Partial<MicroserviceWorldOptions> = {},
): MicroserviceWorldOptions {
  return {
    seed: 1,
    application: simpleApplication(),
    load: steady(perSecond),
    nodes: [simpleNode(64)],
    limits: { only: { cpu: 64 } },
    hop: { mean: 0, variation: 0 },
    spread: "exponential",
    timeout: 1e9 as Ms,
    tracing: { sampling: 0 },
    ...options,
  };
}
