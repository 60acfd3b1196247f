/**
 * Simulated applications under random anomalies, on the fluid rung: what mitigating agents are pre-trained on.
 * Owns: an episode's load, world and campaign, all drawn from one stream. Not here: training (control/tasks/mitigation),
 * whose port this implements.
 */
import {
  type FaultKind,
  type FaultTarget,
  faultLimits,
  freshFaultState,
  guardInjection,
  randomCampaign,
} from "../../act/faults/index.ts";
import { type Ms, milliseconds, type Rng, seconds } from "../../base/index.ts";
import type { Call, MicroserviceApplication } from "./applications/index.ts";
import { breaksSlo, missed } from "./campaign.ts";
import { fluidMicroserviceWorld } from "./fluid/fluid-world.ts";
import { isolatedSlos } from "./isolated.ts";
import { type SimulatedServices, simulatedServices } from "./services-port.ts";
import type { MicroserviceWorld } from "./world.ts";

export interface SimulatedEpisode {
  readonly rng: Rng;
  readonly scene: {
    /** Requests per second that limits are made for; each episode draws its load between these times that. */
    readonly designRate: number;
    readonly load: { readonly min: number; readonly max: number };
    readonly samples: number;
    readonly anomaliesPerSecond: number;
    readonly kinds: readonly FaultKind[];
    /** How long the application runs before the first anomaly, s. */
    readonly calm: number;
  };
  readonly length: number;
  readonly managed: ReadonlySet<string>;
}

export interface SimulatedEpisodeWorld extends SimulatedServices {
  advance(until: Ms): void;
  truth(): {
    readonly requests: readonly { readonly missed: number; readonly ended: number; readonly isBroken: boolean }[];
    readonly requestedCpu: number;
  };
}

export interface SimulatedGround {
  readonly name: string;
  readonly services: readonly string[];
  readonly ways: readonly ReadonlySet<string>[];
  open(episode: SimulatedEpisode): SimulatedEpisodeWorld;
}

export function simulatedGround(application: MicroserviceApplication): SimulatedGround {
  const slos = isolatedSlos(application);
  return {
    name: application.name,
    services: application.services.map(({ name }) => name),
    ways: application.requests.map(({ root }) => servicesOn(root)),
    open({ rng, scene, length, managed }) {
      const { min, max } = scene.load;
      const rate = scene.designRate * (min + (max - min) * rng.next());
      const world = fluidMicroserviceWorld({
        seed: rng.uint32(),
        application,
        slos,
        designRate: scene.designRate,
        samples: scene.samples,
        load: { id: "training", level: "high", perMinute: Float64Array.of(rate), dispersion: 1 },
        // What spans tell about the last seconds, and not the ingress's window of ten.
        metrics: { sloWindow: seconds(2) },
      });
      world.advance(seconds(scene.calm));
      injectCampaign(world, { rng, scene, length, managed });
      world.truth();
      return episodeWorld(world);
    },
  };
}

function episodeWorld(world: MicroserviceWorld): SimulatedEpisodeWorld {
  return Object.assign(simulatedServices(world), {
    advance: (until: Ms) => world.advance(until),
    truth: () => {
      const { requests, limits } = world.truth();
      return {
        requests: requests.map((one) => ({
          missed: missed(one),
          ended: one.completed + one.timedOut + one.dropped,
          isBroken: breaksSlo(one),
        })),
        requestedCpu: limits.cpu,
      };
    },
  });
}

function injectCampaign(world: MicroserviceWorld, { rng, scene, length, managed }: SimulatedEpisode): void {
  const from = world.now;
  // Anomalies hit what is managed: the others would keep everybody's requests slow, and nobody could do anything.
  const targets = [...managed].map((service): FaultTarget => ({ on: "instance", service, replica: 0 }));
  const campaign = randomCampaign(rng, {
    from,
    until: milliseconds(from + length * 1_000),
    targets,
    perSecond: scene.anomaliesPerSecond,
    kinds: scene.kinds,
  });
  let state = freshFaultState;
  for (const wish of campaign) {
    const verdict = guardInjection(wish, { limits: faultLimits, state, now: from, knows: () => true });
    state = verdict.state;
    if (verdict.injection !== undefined) world.inject(verdict.injection);
  }
}

function servicesOn(root: Call): ReadonlySet<string> {
  const found = new Set<string>();
  const walk = (call: Call): void => {
    found.add(call.service);
    for (const one of [...call.stages.flat(), ...call.background]) walk(one);
  };
  walk(root);
  return found;
}
