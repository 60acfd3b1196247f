/**
 * The form that changes a workload's SLO: what holds, what is wished, what will follow from it, and what came of it.
 * Owns: the fields with their problems beside them, and the revision that the person saw. Not here: what a valid SLO is
 * (words/slo-input.ts), other commands (confirm.tsx).
 */
import { signal } from "@preact/signals";
import type { ComponentChild } from "preact";
import {
  describeSlo,
  type SloDocument,
  type SloFieldName,
  type SloKindName,
  sloFields,
  sloKindNames,
  sloUnits,
} from "../../../src/contract/index.ts";
import { isStale, PlaneProblem, readWorkload, send } from "../plane/client.ts";
import type { WorkloadCell } from "../plane/store.ts";
import { store } from "../state.ts";
import { consequencesOf } from "../words/consequences.ts";
import { checkSlo, fieldOf, type SloProblems, type TypedSlo, typedSlo } from "../words/slo-input.ts";
import { sloWords } from "../words/slo-words.ts";
import { useModal } from "./modal.ts";
import { say } from "./notices.tsx";

interface Asked {
  readonly cell: WorkloadCell;
  readonly revision: number;
  /** What held when the form was opened, or when another person's change was told. */
  readonly slo: SloDocument;
}

type Progress =
  | { readonly kind: "typing" }
  | { readonly kind: "sending" }
  | { readonly kind: "failed"; readonly why: string }
  | { readonly kind: "overtaken" };

const asked = signal<Asked | null>(null);
const typed = signal<TypedSlo>(typedSlo({ kind: "none" }));
const problems = signal<SloProblems>({});
const progress = signal<Progress>({ kind: "typing" });

export function askForSlo(cell: WorkloadCell): void {
  const slo = cell.slo.peek();
  asked.value = { cell, revision: cell.revision.peek(), slo };
  typed.value = typedSlo(slo);
  problems.value = {};
  progress.value = { kind: "typing" };
}

const close = (): void => {
  asked.value = null;
};

function type(change: Partial<TypedSlo>): void {
  typed.value = { ...typed.value, ...change };
  problems.value = {};
}

async function submit(now: Asked, form: HTMLFormElement): Promise<void> {
  const checked = checkSlo(typed.value);
  if (!checked.ok) return point(checked.problems, form);
  problems.value = {};
  progress.value = { kind: "sending" };
  const { cell, revision } = now;
  try {
    await send({ kind: "set-slo", workload: cell.id, slo: checked.slo }, revision);
    close();
    say(`Done: the SLO of ${cell.title.peek()} is now ${sloWords(checked.slo)}.`);
  } catch (problem) {
    if (isStale(problem)) await tellOvertaken(now);
    else refuse(problem, form);
  }
}

function refuse(problem: unknown, form: HTMLFormElement): void {
  const field = problem instanceof PlaneProblem ? fieldOf(problem.code, problem.message) : null;
  const why = problem instanceof Error ? problem.message : String(problem);
  if (field === null) {
    progress.value = { kind: "failed", why };
    return;
  }
  progress.value = { kind: "typing" };
  point({ [field]: why }, form);
}

/** Says what is wrong beside the fields and leads to the first of them. */
function point(found: SloProblems, form: HTMLFormElement): void {
  problems.value = found;
  const first = sloFields(typed.peek().kind).find(([name]) => found[name] !== undefined)?.[0] ?? "target";
  form.querySelector<HTMLElement>(`[name=${first}]`)?.focus();
}

/** What was typed is kept: whether it is still wanted is for the person to say, knowing what holds now. */
async function tellOvertaken({ cell, revision, slo }: Asked): Promise<void> {
  const now = await readWorkload(cell.id).catch(() => null);
  asked.value = { cell, revision: now?.revision ?? revision, slo: now?.slo ?? slo };
  progress.value = { kind: "overtaken" };
}

export function SloDialog(): ComponentChild {
  const now = asked.value;
  const modal = useModal(now !== null, close);
  return (
    <dialog {...modal} aria-labelledby="slo-title">
      {now === null ? null : <Form asked={now} />}
    </dialog>
  );
}

function Form({ asked: now }: { asked: Asked }): ComponentChild {
  const { cell } = now;
  const { kind } = typed.value;
  const at = progress.value;
  const agent = store.agent(cell.agent.value)?.value ?? null;
  const says = consequencesOf({ kind: "set-slo", workload: cell.id, slo: now.slo }, agent);
  return (
    <form
      class="slo-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit(now, event.currentTarget);
      }}
    >
      <h2 id="slo-title">Change the SLO of {cell.title}</h2>
      <p class="quiet">Now: {sloWords(now.slo)}.</p>
      <label class="field">
        Promise
        <select name="kind" value={kind} onChange={(event) => type({ kind: event.currentTarget.value as SloKindName })}>
          {sloKindNames.map((name) => (
            <option key={name} value={name}>
              {describeSlo(name).choice}
            </option>
          ))}
        </select>
      </label>
      {sloFields(kind).map(([name, { label, unit }]) => (
        <Field key={name} name={name} label={label} value={typed.value[name]} unit={sloUnits[unit]} />
      ))}
      {says.lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
      {at.kind === "failed" ? (
        <p class="refusal" role="alert">
          <strong>Not done.</strong> {at.why}
        </p>
      ) : null}
      {at.kind === "overtaken" ? (
        <p class="refusal" role="alert">
          <strong>Another person was faster.</strong> {cell.title} changed after you looked, so nothing was done for
          you. It is now promised: {sloWords(now.slo)}. What you typed is still here, if you want it all the same.
        </p>
      ) : null}
      <div class="choices">
        <button type="button" onClick={close}>
          {at.kind === "overtaken" ? "Leave it" : "Cancel"}
        </button>
        <button type="submit" class={says.isRisky ? "primary risky" : "primary"} disabled={at.kind === "sending"}>
          {at.kind === "sending" ? "Asking…" : at.kind === "overtaken" ? "Change it all the same" : says.verb}
        </button>
      </div>
    </form>
  );
}

interface FieldProps {
  readonly name: SloFieldName;
  readonly label: string;
  readonly value: string;
  readonly unit: string;
}

function Field({ name, label, value, unit }: FieldProps): ComponentChild {
  const problem = problems.value[name];
  return (
    <div class="field">
      <label for={`slo-${name}`}>{label}</label>
      <span class="with-unit">
        <input
          id={`slo-${name}`}
          name={name}
          type="text"
          inputMode="decimal"
          autocomplete="off"
          value={value}
          aria-invalid={problem === undefined ? undefined : true}
          aria-describedby={`slo-${name}-unit${problem === undefined ? "" : ` slo-${name}-problem`}`}
          onInput={(event) => type({ [name]: event.currentTarget.value })}
        />
        <span id={`slo-${name}-unit`} class="quiet">
          {unit}
        </span>
      </span>
      {problem === undefined ? null : (
        <p class="field-problem" id={`slo-${name}-problem`} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
