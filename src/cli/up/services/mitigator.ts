/**
 * FIRM at the wheel of the simulated application, and Kubernetes autoscaling until it has learned.
 * Owns: who is asked each second, whether what is proposed may be done, and the document about it.
 * Not here: FIRM and the guard (control/loop), what becomes of decisions as remedies (remedies.ts), the training
 * (school-worker.ts), the application (simulated-application.ts).
 *
 * Spans that others send have nobody to act here: there is no port to their containers.
 */
import { parseServiceGuardLimits } from "../../../act/index.ts";
import type { Ms, Result } from "../../../base/index.ts";
import { err, failure, unwrap } from "../../../base/index.ts";
import { serviceHpa, serviceHpaController } from "../../../control/fallbacks/index.ts";
import type { Localizer } from "../../../control/localize/index.ts";
import { FirmController, ServicesDriver } from "../../../control/loop/index.ts";
import type { MitigationAgent, ServicesController, ServicesPort } from "../../../control/tasks/index.ts";
import type { ActingDocument, ActingMode } from "../../../server/index.ts";
import { type Before, Remedies } from "./remedies.ts";

export interface MitigatorOptions {
  readonly port: ServicesPort;
  /** From the application's time to the wall's. */
  readonly wallOf: (at: Ms) => number;
  readonly mode: ActingMode;
  readonly since: number | null;
}

/** Once a second, as in 3.2.4. */
const INTERVAL = 1_000;

const OBSERVING = failure("services.observe-only", "nobody may act on the services: a person has said so");

export class Mitigator {
  readonly #options: MitigatorOptions;
  readonly #port: ServicesPort;
  readonly #remedies = new Remedies();
  readonly #fallback: ServicesController = serviceHpaController({ hpa: serviceHpa() });
  #driver: ServicesDriver;
  #firm: { readonly controller: FirmController; readonly localizer: Localizer } | null = null;
  #waitsFor = "the learner is still being trained on simulated anomalies";
  #mode: ActingMode;
  #since: number | null;
  #nextAt = Number.NEGATIVE_INFINITY;

  constructor(options: MitigatorOptions) {
    this.#options = options;
    this.#mode = options.mode;
    this.#since = options.since;
    // Asked in both modes, so that a person sees what would be done; the world is closed to it in one of them.
    const { port } = options;
    this.#port = Object.create(port, {
      apply: { value: (action: Parameters<ServicesPort["apply"]>[0]) => this.#apply(action) },
    }) as ServicesPort;
    this.#driver = this.#driverOf(this.#fallback);
  }

  /** The learner is trained: from the next interval on it is asked. */
  graduate(agent: MitigationAgent, localizer: Localizer): void {
    const controller = new FirmController({ agent, localizer, fallback: this.#fallback });
    this.#firm = { controller, localizer };
    this.#driver = this.#driverOf(controller);
  }

  /** There will be no learner. */
  giveUp(why: string): void {
    this.#waitsFor = `the learner could not be trained: ${why}`;
  }

  setMode(mode: ActingMode, at: number): void {
    this.#mode = mode;
    this.#since = at;
  }

  /** As often as the application advances; it decides once a second. */
  turn(): void {
    const { port, wallOf } = this.#options;
    const { now } = port;
    if (now < this.#nextAt) return;
    this.#nextAt = now + INTERVAL;
    const before = this.#look();
    const decisions = this.#driver.step();
    const firm = this.#firm;
    const status = firm?.controller.status ?? null;
    const isLearner = status?.acts === "agent";
    const broken = isLearner ? new Set(status.broken.keys()) : this.#broken();
    this.#remedies.note({
      at: wallOf(now),
      by: isLearner ? "learner" : "fallback",
      isActing: this.#mode === "act",
      broken,
      suspects: status?.suspects ?? [],
      decisions,
      before,
    });
    for (const check of firm?.localizer.check(now) ?? []) this.#remedies.check(check, wallOf(check.promisedAt));
    // Nobody has taken them while Kubernetes autoscaling, which reads no spans, is asked.
    if (firm === null) port.takeSpans();
  }

  document(): ActingDocument {
    const status = this.#firm?.controller.status ?? null;
    const isLearner = status?.acts === "agent";
    return {
      mode: this.#mode,
      since: this.#since,
      charge: isLearner ? "learner" : "fallback",
      why: isLearner ? null : this.#firm === null ? this.#waitsFor : (status?.why ?? "it begins with its next look"),
      remedies: this.#remedies.list,
      fitted: this.#remedies.fitted,
    };
  }

  #driverOf(controller: ServicesController): ServicesDriver {
    return new ServicesDriver({ port: this.#port, controller, limits: unwrap(parseServiceGuardLimits()) });
  }

  #apply(action: Parameters<ServicesPort["apply"]>[0]): Result<void> {
    return this.#mode === "act" ? this.#options.port.apply(action) : err(OBSERVING);
  }

  #look(): Before {
    const instances = this.#options.port.readInstances();
    const replicas = new Map<string, number>();
    for (const { service } of instances) replicas.set(service, (replicas.get(service) ?? 0) + 1);
    return { limits: new Map(instances.map(({ instance, limits }) => [instance, limits])), replicas };
  }

  #broken(): ReadonlySet<string> {
    return new Set(
      this.#options.port
        .readRequests()
        .filter(({ p99, slo, failed, offered }) => (p99 !== null && p99 > slo) || failed > 0.01 * offered)
        .map(({ request }) => request),
    );
  }
}
