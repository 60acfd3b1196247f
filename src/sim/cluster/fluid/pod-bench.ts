/**
 * A few equal pods under a constant load, request by request: where the fluid rung's tables come from.
 * Owns: the mechanics of a pod in one steady condition (threads, queue, CPU quota per period, waits, client timeouts) and
 * the balancing between pods, without an event queue: pods meet only at arrivals, so each is advanced when it is chosen.
 * Not here: what is kept of a run (cell.ts), which conditions are run (response-table.ts), anything that changes
 * while it runs: starts, kills, resizes (those are the world's, world.ts).
 */
import type { Rng } from "../../../base/index.ts";
import type { Application } from "../workloads/application.ts";

export interface BenchConditions {
  readonly application: Application;
  /** CPU limit of each pod, in cores. */
  readonly quota: number;
  /** Core-milliseconds of the reference processor done in a millisecond by one core. */
  readonly speed: number;
  /** Cores that one pod's threads can keep busy at once. */
  readonly cores: number;
  readonly pods: number;
  /** Milliseconds of a quota period. */
  readonly period: number;
}

/** What the bench tells of each request, and of the pods as they are when one arrives. */
export interface BenchWatch {
  /** Done after so long, whether or not the client still waits. */
  done(latency: number): void;
  /** Left the queue because its client gave up. */
  gaveUp(): void;
  refused(): void;
  /** In the pod that took a request of size `own`: the sum of all sizes, its own included. */
  admitted(sizes: number, own: number): void;
}

const NEVER = Number.POSITIVE_INFINITY;
// A nanosecond: shorter than any phase, and longer than what rounding leaves of a moment some hours into a run.
const SLIVER = 1e-6;

/** Draws one request: [cpu0, wait0, cpu1, wait1, …] in milliseconds on the reference processor; answers its size. */
export type DrawRequest = (into: Float64Array) => number;

export class PodBench {
  readonly #pods: BenchPod[];
  readonly #rng: Rng;

  constructor(conditions: BenchConditions, { rng, draw, watch }: { rng: Rng; draw: DrawRequest; watch: BenchWatch }) {
    this.#rng = rng;
    this.#pods = Array.from({ length: conditions.pods }, () => {
      return new BenchPod(conditions, { draw, watch, phase: rng.next() * conditions.period });
    });
  }

  /** One request comes at a moment not before the last one. */
  arrive(at: number): void {
    this.#choose(at).arrive(at);
  }

  /** Lets every pod be full at a moment: overload settles from above much sooner than from below. */
  fill(at: number): void {
    for (const pod of this.#pods) pod.fill(at);
  }

  finish(at: number): void {
    for (const pod of this.#pods) pod.advance(at);
  }

  /** Requests in the pods and core-milliseconds burnt, in total over time. */
  totals(): { requestMs: number; sizeMs: number; burnt: number } {
    const sum = { requestMs: 0, sizeMs: 0, burnt: 0 };
    for (const pod of this.#pods) {
      sum.requestMs += pod.requestMs;
      sum.sizeMs += pod.sizeMs;
      sum.burnt += pod.burnt;
    }
    return sum;
  }

  /** The less busy of two pods drawn at random, as the balancer does it. */
  #choose(at: number): BenchPod {
    const count = this.#pods.length;
    const one = this.#pods[count === 1 ? 0 : this.#rng.int(count)] as BenchPod;
    one.advance(at);
    if (count === 1) return one;
    const skip = this.#rng.int(count - 1);
    const first = this.#pods.indexOf(one);
    const other = this.#pods[skip >= first ? skip + 1 : skip] as BenchPod;
    other.advance(at);
    return other.inside < one.inside ? other : one;
  }
}

class BenchPod {
  inside = 0;
  requestMs = 0;
  sizeMs = 0;
  burnt = 0;

  readonly #draw: DrawRequest;
  readonly #watch: BenchWatch;
  readonly #phases: number;
  readonly #widths: Float64Array;
  readonly #quota: number;
  readonly #period: number;
  readonly #cores: number;
  readonly #speed: number;
  readonly #timeout: number;
  readonly #threads: number;
  readonly #limit: number;

