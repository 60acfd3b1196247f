/** The fluid rung of the serverless world, for training: contention by slots, queues call by call. */
import { Platform } from "../platform.ts";
import { fillServerless, type ServerlessOptions } from "../spec.ts";
import type { ServerlessWorld } from "../world.ts";
import { FluidFlow } from "./flow.ts";

export const fluidServerlessWorld = (options: ServerlessOptions): ServerlessWorld =>
  new Platform(fillServerless(options), (host) => new FluidFlow(host));
