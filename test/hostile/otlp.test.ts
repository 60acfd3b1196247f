/**
 * Senders who mean harm, at both ports for spans of a running `coxswain up`, with one beside them who does all right.
 * What the good one was told is taken must be there after a kill; the process lives, keeps its memory within bounds, and
 * writes no stack. How many of its messages were acknowledged, how long they took and how much memory it was are printed.
 */
import { Agent } from "node:http";
import { setTimeout as after } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { type Rng, seededRng } from "../../src/base/index.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { SECONDS, SEED } from "./hostile-form.ts";
import { defectsIn, HostileUp, linesOfLevel } from "./hostile-up.ts";
import { MUTATIONS, pick } from "./mutations.ts";
import { jsonOf, protoOf, type Specimen, specimens, strangersSpans } from "./otlp-messages.ts";
import { call, frameOf, GoodSender, headOf, post, sessionTo, socketTo } from "./otlp-senders.ts";

/** As little beside the spans as can be. */
const ARGS = ["--workloads", "1", "--speed", "1", "--application", "none"];
const TYPES = { json: "application/json", proto: "application/x-protobuf" };
/** Two gigabytes stayed where this was broken; the receiver's own budget for bodies is a fraction of this. */
const MOST_GROWTH = 700 * 2 ** 20;
/** A minute was what others waited where this was broken. */
const MOST_P99_MS = 10_000;
/** Some may be asked to come back. */
const LEAST_SHARE = 0.8;
/** Requests of one attacker in a row before it gives the others of this process a turn. */
const BREATH_MS = 2;

interface Listeners {
  readonly http: string;
  readonly grpc: string;
}

class Attack {
  readonly statuses = new Map<string, number>();
  cases = 0;
  readonly #to: Listeners;
  readonly #signal: AbortSignal;
  readonly #specimens: readonly Specimen[];

  constructor(to: Listeners, more: { readonly signal: AbortSignal; readonly specimens: readonly Specimen[] }) {
    this.#to = to;
    this.#signal = more.signal;
    this.#specimens = more.specimens;
  }

  async #until(one: (turn: number) => Promise<string>, { least = 0 } = {}): Promise<void> {
    for (let turn = 0; turn < least || !this.#signal.aborted; turn++) {
      const said = await one(turn);
      this.cases += 1;
      this.statuses.set(said, 1 + (this.statuses.get(said) ?? 0));
      await after(BREATH_MS);
    }
  }

  /** Spoilt before it is packed, behind it, or both. */
  #spoilt(rng: Rng): Specimen {
    const type = pick(rng, ["json", "proto"] as const);
    const isPacked = rng.int(3) === 0;
    const spans = strangersSpans(rng);
    const good = type === "json" ? jsonOf(spans) : protoOf(spans);
    const names = Object.keys(MUTATIONS);
    const name = pick(rng, names);
    const bad = (MUTATIONS[name] ?? (() => good))(good, rng);
    const behind = isPacked && rng.int(3) === 0;
    const body = behind ? (MUTATIONS.bits ?? (() => good))(gzipSync(bad), rng) : isPacked ? gzipSync(bad) : bad;
    return { name, body, type, isPacked };
  }

  async overHttp(rng: Rng): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await this.#until(async () => {
      const { body, type, isPacked } = this.#spoilt(rng);
      const path = pick(rng, ["/v1/traces", "/v1/traces", "/v1/traces", "/api/v2/spans", "/api/traces"]);
      const encoding = isPacked ? { "content-encoding": "gzip" } : {};
      const headers = { "content-type": TYPES[type], ...encoding };
      const { status } = await post({ url: `${this.#to.http}${path}`, body, headers, agent });
      return `HTTP ${status}`;
    });
    agent.destroy();
  }

  async overGrpc(rng: Rng): Promise<void> {
    let session = sessionTo(this.#to.grpc);
    await this.#until(async () => {
      if (session.destroyed || session.closed) session = sessionTo(this.#to.grpc);
      const { body, isPacked } = this.#spoilt(rng);
      const claims = rng.int(4) === 0 ? rng.uint32() : body.length;
      const frame = frameOf(body, { isPacked, claims });
      const bytes = rng.int(4) === 0 ? (MUTATIONS.bits ?? (() => frame))(frame, rng) : frame;
      const { status } = await call(session, bytes, isPacked);
      return `gRPC ${status}`;
    });
    session.destroy();
  }

  /** The ones that cost most, each at least once, over HTTP and then over gRPC where that can be. */
  async dear(rng: Rng): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const each = this.#specimens.flatMap((specimen) =>
      specimen.type === "json" ? [{ specimen, isGrpc: false }] : [true, false].map((isGrpc) => ({ specimen, isGrpc })),
    );
    const send = async (turn: number): Promise<string> => {
      const { specimen, isGrpc } = each[turn % each.length] as (typeof each)[number];
      const { body, type, isPacked } = specimen;
      if (isGrpc) {
        const session = sessionTo(this.#to.grpc);
        const frame = frameOf(body, { isPacked });
        const [answer] = await Promise.all(
          Array.from({ length: 1 + rng.int(4) }, () => call(session, frame, isPacked)),
        );
        session.destroy();
        return `gRPC ${answer?.status}`;
      }
      const encoding = isPacked ? { "content-encoding": "gzip" } : {};
      const headers = { "content-type": TYPES[type], ...encoding };
      const { status } = await post({ url: `${this.#to.http}/v1/traces`, body, headers, agent });
      return `HTTP ${status}`;
    };
    await this.#until(send, { least: each.length });
    agent.destroy();
  }

  /** Uploads that end in the middle, noise instead of a request, and connections that send a byte now and then. */
  async brokenOff(rng: Rng): Promise<void> {
    const slow = Array.from({ length: 60 }, (_, k) =>
      socketTo(k % 2 === 0 ? this.#to.http : this.#to.grpc, k % 4 === 0 ? "" : "POST /v1/traces HTTP/1.1\r\nHost: "),
    );
    await this.#until(async () => {
      const { body, type } = this.#spoilt(rng);
      const isHttp = rng.int(2) === 0;
      const address = isHttp ? this.#to.http : this.#to.grpc;
      const half = body.subarray(0, rng.int(1 + Math.floor(body.length / 2)));
      const head = rng.int(3) === 0 ? "" : headOf(TYPES[type], body.length);
      const socket = socketTo(address, Buffer.concat([Buffer.from(head), half]));
      for (const one of slow) if (!one.destroyed && rng.int(20) === 0) one.write("x");
      await after(rng.int(15));
      if (rng.int(2) === 0) socket.resetAndDestroy();
      else socket.destroy();
      return "broken off";
    });
    for (const one of slow) one.destroy();
  }
}

