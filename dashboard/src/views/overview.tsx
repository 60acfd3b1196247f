/** All workloads at a glance: who is in trouble and why, and what everything saves against the twin. */
import { type ReadonlySignal, useComputed } from "@preact/signals";
import type { ComponentChild } from "preact";
import {
  type Actor,
  describeSlo,
  type FallbackDocument,
  type KnobDocument,
  utilisationOf,
} from "../../../src/contract/index.ts";
import { Difference, Empty, Loading, StageSteps, Title, WhatAndWhy } from "../parts/bits.tsx";
import { EventLine } from "../parts/event-line.tsx";
import { Grid, GridCell, GridRow } from "../parts/grid.tsx";
import { SPARK_MINUTES, Sparkline } from "../parts/sparkline.tsx";
import type { WorkloadCell } from "../plane/store.ts";
import { hrefOf } from "../router.ts";
import { store } from "../state.ts";
import { budgetLeft } from "../words/budget.ts";
import { commonTitle } from "../words/fallback.ts";
import { money, percent } from "../words/format.ts";
import { nameOfAll } from "../words/knobs.ts";
import { perDayWords, savedBriefly, savedPerDay, savingsOf, savingsSentence } from "../words/savings.ts";
import { servicesSummary } from "../words/services.ts";
import {
  type Comparison,
  compareAttainment,
  compareCost,
  compareUse,
  missesSince,
  releaseWords,
  type Standing,
} from "../words/standing.ts";
import { pageOf, tasksTitle } from "../words/tasks.ts";

export function Overview(): ComponentChild {
  if (!store.hasSnapshot.value)
    return (
      <>
        <Title>Overview</Title>
        <Loading what="the workloads" />
      </>
    );
  const ids = store.order.value;
  const tasks = store.tasks.value;
  return (
    <>
      <Headline />
      <Totals />
      {ids.length === 0 ? (
        <Empty>
          Nothing is managed yet. <code>coxswain up</code> brings four demo workloads, or as many as{" "}
          <code>--workloads</code> says.
        </Empty>
      ) : (
        <>
          <Legend />
          {tasks.map((task) => (
            <Workloads key={task} task={task} ids={ids} isAlone={tasks.length === 1} />
          ))}
        </>
      )}
      <ServicesSummary />
      <Lately />
    </>
  );
}

const headsOf = (used: string): readonly string[] => [
  "Workload",
  `Last ${SPARK_MINUTES} min against SLO`,
  "SLO kept",
  used,
  "Cost so far",
  "Agent's stage",
];

/** What a row has room for: the first that its account says the use of. */
const firstUsed = (cell: WorkloadCell): string | undefined => Object.keys(utilisationOf(cell.account.value))[0];

const usedTitle = (name: string, knobs: readonly KnobDocument[]): string => `${nameOfAll(name, knobs)} used`;

interface WorkloadsProps {
  readonly task: string;
  /** Of all tasks, in order. */
  readonly ids: readonly string[];
  readonly isAlone: boolean;
}

/** Workloads of one task: they have the same figures under the same heads, and the same clock. */
function Workloads({ task, ids, isAlone }: WorkloadsProps): ComponentChild {
  const cells = ids.flatMap((id) => {
    const cell = store.cells.value.get(id);
    return cell?.task === task ? [cell] : [];
  });
  const used = useComputed(() => {
    const [title, ...others] = new Set(
      cells.flatMap((cell) => {
        const name = firstUsed(cell);
        return name === undefined ? [] : [usedTitle(name, cell.knobs.value)];
      }),
    );
    return title !== undefined && others.length === 0 ? title : "Used of granted";
  });
  return (
    <>
      {isAlone ? null : <h2 class="task-title">{tasksTitle(task)}</h2>}
      <Grid
        label={isAlone ? "Workloads" : tasksTitle(task)}
        heads={headsOf(used.value)}
        order={cells.map(({ id }) => id).join(" ")}
      >
        {cells.map((cell) => (
          <Row key={cell.id} cell={cell} />
        ))}
      </Grid>
    </>
  );
}

function Headline(): ComponentChild {
  const kind = useComputed(() => store.headline.value.kind);
  const text = useComputed(() => store.headline.value.text);
  return (
    <div class={`headline ${kind.value}`}>
      <Title>
        <span class="mark" aria-hidden="true">
          {MARKS[kind.value]}
        </span>
        {text}
      </Title>
      <Saved />
    </div>
  );
}

/** What all of it was good for so far; nothing where there is no twin, or no price. */
function Saved(): ComponentChild {
  const sentence = useComputed(() => savingsSentence(store.priced.value, commonTitle(store.priced.value.rules)));
  return sentence.value === null ? null : <p class="saved">{sentence}</p>;
}

