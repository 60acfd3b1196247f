/**
 * A sink that gives spans on to the process that owns the store, over OTLP: so that any number of receivers can stand in
 * front of one owner, and none of them holds anything that would be missed.
 * Owns: what waits to be sent, within a bound, and coming back when the owner has no room.
 * Not here: receiving (receiver.ts on both ends), putting traces together (the owner).
 */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type Clock, type Failure, failure, Mailbox, type Ms, seconds } from "../../base/index.ts";
import { NameTable, type SpanColumns, type SpanOffer, type SpanSink } from "../../observe/telemetry/index.ts";
import { systemClock } from "../runtime/index.ts";
import { encodeOtlp } from "./proto-encode.ts";

export interface ForwardOptions {
  /** The owner's OTLP endpoint: `http://owner:4318/v1/traces`. */
  readonly url: string;
  readonly token?: string;
  /** Batches that may wait; 64 unless said. */
  readonly maxWaiting?: number;
  /** How long a batch is tried again before it is given up; 30 s unless said. */
  readonly giveUpAfter?: Ms;
  /** Told about every batch that is given up; write it to the log. */
  readonly onLoss?: (why: Failure) => void;
  readonly clock?: Clock;
}

export interface ForwardCounts {
  readonly batches: number;
  readonly spans: number;
  /** Spans in batches that were given up. */
  readonly lost: number;
}

export interface ForwardingSink extends SpanSink {
  counts(): ForwardCounts;
  /** Sends what waits, then ends. */
  close(): Promise<void>;
}

interface Waiting {
  readonly message: Uint8Array;
  readonly spans: number;
}

/** What an owner says when the same batch may be taken later. */
const LATER = new Set([429, 502, 503, 504]);
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 5_000;
const pack = promisify(gzip) as (bytes: Uint8Array) => Promise<Buffer>;

export function forwardSpans({
  url,
  token,
  maxWaiting = 64,
  giveUpAfter = seconds(30),
  onLoss = () => undefined,
  clock = systemClock,
}: ForwardOptions): ForwardingSink {
  const names = new NameTable();
  const waiting = new Mailbox<Waiting>({ capacity: maxWaiting });
  const counts = { batches: 0, spans: 0, lost: 0 };
  const headers = {
    "content-type": "application/x-protobuf",
    "content-encoding": "gzip",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const send = async (body: Uint8Array<ArrayBuffer>): Promise<Sent> => {
    try {
      const answer = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(10_000) });
      await answer.arrayBuffer();
      if (answer.ok) return { kind: "taken" };
      const why = `it answers ${answer.status}`;
      if (!LATER.has(answer.status)) return { kind: "refused", why };
      return { kind: "later", why, after: 1_000 * Number(answer.headers.get("retry-after") ?? 0) };
    } catch (thrown) {
      return { kind: "later", why: thrown instanceof Error ? thrown.message : String(thrown), after: 0 };
    }
  };
  const deliver = async ({ message, spans }: Waiting): Promise<void> => {
    const body = new Uint8Array(await pack(message));
    const until = clock.monotonic() + giveUpAfter;
    for (let pause = FIRST_PAUSE; ; pause = Math.min(LONGEST_PAUSE, 2 * pause)) {
      const sent = await send(body);
      if (sent.kind === "taken") {
        counts.batches += 1;
        counts.spans += spans;
        return;
      }
      const wait = Math.max(pause, sent.kind === "later" && Number.isFinite(sent.after) ? sent.after : 0);
      if (sent.kind === "refused" || clock.monotonic() + wait > until) {
        counts.lost += spans;
        const text = `${spans} spans could not be given to ${url} (${sent.why}): check the address, the token and that the owner of the store runs`;
        onLoss(failure("otlp.not-forwarded", text));
        return;
      }
      await clock.sleep(wait as Ms);
    }
  };
  const sending = (async () => {
    for (let next = await waiting.take(); next !== undefined; next = await waiting.take()) await deliver(next);
  })();
  return {
    names,
    offer(batch: SpanColumns): SpanOffer {
      if (batch.length > 0 && !waiting.offer({ message: encodeOtlp(batch), spans: batch.length }))
        return { kind: "busy", retryAfter: seconds(1) };
      return { kind: "taken", unused: 0, why: "" };
    },
    counts: () => ({ ...counts }),
    close: () => {
      waiting.close();
      return sending;
    },
  };
}

type Sent =
  | { readonly kind: "taken" }
  | { readonly kind: "later"; readonly why: string; readonly after: number }
  | { readonly kind: "refused"; readonly why: string };
