/**
 * What people ask of the plane, done or refused.
 * Owns: the checks, the change, the new revision, and that it is on disk before it is answered.
 * Not here: who may ask (server), what a stage means (control/lifecycle).
 */
import type { Failure, Result } from "../base/index.ts";
import { err, failure, ok } from "../base/index.ts";
import type { Command, FaultName, ModeName, SloDocument } from "../contract/index.ts";
import type { Slo } from "../observe/telemetry/index.ts";
import { parseSlo, sloQuantile } from "../observe/telemetry/index.ts";
import type { Commanded, ManagedWorkload } from "./managed-workload.ts";

export interface CommandAnswer {
  readonly revision: number;
}

export async function obey(
  plane: Commanded,
  command: Command,
  revision: number | null,
): Promise<Result<CommandAnswer>> {
  return "agent" in command ? obeyForAgent(plane, command, revision) : obeyForWorkload(plane, command, revision);
}

type AgentCommand = Extract<Command, { readonly agent: string }>;
type WorkloadCommand = Extract<Command, { readonly workload: string }>;

async function obeyForAgent(
  plane: Commanded,
  command: AgentCommand,
  seen: number | null,
): Promise<Result<CommandAnswer>> {
  const workload = plane.workloads.find(({ agent }) => agent.id === command.agent);
  if (workload === undefined)
    return err(failure("plane.unknown-agent", `there is no agent ${command.agent}; GET /v1/agents lists them`));
  const { wishes } = workload.agent;
  if (seen !== null && seen !== wishes.revision) return err(outdated(`agent ${command.agent}`, wishes.revision));
  const done = doForAgent(plane, workload, command);
  return done.ok ? answered(await plane.saveAgent(workload), wishes.revision) : done;
}

/**
 * One mode for all agents. Modes are kept with the plane and not with the agents' own states, so one write is enough: one for
 * each agent, after another, would be more than a person waits for.
 */
export function setAllModes(plane: Commanded, mode: ModeName): Result<void> {
  for (const workload of plane.workloads) {
    const done = doForAgent(plane, workload, { kind: "set-mode", agent: workload.agent.id, mode });
    if (!done.ok) return done;
  }
  const saved = plane.save();
  return saved.ok ? saved : err(notSaved(saved.failure));
}

function doForAgent(plane: Commanded, workload: ManagedWorkload, command: AgentCommand): Result<void> {
  const done = changeAgent(workload, command);
  if (!done.ok) return done;
  workload.agent.wishes.revision += 1;
  plane.tellAgent(workload);
  const text = `${workload.target.title}: a person asked to ${done.value}`;
  plane.say({ severity: "notice", kind: "operator", text, workload, evidence: command });
  return ok(undefined);
}

/** What was done, in words. */
function changeAgent({ agent }: ManagedWorkload, command: AgentCommand): Result<string> {
  const { wishes } = agent;
  switch (command.kind) {
    case "pause":
      wishes.isPaused = true;
      return ok(
        `pause the agent: ${wishes.mode === "recommend" ? "nobody acts" : `it is left to ${agent.fallback.title}`} and nothing is learned`,
      );
    case "resume":
      wishes.isPaused = false;
      return ok("resume the agent");
    case "set-mode":
      wishes.mode = command.mode;
      return ok(`set the mode to ${command.mode}`);
    default: {
      const from = agent.stage;
      const operated = agent.agent.operate(
        command.kind,
        "a person decided so, on what the dashboard or the API showed",
      );
      if (!operated.ok) return operated;
      return ok(`${command.kind === "promote" ? "promote" : "roll back"} the agent: ${from} → ${agent.stage}`);
    }
  }
}

async function obeyForWorkload(
  plane: Commanded,
  command: WorkloadCommand,
  seen: number | null,
): Promise<Result<CommandAnswer>> {
  const workload = plane.workloads.find(({ target }) => target.id === command.workload);
  if (workload === undefined)
    return err(
      failure("plane.unknown-workload", `there is no workload ${command.workload}; GET /v1/workloads lists them`),
    );
  if (seen !== null && seen !== workload.revision)
    return err(outdated(`workload ${command.workload}`, workload.revision));
  const done = command.kind === "inject" ? inject(plane, workload, command.fault) : setSlo(workload, command.slo);
  if (!done.ok) return done;
  workload.revision += 1;
  const severity = command.kind === "inject" ? "warning" : "notice";
  const text = `${workload.target.title}: ${done.value}`;
  plane.say({ severity, kind: command.kind, text, workload, evidence: command });
  plane.tellWorkload(workload);
  plane.tellAgent(workload);
  return answered(await plane.saveAgent(workload), workload.revision);
}

function inject(plane: Commanded, { target, agent }: ManagedWorkload, fault: FaultName): Result<string> {
  if (fault === "learner-crash") {
    agent.crashLearner();
    return ok("a fault was injected: its learner throws at its next proposal");
  }
  if (plane.faults === undefined)
    return err(failure("plane.no-faults", `${target.id} is not simulated, so no ${fault} can be injected into it`));
  const injected = plane.faults.inject(target.id, fault, plane.now);
  return injected.ok ? ok(`a fault was injected: ${injected.value}`) : injected;
}

function setSlo({ agent, target }: ManagedWorkload, asked: SloDocument): Result<string> {
  const { judgedBy } = target.view;
  if (judgedBy !== undefined)
    return err(
      failure("plane.no-own-slo", `${target.id} has no SLO of its own: it is judged by ${judgedBy}; set those`),
    );
  const slo = parseSlo(asked as Slo);
  if (!slo.ok) return slo;
  const own = sloQuantile(target.slo);
  if ("quantile" in asked && asked.quantile !== own)
    return err(
      failure(
        "plane.slo-quantile",
        `${target.id} is measured at quantile ${own}, not at ${asked.quantile}; give ${own} with another target`,
      ),
    );
  agent.slo = slo.value;
  // Its rewards were earned against another promise, so what they said about it is void.
  const isActing = agent.stage === "ONLINE" || agent.stage === "SERVING";
  if (isActing) agent.agent.operate("roll-back", "the SLO was changed: what was earned against the old one is void");
  return ok(`its SLO was changed${isActing ? `, so its agent learns from ${agent.fallback.title} again` : ""}`);
}

function answered(saved: Result<void>, revision: number): Result<CommandAnswer> {
  return saved.ok ? ok({ revision }) : err(notSaved(saved.failure));
}

/** What is in force and not on disk must not be taken for safe. */
const notSaved = (cause: Failure): Failure<"plane.not-saved"> =>
  failure("plane.not-saved", `the change is in force but could not be saved: ${cause.message}`, { cause });

const outdated = (what: string, revision: number): Failure<"plane.revision"> =>
  failure(
    "plane.revision",
    `${what} has changed since it was looked at and is at revision ${revision} now; look again and decide anew`,
    { retry: true },
  );
