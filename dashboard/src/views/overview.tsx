/** All workloads at a glance: who is in trouble and why, and what everything saves against the twin. */
import { type ReadonlySignal, useComputed } from "@preact/signals";
import type { ComponentChild } from "preact";
import { Difference, Empty, Loading, StageSteps, Title, WhatAndWhy } from "../parts/bits.tsx";
import { EventLine } from "../parts/event-line.tsx";
import { Grid, GridCell, GridRow } from "../parts/grid.tsx";
import { SPARK_MINUTES, Sparkline } from "../parts/sparkline.tsx";
import type { WorkloadCell } from "../plane/store.ts";
import { hrefOf } from "../router.ts";
import { store } from "../state.ts";
import { money, percent } from "../words/format.ts";
import {
  type Comparison,
  compareAttainment,
  compareCost,
  compareCpu,
  compareMemory,
  missesSince,
  releaseWords,
  type Standing,
} from "../words/standing.ts";

export function Overview(): ComponentChild {
  if (!store.hasSnapshot.value)
    return (
      <>
        <Title>Overview</Title>
        <Loading what="the workloads" />
      </>
    );
  const ids = store.order.value;
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
        <Workloads ids={ids} />
      )}
      <Lately />
    </>
  );
}

const HEADS = [
  "Workload",
  `Last ${SPARK_MINUTES} min against SLO`,
  "SLO kept",
  "CPU used",
  "Cost so far",
  "Agent's stage",
] as const;

function Workloads({ ids }: { ids: readonly string[] }): ComponentChild {
  return (
    <>
      <Legend />
      <Grid label="Workloads" heads={HEADS} order={ids.join(" ")}>
        {ids.map((id) => {
          const cell = store.cells.value.get(id);
          return cell === undefined ? null : <Row key={id} cell={cell} />;
        })}
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
    </div>
  );
}

function Legend(): ComponentChild {
  return (
    <p class="legend quiet">
      <span>
        <span class="key ours" aria-hidden="true" /> managed by its agent
      </span>{" "}
      <span>
        <span class="key twin" aria-hidden="true" /> twin: the same requests under HPA and VPA alone
      </span>{" "}
      <span>
        <span class="key target" aria-hidden="true" /> SLO
      </span>{" "}
      <span>±: difference to the twin since the start</span>
    </p>
  );
}

const NOTABLE = 4;

/** What led to what is shown above; the whole is in the events. */
function Lately(): ComponentChild {
  const notable = useComputed(() => store.events.value.filter(({ severity }) => severity !== "info").slice(0, NOTABLE));
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
  const cpu = useComputed(() => compareCpu(store.totals.value));
  const memory = useComputed(() => compareMemory(store.totals.value));
  const cost = useComputed(() => compareCost(store.totals.value));
  return (
    <dl class="totals">
      <Total name="SLO kept" comparison={attainment} say={percent} kind="points" />
      <Total name="CPU used of granted" comparison={cpu} say={percent} kind="points" />
      <Total name="Memory used of granted" comparison={memory} say={percent} kind="points" />
      <Total name="Cost so far" comparison={cost} say={money} kind="relative" />
    </dl>
  );
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
  const cpu = useComputed(() => compareCpu(pair.value));
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
          <WhatAndWhy sentence={sentence} />
        </GridCell>
      ) : null}
      <GridCell class="spark">
        <Sparkline cell={cell} />
        <Misses cell={cell} />
      </GridCell>
      <GridCell class="figure">
        <span class="cell-name">SLO kept</span>
        <Value comparison={attainment} say={percent} kind="points" />
      </GridCell>
      <GridCell class="figure">
        <span class="cell-name">CPU used</span>
        <Value comparison={cpu} say={percent} kind="points" />
      </GridCell>
      <GridCell class="figure">
        <span class="cell-name">Cost so far</span>
        <Value comparison={cost} say={money} kind="relative" />
      </GridCell>
      <GridCell class="agent-cell">
        <AgentCell id={cell.agent.value} />
      </GridCell>
    </GridRow>
  );
}

/** The line above in two numbers: where both miss much, lines lie on one another. */
function Misses({ cell }: { cell: WorkloadCell }): ComponentChild {
  const text = useComputed(() => {
    void cell.grown.value;
    const { at } = cell.history;
    const misses = missesSince(cell.history, (at.at(-1) ?? 0) - SPARK_MINUTES * 60);
    if (cell.slo.value.kind === "none" || misses === null) return "";
    const { ours, twin, of } = misses;
    return cell.twin.value === null ? `missed ${ours} of ${of} steps` : `missed ${ours} of ${of} steps, twin ${twin}`;
  });
  return <p class="misses quiet">{text}</p>;
}

const ACTING = { learner: "learner acts", fallback: "HPA and VPA act", nobody: "nobody acts" } as const;

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
          ? `paused, ${agent.mode === "recommend" ? ACTING.nobody : ACTING.fallback}`
          : ACTING[agent.acting]}
        {agent.mode === "act" ? "" : ` · ${agent.mode}`}
      </span>
    </a>
  );
}
