/**
 * Pods that are alike, taken together: the fluid rung computes one of them and multiplies.
 * Owns: who is alike, and one step of a group: backlog, endings, CPU, memory, the risk of a kill.
 * Not here: how arrivals are divided between groups, retries, totals (fluid-flow.ts).
 */
import type { Pod } from "../event/deployment.ts";
import type { Program } from "../event/program.ts";
import { Course, followLoad } from "./backlog.ts";
import { LOAD_LEVELS, SLICE_ENDS } from "./calibration.ts";
import { CELL_SIZE, CROSSING_COUNT, CROSSINGS, crossingPlace, PLACE, SLICES } from "./cell.ts";
import type { LatencyWindow } from "./latency-window.ts";
import { ResponsePoint, type ResponseTable } from "./response-table.ts";

const MOST_STRETCHES = 12;

const TOP_LEVEL = LOAD_LEVELS.at(-1) as number;
const SLICE_COUNT = SLICE_ENDS.length;
const SLICE_SHARES = Float64Array.from(SLICE_ENDS, (end, i) => end - (SLICE_ENDS[i - 1] ?? 0));

export interface GroupStep {
  readonly table: ResponseTable;
  readonly program: Program;
  /** Milliseconds since the world began; and how long the step is. */
  readonly from: number;
  readonly span: number;
  /** Attempts per millisecond at each pod, and how many ready pods there are to choose from. */
  readonly rate: number;
  readonly readyPods: number;
}

export class PodGroup {
  readonly pods: Pod[] = [];
  /** Requests in each pod. */
  inside = 0;
  // What the step does, in attempts over all pods of the group; true once it is committed.
  refused = 0;
  timedOut = 0;
  completed = 0;
  /** Kills to be expected in the step. */
  kills = 0;

  #step: GroupStep | undefined;
  readonly #point = new ResponsePoint();
  readonly #course = new Course();
  readonly #states = Array.from({ length: MOST_STRETCHES }, () => new Float64Array(CELL_SIZE));
  readonly #masses = Array.from({ length: MOST_STRETCHES }, () => new Float64Array(SLICE_COUNT));
  readonly #logs = Array.from({ length: MOST_STRETCHES }, () => new Float64Array(SLICE_COUNT));
  /** Share of those who leave in a stretch that are in time. */
  readonly #inTime = new Float64Array(MOST_STRETCHES);
  readonly #mean = new Float64Array(SLICES);
  // Where the states were last computed for.
  #lastVersion = -1;
  #lastLevel = 0;
  #lastPart = 0;

  matches(pod: Pod, now: number): boolean {
    const first = this.pods[0] as Pod;
    return (
      pod.size.cpu === first.size.cpu &&
      pod.size.memory === first.size.memory &&
      pod.node?.spec.processor === first.node?.spec.processor &&
      pod.warmAt > now === first.warmAt > now
    );
  }

  begin(): void {
    this.pods.length = 0;
    this.inside = 0;
  }

  add(pod: Pod): void {
    // The mean so far and the new one.
    this.inside += (pod.inService - this.inside) / (this.pods.length + 1);
    this.pods.push(pod);
  }

