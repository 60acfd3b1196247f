/**
 * A few requests of every step, walked through the queues as they are, standing for all of them.
 * Owns: drawing their times and ends. Not here: the queues (flows.ts), counting (counts.ts).
 */
import type { Rng } from "../../../base/index.ts";
import { normalFrom, PURPOSE, uniform } from "../../draws.ts";
import { disturbanceScale } from "../disturbances.ts";
import type { Program } from "../program.ts";
import type { FilledOptions } from "../spec.ts";
import { REFUSED, type Walker, Workflow } from "../workflow.ts";
import type { Counts } from "./counts.ts";
import type { Flows } from "./flows.ts";
import { crowdedTime, SPAN, type Station, stalledTime } from "./station.ts";

export interface SamplesOptions {
  readonly options: FilledOptions;
  readonly program: Program;
  readonly flows: Flows;
  readonly counts: Counts;
  readonly rng: Rng;
  readonly samples: number;
}

/** Draws besides those of draws.ts, so that none is used twice. */
const PICK = 40;
const WAIT = 41;
const WAIT_LENGTH = 42;
const CROWD = 43;
const CROWD_LENGTH = 44;
const PLACE = 45;
const REFUSAL = 46;
const DELAY = 47;

export class Samples implements Walker {
  readonly #options: SamplesOptions;
  readonly #workflow: Workflow;
  readonly #perType: Int32Array;
  #seed = 0;
  #turn = 0;

  constructor(options: SamplesOptions) {
    this.#options = options;
    const { program, samples } = options;
    const { hop, spread, tracing } = options.options;
    this.#workflow = new Workflow({ program, hop, spread, overhead: tracing.overhead * tracing.sampling });
    this.#perType = Int32Array.from(program.mix, (share) => Math.max(1, Math.round(share * samples)));
  }

  take(now: number): void {
    const { counts, rng, program, options } = this.#options;
    for (let type = 0; type < program.roots.length; type++) {
      const arrived = counts.arrivals[type]!;
      const samples = Math.min(this.#perType[type]!, arrived);
      counts.begin(type);
      for (let i = 0; i < samples; i++) {
        this.#seed = rng.uint32() | 0;
        const time = this.#workflow.walk(type, this.#seed, this);
        if (time === REFUSED) counts.refused(type, now);
        else if (time > options.timeout) counts.gaveUp(type, now, options.timeout);
        else counts.answered(type, now, time);
      }
      counts.end(type, samples);
    }
  }

  enter(call: number): number {
    const { program } = this.#options;
    const station = this.#stationOf(call);
    if (station === undefined) return REFUSED;
    if (station.refused > 0 && uniform(this.#seed, call, REFUSAL) < station.refused) return REFUSED;
    let wait = station.backlogTime;
    if (station.waitChance > 0 && uniform(this.#seed, call, WAIT) < station.waitChance)
      wait -= station.waitMean * Math.log(uniform(this.#seed, call, WAIT_LENGTH));
    const from = program.parent[call]!;
    const delay = station.container.delay + (from < 0 ? 0 : (this.#stationOf(from)?.container.delay ?? 0));
    if (delay <= 0) return wait;
    // There and back.
    const normal = normalFrom(uniform(this.#seed, call, DELAY), uniform(this.#seed, call, PURPOSE.delay));
    return wait + Math.max(0, 2 * delay + Math.SQRT2 * delay * disturbanceScale.delayVariation * normal);
  }

  spend(call: number, work: number, at: number): number {
    const station = this.#stationOf(call) as Station;
    // The two halves of a call's work meet different neighbours.
    this.#turn = (this.#turn + 1) & 15;
    const turn = this.#turn;
    let running = work * station.base;
    if (station.crowdChance > 0 && uniform(this.#seed, call, CROWD + 64 * turn) < station.crowdChance)
      running *= 1 - station.crowdMean * Math.log(uniform(this.#seed, call, CROWD_LENGTH + 64 * turn));
    if (!station.isThrottled) return running;
    // A container's periods go on while a request is elsewhere: its visits there are not independent.
    const begun = uniform(this.#seed, station.container.index, PLACE) * SPAN;
    const moment = (begun + at) % SPAN;
    return stalledTime(station.runs, moment, running) + crowdedTime(station, moment, work);
  }

  #stationOf(call: number): Station | undefined {
    const { program, flows } = this.#options;
    const stations = flows.stations[program.service[call]!]!;
    if (stations.length <= 1) return stations[0];
    return stations[Math.floor(uniform(this.#seed, call, PICK) * stations.length)];
  }
}
