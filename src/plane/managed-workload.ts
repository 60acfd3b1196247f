/**
 * One managed workload with its agent as the plane keeps it, and what a command may do to them.
 * Owns: making it of a target and of what was saved, measuring its steps, spending its error budget, and the types between
 * the plane (plane.ts) and the commands (commands.ts).
 */
import type { Setting } from "../act/index.ts";
import type { Ms, Result } from "../base/index.ts";
import type { Account, BudgetDocument, FallbackDocument, Severity, SloDocument, Trouble } from "../contract/index.ts";
import { describeSlo } from "../contract/index.ts";
import type { SavedPlane } from "../contract/schemas/index.ts";
import type { Measured } from "../control/index.ts";
import type { LoopAgent } from "../control/loop/index.ts";
import type { Slo } from "../observe/telemetry/index.ts";
import { emptyAccount, readAccount, writtenAccount } from "./accounts.ts";
import type { BudgetCounts, BudgetStep } from "./budget.ts";
import { budgetOf, countStep, USUAL_ATTAINMENT } from "./budget.ts";
import type { History } from "./history.ts";
import { ManagedAgent } from "./managed-agent.ts";
import type { SavedWorkload } from "./saved-plane.ts";
import { Seen } from "./seen.ts";
import type { Target } from "./target.ts";
import { TroubleWatch } from "./trouble.ts";
import type { World, WorldSide } from "./world.ts";

export interface ManagedWorkload {
  readonly target: Target;
  readonly agent: ManagedAgent;
  /** What the fallback's turns see in the twin; null where there is no twin. */
  readonly twinSeen: Seen | null;
  /** The fallback alone, as the twin's loop drives it. */
  createRules(): LoopAgent;
  readonly troubles: TroubleWatch;
  trouble: Trouble | null;
  account: Account;
  twinAccount: Account | null;
  /** null before the first step with an SLO of its own. */
  budget: BudgetCounts | null;
  revision: number;
}

/** Something to be told as an event; now, where no time is given. */
export interface Saying {
  readonly severity: Severity;
  readonly kind: string;
  readonly text: string;
  readonly workload: ManagedWorkload;
  readonly at?: number;
  readonly evidence?: unknown;
}

/** The plane as commands see it. */
export interface Commanded {
  readonly now: Ms;
  readonly workloads: readonly ManagedWorkload[];
  readonly faults: World["faults"];
  say(what: Saying): void;
  tellWorkload(workload: ManagedWorkload): void;
  tellAgent(workload: ManagedWorkload): void;
  /** On disk when it returns. */
  save(): Result<void>;
  /** Until it is on the disk. */
  saveAgent(workload: ManagedWorkload): Promise<Result<void>>;
}

export interface ManageOptions {
  readonly saved: SavedPlane | null;
  readonly history: Pick<History, "accounts" | "stepsAfter">;
  readonly controlStep: Ms;
  readonly now: Ms;
  readonly hasTwin: boolean;
}

export function manage(target: Target, options: ManageOptions): ManagedWorkload {
  const { saved, history, controlStep, now, hasTwin } = options;
  const { id, view, fallback } = target;
  const before = saved?.workloads[id];
  // What was told is newer than what was saved, or as old.
  const told = history.accounts.get(id);
  const set = inForce(target, saved);
  const steps = hasOwnSlo(target, set.slo)
    ? history.stepsAfter(id, before?.budget?.at ?? Number.NEGATIVE_INFINITY)
    : [];
  const twinSeen = hasTwin ? new Seen({ view, have: target.twinHave, controlStep }) : null;
  const agent = new ManagedAgent({ target, slo: set.slo, wishes: set.wishes, controlStep, now });
  return {
    target,
    agent,
    twinSeen,
    createRules: () => seenBy(twinSeen, agent, target.createRules()),
    troubles: new TroubleWatch({ since: before?.troubleSince ?? null, view, fallback: fallback.title }),
    trouble: null,
    account: told?.own ?? (before ? readAccount(before.account) : emptyAccount(view.sums)),
    twinAccount: hasTwin ? (told?.twin ?? savedTwin(before) ?? emptyAccount(view.sums)) : null,
    budget: steps.reduce(countStep, before?.budget ?? null),
    revision: before?.revision ?? 1,
  };
}

type Given = Pick<Target, "id" | "agent" | "slo" | "mode">;

/**
 * What a person set while it ran stays in force after a restart, unless the owner has asked for something else since: then
 * that is newer.
 */
export function inForce(target: Given, saved: SavedPlane | null) {
  const before = saved?.workloads[target.id];
  const wishes = saved?.agents[target.agent];
  const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  const isSloKept = before !== undefined && isSame(before.given.slo, target.slo);
  const isModeKept = before?.given.mode === target.mode;
  return {
    slo: isSloKept ? (before.slo as Slo) : target.slo,
    wishes: {
      mode: wishes !== undefined && isModeKept ? wishes.mode : target.mode,
      isPaused: wishes?.isPaused ?? false,
      revision: wishes?.revision ?? 1,
    },
  };
}

/** The rules' turns in the twin, looked at. */
function seenBy(seen: Seen | null, agent: { readonly slo: Slo }, rules: LoopAgent): LoopAgent {
  if (seen === null) return rules;
  return {
    ...rules,
    tick: (input) => {
      seen.see(input, agent.slo);
      return rules.tick(input);
    },
    acted: (outcome) => {
      seen.acted(outcome);
      return rules.acted(outcome);
    },
  };
}

export interface StepContext {
  readonly side: WorldSide | undefined;
  readonly target: Pick<Target, "id">;
  readonly slo: Slo;
}

/** What readings say of the step that has just ended, and over it the truth where the world tells it. */
export function measureStep(
  seen: Seen,
  { side, target, slo }: StepContext,
): { readonly measured: Measured; readonly have: Setting } | null {
  const step = seen.endStep(slo);
  const truth = side?.truth?.measure(target.id, slo);
  return step === null || truth === undefined ? step : { ...step, measured: { ...step.measured, ...truth } };
}

const hasOwnSlo = ({ view }: Pick<Target, "view">, slo: Slo): boolean =>
  view.judgedBy === undefined && describeSlo(slo.kind).judged !== null;

/** Counts a step against the error budget; null where there is no SLO of its own to keep. */
export function spendBudget(workload: ManagedWorkload, step: BudgetStep, controlStep: Ms): BudgetDocument | null {
  const { target, agent } = workload;
  if (!hasOwnSlo(target, agent.slo)) return null;
  workload.budget = countStep(workload.budget, step);
  return budgetOf(workload.budget, { attainment: target.attainment ?? USUAL_ATTAINMENT, controlStep });
}

/** null without a twin. */
export const twinRulesOf = ({ target, twinSeen }: ManagedWorkload): FallbackDocument | null =>
  twinSeen === null ? null : (target.twinRules ?? target.fallback);

export function savedWorkload(workload: ManagedWorkload): SavedWorkload {
  const { target, agent, twinSeen, revision, account, twinAccount, budget, troubles } = workload;
  return {
    slo: agent.slo,
    given: { slo: target.slo as SloDocument, mode: target.mode },
    revision,
    have: agent.seen.have,
    twinHave: twinSeen?.have ?? null,
    twinRules: twinRulesOf(workload)?.name ?? null,
    account: writtenAccount(account),
    twinAccount: twinAccount && writtenAccount(twinAccount),
    budget,
    troubleSince: troubles.since,
  };
}

const savedTwin = (saved: SavedWorkload | undefined): Account | null =>
  saved?.twinAccount ? readAccount(saved.twinAccount) : null;