  // Requests in service, packed at the front: work of each as drawn, the phase it is in, what is left of it.
  readonly #work: Float64Array;
  readonly #phaseOf: Int32Array;
  /** Milliseconds of CPU time left at full width; NaN-free: zero while waiting. */
  readonly #left: Float64Array;
  /** When a wait ends; NEVER while on the CPU. */
  readonly #until: Float64Array;
  readonly #came: Float64Array;
  readonly #size: Float64Array;
  #serving = 0;

  // Requests that wait for a thread: a ring.
  readonly #queuedCame: Float64Array;
  readonly #queuedSize: Float64Array;
  readonly #queuedWork: Float64Array;
  #head = 0;
  #queued = 0;

  readonly #fresh: Float64Array;
  #sizes = 0;
  #now = 0;
  #periodEnd: number;
  #quotaLeft: number;

  constructor(
    { application, quota, speed, cores, period }: BenchConditions,
    { draw, watch, phase }: { draw: DrawRequest; watch: BenchWatch; phase: number },
  ) {
    this.#draw = draw;
    this.#watch = watch;
    this.#phases = application.phases.length;
    this.#widths = Float64Array.from(application.phases, ({ width }) => width);
    this.#quota = quota * period;
    this.#period = period;
    this.#cores = Math.min(cores, application.threads);
    this.#speed = speed;
    this.#timeout = application.timeout;
    this.#threads = application.threads;
    this.#limit = application.queue;
    const width = 2 * this.#phases;
    this.#work = new Float64Array(application.threads * width);
    this.#phaseOf = new Int32Array(application.threads);
    this.#left = new Float64Array(application.threads);
    this.#until = new Float64Array(application.threads);
    this.#came = new Float64Array(application.threads);
    this.#size = new Float64Array(application.threads);
    const room = Math.max(1, application.queue);
    this.#queuedCame = new Float64Array(room);
    this.#queuedSize = new Float64Array(room);
    this.#queuedWork = new Float64Array(room * width);
    this.#fresh = new Float64Array(width);
    this.#periodEnd = phase;
    this.#quotaLeft = this.#quota;
  }

  arrive(at: number): void {
    const size = this.#draw(this.#fresh);
    this.#admit(at, size);
  }

