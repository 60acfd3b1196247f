/**
 * What a localizer learns before it has seen anything real: anomalies in a simulated application, whose culprits are known.
 * Owns: the lessons, a second of simulated time in each.
 * Not here: the localizer (control/localize), anomalies that people let happen (service-knowledge.ts).
 *
 * The features do not depend on the application, so what is learned here is used for spans from anywhere.
 */
import { type FaultKind, faultKinds, type Injection } from "../../../act/faults/index.ts";
import type { Ms, Rng } from "../../../base/index.ts";
import { milliseconds, seconds, seededRng } from "../../../base/index.ts";
import { Localizer } from "../../../control/localize/index.ts";
import { NameTable, spanColumnsOf } from "../../../observe/telemetry/index.ts";
import { TracingCoordinator } from "../../../observe/tracing/index.ts";
import {
  isolatedSlos,
  type MicroserviceApplication,
  type MicroserviceWorld,
  microserviceWorld,
} from "../../../sim/index.ts";

export interface SchoolOptions {
  readonly application: MicroserviceApplication;
  readonly seed: number;
  /** Where its time begins; before all that the localizer will see afterwards. */
  readonly start: Ms;
  /** One anomaly each; 24 unless said. */
  readonly episodes?: number;
}

/** Nothing is wrong, then one instance has an anomaly, for a little longer than the localizer looks back. */
const CALM = 14;
const ANOMALY = 14;
const LEAST_INTENSITY = 0.6;
const PER_SECOND = 50;
const KINDS: readonly FaultKind[] = faultKinds.filter((kind) => kind !== "workload-variation");

export class LocalizerSchool {
  readonly localizer: Localizer;
  readonly #world: MicroserviceWorld;
  readonly #coordinator: TracingCoordinator;
  readonly #names = new NameTable();
  readonly #rng: Rng;
  readonly #lessons: number;
  #lesson = 0;
  #culprit: string | null = null;

  constructor({ application, seed, start, episodes = 24 }: SchoolOptions) {
    this.localizer = new Localizer({ seed });
    this.#rng = seededRng(seed).fork("school");
    this.#lessons = episodes * (CALM + ANOMALY);
    // Its spans are all there when their request ends, so a trace waits for nobody.
    this.#coordinator = new TracingCoordinator(this.#names, { limits: { settle: seconds(1) } });
    this.#world = microserviceWorld({
      seed,
      start,
      application,
      slos: isolatedSlos(application),
      load: { id: "school", level: "high", perMinute: Float64Array.of(PER_SECOND), dispersion: 1 },
    });
  }

  get isOver(): boolean {
    return this.#lesson >= this.#lessons;
  }

  /** One second of simulated time. */
  lesson(): void {
    if (this.isOver) return;
    this.#lesson += 1;
    const world = this.#world;
    world.advance(milliseconds(world.now + 1_000));
    this.#coordinator.admit(spanColumnsOf(world.takeSpans(), this.#names), world.now);
    const traces = this.#coordinator.collect(world.now);
    if (traces !== null) {
      this.localizer.observe(traces);
      this.#coordinator.release(traces);
    }
    this.localizer.read({ instances: world.readInstances(), requests: world.readRequests() });
    const second = this.#lesson % (CALM + ANOMALY);
    if (second === CALM) {
      this.#learn([]);
      this.#begin();
    } else if (second === 0) this.#learn(this.#culprit === null ? [] : [this.#culprit]);
  }

  #begin(): void {
    const world = this.#world;
    const instances = world.readInstances();
    const target = instances[this.#rng.int(instances.length)];
    const kind = KINDS[this.#rng.int(KINDS.length)];
    if (target === undefined || kind === undefined) return;
    this.#culprit = target.instance;
    const injection: Injection = {
      id: `lesson-${this.#lesson}`,
      kind,
      target: {
        on: "instance",
        service: target.service,
        replica: Number(target.instance.slice(target.service.length + 1)),
      },
      start: world.now,
      duration: seconds(ANOMALY),
      pattern: "constant",
      intensity: LEAST_INTENSITY + (1 - LEAST_INTENSITY) * this.#rng.next(),
    };
    world.inject(injection);
  }

  /** An anomaly that harms nobody makes nobody a culprit. */
  #learn(culprits: readonly string[]): void {
    const isHarmful = this.#world.readRequests().some(({ p99, slo }) => p99 !== null && p99 > slo);
    if (isHarmful === culprits.length > 0) this.localizer.learn({ culprits }, milliseconds(this.#world.now - 1_000));
  }
}
