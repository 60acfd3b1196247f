/** One event as a line of a list: when, how bad, whose, what, and the evidence where there is some. */
import type { ComponentChild } from "preact";
import type { EventDocument, Severity } from "../../../src/contract/index.ts";
import { hrefOf } from "../router.ts";
import { store } from "../state.ts";
import { dayAndClock } from "../words/format.ts";

export const SEVERITY_MARKS: Readonly<Record<Severity, string>> = {
  info: "·",
  notice: "◆",
  warning: "!",
  error: "▲",
};

export function EventLine({ event, isBrief = false }: { event: EventDocument; isBrief?: boolean }): ComponentChild {
  const cell = event.workload === null ? undefined : store.cells.value.get(event.workload);
  const title = cell?.title.value ?? event.workload;
  return (
    <li class={event.severity}>
      <time dateTime={new Date(event.at).toISOString()}>{dayAndClock(event.at)}</time>
      <span class="severity">
        <span aria-hidden="true">{SEVERITY_MARKS[event.severity]}</span> {event.severity}
      </span>
      {event.workload === null ? (
        <span class="quiet">all</span>
      ) : (
        <a href={hrefOf({ view: "workload", id: event.workload })}>{title}</a>
      )}
      <span class="text">
        {withoutTitle(event.text, title)}
        {isBrief || event.evidence === null || event.evidence === undefined ? null : (
          <details>
            <summary>Evidence</summary>
            <pre>{JSON.stringify(event.evidence, null, 2)}</pre>
          </details>
        )}
      </span>
    </li>
  );
}

/** The workload has a column of its own, so its name need not begin the sentence too. */
function withoutTitle(text: string, title: string | null): string {
  const prefix = `${title}: `;
  if (title === null || !text.startsWith(prefix)) return text;
  const rest = text.slice(prefix.length);
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}
