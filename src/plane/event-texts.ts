/**
 * What the loop reports, as sentences for people.
 * Owns: one sentence and one severity per kind of event. Not here: the events (control/loop, control/lifecycle).
 */
import type { Failure } from "../base/index.ts";
import type { EventDocument, Severity, StageChange } from "../contract/index.ts";
import type { LoopEvent } from "../control/loop/index.ts";

export type EventText = Pick<EventDocument, "severity" | "kind" | "text">;

const said = (severity: Severity, kind: string, text: string): EventText => ({ severity, kind, text });

export interface About {
  /** Of the workload. */
  readonly title: string;
  /** What its agent's fallback is called. */
  readonly fallback: string;
}

/** undefined for decisions, which have documents of their own, and for what nobody needs to read. */
export function eventText(event: LoopEvent, about: About): EventText | undefined {
  const { title } = about;
  switch (event.kind) {
    case "decision":
      return undefined;
    case "agent":
      return agentText(event.event.name, event.event.evidence, about);
    case "port-failing":
      return said("warning", "port-failing", `${title}: the ${event.port} fails: ${event.failure.message}`);
    case "port-recovered":
      return said(
        "notice",
        "port-recovered",
        `${title}: the ${event.port} works again after ${event.failures} failures`,
      );
    case "call-abandoned":
      return said("warning", "call-abandoned", `${title}: a call of the ${event.port} did not return in time`);
    case "crashed":
      return said("error", "agent-crashed", `${title}: ${event.failure.message}`);
    case "restarted":
      return restartText(event, title);
    case "recalled":
      return said("info", "recalled", `${title}: the agent remembers ${event.steps} steps from the ${event.from}`);
    case "clock-jumped":
      return said("warning", "clock-jumped", `${title}: the clock moved by ${Math.round(event.by / 1_000)} s`);
    case "skipped":
      return said("warning", "skipped", `${title}: ${event.ticks} turns were missed`);
    default:
      return undefined;
  }
}

type Restarted = Extract<LoopEvent, { readonly kind: "restarted" }>;

/** Of damage it is said which file it is: somebody may have a copy. */
function restartText({ from, damaged }: Restarted, title: string): EventText {
  const why = damaged.map(({ message }) => message).join("; ");
  if (from === "nothing") {
    const text = `${title}: the agent begins anew, no saved state could be used`;
    return said(why === "" ? "notice" : "warning", "restarted", why === "" ? text : `${text}: ${why}`);
  }
  if (why !== "") return said("warning", "restarted", `${title}: the agent goes on from the other saved state: ${why}`);
  const state = from === "saved" ? "saved state" : "state before the last save";
  return said("notice", "restarted", `${title}: the agent goes on from its ${state}`);
}

const becauseWords = (fallback: string): { readonly [because: string]: string } => ({
  bootstrap: `it learns from ${fallback} first`,
  earned: "its estimated reward reached the threshold",
  "model-ready": "its model has learned what the workload needs",
  "fallback-fails": `${fallback} missed the SLO for minutes and did not cure it`,
  converged: "its rewards reached the serving threshold and are steady",
  retraining: "its rewards fell below the serving threshold",
  rollback: `it missed the SLO more often than ${fallback} would have`,
  "not-worth": `it cost more than ${fallback} alone would, which keep the SLO as often as promised`,
  candidate:
    "a policy that learned in a simulator fitted to it takes the place of the one before, and is watched first",
  "learner-lost": "its learner was lost",
  "no-bootstrap": "the profile asks for no bootstrapping",
  "shared-policy": "it begins with the policy that was trained on many other workloads",
  operator: "a person decided so",
});

/** Of reasons that are not words already. */
const TAKEOVER_WORDS: { readonly [rule: string]: string } = {
  "model-learning": "the model of what it needs is still learning",
};

function agentText(name: string, evidence: unknown, { title, fallback }: About): EventText | undefined {
  switch (name) {
    case "transition": {
      const { from, to, because } = evidence as StageChange;
      const severity: Severity = because === "rollback" || because === "learner-lost" ? "warning" : "notice";
      return said(
        severity,
        "transition",
        `${title}: ${from} → ${to}, because ${becauseWords(fallback)[because] ?? because}`,
      );
    }
    case "canary": {
      const { to } = evidence as { readonly to: number | null };
      const words =
        to === null ? "the canary is over, the learner acts freely" : `the canary's band is ${to.toFixed(2)} now`;
      return said("info", "canary", `${title}: ${words}`);
    }
    case "handover": {
      const { to, detail } = evidence as {
        readonly to: { readonly who: string; readonly rule: string };
        readonly detail: string;
      };
      const why = TAKEOVER_WORDS[to.rule] ?? to.rule;
      return said("notice", "handover", `${title}: now acts ${to.who}: ${why}${detail === "" ? "" : ` (${detail})`}`);
    }
    case "learner-restored":
      return said("warning", name, `${title}: the learner failed and went back to its last good checkpoint`);
    case "learner-rebuilt":
      return said("error", name, `${title}: the learner was lost and made anew`);
    case "learner-replaced": {
      const { was, is } = evidence as { readonly was: string; readonly is: string };
      const change = was === is ? "of another shape or other settings than before" : `${is} now and was ${was} before`;
      return said("notice", name, `${title}: the learner is ${change}, so it begins anew`);
    }
    case "checkpoint-unusable":
      return said("error", name, `${title}: there is no checkpoint to go back to`);
    case "estimate": {
      const { mean, lower } = evidence as { readonly mean: number; readonly lower: number };
      return said(
        "info",
        name,
        `${title}: the candidate's estimated reward is ${mean.toFixed(1)}, at least ${lower.toFixed(1)}`,
      );
    }
    case "episode-discarded":
      return said("info", name, `${title}: an episode had too few rewards to count`);
    case "embedding": {
      const { state, why } = evidence as { readonly state: string; readonly why: string };
      return said(state === "stranger" ? "warning" : "notice", name, `${title}: ${state}: ${why}`);
    }
    case "shared-model-unusable":
    case "estimate-failed":
    case "adoption-refused":
      return said("warning", name, `${title}: ${(evidence as Failure).message}`);
    case "observation-refused": {
      const { code, message } = evidence as Failure;
      // Nothing is wrong: a rollout is learned from beside the loop, which takes some steps.
      if (code === "rl.rollout-full")
        return said(
          "info",
          name,
          `${title}: the rollout is full; further steps are left out until it has been trained`,
        );
      return said("warning", name, `${title}: ${message}`);
    }
    case "threshold-out-of-reach":
      return said("warning", name, `${title}: a threshold is above what an episode can earn`);
    default:
      return undefined;
  }
}