function Legend(): ComponentChild {
  const rules = useComputed(() =>
    commonTitle(
      store.order.value.flatMap((id) => {
        const cell = store.cells.value.get(id);
        return cell === undefined ? [] : [store.twinRulesOf(cell)];
      }),
    ),
  );
  return (
    <p class="legend quiet">
      <span>
        <span class="key ours" aria-hidden="true" /> managed by its agent
      </span>{" "}
      <span>
        <span class="key twin" aria-hidden="true" /> twin: the same requests under {rules} alone
      </span>{" "}
      <span>
        <span class="key target" aria-hidden="true" /> SLO
      </span>{" "}
      <span>±: difference to the twin since the start</span>
    </p>
  );
}

/** Services have a page of their own, where each of them is shown; here it is said whether to look there. */
function ServicesSummary(): ComponentChild {
  const words = useComputed(() =>
    servicesSummary(
      store.services.value.map((cell) => ({
        title: cell.title.value,
        isInTrouble: cell.trouble.value !== null,
        agent: store.agent(cell.agent.value)?.value,
      })),
    ),
  );
  void store.agentIds.value;
  const { isInTrouble, text, stages } = words.value;
  if (store.services.value.length === 0) return null;
  return (
    <section class={isInTrouble ? "services-summary card trouble" : "services-summary card"} aria-labelledby="services">
      <h2 id="services">
        Services <a href={hrefOf({ view: "services", trace: null })}>Who calls whom, and who is to blame</a>
      </h2>
      <p>
        <span class="mark" aria-hidden="true">
          {isInTrouble ? MARKS.trouble : MARKS.met}
        </span>{" "}
        {text} <span class="quiet">{stages}</span>
      </p>
    </section>
  );
}

const NOTABLE = 4;

/** What led to what is shown above; the whole is in the events, and that of services on their pages. */
function Lately(): ComponentChild {
  const isHere = (workload: string | null): boolean =>
    workload === null || pageOf(store.cells.value.get(workload)?.task ?? "") === "overview";
  const notable = useComputed(() =>
    store.events.value.filter(({ severity, workload }) => severity !== "info" && isHere(workload)).slice(0, NOTABLE),
  );
  if (notable.value.length === 0) return null;
  return (
    <section class="lately" aria-labelledby="lately">
      <h2 id="lately">
        Lately <a href={hrefOf({ view: "events", workload: null })}>All events</a>
      </h2>
      <ol class="events card">
        {notable.value.map((event) => (
          <EventLine key={event.id} event={event} isBrief />
        ))}
      </ol>
    </section>
  );
}

function Totals(): ComponentChild {
  const attainment = useComputed(() => compareAttainment(store.totals.value));
  const cost = useComputed(() => compareCost(store.totals.value));
  const used = store.usedNames.value.split(" ").filter((name) => name !== "");
  return (
    <dl class="totals">
      <Total name="SLO kept" comparison={attainment} say={percent} kind="points" />
      {used.map((name) => (
        <UseTotal key={name} name={name} />
      ))}
      <Total name="Cost so far" comparison={cost} say={money} kind="relative" />
    </dl>
  );
}

function UseTotal({ name }: { name: string }): ComponentChild {
  const comparison = useComputed(() => compareUse(name, store.totals.value));
  const title = `${nameOfAll(name, store.knobs.value)} used of granted`;
  return <Total name={title} comparison={comparison} say={percent} kind="points" />;
}

interface Compared {
  readonly comparison: ReadonlySignal<Comparison>;
  readonly say: (value: number | null) => string;
  readonly kind: "points" | "relative";
}

function Total({ name, ...compared }: Compared & { name: string }): ComponentChild {
  const twin = useComputed(() => compared.say(compared.comparison.value.twin));
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <Value {...compared} />
        <span class="quiet twin-value">twin {twin}</span>
      </dd>
    </div>
  );
}

function Value({ comparison, say, kind }: Compared): ComponentChild {
  const text = useComputed(() => say(comparison.value.ours));
  return (
    <>
      <span class="value">{text}</span> <Difference comparison={comparison} kind={kind} />
    </>
  );
}

const MARKS: Readonly<Record<Standing["kind"], string>> = {
  trouble: "▲",
  over: "!",
  met: "✓",
  free: "○",
  unknown: "…",
};

