/** How the server says that a stream, a consumer or a message is not there. Not here: failures in our codes (failures.ts). */
import { JetStreamApiCodes, JetStreamApiError } from "@nats-io/jetstream";

export function isMissing(thrown: unknown): boolean {
  if (!(thrown instanceof JetStreamApiError)) return false;
  const { StreamNotFound, ConsumerNotFound, NoMessageFound } = JetStreamApiCodes;
  return [StreamNotFound, ConsumerNotFound, NoMessageFound].some((code) => code === thrown.code);
}
