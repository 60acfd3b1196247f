/**
 * The fleet as a whole: who is in it and who misses, who is in whose way on which machine, how rewards went while members
 * came and went.
 * Not here: asking (plane/fleet.ts), the machines (fleet-hosts.tsx), the curves (fleet-curves.tsx), sentences (words/fleet.ts).
 */
import type { ComponentChild } from "preact";
import { useEffect } from "preact/hooks";
import type { FleetDocument, FleetMember } from "../../../src/contract/index.ts";
import { Loading, Problem, StageSteps, Title } from "../parts/bits.tsx";
import { Curve } from "../parts/curve.tsx";
import { Grid, GridCell, GridRow } from "../parts/grid.tsx";
import { fleetState, followFleet } from "../plane/fleet.ts";
import { hrefOf } from "../router.ts";
import { store } from "../state.ts";
import { capitalized } from "../words/fallback.ts";
import {
  awayWords,
  type FleetProps,
  fleetHeadline,
  lostBy,
  missedWords,
  missesSlo,
  NOTICED,
  presenceWords,
  usedNames,
  useTitle,
  worstWords,
} from "../words/fleet.ts";
import { elapsed, percent, share } from "../words/format.ts";
import { tasksTitle } from "../words/tasks.ts";
import { FleetCurves } from "./fleet-curves.tsx";
import { FleetHosts } from "./fleet-hosts.tsx";

export function FleetView(): ComponentChild {
  useEffect(() => followFleet(), []);
  const state = fleetState.value;
  if (state.kind === "seen") return <Seen fleet={state.fleet} />;
  return (
    <>
      <Title>Fleet</Title>
      {state.kind === "loading" ? <Loading what="the fleet" /> : null}
      {state.kind === "problem" ? <Problem what="The fleet cannot be shown." why={state.why} /> : null}
      {state.kind === "none" ? <Problem what="There is no fleet here." why={`${capitalized(state.why)}.`} /> : null}
    </>
  );
}

/** "functions", where all members are of one task. */
function nounOf({ members }: FleetDocument): string {
  const tasks = new Set(members.map(({ workload }) => store.cells.value.get(workload)?.task ?? ""));
  const [task = ""] = tasks;
  return tasks.size === 1 && task !== "" ? tasksTitle(task).toLowerCase() : "workloads";
}

function Seen({ fleet }: { fleet: FleetDocument }): ComponentChild {
  const titles = new Map(fleet.members.map(({ workload, title }) => [workload, title]));
  const titleOf = (workload: string): string => titles.get(workload) ?? workload;
  const worst = worstWords(fleet, titleOf);
  return (
    <div class="fleet-view">
      <Title>{fleetHeadline({ fleet, noun: nounOf(fleet) })}</Title>
      <p class="fleet-summary">
        {awayWords(fleet)} {worst}
      </p>
      <FleetHosts fleet={fleet} titleOf={titleOf} />
      <Members fleet={fleet} titleOf={titleOf} />
      <FleetCurves fleet={fleet} titleOf={titleOf} />
    </div>
  );
}

const USED = "Used of what is granted";
const HEADS = ["Who", "SLO preservation", USED, "Held up", "Agent"];

function Members({ fleet, titleOf }: FleetProps): ComponentChild {
  const { members, latelyMs } = fleet;
  const used = usedNames(members);
  return (
    <section class="fleet-members" aria-labelledby="members-title">
      <h2 id="members-title">Who is in the fleet, and who misses</h2>
      <p class="quiet">
        Over the last {elapsed(latelyMs)}, beside the twin. An SLO is missed where more steps miss it than the error
        budget allows{allowedWords(members)}.
      </p>
      <Grid label="Members" heads={HEADS} order={members.map(({ workload }) => workload).join(" ")}>
        {members.map((member) => (
          <Member key={member.workload} member={member} used={used} fleet={fleet} titleOf={titleOf} />
        ))}
      </Grid>
    </section>
  );
}

function standingOf(member: FleetMember) {
  const { isPresent, lately } = member;
  if (!isPresent) return { kind: "away", mark: "○", label: "Away" };
  if (lately.steps === 0) return { kind: "unknown", mark: "…", label: "Just joined" };
  if (missesSlo(member)) return { kind: "missing", mark: "▲", label: "Misses its SLO" };
  return { kind: "met", mark: "✓", label: "Keeps its SLO" };
}

