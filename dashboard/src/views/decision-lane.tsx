/** Who acted when, as a band under the charts, on the same time axis; a line above where shield or guard changed the learner's wish. */
import { useComputed } from "@preact/signals";
import type { ComponentChild } from "preact";
import type uPlot from "uplot";
import { type DecisionDocument, isSameSetting, type SettingDocument } from "../../../src/contract/index.ts";
import { type CursorGroup, Plot } from "../parts/plot.tsx";
import type { WorkloadCell } from "../plane/store.ts";
import { store } from "../state.ts";
import { colour } from "../theme.ts";

export function DecisionLane({ cell, group }: { cell: WorkloadCell; group: CursorGroup }): ComponentChild {
  const { history } = cell;
  const fallback = useComputed(() => store.fallbackOf(cell.agent.value).title);
  let flat: (number | null)[] = [];
  return (
    <div class="time-chart">
      <h2>
        <span>Decisions</span>
        <span class="reading quiet">
          <span class="key learner" aria-hidden="true" /> learner <span class="key fallback" aria-hidden="true" />{" "}
          {fallback} <span class="key changed" aria-hidden="true" /> wish changed by shield or guard
        </span>
      </h2>
      <Plot
        group={group}
        spec={{
          label: "Who acted at which time; the panel of decisions says the same in words",
          height: 64,
          x: "time",
          hasXAxis: true,
          startsAtZero: true,
          lines: [{ label: "decisions", colour: "--ours", width: 0 }],
          say: () => "",
          draw: (plot) => drawLane(plot, cell.decisions.peek()),
        }}
        data={() => {
          void cell.grown.value;
          void cell.decisions.value;
          if (flat.length !== history.at.length) flat = new Array<null>(history.at.length).fill(null);
          return [history.at, flat];
        }}
      />
    </div>
  );
}

function drawLane(plot: uPlot, decisions: readonly DecisionDocument[]): void {
  const { ctx, bbox } = plot;
  const end = plot.scales.x?.max ?? 0;
  const scale = devicePixelRatio || 1;
  const height = Math.min(bbox.height, 16 * scale);
  const top = bbox.top + (bbox.height - height) / 2;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  decisions.forEach((decision, index) => {
    const from = plot.valToPos(decision.at / 1000, "x", true);
    const next = decisions[index + 1];
    const to = plot.valToPos(next === undefined ? end : next.at / 1000, "x", true);
    if (to < bbox.left || from > bbox.left + bbox.width) return;
    if (decision.who !== "nobody") {
      ctx.fillStyle = colour(decision.who === "learner" ? "--ours" : "--twin");
      // The fallback's band is half as high, so that the two are told apart without colour.
      const share = decision.who === "learner" ? 1 : 0.4;
      ctx.fillRect(from, top + height * (1 - share), Math.max(to - from, 1) + 0.5, height * share);
    }
    if (decision.who === "learner" && isChanged(decision.proposed, decision.executed)) {
      ctx.fillStyle = colour("--granted");
      ctx.fillRect(from, top - 5 * scale, Math.max(to - from, 1) + 0.5, 2.5 * scale);
    }
  });
  ctx.restore();
}

export function isChanged(proposed: SettingDocument | null, executed: SettingDocument | null): boolean {
  return proposed !== null && executed !== null && !isSameSetting(proposed, executed);
}
