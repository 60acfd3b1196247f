/**
 * What people ask of the plane, done or refused.
 * Owns: the checks, the change, the new revision, and that it is on disk before it is answered.
 * Not here: who may ask (server), what a stage means (control/lifecycle).
 */
import type { Failure, Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { Slo } from "../../observe/telemetry/index.ts";
import { parseSlo } from "../../observe/telemetry/index.ts";
import type { Command, FaultName, SloDocument } from "../../server/index.ts";
import { FAULT_LASTS, faultWords } from "./faults.ts";
import type { Commanded, Ward } from "./ward.ts";

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
  const ward = plane.wards.find(({ agent }) => agent.id === command.agent);
  if (ward === undefined)
    return err(failure("plane.unknown-agent", `there is no agent ${command.agent}; GET /v1/agents lists them`));
  const { wishes } = ward.agent;
  if (seen !== null && seen !== wishes.revision) return err(outdated(`agent ${command.agent}`, wishes.revision));
  const done = changeAgent(ward, command);
  if (!done.ok) return done;
  wishes.revision += 1;
  plane.tellAgent(ward);
  const text = `${ward.workload.title}: a person asked to ${done.value}`;
  plane.say({ severity: "notice", kind: "operator", text, ward, evidence: command });
  return answered(await plane.saveAgent(ward), wishes.revision);
}

/** What was done, in words. */
function changeAgent({ agent }: Ward, command: AgentCommand): Result<string> {
  const { wishes } = agent;
  switch (command.kind) {
    case "pause":
      wishes.isPaused = true;
      return ok(
        `pause the agent: ${wishes.mode === "recommend" ? "nobody acts" : "the rules act"} and nothing is learned`,
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
  const ward = plane.wards.find(({ workload }) => workload.id === command.workload);
  if (ward === undefined)
    return err(
      failure("plane.unknown-workload", `there is no workload ${command.workload}; GET /v1/workloads lists them`),
    );
  if (seen !== null && seen !== ward.revision) return err(outdated(`workload ${command.workload}`, ward.revision));
  const done = command.kind === "inject" ? inject(plane, ward, command.fault) : setSlo(ward, command.slo);
  if (!done.ok) return done;
  ward.revision += 1;
  const severity = command.kind === "inject" ? "warning" : "notice";
  plane.say({ severity, kind: command.kind, text: `${ward.workload.title}: ${done.value}`, ward, evidence: command });
  plane.tellWorkload(ward);
  plane.tellAgent(ward);
  return answered(await plane.saveAgent(ward), ward.revision);
}

function inject(plane: Commanded, ward: Ward, fault: FaultName): Result<string> {
  if (fault === "learner-crash") {
    ward.agent.crashLearner();
    return ok("a fault was injected: its learner throws at its next proposal");
  }
  plane.addFault(ward, { workload: ward.workload.id, fault, until: plane.now + FAULT_LASTS });
  return ok(`a fault was injected: ${faultWords[fault]} for ${FAULT_LASTS / 60_000} minutes of world time`);
}

function setSlo({ agent, workload }: Ward, asked: SloDocument): Result<string> {
  const slo = parseSlo(asked as Slo);
  if (!slo.ok) return slo;
  const own = workload.slo.kind === "latency" ? workload.slo.percentile : 0.99;
  if (asked.kind === "latency" && asked.percentile !== own)
    return err(
      failure(
        "plane.slo-percentile",
        `${workload.id} is measured at percentile ${own}, not at ${asked.percentile}; give ${own} with another target`,
      ),
    );
  agent.slo = slo.value;
  // Its rewards were earned against another promise, so what they said about it is void.
  const isActing = agent.stage === "ONLINE" || agent.stage === "SERVING";
  if (isActing) agent.agent.operate("roll-back", "the SLO was changed: what was earned against the old one is void");
  return ok(`its SLO was changed${isActing ? ", so its agent learns from the rules again" : ""}`);
}

/** What is in force and not on disk must not be taken for safe. */
function answered(saved: Result<void>, revision: number): Result<CommandAnswer> {
  if (saved.ok) return ok({ revision });
  return err(
    failure("plane.not-saved", `the change is in force but could not be saved: ${saved.failure.message}`, {
      cause: saved.failure,
    }),
  );
}

const outdated = (what: string, revision: number): Failure<"plane.revision"> =>
  failure(
    "plane.revision",
    `${what} has changed since it was looked at and is at revision ${revision} now; look again and decide anew`,
    { retry: true },
  );
