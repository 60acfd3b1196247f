/**
 * An application of many services, simulated request by request at the pace of the wall, whose spans go the way of every
 * other span.
 * Owns: the world, its clock against the wall's, the anomalies that people let happen in it, each through the guard, and a
 * twin with the same requests and anomalies, for whoever is to be compared with.
 * Not here: the world itself (sim/microservices), what becomes of spans (trace-pipeline.ts), who acts on either (mitigator.ts).
 */

import {
  endOf,
  type FaultChange,
  type FaultLimits,
  type FaultRefusal,
  type FaultState,
  type FaultTarget,
  faultLimits,
  freshFaultState,
  guardInjection,
  type Injection,
  stopInjection,
  targetName,
} from "../../../act/faults/index.ts";
import type { Ms, Result } from "../../../base/index.ts";
import { err, failure, milliseconds, minutes, ok, seconds } from "../../../base/index.ts";
import type { AnomalyDocument, AnomalyDone, AnomalyTargets, AnomalyWish } from "../../../contract/index.ts";
import type { ServicesPort } from "../../../control/tasks/mitigation/index.ts";
import type { InstanceReading, RequestReading, Span } from "../../../observe/telemetry/index.ts";
import {
  isolatedSlos,
  type MicroserviceApplication,
  type MicroserviceWorld,
  microserviceWorld,
} from "../../../sim/index.ts";
import { spansLater, wallPort } from "./wall-port.ts";

/** Requests of all types per second: enough for percentiles of ten seconds, and a few thousandths of a core. */
const REQUESTS_PER_SECOND = 50;
/** Further behind the wall than this, time is skipped: a machine that slept must not be made to catch up. */
const MOST_BEHIND = 3_000;

/** What a visitor may do: bounded in number, strength and time, and it ends by itself. */
const LIMITS: FaultLimits = {
  ...faultLimits,
  maxDuration: minutes(10),
  maxActive: 6,
  budget: { members: 60, window: minutes(10) },
};

export interface SimulatedApplicationOptions {
  readonly application: MicroserviceApplication;
  readonly seed: number;
  /** The wall's time. */
  readonly now: Ms;
}

export class SimulatedApplication {
  readonly application: MicroserviceApplication;
  /** For who acts on it, by the wall's clock; its spans go the way of every other span. */
  readonly port: ServicesPort;
  /** The same of the twin. */
  readonly twinPort: ServicesPort;
  readonly #world: MicroserviceWorld;
  readonly #twin: MicroserviceWorld;
  /** The wall's time less the world's. */
  #ahead = 0;
  #state: FaultState = freshFaultState;
  #count = 0;

