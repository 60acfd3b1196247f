/**
 * What happens to requests: from the client through the balancer, a pod's queue and its phases, to an ending.
 * Owns: every movement of a request, so that each ends exactly once: answered, timed out, dropped or lost.
 * Not here: pods' lives (rollout.ts, which is told when a pod is out of memory or has run empty).
 *
 * This is the hot path: no objects and no closures per request, columns of typed arrays throughout.
 */

import { mechanics } from "../mechanics.ts";
import { ENDING } from "../metrics/outcomes.ts";
import { sampleRequest } from "../workloads/index.ts";
import { type ClusterState, EVENT } from "./cluster-state.ts";
import type { Deployment, Pod } from "./deployment.ts";
import type { Program } from "./program.ts";
import { NOBODY, STATE } from "./request-pool.ts";

/** Least connections of two drawn at random is what balancers that do not see each other come to; or any, at random. */
export type Balancing = "two-choices" | "random";

/** Told by the flow, done by the rollout. */
export interface PodWatch {
  /** Requests and base exceed the limit. */
  outOfMemory(pod: Pod): void;
  /** The last request of a pod that is stopping has left. */
  ranEmpty(pod: Pod): void;
}

export class RequestFlow {
  readonly #state: ClusterState;
  readonly #balancing: Balancing;
  readonly #watch: PodWatch;
  #drawn: Float64Array;

  constructor(state: ClusterState, options: { balancing: Balancing; watch: PodWatch }) {
    this.#state = state;
    this.#balancing = options.balancing;
    this.#watch = options.watch;
    this.#drawn = new Float64Array(state.requests.stride);
  }

  /** Room for requests of an application with more phases. */
  widen(stride: number): void {
    this.#state.requests.widen(stride);
    this.#drawn = new Float64Array(this.#state.requests.stride);
  }

  /** A client asks. Its work is drawn here, from a stream that nothing else draws from: the same for every controller. */
  arrive(deployment: Deployment): void {
    const { requests, now } = this.#state;
    const slot = requests.take();
    const drawn = this.#drawn;
    requests.size[slot] = sampleRequest(deployment.program.application, deployment.streams.work, drawn);
    const first = slot * requests.stride;
    const length = 2 * deployment.program.phases;
    const work = requests.work;
    for (let i = 0; i < length; i++) work[first + i] = drawn[i]!;
    requests.workload[slot] = deployment.index;
    requests.program[slot] = deployment.programs.length - 1;
    requests.tries[slot] = 0;
    requests.firstAt[slot] = now;
    deployment.arrived++;
    this.#attempt(slot, deployment);
  }

  retry(slot: number): void {
    this.#attempt(slot, this.#deploymentOf(slot));
  }

  /** The next end of a CPU phase in a pod has come. */
  cpuDone(pod: Pod): void {
    const { requests, now } = this.#state;
    const { cpu, running } = pod;
    const end = running.nextEnd;
    cpu.advance(now);
    // The closed forms round; what was promised for this moment is done at this moment.
    if (cpu.virtual < end) cpu.virtual = end;
    const slot = running.takeNext();
    const program = pod.deployment.programs[requests.program[slot]!]!;
    const phase = requests.phase[slot]!;
    cpu.demand = running.size === 0 ? 0 : cpu.demand - program.widths[phase]!;
    const wait = requests.work[slot * requests.stride + 2 * phase + 1]!;
    if (wait > 0) this.#wait(slot, wait);
    else this.#nextPhase(slot, pod, program);
    this.#plan(pod);
  }

  waitDone(slot: number): void {
    const { requests, pods } = this.#state;
    const pod = pods[requests.pod[slot]!]!;
    const program = pod.deployment.programs[requests.program[slot]!]!;
    this.#nextPhase(slot, pod, program);
    this.#plan(pod);
  }

  /** Clients whose time is over give up; the next look is when the first of the others will. */
  giveUpDue(deployment: Deployment): void {
    const { requests, queue, now } = this.#state;
    const { deadlines } = deployment;
    while (deadlines.size > 0) {
      const slot = deadlines.firstSlot;
      const isOld = requests.generation[slot] !== deadlines.firstGeneration;
      if (!isOld && deadlines.firstAt > now) break;
      deadlines.dropFirst();
      if (!isOld) this.#giveUp(slot, deployment);
    }
    deployment.deadlineTicket =
      deadlines.size > 0 ? queue.schedule(deadlines.firstAt, EVENT.deadline, deployment.index) : 0;
  }

