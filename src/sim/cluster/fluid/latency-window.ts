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

/** What happened in one step, as far as the window is concerned. */
interface Span {
  readonly at: number;
  /** Where its slices begin and end in the ring of slices. */
  readonly from: number;
  readonly to: number;
  readonly answered: number;
  readonly late: number;
  readonly unanswered: number;
  readonly luck: number;
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
  readonly #spans: Span[] = [];
  #answered = 0;
  #late = 0;
  #unanswered = 0;
  /** Sum over spans of luck × answered. */
  #luck = 0;
  /** Place on the scale of those who gave up: how long clients wait. */
  #latePlace = 0;

  constructor(window: number) {
    super(window);
    this.#window = window;
  }

  /** Requests answered after exp(logLatency) milliseconds; belongs to the span that `close` ends. */
  addSlice(logLatency: number, mass: number): void {
    if (this.#written - this.#oldest() === this.#place.length) this.#grow();
    const place = Math.min(Math.max((logLatency - FIRST) / BIN, 0), BINS - 2);
    const at = this.#written++ & (this.#place.length - 1);
    this.#place[at] = place;
    this.#mass[at] = mass;
    this.#open += mass;
    this.#put(place, mass);
  }

  close(at: number, span: { late: number; unanswered: number; luck: number; timeout: number }): void {
    this.#forget(at);
    const answered = this.#open;
    this.#open = 0;
    const { late, unanswered, luck } = span;
    this.#spans.push({ at, from: this.#begun, to: this.#written, answered, late, unanswered, luck });
    this.#begun = this.#written;
    this.#answered += answered;
    this.#late += late;
    this.#unanswered += unanswered;
    this.#luck += luck * answered;
    this.#latePlace = (Math.log(span.timeout) - FIRST) / BIN;
  }

  override latencyOfAnswered(now: number, percentile: number): number | null {
    return this.#percentile(now, percentile, 0);
  }

  override latencyAtIngress(now: number, percentile: number): number | null {
    return this.#percentile(now, percentile, this.#late);
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
  #percentile(now: number, percentile: number, late: number): number | null {
    this.#forget(now);
    const count = this.#answered + late;
    if (count < 0.5) return null;
    const fromTop = count + 1 - Math.min(Math.max(Math.ceil(percentile * count), 1), count);
    const luck = this.#answered > 0 ? (this.#luck / this.#answered) * Math.sqrt(this.#draws()) : 0;
    // The share above the k-th from the top is about a gamma variate of shape k (Wilson and Hilferty's form of it).
    const root = 1 - 1 / (9 * fromTop) - (luck * Math.sqrt(1 - fromTop / (count + 1))) / (3 * Math.sqrt(fromTop));
    let above = Math.min(fromTop * Math.max(root, 0.05) ** 3 * (count / (count + 1)), count);
    const bins = this.#bins;
    const lateBin = late > 0 ? Math.round(this.#latePlace) : -1;
    for (let b = BINS - 1; b >= 0; b--) {
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
    for (const { luck } of this.#spans) {
      if (luck !== last) draws++;
      last = luck;
    }
    return draws;
  }

  #forget(now: number): void {
    const oldest = now - this.#window;
    const mask = this.#place.length - 1;
    while (this.#spans.length > 0 && (this.#spans[0] as Span).at <= oldest) {
      const span = this.#spans.shift() as Span;
      for (let i = span.from; i < span.to; i++) this.#put(this.#place[i & mask]!, -this.#mass[i & mask]!);
      this.#answered = Math.max(0, this.#answered - span.answered);
      this.#late = Math.max(0, this.#late - span.late);
      this.#unanswered = Math.max(0, this.#unanswered - span.unanswered);
      this.#luck -= span.luck * span.answered;
    }
    if (this.#spans.length > 0 || this.#written > this.#begun) return;
    // Sums of what came and went drift; an empty window is exactly empty.
    this.#bins.fill(0);
    this.#answered = 0;
    this.#late = 0;
    this.#unanswered = 0;
    this.#luck = 0;
  }

  /** Divided between the two bins that it lies between. */
  #put(place: number, mass: number): void {
    const bin = Math.floor(place);
    const part = place - bin;
    // What is taken out was put in, up to rounding; a bin holds nothing or more.
    this.#bins[bin] = Math.max(0, this.#bins[bin]! + mass * (1 - part));
    this.#bins[bin + 1] = Math.max(0, this.#bins[bin + 1]! + mass * part);
  }

  #oldest(): number {
    return this.#spans.length > 0 ? (this.#spans[0] as Span).from : this.#begun;
  }

  #grow(): void {
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
