/**
 * One workload with its agent as the plane keeps it, and what a command may do to them.
 * Owns: the types between the plane (plane.ts) and the commands (commands.ts).
 */
import type { Ms, Result } from "../../base/index.ts";
import type { Account, Severity, Trouble } from "../../server/index.ts";
import type { DemoAgent } from "./demo-agent.ts";
import type { DemoWorkload } from "./demo-workloads.ts";
import type { ActiveFault } from "./faults.ts";
import type { TroubleWatch } from "./trouble.ts";

export interface Ward {
  readonly workload: DemoWorkload;
  readonly agent: DemoAgent;
  readonly troubles: TroubleWatch;
  trouble: Trouble | null;
  account: Account;
  twinAccount: Account;
  revision: number;
}

/** Something to be told as an event; now, where no time is given. */
export interface Saying {
  readonly severity: Severity;
  readonly kind: string;
  readonly text: string;
  readonly ward: Ward;
  readonly at?: number;
  readonly evidence?: unknown;
}

/** The plane as commands see it. */
export interface Commanded {
  readonly now: Ms;
  readonly wards: readonly Ward[];
  say(what: Saying): void;
  tellWorkload(ward: Ward): void;
  tellAgent(ward: Ward): void;
  addFault(ward: Ward, fault: ActiveFault): void;
  /** Until it is on the disk. */
  saveAgent(ward: Ward): Promise<Result<void>>;
}
