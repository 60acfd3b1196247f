/** The one store of the page and its live connection. */

import { PlaneStore } from "./plane/store.ts";
import { type LiveStream, openStream } from "./plane/stream.ts";

export const store = new PlaneStore();
let stream: LiveStream | null = null;

export function goLive(): void {
  stream ??= openStream(store);
}

export const reconnect = (): void => stream?.retry();
