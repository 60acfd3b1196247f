/** The event rung of the serverless world: every activation, every container, every share of a core. */
import { Platform } from "../platform.ts";
import { fillServerless, type ServerlessOptions } from "../spec.ts";
import type { ServerlessWorld } from "../world.ts";
import { EventFlow } from "./flow.ts";

/** What only this rung has: how much it has done. */
export interface EventServerlessWorld extends ServerlessWorld {
  readonly events: number;
}

export const serverlessWorld = (options: ServerlessOptions): EventServerlessWorld =>
  new Platform(fillServerless(options), (host) => new EventFlow(host));