function Row({ cell }: { cell: WorkloadCell }): ComponentChild {
  const kind = useComputed(() => cell.standing.value.kind);
  const label = useComputed(() => cell.standing.value.label);
  const sentence = useComputed(() => cell.standing.value.sentence);
  const pair = useComputed(() => ({ ours: cell.account.value, twin: cell.twin.value?.account ?? null }));
  const attainment = useComputed(() => compareAttainment(pair.value));
  const usedName = useComputed(() => firstUsed(cell));
  const use = useComputed(() => compareUse(usedName.value, pair.value));
  const cost = useComputed(() => compareCost(pair.value));
  const mark = useComputed(() => MARKS[kind.value]);
  const release = useComputed(() => releaseWords(cell.release.value));
  return (
    <GridRow class={kind.value}>
      <GridCell class="who">
        <h2>
          <a data-stop href={hrefOf({ view: "workload", id: cell.id })}>
            {cell.title}
          </a>
        </h2>
        <p class="standing">
          <span class="badge">
            <span aria-hidden="true">{mark}</span> {label}
          </span>{" "}
          {kind.value === "trouble" ? null : <span class="sentence">{sentence}</span>}
        </p>
        {kind.value === "trouble" || release.value === null ? null : <p class="sentence">{release}</p>}
      </GridCell>
      {kind.value === "trouble" ? (
        <GridCell class="sentence why">
          <WhatAndWhy trouble={cell.trouble} />
        </GridCell>
      ) : null}
      <GridCell class="spark">
        <Sparkline cell={cell} />
        <Misses cell={cell} />
      </GridCell>
      <GridCell class="figure">
        <span class="cell-name">SLO kept</span>
        <Value comparison={attainment} say={percent} kind="points" />
        <Budget cell={cell} />
      </GridCell>
      <GridCell class="figure">
        <span class="cell-name">
          {usedName.value === undefined ? "Used" : usedTitle(usedName.value, cell.knobs.value)}
        </span>
        <Value comparison={use} say={percent} kind="points" />
      </GridCell>
      <GridCell class="figure">
        <span class="cell-name">Cost so far</span>
        <Value comparison={cost} say={money} kind="relative" />
        <RowSavings cell={cell} />
      </GridCell>
      <GridCell class="agent-cell">
        <AgentCell id={cell.agent.value} />
      </GridCell>
    </GridRow>
  );
}

function Budget({ cell }: { cell: WorkloadCell }): ComponentChild {
  const text = useComputed(() => {
    const budget = cell.budget.value;
    if (budget === null) return null;
    return budget.left < 0 ? "budget overspent" : `budget ${budgetLeft(budget)} left`;
  });
  return text.value === null ? null : <p class="note quiet">{text}</p>;
}

/** In dollars, and at the present rate; the percentage stands above. */
function RowSavings({ cell }: { cell: WorkloadCell }): ComponentChild {
  const saved = useComputed(() => {
    const savings = savingsOf({ ours: cell.account.value, twin: cell.twin.value?.account ?? null });
    return savings === null ? "" : savedBriefly(savings);
  });
  const rate = useComputed(() => {
    void cell.grown.value;
    return perDayWords(savedPerDay(cell.history, (cell.history.at.at(-1) ?? 0) - SPARK_MINUTES * 60));
  });
  if (saved.value === "") return null;
  return (
    <>
      <p class="note quiet">{saved}</p>
      <p class="note quiet">{rate}</p>
    </>
  );
}

/** The line above in two numbers: where both miss much, lines lie on one another. */
function Misses({ cell }: { cell: WorkloadCell }): ComponentChild {
  const text = useComputed(() => {
    void cell.grown.value;
    const { at } = cell.history;
    const misses = missesSince(cell.history, (at.at(-1) ?? 0) - SPARK_MINUTES * 60);
    if (describeSlo(cell.slo.value.kind).judged === null || misses === null) return "";
    const { ours, twin, of } = misses;
    return cell.twin.value === null ? `missed ${ours} of ${of} steps` : `missed ${ours} of ${of} steps, twin ${twin}`;
  });
  return <p class="misses quiet">{text}</p>;
}

const actingWords = (who: Actor, { title }: FallbackDocument): string =>
  who === "fallback" ? `left to ${title}` : `${who} acts`;

function AgentCell({ id }: { id: string }): ComponentChild {
  // The list of agents is read so that one that appears later is found.
  void store.agentIds.value;
  const agent = store.agent(id)?.value;
  if (agent === undefined) return <div class="agent quiet">no agent</div>;
  return (
    <a data-stop class="agent" href={hrefOf({ view: "agent", id })}>
      <StageSteps agent={agent} />
      <span class="quiet">
        {agent.isPaused
          ? `paused, ${actingWords(agent.mode === "recommend" ? "nobody" : "fallback", agent.fallback)}`
          : actingWords(agent.acting, agent.fallback)}
        {agent.mode === "act" ? "" : ` · ${agent.mode}`}
      </span>
    </a>
  );
}