  constructor({ application, seed, now }: SimulatedApplicationOptions) {
    this.application = application;
    const world = {
      // Another start, other traces: the ids of one seed would be found in the store already.
      seed: (seed + Math.floor(now / 1_000)) % 2 ** 31,
      start: now,
      application,
      slos: isolatedSlos(application),
      load: { id: "demonstration", level: "high", perMinute: Float64Array.of(REQUESTS_PER_SECOND), dispersion: 1 },
    } as const;
    this.#world = microserviceWorld(world);
    this.#twin = microserviceWorld({ ...world, tracing: { sampling: 0 } });
    this.port = wallPort(this.#world, () => this.#ahead);
    this.twinPort = wallPort(this.#twin, () => this.#ahead);
  }

  /** The wall's time of a moment of the application's. */
  wallOf(at: Ms): number {
    return at + this.#ahead;
  }

  /** Runs until the wall's now; the spans that came meanwhile, by the wall's clock. */
  advance(wall: Ms): readonly Span[] {
    const behind = wall - this.#ahead - this.#world.now;
    if (behind <= 0) return [];
    if (behind > MOST_BEHIND) this.#ahead += behind - MOST_BEHIND;
    const until = milliseconds(wall - this.#ahead);
    this.#world.advance(until);
    this.#twin.advance(until);
    this.#twin.takeSpans();
    // Worlds keep what they would tell until they are asked for it, and nobody asks for this.
    this.#twin.truth();
    this.#world.truth();
    return spansLater(this.#world.takeSpans(), this.#ahead);
  }

  instances(): readonly InstanceReading[] {
    return this.#world.readInstances();
  }

  requests(): readonly RequestReading[] {
    return this.#world.readRequests();
  }

  /** Of the same types of requests, in their order. */
  twinRequests(): readonly RequestReading[] {
    return this.#twin.readRequests();
  }

  targets(): AnomalyTargets {
    const instances = this.instances();
    return {
      instances: instances.map(({ instance }) => instance).sort(),
      nodes: [...new Set(instances.map(({ node }) => node))].sort(),
      requests: this.application.requests.map(({ name }) => name),
    };
  }

  /** In force now, oldest first. */
  anomalies(): readonly AnomalyDocument[] {
    return this.#active().map((one) => this.#documentOf(one));
  }

  /** Those in force that are in an instance: who is really to blame. */
  culprits(): readonly string[] {
    return this.#active().flatMap(({ target }) => (target.on === "instance" ? [targetName(target)] : []));
  }

  inject({ kind, target, intensity, seconds: lasts }: AnomalyWish): Result<AnomalyDone> {
    const found = this.#targetOf(target);
    if (found === undefined) return err(refused(`there is no ${target.on} '${target.name}' to do it to`));
    const wish: Injection = {
      id: `anomaly-${this.#count + 1}`,
      kind,
      target: found,
      start: this.#world.now,
      duration: seconds(lasts),
      pattern: "constant",
      intensity,
    };
    const verdict = guardInjection(wish, {
      limits: LIMITS,
      state: this.#state,
      now: this.#world.now,
      knows: (one) => this.#world.hasTarget(one),
    });
    this.#state = verdict.state;
    if (verdict.injection === undefined) return err(refused(REFUSALS[verdict.refused ?? "not-finite"]));
    this.#count += 1;
    this.#inject(verdict.injection);
    return ok({ anomaly: this.#documentOf(verdict.injection), changed: verdict.changed.map(changeWords) });
  }

  stop(id: string): Result<AnomalyDone> {
    const stopped = stopInjection(id, { state: this.#state, now: this.#world.now });
    if (stopped === undefined)
      return err(
        failure("services.unknown-anomaly", `no anomaly '${id}' is in force; GET /v1/services lists those that are`),
      );
    this.#state = stopped.state;
    this.#inject(stopped.injection);
    return ok({ anomaly: this.#documentOf(stopped.injection), changed: [] });
  }

  #inject(injection: Injection): void {
    this.#world.inject(injection);
    this.#twin.inject(injection);
  }

  #active(): readonly Injection[] {
    return this.#state.admitted.filter((one) => endOf(one) > this.#world.now);
  }

  #documentOf(injection: Injection): AnomalyDocument {
    return {
      id: injection.id,
      kind: injection.kind,
      target: targetName(injection.target),
      intensity: injection.intensity,
      from: this.wallOf(injection.start),
      until: this.wallOf(endOf(injection)),
    };
  }

  #targetOf({ on, name }: AnomalyWish["target"]): FaultTarget | undefined {
    if (on === "node") return { on, node: name };
    if (on === "requests") return { on, request: name };
    const found = this.instances().find(({ instance }) => instance === name);
    if (found === undefined) return undefined;
    return { on, service: found.service, replica: Number(name.slice(found.service.length + 1)) };
  }
}

const refused = (why: string) => failure("services.anomaly-refused", `the anomaly was refused: ${why}`);

const REFUSALS: { readonly [R in FaultRefusal]: string } = {
  "not-finite": "one of its numbers is not finite",
  "already-over": "it would be over before it begins; give it a second or more",
  "wrong-target": "more load is done to requests, everything else to an instance or a node",
  "unknown-target": "the application has no such target; GET /v1/services lists them",
  "protected-target": "its target is protected",
  "blast-radius": `${LIMITS.maxActive} are in force already; stop one, or wait until one ends`,
  "cool-down": "its target had one just now; wait a little",
  budget: `${LIMITS.budget.members} have begun within ten minutes; wait a little`,
  duplicate: "there is one with its name",
};

const changeWords = ({ field, from, to }: FaultChange): string =>
  field === "intensity"
    ? `its intensity is ${to} in place of ${from}`
    : `its ${field} is ${Math.round(to / 1_000)} s in place of ${Math.round(from / 1_000)} s`;
