/** Small parts that several views use: stages, differences to the twin, and the states of a view that has nothing to show. */
import { type ReadonlySignal, useComputed } from "@preact/signals";
import type { ComponentChild, ComponentChildren } from "preact";
import type { AgentDocument, Trouble } from "../../../src/contract/index.ts";
import { stages } from "../../../src/contract/index.ts";
import { meaningOf, stageWord } from "../words/consequences.ts";
import { points, relative } from "../words/format.ts";
import type { Comparison } from "../words/standing.ts";

/** The four stages, those behind filled, the present one named. */
export function StageSteps({
  agent,
  isLarge = false,
}: {
  agent: Pick<AgentDocument, "stage" | "mode" | "fallback">;
  isLarge?: boolean;
}): ComponentChild {
  const { stage } = agent;
  const reached = stages.indexOf(stage);
  return (
    <div class={isLarge ? "stage-steps large" : "stage-steps"} title={meaningOf(agent)}>
      <ol aria-label={`Stage ${reached + 1} of 4: ${stageWord[stage]}`}>
        {stages.map((name, index) => (
          <li
            key={name}
            class={index < reached ? "past" : index === reached ? "present" : "ahead"}
            aria-current={index === reached ? "step" : undefined}
          >
            <span>{stageWord[name]}</span>
          </li>
        ))}
      </ol>
      {isLarge ? null : (
        <span class="stage-word" aria-hidden="true">
          {stageWord[stage]}
        </span>
      )}
    </div>
  );
}

/** `What: why.`, the first part said louder. */
export function WhatAndWhy({ trouble }: { trouble: ReadonlySignal<Trouble | null> }): ComponentChild {
  const what = useComputed(() => trouble.value?.what ?? "");
  const why = useComputed(() => (trouble.value === null ? "" : `: ${trouble.value.why}.`));
  return (
    <>
      <strong>{what}</strong>
      {why}
    </>
  );
}

const VERDICT = { better: "better than the twin", worse: "worse than the twin", same: "like the twin" } as const;

/** A signed difference to the twin. Its sign says it, its colour only repeats it. */
export function Difference(props: {
  comparison: ReadonlySignal<Comparison>;
  kind: "points" | "relative";
}): ComponentChild {
  const { difference, verdict } = props.comparison.value;
  if (difference === null) return <span class="difference same">no twin</span>;
  return (
    <span class={`difference ${verdict}`}>
      {props.kind === "points" ? points(difference) : relative(difference)}
      <span class="sr-only"> ({VERDICT[verdict]})</span>
    </span>
  );
}

export function Loading({ what }: { what: string }): ComponentChild {
  return (
    <div class="state" role="status">
      <span class="pulse" aria-hidden="true" />
      <p>Reading {what}…</p>
    </div>
  );
}

export function Empty({ children }: { children: ComponentChildren }): ComponentChild {
  return (
    <div class="state">
      <p>{children}</p>
    </div>
  );
}

export function Problem({ what, why, retry }: { what: string; why: string; retry?: () => void }): ComponentChild {
  return (
    <div class="state problem" role="alert">
      <p>
        <strong>{what}</strong> {why}
      </p>
      {retry === undefined ? null : (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Every view's heading; it takes the focus when the view is entered. */
export function Title({ children }: { children: ComponentChildren }): ComponentChild {
  return <h1 tabIndex={-1}>{children}</h1>;
}
