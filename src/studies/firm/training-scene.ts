/**
 * An application under anomalies, seen container by container as a mitigating agent sees it: where agents are trained.
 * Owns: one episode's world (the fluid rung), its load and campaign; who is to blame, by the truth of the rung; rewards.
 * Not here: learning (training.ts), the definitions of state, action and reward (control/tasks/mitigation).
 *
 * The fluid rung has no spans, so no localizer: a container is to blame while a request type through it breaks its SLO and
 * its own time per call has grown by more than a fiftieth of that SLO. That is what injected labels stand for, and it also
 * blames a container that the agent itself has starved.
 */

import {
  type FaultTarget,
  faultLimits,
  freshFaultState,
  guardInjection,
  randomCampaign,
} from "../../act/faults/index.ts";
import { parseServiceGuardLimits, type ServiceProposal } from "../../act/index.ts";
import { type Limits, milliseconds, type Rng, seconds, unwrap } from "../../base/index.ts";
import { ServicesDriver } from "../../control/loop/index.ts";
import {
  compositionOf,
  decodeMitigation,
  encodeMitigation,
  mitigationReward,
  offeredOf,
  sloMaintenanceOf,
  UseMemory,
  workloadChangeOf,
} from "../../control/tasks/index.ts";
import type { InstanceReading } from "../../observe/telemetry/index.ts";
import {
  breaksSlo,
  type Call,
  fluidMicroserviceWorld,
  isolatedSlos,
  type MicroserviceApplication,
  type MicroserviceWorld,
  missed,
  type RequestTruth,
  simulatedServices,
} from "../../sim/index.ts";
import type { MitigationTraining } from "./training-config.ts";

export interface SceneOptions extends Pick<MitigationTraining, "alpha" | "actions" | "scene"> {
  readonly application: MicroserviceApplication;
  readonly rng: Rng;
  /** How long anomalies come for, s. */
  readonly length: number;
  /** Services whose containers are managed; the others keep their limits. */
  readonly managed: ReadonlySet<string>;
}

/** One container now. */
export interface ManagedSight {
  readonly reading: InstanceReading;
  readonly observation: Float32Array;
  readonly sloMaintenance: number;
  readonly reward: number;
}

/** What telemetry and truth said in one second. */
export interface SecondOutcome {
  readonly missed: number;
  readonly ended: number;
  /** CPU limits in force, core-seconds. */
  readonly requestedCpu: number;
}

/**
 * Of the SLO: who has grown by less has no part in breaking it. Not a part of what the slowest has grown: an agent that
 * starves all services would then be blamed for one of them.
 */
const FAIR_PART = 0.02;
/** Growth below this part of its calm time is noise. */
const LEAST_GROWTH = 0.2;

/** What is broken is not kept, even where the 99th percentile of a few requests still is. */
const JUST_BROKEN = 0.99;

const slosByApplication = new WeakMap<MicroserviceApplication, ReturnType<typeof isolatedSlos>>();

export class TrainingScene {
  readonly #options: SceneOptions;
  readonly #world: MicroserviceWorld;
  readonly #driver: ServicesDriver;
  readonly #ways: readonly ReadonlySet<string>[];
  readonly #calmTimes = new Map<string, number>();
  readonly #used = new UseMemory();
  #proposals: readonly ServiceProposal[] = [];
  #offeredBefore: number | null = null;
  #lastSecond: readonly RequestTruth[] = [];

