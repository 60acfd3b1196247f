/**
 * The fleet: workloads that come and go and share machines, as a whole: /v1/fleet.
 * Owns: shapes only. Not here: who makes it (plane/fleet-watch.ts), schemas (schemas/), how it changes (updates.ts).
 */
import type { Actor, Resource, Stage } from "../base/index.ts";

/** /v1/fleet. Lists over time have one value for each of the moments in `series.at`. */
export interface FleetDocument {
  readonly at: number;
  /** Nothing is known from before it. */
  readonly since: number;
  /** What is said to be lately is over so long. */
  readonly latelyMs: number;
  /** In the order in which they are managed; those that are away are among them. */
  readonly members: readonly FleetMember[];
  /** Within the series, oldest first. */
  readonly changes: readonly FleetChange[];
  readonly series: FleetSeries;
  /** null where the world does not tell. */
  readonly hosts: readonly FleetHost[] | null;
}

export interface FleetMember {
  readonly workload: string;
  readonly title: string;
  readonly agent: string;
  readonly isPresent: boolean;
  /** When it came, or went. */
  readonly since: number;
  /** How often it has come, those that were there at first having come once. */
  readonly joins: number;
  /** The share of steps that is to keep the SLO. */
  readonly attainment: number;
  readonly stage: Stage;
  readonly acting: Actor;
  readonly lately: FleetLately;
  /** The same workload under its twin's rules; null without a twin. */
  readonly twin: FleetLately | null;
  readonly series: FleetMemberSeries;
}

/** Of the steps that were measured lately; what is null was measured in none of them. */
export interface FleetLately {
  readonly steps: number;
  /** Those of them in which the SLO was missed. */
  readonly missed: number;
  /** Mean SLO preservation: 1 is met. */
  readonly preservation: number | null;
  /** What is used of what is granted, by name: `cpu`, `memory`. */
  readonly use: { readonly [name: string]: number | null };
  readonly reward: number | null;
}

/** Means; null while it was away, or nothing was measured. */
export interface FleetMemberSeries {
  readonly preservation: readonly (number | null)[];
  readonly reward: readonly (number | null)[];
  readonly use: { readonly [name: string]: readonly (number | null)[] };
}

export interface FleetSeries {
  /** Each stands for the time since the one before. */
  readonly at: readonly number[];
  /** Of a member and step, over all that were there. */
  readonly reward: readonly (number | null)[];
  /** The twins'; null where nobody has a twin. */
  readonly twinReward: readonly (number | null)[] | null;
  /** How many were there at that moment. */
  readonly present: readonly number[];
}

export interface FleetChange {
  readonly at: number;
  readonly workload: string;
  readonly kind: "joined" | "left";
}

/** A machine that members share, with what happened on it lately. */
export interface FleetHost {
  readonly name: string;
  readonly cores: number;
  /** Bytes that containers may reserve, and those that are reserved now. */
  readonly memory: number;
  readonly reserved: number;
  /** In the order of members. */
  readonly tenants: readonly FleetTenant[];
  /** Who holds up whom, the most first; null where the world does not tell. */
  readonly losses: readonly FleetLoss[] | null;
}

export interface FleetTenant {
  readonly workload: string;
  /** Containers now: able to work or being started, and paused for nobody. */
  readonly active: number;
  readonly spare: number;
  /** Cores on average: what it would use alone, and what it uses; null where the world does not tell. */
  readonly wanted: number | null;
  readonly used: number | null;
}

export interface FleetLoss {
  readonly workload: string;
  /** Who wants the same; the workload itself where it is in its own way, null where containers are being started. */
  readonly by: string | null;
  readonly resource: Resource;
  /** Share of the time at work on this host that is lost to it. */
  readonly share: number;
}
