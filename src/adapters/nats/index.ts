/** NATS: how processes of one fleet, or a pool of workers, find and ask each other. */

export { openBucket } from "./bucket.ts";
export type { NatsLink, NatsOptions } from "./connection.ts";
export { connectNats } from "./connection.ts";
export type { FleetClient } from "./fleet-client.ts";
export { fleetClient } from "./fleet-client.ts";
export { isPoolName } from "./fleet-messages.ts";
export type { FleetRecords } from "./fleet-records.ts";
export { openFleetRecords } from "./fleet-records.ts";
export type { FleetService } from "./fleet-service.ts";
export { serveFleet } from "./fleet-service.ts";
export type { WorkBuild, WorkOffer, WorkOutcome } from "./work-messages.ts";
export { INLINE_BYTES, offerId } from "./work-messages.ts";
export type { TakenJob } from "./work-queue.ts";
export { WorkQueue } from "./work-queue.ts";
export { WorkResults } from "./work-results.ts";
