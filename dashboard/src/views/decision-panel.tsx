/**
 * The decision at the cursor, or the newest: who acted and why, what was proposed, what was done, what the fallback alone
 * would have, and the latency that a model expects of it.
 */
import { useComputed } from "@preact/signals";
import type { ComponentChild } from "preact";
import type {
  DecisionDocument,
  FallbackDocument,
  KnobDocument,
  Reason,
  SettingDocument,
  SloDocument,
} from "../../../src/contract/index.ts";
import type { CursorGroup } from "../parts/plot.tsx";
import type { WorkloadCell } from "../plane/store.ts";
import { store } from "../state.ts";
import { stageWord } from "../words/consequences.ts";
import { withFallback } from "../words/fallback.ts";
import { clock, latency } from "../words/format.ts";
import { quantityOf } from "../words/knobs.ts";
import { changedBy, reasonWords } from "../words/reasons.ts";
import { isChanged } from "./decision-lane.tsx";

export function DecisionPanel({ cell, group }: { cell: WorkloadCell; group: CursorGroup }): ComponentChild {
  const decision = useComputed(() => decisionAt(cell.decisions.value, group.lookAt.value));
  const shown = decision.value;
  const fallback = store.fallbackOf(cell.agent.value);
  return (
    <aside class="decision card" aria-label="Decision">
      {shown === null ? (
        <>
          <h2>No decision yet</h2>
          <p class="quiet">
            The first one is shown here as soon as it is taken. Point at the charts to see earlier ones.
          </p>
        </>
      ) : (
        <Shown
          decision={shown}
          knobs={cell.knobs.value}
          slo={cell.slo.value}
          isNewest={group.lookAt.value === null}
          fallback={fallback}
        />
      )}
    </aside>
  );
}

/** The one that held at that time (seconds); the newest for null. */
export function decisionAt(decisions: readonly DecisionDocument[], time: number | null): DecisionDocument | null {
  if (time === null) return decisions.at(-1) ?? null;
  return decisions.findLast((decision) => decision.at / 1000 <= time) ?? null;
}

const WHO = { learner: "The learner acted", fallback: "{fallback} acted", nobody: "Nobody acted" } as const;

interface ShownProps {
  readonly decision: DecisionDocument;
  readonly knobs: readonly KnobDocument[];
  readonly slo: SloDocument;
  readonly isNewest: boolean;
  readonly fallback: FallbackDocument;
}

function Shown({ decision, knobs, slo, isNewest, fallback }: ShownProps): ComponentChild {
  const hasAlone = decision.fallback !== null;
  return (
    <>
      <p class="quiet when">
        {isNewest ? "Newest decision" : "Decision at the cursor"} · {clock(decision.at)} · {stageWord[decision.stage]}
      </p>
      <h2>{withFallback(WHO[decision.who], fallback.title)}</h2>
      {decision.why.length === 0 ? (
        <p class="quiet">No reason was given.</p>
      ) : (
        <ul class="why">
          {decision.why.map((reason) => (
            <li key={`${reason.by} ${reason.rule} ${reason.knob ?? ""}`}>{reasonWords(reason, fallback)}</li>
          ))}
        </ul>
      )}
      {decision.failure === null ? null : (
        <p class="refusal">
          <strong>It failed.</strong> {decision.failure}
        </p>
      )}
      <table>
        <thead>
          <tr>
            <th scope="col">
              <span class="sr-only">Quantity</span>
            </th>
            <th scope="col">had</th>
            <th scope="col">proposed</th>
            <th scope="col">done</th>
            {hasAlone ? (
              <th scope="col">
                alone<span class="sr-only"> under {fallback.title}</span>
              </th>
            ) : null}
          </tr>
        </thead>
        <tbody>
          {knobs.map((knob) => (
            <Quantity key={knob.name} knob={knob} knobs={knobs} decision={decision} />
          ))}
        </tbody>
      </table>
      {hasAlone ? <p class="quiet">Alone: what there would be by now under {fallback.title} alone.</p> : null}
      {decision.expected === null ? null : <p class="quiet">{expectedWords(decision.expected, slo)}</p>}
      {isChanged(decision.proposed, decision.executed) ? <p class="quiet">{changers(decision.why)}</p> : null}
    </>
  );
}

function changers(why: readonly Reason[]): string {
  const names = changedBy(why);
  if (names.length === 0) return "The proposal was rounded, or too small a change to make.";
  const named = names.length === 1 ? names[0] : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
  return `Changed by the ${named}: what the learner proposed is not what was done.`;
}

const expectedWords = (expected: number, slo: SloDocument): string =>
  slo.kind === "latency"
    ? `The model expects ${latency(expected)}; the SLO allows ${latency(slo.target)}.`
    : `The model expects ${latency(expected)}.`;

interface QuantityProps {
  readonly knob: KnobDocument;
  readonly knobs: readonly KnobDocument[];
  readonly decision: DecisionDocument;
}

function Quantity({ knob, knobs, decision }: QuantityProps): ComponentChild {
  const { name, say } = quantityOf(knob, knobs);
  const of = (setting: SettingDocument | null): string => say(setting?.[knob.name]);
  const had = of(decision.have);
  const done = of(decision.executed);
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{had}</td>
      <td>{of(decision.proposed)}</td>
      <td>{had === done ? done : <strong>{done}</strong>}</td>
      {decision.fallback === null ? null : <td class="quiet">{of(decision.fallback)}</td>}
    </tr>
  );
}
