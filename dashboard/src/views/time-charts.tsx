/**
 * The charts of a workload: one time axis, one cursor, each with what it shows at the cursor written above it.
 * Not here: which there are (charts.ts), drawing (parts/plot.tsx), what stands around them (workload.tsx).
 */
import { type ReadonlySignal, useComputed } from "@preact/signals";
import type { ComponentChild } from "preact";
import { describeSlo, type SloDocument } from "../../../src/contract/index.ts";
import { type CursorGroup, Plot, type PlotLine } from "../parts/plot.tsx";
import { drawShade, type Mark } from "../parts/plot-drawing.ts";
import type { WorkloadCell } from "../plane/store.ts";
import { clock } from "../words/format.ts";
import { chartTitle, targetOn, targetWords } from "../words/slo-words.ts";
import { type Chart, grantedAt, grantedToAll } from "./charts.ts";

/** The cursor by keyboard and thumb. */
export function Scrubber({ cell, group }: { cell: WorkloadCell; group: CursorGroup }): ComponentChild {
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

function linesOf(chart: Chart): readonly PlotLine[] {
  const isStepped = chart.isStepped === true;
  return [
    { label: "twin", colour: "--twin", width: 1.25, isStepped },
    ...(chart.granted === undefined
      ? []
      : [{ label: "granted", colour: "--granted", width: 1.5, isStepped: true } as const]),
    { label: "managed", colour: "--ours", width: 2, isStepped },
    // Over what was measured: where the model is right, one lies on the other.
    ...(chart.expected === undefined
      ? []
      : [{ label: "expected", colour: "--expected", width: 1.25, dash: [4, 3] } as const]),
  ];
}

export function TimeChart({
  chart,
  cell,
  group,
}: {
  chart: Chart;
  cell: WorkloadCell;
  group: CursorGroup;
}): ComponentChild {
  const { history } = cell;
  const index = useComputed(() => {
    void cell.grown.value;
    const looked = group.lookAt.value;
    return looked === null ? history.at.length - 1 : indexAt(history.at, looked);
  });
  const isOn = (slo: SloDocument): boolean => describeSlo(slo.kind).chart === chart.column;
  const marks = (): readonly Mark[] => {
    const value = isOn(cell.slo.value) ? targetOn(cell.slo.value, chart.column) : null;
    return value === null ? [] : [{ value, colour: "--target", label: `SLO ${targetWords(cell.slo.value)}` }];
  };
  const isJudged = chart.column === "latency" || chart.column === "preservation" || isOn(cell.slo.value);
  const ceiling = (): number | null => {
    const slo = cell.slo.value;
    const target = isOn(slo) && describeSlo(slo.kind).judged?.target === "ceiling" ? targetOn(slo, chart.column) : null;
    return target === null ? null : CUT_AT * target;
  };
  const missed = (): readonly boolean[] => history.ours.preservation.map((kept) => kept !== null && kept < 1);
  const slo = cell.slo.value;
  const title = isOn(slo) ? chartTitle(chart.title, slo) : chart.title;
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
          ...(chart.column === "latency" || ceiling() !== null ? { ceiling } : {}),
          ...(isJudged ? { behind: (plot) => drawShade(plot, missed()) } : {}),
        }}
        data={() => {
          void cell.grown.value;
          const ours = history.ours[chart.column] ?? [];
          const twin = history.twin[chart.column] ?? [];
          return [
            history.at,
            twin,
            ...(chart.granted === undefined ? [] : [grantedToAll(history.ours, chart.granted)]),
            ours,
            ...(chart.expected === undefined ? [] : [history.ours[chart.expected]]),
          ];
        }}
      />
    </div>
  );
}

interface ChartHeadProps {
  readonly chart: Chart;
  readonly cell: WorkloadCell;
  readonly index: ReadonlySignal<number>;
  readonly title: string;
}

function ChartHead({ chart, cell, index, title }: ChartHeadProps): ComponentChild {
  const { history } = cell;
  const ours = useComputed(() => chart.say(history.ours[chart.column]?.[index.value]));
  const twin = useComputed(() => chart.say(history.twin[chart.column]?.[index.value]));
  const granted = useComputed(() =>
    chart.granted === undefined ? "" : ` of ${chart.say(grantedAt(history.ours, chart.granted, index.value))}`,
  );
  const expected = useComputed(() => {
    const value = chart.expected === undefined ? null : (history.ours[chart.expected][index.value] ?? null);
    return value === null ? "" : `expected ${chart.say(value)}, `;
  });
  return (
    <h2>
      <span>{title}</span>
      <span class="reading">
        <strong>{ours}</strong>
        {granted}{" "}
        <span class="quiet">
          {expected}twin {twin}
        </span>
      </span>
    </h2>
  );
}