const quantile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))] ?? 0;
const MiB = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;
const shown = (statuses: ReadonlyMap<string, number>): string =>
  [...statuses].map(([status, count]) => `${status} × ${count}`).join(", ");

test(`nonsense at the ports for spans costs nobody else their spans, ${SECONDS} s long, seed ${SEED}`, {
  timeout: 1_000 * (SECONDS + 240),
}, async () => {
  const folder = temporaryFolder("hostile-otlp");
  const up = new HostileUp(folder, ARGS);
  onTestFinished(() => up.kill());
  const to = await up.listeners();
  const rng = seededRng(SEED);
  const dear = await specimens();

  // Alone first: what it takes without attackers is the measure.
  const alone = new GoodSender(to);
  await alone.go(AbortSignal.timeout(2_000));
  const before = up.memory;
  let most = before;
  const watching = setInterval(() => {
    most = Math.max(most, up.memory);
  }, 100);
  onTestFinished(() => clearInterval(watching));
  const signal = AbortSignal.timeout(1_000 * SECONDS);
  const good = new GoodSender(to);
  // Its ids go on where the first one's ended.
  good.sent = alone.sent;
  const attack = new Attack(to, { signal, specimens: dear });
  const isOver = new AbortController();
  const sending = good.go(isOver.signal);
  const began = performance.now();
  await Promise.all([
    attack.overHttp(rng.fork("http 1")),
    attack.overHttp(rng.fork("http 2")),
    attack.overGrpc(rng.fork("grpc 1")),
    attack.overGrpc(rng.fork("grpc 2")),
    attack.dear(rng.fork("dear")),
    attack.brokenOff(rng.fork("broken off")),
  ]);
  isOver.abort();
  await sending;
  const tookS = Math.round((performance.now() - began) / 1_000);
  const sent = good.sent - alone.sent;
  const share = good.acknowledged.length / sent;
  const p99 = quantile(good.tookMs, 0.99);
  console.log(
    [
      `${attack.cases} hostile cases in ${tookS} s: ${shown(attack.statuses)}`,
      `the sender beside them: ${good.acknowledged.length} of ${sent} acknowledged (${shown(good.statuses)}), ` +
        `p99 ${p99.toFixed(0)} ms, alone ${quantile(alone.tookMs, 0.99).toFixed(0)} ms`,
      `memory: ${MiB(before)} before, ${MiB(most)} at most, ${MiB(up.memory)} at the end`,
    ].join("\n"),
  );
  expect(up.isAlive, up.said).toBe(true);
  expect((await up.get("/livez")).status).toBe(200);
  expect(defectsIn(up.said)).toEqual([]);
  expect(linesOfLevel(up.said, "error")).toEqual([]);
  const isInternal = (status: string): boolean => /^HTTP 500$|^gRPC (?:2|13)$/.test(status);
  expect([...attack.statuses.keys(), ...good.statuses.keys()].filter(isInternal)).toEqual([]);
  expect(share).toBeGreaterThan(LEAST_SHARE);
  expect(p99).toBeLessThan(MOST_P99_MS);
  expect(most - before).toBeLessThan(MOST_GROWTH);

  // Acknowledged a moment ago, some of them: in the journal and not in the store.
  await up.kill();
  const again = new HostileUp(folder, ARGS);
  onTestFinished(() => again.kill());
  const missing = new Set([...alone.acknowledged, ...good.acknowledged]);
  await again.becomes(async () => {
    for (const id of missing) {
      if ((await again.get(`/v1/traces/${id}`)).status !== 200) return false;
      missing.delete(id);
    }
    return true;
  });
  expect([...missing]).toEqual([]);
  expect(defectsIn(again.said)).toEqual([]);
});
