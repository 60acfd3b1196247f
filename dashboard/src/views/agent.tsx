/**
 * One agent: its stage and how it got there, its rewards against the thresholds, what stands between it and the next
 * stage, and the buttons of a person who knows better.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect } from "preact/hooks";
import {
  type AgentDocument,
  type Command,
  type FamiliarityDocument,
  type ModeName,
  modes,
} from "../../../src/contract/index.ts";
import { Empty, Loading, Problem, StageSteps, Title } from "../parts/bits.tsx";
import { confirm } from "../parts/confirm.tsx";
import { PlaneProblem, readAgent } from "../plane/client.ts";
import { connection } from "../plane/stream.ts";
import { hrefOf } from "../router.ts";
import { store } from "../state.ts";
import { shareOf } from "../words/budget.ts";
import { meaningOf, modeMeaning, nextStage, rolledBackStage, stageWord } from "../words/consequences.ts";
import { withFallback } from "../words/fallback.ts";
import { dayAndClock, percent, whole } from "../words/format.ts";
import { becauseWords } from "../words/reasons.ts";
import { homeOf, namedIn } from "../words/tasks.ts";
import { Estimate, RewardCurve } from "./agent-learning.tsx";
import { EvidenceTable } from "./evidence-table.tsx";

export function AgentView({ id }: { id: string }): ComponentChild {
  const failure = useSignal<string | null>(null);
  const isLive = connection.value.kind === "live";
  // A connection that came back asks again, too.
  useEffect(() => {
    const stop = new AbortController();
    failure.value = null;
    readAgent(id, stop.signal).then(
      (agent) => store.takeAgent(agent),
      (problem: unknown) => {
        if (!stop.signal.aborted) failure.value = problem instanceof PlaneProblem ? problem.message : String(problem);
      },
    );
    return () => stop.abort();
  }, [id, isLive]);
  void store.agentIds.value;
  const agent = store.agent(id)?.value;
  if (agent !== undefined) return <Known agent={agent} />;
  return (
    <>
      <Title>{id}</Title>
      {failure.value === null ? (
        <Loading what="the agent" />
      ) : (
        <Problem what="This agent cannot be shown." why={failure.value} />
      )}
    </>
  );
}

const ACTING = {
  learner: "The learner acts.",
  fallback: "Left to {fallback}.",
  nobody: "Nobody acts.",
} as const;

function Known({ agent }: { agent: AgentDocument }): ComponentChild {
  const cell = store.cells.value.get(agent.workload);
  const title = cell?.title.value ?? agent.workload;
  const home = homeOf(cell?.task ?? "");
  const { steering: steered } = agent;
  return (
    <>
      <nav class="crumbs" aria-label="Where you are">
        <a href={hrefOf(home.to)}>{home.title}</a> <span aria-hidden="true">›</span>{" "}
        <a href={hrefOf({ view: "workload", id: agent.workload })}>{title}</a> <span aria-hidden="true">›</span> agent
      </nav>
      <div class="head">
        <div>
          <Title>Agent of {namedIn(cell?.task ?? "", title)}</Title>
          <p class="standing">
            {agent.isPaused ? <span class="badge paused">Paused</span> : null}{" "}
            {withFallback(ACTING[agent.acting], agent.fallback.title)} <span class="quiet">{meaningOf(agent)}</span>
          </p>
          <StageSteps agent={agent} isLarge />
          <p class="quiet">
            In {stageWord[agent.stage]} since {dayAndClock(agent.since)}.
          </p>
        </div>
        <Buttons agent={agent} />
      </div>
      <dl class="totals facts">
        <Fact
          name="Done as proposed"
          value={shareOf(steered.asProposed, steered.decisions)}
          about={steeredWords(agent)}
        />
        <Fact
          name={`Less than ${agent.fallback.title} alone`}
          value={shareOf(steered.less, steered.decisions)}
          about="of the same decisions"
        />
        <Fact name="Guard changed lately" value={percent(agent.guardTripRate)} about="of the learner's wishes" />
        <Fact name="Rollbacks" value={whole(agent.rollbacks)} about="since it began" />
        <Fact name="Training updates" value={whole(agent.updates)} about="since it began" />
        <Fact
          name="Canary band"
          value={agent.canaryBand === null ? "none" : `±${percent(agent.canaryBand)}`}
          about={canaryWords(agent)}
        />
      </dl>
      <div class="halves">
        <section class="card" aria-labelledby="rewards">
          <h2 id="rewards">Reward per episode</h2>
          <RewardCurve agent={agent} />
        </section>
        <section class="card" aria-labelledby="estimate">
          <h2 id="estimate">Off-policy estimate</h2>
          <Estimate agent={agent} />
        </section>
      </div>
      {agent.familiarity === null ? null : <Familiar workload={agent.workload} familiarity={agent.familiarity} />}
      <section class="card" aria-labelledby="gates">
        <h2 id="gates">{gatesTitle(agent)}</h2>
        {agent.gates.length === 0 ? (
          <p class="quiet">No gate has been judged yet.</p>
        ) : (
          <EvidenceTable judged={agent.gates} label="Gates" />
        )}
      </section>
      <section class="card" aria-labelledby="history">
        <h2 id="history">How it got here</h2>
        <StageHistory agent={agent} />
      </section>
    </>
  );
}

interface FamiliarProps {
  readonly workload: string;
  readonly familiarity: FamiliarityDocument;
}

/** Whom the shared model takes the workload for. */
function Familiar({ workload, familiarity: { why, model, kin } }: FamiliarProps): ComponentChild {
  return (
    <section class="card" aria-labelledby="familiar">
      <h2 id="familiar">What the shared model makes of its workload</h2>
      <p>{why}</p>
      <p class="quiet">
        {kin.length === 0
          ? "No neighbours are known yet."
          : `Most like ${kin.map(({ name, similarity }) => `${name} (${similarity.toFixed(2)})`).join(", ")}.`}{" "}
        Model <code>{model}</code>. <a href={hrefOf({ view: "map", chosen: `workload:${workload}` })}>On the map</a>
      </p>
    </section>
  );
}

