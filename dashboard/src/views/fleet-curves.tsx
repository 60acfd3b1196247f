/**
 * A fleet over time: the mean reward of a member beside its twin's, with who came and went; and one curve for each member.
 * Not here: drawing (parts/plot.tsx, parts/curve.tsx), what is told (plane/fleet.ts).
 */
import { useSignal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { FleetChange, FleetDocument, FleetMember } from "../../../src/contract/index.ts";
import { Curve } from "../parts/curve.tsx";
import { Plot, type PlotSpec } from "../parts/plot.tsx";
import { drawMoments } from "../parts/plot-drawing.ts";
import { type FleetProps, usedNames, useTitle } from "../words/fleet.ts";
import { percent, reward, shortClock } from "../words/format.ts";

/** Of who came and went, as words. */
const CHANGES = 6;

interface Choice {
  readonly id: string;
  readonly title: string;
  readonly of: (member: FleetMember) => readonly (number | null)[];
  readonly say: (value: number | null | undefined) => string;
  readonly isShare: boolean;
}

function choicesOf({ members }: FleetDocument): readonly [Choice, ...Choice[]] {
  return [
    { id: "reward", title: "Reward", of: ({ series }) => series.reward, say: reward, isShare: false },
    { id: "kept", title: "SLO preservation", of: ({ series }) => series.preservation, say: percent, isShare: true },
    ...usedNames(members).map((name) => ({
      id: `use-${name}`,
      title: `${useTitle(name)} used`,
      of: ({ series }: FleetMember) => series.use[name] ?? [],
      say: percent,
      isShare: true,
    })),
  ];
}

export function FleetCurves({ fleet, titleOf }: FleetProps): ComponentChild {
  const chosen = useSignal("reward");
  const choices = choicesOf(fleet);
  const choice = choices.find(({ id }) => id === chosen.value) ?? choices[0];
  const known = fleet.members.flatMap((member) => choice.of(member).flatMap((value) => value ?? []));
  const range = choice.isShare ? ([0, 1] as const) : ([Math.min(0, ...known), Math.max(0.1, ...known)] as const);
  const first = fleet.series.at[0];
  return (
    <>
      <section class="card fleet-mean" aria-labelledby="mean-title">
        <h2 id="mean-title">
          <span>Mean reward of the fleet</span>
          <span class="reading">
            <strong>{reward(fleet.series.reward.at(-1))}</strong>{" "}
            <span class="quiet">twin {reward(fleet.series.twinReward?.at(-1))}</span>
          </span>
        </h2>
        <p class="legend quiet">
          <span>
            <span class="key" /> managed
          </span>
          <span>
            <span class="key twin" /> twin
          </span>
          <span>▲ joins</span>
          <span>▼ leaves</span>
        </p>
        {first === undefined ? <p class="quiet">The first point comes after a minute.</p> : <MeanPlot fleet={fleet} />}
        <Changes changes={fleet.changes} titleOf={titleOf} />
      </section>
      <section aria-labelledby="curves-title">
        <div class="curves-head">
          <h2 id="curves-title">Each of them{first === undefined ? "" : `, since ${shortClock(first)}`}</h2>
          <label>
            Show{" "}
            <select
              value={choice.id}
              onChange={(event) => {
                chosen.value = event.currentTarget.value;
              }}
            >
              {choices.map(({ id, title }) => (
                <option key={id} value={id}>
                  {title}
                </option>
              ))}
            </select>
          </label>
          <p class="quiet">
            All on one scale, from {choice.say(range[0])} to {choice.say(range[1])}; grey: away.
          </p>
        </div>
        <ul class="curves">
          {fleet.members.map((member) => (
            <li key={member.workload} class="card">
              <h3>
                {member.title}
                <span class={member.isPresent ? "" : "quiet"}>
                  {member.isPresent ? choice.say(choice.of(member).at(-1)) : "away"}
                </span>
              </h3>
              <Curve
                label={`${choice.title} of ${member.title} over time`}
                at={fleet.series.at}
                values={choice.of(member)}
                range={range}
                changes={fleet.changes.filter(({ workload }) => workload === member.workload)}
                isPresent={member.isPresent}
              />
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

/** A chart is built once and then fed by signals. */
function MeanPlot({ fleet }: Pick<FleetProps, "fleet">): ComponentChild {
  const now = useSignal(fleet);
  useEffect(() => {
    now.value = fleet;
  }, [fleet, now]);
  const spec = useMemo<PlotSpec>(
    () => ({
      label: "Mean reward of a member and step over time, and of the twins, with those who joined and left",
      height: 220,
      x: "time",
      hasXAxis: true,
      startsAtZero: false,
      lines: [
        { label: "twin", colour: "--twin", width: 1.25 },
        { label: "managed", colour: "--ours", width: 2 },
      ],
      say: reward,
      behind: (plot) => drawMoments(plot, momentsOf(now.peek())),
    }),
    [now],
  );
  return (
    <Plot
      spec={spec}
      group={null}
      data={() => {
        const { at, reward: ours, twinReward } = now.value.series;
        return [at.map((time) => time / 1_000), [...(twinReward ?? at.map(() => null))], [...ours]];
      }}
    />
  );
}

function momentsOf({ changes, members }: FleetDocument) {
  const titles = new Map(members.map(({ workload, title }) => [workload, title]));
  return changes.map(({ at, workload, kind }) => ({
    at: at / 1_000,
    label: `${kind === "joined" ? "▲" : "▼"} ${titles.get(workload) ?? workload}`,
    short: kind === "joined" ? "▲" : "▼",
    colour: kind === "joined" ? ("--good" as const) : ("--bad" as const),
  }));
}

function Changes({ changes, titleOf }: { changes: readonly FleetChange[]; titleOf: FleetProps["titleOf"] }) {
  if (changes.length === 0) return <p class="quiet">Nobody has come or gone yet.</p>;
  return (
    <ol class="changes" aria-label="Who came and went lately, the newest first">
      {[...changes]
        .reverse()
        .slice(0, CHANGES)
        .map(({ at, workload, kind }) => (
          <li key={`${at} ${workload}`} class={kind}>
            <span class="sign" aria-hidden="true">
              {kind === "joined" ? "▲" : "▼"}
            </span>{" "}
            {shortClock(at)} {titleOf(workload)} {kind === "joined" ? "joined" : "left"}
          </li>
        ))}
    </ol>
  );
}
