/**
 * Who acts on the services of the simulated application: one agent for each, in a plane of their own, and Kubernetes
 * autoscaling alone until there is a policy to begin with.
 * Owns: the two phases, whether anything is carried out, and the document about it.
 * Not here: agents and their turns (plane), the application (simulated-application.ts), pre-training
 * (pretraining-worker.ts), what becomes of decisions as remedies (remedies.ts).
 *
 * Spans that others send have nobody to act here: there is no way to their containers.
 */

import type { Setting } from "../../../act/index.ts";
import { type Ms, milliseconds, ok, type Result } from "../../../base/index.ts";
import type { ActingDocument, ActingMode, ModeName, PlaneUpdate } from "../../../contract/index.ts";
import { ServicesDriver, serviceHpa, serviceHpaController } from "../../../control/tasks/mitigation/index.ts";
import type { Plane } from "../../../plane/index.ts";
import { Remedies, type ServiceTurn } from "./remedies.ts";
import type { ServiceKnowledge } from "./service-knowledge.ts";
import type { ServicesWorld } from "./services-world.ts";
import type { SimulatedApplication } from "./simulated-application.ts";

export interface MitigatorOptions {
  readonly simulated: SimulatedApplication;
  readonly knowledge: ServiceKnowledge;
  readonly world: ServicesWorld;
  readonly mode: ActingMode;
  readonly since: number | null;
}

/** Once a second, as in 3.2.4. */
const INTERVAL = 1_000;
/** Further behind the wall than this, time is skipped: a machine that slept must not be made to catch up. */
const MOST_BEHIND = 5_000;

/** An agent's mode for what a person says about all of them. */
export const modeFor = (mode: ActingMode): ModeName => (mode === "act" ? "act" : "recommend");

export class Mitigator {
  readonly #options: MitigatorOptions;
  readonly #remedies = new Remedies();
  /** Kubernetes autoscaling alone, of the application and of its twin. */
  readonly #rules: readonly ServicesDriver[];
  #plane: Plane | null = null;
  #waitsFor = "the policy is still being trained on simulated anomalies";
  #mode: ActingMode;
  #since: number | null;
  #nextRules = Number.NEGATIVE_INFINITY;
  #updates: PlaneUpdate[] = [];

  constructor(options: MitigatorOptions) {
    const { simulated, mode, since } = options;
    this.#options = options;
    this.#mode = mode;
    this.#since = since;
    this.#rules = [simulated.port, simulated.twinPort].map(
      (port) => new ServicesDriver({ port, controller: serviceHpaController({ hpa: serviceHpa() }) }),
    );
  }

  get plane(): Plane | null {
    return this.#plane;
  }

  /** The agents are there: from now on the plane moves the application. */
  use(plane: Plane): void {
    this.#plane = plane;
  }

  /** There will be no policy to begin with. */
  giveUp(why: string): void {
    this.#waitsFor = `the policy could not be trained: ${why}`;
  }

  /** For all agents; each can be set by itself as well, which is newer then. */
  async setMode(mode: ActingMode, at: number): Promise<Result<void>> {
    this.#mode = mode;
    this.#since = at;
    return this.#plane?.setModes(modeFor(mode)) ?? ok(undefined);
  }

  /** The application, its spans and whoever acts on it, until the wall's now. */
  async advance(wall: Ms): Promise<void> {
    const { world, simulated } = this.#options;
    const plane = this.#plane;
    if (plane === null) {
      world.advance(wall);
      world.clock.advanceTo(simulated.port.now);
      this.#stepRules(wall);
      return;
    }
    if (wall - plane.now > MOST_BEHIND) world.clock.advanceTo(milliseconds(wall - INTERVAL));
    while (plane.nextMoment <= wall) await plane.advance();
    await this.#hear(plane);
  }

  /** What the plane has told since the last call, as of now. */
  async newest(): Promise<readonly PlaneUpdate[]> {
    if (this.#plane !== null) await this.#hear(this.#plane);
    return this.takeUpdates();
  }

  /** What the plane has told since the last call. */
  takeUpdates(): readonly PlaneUpdate[] {
    const updates = this.#updates;
    this.#updates = [];
    return updates;
  }

  #stepRules(wall: Ms): void {
    if (wall < this.#nextRules) return;
    this.#nextRules = wall + INTERVAL;
    const [own, twin] = this.#rules;
    if (this.#mode === "act") own?.step();
    twin?.step();
  }

  /** What the plane tells is kept for people, and its decisions become remedies. */
  async #hear(plane: Plane): Promise<void> {
    const told = await plane.tell(plane.now);
    if (!told.ok) throw new Error(told.failure.message);
    this.#updates.push(...told.value);
    const { knowledge } = this.#options;
    const { broken } = knowledge.status;
    const turns = told.value.flatMap((update) => (update.kind === "decision" ? turnOf(update.decision) : []));
    if (turns.length === 0) return;
    this.#remedies.note({
      at: plane.now,
      isActing: this.#mode === "act",
      broken: new Set(broken.keys()),
      suspects: broken.size > 0 ? knowledge.suspects.list : [],
      turns: turns.map((turn) => ({ ...turn, service: this.#serviceOf(turn.service) })),
    });
    for (const check of knowledge.localizer.check(plane.now)) this.#remedies.check(check);
  }

  #serviceOf(workload: string): string {
    return workload.slice(this.#options.simulated.application.name.length + 1);
  }

  document(): ActingDocument {
    return {
      mode: this.#mode,
      since: this.#since,
      waitsFor: this.#plane === null ? this.#waitsFor : null,
      remedies: this.#remedies.list,
      fitted: this.#remedies.fitted,
    };
  }
}

type Decision = Extract<PlaneUpdate, { readonly kind: "decision" }>["decision"];

function turnOf({ workload, who, have, proposed, executed }: Decision): ServiceTurn[] {
  const has = executed ?? proposed;
  if (have === null || has === null) return [];
  return [
    {
      service: workload,
      by: who === "learner" || executed === null ? "learner" : "fallback",
      had: have as unknown as Setting,
      has: has as unknown as Setting,
    },
  ];
}