function steeredWords({ steering: { decisions, total } }: AgentDocument): string {
  if (decisions === 0) return "the learner has not acted yet";
  return decisions === total.decisions
    ? `of ${whole(decisions)} decisions`
    : `of its newest ${whole(decisions)} decisions`;
}

function canaryWords({ canaryBand, stage, acting, fallback }: AgentDocument): string {
  if (canaryBand !== null) return `around what ${fallback.title} would do`;
  if (acting !== "learner") return "the learner does not act";
  return stage === "ONLINE" || stage === "SERVING" ? "the canary is over" : "";
}

function gatesTitle(agent: AgentDocument): string {
  const to = nextStage(agent.stage);
  return to === null ? "What has to hold to stay" : `What has to hold for ${stageWord[to]}`;
}

function Fact({ name, value, about }: { name: string; value: string; about: string }): ComponentChild {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span class="value">{value}</span> <span class="quiet">{about}</span>
      </dd>
    </div>
  );
}

function Buttons({ agent }: { agent: AgentDocument }): ComponentChild {
  const ask = (command: Command): void => confirm(command, { revision: agent.revision, agent });
  const isLive = connection.value.kind === "live";
  const simple = (kind: "promote" | "roll-back" | "pause" | "resume"): void => ask({ kind, agent: agent.id });
  return (
    <fieldset class="buttons" disabled={!isLive}>
      <legend class="sr-only">What you can do</legend>
      <button
        type="button"
        class="primary"
        disabled={nextStage(agent.stage) === null}
        onClick={() => simple("promote")}
      >
        Promote…
      </button>
      <button type="button" disabled={rolledBackStage(agent.stage) === null} onClick={() => simple("roll-back")}>
        Roll back…
      </button>
      {agent.isPaused ? (
        <button type="button" onClick={() => simple("resume")}>
          Resume…
        </button>
      ) : (
        <button type="button" onClick={() => simple("pause")}>
          Pause…
        </button>
      )}
      <label>
        Mode{" "}
        <select
          value={agent.mode}
          onChange={(event) => {
            const mode = event.currentTarget.value as ModeName;
            // Shown as it is until it is really so.
            event.currentTarget.value = agent.mode;
            if (mode !== agent.mode) ask({ kind: "set-mode", agent: agent.id, mode });
          }}
        >
          {modes.map((mode) => (
            <option key={mode} value={mode} title={modeMeaning(mode, agent)}>
              {mode}
            </option>
          ))}
        </select>
      </label>
      {isLive ? null : <p class="quiet">Nothing can be asked for while the connection is lost.</p>}
    </fieldset>
  );
}

function StageHistory({ agent }: { agent: AgentDocument }): ComponentChild {
  if (agent.history.length === 0) return <Empty>It is where it began: {stageWord[agent.stage]}.</Empty>;
  return (
    <ol class="timeline">
      {agent.history.toReversed().map((change) => (
        <li key={`${change.at} ${change.to}`}>
          <p>
            <time dateTime={new Date(change.at).toISOString()} class="quiet">
              {dayAndClock(change.at)}
            </time>{" "}
            <strong>
              {stageWord[change.from]} → {stageWord[change.to]}
            </strong>
          </p>
          <p>{becauseWords(change.because, agent.fallback.title)}</p>
          {change.evidence.length === 0 ? null : (
            <details>
              <summary>
                Evidence: {change.evidence.filter(({ holds }) => holds).length} of {change.evidence.length} gates held
              </summary>
              <EvidenceTable judged={change.evidence} label={`Evidence of ${dayAndClock(change.at)}`} />
            </details>
          )}
        </li>
      ))}
    </ol>
  );
}
