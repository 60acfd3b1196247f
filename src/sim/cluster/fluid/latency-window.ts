/**
 * Latencies of the trailing SLO window, as weights on a logarithmic scale.
 * Owns: adding the slices of a step, forgetting old steps, percentiles and shares. The same questions as the event
 * rung's list of endings answers, without the list.
 * Not here: where slices come from (cell.ts), when they are asked for (event/scrape.ts, event/truth.ts).
 */
import { Outcomes } from "../metrics/outcomes.ts";

/** Bins of 4 % from a twentieth of a millisecond to an hour. */
const BIN = 0.04;
const FIRST = Math.log(0.05);
const BINS = Math.ceil((Math.log(3_600_000) - FIRST) / BIN) + 2;

/**
 * What happened in one step, as far as the window is concerned: places of its figures in the ring of spans. `from` and
 * `to` are where its slices begin and end in the ring of slices.
 */
const SPAN = { at: 0, from: 1, to: 2, answered: 3, late: 4, unanswered: 5, luck: 6 } as const;
const SPAN_SIZE = 8;

/** Latencies of requests, as so many of a list of them. */
export interface Slices {
  readonly count: number;
  /** Logarithms of milliseconds. */
  readonly logs: Float64Array;
  readonly masses: Float64Array;
}

export class LatencyWindow extends Outcomes {
  readonly #window: number;
  readonly #bins = new Float64Array(BINS);
  #place = new Float64Array(1_024);
  #mass = new Float64Array(1_024);
  #written = 0;
  #begun = 0;
  /** Mass of the slices that no span has yet. */
  #open = 0;
  /** Steps in the window: a ring, the first of them and how many there are. */
  #spans = new Float64Array(32 * SPAN_SIZE);
  #first = 0;
  #count = 0;
  #answered = 0;
  #late = 0;
  #unanswered = 0;
  /** Sum over spans of luck × answered. */
  #luck = 0;
  /** Place on the scale of those who gave up: how long clients wait. */
  #timeout = 0;
  #latePlace = 0;
  /** No bin above this one has anything in it. */
  #highest = 0;

  constructor(window: number) {
    super(window);
    this.#window = window;
  }

