/** The event engine that every event world stands on. */
export { EventQueue, type Ticket } from "./event-queue.ts";
