/**
 * A simulated application as controllers of its services know it: readings, spans and the means to act, no truth.
 * Owns: leaving the rest out. Not here: the guard, which an action has passed before it comes here.
 */
import type { MicroserviceWorld } from "./world.ts";

export type SimulatedServices = Pick<
  MicroserviceWorld,
  "now" | "readInstances" | "readRequests" | "readNodes" | "readService" | "takeSpans" | "setLimits" | "scale"
>;

export function simulatedServices(world: MicroserviceWorld): SimulatedServices {
  return {
    get now() {
      return world.now;
    },
    readInstances: () => world.readInstances(),
    readRequests: () => world.readRequests(),
    readNodes: () => world.readNodes(),
    readService: (service) => world.readService(service),
    takeSpans: () => world.takeSpans(),
    setLimits: (instance, limits) => world.setLimits(instance, limits),
    scale: (service, replicas) => world.scale(service, replicas),
  };
}
