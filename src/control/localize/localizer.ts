/**
 * The critical component extractor (Algorithm 3.2): from traces and telemetry to suspects, learning from what was injected.
 * START READING HERE. Owns: the order of the steps, who is a candidate, the threshold, promises and their checks.
 * Not here: critical paths (observe/tracing), each step's arithmetic (the files beside), what is done about a suspect.
 *
 * Pure: time is told by the caller, chance comes from the seed. Before it has learned from labels it ranks by the two
 * printed features alone, and its reasons say so.
 */
import type { Ms, Ratio } from "../../base/index.ts";
import { milliseconds, seconds, seededRng } from "../../base/index.ts";
import type { AnalysedTraces, InstanceReading, RequestReading } from "../../observe/telemetry/index.ts";
import { Calibration } from "./calibration.ts";
import {
  type FeatureSet,
  type Features,
  featureCount,
  featuresIn,
  type Harm,
  harmIn,
  noHarm,
  type RequestFeatures,
  vectorOf,
} from "./features.ts";
import { type Deviation, Habits, noDeviation } from "./habits.ts";
import { reasonFor } from "./reason.ts";
import { type Evidence, ResourceEvidence } from "./resource-evidence.ts";
import { MarkNames } from "./span-marks.ts";
import type { LocalizerLabel, SavingCheck, Suspect } from "./suspect.ts";
import { IncrementalSvm } from "./svm.ts";
import { timesOf } from "./trace-times.ts";
import { TraceWindow } from "./trace-window.ts";

export interface LocalizerOptions {
  readonly seed: number;
  /** How far back the present reaches; 10 s unless said. */
  readonly window?: Ms;
  /** Scores from here on are culprits; 0.5 unless said. */
  readonly threshold?: number;
  /** What the classifier sees: `all`, unless said; the two that Algorithm 3.2 prints; or habits of operations besides. */
  readonly features?: FeatureSet;
}

/** What else is known at a moment; what is absent is not known. */
export interface Telemetry {
  readonly instances?: readonly InstanceReading[];
  readonly requests?: readonly RequestReading[];
  /** Whether all is well, where the reader knows; else SLOs tell. */
  readonly isCalm?: boolean;
}

/** What a localizer knew of each instance at a moment. Only a localizer of the same features can use it. */
export interface LocalizerLook {
  readonly candidates: readonly Candidate[];
}

interface Candidate {
  readonly instance: string;
  readonly service: string;
  readonly isBackground: boolean;
  readonly harm: Harm;
  readonly evidence: Evidence;
  readonly deviation: Deviation;
  readonly vector: Float64Array;
}

interface Pledge {
  readonly suspect: Suspect;
  readonly at: Ms;
  readonly meanUs: number;
}

/** Fewer requests of a type make no percentiles. */
const LEAST_TRACES = 10;
const MOST_TRACES = 4_000;
/** Types of requests that are kept apart; the dashboard of a mesh with more has other troubles. */
const MOST_TYPES = 1_000;
/** Traces that a normal looks back on. */
const MEMORY = 3_000;
/** Labels of each class from which on the classifier decides. */
const TRAINED_FROM = 5;
/** From here on an instance deviates enough from its habits to be suspected for that alone. */
const NOTABLE = 0.25;
/** Promises that wait to be checked. */
const MOST_PROMISES = 256;

export class Localizer {
  readonly options: Required<LocalizerOptions>;
  readonly svm: IncrementalSvm;
  readonly calibration = new Calibration();
  readonly #windows = new Map<string, TraceWindow>();
  readonly #evidence = new ResourceEvidence();
  readonly #names = new MarkNames();
  readonly #habits = new Habits(this.#names);
  #requests = new Map<string, RequestReading>();
  #pledges: Pledge[] = [];

  constructor({ seed, window = seconds(10), threshold = 0.5, features = "all" }: LocalizerOptions) {
    this.options = { seed, window, threshold, features };
    this.svm = new IncrementalSvm({ inputs: featureCount(features), rng: seededRng(seed).fork("localizer") });
  }

  /** Whether scores are learned; else they are only an order. */
  get isTrained(): boolean {
    const { positive, negative } = this.svm.counts;
    return positive >= TRAINED_FROM && negative >= TRAINED_FROM;
  }

