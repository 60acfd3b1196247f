/**
 * Where mitigating agents are trained before they manage anything: applications under anomalies, as a port.
 * Owns: what a training asks of such a world. Who implements it: sim/microservices/pretraining-ground.ts.
 */
import type { Ms, Rng } from "../../../../base/index.ts";
import type { ServicesPort } from "../port.ts";
import type { SceneConfig } from "./config.ts";

export interface PretrainingGround {
  /** Of the application. */
  readonly name: string;
  readonly services: readonly string[];
  /** By request type: the services that it calls. */
  readonly ways: readonly ReadonlySet<string>[];
  /** An episode's world: its calm seconds are over, anomalies have been drawn and will come. All chance is from `rng`. */
  open(episode: GroundEpisode): PretrainingWorld;
}

export interface GroundEpisode {
  readonly rng: Rng;
  readonly scene: SceneConfig;
  /** How long anomalies come for, s. */
  readonly length: number;
  /** Services that anomalies are done to. */
  readonly managed: ReadonlySet<string>;
}

export interface PretrainingWorld extends ServicesPort {
  /** Runs until the given moment, which is not before now. */
  advance(until: Ms): void;
  /** Since the last call. For rewards and scores, which a policy in service has not. */
  truth(): SecondTruth;
}

export interface SecondTruth {
  /** By request type. */
  readonly requests: readonly {
    readonly missed: number;
    readonly ended: number;
    readonly isBroken: boolean;
  }[];
  /** CPU limits in force, core-seconds. */
  readonly requestedCpu: number;
}
