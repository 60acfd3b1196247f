/**
 * Requests on their way through the services, call by call. The heart of the event rung.
 * Owns: sending calls, threads and queues, stages, answers and refusals, clients that give up.
 * Not here: how fast work is done (container.ts), which containers there are (rollout.ts), counting (ledger.ts, spans.ts).
 *
 * A call keeps its thread until it answers, also while it waits for downstream calls. So a slow service fills the pools of
 * those that call it, and blame is not where latency shows first. Clients that give up do not stop the work: nobody tells
 * the services.
 */
import { Deadlines } from "../../cluster/event/deadlines.ts";
import { normalFrom, PURPOSE, sigmaOf, uniform, type WorkSpread, workFactor } from "../../draws.ts";
import type { EventQueue } from "../../engine/index.ts";
import { WORK_BEFORE_STAGES } from "../calibration.ts";
import { disturbanceScale } from "../disturbances.ts";
import type { Program } from "../program.ts";
import { type Container, EVENT } from "./container.ts";
import type { Ledger } from "./ledger.ts";
import { BACKGROUND, CallPool, CLOSING, FAILED, RequestPool } from "./pools.ts";
import type { SpanLog } from "./spans.ts";

export interface FlowState {
  now: number;
  readonly events: EventQueue;
  readonly program: Program;
  readonly containers: Container[];
  /** By service: containers that take calls. */
  readonly ready: Container[][];
}

export interface FlowOptions {
  readonly timeout: number;
  readonly hop: { readonly mean: number; readonly variation: number };
  readonly spread: WorkSpread;
  readonly ledger: Ledger;
  readonly spans: SpanLog;
  /** Called when a container has nothing left to do. */
  readonly onIdle: (container: Container) => void;
}

export class CallFlow {
  readonly calls = new CallPool();
  readonly requests = new RequestPool();
  readonly #state: FlowState;
  readonly #options: FlowOptions;
  readonly #deadlines = new Deadlines();
  readonly #turn: Int32Array;
  readonly #sigmas: Float64Array;
  readonly #hopLeast: number;
  readonly #hopSpan: number;

  constructor(state: FlowState, options: FlowOptions) {
    this.#state = state;
    this.#options = options;
    const { program } = state;
    this.#turn = new Int32Array(program.names.length);
    this.#sigmas = Float64Array.from(program.profiles, ({ variation }) => sigmaOf(variation));
    // Uniform with the mean and the variation asked for.
    const { mean, variation } = options.hop;
    this.#hopLeast = mean * (1 - Math.sqrt(3) * variation);
    this.#hopSpan = 2 * mean * Math.sqrt(3) * variation;
  }

  /** A client's request; its seed decides all that chance decides about it. */
  arrive(type: number, seed: number): void {
    const { requests } = this;
    const { now, program, events } = this.#state;
    const { ledger, spans, timeout } = this.#options;
    const request = requests.take();
    requests.type[request] = type;
    requests.arrivedAt[request] = now;
    requests.seed[request] = seed;
    requests.trace[request] = spans.startTrace(seed);
    ledger.arrived(type);
    const deadlines = this.#deadlines;
    deadlines.add(now + timeout, request, requests.generation[request]!);
    if (deadlines.size === 1) events.schedule(deadlines.firstAt, EVENT.deadline, 0);
    this.#send(program.roots[type]!, -1, request);
  }

  /** Clients whose patience has ended give up; their requests go on in the services all the same. */
  giveUpDue(): void {
    const { requests } = this;
    const { now, events } = this.#state;
    const deadlines = this.#deadlines;
    while (deadlines.size > 0 && deadlines.firstAt <= now) {
      const request = deadlines.firstSlot;
      if (requests.generation[request] === deadlines.firstGeneration && requests.hasEnded[request] === 0) {
        requests.hasEnded[request] = 1;
        this.#options.ledger.timedOut(requests.type[request]!, now, now - requests.arrivedAt[request]!);
      }
      deadlines.dropFirst();
    }
    if (deadlines.size > 0) events.schedule(deadlines.firstAt, EVENT.deadline, 0);
  }

