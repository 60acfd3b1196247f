/**
 * A trajectory store that lives in another process: the client of remote-server.ts.
 * Appends and completions may be repeated safely, so when the owner is gone the failure says that a retry may help.
 */

import type * as z from "zod";
import type { AgentId, EpisodeId, Ms } from "../../base/index.ts";
import { CodedError, failure } from "../../base/index.ts";
import type {
  AppendReceipt,
  CompleteReceipt,
  Completion,
  EpisodeQuery,
  EpisodeSummary,
  SampleQuery,
  StoreCounts,
  TrajectoryRecord,
  TrajectoryStore,
  Transition,
} from "../../learn/trajectory/index.ts";
import {
  checkedCount,
  closedStore,
  decodeRecords,
  decodeTransitions,
  encodeCompletions,
  encodeRecords,
  problemInCompletions,
  problemInRecords,
  throwIfProblem,
} from "../../learn/trajectory/index.ts";
import {
  AppendReceiptBody,
  BINARY,
  CompleteReceiptBody,
  CountsBody,
  EpisodeIdsBody,
  FAILURE_FRAME,
  FailureBody,
  ForgetBody,
  GUARD_HEADER,
  PREFIX,
  RewardsBody,
  SummariesBody,
} from "./remote-protocol.ts";

export interface RemoteStoreOptions {
  /** As `serveStore` reports it. */
  readonly url: string;
  /** Sent as `authorization: Bearer …`, for a proxy in front of the owner that asks for it. */
  readonly token?: string;
  /** How long one call may take before the owner counts as gone. */
  readonly timeout?: Ms;
}

export function connectStore(options: RemoteStoreOptions): TrajectoryStore {
  return new RemoteStore(options);
}

class RemoteStore implements TrajectoryStore {
  readonly #url: string;
  readonly #timeout: Ms;
  readonly #access: Readonly<Record<string, string>>;
  readonly #closing = new AbortController();

  constructor({ url, token, timeout }: RemoteStoreOptions) {
    this.#url = url.replace(/\/$/, "");
    this.#timeout = timeout ?? (30_000 as Ms);
    this.#access = token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  async append(records: readonly TrajectoryRecord[]): Promise<AppendReceipt> {
    this.#checkOpen();
    // Checked on this side too: the codec writes numbers, and a bad one must not arrive as another number.
    throwIfProblem(problemInRecords(records));
    return this.#json("append", encodeRecords(records), AppendReceiptBody);
  }

  async complete(completions: readonly Completion[]): Promise<CompleteReceipt> {
    this.#checkOpen();
    throwIfProblem(problemInCompletions(completions));
    return this.#json("complete", encodeCompletions(completions), CompleteReceiptBody);
  }

  async recentRewards(agent: AgentId, count: number): Promise<number[]> {
    return this.#json("rewards", { agent, count: checkedCount(count) }, RewardsBody);
  }

  async recentEpisodes(agent: AgentId, count: number): Promise<EpisodeId[]> {
    return this.#json("recent", { agent, count: checkedCount(count) }, EpisodeIdsBody);
  }

  topEpisodes(query: EpisodeQuery): Promise<EpisodeSummary[]> {
    return this.#episodes("top", query);
  }

  bottomEpisodes(query: EpisodeQuery): Promise<EpisodeSummary[]> {
    return this.#episodes("bottom", query);
  }

  oldestEpisodes(query: EpisodeQuery): Promise<EpisodeSummary[]> {
    return this.#episodes("oldest", query);
  }

