/**
 * Pods that are alike, taken together: the fluid rung computes one of them and multiplies.
 * Owns: who is alike, and one step of a group: backlog, endings, CPU, memory, the risk of a kill.
 * Not here: how arrivals are divided between groups, retries, totals (fluid-flow.ts).
 */
import type { Pod } from "../event/pod.ts";
import type { Program } from "../event/program.ts";
import { Course, followLoad } from "./backlog.ts";
import { LOAD_LEVELS, SLICE_ENDS } from "./calibration.ts";
import { CELL_SIZE, CROSSING_COUNT, CROSSINGS, crossingPlace, PLACE, SLICES } from "./cell.ts";
import type { LatencyWindow } from "./latency-window.ts";
import { ResponsePoint, type ResponseTable } from "./response-table.ts";

/** Pods that became ready within this many milliseconds of each other are equally cold. */
const EQUALLY_COLD = 5_000;
const MOST_STRETCHES = 12;

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
  // What the last step did, in attempts over all pods of the group.
  refused = 0;
  timedOut = 0;
  completed = 0;
  /** Kills to be expected in the step. */
  kills = 0;

  readonly #point = new ResponsePoint();
  readonly #course = new Course();
  readonly #states = Array.from({ length: MOST_STRETCHES }, () => new Float64Array(CELL_SIZE));

  matches(pod: Pod, now: number): boolean {
    const first = this.pods[0] as Pod;
    return (
      pod.size.cpu === first.size.cpu &&
      pod.size.memory === first.size.memory &&
      pod.node?.spec.processor === first.node?.spec.processor &&
      (pod.warmAt === first.warmAt ||
        (pod.warmAt <= now && first.warmAt <= now) ||
        Math.abs(pod.warmAt - first.warmAt) < EQUALLY_COLD)
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

  step({ table, program, from, span, rate, readyPods }: GroupStep): void {
    const count = this.pods.length;
    const first = this.pods[0] as Pod;
    const quota = first.size.cpu / 1_000;
    const speed = this.#speed(program, from + span / 2);
    table.locate(this.#point, { quota, speed, pods: readyPods });
    const capacity = table.capacity(quota, speed) / 1_000;
    const before = this.inside;
    followLoad(this.#point, { inside: before, rate, capacity, span }, this.#course);
    const state = this.#blend();
    const most = capacity * (LOAD_LEVELS.at(-1) as number);
    // Beyond the table's last level nothing more gets through: all that is more is refused.
    const refusedShare = rate > most ? 1 - ((1 - state[PLACE.refused]!) * most) / rate : state[PLACE.refused]!;
    const came = rate * span * count;
    this.refused = refusedShare * came;
    const most_left = came - this.refused + before * count;
    this.inside = Math.min(this.#course.inside, most_left / count);
    const left = most_left - this.inside * count;
    this.timedOut = left * Math.min(1, state[PLACE.timedOut]! / Math.max(1e-9, 1 - state[PLACE.refused]!));
    this.completed = left - this.timedOut;
    this.#use(program, state, { from, span, quota, left });
    this.kills = this.#killsExpected(program, state, came - this.refused);
  }

  /** Slices of the step's latencies, divided between those who are answered at their first attempt and at later ones. */
  tell(window: LatencyWindow, { share, delay }: { share: number; delay: number }): void {
    const mass = this.completed * share;
    if (mass <= 0) return;
    const course = this.#course;
    for (let s = 0; s < course.count; s++) {
      const state = this.#states[s] as Float64Array;
      let from = 0;
      for (let i = 0; i < SLICE_ENDS.length; i++) {
        const to = SLICE_ENDS[i]!;
        const logarithm = state[SLICES + i]!;
        const place = delay > 0 ? Math.log(Math.exp(logarithm) + delay) : logarithm;
        window.addSlice(place, mass * course.weight[s]! * (to - from));
        from = to;
      }
    }
  }

  /** Mean of the pods' speeds, as slow as pods of this size and age are. */
  #speed(program: Program, at: number): number {
    let sum = 0;
    for (const pod of this.pods) sum += pod.speed / pod.slowness(program, at);
    return sum / this.pods.length;
  }

  /** The state of each stretch, and the mean over the step, which is answered. */
  #blend(): Float64Array {
    const course = this.#course;
    const mean = MEAN.fill(0);
    for (let s = 0; s < course.count; s++) {
      const state = this.#states[s] as Float64Array;
      this.#stateAt(state, course.level[s]!, course.part[s]!);
      const weight = course.weight[s]!;
      for (let i = 0; i < SLICES; i++) mean[i]! += weight * state[i]!;
    }
    return mean;
  }

  #stateAt(state: Float64Array, level: number, part: number): void {
    const point = this.#point;
    state.fill(0);
    if (part <= 0.001) {
      point.add(level, 1, state);
      return;
    }
    if (part >= 0.999) {
      point.add(level + 1, 1, state);
      return;
    }
    LOW.fill(0);
    point.add(level, 1, LOW);
    point.add(level + 1, 1, state);
    // Latencies grow with the backlog, not with its logarithm; where it multiplies, the middle is nearer to the top.
    const ratio = Math.max(1, latencyRatio(LOW, state));
    const bent = ratio > 1.05 ? Math.log(1 + part * (ratio - 1)) / Math.log(ratio) : part;
    for (let i = 0; i < SLICES; i++) state[i] = LOW[i]! + part * (state[i]! - LOW[i]!);
    for (let i = SLICES; i < CELL_SIZE; i++) state[i] = LOW[i]! + bent * (state[i]! - LOW[i]!);
  }

  #use(
    program: Program,
    state: Float64Array,
    { from, span, quota, left }: { from: number; span: number; quota: number; left: number },
  ): void {
    const each = left / this.pods.length;
    const burnt = state[PLACE.busy]! * quota * span;
    const held = program.perRequest * state[PLACE.sizes]!;
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

  #killsExpected(program: Program, state: Float64Array, admitted: number): number {
    const { memory } = (this.pods[0] as Pod).size;
    if (program.perRequest <= 0) return 0;
    const place = crossingPlace((memory - program.base) / program.perRequest);
    if (place >= CROSSING_COUNT - 1) return 0;
    const low = Math.max(0, Math.floor(place));
    const part = Math.min(Math.max(place - low, 0), 1);
    const logarithm = state[CROSSINGS + low]! * (1 - part) + state[CROSSINGS + low + 1]! * part;
    // Never, to the accuracy of a cell.
    return logarithm < -12 ? 0 : admitted * Math.exp(logarithm);
  }
}

const MEAN = new Float64Array(SLICES);
const LOW = new Float64Array(CELL_SIZE);
const MIDDLE = SLICES + Math.floor(SLICE_ENDS.length / 2);

const latencyRatio = (low: Float64Array, high: Float64Array): number => Math.exp(high[MIDDLE]! - low[MIDDLE]!);