/** ", 30 %", where that is the same for all. */
function allowedWords(members: readonly FleetMember[]): string {
  const [first, ...others] = new Set(members.map(({ attainment }) => attainment));
  return first === undefined || others.length > 0 ? "" : `: ${share(1 - first)}`;
}

interface MemberProps extends FleetProps {
  readonly member: FleetMember;
  readonly used: readonly string[];
}

function Member({ member, used, fleet, titleOf }: MemberProps): ComponentChild {
  const { workload, title, agent, lately, twin, stage, series, isPresent } = member;
  const { kind, mark, label } = standingOf(member);
  const known = store.agent(agent)?.value;
  return (
    <GridRow class={kind}>
      <GridCell class="who">
        <h3>
          <a data-stop href={hrefOf({ view: "workload", id: workload })}>
            {title}
          </a>
        </h3>
        <p class="standing">
          <span class="badge">
            <span aria-hidden="true">{mark}</span> {label}
          </span>{" "}
          <span class="sentence">{presenceWords(member)}</span>
        </p>
      </GridCell>
      <GridCell class="kept">
        <span class="cell-name">SLO preservation</span>
        <Curve
          label={`SLO preservation of ${title} over time, now ${percent(lately.preservation)}`}
          at={fleet.series.at}
          values={series.preservation}
          range={[0, 1]}
          changes={fleet.changes.filter((change) => change.workload === workload)}
          isPresent={isPresent}
        />
        <p class="figures">
          <strong>{percent(lately.preservation)}</strong> <span class="quiet">twin {percent(twin?.preservation)}</span>
        </p>
        <p class="misses quiet">{missedWords(member)}</p>
      </GridCell>
      <GridCell class="used">
        <span class="cell-name">{USED}</span>
        {used.map((name) => (
          <p key={name} class="figures">
            <span>{useTitle(name)}</span>
            <Meter value={lately.use[name] ?? null} twin={twin?.use[name] ?? null} />
            <span>
              <strong>{percent(lately.use[name])}</strong> <span class="quiet">twin {percent(twin?.use[name])}</span>
            </span>
          </p>
        ))}
      </GridCell>
      <GridCell class="held">
        <span class="cell-name">Held up</span>
        <HeldUp workload={workload} fleet={fleet} titleOf={titleOf} />
      </GridCell>
      <GridCell class="agent-cell">
        <a data-stop class="agent" href={hrefOf({ view: "agent", id: agent })}>
          {known === undefined ? null : <StageSteps agent={{ ...known, stage }} />}
          <span class="quiet">{actingWords(member, known?.fallback.title ?? "the fallback")}</span>
        </a>
      </GridCell>
    </GridRow>
  );
}

function actingWords({ acting, isPresent }: FleetMember, fallback: string): string {
  if (!isPresent) return "waits";
  return acting === "fallback" ? `left to ${fallback}` : `${acting} acts`;
}

/** Used of granted; the twin's as a tick. */
function Meter({ value, twin }: { value: number | null; twin: number | null }): ComponentChild {
  const width = (share: number): number => 100 * Math.min(1, Math.max(0, share));
  return (
    <svg class="meter" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      <rect class="granted" width="100" height="8" />
      {value === null ? null : <rect class="ours" width={width(value).toFixed(1)} height="8" />}
      {twin === null ? null : <path class="twin" d={`M${width(twin).toFixed(1)} 0V8`} />}
    </svg>
  );
}

/** On the machine where it loses most. */
function HeldUp({ workload, fleet, titleOf }: FleetProps & { workload: string }): ComponentChild {
  const found = (fleet.hosts ?? []).flatMap((host) => {
    const lost = host.tenants.some((tenant) => tenant.workload === workload) ? lostBy(workload, host) : null;
    return lost === null ? [] : [{ host: host.name, lost }];
  });
  const [worst] = found.sort((a, b) => b.lost.share - a.lost.share);
  if (worst === undefined) return <span class="quiet">not known</span>;
  const others = worst.lost.to.filter(({ by, share }) => by !== workload && by !== null && share >= NOTICED);
  const [most] = others;
  if (most === undefined) return <span class="quiet">by nobody else</span>;
  return (
    <>
      <strong>{percent(most.share)}</strong> by {titleOf(most.by ?? "")}
      <small class="quiet">
        {most.of}, on {worst.host}
      </small>
    </>
  );
}