  constructor(options: SceneOptions) {
    this.#options = options;
    const { application, rng, scene, length } = options;
    const slos = slosByApplication.get(application) ?? isolatedSlos(application);
    slosByApplication.set(application, slos);
    const { min, max } = scene.load;
    const rate = scene.designRate * (min + (max - min) * rng.next());
    const world = fluidMicroserviceWorld({
      ...{ seed: rng.uint32(), application, slos, designRate: scene.designRate, samples: scene.samples },
      load: { id: "training", level: "high", perMinute: Float64Array.of(rate), dispersion: 1 },
      // What spans tell about the last seconds, and not the ingress's window of ten.
      metrics: { sloWindow: seconds(2) },
    });
    this.#world = world;
    this.#ways = application.requests.map(({ root }) => servicesOn(root));
    this.#driver = new ServicesDriver({
      port: simulatedServices(world),
      controller: { name: "training", control: () => this.#proposals },
      limits: unwrap(parseServiceGuardLimits()),
    });
    world.advance(seconds(scene.calm));
    for (const { name } of application.services) this.#calmTimes.set(name, timeOf(world, name));
    this.#injectCampaign(length);
    world.truth();
  }

  #injectCampaign(length: number): void {
    const { rng, managed } = this.#options;
    const from = this.#world.now;
    // Anomalies hit what is managed: the others would keep everybody's requests slow, and nobody could do anything.
    const targets = [...managed].map((service): FaultTarget => ({ on: "instance", service, replica: 0 }));
    const { scene } = this.#options;
    const campaign = randomCampaign(rng, {
      ...{ from, until: milliseconds(from + length * 1_000), targets },
      ...{ perSecond: scene.anomaliesPerSecond, kinds: scene.kinds },
    });
    let state = freshFaultState;
    for (const wish of campaign) {
      const context = { limits: faultLimits, state, now: from, knows: () => true };
      const verdict = guardInjection(wish, context);
      state = verdict.state;
      if (verdict.injection !== undefined) this.#world.inject(verdict.injection);
    }
  }

  /** All managed containers of which telemetry says something. */
  look(): readonly ManagedSight[] {
    const { managed, alpha } = this.#options;
    const requests = this.#world.readRequests();
    const offered = offeredOf(requests);
    const workloadChange = workloadChangeOf(offered, this.#offeredBefore);
    this.#offeredBefore = offered;
    const composition = compositionOf(requests.map((request) => request.offered));
    const blamed = this.#blamed(requests);
    const instances = this.#world.readInstances();
    this.#used.note(instances);
    return instances.flatMap((reading): ManagedSight[] => {
      const { service, use, isReady } = reading;
      if (use === null || !isReady || !managed.has(service)) return [];
      const sloMaintenance = blamed.get(service) ?? 1;
      const observation = encodeMitigation({ sloMaintenance, workloadChange, composition, use });
      return [{ reading, observation, sloMaintenance, reward: mitigationReward({ sloMaintenance, use }, alpha) }];
    });
  }

  /** By service that is to blame: SM of the worst request type that it harms. */
  #blamed(requests: ReturnType<MicroserviceWorld["readRequests"]>): ReadonlyMap<string, number> {
    const blamed = new Map<string, number>();
    const growth = new Map<string, number>();
    const growthOf = (service: string): number => {
      let grown = growth.get(service);
      if (grown === undefined) {
        const calm = this.#calmTimes.get(service) ?? 0;
        const more = timeOf(this.#world, service) - calm;
        grown = more > LEAST_GROWTH * calm ? more : 0;
        growth.set(service, grown);
      }
      return grown;
    };
    for (const [type, { slo, p99 }] of requests.entries()) {
      // Of a few sampled requests the highest is nearly the 99th percentile: whether the SLO is broken is counted.
      const counted = this.#lastSecond[type];
      if (counted === undefined || !breaksSlo(counted)) continue;
      const sloMaintenance = Math.min(JUST_BROKEN, sloMaintenanceOf(slo, p99));
      for (const service of this.#ways[type] as ReadonlySet<string>)
        if (growthOf(service) >= FAIR_PART * slo)
          blamed.set(service, Math.min(sloMaintenance, blamed.get(service) ?? 1));
    }
    return blamed;
  }

  /** What agents say about containers passes the guard, then a second passes. */
  step(moves: readonly { readonly sight: ManagedSight; readonly action: ArrayLike<number> }[]): SecondOutcome {
    const { actions: kind } = this.#options;
    const rooms = new Map(this.#world.readNodes().map(({ node, room }) => [node, room]));
    const replicas = new Map<string, number>();
    for (const { service } of this.#world.readInstances()) replicas.set(service, (replicas.get(service) ?? 0) + 1);
    this.#proposals = moves.flatMap(({ sight: { reading: instance, sloMaintenance }, action }) =>
      decodeMitigation(action, {
        ...{ kind, instance, sloMaintenance, used: this.#used.peakOf(instance) },
        deployed: this.#used.deployedWith(instance),
        room: rooms.get(instance.node) as Limits,
        replicas: replicas.get(instance.service) ?? 1,
      }).actions.map((one): ServiceProposal => ({ action: one, measuredAt: instance.at, why: "training" })),
    );
    this.#driver.step();
    this.#world.advance(milliseconds(this.#world.now + 1_000));
    const truth = this.#world.truth();
    this.#lastSecond = truth.requests;
    return {
      missed: truth.requests.reduce((sum, one) => sum + missed(one), 0),
      ended: truth.requests.reduce((sum, one) => sum + one.completed + one.timedOut + one.dropped, 0),
      requestedCpu: truth.limits.cpu,
    };
  }
}

/** Mean time of a call in a service without what it calls, ms. */
const timeOf = (world: MicroserviceWorld, service: string): number => world.readService(service).latency ?? 0;

function servicesOn(root: Call): ReadonlySet<string> {
  const found = new Set<string>();
  const walk = (call: Call): void => {
    found.add(call.service);
    for (const one of [...call.stages.flat(), ...call.background]) walk(one);
  };
  walk(root);
  return found;
}
