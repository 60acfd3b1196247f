/**
 * What a localizer learns before it has seen anything real: anomalies in some application, whose culprits are known.
 * Owns: the episodes, a second of the world's time in each step.
 * Not here: the localizer, the world and its anomalies (a port; sim/microservices/pretraining-traces.ts implements it).
 *
 * The features do not depend on the application, so what is learned here is used for spans from anywhere.
 */
import type { Ms } from "../../base/index.ts";
import { milliseconds, seconds } from "../../base/index.ts";
import type { InstanceReading, RequestReading, Span } from "../../observe/telemetry/index.ts";
import { NameTable, spanColumnsOf } from "../../observe/telemetry/index.ts";
import { TracingCoordinator } from "../../observe/tracing/index.ts";
import { Localizer } from "./localizer.ts";

/** An application with spans, in which one container at a time can be disturbed. */
export interface DisturbedWorld {
  readonly now: Ms;
  advance(until: Ms): void;
  takeSpans(): readonly Span[];
  readInstances(): readonly InstanceReading[];
  readRequests(): readonly RequestReading[];
  /** Some anomaly in some container, for so long from now on; whose it is, or null where there is nobody to disturb. */
  disturb(duration: Ms): string | null;
}

export interface LocalizerPretrainingOptions {
  readonly world: DisturbedWorld;
  readonly seed: number;
  /** One anomaly each; 24 unless said. */
  readonly episodes?: number;
}

/** Nothing is wrong, then one instance has an anomaly, for a little longer than the localizer looks back. */
const CALM = 14;
const ANOMALY = 14;

export class LocalizerPretraining {
  readonly localizer: Localizer;
  readonly #world: DisturbedWorld;
  readonly #coordinator: TracingCoordinator;
  readonly #names = new NameTable();
  readonly #steps: number;
  #step = 0;
  #culprit: string | null = null;

  constructor({ world, seed, episodes = 24 }: LocalizerPretrainingOptions) {
    this.localizer = new Localizer({ seed });
    this.#world = world;
    this.#steps = episodes * (CALM + ANOMALY);
    // Its spans are all there when their request ends, so a trace waits for nobody.
    this.#coordinator = new TracingCoordinator(this.#names, { limits: { settle: seconds(1) } });
  }

  get isOver(): boolean {
    return this.#step >= this.#steps;
  }

  /** One second of the world's time. */
  step(): void {
    if (this.isOver) return;
    this.#step += 1;
    const world = this.#world;
    world.advance(milliseconds(world.now + 1_000));
    this.#coordinator.admit(spanColumnsOf(world.takeSpans(), this.#names), world.now);
    const traces = this.#coordinator.collect(world.now);
    if (traces !== null) {
      this.localizer.observe(traces);
      this.#coordinator.release(traces);
    }
    this.localizer.read({ instances: world.readInstances(), requests: world.readRequests() });
    const second = this.#step % (CALM + ANOMALY);
    if (second === CALM) {
      this.#learn([]);
      this.#culprit = world.disturb(seconds(ANOMALY)) ?? this.#culprit;
    } else if (second === 0) this.#learn(this.#culprit === null ? [] : [this.#culprit]);
  }

  /** An anomaly that harms nobody makes nobody a culprit. */
  #learn(culprits: readonly string[]): void {
    const isHarmful = this.#world.readRequests().some(({ p99, slo }) => p99 !== null && p99 > slo);
    if (isHarmful === culprits.length > 0) this.localizer.learn({ culprits }, milliseconds(this.#world.now - 1_000));
  }
}

/** All of it at once. */
export function pretrainLocalizer(options: LocalizerPretrainingOptions): Localizer {
  const pretraining = new LocalizerPretraining(options);
  while (!pretraining.isOver) pretraining.step();
  return pretraining.localizer;
}