  fill(at: number): void {
    this.advance(at);
    while (this.inside < this.#threads + this.#limit) this.arrive(at);
  }

  #admit(at: number, size: number): void {
    if (this.#serving < this.#threads) this.#serve(this.#fresh, { at, came: at, size });
    else if (this.#queued < this.#limit) this.#enqueue(at, size);
    else {
      this.#watch.refused();
      return;
    }
    this.inside++;
    this.#sizes += size;
    this.#watch.admitted(this.#sizes, size);
  }

  #enqueue(came: number, size: number): void {
    const at = (this.#head + this.#queued) % this.#queuedCame.length;
    this.#queuedCame[at] = came;
    this.#queuedSize[at] = size;
    this.#queuedWork.set(this.#fresh, at * 2 * this.#phases);
    this.#queued++;
  }

  #serve(work: Float64Array, { at, came, size }: { at: number; came: number; size: number }): void {
    const slot = this.#serving++;
    this.#work.set(work, slot * 2 * this.#phases);
    this.#came[slot] = came;
    this.#size[slot] = size;
    this.#begin(slot, { phase: 0, at });
  }

  /** Puts a request at the start of a phase; false when there is none and it is done. */
  #begin(slot: number, { phase, at }: { phase: number; at: number }): boolean {
    for (let p = phase; p < this.#phases; p++) {
      this.#phaseOf[slot] = p;
      const cpu = this.#work[slot * 2 * this.#phases + 2 * p]!;
      this.#left[slot] = cpu / (this.#speed * this.#widths[p]!);
      this.#until[slot] = NEVER;
      if (this.#left[slot]! > SLIVER) return true;
      if (this.#await(slot, at)) return true;
    }
    return false;
  }

  /** Starts the wait that ends a phase; false when there is none. */
  #await(slot: number, at: number): boolean {
    const wait = this.#work[slot * 2 * this.#phases + 2 * this.#phaseOf[slot]! + 1]!;
    this.#left[slot] = 0;
    this.#until[slot] = at + wait;
    return wait > SLIVER;
  }

  /** Runs until a moment. Between its own events nothing in the pod changes but what is left. */
  advance(to: number): void {
    while (this.#now < to) {
      if (this.#serving === 0) {
        this.#now = to;
        break;
      }
      if (this.#periodEnd <= this.#now) {
        const missed = Math.floor((this.#now - this.#periodEnd) / this.#period) + 1;
        this.#periodEnd += missed * this.#period;
        this.#quotaLeft = this.#quota;
      }
      this.#step(to);
    }
    this.#expire();
  }

  #step(to: number): void {
    const left = this.#left;
    const until = this.#until;
    const serving = this.#serving;
    let width = 0;
    let shortest = NEVER;
    let next = Math.min(to, this.#periodEnd);
    for (let i = 0; i < serving; i++) {
      const rest = left[i]!;
      if (rest > 0) {
        width += this.#widths[this.#phaseOf[i]!]!;
        if (rest < shortest) shortest = rest;
      } else if (until[i]! < next) next = until[i]!;
    }
    const isThrottled = this.#quotaLeft <= SLIVER;
    let pace = 0;
    if (!isThrottled && width > 0) {
      pace = width > this.#cores ? this.#cores / width : 1;
      next = Math.min(next, this.#now + shortest / pace, this.#now + this.#quotaLeft / (width * pace));
    }
    const spent = Math.max(0, next - this.#now);
    this.requestMs += this.inside * spent;
    this.sizeMs += this.#sizes * spent;
    this.#now = next;
    const progress = pace * spent;
    if (progress > 0) {
      this.#quotaLeft -= progress * width;
      this.burnt += progress * width;
      for (let i = 0; i < serving; i++) {
        if (left[i]! > 0) left[i] = Math.max(0, left[i]! - progress);
      }
    }
    this.#settle(serving);
  }

  /** Moves every request that has reached the end of its phase; from the back, since the done ones are taken out. */
  #settle(serving: number): void {
    const now = this.#now;
    for (let i = serving - 1; i >= 0; i--) {
      if (this.#left[i]! > SLIVER) continue;
      const ends = this.#until[i]!;
      let isOn: boolean;
      if (ends === NEVER) isOn = this.#await(i, now) || this.#begin(i, { phase: this.#phaseOf[i]! + 1, at: now });
      else if (ends > now + SLIVER) continue;
      else isOn = this.#begin(i, { phase: this.#phaseOf[i]! + 1, at: now });
      if (!isOn) this.#leave(i);
    }
  }

  #leave(slot: number): void {
    this.#watch.done(this.#now - this.#came[slot]!);
    this.inside--;
    this.#sizes -= this.#size[slot]!;
    const last = --this.#serving;
    if (slot !== last) {
      const width = 2 * this.#phases;
      this.#work.copyWithin(slot * width, last * width, (last + 1) * width);
      this.#phaseOf[slot] = this.#phaseOf[last]!;
      this.#left[slot] = this.#left[last]!;
      this.#until[slot] = this.#until[last]!;
      this.#came[slot] = this.#came[last]!;
      this.#size[slot] = this.#size[last]!;
    }
    this.#takeNext();
  }

  #takeNext(): void {
    this.#expire();
    if (this.#queued === 0) return;
    const at = this.#unqueue();
    const width = 2 * this.#phases;
    const work = this.#queuedWork.subarray(at * width, (at + 1) * width);
    this.#serve(work, { at: this.#now, came: this.#queuedCame[at]!, size: this.#queuedSize[at]! });
  }

  /** Clients in the queue that gave up leave it and cost no work. All wait equally long, so they stand at its head. */
  #expire(): void {
    while (this.#queued > 0 && this.#now - this.#queuedCame[this.#head]! >= this.#timeout) {
      const at = this.#unqueue();
      this.inside--;
      this.#sizes -= this.#queuedSize[at]!;
      this.#watch.gaveUp();
    }
  }

  #unqueue(): number {
    const at = this.#head;
    this.#head = (at + 1) % this.#queuedCame.length;
    this.#queued--;
    return at;
  }
}