  async sample({ count, rng, agent }: SampleQuery): Promise<Transition[]> {
    // A stream cannot travel, so one seed is drawn from it; 53 bits of it, as many as a seed has.
    const seed = (rng.uint32() >>> 11) * 2 ** 32 + rng.uint32();
    return decodeTransitions(await this.#bytes("sample", { count: checkedCount(count), seed, agent }));
  }

  async episode(episode: EpisodeId): Promise<TrajectoryRecord[]> {
    return decodeRecords(await this.#bytes("episode", { episode }));
  }

  counts(): Promise<StoreCounts> {
    return this.#json("counts", {}, CountsBody);
  }

  async *scan(): AsyncIterable<readonly TrajectoryRecord[]> {
    const silence = new Silence(this.#timeout);
    const { body } = await this.#call("scan", {}, silence);
    if (body === null) throw this.#gone("it sent nothing");
    const reader = new FrameReader(body.getReader());
    try {
      for (;;) {
        const frame = await silence.during(reader.next()).catch((cause: unknown) => {
          throw this.#gone("it stopped in the middle of a scan", cause);
        });
        if (frame.kind === "end") return;
        if (frame.kind === "failure") throw this.#told(frame.text);
        yield decodeRecords(frame.batch);
      }
    } finally {
      await reader.cancel();
    }
  }

  async forget(episodes: readonly EpisodeId[]): Promise<number> {
    return (await this.#json("forget", { episodes }, ForgetBody)).forgotten;
  }

  async close(): Promise<void> {
    this.#closing.abort();
  }

  #checkOpen(): void {
    if (this.#closing.signal.aborted) throw closedStore();
  }

  async #episodes(order: "top" | "bottom" | "oldest", { count, agent }: EpisodeQuery): Promise<EpisodeSummary[]> {
    const found = await this.#json("episodes", { order, count: checkedCount(count), agent }, SummariesBody);
    return found.map((s) => ({ ...s, startedAt: s.startedAt as Ms, endedAt: s.endedAt as Ms }));
  }

  async #json<T>(call: string, body: Uint8Array<ArrayBuffer> | object, schema: z.ZodType<T>): Promise<T> {
    const response = await this.#call(call, body);
    const answer: unknown = await response.json().catch((cause: unknown) => {
      throw this.#gone("its answer broke off", cause);
    });
    const parsed = schema.safeParse(answer);
    if (parsed.success) return parsed.data;
    throw new CodedError(
      failure(
        "store.protocol",
        `the trajectory store at ${this.#url} answered in an unknown form; use the same version on both ends`,
      ),
    );
  }

  async #bytes(call: string, body: object): Promise<Uint8Array> {
    const response = await this.#call(call, body);
    const data = await response.arrayBuffer().catch((cause: unknown) => {
      throw this.#gone("its answer broke off", cause);
    });
    return new Uint8Array(data);
  }

  /** With a `silence` the time runs for each part of the answer, else for the whole of it. */
  async #call(call: string, body: Uint8Array<ArrayBuffer> | object, silence?: Silence): Promise<Response> {
    this.#checkOpen();
    const isBinary = body instanceof Uint8Array;
    let response: Response;
    try {
      const limit = silence?.signal ?? AbortSignal.timeout(this.#timeout);
      const answer = fetch(`${this.#url}${PREFIX}/${call}`, {
        method: "POST",
        headers: { ...this.#access, [GUARD_HEADER]: "1", "content-type": isBinary ? BINARY : "application/json" },
        body: isBinary ? body : JSON.stringify(body),
        signal: AbortSignal.any([this.#closing.signal, limit]),
      });
      response = await (silence ? silence.during(answer) : answer);
    } catch (cause) {
      this.#checkOpen();
      throw this.#gone("it does not answer", cause);
    }
    if (response.ok) return response;
    throw this.#told(await response.text().catch(() => ""));
  }

  /** The failure that the other end reports. */
  #told(text: string): CodedError {
    try {
      const { code, message, retry } = FailureBody.parse(JSON.parse(text));
      return new CodedError(failure(code, message, { retry }));
    } catch (cause) {
      return this.#gone("something else answers in its place", cause);
    }
  }

  #gone(what: string, cause?: unknown): CodedError {
    return new CodedError(
      failure(
        "store.unavailable",
        `the owner of the trajectory store at ${this.#url} is gone: ${what}; the call can be repeated when it is back`,
        {
          retry: true,
          cause,
        },
      ),
    );
  }
}

/** A scan may take as long as there is data; only the owner's silence, not the reader's, ends it. */
class Silence {
  readonly #limit: Ms;
  readonly #tooLong = new AbortController();

  constructor(limit: Ms) {
    this.#limit = limit;
  }

  get signal(): AbortSignal {
    return this.#tooLong.signal;
  }

  /** Gives up when the answer takes longer than the limit. */
  async during<T>(answer: Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.#tooLong.abort(), this.#limit);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
    }
  }
}

type Frame =
  | { readonly kind: "records"; readonly batch: Uint8Array }
  | { readonly kind: "failure"; readonly text: string }
  | { readonly kind: "end" };

/** Cuts a stream into the frames of a scan, however the network has cut it. */
class FrameReader {
  readonly #source: ReadableStreamDefaultReader<Uint8Array>;
  #buffered = new Uint8Array(0);

  constructor(source: ReadableStreamDefaultReader<Uint8Array>) {
    this.#source = source;
  }

  async next(): Promise<Frame> {
    const head = await this.#take(4);
    const length = new DataView(head.buffer, head.byteOffset, 4).getUint32(0, true);
    if (length === 0) return { kind: "end" };
    if (length !== FAILURE_FRAME) return { kind: "records", batch: await this.#take(length) };
    let text = new TextDecoder().decode(this.#buffered);
    for (let more = await this.#source.read(); !more.done; more = await this.#source.read()) {
      text += new TextDecoder().decode(more.value);
    }
    return { kind: "failure", text };
  }

  cancel(): Promise<void> {
    return this.#source.cancel().catch(() => undefined);
  }

  async #take(length: number): Promise<Uint8Array> {
    if (this.#buffered.byteLength < length) {
      const parts = [this.#buffered];
      let have = this.#buffered.byteLength;
      while (have < length) {
        const { done, value } = await this.#source.read();
        if (done) throw new Error("the stream ended before its closing frame");
        parts.push(new Uint8Array(value));
        have += value.byteLength;
      }
      this.#buffered = new Uint8Array(have);
      let at = 0;
      for (const part of parts) {
        this.#buffered.set(part, at);
        at += part.byteLength;
      }
    }
    const taken = this.#buffered.subarray(0, length);
    this.#buffered = this.#buffered.subarray(length);
    return taken;
  }
}