  deliver(call: number): void {
    const { calls } = this;
    const { now, containers } = this.#state;
    const container = containers[calls.container[call]!]!;
    calls.arrivedAt[call] = now;
    if (container.busy < container.threads) this.#begin(container, call);
    else if (container.queue.size < container.queueLimit) container.queue.push(call);
    else this.#refuse(container, call);
    this.#checkIdle(container);
  }

  workDone(container: Container): void {
    container.ticket = 0;
    container.settle(this.#state.now);
    while (container.isNextDone) this.#segmentDone(container, container.running.takeNext());
    container.plan(this.#state.events);
    this.#checkIdle(container);
  }

  /** An answer has come back to who waits for it. */
  returned(call: number): void {
    const { calls } = this;
    const parent = calls.parent[call]!;
    const flags = calls.flags[call]!;
    const hasFailed = (flags & FAILED) !== 0;
    const request = calls.request[call]!;
    calls.giveBack(call);
    if (parent < 0 && (flags & BACKGROUND) === 0) this.#endRequest(request, hasFailed);
    this.requests.release(request);
    if (parent < 0) return;
    if (hasFailed) calls.flags[parent]! |= FAILED;
    if (--calls.pending[parent]! > 0) return;
    const container = this.#state.containers[calls.container[parent]!]!;
    if ((calls.flags[parent]! & FAILED) !== 0) this.#answer(container, parent);
    else this.#nextStage(container, parent);
    this.#checkIdle(container);
  }

  #send(node: number, parent: number, request: number): number {
    const { calls, requests } = this;
    const { program, ready, now, events } = this.#state;
    const service = program.service[node]!;
    const call = calls.take();
    calls.node[call] = node;
    calls.parent[call] = parent;
    calls.request[call] = request;
    calls.stage[call] = program.firstStage[node]!;
    calls.pending[call] = 0;
    calls.flags[call] = 0;
    calls.span[call] = requests.trace[request]! > 0 ? this.#options.spans.nextId() : 0;
    calls.parentSpan[call] = parent >= 0 ? calls.span[parent]! : 0;
    requests.calls[request]! += 1;
    const choices = ready[service]!;
    const from = parent >= 0 ? this.#state.containers[calls.container[parent]!]!.delay : 0;
    if (choices.length === 0) {
      calls.container[call] = -1;
      calls.flags[call] = FAILED;
      this.#options.ledger.refused(service, now);
      events.schedule(now + this.#hop(call, PURPOSE.back, from), EVENT.returned, call);
      return call;
    }
    const turn = this.#turn[service]!;
    const container = choices[turn < choices.length ? turn : 0]!;
    this.#turn[service] = turn + 1 < choices.length ? turn + 1 : 0;
    calls.container[call] = container.index;
    container.held++;
    events.schedule(now + this.#hop(call, PURPOSE.there, from + container.delay), EVENT.deliver, call);
    return call;
  }

  #begin(container: Container, call: number): void {
    const { calls, requests } = this;
    const { program, now, events } = this.#state;
    const node = calls.node[call]!;
    const service = container.service;
    container.busy++;
    container.settle(now);
    const seed = requests.seed[calls.request[call]!]!;
    const factor = workFactor({ seed, call: node, sigma: this.#sigmas[service]! }, this.#options.spread);
    let work = program.work[service]! * program.size[node]! * factor;
    if (calls.span[call]! > 0) work += this.#options.spans.overhead;
    const hasMore =
      program.firstStage[node]! < program.firstStage[node + 1]! ||
      program.firstBackground[node]! < program.firstBackground[node + 1]!;
    const first = hasMore ? work * WORK_BEFORE_STAGES : work;
    calls.rest[call] = work - first;
    container.running.add(container.clock.virtual + first, call);
    container.plan(events);
  }

  #segmentDone(container: Container, call: number): void {
    const { calls } = this;
    const { program } = this.#state;
    if ((calls.flags[call]! & CLOSING) !== 0) {
      this.#answer(container, call);
      return;
    }
    const node = calls.node[call]!;
    const request = calls.request[call]!;
    for (let i = program.firstBackground[node]!; i < program.firstBackground[node + 1]!; i++) {
      const sent = this.#send(program.background[i]!, call, request);
      // Nobody waits for it: it forgets who sent it, and its span remembers.
      calls.parent[sent] = -1;
      calls.flags[sent]! |= BACKGROUND;
    }
    this.#nextStage(container, call);
  }

  #nextStage(container: Container, call: number): void {
    const { calls } = this;
    const { program, now, events } = this.#state;
    const node = calls.node[call]!;
    const request = calls.request[call]!;
    const end = program.firstStage[node + 1]!;
    for (let stage = calls.stage[call]!; stage < end; stage++) {
      let pending = 0;
      for (let i = program.firstStaged[stage]!; i < program.firstStaged[stage + 1]!; i++) {
        const child = program.staged[i]!;
        const chance = program.chance[child]!;
        if (chance < 1 && uniform(this.requests.seed[request]!, child, PURPOSE.chance) >= chance) continue;
        pending++;
        this.#send(child, call, request);
      }
      if (pending === 0) continue;
      calls.stage[call] = stage + 1;
      calls.pending[call] = pending;
      return;
    }
    calls.stage[call] = end;
    const rest = calls.rest[call]!;
    if (rest <= 0) {
      this.#answer(container, call);
      return;
    }
    calls.flags[call]! |= CLOSING;
    container.settle(now);
    container.running.add(container.clock.virtual + rest, call);
    container.plan(events);
  }

  #answer(container: Container, call: number): void {
    const { calls } = this;
    const { now } = this.#state;
    const { ledger, spans } = this.#options;
    const flags = calls.flags[call]!;
    container.busy--;
    container.held--;
    if ((flags & FAILED) !== 0) ledger.refused(container.service, now);
    else ledger.answered(container.service, now, now - calls.arrivedAt[call]!);
    if (calls.span[call]! > 0) spans.record(this, call, container);
    if (container.queue.size > 0) this.#begin(container, container.queue.shift());
    this.#respond(container, call);
  }

  #refuse(container: Container, call: number): void {
    container.held--;
    this.calls.flags[call]! |= FAILED;
    this.#options.ledger.refused(container.service, this.#state.now);
    this.#respond(container, call);
  }

