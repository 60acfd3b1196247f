/** What every event world stands on: the queue of events, and who is at work by when it will be done. */
export { EventQueue, type Ticket } from "./event-queue.ts";
export { RunningSet } from "./running-set.ts";
