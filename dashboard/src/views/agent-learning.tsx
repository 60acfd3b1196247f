/** What an agent has learned so far: its rewards against the thresholds, and the estimate of its untried policy. */
import { useSignal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type uPlot from "uplot";
import type { AgentDocument } from "../../../src/contract/index.ts";
import { Plot, type PlotSpec } from "../parts/plot.tsx";
import type { Mark } from "../parts/plot-drawing.ts";
import { colour } from "../theme.ts";
import { stageWord } from "../words/consequences.ts";
import { dayAndClock, reward } from "../words/format.ts";

export function marksOf({
  thresholds: { online, serving, fallback },
  fallback: { title },
}: Pick<AgentDocument, "thresholds" | "fallback">): readonly Mark[] {
  const needed: readonly Mark[] =
    online !== null && online === serving
      ? [{ value: online, colour: "--good", label: "needed for Online and Serving" }]
      : [
          ...(online === null ? [] : [{ value: online, colour: "--granted", label: "needed for Online" } as const]),
          ...(serving === null ? [] : [{ value: serving, colour: "--good", label: "needed for Serving" } as const]),
        ];
  return fallback === null ? needed : [{ value: fallback, colour: "--twin", label: title }, ...needed];
}

export function RewardCurve({ agent }: { agent: AgentDocument }): ComponentChild {
  const now = useSignal(agent);
  useEffect(() => {
    now.value = agent;
  }, [agent, now]);
  const spec = useMemo<PlotSpec>(
    () => ({
      label: `Reward per episode of ${agent.id} with its thresholds`,
      height: 240,
      x: "count",
      hasXAxis: true,
      startsAtZero: false,
      lines: [{ label: "reward", colour: "--ours", width: 2, hasPoints: true }],
      say: reward,
      marks: () => marksOf(now.peek()),
      behind: (plot) => drawStages(plot, now.peek().episodes),
    }),
    [agent.id, now],
  );
  if (agent.episodes.length === 0) return <p class="quiet">The first episode is under way.</p>;
  const last = agent.episodes.at(-1);
  return (
    <>
      <Plot
        spec={spec}
        group={null}
        data={() => [
          now.value.episodes.map(({ episode }) => episode),
          now.value.episodes.map((episode) => episode.reward),
        ]}
      />
      <p class="quiet">
        Episode {last?.episode}: reward {reward(last?.reward)}, {last?.violations} steps over the target.
      </p>
    </>
  );
}

/** In which stage an episode was run: a line where it changed, and its name. */
function drawStages(plot: uPlot, episodes: AgentDocument["episodes"]): void {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio || 1;
  ctx.save();
  ctx.font = `${10.5 * scale}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  ctx.textBaseline = "bottom";
  ctx.fillStyle = colour("--quiet");
  ctx.strokeStyle = colour("--line");
  ctx.lineWidth = scale;
  episodes.forEach(({ episode, stage }, index) => {
    if (stage === episodes[index - 1]?.stage) return;
    const x = Math.max(bbox.left, plot.valToPos(episode - 0.5, "x", true));
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    const next = episodes.findIndex((later, at) => at > index && later.stage !== stage);
    const end = next === -1 ? bbox.left + bbox.width : plot.valToPos((episodes[next]?.episode ?? 0) - 0.5, "x", true);
    // A short stay has no room for its name.
    if (ctx.measureText(stageWord[stage]).width + 8 * scale < end - x)
      ctx.fillText(stageWord[stage], x + 4 * scale, bbox.top + bbox.height - 2 * scale);
  });
  ctx.restore();
}

const WIDTH = 480;
const HEIGHT = 64;
const PAD = 40;
const LINE = 26;

/** The interval on a line, the thresholds as marks on it; what they are stands below, where labels cannot collide. */
export function Estimate({ agent }: { agent: AgentDocument }): ComponentChild {
  const { estimate, thresholds } = agent;
  if (estimate === null)
    return <p class="quiet">Nothing has been estimated yet: enough recorded steps have to come together first.</p>;
  const marks = marksOf(agent);
  const { lower, mean, upper } = estimate;
  const values = [lower, mean, upper, ...marks.map(({ value }) => value)];
  const low = Math.min(...values);
  const span = Math.max(...values) - low || 1;
  const x = (value: number): number => PAD + ((value - low) / span) * (WIDTH - 2 * PAD);
  const isEnough = thresholds.online !== null && lower >= thresholds.online;
  const words = `Expected reward of an episode: ${reward(mean)}, between ${reward(lower)} and ${reward(upper)}`;
  return (
    <>
      <svg class="estimate" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={words}>
        <path class="axis" d={`M${PAD - 12} ${LINE}H${WIDTH - PAD + 12}`} />
        <rect x={x(lower)} y={LINE - 6} width={Math.max(x(upper) - x(lower), 2)} height="12" rx="3" />
        {marks.map((mark) => (
          <path key={mark.label} class={`mark ${mark.colour.slice(2)}`} d={`M${x(mark.value)} ${LINE - 18}v36`} />
        ))}
        <circle cx={x(mean)} cy={LINE} r="6" />
        <text x={x(lower)} y={HEIGHT - 6} text-anchor="middle">
          {reward(lower)}
        </text>
        <text x={x(upper)} y={HEIGHT - 6} text-anchor="middle">
          {reward(upper)}
        </text>
      </svg>
      <ul class="mark-list quiet">
        {marks.map((mark) => (
          <li key={mark.label}>
            <span class={`key mark ${mark.colour.slice(2)}`} aria-hidden="true" /> {mark.label} {reward(mark.value)}
          </li>
        ))}
      </ul>
      <p>{words} (95 % interval).</p>
      <p class="quiet">
        {thresholds.online === null
          ? "What Online needs is not known yet."
          : isEnough
            ? "Even its lower end is above what Online needs."
            : "Its lower end is below what Online needs."}{" "}
        Estimated {dayAndClock(estimate.at)}.
      </p>
    </>
  );
}
