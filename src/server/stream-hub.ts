/**
 * Live data for many readers at once (server-sent events).
 * Owns: portions (one text for all readers), ids and resuming after a broken connection, heartbeats, and what happens to a
 * reader that is too slow: it loses updates, is told how many samples, and gets a new snapshot once it has caught up, so
 * memory per reader is bounded by its backlog. Not here: what is in a snapshot (given), HTTP (routes/stream.ts).
 */

import type { LiveUpdate, StreamMessages } from "../contract/index.ts";
import type { ServerClock } from "./limits.ts";

export interface StreamHubOptions {
  /** Tells this run of the server from another: an id of another run cannot be resumed. */
  readonly run: string;
  readonly clock: ServerClock;
  readonly snapshot: () => StreamMessages["snapshot"];
  readonly backlogBytes: number;
  readonly resumeBytes: number;
  readonly heartbeatMs: number;
  readonly portionMs: number;
}

export interface StreamHub {
  readonly streams: number;
  readonly samplesDropped: number;
  publish(updates: readonly LiveUpdate[]): void;
  /** How many a name has. */
  heldBy(name: string): number;
  open(lastEventId: string | null, name: string): ReadableStream<Uint8Array>;
  /** Ends every stream. */
  close(): void;
}

interface Portion {
  readonly id: number;
  readonly bytes: Uint8Array;
  readonly samples: number;
}

interface Reader {
  readonly name: string;
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  /** Samples missed since it fell behind; null while it keeps up. */
  missed: number | null;
}

const encoder = new TextEncoder();
const HEARTBEAT = encoder.encode(": still here\n\n");
/** How soon a browser comes back after the connection broke. */
const RETRY = "retry: 1000\n";
/** Beyond this, updates do not wait for the portion's time: a burst is sent in several portions. */
const MOST_WAITING = 5_000;

export function createStreamHub(options: StreamHubOptions): StreamHub {
  const { run, clock, backlogBytes } = options;
  const readers = new Set<Reader>();
  const recent: Portion[] = [];
  let recentBytes = 0;
  let lastId = 0;
  let waiting: LiveUpdate[] = [];
  let cancelFlush: (() => void) | null = null;
  let lastFlush = Number.NEGATIVE_INFINITY;
  let samplesDropped = 0;
  let isClosed = false;
  /** Before the first reader there is nobody who could come back for what was sent. */
  let hadReaders = false;

  const frame = (event: keyof StreamMessages, data: unknown): Uint8Array =>
    encoder.encode(`${RETRY}id: ${run}.${lastId}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);

  const room = ({ controller }: Reader): number => controller.desiredSize ?? 0;

  /** A reader that is behind starts anew once half of its backlog is free and the snapshot fits. */
  const catchUp = (reader: Reader): void => {
    if (reader.missed === null || room(reader) < backlogBytes / 2) return;
    const lagged = frame("lagged", { samples: reader.missed });
    // A snapshot that is larger than the backlog would otherwise never be sent to anyone.
    const snapshot = frame("snapshot", options.snapshot());
    if (room(reader) < backlogBytes && room(reader) < lagged.byteLength + snapshot.byteLength) return;
    reader.missed = null;
    reader.controller.enqueue(lagged);
    reader.controller.enqueue(snapshot);
  };

  const send = (reader: Reader, { bytes, samples }: Portion): void => {
    if (reader.missed === null && room(reader) < bytes.byteLength) reader.missed = 0;
    if (reader.missed === null) {
      reader.controller.enqueue(bytes);
      return;
    }
    reader.missed += samples;
    samplesDropped += samples;
  };

  const flush = (): void => {
    cancelFlush?.();
    cancelFlush = null;
    if (waiting.length === 0 || isClosed) return;
    lastFlush = clock.now();
    lastId += 1;
    const samples = waiting.reduce((sum, update) => sum + (update.kind === "samples" ? update.samples.length : 0), 0);
    const portion: Portion = { id: lastId, bytes: frame("updates", waiting), samples };
    waiting = [];
    recent.push(portion);
    recentBytes += portion.bytes.byteLength;
    while (recentBytes > options.resumeBytes && recent.length > 1) recentBytes -= recent.shift()?.bytes.byteLength ?? 0;
    for (const reader of readers) {
      send(reader, portion);
      catchUp(reader);
    }
  };

  /** What came after the id, or null where that is not known any more. */
  const missedSince = (lastEventId: string | null): readonly Portion[] | null => {
    const match = /^(.+)\.(\d{1,15})$/.exec(lastEventId ?? "");
    if (match === null || match[1] !== run) return null;
    const seen = Number(match[2]);
    const oldest = recent[0]?.id ?? lastId + 1;
    if (seen > lastId || seen < oldest - 1) return null;
    return recent.filter(({ id }) => id > seen);
  };

  const stopHeartbeat = clock.every(options.heartbeatMs, () => {
    for (const reader of readers) {
      catchUp(reader);
      if (reader.missed === null && room(reader) > HEARTBEAT.byteLength) reader.controller.enqueue(HEARTBEAT);
    }
  });

  return {
    get streams() {
      return readers.size;
    },
    get samplesDropped() {
      return samplesDropped;
    },
    publish(updates) {
      if (isClosed || !hadReaders || updates.length === 0) return;
      for (const update of updates) {
        waiting.push(update);
        if (waiting.length >= MOST_WAITING) flush();
      }
      if (clock.now() - lastFlush >= options.portionMs) flush();
      else cancelFlush ??= clock.after(options.portionMs, flush);
    },
    heldBy(name) {
      let count = 0;
      for (const reader of readers) if (reader.name === name) count += 1;
      return count;
    },
    open(lastEventId, name) {
      let mine: Reader | undefined;
      return new ReadableStream<Uint8Array>(
        {
          start(controller) {
            if (isClosed) return controller.close();
            hadReaders = true;
            // What waits is in the snapshot already; sending it first keeps a reader from seeing it twice.
            flush();
            mine = { name, controller, missed: null };
            const resumed = missedSince(lastEventId);
            const bytes = resumed?.reduce((sum, portion) => sum + portion.bytes.byteLength, 0) ?? 0;
            if (resumed === null || bytes > backlogBytes / 2) controller.enqueue(frame("snapshot", options.snapshot()));
            else for (const bytes of [HEARTBEAT, ...resumed.map((portion) => portion.bytes)]) controller.enqueue(bytes);
            readers.add(mine);
          },
          pull() {
            if (mine !== undefined) catchUp(mine);
          },
          cancel() {
            if (mine !== undefined) readers.delete(mine);
          },
        },
        { highWaterMark: backlogBytes, size: (chunk) => chunk?.byteLength ?? 0 },
      );
    },
    close() {
      isClosed = true;
      stopHeartbeat();
      cancelFlush?.();
      for (const { controller } of readers) controller.close();
      readers.clear();
    },
  };
}
