/** The one store of the page and its live connection. */
import { type LiveStream, openStream } from "./plane/stream.ts";
import { PlaneStore } from "./plane/store.ts";

export const store = new PlaneStore();
let stream: LiveStream | null = null;

export function goLive(): void {
  stream ??= openStream(store);
}

export const reconnect = (): void => stream?.retry();