  /** Answered requests, each mass times `scale`; they belong to the span that `close` ends. */
  addSlices({ count, logs, masses }: Slices, scale: number): void {
    while (this.#written + count - this.#oldest() > this.#place.length) this.#growSlices();
    const bins = this.#bins;
    const places = this.#place;
    const kept = this.#mass;
    const mask = places.length - 1;
    let at = this.#written;
    let open = this.#open;
    let highest = this.#highest;
    for (let i = 0; i < count; i++) {
      const place = Math.min(Math.max((logs[i]! - FIRST) / BIN, 0), BINS - 2);
      const mass = scale * masses[i]!;
      places[at & mask] = place;
      kept[at & mask] = mass;
      at++;
      open += mass;
      // Divided between the two bins that it lies between.
      const bin = Math.floor(place);
      const part = place - bin;
      bins[bin]! += mass * (1 - part);
      bins[bin + 1]! += mass * part;
      if (bin >= highest) highest = bin + 1;
    }
    this.#written = at;
    this.#open = open;
    this.#highest = highest;
  }

  close(at: number, span: { late: number; unanswered: number; luck: number; timeout: number }): void {
    this.#forget(at);
    const answered = this.#open;
    this.#open = 0;
    const { late, unanswered, luck, timeout } = span;
    if ((this.#count + 1) * SPAN_SIZE > this.#spans.length) this.#growSpans();
    const spans = this.#spans;
    const place = this.#spanPlace(this.#count++);
    spans[place + SPAN.at] = at;
    spans[place + SPAN.from] = this.#begun;
    spans[place + SPAN.to] = this.#written;
    spans[place + SPAN.answered] = answered;
    spans[place + SPAN.late] = late;
    spans[place + SPAN.unanswered] = unanswered;
    spans[place + SPAN.luck] = luck;
    this.#begun = this.#written;
    this.#answered += answered;
    this.#late += late;
    this.#unanswered += unanswered;
    this.#luck += luck * answered;
    if (timeout === this.#timeout) return;
    this.#timeout = timeout;
    this.#latePlace = (Math.log(timeout) - FIRST) / BIN;
  }

  override latencyOfAnswered(now: number, quantile: number): number | null {
    return this.#quantile(now, quantile, 0);
  }

  override latencyAtIngress(now: number, quantile: number): number | null {
    return this.#quantile(now, quantile, this.#late);
  }

  override shareWithin(now: number, target: number): number | null {
    this.#forget(now);
    const ended = this.#answered + this.#late + this.#unanswered;
    if (ended < 0.5) return null;
    const place = (Math.log(target) - FIRST) / BIN;
    if (place >= BINS) return Math.min(1, this.#answered / ended);
    const whole = Math.min(Math.max(Math.floor(place + 0.5), 0), BINS - 1);
    let within = 0;
    for (let b = 0; b < whole; b++) within += this.#bins[b]!;
    within += this.#bins[whole]! * Math.min(Math.max(place + 0.5 - whole, 0), 1);
    return Math.min(1, within / ended);
  }

  /**
   * Of so many requests the percentile is one order statistic: it lies near its share of the distribution, by luck
   * above or below, and of few requests the highest is all there is.
   */
  #quantile(now: number, quantile: number, late: number): number | null {
    this.#forget(now);
    const count = this.#answered + late;
    if (count < 0.5) return null;
    const fromTop = count + 1 - Math.min(Math.max(Math.ceil(quantile * count), 1), count);
    const luck = this.#answered > 0 ? (this.#luck / this.#answered) * Math.sqrt(this.#draws()) : 0;
    // The share above the k-th from the top is about a gamma variate of shape k (Wilson and Hilferty's form of it).
    const root = 1 - 1 / (9 * fromTop) - (luck * Math.sqrt(1 - fromTop / (count + 1))) / (3 * Math.sqrt(fromTop));
    let above = Math.min(fromTop * Math.max(root, 0.05) ** 3 * (count / (count + 1)), count);
    const bins = this.#bins;
    const lateBin = late > 0 ? Math.round(this.#latePlace) : -1;
    while (this.#highest > 0 && bins[this.#highest] === 0) this.#highest--;
    for (let b = Math.max(this.#highest, lateBin); b >= 0; b--) {
      const mass = bins[b]! + (b === lateBin ? late : 0);
      if (mass >= above && mass > 0) return Math.exp(FIRST + BIN * (b + 0.5 - above / mass));
      above -= mass;
    }
    return Math.exp(FIRST);
  }

  /** How many draws of luck the window has: the mean of so many has to be stretched to have variance 1 again. */
  #draws(): number {
    let draws = 0;
    let last = Number.NaN;
    for (let i = 0; i < this.#count; i++) {
      const luck = this.#spans[this.#spanPlace(i) + SPAN.luck]!;
      if (luck !== last) draws++;
      last = luck;
    }
    return draws;
  }

  #forget(now: number): void {
    const oldest = now - this.#window;
    while (this.#count > 0 && this.#spans[this.#spanPlace(0) + SPAN.at]! <= oldest) this.#forgetFirst();
    if (this.#count > 0 || this.#written > this.#begun) return;
    // Sums of what came and went drift; an empty window is exactly empty.
    this.#bins.fill(0);
    this.#highest = 0;
    this.#answered = 0;
    this.#late = 0;
    this.#unanswered = 0;
    this.#luck = 0;
  }

  #forgetFirst(): void {
    const spans = this.#spans;
    const place = this.#spanPlace(0);
    this.#takeOut(spans[place + SPAN.from]!, spans[place + SPAN.to]!);
    const answered = spans[place + SPAN.answered]!;
    this.#answered = Math.max(0, this.#answered - answered);
    this.#late = Math.max(0, this.#late - spans[place + SPAN.late]!);
    this.#unanswered = Math.max(0, this.#unanswered - spans[place + SPAN.unanswered]!);
    this.#luck -= spans[place + SPAN.luck]! * answered;
    this.#first++;
    this.#count--;
  }

  #takeOut(from: number, to: number): void {
    const bins = this.#bins;
    const places = this.#place;
    const kept = this.#mass;
    const mask = places.length - 1;
    for (let i = from; i < to; i++) {
      const place = places[i & mask]!;
      const mass = kept[i & mask]!;
      const bin = Math.floor(place);
      const part = place - bin;
      // What is taken out was put in, up to rounding; a bin holds nothing or more.
      bins[bin] = Math.max(0, bins[bin]! - mass * (1 - part));
      bins[bin + 1] = Math.max(0, bins[bin + 1]! - mass * part);
    }
  }

  /** Where the i-th span in the window has its figures. */
  #spanPlace(i: number): number {
    return ((this.#first + i) * SPAN_SIZE) & (this.#spans.length - 1);
  }

  #oldest(): number {
    return this.#count > 0 ? this.#spans[this.#spanPlace(0) + SPAN.from]! : this.#begun;
  }

  #growSpans(): void {
    const spans = new Float64Array(this.#spans.length * 2);
    for (let i = 0; i < this.#count; i++) {
      const place = this.#spanPlace(i);
      spans.set(this.#spans.subarray(place, place + SPAN_SIZE), i * SPAN_SIZE);
    }
    this.#spans = spans;
    this.#first = 0;
  }

  #growSlices(): void {
    const old = this.#place.length;
    const [place, mass] = [new Float64Array(old * 2), new Float64Array(old * 2)];
    for (let i = this.#oldest(); i < this.#written; i++) {
      place[i & (2 * old - 1)] = this.#place[i & (old - 1)]!;
      mass[i & (2 * old - 1)] = this.#mass[i & (old - 1)]!;
    }
    this.#place = place;
    this.#mass = mass;
  }
}
