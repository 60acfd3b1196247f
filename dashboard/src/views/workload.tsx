/**
 * One workload over time: load, latency, replicas, CPU, memory, reward and decisions on one time axis with one cursor.
 * Not here: the charts themselves (parts/plot.tsx), which decision is read out (decision-panel.tsx).
 */
import { type ReadonlySignal, useComputed, useSignal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { type FaultName, faults, type SeriesColumn } from "../../../src/server/plane-contract.ts";
import { Difference, Loading, Problem, Title } from "../parts/bits.tsx";
import { confirm } from "../parts/confirm.tsx";
import { CursorGroup, Plot, type PlotLine } from "../parts/plot.tsx";
import { drawShade, type Mark } from "../parts/plot-drawing.ts";
import type { Columns } from "../plane/history.ts";
import { loadDecisions, loadPast } from "../plane/load-past.ts";
import type { WorkloadCell } from "../plane/store.ts";
import { hrefOf } from "../router.ts";
import { store } from "../state.ts";
import { faultWord } from "../words/consequences.ts";
import { bytes, clock, cores, latency, load, money, percent, reward, whole } from "../words/format.ts";
import { compareAttainment, compareCost, compareCpu, percentileName, sloWords } from "../words/standing.ts";
import { DecisionLane } from "./decision-lane.tsx";
import { DecisionPanel } from "./decision-panel.tsx";

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
  useEffect(() => {
    loadPast(cell);
    // Without the stored ones the panel fills with those to come.
    loadDecisions(store, cell.id).catch(() => undefined);
  }, [cell]);
  return (
    <>
      <nav class="crumbs" aria-label="Where you are">
        <a href="#/">Overview</a> <span aria-hidden="true">›</span> {cell.title}
      </nav>
      <Head cell={cell} />
      <div class="beside">
        <section aria-label="Charts" class="charts card">
          <p class="legend quiet">
            <span>
              <span class="key ours" aria-hidden="true" /> managed
            </span>{" "}
            <span>
              <span class="key twin" aria-hidden="true" /> twin under HPA and VPA
            </span>{" "}
            <span>
              <span class="key granted" aria-hidden="true" /> granted
            </span>{" "}
            <span>
              <span class="key missed" aria-hidden="true" /> SLO missed
            </span>
          </p>
          <Scrubber cell={cell} group={group} />
          {CHARTS.map((chart) => (
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
  const cpu = useComputed(() => compareCpu(pair.value));
  const cost = useComputed(() => compareCost(pair.value));
  const kept = useComputed(() => percent(attainment.value.ours));
  const used = useComputed(() => percent(cpu.value.ours));
  const spent = useComputed(() => money(cost.value.ours));
  const kind = useComputed(() => standing.value.kind);
  const label = useComputed(() => standing.value.label);
  const sentence = useComputed(() => standing.value.sentence);
  return (
    <div class={`head ${kind.value}`}>
      <div>
        <Title>{cell.title}</Title>
        <p class="standing">
          <span class="badge">{label}</span> <span class="sentence">{sentence}</span>
        </p>
        <p class="quiet">
          Promise: {sloWords(cell.slo.value)} · <a href={hrefOf({ view: "agent", id: cell.agent.value })}>Its agent</a>{" "}
          · <a href={hrefOf({ view: "events", workload: cell.id })}>Its events</a>
        </p>
        <FaultForm cell={cell} />
      </div>
      <dl class="totals small">
        <div>
          <dt>SLO kept</dt>
          <dd>
            <span class="value">{kept}</span> <Difference comparison={attainment} kind="points" />
          </dd>
        </div>
        <div>
          <dt>CPU used</dt>
          <dd>
            <span class="value">{used}</span> <Difference comparison={cpu} kind="points" />
          </dd>
        </div>
        <div>
          <dt>Cost so far</dt>
          <dd>
            <span class="value">{spent}</span> <Difference comparison={cost} kind="relative" />
          </dd>
        </div>
      </dl>
    </div>
  );
}

function FaultForm({ cell }: { cell: WorkloadCell }): ComponentChild {
  const fault = useSignal<FaultName>("load-surge");
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

/** The cursor by keyboard and thumb. */
function Scrubber({ cell, group }: { cell: WorkloadCell; group: CursorGroup }): ComponentChild {
  void cell.grown.value;
  const { at } = cell.history;
  const looked = group.lookAt.value;
  const index = looked === null ? at.length - 1 : indexAt(at, looked);
  const time = at[index];
  return (
    <div class="scrubber">
      <label for="scrubber">Look at</label>
      <input
        id="scrubber"
        type="range"
        min={0}
        max={Math.max(at.length - 1, 0)}
        value={Math.max(index, 0)}
        aria-valuetext={time === undefined ? "nothing yet" : clock(time * 1000)}
        onInput={(event) => {
          const wanted = event.currentTarget.valueAsNumber;
          group.point(wanted >= at.length - 1 ? null : (at[wanted] ?? null));
        }}
      />
      <span class="when">{looked === null ? "now" : clock(looked * 1000)}</span>
    </div>
  );
}

/** The last index whose time is not after `time`; -1 before all. */
export function indexAt(at: readonly number[], time: number): number {
  let low = 0;
  let high = at.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((at[middle] ?? Number.POSITIVE_INFINITY) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Times the target: where a latency chart ends, so that the target is still seen beside a peak. */
const CUT_AT = 3;

interface Chart {
  readonly column: SeriesColumn;
  /** Drawn beside it, where what is used is held against what is granted. */
  readonly granted?: "cpu" | "memory";
  readonly title: string;
  readonly say: (value: number | null | undefined) => string;
  readonly isStepped?: boolean;
  readonly startsAtZero?: boolean;
  readonly steps?: readonly number[];
}

/** From 16 MiB to 512 GiB. */
const POWERS_OF_TWO = Array.from({ length: 16 }, (_, index) => 2 ** (24 + index));

const CHARTS: readonly Chart[] = [
  { column: "load", title: "Load", say: load },
  { column: "latency", title: "Latency", say: latency },
  { column: "replicas", title: "Replicas", say: whole, isStepped: true, steps: [1, 2, 5, 10, 20, 50, 100, 200, 500] },
  { column: "cpuUse", granted: "cpu", title: "CPU", say: cores },
  { column: "memoryUse", granted: "memory", title: "Memory", say: bytes, steps: POWERS_OF_TWO },
  { column: "reward", title: "Reward", say: reward, startsAtZero: false },
];

function linesOf(chart: Chart): readonly PlotLine[] {
  const isStepped = chart.isStepped === true;
  return [
    { label: "twin", colour: "--twin", width: 1.25, isStepped },
    ...(chart.granted === undefined
      ? []
      : [{ label: "granted", colour: "--granted", width: 1.5, isStepped: true } as const]),
    { label: "managed", colour: "--ours", width: 2, isStepped },
  ];
}

function TimeChart({ chart, cell, group }: { chart: Chart; cell: WorkloadCell; group: CursorGroup }): ComponentChild {
  const { history } = cell;
  const index = useComputed(() => {
    void cell.grown.value;
    const looked = group.lookAt.value;
    return looked === null ? history.at.length - 1 : indexAt(history.at, looked);
  });
  const marks = (): readonly Mark[] => {
    const slo = cell.slo.value;
    if (chart.column === "latency" && slo.kind === "latency")
      return [{ value: slo.target, colour: "--target", label: `SLO ${latency(slo.target)}` }];
    if (chart.column === "load" && slo.kind === "throughput")
      return [{ value: slo.target, colour: "--target", label: `SLO ${load(slo.target)}` }];
    return [];
  };
  const isJudged = chart.column === "latency" || (chart.column === "load" && cell.slo.value.kind === "throughput");
  const ceiling = (): number | null => {
    const slo = cell.slo.value;
    return chart.column === "latency" && slo.kind === "latency" ? CUT_AT * slo.target : null;
  };
  const missed = (): readonly boolean[] => history.ours.preservation.map((kept) => kept !== null && kept < 1);
  const slo = cell.slo.value;
  const title =
    chart.column === "latency" && slo.kind === "latency" ? `Latency, ${percentileName(slo.percentile)}` : chart.title;
  return (
    <div class="time-chart">
      <ChartHead chart={chart} cell={cell} index={index} title={title} />
      <Plot
        group={group}
        spec={{
          label: `${title} of ${cell.title.value} over time, and of its twin`,
          height: 104,
          x: "time",
          hasXAxis: false,
          startsAtZero: chart.startsAtZero ?? true,
          lines: linesOf(chart),
          say: chart.say,
          ...(chart.steps === undefined ? {} : { steps: chart.steps }),
          marks,
          ...(chart.column === "latency" ? { ceiling } : {}),
          ...(isJudged ? { behind: (plot) => drawShade(plot, missed()) } : {}),
        }}
        data={() => {
          void cell.grown.value;
          const ours = history.ours[chart.column];
          const twin = history.twin[chart.column];
          return chart.granted === undefined
            ? [history.at, twin, ours]
            : [history.at, twin, grantedToAll(history.ours, chart.granted), ours];
        }}
      />
    </div>
  );
}

/** Limits are per pod, use is that of all pods together. */
function grantedAt(columns: Columns, name: "cpu" | "memory", index: number): number | null {
  const perPod = columns[name][index] ?? null;
  const replicas = columns.replicas[index] ?? null;
  return perPod === null || replicas === null ? null : perPod * replicas;
}

const grantedToAll = (columns: Columns, name: "cpu" | "memory"): (number | null)[] =>
  columns[name].map((_value, index) => grantedAt(columns, name, index));

interface ChartHeadProps {
  readonly chart: Chart;
  readonly cell: WorkloadCell;
  readonly index: ReadonlySignal<number>;
  readonly title: string;
}

function ChartHead({ chart, cell, index, title }: ChartHeadProps): ComponentChild {
  const { history } = cell;
  const ours = useComputed(() => chart.say(history.ours[chart.column][index.value]));
  const twin = useComputed(() => chart.say(history.twin[chart.column][index.value]));
  const granted = useComputed(() =>
    chart.granted === undefined ? "" : ` of ${chart.say(grantedAt(history.ours, chart.granted, index.value))}`,
  );
  return (
    <h2>
      <span>{title}</span>
      <span class="reading">
        <strong>{ours}</strong>
        {granted} <span class="quiet">twin {twin}</span>
      </span>
    </h2>
  );
}