  /** Traces with their critical paths, as the tracing coordinator hands them out; nothing of the block is kept. */
  observe(traces: AnalysedTraces): void {
    const names = this.options.features === "habits" ? this.#names : null;
    for (let trace = 0; trace < traces.block.size; trace++) {
      const times = timesOf(traces, trace, names);
      let window = this.#windows.get(times.request);
      if (window === undefined) {
        if (this.#windows.size >= MOST_TYPES) continue;
        window = new TraceWindow(times, {
          windowUs: 1_000 * this.options.window,
          mostTraces: MOST_TRACES,
          memory: MEMORY,
          habits: this.#habits,
        });
        this.#windows.set(times.request, window);
      }
      window.add(times);
    }
  }

  /** Telemetry as it was read now. Without any, the resource is guessed from traces alone. */
  read({ instances = [], requests = [], isCalm }: Telemetry): void {
    if (requests.length > 0) this.#requests = new Map(requests.map((reading) => [reading.request, reading]));
    if (instances.length === 0) return;
    const isWell = isCalm ?? ![...this.#windows.values()].some((window) => this.#isHarmed(window));
    this.#evidence.read(instances, { isCalm: isWell });
  }

  /** Forgets traces and telemetry and keeps what was learned from labels: another application, another cluster. */
  forget(): void {
    this.#windows.clear();
    this.#requests.clear();
    this.#evidence.clear();
    this.#habits.clear();
    this.#names.clear();
    this.#pledges = [];
  }

  /** Takes all traces that the window holds as normal, and begins the window anew. */
  settleNormal(): void {
    for (const window of this.#windows.values()) window.settle();
  }

  /** What the window holds, to be judged or learned from later: who was to blame is often known only then. */
  look(now: Ms): LocalizerLook {
    return { candidates: this.#candidates(now) };
  }

  /** Likeliest culprit first; of a moment, or of a look at an earlier one. */
  suspects(now: Ms | LocalizerLook): readonly Suspect[] {
    const { candidates } = typeof now === "number" ? this.look(now) : now;
    return candidates
      .map((candidate) => this.#suspectOf(candidate))
      .sort((a, b) => b.score - a.score || (a.instance < b.instance ? -1 : 1));
  }

  /** Learns who was to blame, now or at an earlier look; returns how many instances it learned from. */
  learn({ culprits }: LocalizerLabel, now: Ms | LocalizerLook): number {
    const blamed = new Set(culprits);
    const { candidates } = typeof now === "number" ? this.look(now) : now;
    for (const { instance, vector } of candidates) {
      const isCulprit = blamed.has(instance);
      // Decided before it is learned: that is what the probability is about.
      if (this.isTrained) this.calibration.add(this.svm.decide(vector), isCulprit);
      this.svm.learn(vector, isCulprit);
    }
    return candidates.length;
  }

  /** Takes note that somebody acts on a suspect now, so that `check` can tell what came of it. */
  promise(suspect: Suspect, now: Ms): void {
    const meanUs = this.#windowOf(suspect.request)?.meanUs();
    if (meanUs === null || meanUs === undefined) return;
    this.#pledges.push({ suspect, at: now, meanUs });
    if (this.#pledges.length > MOST_PROMISES) this.#pledges.shift();
  }

  /** What became of promises a whole window after they were made; each is told once. */
  check(now: Ms): readonly SavingCheck[] {
    this.#advance(now);
    const due = this.#pledges.filter(({ at }) => now - at >= this.options.window);
    this.#pledges = this.#pledges.filter(({ at }) => now - at < this.options.window);
    return due.flatMap(({ suspect, at, meanUs }) => {
      const after = this.#windowOf(suspect.request)?.meanUs();
      if (after === null || after === undefined) return [];
      const measured = milliseconds((meanUs - after) / 1_000);
      const { instance, request, expectedSaving: expected } = suspect;
      const error = milliseconds(measured - expected);
      return [{ instance, request, promisedAt: at, checkedAt: now, expected, measured, error }];
    });
  }

  /** One per instance: in the requests that it harms most. */
  #candidates(now: Ms): readonly Candidate[] {
    this.#advance(now);
    const hasHabits = this.options.features === "habits";
    const featured = [...this.#windows.values()]
      .filter(({ size }) => size >= (hasHabits ? 1 : LEAST_TRACES))
      .map((window) => {
        const times = window.times();
        const isHarmed = this.#isHarmed(window);
        return { ...featuresIn(times), request: this.#nameOf(window), instances: times.instances, isHarmed };
      });
    const usable = featured.filter(({ count }) => count >= LEAST_TRACES);
    // Those that miss their SLO or have lost something; all where nobody has, or nobody knows. With habits to go by a loss
    // counts only beside an SLO that is missed: what takes a little longer is all day long somewhere.
    const harmed = usable.filter(({ isHarmed, lostUs }) => isHarmed || lostUs > 0);
    const isNarrowed = hasHabits ? harmed.some(({ isHarmed }) => isHarmed) : harmed.length > 0;
    const requests = isNarrowed ? harmed : usable;
    const serviceOf = new Map<string, { service: string; isBackground: boolean }>();
    for (const { instances } of requests) {
      for (const { instance, service, isBackground } of instances) {
        const before = serviceOf.get(instance);
        serviceOf.set(instance, { service, isBackground: isBackground && before?.isBackground !== false });
      }
    }
    for (const { instances } of featured)
      for (const { instance, service, isBackground } of instances)
        if (!serviceOf.has(instance)) serviceOf.set(instance, { service, isBackground });
    const harms = new Map(harmIn(requests));
    const deviations = this.#habits.deviations();
    if (hasHabits) this.#addOdd(harms, { featured, deviations });
    return [...harms].map(([instance, harm]) => {
      const { service = instance, isBackground = false } = serviceOf.get(instance) ?? {};
      const evidence = this.#evidence.of(instance, { isWay: harm.wayShare > harm.workShare });
      const deviation = deviations.get(instance) ?? noDeviation;
      const vector = vectorOf(harm, { pressure: evidence.pressure, deviation }, this.options.features);
      return { instance, service, isBackground, harm, evidence, deviation, vector };
    });
  }

  /**
   * Who behaves as never before is a suspect whatever its requests lost, since a defect takes no time; so is one that a
   * resource is pressed of and that no trace comes from any more.
   */
  #addOdd(
    harms: Map<string, Harm>,
    { featured, deviations }: { featured: readonly RequestFeatures[]; deviations: ReadonlyMap<string, Deviation> },
  ): void {
    const [first] = featured;
    if (first === undefined) return;
    const odd = new Set<string>();
    for (const [instance, deviation] of deviations)
      if (Object.values(deviation).some((value) => value >= NOTABLE)) odd.add(instance);
    for (const instance of this.#evidence.instances())
      if (!harms.has(instance) && this.#evidence.of(instance, { isWay: false }).pressure >= NOTABLE) odd.add(instance);
    const missing = [...odd].filter((instance) => !harms.has(instance));
    if (missing.length === 0) return;
    const all = harmIn(featured);
    for (const instance of missing) harms.set(instance, all.get(instance) ?? noHarm(first));
  }

  #suspectOf(candidate: Candidate): Suspect {
    const { instance, service, isBackground, harm, evidence, deviation, vector } = candidate;
    const { features } = harm;
    const { request } = harm.worst;
    const score = this.isTrained ? this.calibration.probability(this.svm.decide(vector)) : naiveScore(features);
    const excess = Math.max(0, features.ownExcessUs, features.wayExcessUs);
    const expectedSaving = milliseconds(isBackground ? 0 : excess / 1_000);
    const { relativeImportance, congestionIntensity } = features;
    return {
      instance,
      service,
      request,
      isBackground,
      resource: evidence.resource,
      score: score as Ratio,
      isCulprit: score >= this.options.threshold,
      relativeImportance,
      congestionIntensity,
      expectedSaving,
      reason: reasonFor({
        harm,
        evidence,
        deviation,
        isBackground,
        isTrained: this.isTrained,
        expectedSaving,
        request,
      }),
    };
  }

  #advance(now: Ms): void {
    for (const window of this.#windows.values()) window.advance(1_000 * now, this.#sloUsOf(window));
  }

  #readingOf({ request, operation }: TraceWindow): RequestReading | undefined {
    return this.#requests.get(operation) ?? this.#requests.get(request);
  }

  #sloUsOf(window: TraceWindow): number | null {
    const slo = this.#readingOf(window)?.slo;
    return slo !== undefined && Number.isFinite(slo) ? 1_000 * slo : null;
  }

  /** By its traces or at the ingress, which also knows of those that were never answered. */
  #isHarmed(window: TraceWindow): boolean {
    const slo = this.#sloUsOf(window);
    if (slo === null) return false;
    if (window.isLate(slo)) return true;
    const reading = this.#readingOf(window);
    return reading !== undefined && reading.failed > FORGIVEN * reading.offered;
  }

  #nameOf(window: TraceWindow): string {
    return this.#readingOf(window)?.request ?? window.request;
  }

  #windowOf(request: string): TraceWindow | undefined {
    const known = this.#windows.get(request);
    return known ?? [...this.#windows.values()].find((window) => this.#nameOf(window) === request);
  }
}

/** A 99th percentile forgives one in a hundred. */
const FORGIVEN = 0.01;

/** Varies with the request and within itself: both, by Algorithm 3.2's two features; from 0 to 1. */
const naiveScore = ({ relativeImportance, congestionIntensity }: Features): number =>
  (Math.max(0, relativeImportance) * Math.log(congestionIntensity)) / Math.log(100);
