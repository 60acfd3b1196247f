/**
 * One trace as a timeline: every span with its time, and on it the part for which everybody waited for it.
 * Owns: the drawing and its words; each row says its figures in text. Not here: finding the path (the API's).
 */
import type { ComponentChild } from "preact";
import type { TraceDocument } from "../../../src/contract/index.ts";
import { latency } from "../words/format.ts";

const WIDTH = 600;
const BAR = 12;
/** More rows than a person reads; what is left out is counted. */
const MOST_ROWS = 80;

export function TraceTimeline({ trace }: { trace: TraceDocument }): ComponentChild {
  const end = Math.max(0.001, ...trace.tree.map(({ toMs }) => toMs));
  const x = (ms: number): string => ((Math.max(0, ms) / end) * WIDTH).toFixed(1);
  const depth = new Map<number, number>();
  for (const [place, { parent }] of trace.tree.entries())
    depth.set(place, parent === null ? 0 : (depth.get(parent) ?? 0) + 1);
  const rows = inOrder(trace).slice(0, MOST_ROWS);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section class="scroll" aria-label="Timeline of the trace" tabIndex={0}>
      <table class="timeline-table">
        <thead>
          <tr>
            <th scope="col">Span</th>
            <th scope="col" class="bars">
              0 to {latency(end)}
            </th>
            <th scope="col" class="number">
              Took
            </th>
            <th scope="col" class="number">
              Held up
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((place) => {
            const span = trace.tree[place];
            if (span === undefined) return null;
            const { service, instance, operation, fromMs, toMs, criticalMs, status, kind } = span;
            return (
              <tr key={span.id} class={criticalMs === null ? "off" : "on"}>
                <th scope="row" class={`depth-${Math.min(depth.get(place) ?? 0, 6)}`}>
                  {instance}
                  <small>
                    {operation}
                    {instance.startsWith(service) ? "" : ` of ${service}`}
                    {kind === "consumer" ? ", in the background" : ""}
                    {status === "error" ? ", failed" : ""}
                  </small>
                </th>
                <td class="bars">
                  <svg viewBox={`0 0 ${WIDTH} ${BAR}`} preserveAspectRatio="none" aria-hidden="true">
                    <rect
                      class="span"
                      x={x(fromMs)}
                      y="3"
                      width={Math.max(1.5, Number(x(toMs)) - Number(x(fromMs)))}
                      height={BAR - 6}
                    />
                    {trace.path
                      .filter((segment) => segment.span === place)
                      .map((segment) => (
                        <rect
                          key={segment.fromMs}
                          class="segment"
                          x={x(segment.fromMs)}
                          y="0"
                          width={Math.max(1.5, Number(x(segment.toMs)) - Number(x(segment.fromMs)))}
                          height={BAR}
                        />
                      ))}
                  </svg>
                </td>
                <td class="number">{latency(toMs - fromMs)}</td>
                <td class="number">{criticalMs === null ? "–" : <strong>{latency(criticalMs)}</strong>}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {trace.tree.length > rows.length ? <p class="quiet">and {trace.tree.length - rows.length} more spans.</p> : null}
    </section>
  );
}

/** Callers before those they call, and these in the order of time. */
function inOrder({ tree }: TraceDocument): readonly number[] {
  const children = new Map<number | null, number[]>();
  for (const [place, { parent }] of tree.entries()) children.set(parent, [...(children.get(parent) ?? []), place]);
  const order: number[] = [];
  const waiting = [...(children.get(null) ?? [])];
  while (waiting.length > 0) {
    const place = waiting.shift() as number;
    order.push(place);
    const next = (children.get(place) ?? []).sort((a, b) => (tree[a]?.fromMs ?? 0) - (tree[b]?.fromMs ?? 0));
    waiting.unshift(...next);
  }
  return order;
}
