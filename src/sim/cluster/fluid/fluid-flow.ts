/**
 * What happens to a workload's requests between two moments, all of them together.
 * Owns: dividing arrivals between groups of pods, clients who try again, kills, drains, and the totals that metrics and
 * truth are read from. Not here: what one group does (pod-group.ts), pods' lives (event/rollout.ts).
 */
import type { Rng } from "../../../base/index.ts";
import type { Deployment, Pod } from "../event/deployment.ts";
import type { PodWatch } from "../event/request-flow.ts";
import { mechanics } from "../mechanics.ts";
import { type NodeSpec, processorOf } from "../processors.ts";
import type { Application } from "../workloads/application.ts";
import type { Load } from "../workloads/load.ts";
import type { LatencyWindow } from "./latency-window.ts";
import { PodGroup } from "./pod-group.ts";
import { type ResponseTable, responseTable } from "./response-table.ts";
import { SlotArrivals } from "./slot-arrivals.ts";

/** A step is cut where more kills than this are to be expected in it, but not below half a second. */
const KILLS_PER_STEP = 0.5;
const SHORTEST_STEP = 500;
/** How often a step is tried with what failed in it before it is taken as it is. */
const MOST_ROUNDS = 3;

export class FluidFlow {
  readonly #deployment: Deployment;
  readonly #window: LatencyWindow;
  readonly #watch: PodWatch;
  readonly #start: number;
  readonly #chance: Rng;
  #load: Load;
  #slots: SlotArrivals;
  #now = 0;

  readonly #groups: PodGroup[] = [];
  #used = 0;
  /** Clients who will try again: at place k those whose next attempt is their k-th retry. */
  readonly #again: number[] = [];
  /** Attempts of the step by how often their clients have tried before; and what becomes of them. */
  readonly #attempts: number[] = [];
  readonly #sums = { all: 0, refused: 0, timedOut: 0, completed: 0 };
  /** Share of the attempts that failed, in the last step. */
  #failedShare = 0;
  /** Totals since the beginning; the deployment's are these in whole numbers. */
  readonly #total = { arrived: 0, attempts: 0, failed: 0, completed: 0, timedOut: 0, dropped: 0, lost: 0 };
  /** What the current step adds to the window, besides answers. */
  readonly #ending = { late: 0, unanswered: 0, luck: 0, timeout: 0 };
  /** Kills to be expected in the last step, and per millisecond of it; how long requests stayed. */
  #kills = 0;
  #killRate = 0;
  #stay = 0;

  #application: Application | undefined;
  readonly #tables = new Map<NodeSpec | undefined, ResponseTable>();

  constructor(
    deployment: Deployment,
    { window, watch, start }: { window: LatencyWindow; watch: PodWatch; start: number },
  ) {
    this.#deployment = deployment;
    this.#window = window;
    this.#watch = watch;
    this.#start = start;
    this.#chance = deployment.streams.clients.fork("fluid");
    this.#load = deployment.spec.load;
    this.#slots = this.#drawSlots(0);
  }

  get now(): number {
    return this.#now;
  }

  /** Requests that have come and have no ending yet, in whole numbers as the totals are. */
  get inFlight(): number {
    const { arrived, completed, timedOut, dropped, lost } = this.#deployment;
    return arrived - completed - timedOut - dropped - lost;
  }

