/**
 * Pods that are alike, taken together: the fluid rung computes one of them and multiplies.
 * Owns: who is alike, and one step of a group: backlog, endings, CPU, memory, the risk of a kill.
 * Not here: how arrivals are divided between groups, retries, totals (fluid-flow.ts).
 */
import type { Pod } from "../event/deployment.ts";
import type { Program } from "../event/program.ts";
import { Course, followLoad, MOST_STRETCHES } from "./backlog.ts";
import { LOAD_LEVELS } from "./calibration.ts";
import { CROSSING_COUNT, crossingPlace, PLACE } from "./cell.ts";
import type { LatencyWindow } from "./latency-window.ts";
import { ResponsePoint } from "./response-point.ts";
import type { ResponseTable } from "./response-table.ts";
import { Stretch } from "./stretch.ts";

const TOP_LEVEL = LOAD_LEVELS.at(-1) as number;

export interface GroupStep {
  readonly table: ResponseTable;
  readonly program: Program;
  /** Milliseconds since the world began; and how long the step is. */
  readonly from: number;
  readonly span: number;
  /** Ready pods that the balancer can choose from. */
  readonly readyPods: number;
}

export class PodGroup {
  /** So many of the list are in it; the rest are left from another step. Lists that shrink and grow cost more than a step. */
  count = 0;
  readonly #pods: Pod[] = [];
  /** Requests in each pod. */
  inside = 0;
  // What the step does, in attempts over all pods of the group; true once it is committed.
  refused = 0;
  timedOut = 0;
  completed = 0;
  /** Kills to be expected in the step. */
  kills = 0;

  #program: Program | undefined;
  #mostSizes = 0;
  #from = 0;
  /** The step as the backlog sees it, for one pod. Written anew for every step and every trial of it. */
  readonly #step = { inside: 0, rate: 0, capacity: 0, span: 0 };
  readonly #point = new ResponsePoint();
  readonly #course = new Course();
  readonly #stretches = Array.from({ length: MOST_STRETCHES }, () => new Stretch());
  /** How many of them were looked at last, and at which place. */
  #judged = 0;
  #judgedAt = -1;
  // Means over the step.
  #sizes = 0;
  #admitted = 0;
  #busy = 0;

  /** Any of them, by number. */
  pod(place: number): Pod {
    return this.#pods[place] as Pod;
  }

  matches(pod: Pod, now: number): boolean {
    const first = this.pod(0);
    return (
      pod.size.cpu === first.size.cpu &&
      pod.size.memory === first.size.memory &&
      pod.node?.spec.processor === first.node?.spec.processor &&
      pod.warmAt > now === first.warmAt > now
    );
  }

  begin(): void {
    this.count = 0;
    this.inside = 0;
  }

  add(pod: Pod): void {
    // The mean so far and the new one.
    this.inside += (pod.inService - this.inside) / (this.count + 1);
    this.#pods[this.count++] = pod;
  }

  /** Before a step is considered: what it is, whatever comes in it. */
  prepare({ table, program, from, span, readyPods }: GroupStep): void {
    this.#program = program;
    this.#mostSizes = table.mostSizes;
    this.#from = from;
    const quota = this.pod(0).size.cpu / 1_000;
    this.#point.locate(table, { quota, speed: this.#speed(program, from + span / 2), pods: readyPods });
    const step = this.#step;
    step.inside = this.inside;
    step.capacity = this.#point.capacity / 1_000;
    step.span = span;
  }