  /** What the step would do. May be asked again with another rate; nothing has happened until it is committed. */
  consider(step: GroupStep): void {
    const { table, program, from, span, rate, readyPods } = step;
    this.#step = step;
    const count = this.pods.length;
    const quota = (this.pods[0] as Pod).size.cpu / 1_000;
    const speed = this.#speed(program, from + span / 2);
    this.#point.locate(table, { quota, speed, pods: readyPods });
    const capacity = this.#point.capacity / 1_000;
    followLoad(this.#point, { inside: this.inside, rate, capacity, span }, this.#course);
    const inTime = this.#blend(program.timeout);
    const came = rate * span * count;
    this.refused = came * this.#refusedShare(rate, capacity);
    const left = this.#leave(came);
    this.completed = left * inTime;
    this.timedOut = left - this.completed;
    this.kills = this.#killsExpected(program, came - this.refused);
  }

  commit(): void {
    const { program, from, span, rate } = this.#step as GroupStep;
    const count = this.pods.length;
    const left = this.#leave(rate * span * count);
    this.inside += (rate * span * count - this.refused - left) / count;
    this.#use(program, { from, span, left });
  }

  /** Slices of the step's latencies, for that share of its answers whose clients had lost `delay` before. */
  tell(window: LatencyWindow, { share, delay }: { share: number; delay: number }): void {
    const course = this.#course;
    let weights = 0;
    for (let s = 0; s < course.count; s++) weights += course.weight[s]! * this.#inTime[s]!;
    if (weights <= 0 || this.completed <= 0) return;
    const scale = (this.completed * share) / weights;
    for (let s = 0; s < course.count; s++) {
      const masses = this.#masses[s] as Float64Array;
      const logs = this.#logs[s] as Float64Array;
      const mass = scale * course.weight[s]!;
      for (let i = 0; i < SLICE_COUNT && masses[i]! > 0; i++) {
        const log = logs[i]!;
        window.addSlice(delay > 0 ? Math.log(Math.exp(log) + delay) : log, mass * masses[i]!);
      }
    }
  }

  /** Who leaves: those who came and were taken in, and those by whom there are fewer at the end. */
  #leave(came: number): number {
    const count = this.pods.length;
    return Math.max(0, came - this.refused + (this.inside - this.#course.inside) * count);
  }

  #refusedShare(rate: number, capacity: number): number {
    if (rate <= 0) return 0;
    const level = this.#meanLevel();
    const admitted = this.#mean[PLACE.admitted]!;
    // Beyond the table's last level nothing more gets through: all that is more is refused.
    const asked = Math.max(level, rate >= capacity * TOP_LEVEL ? rate / capacity : 0);
    return asked > 0 ? Math.min(Math.max(1 - admitted / asked, 0), 1) : 0;
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
    for (const pod of this.pods) sum += pod.speed / pod.slowness(program, at);
    return sum / this.pods.length;
  }

  /** Finds the state of each stretch and the mean over the step; answers the share of answers that are in time. */
  #blend(timeout: number): number {
    const course = this.#course;
    const point = this.#point;
    const isAsBefore =
      course.count === 1 &&
      this.#lastVersion === point.version &&
      this.#lastLevel === course.level[0] &&
      Math.abs(this.#lastPart - course.part[0]!) < 0.002;
    if (isAsBefore) return this.#inTime[0]!;
    this.#lastVersion = course.count === 1 ? point.version : -1;
    this.#lastLevel = course.level[0]!;
    this.#lastPart = course.part[0]!;
    const mean = this.#mean.fill(0);
    let all = 0;
    for (let s = 0; s < course.count; s++) {
      const state = this.#states[s] as Float64Array;
      between(state, { low: point.at(course.level[s]!), high: point.at(course.level[s]! + 1), part: course.part[s]! });
      const weight = course.weight[s]!;
      for (let i = 0; i < SLICES; i++) mean[i]! += weight * state[i]!;
      const inTime = this.#judge(s, timeout);
      this.#inTime[s] = inTime;
      all += weight * inTime;
    }
    return Math.min(1, all);
  }

  /** Which slices of a stretch are in time, and where they stand on the window's scale; answers the share in time. */
  #judge(stretch: number, timeout: number): number {
    const state = this.#states[stretch] as Float64Array;
    const masses = this.#masses[stretch] as Float64Array;
    const logs = this.#logs[stretch] as Float64Array;
    let inTime = 0;
    for (let i = 0; i < SLICE_COUNT; i++) {
      const mass = SLICE_SHARES[i]! * inTimeOf(state, i, timeout);
      masses[i] = mass;
      logs[i] = Math.log(Math.min(state[SLICES + i]!, timeout));
      inTime += mass;
    }
    return Math.min(1, inTime);
  }

  #use(program: Program, { from, span, left }: { from: number; span: number; left: number }): void {
    const each = left / this.pods.length;
    const burnt = (this.#mean[PLACE.busy]! * (this.pods[0] as Pod).size.cpu * span) / 1_000;
    const held = program.perRequest * this.#mean[PLACE.sizes]!;
    let io = 0;
    let network = 0;
    for (let p = 0; p < program.phases; p++) {
      io += program.io[p]!;
      network += program.network[p]!;
    }
    for (const pod of this.pods) {
      pod.inService = this.inside;
      pod.cpu.used += burnt;
      pod.io += io * each;
      pod.network += network * each;
      pod.requestMemory = Math.min(held, Math.max(0, pod.size.memory - program.base));
      pod.deployment.countMemory(pod, from);
    }
  }

  #killsExpected(program: Program, admitted: number): number {
    const state = this.#mean;
    const { memory } = (this.pods[0] as Pod).size;
    if (program.perRequest <= 0) return 0;
    const room = (memory - program.base) / program.perRequest;
    const place = crossingPlace(room);
    if (room >= (this.#step as GroupStep).table.mostSizes || place >= CROSSING_COUNT - 1) return 0;
    const low = Math.max(0, Math.floor(place));
    const part = Math.min(Math.max(place - low, 0), 1);
    const logarithm = state[CROSSINGS + low]! * (1 - part) + state[CROSSINGS + low + 1]! * part;
    // Never, to the accuracy of a cell.
    return logarithm < -12 ? 0 : admitted * Math.exp(logarithm);
  }
}

/** The state between two load levels. */
function between(
  state: Float64Array,
  { low, high, part }: { low: Float64Array; high: Float64Array; part: number },
): void {
  for (let i = 0; i < CELL_SIZE; i++) state[i] = low[i]! + part * (high[i]! - low[i]!);
}

/** Share of a slice below a latency: it reaches half-way to its neighbours. */
function inTimeOf(state: Float64Array, slice: number, limit: number): number {
  const at = state[SLICES + slice]!;
  const above = slice + 1 < SLICE_COUNT ? (at + state[SLICES + slice + 1]!) / 2 : at;
  if (above <= limit) return 1;
  const below = slice > 0 ? (at + state[SLICES + slice - 1]!) / 2 : at;
  return below >= limit ? 0 : (limit - below) / (above - below);
}
