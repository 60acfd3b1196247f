/**
 * The live connection: reads /v1/stream, gathers what arrives until the next frame, comes back when it breaks.
 * Owns: the state of the connection, waiting times, the bound of what waits for a frame.
 */
import { signal } from "@preact/signals";
import type { LiveUpdate, StreamMessages } from "../../../src/contract/index.ts";
import { ask, PlaneProblem } from "./client.ts";
import { EventParser, type ServerEvent } from "./sse.ts";
import type { PlaneStore } from "./store.ts";

export type Connection =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  /** `attempt` counts the failures in a row. */
  | { readonly kind: "lost"; readonly why: string; readonly attempt: number; readonly waitMs: number }
  | { readonly kind: "token-wanted"; readonly why: string };

export const connection = signal<Connection>({ kind: "connecting" });

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;
/** The server says at least a comment every fifteen seconds; silence this long is a dead line that nobody closed. */
const SILENCE_MS = 40_000;
/** A hidden page draws no frames: what waits is then applied at once when it grows beyond this. */
const MOST_WAITING = 2_000;

export interface LiveStream {
  /** Tries again at once. */
  retry(): void;
}

export function openStream(store: PlaneStore): LiveStream {
  let wake: () => void = () => {};
  const gathered = gather(store);

  const run = async (): Promise<never> => {
    for (let attempt = 1; ; attempt += 1) {
      const why = await follow(store, {
        take: gathered,
        live: () => {
          attempt = 0;
          connection.value = { kind: "live" };
        },
      });
      if (why.status === 401) {
        connection.value = { kind: "token-wanted", why: why.message };
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        connection.value = { kind: "connecting" };
        continue;
      }
      const failures = Math.max(attempt, 1);
      const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1));
      connection.value = { kind: "lost", why: why.message, attempt: failures, waitMs };
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  void run();
  window.addEventListener("online", () => wake());
  return { retry: () => wake() };
}

interface Following {
  readonly take: (updates: readonly LiveUpdate[]) => void;
  readonly live: () => void;
}

/** Follows one connection to its end and returns why it ended. */
async function follow(store: PlaneStore, { take, live }: Following): Promise<PlaneProblem> {
  const stop = new AbortController();
  let silence: ReturnType<typeof setTimeout> | undefined;
  const heard = (): void => {
    clearTimeout(silence);
    silence = setTimeout(() => stop.abort(), SILENCE_MS);
  };
  try {
    heard();
    const answer = await ask("stream", { signal: stop.signal, headers: { accept: "text/event-stream" } });
    if (answer.body === null) return ended("The stream is empty.");
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    const parser = new EventParser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return ended("The control plane closed the connection.");
      heard();
      for (const event of parser.take(value)) if (receive(store, event, take)) live();
    }
  } catch (reason) {
    if (stop.signal.aborted) return ended("Nothing was heard for a while.");
    return reason instanceof PlaneProblem ? reason : ended("The connection to the control plane broke.");
  } finally {
    clearTimeout(silence);
    stop.abort();
  }
}

/** True when it was the snapshot that every connection begins with. */
function receive(store: PlaneStore, event: ServerEvent, take: Following["take"]): boolean {
  if (event.name === "snapshot") {
    store.start(JSON.parse(event.data) as StreamMessages["snapshot"]);
    return true;
  }
  // "lagged" is followed by a snapshot, and that says all.
  if (event.name === "updates") take(JSON.parse(event.data) as StreamMessages["updates"]);
  return false;
}

function gather(store: PlaneStore): Following["take"] {
  let waiting: LiveUpdate[] = [];
  let isAsked = false;
  const flush = (): void => {
    isAsked = false;
    const updates = waiting;
    waiting = [];
    store.apply(updates);
  };
  return (updates) => {
    waiting.push(...updates);
    if (waiting.length > MOST_WAITING) flush();
    else if (!isAsked) {
      isAsked = true;
      requestAnimationFrame(flush);
    }
  };
}

const ended = (detail: string): PlaneProblem => new PlaneProblem({ status: 0, code: "dashboard.stream", detail });
