/**
 * What a command will do, said before it is done.
 * Owns: the text of every confirmation. Pure.
 */
import type { AgentDocument, Command, FaultName, ModeName, StageName } from "../../../src/contract/index.ts";
import { stages } from "../../../src/contract/index.ts";
import { fallbackTitle, withFallback } from "./fallback.ts";

export interface Consequences {
  readonly title: string;
  /** What the confirming button says. */
  readonly verb: string;
  readonly lines: readonly string[];
  /** What speaks against it right now. */
  readonly doubts: readonly string[];
  readonly isRisky: boolean;
}

export const stageWord: Readonly<Record<StageName, string>> = {
  INITIALIZED: "Initialized",
  OFFLINE: "Offline",
  ONLINE: "Online",
  SERVING: "Serving",
};

const stageMeaning: Readonly<Record<StageName, string>> = {
  INITIALIZED: "Acting is left to {fallback}. The learner has not begun.",
  OFFLINE: "Acting is left to {fallback}. The learner trains on what is done.",
  ONLINE: "The learner acts and keeps training, watched by the guard.",
  SERVING: "The learner acts with a settled policy.",
};

/** The same where the mode lets nobody act. */
const stageWouldMean: Readonly<Record<StageName, string>> = {
  INITIALIZED: "Acting would be left to {fallback}. The learner has not begun.",
  OFFLINE: "Acting would be left to {fallback}. The learner trains on what is done.",
  ONLINE: "The learner would act and keeps training.",
  SERVING: "The learner would act with a settled policy.",
};

const modeMeanings: Readonly<Record<ModeName, string>> = {
  recommend: "It only recommends: nobody acts, neither the learner nor {fallback}.",
  canary: "It acts within a narrow band around what {fallback} would do.",
  act: "It acts as far as the guard lets it.",
};

export const modeMeaning = (mode: ModeName, agent: Pick<AgentDocument, "fallback"> | null): string =>
  withFallback(modeMeanings[mode], fallbackTitle(agent));

/** What the stage means in the agent's mode, which may let nobody act whatever the stage. */
export function meaningOf({ stage, mode, fallback }: Pick<AgentDocument, "stage" | "mode" | "fallback">): string {
  const words =
    mode === "recommend" ? `${modeMeanings.recommend} Otherwise: ${stageWouldMean[stage]}` : stageMeaning[stage];
  return withFallback(words, fallback.title);
}

const faultMeaning: Readonly<Record<FaultName, string>> = {
  "telemetry-lost": "Its measurements stop arriving for a while.",
  "node-lost": "One of its nodes goes away, and the pods on it.",
  "load-surge": "Its load rises steeply for a while, for the twin as well.",
  "learner-crash": "Its learner ends.",
  "slow-pods": "Its pods answer slower for a while.",
};

/** Faults after which the learner may not act, and what follows from that. */
function faultFollows(fault: FaultName, agent: Asked | null): string {
  if (fault !== "telemetry-lost" && fault !== "learner-crash") return "";
  const words =
    agent?.mode === "recommend"
      ? "{fallback} would take over within one step, but it only recommends: nobody acts."
      : "{fallback} must take over within one step.";
  return ` ${withFallback(words, fallbackTitle(agent))}`;
}

export function nextStage(stage: StageName): StageName | null {
  return stages[stages.indexOf(stage) + 1] ?? null;
}

/** Back to where the fallback acts, whatever the stage was; null where it acts already. */
export function rolledBackStage(stage: StageName): StageName | null {
  return stage === "ONLINE" || stage === "SERVING" ? "OFFLINE" : null;
}

/** Where the mode is “recommend” nobody acts, and a step back changes nothing about that. */
const takeOver = (agent: Asked | null): string =>
  agent?.mode === "recommend"
    ? "Nobody acts, as before"
    : withFallback("{fallback} will act from the next step on", fallbackTitle(agent));

type Asked = Pick<AgentDocument, "id" | "stage" | "acting" | "mode" | "gates" | "fallback">;

export function consequencesOf(command: Command, agent: Asked | null): Consequences {
  switch (command.kind) {
    case "promote": {
      const to = agent === null ? null : nextStage(agent.stage);
      const failing = (agent?.gates ?? []).filter((gate) => !gate.holds).map((gate) => `${gate.gate}: ${gate.about}`);
      return {
        title: to === null ? `Promote ${command.agent}` : `Promote ${command.agent} to ${stageWord[to]}`,
        verb: "Promote",
        lines: [
          to === null || agent === null ? "There is no stage above this one." : meaningOf({ ...agent, stage: to }),
          agent?.mode === "recommend"
            ? `Once it may act, the guard checks every action, and stale measurements, a crash or too many corrections would put ${fallbackTitle(agent)} in charge within one step.`
            : `The guard still checks every action, and stale measurements, a crash or too many corrections put ${fallbackTitle(agent)} back in charge within one step.`,
        ],
        doubts: failing.length === 0 ? [] : ["These gates do not hold yet:", ...failing],
        isRisky: failing.length > 0,
      };
    }
    case "roll-back": {
      const to = agent === null ? null : rolledBackStage(agent.stage);
      return {
        title: `Roll ${command.agent} back${to === null ? "" : ` to ${stageWord[to]}`}`,
        verb: "Roll back",
        lines: [
          to === null
            ? "There is nothing to roll back: the learner does not act."
            : `${takeOver(agent)}, and the agent goes back to ${stageWord[to]}: it trains on what is done.`,
          "What it has learned is kept. It has to pass its gates again to return.",
        ],
        doubts: [],
        isRisky: true,
      };
    }
    case "pause":
      return {
        title: `Pause ${command.agent}`,
        verb: "Pause",
        lines: [`${takeOver(agent)}, and nothing is learned.`, "It stays paused until somebody resumes it."],
        doubts: [],
        isRisky: false,
      };
    case "resume":
      return {
        title: `Resume ${command.agent}`,
        verb: "Resume",
        lines: [
          agent === null
            ? "It goes on where it was stopped."
            : `It goes on in ${stageWord[agent.stage]}. ${meaningOf(agent)}`,
        ],
        doubts: [],
        isRisky: false,
      };
    case "set-mode":
      return {
        title: `Set ${command.agent} to “${command.mode}”`,
        verb: "Change mode",
        lines: [
          agent === null ? "" : `Now “${agent.mode}”: ${modeMeaning(agent.mode, agent)}`,
          `Then “${command.mode}”: ${modeMeaning(command.mode, agent)}`,
        ].filter((line) => line !== ""),
        doubts: [],
        isRisky: command.mode === "act",
      };
    case "inject":
      return {
        title: `Inject “${faultWord(command.fault)}” into ${command.workload}`,
        verb: "Inject the fault",
        lines: [
          `${faultMeaning[command.fault]}${faultFollows(command.fault, agent)}`,
          "It passes by itself. The events will tell what happens.",
        ],
        doubts: [],
        isRisky: true,
      };
    case "set-slo": {
      const isActing = agent !== null && rolledBackStage(agent.stage) !== null;
      return {
        title: `Change the SLO of ${command.workload}`,
        verb: "Change the SLO",
        lines: [
          "The agent and its twin are judged by the new target from the next step on.",
          ...(isActing
            ? [
                `${takeOver(agent)}, and the agent goes back to Offline: what it earned under the old target says nothing about the new one.`,
              ]
            : []),
        ],
        doubts: [],
        isRisky: isActing,
      };
    }
  }
}

export const faultWord = (fault: FaultName): string => fault.replace("-", " ");