  /** Everything in a pod is lost, at once. */
  loseAll(pod: Pod): void {
    const { requests, queue, now } = this.#state;
    const { deployment } = pod;
    for (let slot = 0; slot < requests.capacity; slot++) {
      const state = requests.state[slot]!;
      if (state === STATE.free || state === STATE.backoff || requests.pod[slot] !== pod.index) continue;
      if (state === STATE.waiting) queue.cancel(requests.ticket[slot]!);
      if (requests.hasClient[slot] === 1) {
        deployment.lost++;
        deployment.failedAttempts++;
        deployment.outcomes.add(now, now - requests.firstAt[slot]!, ENDING.unanswered);
      }
      requests.release(slot);
    }
    pod.cpu.advance(now);
    pod.cpu.clear();
    pod.running.clear();
    pod.inService = 0;
    pod.queued = 0;
    pod.firstQueued = NOBODY;
    pod.lastQueued = NOBODY;
    pod.requestMemory = 0;
    this.#plan(pod);
  }

  /** After a pod's size, threads or cores changed: when its next phase ends is another moment now. */
  refresh(pod: Pod): void {
    this.#serveQueued(pod);
    this.#plan(pod);
  }

  #deploymentOf(slot: number): Deployment {
    return this.#state.deployments[this.#state.requests.workload[slot]!]!;
  }

  #attempt(slot: number, deployment: Deployment): void {
    const { requests, queue, now } = this.#state;
    requests.attemptAt[slot] = now;
    requests.hasClient[slot] = 1;
    deployment.attempts++;
    const pod = this.#choose(deployment);
    const program = deployment.programs[requests.program[slot]!]!;
    if (pod === undefined) {
      this.#refuse(slot, deployment, program);
      return;
    }
    const { threads, queue: queueLimit } = deployment.program;
    const isServed = pod.inService < threads;
    if (!isServed && pod.queued >= queueLimit) {
      this.#refuse(slot, deployment, program);
      return;
    }
    requests.pod[slot] = pod.index;
    requests.state[slot] = STATE.queued;
    deployment.deadlines.add(now + program.timeout, slot, requests.generation[slot]!);
    if (deployment.deadlineTicket === 0)
      deployment.deadlineTicket = queue.schedule(deployment.deadlines.firstAt, EVENT.deadline, deployment.index);
    if (!isServed) this.#enqueue(slot, pod);
    pod.requestMemory += program.perRequest * requests.size[slot]!;
    if (pod.exceedsMemory(deployment.program)) {
      this.#watch.outOfMemory(pod);
      return;
    }
    deployment.countMemory(pod, now);
    if (!isServed) return;
    this.#serve(slot, pod, program);
    this.#plan(pod);
  }

  #choose({ ready, streams }: Deployment): Pod | undefined {
    const count = ready.length;
    if (count < 2) return ready[0];
    const draw = streams.balance.uint32();
    const first = ((draw >>> 16) * count) >>> 16;
    if (this.#balancing === "random") return ready[first];
    const skip = ((draw & 0xffff) * (count - 1)) >>> 16;
    const one = ready[first]!;
    const other = ready[skip >= first ? skip + 1 : skip]!;
    return other.connections < one.connections ? other : one;
  }

  #refuse(slot: number, deployment: Deployment, program: Program): void {
    const { requests, now } = this.#state;
    deployment.failedAttempts++;
    if (requests.tries[slot]! < program.retries) {
      this.#backOff(slot, deployment);
      return;
    }
    deployment.dropped++;
    deployment.outcomes.add(now, now - requests.firstAt[slot]!, ENDING.unanswered);
    requests.release(slot);
  }

  #backOff(slot: number, deployment: Deployment): void {
    const { requests, queue, now } = this.#state;
    const { first, most } = mechanics.retryBackoff;
    const longest = Math.min(first * 2 ** requests.tries[slot]!, most);
    requests.state[slot] = STATE.backoff;
    requests.hasClient[slot] = 1;
    requests.tries[slot]! += 1;
    queue.schedule(now + deployment.streams.clients.next() * longest, EVENT.retry, slot);
  }

  #giveUp(slot: number, deployment: Deployment): void {
    const { requests, pods, now } = this.#state;
    const program = deployment.programs[requests.program[slot]!]!;
    const triesAgain = requests.tries[slot]! < program.retries;
    deployment.failedAttempts++;
    const waited = now - (triesAgain ? requests.attemptAt[slot]! : requests.firstAt[slot]!);
    deployment.outcomes.add(now, waited, triesAgain ? ENDING.attemptTimedOut : ENDING.timedOut);
    if (!triesAgain) deployment.timedOut++;
    if (requests.state[slot] === STATE.queued) {
      const pod = pods[requests.pod[slot]!]!;
      this.#unqueue(slot, pod);
      this.#leave(slot, pod, program);
      if (triesAgain) this.#backOff(slot, deployment);
      else requests.release(slot);
    } else {
      // A pod does not learn that nobody waits for the answer: it works on.
      requests.hasClient[slot] = 0;
      if (triesAgain) this.#backOff(requests.takeCopy(slot), deployment);
    }
  }

  #serve(slot: number, pod: Pod, program: Program): void {
    pod.inService++;
    this.#state.requests.phase[slot] = -1;
    this.#nextPhase(slot, pod, program);
  }

  /** To the next phase that has work, or to the end. The caller plans the pod anew. */
  #nextPhase(slot: number, pod: Pod, program: Program): void {
    const { requests, now } = this.#state;
    const size = requests.size[slot]!;
    for (let phase = requests.phase[slot]! + 1; phase < program.phases; phase++) {
      pod.io += program.io[phase]! * size;
      pod.network += program.network[phase]! * size;
      requests.phase[slot] = phase;
      const place = slot * requests.stride + 2 * phase;
      const work = requests.work[place]!;
      if (work > 0) {
        const { cpu } = pod;
        const width = program.widths[phase]!;
        cpu.advance(now);
        cpu.demand += width;
        requests.state[slot] = STATE.running;
        pod.running.add(cpu.virtual + (work * pod.slowness(program, now)) / (width * pod.speed), slot);
        return;
      }
      const wait = requests.work[place + 1]!;
      if (wait > 0) {
        this.#wait(slot, wait);
        return;
      }
    }
    this.#finish(slot, pod, program);
  }

  #wait(slot: number, wait: number): void {
    const { requests, queue, now } = this.#state;
    requests.state[slot] = STATE.waiting;
    requests.ticket[slot] = queue.schedule(now + wait, EVENT.waitDone, slot);
  }

  #finish(slot: number, pod: Pod, program: Program): void {
    const { requests, now } = this.#state;
    const { deployment } = pod;
    if (requests.hasClient[slot] === 1) {
      deployment.completed++;
      deployment.outcomes.add(now, now - requests.firstAt[slot]!, ENDING.answered);
    }
    pod.inService--;
    this.#leave(slot, pod, program);
    requests.release(slot);
    this.#serveQueued(pod);
    if (pod.stage === "stopping" && pod.connections === 0) this.#watch.ranEmpty(pod);
  }

  #serveQueued(pod: Pod): void {
    const { requests } = this.#state;
    const { threads } = pod.deployment.program;
    while (pod.queued > 0 && pod.inService < threads) {
      const slot = pod.firstQueued;
      this.#unqueue(slot, pod);
      this.#serve(slot, pod, pod.deployment.programs[requests.program[slot]!]!);
    }
  }

  /** Its memory goes with a request. */
  #leave(slot: number, pod: Pod, program: Program): void {
    pod.requestMemory -= program.perRequest * this.#state.requests.size[slot]!;
    // Sums of what came and went drift; an empty pod is exactly empty.
    if (pod.connections === 0 || pod.requestMemory < 0) pod.requestMemory = 0;
    pod.deployment.countMemory(pod, this.#state.now);
  }

  #enqueue(slot: number, pod: Pod): void {
    const { requests } = this.#state;
    requests.before[slot] = pod.lastQueued;
    requests.behind[slot] = NOBODY;
    if (pod.lastQueued === NOBODY) pod.firstQueued = slot;
    else requests.behind[pod.lastQueued] = slot;
    pod.lastQueued = slot;
    pod.queued++;
  }

  #unqueue(slot: number, pod: Pod): void {
    const { requests } = this.#state;
    const before = requests.before[slot]!;
    const behind = requests.behind[slot]!;
    if (before === NOBODY) pod.firstQueued = behind;
    else requests.behind[before] = behind;
    if (behind === NOBODY) pod.lastQueued = before;
    else requests.before[behind] = before;
    pod.queued--;
  }

  /** Keeps the one event per pod that says when its next CPU phase ends. */
  #plan(pod: Pod): void {
    const { queue, now } = this.#state;
    if (pod.running.size === 0) {
      if (pod.cpuTicket !== 0) queue.cancel(pod.cpuTicket);
      pod.cpuTicket = 0;
      return;
    }
    let at = pod.cpu.timeOf(pod.running.nextEnd);
    if (at < now) at = now;
    if (!queue.move(pod.cpuTicket, at)) pod.cpuTicket = queue.schedule(at, EVENT.cpuDone, pod.index);
  }
}