  #respond(container: Container, call: number): void {
    const { calls } = this;
    if ((calls.flags[call]! & BACKGROUND) !== 0) {
      this.requests.release(calls.request[call]!);
      calls.giveBack(call);
      return;
    }
    const parent = calls.parent[call]!;
    const to = parent >= 0 ? this.#state.containers[calls.container[parent]!]!.delay : 0;
    const { now, events } = this.#state;
    events.schedule(now + this.#hop(call, PURPOSE.back, container.delay + to), EVENT.returned, call);
  }

  #endRequest(request: number, hasFailed: boolean): void {
    const { requests } = this;
    if (requests.hasEnded[request] !== 0) return;
    requests.hasEnded[request] = 1;
    const { now } = this.#state;
    const type = requests.type[request]!;
    if (hasFailed) this.#options.ledger.dropped(type, now);
    else this.#options.ledger.completed(type, now, now - requests.arrivedAt[request]!);
  }

  /** One way, with what an injected delay adds. */
  #hop(call: number, purpose: number, delay: number): number {
    const node = this.calls.node[call]!;
    const seed = this.requests.seed[this.calls.request[call]!]!;
    const way = this.#hopLeast + this.#hopSpan * (this.#hopSpan > 0 ? uniform(seed, node, purpose) : 0);
    if (delay <= 0) return way;
    const u = uniform(seed, node, PURPOSE.delay + 8 * purpose);
    const normal = normalFrom(u, uniform(seed, node, PURPOSE.delay + 8 * purpose + 4));
    return way + Math.max(0, delay * (1 + disturbanceScale.delayVariation * normal));
  }

  #checkIdle(container: Container): void {
    if (container.isDraining && container.held === 0) this.#options.onIdle(container);
  }
}
