/**
 * What is done about broken SLOs in the simulated application: who is in charge, a switch for people, what was done, by
 * whom, when, and whether it helped.
 * Owns: the panel and the switch. Not here: the sentences (words/services.ts), whether it may be done (behind the API).
 */
import { useComputed, useSignal } from "@preact/signals";
import type { ComponentChild } from "preact";
import type {
  ActingDocument,
  ActingMode,
  RemedyDocument,
  Sample,
  ServicesDocument,
} from "../../../src/contract/index.ts";
import { say } from "../parts/notices.tsx";
import { setActing } from "../plane/services.ts";
import { connection } from "../plane/stream.ts";
import { hrefOf } from "../router.ts";
import { store } from "../state.ts";
import { stageWord } from "../words/consequences.ts";
import { clock, whole } from "../words/format.ts";
import { chargeOf, outcomeOf, remedyOf } from "../words/services.ts";

/** Of those that the API has; a page is not a log. */
const SHOWN = 6;

export function Acting({ simulated }: { simulated: ServicesDocument["simulated"] }): ComponentChild {
  const problem = useSignal<string | null>(null);
  if (simulated === null)
    return (
      <section class="card acting" aria-labelledby="acting-title">
        <h2 id="acting-title">What is done about it</h2>
        <p>
          Nothing: these spans were sent from elsewhere, and from here there is no way to the containers they come from.
        </p>
      </section>
    );
  const { acting } = simulated;
  const isActing = acting.mode === "act";
  const change = async (mode: ActingMode): Promise<void> => {
    try {
      await setActing(mode);
      problem.value = null;
      say(mode === "act" ? "From now on limits and replicas are changed." : "From now on nobody changes anything.");
    } catch (reason) {
      problem.value = reason instanceof Error ? reason.message : String(reason);
    }
  };
  return (
    <section class="card acting" aria-labelledby="acting-title">
      <h2 id="acting-title">What is done about it</h2>
      <div class="charge">
        <p>
          <Charge acting={acting} />
          {acting.since === null ? null : <small> A person chose this at {clock(acting.since)}.</small>}
        </p>
        <button
          type="button"
          disabled={connection.value.kind !== "live"}
          onClick={() => void change(isActing ? "observe" : "act")}
        >
          {isActing ? "Only observe" : "Let it act"}
        </button>
      </div>
      {problem.value === null ? null : (
        <p class="refusal" role="alert">
          <strong>Not done.</strong> {problem.value}
        </p>
      )}
      <ServiceAgents />
      {acting.remedies.length === 0 ? <p class="quiet">No SLO had to be mended yet.</p> : null}
      <ol class="remedies">
        {acting.remedies.slice(0, SHOWN).map((one) => (
          <Remedy key={one.id} remedy={one} />
        ))}
      </ol>
      <p class="quiet">
        While nobody is harmed, limits are fitted to what is used: {whole(acting.fitted)} so far. <Cores />
        Spans from elsewhere are shown, and nobody acts on their services: from here there is no way to them.
      </p>
    </section>
  );
}

/** With what manages each; they come by the stream, as all workloads and agents do. */
function managedServices() {
  // The list of agents is read so that one that appears later is found.
  void store.agentIds.value;
  return store.services.value.flatMap((cell) => {
    const agent = store.agent(cell.agent.value)?.value;
    return agent === undefined ? [] : [{ cell, agent }];
  });
}

function Charge({ acting }: { acting: ActingDocument }): ComponentChild {
  const words = useComputed(() =>
    chargeOf(
      acting,
      managedServices().map(({ agent }) => agent),
    ),
  );
  return <>{words}</>;
}

function ServiceAgents(): ComponentChild {
  const managed = managedServices();
  if (managed.length === 0) return null;
  return (
    <ul class="service-agents" aria-label="Services and the stages of their agents">
      {managed.map(({ cell, agent }) => (
        <li key={cell.id} data-stage={agent.stage}>
          <a href={hrefOf({ view: "workload", id: cell.id })}>{cell.title}</a>{" "}
          <a
            class="stage"
            href={hrefOf({ view: "agent", id: agent.id })}
            aria-label={`${stageWord[agent.stage]}: agent of ${cell.title.value}`}
          >
            {stageWord[agent.stage]}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** What all containers may use together; nothing while it is not known. */
function Cores(): ComponentChild {
  const words = useComputed(() => {
    const cells = store.services.value;
    const [own, twin] = [cells.map((cell) => cell.now.value), cells.map((cell) => cell.twin.value?.now ?? null)].map(
      coresOf,
    );
    return own === undefined || own === 0
      ? ""
      : `All containers together may use ${own.toFixed(1)} cores, those of the twin under Kubernetes autoscaling ${(twin ?? 0).toFixed(1)}. `;
  });
  return <>{words}</>;
}

const coresOf = (samples: readonly (Sample | null)[]): number =>
  samples.reduce((sum, sample) => sum + (sample?.have.cpu ?? 0) * (sample?.have.replicas ?? 0), 0);

function Remedy({ remedy }: { remedy: RemedyDocument }): ComponentChild {
  return (
    <li class={remedy.isDone ? "done" : "would"}>
      <p>
        <small>{clock(remedy.from)}</small> {remedyOf(remedy)}
      </p>
      <p class={remedy.isDone && remedy.endedAt !== null ? "outcome mended" : "outcome"}>{outcomeOf(remedy)}</p>
      <p class="quiet">{`${remedy.why.charAt(0).toUpperCase()}${remedy.why.slice(1)}`}</p>
    </li>
  );
}
