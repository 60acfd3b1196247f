/**
 * The dialog before a command: what will happen, what speaks against it, and what came of it.
 * Owns: the revision that the person saw when asked, so that of two who press at once the second is told.
 */
import { signal } from "@preact/signals";
import type { ComponentChild } from "preact";
import type { AgentDocument, Command } from "../../../src/contract/index.ts";
import { isStale, PlaneProblem, readAgent, send } from "../plane/client.ts";
import { store } from "../state.ts";
import { type Consequences, consequencesOf, stageWord } from "../words/consequences.ts";
import { useModal } from "./modal.ts";
import { say } from "./notices.tsx";

interface Asked {
  readonly command: Command;
  readonly revision: number;
  readonly agent: AgentDocument | null;
  readonly says: Consequences;
}

type Progress =
  | { readonly kind: "asking" }
  | { readonly kind: "sending" }
  | { readonly kind: "failed"; readonly why: string }
  | { readonly kind: "overtaken"; readonly now: AgentDocument | null };

const asked = signal<Asked | null>(null);
const progress = signal<Progress>({ kind: "asking" });

export function confirm(command: Command, seen: { revision: number; agent: AgentDocument | null }): void {
  asked.value = { command, ...seen, says: consequencesOf(command, seen.agent) };
  progress.value = { kind: "asking" };
}

async function carryOut({ command, revision, agent, says }: Asked): Promise<void> {
  progress.value = { kind: "sending" };
  try {
    await send(command, revision);
    asked.value = null;
    say(`Done: ${says.title.charAt(0).toLowerCase()}${says.title.slice(1)}.`);
  } catch (problem) {
    if (isStale(problem)) {
      const now = agent === null ? null : await readAgent(agent.id).catch(() => null);
      if (now !== null) store.takeAgent(now);
      progress.value = { kind: "overtaken", now };
    } else {
      const why = problem instanceof PlaneProblem ? problem.message : String(problem);
      progress.value = { kind: "failed", why };
    }
  }
}

const close = (): void => {
  asked.value = null;
};

export function ConfirmDialog(): ComponentChild {
  const now = asked.value;
  const modal = useModal(now !== null, close);
  return (
    <dialog {...modal} aria-labelledby="confirm-title">
      {now === null ? null : <Question asked={now} />}
    </dialog>
  );
}

function Question({ asked: now }: { asked: Asked }): ComponentChild {
  const { says } = now;
  const at = progress.value;
  return (
    <>
      <h2 id="confirm-title">{says.title}</h2>
      {says.lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
      {says.doubts.length === 0 ? null : (
        <div class="doubts">
          <p>
            <strong>{says.doubts[0]}</strong>
          </p>
          <ul>
            {says.doubts.slice(1).map((doubt) => (
              <li key={doubt}>{doubt}</li>
            ))}
          </ul>
        </div>
      )}
      {at.kind === "failed" ? (
        <p class="refusal" role="alert">
          <strong>Not done.</strong> {at.why}
        </p>
      ) : null}
      {at.kind === "overtaken" ? <Overtaken now={at.now} /> : null}
      <div class="choices">
        {at.kind === "overtaken" ? (
          <button type="button" class="primary" onClick={close}>
            Look again
          </button>
        ) : (
          <>
            <button type="button" onClick={close}>
              Cancel
            </button>
            <button
              type="button"
              class={says.isRisky ? "primary risky" : "primary"}
              disabled={at.kind === "sending"}
              onClick={() => void carryOut(now)}
            >
              {at.kind === "sending" ? "Asking…" : at.kind === "failed" ? `${says.verb} again` : says.verb}
            </button>
          </>
        )}
      </div>
    </>
  );
}

function Overtaken({ now }: { now: AgentDocument | null }): ComponentChild {
  return (
    <p class="refusal" role="alert">
      <strong>Another person was faster.</strong> It changed after you looked, so nothing was done for you.{" "}
      {now === null ? "" : `It is now ${stageWord[now.stage]}, in mode “${now.mode}”${now.isPaused ? ", paused" : ""}.`}
    </p>
  );
}
