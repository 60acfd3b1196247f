/**
 * What is done about broken SLOs in the simulated application: who is in charge, a switch for people, what was done, by
 * whom, when, and whether it helped.
 * Owns: the panel and the switch. Not here: the sentences (words/services.ts), whether it may be done (behind the API).
 */
import { useSignal } from "@preact/signals";
import type { ComponentChild } from "preact";
import type { ActingMode, RemedyDocument, ServicesDocument } from "../../../src/server/services-contract.ts";
import { say } from "../parts/notices.tsx";
import { loadServices, setActing } from "../plane/services.ts";
import { connection } from "../plane/stream.ts";
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
  const { acting, cores, twinCores } = simulated;
  const isActing = acting.mode === "act";
  const change = async (mode: ActingMode): Promise<void> => {
    try {
      await setActing(mode);
      problem.value = null;
      say(mode === "act" ? "From now on limits and replicas are changed." : "From now on nobody changes anything.");
      await loadServices(new AbortController().signal);
    } catch (reason) {
      problem.value = reason instanceof Error ? reason.message : String(reason);
    }
  };
  return (
    <section class="card acting" aria-labelledby="acting-title">
      <h2 id="acting-title">What is done about it</h2>
      <div class="charge">
        <p>
          {chargeOf(acting)}
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
      {acting.remedies.length === 0 ? <p class="quiet">No SLO had to be mended yet.</p> : null}
      <ol class="remedies">
        {acting.remedies.slice(0, SHOWN).map((one) => (
          <Remedy key={one.id} remedy={one} />
        ))}
      </ol>
      <p class="quiet">
        While nobody is harmed, limits are fitted to what is used: {whole(acting.fitted)} so far. All containers
        together may use {cores.toFixed(1)} cores, those of the twin under Kubernetes autoscaling {twinCores.toFixed(1)}
        . Spans from elsewhere are shown, and nobody acts on their services: from here there is no way to them.
      </p>
    </section>
  );
}

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
