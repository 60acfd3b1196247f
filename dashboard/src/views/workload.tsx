/**
 * One workload over time: load, latency, its knobs, reward and decisions on one time axis with one cursor.
 * Not here: the charts themselves (time-charts.tsx), which decision is read out (decision-panel.tsx).
 */
import { useComputed, useSignal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { type FaultName, utilisationOf } from "../../../src/contract/index.ts";
import { Difference, Loading, Problem, Title, WhatAndWhy } from "../parts/bits.tsx";
import { confirm } from "../parts/confirm.tsx";
import { CursorGroup } from "../parts/plot.tsx";
import { askForSlo } from "../parts/slo-dialog.tsx";
import { SPARK_MINUTES } from "../parts/sparkline.tsx";
import { loadDecisions, loadPast } from "../plane/load-past.ts";
import type { WorkloadCell } from "../plane/store.ts";
import { connection } from "../plane/stream.ts";
import { hrefOf } from "../router.ts";
import { store } from "../state.ts";
import { budgetLeft, budgetMeaning, burnWords, steeringWords } from "../words/budget.ts";
import { faultWord } from "../words/consequences.ts";
import { capitalized } from "../words/fallback.ts";
import { money, percent } from "../words/format.ts";
import { nameOfAll } from "../words/knobs.ts";
import { perDayWords, savedPerDay, savedWords, savingsOf } from "../words/savings.ts";
import { sloWords } from "../words/slo-words.ts";
import { compareAttainment, compareCost, compareUse, releaseWords } from "../words/standing.ts";
import { homeOf, namedIn } from "../words/tasks.ts";
import { chartsOf } from "./charts.ts";
import { DecisionLane } from "./decision-lane.tsx";
import { DecisionPanel } from "./decision-panel.tsx";
import { Scrubber, TimeChart } from "./time-charts.tsx";

export function WorkloadView({ id }: { id: string }): ComponentChild {
  const cell = store.cells.value.get(id);
  if (cell !== undefined) return <Known cell={cell} />;
  return (
    <>
      <Title>{id}</Title>
      {store.hasSnapshot.value ? (
        <Problem what="There is no such workload." why={`Nothing called “${id}” is managed here.`} />
      ) : (
        <Loading what="the workload" />
      )}
    </>
  );
}

function Known({ cell }: { cell: WorkloadCell }): ComponentChild {
  const group = useMemo(() => new CursorGroup(`workload-${cell.id}`), [cell]);
  const fallback = useComputed(() => store.fallbackOf(cell.agent.value).title);
  // A text, so that a new sample with the same knobs draws nothing anew.
  const used = useComputed(() => Object.keys(cell.now.value?.use ?? {}).join(" "));
  const charts = chartsOf({
    slo: cell.slo.value,
    isJudgedByOthers: cell.judgedBy.value !== null,
    knobs: cell.knobs.value,
    used: used.value.split(" "),
  });
  const hasExpected = useComputed(() => {
    void cell.grown.value;
    return cell.history.ours.expected.some((value) => value !== null);
  });
  const home = homeOf(cell.task);
  useEffect(() => {
    loadPast(cell);
    // Without the stored ones the panel fills with those to come.
    loadDecisions(store, cell.id).catch(() => undefined);
  }, [cell]);
  return (
    <>
      <nav class="crumbs" aria-label="Where you are">
        <a href={hrefOf(home.to)}>{home.title}</a> <span aria-hidden="true">›</span> {cell.title}
      </nav>
      <Head cell={cell} />
      <div class="beside">
        <section aria-label="Charts" class="charts card">
          <p class="legend quiet">
            <span>
              <span class="key ours" aria-hidden="true" /> managed
            </span>{" "}
            <span>
              <span class="key twin" aria-hidden="true" /> twin under {fallback}
            </span>{" "}
            {hasExpected.value ? (
              <span>
                <span class="key expected" aria-hidden="true" /> expected by the model
              </span>
            ) : null}{" "}
            <span>
              <span class="key granted" aria-hidden="true" /> granted
            </span>{" "}
            <span>
              <span class="key missed" aria-hidden="true" /> SLO missed
            </span>
          </p>
          <Scrubber cell={cell} group={group} />
          {charts.map((chart) => (
            <TimeChart key={chart.column} chart={chart} cell={cell} group={group} />
          ))}
          <DecisionLane cell={cell} group={group} />
        </section>
        <DecisionPanel cell={cell} group={group} />
      </div>
    </>
  );
}

function Head({ cell }: { cell: WorkloadCell }): ComponentChild {
  const standing = cell.standing;
  const pair = useComputed(() => ({ ours: cell.account.value, twin: cell.twin.value?.account ?? null }));
  const attainment = useComputed(() => compareAttainment(pair.value));
  // One figure tells of use as much as there is room for: the first that there is.
  const usedName = useComputed(() => Object.keys(utilisationOf(cell.account.value))[0]);
  const use = useComputed(() => compareUse(usedName.value, pair.value));
  const cost = useComputed(() => compareCost(pair.value));
  // Nobody has a price list for what has cost nothing so far.
  const hasCost = useComputed(() => pair.value.ours.steps === 0 || pair.value.ours.cost > 0);
  const kept = useComputed(() => percent(attainment.value.ours));
  const used = useComputed(() => percent(use.value.ours));
  const spent = useComputed(() => money(cost.value.ours));
  const kind = useComputed(() => standing.value.kind);
  const label = useComputed(() => standing.value.label);
  const sentence = useComputed(() => standing.value.sentence);
  const release = useComputed(() => releaseWords(cell.release.value));
  return (
    <div class={`head ${kind.value}`}>
      <div>
        <Title>{capitalized(namedIn(cell.task, cell.title.value))}</Title>
        <p class="standing">
          <span class="badge">{label}</span>{" "}
          <span class="sentence">{kind.value === "trouble" ? <WhatAndWhy trouble={cell.trouble} /> : sentence}</span>
        </p>
        {kind.value === "trouble" || release.value === null ? null : <p>{release}</p>}
        <p class="quiet">
          {cell.judgedBy.value === null ? `Promise: ${sloWords(cell.slo.value)}` : `Judged by ${cell.judgedBy.value}`} ·{" "}
          <a href={hrefOf({ view: "agent", id: cell.agent.value })}>Its agent</a> ·{" "}
          <a href={hrefOf({ view: "events", workload: cell.id })}>Its events</a>
        </p>
        <Compared cell={cell} />
        <Steering cell={cell} />
        <Actions cell={cell} />
      </div>
      <dl class="totals small">
        <div>
          <dt>SLO kept</dt>
          <dd>
            <span class="value">{kept}</span> <Difference comparison={attainment} kind="points" />
          </dd>
        </div>
        <BudgetFigure cell={cell} />
        {usedName.value === undefined ? null : (
          <div>
            <dt>{nameOfAll(usedName.value, cell.knobs.value)} used</dt>
            <dd>
              <span class="value">{used}</span> <Difference comparison={use} kind="points" />
            </dd>
          </div>
        )}
        {hasCost.value ? (
          <div>
            <dt>Cost so far</dt>
            <dd>
              <span class="value">{spent}</span> <Difference comparison={cost} kind="relative" />
            </dd>
          </div>
        ) : null}
        <SavedFigure cell={cell} />
      </dl>
    </div>
  );
}

function BudgetFigure({ cell }: { cell: WorkloadCell }): ComponentChild {
  const budget = cell.budget.value;
  if (budget === null) return null;
  return (
    <div title={budgetMeaning(budget)}>
      <dt>Error budget left</dt>
      <dd>
        <span class={budget.left < 0 ? "value overspent" : "value"}>{budgetLeft(budget)}</span>{" "}
        <span class="quiet note">{burnWords(budget)}</span>
      </dd>
    </div>
  );
}

/** Against the twin; nothing without one. */
function SavedFigure({ cell }: { cell: WorkloadCell }): ComponentChild {
  const savings = useComputed(() => savingsOf({ ours: cell.account.value, twin: cell.twin.value?.account ?? null }));
  const rate = useComputed(() => {
    void cell.grown.value;
    return perDayWords(savedPerDay(cell.history, (cell.history.at.at(-1) ?? 0) - SPARK_MINUTES * 60));
  });
  if (savings.value === null) return null;
  return (
    <div>
      <dt>{savings.value.dollars < 0 ? "Spent against the twin" : "Saved against the twin"}</dt>
      <dd>
        <span class="value">{savedWords(savings.value)}</span> <span class="quiet note">{rate}</span>
      </dd>
    </div>
  );
}

/** What its agent wants, and with whom it is compared. */
function Compared({ cell }: { cell: WorkloadCell }): ComponentChild {
  const [objective, rules] = [cell.objective.value, cell.twinRules.value];
  const said = [
    ...(objective === null ? [] : [`Objective: ${objective}`]),
    ...(rules === null ? [] : [`Twin: ${rules.title}`]),
  ];
  return said.length === 0 ? null : <p class="quiet">{said.join(" · ")}</p>;
}

/** How much of what is done is the learner's own. */
function Steering({ cell }: { cell: WorkloadCell }): ComponentChild {
  // The list of agents is read so that one that appears later is found.
  void store.agentIds.value;
  const agent = store.agent(cell.agent.value)?.value;
  const words = agent === undefined ? null : steeringWords(agent.steering, agent.fallback.title);
  return words === null ? null : <p class="quiet">The learner's decisions: {words}</p>;
}

function Actions({ cell }: { cell: WorkloadCell }): ComponentChild {
  const isLive = connection.value.kind === "live";
  return (
    <fieldset class="actions" disabled={!isLive}>
      <legend class="sr-only">What you can do</legend>
      {cell.judgedBy.value === null ? (
        <button type="button" onClick={() => askForSlo(cell)}>
          Change the SLO…
        </button>
      ) : null}
      {cell.faults.value.length === 0 ? null : <FaultForm cell={cell} faults={cell.faults.value} />}
      {isLive ? null : <p class="quiet">Nothing can be asked for while the connection is lost.</p>}
    </fieldset>
  );
}

function FaultForm({ cell, faults }: { cell: WorkloadCell; faults: readonly FaultName[] }): ComponentChild {
  const fault = useSignal<FaultName>(faults.includes("load-surge") ? "load-surge" : (faults[0] ?? "learner-crash"));
  return (
    <form
      class="fault"
      onSubmit={(event) => {
        event.preventDefault();
        confirm(
          { kind: "inject", workload: cell.id, fault: fault.value },
          { revision: cell.revision.value, agent: null },
        );
      }}
    >
      <label>
        Try a fault{" "}
        <select
          value={fault.value}
          onChange={(event) => {
            fault.value = event.currentTarget.value as FaultName;
          }}
        >
          {faults.map((name) => (
            <option key={name} value={name}>
              {faultWord(name)}
            </option>
          ))}
        </select>
      </label>
      <button type="submit">Inject…</button>
    </form>
  );
}
