/**
 * One controller of an application's containers at work: asked once per control interval, guarded, applied, recorded.
 * Owns: that nothing reaches a world unguarded, whoever proposed it, and a record of every proposal with its verdict.
 * Not here: time (the caller says when), the rules (act/guard.ts), what is proposed (controllers), agents of whole services,
 * which live in a loop (control/loop).
 */
import type { GuardLimits, GuardState, Setting, Verdict } from "../../../act/index.ts";
import { freshGuardState, guard } from "../../../act/index.ts";
import type { Failure, Limits, Ms, WorkloadId } from "../../../base/index.ts";
import type { InstanceReading, NodeReading } from "../../../observe/telemetry/index.ts";
import { containerLimits, replicaLimits, roomsFor } from "./limits.ts";
import type { ServiceAction, ServiceProposal, ServicesController, ServicesPort } from "./port.ts";

/** What became of a proposal in the guard. */
export interface ServiceVerdict extends Pick<Verdict, "changed"> {
  readonly refused?: Verdict["refused"] | "unknown-target";
}

/** One proposal and what became of it. */
export interface ServiceDecision {
  readonly at: Ms;
  readonly controller: string;
  readonly proposal: ServiceProposal;
  readonly verdict: ServiceVerdict;
  /** What was done; a hold where the guard left nothing of the wish, or the world refused it. */
  readonly done: ServiceAction;
  /** Why the world refused what the guard let pass. */
  readonly failure?: Failure;
}

export interface DriveOptions {
  readonly port: ServicesPort;
  readonly controller: ServicesController;
}

interface Look {
  readonly instances: readonly InstanceReading[];
  readonly nodes: readonly NodeReading[];
}

/** What the guard is asked about: one container's limits, or one service's count. */
interface Guarded {
  readonly name: string;
  readonly limits: GuardLimits;
  readonly have: Setting;
  readonly want: Setting;
  readonly members: readonly InstanceReading[];
  done(set: Partial<Setting>): ServiceAction;
}

const hold: ServiceAction = { kind: "hold" };

export class ServicesDriver {
  readonly #options: DriveOptions;
  /** By container and by service: limits do not change while they are there. */
  #limits = new Map<string, GuardLimits>();
  #states = new Map<string, GuardState>();

  constructor(options: DriveOptions) {
    this.#options = options;
  }

  /** One control interval: ask, then guard and do what was proposed, in its order. */
  step(): readonly ServiceDecision[] {
    const { port, controller } = this.#options;
    const proposals = controller.control(port);
    if (proposals.length === 0) return [];
    let look = this.#look();
    this.#forgetGone(look);
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

  /** So that containers that are long gone are not remembered for ever. */
  #forgetGone({ instances }: Look): void {
    const there = new Set(instances.flatMap(({ instance, service }) => [instance, keyOf(service)]));
    for (const kept of [this.#limits, this.#states])
      for (const name of kept.keys()) if (!there.has(name)) kept.delete(name);
  }

  #decide(proposal: ServiceProposal, look: Look): ServiceDecision {
    const { port, controller } = this.#options;
    const { action, measuredAt } = proposal;
    const at = port.now;
    const decision = { at, controller: controller.name, proposal };
    if (action.kind === "hold") return { ...decision, verdict: { changed: [] }, done: hold };
    const asked = this.#guarded(action, look);
    if (asked === undefined) return { ...decision, verdict: { changed: [], refused: "unknown-target" }, done: hold };
    const { name, limits, have, want, members } = asked;
    const verdict = guard(
      { workload: name as WorkloadId, want, measuredAt },
      { limits, state: this.#states.get(name) ?? freshGuardState, have, nodes: roomsFor(look.nodes, members), now: at },
    );
    if (verdict.action.kind === "hold") return { ...decision, verdict, done: hold };
    const done = asked.done(verdict.action.set);
    const applied =
      done.kind === "set-limits"
        ? port.setLimits(done.instance, done.limits)
        : done.kind === "scale-service"
          ? port.scale(done.service, done.replicas)
          : undefined;
    if (applied?.ok === false) return { ...decision, verdict, done: hold, failure: applied.failure };
    this.#states.set(name, verdict.state);
    return { ...decision, verdict, done };
  }

  #guarded(action: Exclude<ServiceAction, { kind: "hold" }>, { instances }: Look): Guarded | undefined {
    if (action.kind === "set-limits") {
      const found = instances.find(({ instance }) => instance === action.instance);
      if (found === undefined) return undefined;
      return {
        name: found.instance,
        limits: this.#limitsOf(found.instance, () => containerLimits(found)),
        have: found.limits,
        want: action.limits as Setting,
        members: [found],
        done: (set) => ({ kind: "set-limits", instance: found.instance, limits: set as Partial<Limits> }),
      };
    }
    const { service, replicas } = action;
    const members = instances.filter((one) => one.service === service);
    const [first] = members;
    if (first === undefined) return undefined;
    const name = keyOf(service);
    return {
      name,
      limits: this.#limitsOf(name, () => replicaLimits(first)),
      have: { replicas: members.length },
      want: { replicas },
      members,
      done: (set) => ({ kind: "scale-service", service, replicas: set.replicas as number }),
    };
  }

  #limitsOf(name: string, make: () => GuardLimits): GuardLimits {
    const known = this.#limits.get(name) ?? make();
    this.#limits.set(name, known);
    return known;
  }
}

/** No container is called like that. */
const keyOf = (service: string): string => `${service}/`;
