/**
 * One controller of an application's services at the wheel: asked once per control interval, guarded, applied, recorded.
 * Owns: that nothing reaches a world unguarded, whoever proposed it, and a record of every proposal with its verdict.
 * Not here: time (the caller says when), the rules (act/instance-guard.ts), what is proposed (controllers).
 */
import {
  freshServiceGuardState,
  guardServiceAction,
  type ServiceAction,
  type ServiceGuardContext,
  type ServiceGuardLimits,
  type ServiceGuardState,
  type ServiceProposal,
  type ServiceVerdict,
} from "../../../act/index.ts";
import type { Failure, Ms } from "../../../base/index.ts";
import type { ServicesController, ServicesPort } from "../../tasks/index.ts";

/** One proposal and what became of it. */
export interface ServiceDecision {
  readonly at: Ms;
  readonly controller: string;
  readonly proposal: ServiceProposal;
  readonly verdict: Pick<ServiceVerdict, "changed" | "refused">;
  /** What was done; a hold where the guard left nothing of the wish, or the world refused it. */
  readonly done: ServiceAction;
  /** Why the world refused what the guard let pass. */
  readonly failure?: Failure;
}

export interface DriveOptions {
  readonly port: ServicesPort;
  readonly controller: ServicesController;
  readonly limits: ServiceGuardLimits;
}

type Look = Pick<ServiceGuardContext, "instances" | "nodes">;

const hold: ServiceAction = { kind: "hold" };

export class ServicesDriver {
  readonly #options: DriveOptions;
  #state: ServiceGuardState = freshServiceGuardState;

  constructor(options: DriveOptions) {
    this.#options = options;
  }

  /** One control interval: ask, then guard and do what was proposed, in its order. */
  step(): readonly ServiceDecision[] {
    const { port, controller } = this.#options;
    const proposals = controller.control(port);
    if (proposals.length === 0) return [];
    let look = this.#look();
    const touched = new Set<string>();
    return proposals.map((proposal) => {
      const { action } = proposal;
      if (action.kind === "set-limits" && touched.has(action.instance)) look = this.#look();
      const decision = this.#decide(proposal, look);
      const { done } = decision;
      if (done.kind === "scale-service") look = this.#look();
      else if (done.kind === "set-limits") {
        // What was promised to one container is not there for the next one. Other containers are what they were, and reading
        // them all after each of forty changes took half of a training's time.
        touched.add(done.instance);
        look = { ...look, nodes: port.readNodes() };
      }
      return decision;
    });
  }

  #look(): Look {
    const { port } = this.#options;
    return { instances: port.readInstances(), nodes: port.readNodes() };
  }

  #decide(proposal: ServiceProposal, look: Look): ServiceDecision {
    const { port, controller, limits } = this.#options;
    const at = port.now;
    const verdict = guardServiceAction(proposal, { ...look, limits, state: this.#state, now: at });
    const decision = { at, controller: controller.name, proposal, verdict };
    if (verdict.action.kind === "hold") return { ...decision, done: hold };
    const applied = port.apply(verdict.action);
    if (!applied.ok) return { ...decision, done: hold, failure: applied.failure };
    this.#state = verdict.state;
    return { ...decision, done: verdict.action };
  }
}
