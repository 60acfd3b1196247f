/** What happened, newest first: live, filtered by severity, workload and words; it holds still when asked to. */
import { useComputed, useSignal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect } from "preact/hooks";
import { type EventDocument, type Severity, severities } from "../../../src/contract/index.ts";
import { Empty, Loading, Problem, Title } from "../parts/bits.tsx";
import { EventLine, SEVERITY_MARKS } from "../parts/event-line.tsx";
import { PlaneProblem, readEvents } from "../plane/client.ts";
import { hrefOf } from "../router.ts";
import { store } from "../state.ts";
import { tasksTitle } from "../words/tasks.ts";

const PAGE = 200;
const DRAWN = 300;

type Past =
  | { readonly kind: "reading" }
  | { readonly kind: "read"; readonly next: string | null }
  | { readonly kind: "failed"; readonly why: string };

export function EventsView({ workload }: { workload: string | null }): ComponentChild {
  // What agents note at every step of their way is there for whoever asks.
  const hidden = useSignal<ReadonlySet<Severity>>(new Set(["info"]));
  const words = useSignal("");
  const held = useSignal<readonly EventDocument[] | null>(null);
  const past = useSignal<Past>({ kind: "reading" });

  const least: Severity = hidden.value.has("info") ? "notice" : "info";
  const read = (cursor: string | null): void => {
    past.value = { kind: "reading" };
    readEvents({ limit: PAGE, cursor, least }).then(
      (page) => {
        store.takePastEvents(page.items);
        past.value = { kind: "read", next: page.next };
      },
      (problem: unknown) => {
        past.value = { kind: "failed", why: problem instanceof PlaneProblem ? problem.message : String(problem) };
      },
    );
  };
  // When the view is entered, and again when more is wanted than was read.
  useEffect(() => read(null), [least]);

  const source = useComputed(() => held.value ?? store.events.value);
  const shown = useComputed(() => {
    const sought = words.value.trim().toLowerCase();
    return source.value.filter(
      (event) =>
        !hidden.value.has(event.severity) &&
        (workload === null || event.workload === workload) &&
        (sought === "" || `${event.kind} ${event.text} ${event.workload ?? ""}`.toLowerCase().includes(sought)),
    );
  });
  const tasks = useComputed(() => [...new Set([...store.cells.value.values()].map(({ task }) => task))]);
  const missed = useComputed(() => (held.value === null ? 0 : store.events.value.length - held.value.length));
  const state = past.value;
  return (
    <>
      <Title>Events</Title>
      <search class="filters">
        <fieldset>
          <legend class="sr-only">Severity</legend>
          {severities.map((severity) => (
            <label key={severity} class={`chip ${severity}`}>
              <input
                type="checkbox"
                checked={!hidden.value.has(severity)}
                onChange={() => {
                  const next = new Set(hidden.value);
                  if (!next.delete(severity)) next.add(severity);
                  hidden.value = next;
                }}
              />
              <span aria-hidden="true">{SEVERITY_MARKS[severity]}</span> {severity}
            </label>
          ))}
        </fieldset>
        <label>
          <span class="sr-only">Workload</span>
          <select
            value={workload ?? ""}
            onChange={(event) => {
              const chosen = event.currentTarget.value;
              location.hash = hrefOf({ view: "events", workload: chosen === "" ? null : chosen });
            }}
          >
            <option value="">All workloads</option>
            {tasks.value.map((task) => (
              <optgroup key={task} label={tasksTitle(task)}>
                {[...store.cells.value.values()]
                  .filter((cell) => cell.task === task)
                  .map((cell) => (
                    <option key={cell.id} value={cell.id}>
                      {cell.title}
                    </option>
                  ))}
              </optgroup>
            ))}
          </select>
        </label>
        <label>
          <span class="sr-only">Words in the event</span>
          <input
            type="search"
            placeholder="Words in the event"
            value={words.value}
            onInput={(event) => {
              words.value = event.currentTarget.value;
            }}
          />
        </label>
        <button
          type="button"
          aria-pressed={held.value !== null}
          onClick={() => {
            held.value = held.value === null ? store.events.value : null;
          }}
        >
          {held.value === null ? "Hold still" : missed.value > 0 ? `Go on (${missed.value} new)` : "Go on"}
        </button>
      </search>
      {store.services.value.length > 0 && workload === null ? (
        <p class="quiet">
          Newest first. Times are those of each one's own clock: the cluster's, or the services' (UTC).
        </p>
      ) : null}
      {state.kind === "failed" ? (
        <Problem what="Earlier events cannot be read." why={state.why} retry={() => read(null)} />
      ) : null}
      {shown.value.length > 0 ? (
        <ol class="events card">
          {shown.value.slice(0, DRAWN).map((event) => (
            <EventLine key={event.id} event={event} />
          ))}
        </ol>
      ) : state.kind === "reading" ? (
        <Loading what="the events" />
      ) : (
        <Empty>{source.value.length === 0 ? "Nothing has happened yet." : "No event passes these filters."}</Empty>
      )}
      {shown.value.length > DRAWN ? (
        <p class="quiet">
          The newest {DRAWN} of {shown.value.length} are shown; filter to see others.
        </p>
      ) : state.kind === "read" && state.next !== null ? (
        <button type="button" onClick={() => read(state.next)}>
          Earlier events
        </button>
      ) : null}
    </>
  );
}
