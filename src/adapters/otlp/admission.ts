/**
 * From a request's bytes on the network to spans in the sink, for both listeners.
 * Owns: that a sender takes no more than its share of memory and of time: its bytes are held to the budget, its messages
 * are unpacked and decoded one after the other while those of others go between, and one that took long is followed by a
 * pause as long. Not here: sockets (http-receiver.ts, grpc-receiver.ts), formats (intake.ts).
 */
import { setTimeout as after } from "node:timers/promises";
import type { Failure, Result } from "../../base/index.ts";
import { err } from "../../base/index.ts";
import { ByteBudget } from "./byte-budget.ts";
import { readBody, unpackBody } from "./http-body.ts";
import type { SpanFormat, SpanIntake, Taken } from "./intake.ts";

export interface AdmissionOptions {
  readonly intake: SpanIntake;
  /** Of one request, as it comes over the network. */
  readonly maxBodyBytes: number;
  /** Of one request, unpacked. */
  readonly maxInflatedBytes: number;
  /** Of all requests that are being read or unpacked; more are asked to come back. */
  readonly maxHeldBytes: number;
}

export interface Arriving {
  /** Who sends it, as `senderOf` says. */
  readonly sender: string;
  readonly parts: AsyncIterable<Buffer>;
  /** What its sender said of its length. */
  readonly length: string | undefined;
  readonly format: SpanFormat;
  /** The message in the body, and how it is packed. */
  unframe(body: Buffer): Result<{ readonly message: Buffer; readonly encoding: string }>;
}

/** What takes less is not worth a pause. */
const SHORT_MS = 20;

export class Admission {
  readonly #options: AdmissionOptions;
  readonly #budget: ByteBudget;
  readonly #last = new Map<string, Promise<void>>();

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#budget = new ByteBudget(options.maxHeldBytes);
  }

  /** What became of it; every refusal is counted. */
  async take({ sender, parts, length, format, unframe }: Arriving): Promise<Result<Taken>> {
    const { intake, maxBodyBytes, maxInflatedBytes } = this.#options;
    const held = this.#budget.open(sender);
    const refused = (why: Failure): Result<Taken> => err(intake.refuse(why));
    try {
      const body = await readBody(parts, { length, mostBytes: maxBodyBytes, held });
      if (!body.ok) return refused(body.failure);
      const framed = unframe(body.value);
      if (!framed.ok) return refused(framed.failure);
      const { message, encoding } = framed.value;
      return await this.#inTurn(sender, async () => {
        const whole = await unpackBody(message, { encoding, mostBytes: maxInflatedBytes, held });
        return () => (whole.ok ? intake.take(whole.value, format) : refused(whole.failure));
      });
    } finally {
      held.giveBack();
    }
  }

  /** Prepares and decides one message of a sender after the other. */
  async #inTurn<T>(sender: string, prepare: () => Promise<() => T>): Promise<T> {
    const before = this.#last.get(sender);
    let end: () => void = () => undefined;
    const mine = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#last.set(sender, mine);
    await before;
    let tookMs = 0;
    try {
      const decide = await prepare();
      const began = performance.now();
      try {
        return decide();
      } finally {
        tookMs = performance.now() - began;
      }
    } finally {
      // The answer does not wait for the pause, the sender's next message does.
      if (tookMs > SHORT_MS) void after(tookMs, undefined, { ref: false }).then(end);
      else end();
      void mine.then(() => this.#last.get(sender) === mine && this.#last.delete(sender));
    }
  }
}

/**
 * Senders of other machines are told apart by their addresses, so that many connections are no larger share; those of this
 * one by their connections.
 */
export function senderOf(socket: {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}): string {
  const { remoteAddress = "", remotePort = 0 } = socket;
  const isOwn = /^(?:::ffff:)?127\./.test(remoteAddress) || remoteAddress === "::1";
  return isOwn ? `${remoteAddress} ${remotePort}` : remoteAddress;
}
