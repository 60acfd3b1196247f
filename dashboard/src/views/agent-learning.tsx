/** What an agent has learned so far: its rewards against the thresholds, and the estimate of its untried policy. */
import { useSignal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { AgentDocument } from "../../../src/server/plane-contract.ts";
import { type Mark, Plot, type PlotSpec } from "../parts/plot.tsx";
import { dayAndClock, reward } from "../words/format.ts";

type Thresholds = AgentDocument["thresholds"];

function marksOf({ online, serving, fallback }: Thresholds): readonly Mark[] {
  return [
    ...(fallback === null ? [] : [{ value: fallback, colour: "--twin", label: "fallback" } as const]),
    ...(online === null ? [] : [{ value: online, colour: "--granted", label: "for Online" } as const]),
    ...(serving === null ? [] : [{ value: serving, colour: "--good", label: "for Serving" } as const]),
  ];
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
      marks: () => marksOf(now.peek().thresholds),
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

const WIDTH = 480;
const HEIGHT = 96;
const PAD = 52;

/** The interval on a line, the thresholds as marks on it. */
export function Estimate({ agent }: { agent: AgentDocument }): ComponentChild {
  const { estimate, thresholds } = agent;
  if (estimate === null)
    return <p class="quiet">Nothing has been estimated yet: enough recorded steps have to come together first.</p>;
  const marks = marksOf(thresholds);
  const values = [estimate.lower, estimate.mean, estimate.upper, ...marks.map(({ value }) => value)];
  const low = Math.min(...values);
  const span = Math.max(...values) - low || 1;
  const x = (value: number): number => PAD + ((value - low) / span) * (WIDTH - 2 * PAD);
  const isEnough = thresholds.online !== null && estimate.lower >= thresholds.online;
  const words = `Expected reward ${reward(estimate.mean)}, between ${reward(estimate.lower)} and ${reward(estimate.upper)}`;
  return (
    <>
      <svg class="estimate" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={words}>
        <path class="axis" d={`M${PAD - 12} 48H${WIDTH - PAD + 12}`} />
        {marks.map((mark, index) => (
          <g key={mark.label} class={`mark ${mark.label.split(" ").at(-1)?.toLowerCase()}`}>
            <path d={`M${x(mark.value)} 30V66`} />
            <text x={x(mark.value)} y={index % 2 === 0 ? 24 : 84} text-anchor="middle">
              {mark.label} {reward(mark.value)}
            </text>
          </g>
        ))}
        <rect
          x={x(estimate.lower)}
          y="42"
          width={Math.max(x(estimate.upper) - x(estimate.lower), 2)}
          height="12"
          rx="3"
        />
        <circle cx={x(estimate.mean)} cy="48" r="6" />
      </svg>
      <p>{words} (95 % interval).</p>
      <p class="quiet">
        {thresholds.online === null
          ? "The threshold for Online is not known yet."
          : isEnough
            ? "Its lower end clears what Online asks."
            : "Its lower end does not clear what Online asks."}{" "}
        Estimated {dayAndClock(estimate.at)}.
      </p>
    </>
  );
}