  /** The same as the flow itself keeps it, in parts of requests: in pods, and with clients who will try again. */
  get held(): number {
    let held = 0;
    for (const pod of this.#deployment.pods) held += pod.inService;
    for (const waiting of this.#again) held += waiting;
    return held;
  }

  /** Another load from now on. */
  changeLoad(load: Load): void {
    this.#load = load;
    this.#slots = this.#drawSlots(this.#now);
  }

  /** Goes towards a moment, as far as one step can, and answers how far that is. */
  step(until: number): number {
    while (this.#slots.ends - this.#start <= this.#now) this.#slots.next();
    let end = Math.min(until, this.#slots.ends - this.#start, this.#now + this.#longest());
    this.#regroup(this.#now);
    this.#agree(end);
    if (this.#kills > KILLS_PER_STEP && end - this.#now > SHORTEST_STEP) {
      // Too much happens in it: a kill at its end would come too late.
      end = this.#now + Math.max(SHORTEST_STEP, ((end - this.#now) * KILLS_PER_STEP) / this.#kills);
      this.#agree(end);
    }
    this.#pass(end);
    return end;
  }

  /** What the step does to pods: those that have drained end, those that were out of memory are killed. */
  settle(): void {
    const { pods } = this.#deployment;
    // From the back, since one that ends leaves the list.
    for (let i = pods.length - 1; i >= 0; i--) {
      const pod = pods[i] as Pod;
      if (pod.stage === "stopping" && pod.inService === 0) this.#watch.ranEmpty(pod);
    }
    this.#kill();
  }

  loseAll(pod: Pod): void {
    const { inService } = pod;
    this.#total.lost += inService;
    this.#total.failed += inService;
    this.#ending.unanswered += inService;
    pod.inService = 0;
    pod.requestMemory = 0;
    this.#publish();
  }

  #longest(): number {
    let longest =
      this.#killRate > 0 ? Math.max(SHORTEST_STEP, KILLS_PER_STEP / this.#killRate) : Number.POSITIVE_INFINITY;
    for (const { stage } of this.#deployment.pods) {
      if (stage === "stopping") longest = Math.min(longest, Math.max(SHORTEST_STEP, 2 * this.#stay));
    }
    return longest;
  }

  #pass(to: number): void {
    const from = this.#now;
    const span = to - from;
    const total = this.#total;
    const { retries, timeout } = this.#deployment.program;
    const fresh = this.#slots.rate * span;
    for (let g = 0; g < this.#used; g++) this.#groups[g]?.commit();
    this.#drain(from, span);
    const { all, refused, timedOut } = this.#sums;
    const failed = all > 0 ? Math.min(1, (refused + timedOut) / all) : 0;
    let missing = 0;
    for (let k = 0; k < retries; k++) {
      // Attempts were planned with the share that fails as it was expected; who was not there did not try.
      const waiting = (this.#again[k] ?? 0) + this.#attempts[k]! * failed - this.#attempts[k + 1]!;
      missing += Math.max(0, -waiting);
      this.#again[k] = Math.max(0, waiting);
    }
    const lastTry = this.#attempts[retries]! / Math.max(all, 1e-9);
    total.arrived += fresh;
    total.attempts += all;
    total.failed += refused + timedOut;
    total.completed += this.#sums.completed - missing;
    total.timedOut += timedOut * lastTry;
    total.dropped += refused * lastTry;
    this.#failedShare = failed;
    this.#tell(timeout);
    const ending = this.#ending;
    ending.late += timedOut;
    ending.unanswered += refused * lastTry;
    ending.luck = this.#slots.luck;
    ending.timeout = timeout;
    this.#window.close(to, ending);
    ending.late = 0;
    ending.unanswered = 0;
    this.#now = to;
    this.#publish();
  }

  /** Who fails tries again, and more attempts fail more: looks for the share that fails and makes itself come true. */
  #agree(to: number): void {
    const from = this.#now;
    const span = to - from;
    const fresh = this.#slots.rate * span;
    let expected = this.#failedShare;
    this.#prepare(from, span);
    for (let round = 0; round < MOST_ROUNDS; round++) {
      this.#plan(fresh, span, expected);
      this.#consider(span);
      const { all, refused, timedOut } = this.#sums;
      const failed = all > 0 ? Math.min(1, (refused + timedOut) / all) : 0;
      if (this.#deployment.program.retries === 0 || Math.abs(failed - expected) < 0.02) return;
      expected = failed;
    }
  }

  /** Attempts by how often their clients have tried before. Who backs off comes back over the back-off's length. */
  #plan(fresh: number, span: number, failed: number): void {
    const { retries } = this.#deployment.program;
    const attempts = this.#attempts;
    if (attempts.length !== retries + 1) attempts.length = retries + 1;
    attempts[0] = fresh;
    let all = fresh;
    for (let k = 0; k < retries; k++) {
      const length = backoff(k) / 2;
      const gone = 1 - Math.exp(-span / length);
      const joining = attempts[k]! * failed;
      const stay = (this.#again[k] ?? 0) * (1 - gone) + (joining * length * gone) / span;
      attempts[k + 1] = (this.#again[k] ?? 0) + joining - stay;
      all += attempts[k + 1]!;
    }
    this.#sums.all = all;
  }

  #prepare(from: number, span: number): void {
    const { ready, program } = this.#deployment;
    for (let g = 0; g < this.#used; g++) {
      const group = this.#groups[g] as PodGroup;
      group.prepare({ table: this.#tableFor(group), program, from, span, readyPods: ready.length });
    }
  }

  #consider(span: number): void {
    const sums = this.#sums;
    sums.refused = this.#used === 0 ? sums.all : 0;
    sums.timedOut = 0;
    sums.completed = 0;
    let inside = 0;
    this.#kills = 0;
    const pull = this.#pull();
    for (let g = 0; g < this.#used; g++) {
      const group = this.#groups[g] as PodGroup;
      group.consider((sums.all / span) * (attraction(group) / pull));
      sums.refused += group.refused;
      sums.timedOut += group.timedOut;
      sums.completed += group.completed;
      inside += group.inside * group.count;
      this.#kills += group.kills;
    }
    this.#killRate = this.#kills / span;
    if (sums.all > 0) this.#stay = (inside * span) / sums.all;
  }

  #tell(timeout: number): void {
    const { all, refused, timedOut } = this.#sums;
    // A retry comes after a refusal at once, or after a timeout; then the client backs off.
    const wasted = refused + timedOut > 0 ? (timeout * timedOut) / (refused + timedOut) : 0;
    let delay = 0;
    for (let k = 0; k < this.#attempts.length; k++) {
      const share = all > 0 ? this.#attempts[k]! / all : k === 0 ? 1 : 0;
      if (share > 0.002) {
        for (let g = 0; g < this.#used; g++) this.#groups[g]?.tell(this.#window, share, delay);
      }
      delay += wasted + backoff(k) / 2;
    }
  }

  /** Pods that get no more requests finish what they have, about as fast as requests pass through the others. */
  #drain(from: number, span: number): void {
    for (const pod of this.#deployment.pods) {
      if (pod.stage !== "stopping") continue;
      const stays = pod.inService * Math.exp(-span / Math.max(this.#stay, 1));
      const rest = stays < 0.5 ? 0 : stays;
      this.#total.completed += pod.inService - rest;
      pod.inService = rest;
      pod.requestMemory *= rest === 0 ? 0 : 0.5;
      this.#deployment.countMemory(pod, from);
    }
  }

  #kill(): void {
    const expected = this.#kills;
    if (expected < 1e-6 || this.#chance.next() >= 1 - Math.exp(-expected)) return;
    let draw = this.#chance.next() * expected;
    for (let g = 0; g < this.#used; g++) {
      const group = this.#groups[g] as PodGroup;
      draw -= group.kills;
      if (draw >= 0) continue;
      const pod = group.pod(this.#chance.int(group.count));
      if (pod.stage === "ready") this.#watch.outOfMemory(pod);
      return;
    }
  }

  #regroup(now: number): void {
    this.#used = 0;
    for (const pod of this.#deployment.ready) {
      let g = 0;
      while (g < this.#used && !(this.#groups[g] as PodGroup).matches(pod, now)) g++;
      if (g === this.#used) {
        this.#groups[g] ??= new PodGroup();
        this.#groups[g]?.begin();
        this.#used++;
      }
      this.#groups[g]?.add(pod);
    }
  }

  #pull(): number {
    let sum = 0;
    for (let g = 0; g < this.#used; g++) {
      const group = this.#groups[g] as PodGroup;
      sum += attraction(group) * group.count;
    }
    return sum;
  }

  #tableFor(group: PodGroup): ResponseTable {
    const { application } = this.#deployment.program;
    if (this.#application !== application) {
      this.#application = application;
      this.#tables.clear();
    }
    const node = group.pod(0).node?.spec;
    let table = this.#tables.get(node);
    if (table === undefined) {
      const cores = Math.min(application.threads, (node?.cpu ?? 1_000) / 1_000);
      table = responseTable(application, { speed: processorOf(node?.processor ?? "xeon-e5").speed, cores });
      this.#tables.set(node, table);
    }
    return table;
  }

  #drawSlots(now: number): SlotArrivals {
    const { streams, updates } = this.#deployment;
    return new SlotArrivals(this.#load, streams.arrivals.fork(updates), this.#start + now);
  }

  /** Whole requests for those who count them; none is counted as ended before it has come. */
  #publish(): void {
    const { arrived, attempts, failed, completed, timedOut, dropped, lost } = this.#total;
    const deployment = this.#deployment;
    deployment.arrived = Math.max(0, Math.ceil(arrived - 1e-6));
    deployment.attempts = Math.floor(attempts);
    deployment.failedAttempts = Math.floor(failed);
    deployment.completed = Math.floor(completed);
    deployment.timedOut = Math.floor(timedOut);
    deployment.dropped = Math.floor(dropped);
    deployment.lost = Math.floor(lost);
  }
}

/** The balancer takes the less busy of two, so a fuller pod gets less than its share. */
const attraction = ({ inside }: PodGroup): number => 1 / (1 + inside);

/** Longest back-off before the k-th retry; the mean is half of it. */
function backoff(k: number): number {
  const { first, most } = mechanics.retryBackoff;
  return Math.min(first * 2 ** k, most);
}
