/** All workloads at a glance: who is in trouble and why, and what everything saves against the twin. */
import { type ReadonlySignal, useComputed } from "@preact/signals";
import type { ComponentChild } from "preact";
import { Difference, Empty, Loading, StageSteps, Title } from "../parts/bits.tsx";
import { Sparkline } from "../parts/sparkline.tsx";
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
          Nothing is managed yet. <code>coxswain up</code> brings four demo workloads; your own go into its
          configuration.
        </Empty>
      ) : (
        <section aria-label="Workloads">
          <div class="row-heads" aria-hidden="true">
            <span>Workload</span>
            <span>Latency against target</span>
            <span>SLO kept</span>
            <span>CPU used</span>
            <span>Cost so far</span>
            <span>Agent's stage</span>
          </div>
          <ul class="rows">
            {ids.map((id) => {
              const cell = store.cells.value.get(id);
              return cell === undefined ? null : <Row key={id} cell={cell} />;
            })}
          </ul>
        </section>
      )}
      <p class="legend quiet">
        Signed differences compare with the twin: the same requests under HPA and VPA alone, since the start.
      </p>
    </>
  );
}

function Headline(): ComponentChild {
  const isTroubled = useComputed(() => [...store.cells.value.values()].some((cell) => cell.trouble.value !== null));
  return (
    <div class={isTroubled.value ? "headline troubled" : "headline"}>
      <Title>
        <span class="mark" aria-hidden="true">
          {isTroubled.value ? "▲" : "✓"}
        </span>
        {store.headline}
      </Title>
    </div>
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
  return (
    <li class={`row ${kind.value}`}>
      <div class="who">
        <h2>
          <a href={hrefOf({ view: "workload", id: cell.id })}>{cell.title}</a>
        </h2>
        <p class="standing">
          <span class="badge">
            <span aria-hidden="true">{mark}</span> {label}
          </span>{" "}
          <span class="sentence">{sentence}</span>
        </p>
      </div>
      <div class="spark">
        <Sparkline cell={cell} />
      </div>
      <div class="figure">
        <span class="cell-name">SLO kept</span>
        <Value comparison={attainment} say={percent} kind="points" />
      </div>
      <div class="figure">
        <span class="cell-name">CPU used</span>
        <Value comparison={cpu} say={percent} kind="points" />
      </div>
      <div class="figure">
        <span class="cell-name">Cost so far</span>
        <Value comparison={cost} say={money} kind="relative" />
      </div>
      <AgentCell id={cell.agent.value} />
    </li>
  );
}

const ACTING = { learner: "learner acts", fallback: "fallback acts", nobody: "nobody acts" } as const;

function AgentCell({ id }: { id: string }): ComponentChild {
  // The list of agents is read so that one that appears later is found.
  void store.agentIds.value;
  const agent = store.agent(id)?.value;
  if (agent === undefined) return <div class="agent quiet">no agent</div>;
  return (
    <a class="agent" href={hrefOf({ view: "agent", id })}>
      <StageSteps stage={agent.stage} />
      <span class="quiet">
        {agent.isPaused ? "paused, fallback acts" : ACTING[agent.acting]}
        {agent.mode === "act" ? "" : ` · ${agent.mode}`}
      </span>
    </a>
  );
}
