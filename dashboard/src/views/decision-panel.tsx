/** The decision at the cursor, or the newest: who acted, what was wished, what was done, and why. */
import { useComputed } from "@preact/signals";
import type { ComponentChild } from "preact";
import type { AllocationDocument, DecisionDocument } from "../../../src/server/plane-contract.ts";
import type { CursorGroup } from "../parts/plot.tsx";
import type { WorkloadCell } from "../plane/store.ts";
import { stageWord } from "../words/consequences.ts";
import { clock, NOTHING, plain, whole } from "../words/format.ts";
import { changedBy, reasonWords } from "../words/reasons.ts";
import { isChanged } from "./decision-lane.tsx";

export function DecisionPanel({ cell, group }: { cell: WorkloadCell; group: CursorGroup }): ComponentChild {
  const decision = useComputed(() => decisionAt(cell.decisions.value, group.lookAt.value));
  const shown = decision.value;
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
        <Shown decision={shown} isNewest={group.lookAt.value === null} />
      )}
    </aside>
  );
}

/** The one that held at that time (seconds); the newest for null. */
export function decisionAt(decisions: readonly DecisionDocument[], time: number | null): DecisionDocument | null {
  if (time === null) return decisions.at(-1) ?? null;
  return decisions.findLast((decision) => decision.at / 1000 <= time) ?? null;
}

const WHO = { learner: "The learner acted", fallback: "HPA and VPA acted", nobody: "Nobody acted" } as const;

function Shown({ decision, isNewest }: { decision: DecisionDocument; isNewest: boolean }): ComponentChild {
  return (
    <>
      <p class="quiet when">
        {isNewest ? "Newest decision" : "Decision at the cursor"} · {clock(decision.at)} · {stageWord[decision.stage]}
      </p>
      <h2>{WHO[decision.who]}</h2>
      {decision.why.length === 0 ? (
        <p class="quiet">No reason was given.</p>
      ) : (
        <ul class="why">
          {decision.why.map((reason) => (
            <li key={reason}>{reasonWords(reason)}</li>
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
            <th scope="col">wished</th>
            <th scope="col">done</th>
          </tr>
        </thead>
        <tbody>
          <Quantity name="Replicas" decision={decision} of={({ replicas }) => whole(replicas)} />
          <Quantity name="Cores per pod" decision={decision} of={({ cpu }) => plain(round2(cpu / 1000))} />
          <Quantity name="MiB per pod" decision={decision} of={({ memory }) => whole(memory / MIB)} />
        </tbody>
      </table>
      {isChanged(decision.proposed, decision.executed) ? <p class="quiet">{changers(decision.why)}</p> : null}
    </>
  );
}

function changers(why: readonly string[]): string {
  const names = changedBy(why);
  if (names.length === 0) return "The wish was rounded, or too small a change to make.";
  const named = names.length === 1 ? names[0] : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
  return `Changed by the ${named}: what the learner wished is not what was done.`;
}

interface QuantityProps {
  readonly name: string;
  readonly decision: DecisionDocument;
  readonly of: (allocation: AllocationDocument) => string;
}

const MIB = 2 ** 20;
const round2 = (value: number): number => Math.round(value * 100) / 100;

function Quantity({ name, decision, of }: QuantityProps): ComponentChild {
  const say = (allocation: AllocationDocument | null): string => (allocation === null ? NOTHING : of(allocation));
  const had = say(decision.have);
  const done = say(decision.executed);
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{had}</td>
      <td>{say(decision.proposed)}</td>
      <td>{had === done ? done : <strong>{done}</strong>}</td>
    </tr>
  );
}
