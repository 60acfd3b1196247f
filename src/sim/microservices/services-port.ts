/**
 * A simulated application as controllers of its services know it: readings, spans and guarded actions, no truth.
 * Owns: handing actions to the world. Not here: the guard, which an action has passed before it comes here.
 */
import type { ServiceAction } from "../../act/index.ts";
import { assertNever, ok, type Result } from "../../base/index.ts";
import type { MicroserviceWorld } from "./world.ts";

/** What a controller may use of a world. */
export type ReadableServices = Pick<
  MicroserviceWorld,
  "now" | "readInstances" | "readRequests" | "readNodes" | "readService" | "takeSpans"
>;

export interface SimulatedServices extends ReadableServices {
  apply(action: ServiceAction): Result<void>;
}

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
    apply(action) {
      switch (action.kind) {
        case "hold":
          return ok(undefined);
        case "set-limits":
          return withoutValue(world.setLimits(action.instance, action.limits));
        case "scale-service":
          return withoutValue(world.scale(action.service, action.replicas));
        default:
          return assertNever(action);
      }
    },
  };
}

const withoutValue = (result: Result<unknown>): Result<void> => (result.ok ? ok(undefined) : result);