  /**
   * What the step would do with so many attempts per millisecond at each pod. May be asked again with another rate;
   * nothing has happened until it is committed.
   */
  consider(rate: number): void {
    const step = this.#step;
    step.rate = rate;
    followLoad(this.#point, step, this.#course);
    const program = this.#program as Program;
    const inTime = this.#blend(program.timeout);
    const came = rate * step.span * this.count;
    this.refused = came * this.#refusedShare(rate, step.capacity);
    const left = this.#leave(came);
    this.completed = left * inTime;
    this.timedOut = left - this.completed;
    this.kills = this.#killsExpected(program, came - this.refused);
  }

  commit(): void {
    const { rate, span } = this.#step;
    const { count } = this;
    const left = this.#leave(rate * span * count);
    this.inside += (rate * span * count - this.refused - left) / count;
    this.#use(this.#program as Program, span, left);
  }

  /** Slices of the step's latencies, for that share of its answers whose clients had lost `delay` before. */
  tell(window: LatencyWindow, share: number, delay: number): void {
    const course = this.#course;
    let weights = 0;
    for (let s = 0; s < course.count; s++) weights += course.weight[s]! * this.#stretches[s]!.inTime;
    if (weights <= 0 || this.completed <= 0) return;
    const scale = (this.completed * share) / weights;
    for (let s = 0; s < course.count; s++) {
      const stretch = this.#stretches[s]!;
      stretch.mark(this.#point);
      window.addSlices(delay > 0 ? stretch.delayed(delay) : stretch, scale * course.weight[s]!);
    }
  }

  /** Who leaves: those who came and were taken in, and those by whom there are fewer at the end. */
  #leave(came: number): number {
    return Math.max(0, came - this.refused + (this.inside - this.#course.inside) * this.count);
  }

  #refusedShare(rate: number, capacity: number): number {
    if (rate <= 0) return 0;
    const level = this.#meanLevel();
    // Beyond the table's last level nothing more gets through: all that is more is refused.
    const asked = Math.max(level, rate >= capacity * TOP_LEVEL ? rate / capacity : 0);
    return asked > 0 ? Math.min(Math.max(1 - this.#admitted / asked, 0), 1) : 0;
  }

  #meanLevel(): number {
    const course = this.#course;
    let mean = 0;
    for (let s = 0; s < course.count; s++) {
      const low = LOAD_LEVELS[course.level[s]!]!;
      mean += course.weight[s]! * (low + course.part[s]! * (LOAD_LEVELS[course.level[s]! + 1]! - low));
    }
    return mean;
  }

  /** Mean of the pods' speeds, as slow as pods of this size and age are. */
  #speed(program: Program, at: number): number {
    let sum = 0;
    for (let i = 0; i < this.count; i++) sum += this.pod(i).speed / this.pod(i).slowness(program, at);
    return sum / this.count;
  }

  /** Finds the state of each stretch and the means over the step; answers the share of answers that are in time. */
  #blend(timeout: number): number {
    const course = this.#course;
    const point = this.#point;
    const { figures } = point;
    const first = this.#stretches[0]!;
    const isAsBefore =
      course.count === 1 &&
      this.#judged === 1 &&
      this.#judgedAt === point.version &&
      first.level === course.level[0] &&
      Math.abs(first.part - course.part[0]!) < SAME_PART;
    if (isAsBefore) return first.inTime;
    this.#judged = course.count;
    this.#judgedAt = point.version;
    let sizes = 0;
    let admitted = 0;
    let busy = 0;
    let all = 0;
    for (let s = 0; s < course.count; s++) {
      const stretch = this.#stretches[s]!;
      const level = course.level[s]!;
      const part = course.part[s]!;
      const weight = course.weight[s]!;
      stretch.judge(point, { level, part, weight, timeout });
      const low = point.figuresAt(level);
      const high = point.figuresAt(level + 1);
      sizes += weight * between(figures[low + PLACE.sizes]!, figures[high + PLACE.sizes]!, part);
      admitted += weight * between(figures[low + PLACE.admitted]!, figures[high + PLACE.admitted]!, part);
      busy += weight * between(figures[low + PLACE.busy]!, figures[high + PLACE.busy]!, part);
      all += weight * stretch.inTime;
    }
    this.#sizes = sizes;
    this.#admitted = admitted;
    this.#busy = busy;
    return Math.min(1, all);
  }

  #use(program: Program, span: number, left: number): void {
    const each = left / this.count;
    const burnt = (this.#busy * this.pod(0).size.cpu * span) / 1_000;
    const held = program.perRequest * this.#sizes;
    let io = 0;
    let network = 0;
    for (let p = 0; p < program.phases; p++) {
      io += program.io[p]!;
      network += program.network[p]!;
    }
    for (let i = 0; i < this.count; i++) {
      const pod = this.pod(i);
      pod.inService = this.inside;
      pod.cpu.used += burnt;
      pod.io += io * each;
      pod.network += network * each;
      pod.requestMemory = Math.min(held, Math.max(0, pod.size.memory - program.base));
      pod.deployment.countMemory(pod, this.#from);
    }
  }

  #killsExpected(program: Program, admitted: number): number {
    const { memory } = this.pod(0).size;
    if (program.perRequest <= 0) return 0;
    const room = (memory - program.base) / program.perRequest;
    const place = crossingPlace(room);
    if (room >= this.#mostSizes || place >= CROSSING_COUNT - 1) return 0;
    const low = Math.max(0, Math.floor(place));
    const part = Math.min(Math.max(place - low, 0), 1);
    const logarithm = this.#crossing(low) * (1 - part) + this.#crossing(low + 1) * part;
    // Never, to the accuracy of a cell.
    return logarithm < -12 ? 0 : admitted * Math.exp(logarithm);
  }
  #crossing(threshold: number): number {
    let mean = 0;
    for (let s = 0; s < this.#judged; s++) {
      const stretch = this.#stretches[s]!;
      mean += stretch.weight * stretch.crossing(this.#point, threshold);
    }
    return mean;
  }
}

const between = (low: number, high: number, part: number): number => low + part * (high - low);

/** A difference in load, in parts of the way between two levels, that no latency shows. */
const SAME_PART = 0.002;
