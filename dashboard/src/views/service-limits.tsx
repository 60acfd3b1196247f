/**
 * What the containers of each service may use, and how much of it is used, live. Culprits first.
 * Not here: one service over time (workload.tsx), containers one by one (/v1/services/instances).
 */
import { useComputed } from "@preact/signals";
import type { ComponentChild } from "preact";
import type { KnobDocument, SuspectDocument } from "../../../src/contract/index.ts";
import type { WorkloadCell } from "../plane/store.ts";
import { hrefOf } from "../router.ts";
import { store } from "../state.ts";
import { NOTHING, percent, plain } from "../words/format.ts";
import { countFor, isCount, nameOfAll } from "../words/knobs.ts";

/** From where on a limit is nearly reached. A cache is always full: that says nothing about whether it is too small. */
const TIGHT = 0.9;
const isAlwaysFull = (knob: string): boolean => knob === "llc";
const isTight = (knob: string, use: number): boolean => !isAlwaysFull(knob) && use >= TIGHT;

export function Limits({ suspects }: { suspects: readonly SuspectDocument[] }): ComponentChild {
  const cells = store.services.value;
  const [first] = cells;
  if (first === undefined) return null;
  // All services are of one task, so they have the same knobs.
  const knobs = first.knobs.value;
  const limits = knobs.filter((knob) => !isCount(knob, knobs));
  const scores = new Map<string, number>();
  for (const { service, isCulprit, score } of suspects)
    if (isCulprit) scores.set(service, Math.max(score, scores.get(service) ?? 0));
  const rank = (cell: WorkloadCell): number => scores.get(cell.title.value) ?? 0;
  return (
    <section class="card" aria-labelledby="limits-title">
      <h2 id="limits-title">Limits per container, and how much is used of all containers' together</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="scroll" aria-label="Limits of each service" tabIndex={0}>
        <table class="limits">
          <thead>
            <tr>
              <th scope="col">Service</th>
              {limits.map((knob) => (
                <th key={knob.name} scope="col">
                  {nameOfAll(knob.name, knobs)} <small>{knob.unit}</small>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {[...cells]
              .sort((a, b) => rank(b) - rank(a))
              .map((cell) => (
                <Service key={cell.id} cell={cell} limits={limits} isCulprit={rank(cell) > 0} />
              ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

interface ServiceProps {
  readonly cell: WorkloadCell;
  readonly limits: readonly KnobDocument[];
  readonly isCulprit: boolean;
}

function Service({ cell, limits, isCulprit }: ServiceProps): ComponentChild {
  const containers = useComputed(() => containersOf(cell));
  return (
    <tr class={isCulprit ? "culprit" : ""}>
      <th scope="row">
        {isCulprit ? "▲ " : ""}
        <a href={hrefOf({ view: "workload", id: cell.id })}>{cell.title}</a>
        <small>{containers}</small>
      </th>
      {limits.map((knob) => (
        <Use key={knob.name} cell={cell} knob={knob} />
      ))}
    </tr>
  );
}

/** "1 container", "2 containers, 1 starting". */
function containersOf({ now, knobs }: WorkloadCell): string {
  const sample = now.value;
  const count = knobs.value.find((knob) => isCount(knob, knobs.value));
  const all = count === undefined ? undefined : sample?.have[count.name];
  if (sample === null || all === undefined) return "";
  const starting = all - sample.ready;
  return `${all} ${all === 1 ? "container" : "containers"}${starting > 0 ? `, ${starting} starting` : ""}`;
}

function Use({ cell, knob }: { cell: WorkloadCell; knob: KnobDocument }): ComponentChild {
  const sample = cell.now.value;
  const limit = sample?.have[knob.name];
  const count = countFor(knob, cell.knobs.value);
  const members = count === undefined ? 1 : (sample?.have[count.name] ?? 1);
  const used = sample?.use[knob.name] ?? null;
  const share = used === null || limit === undefined || !(limit > 0) ? null : used / (limit * members);
  const shown = Math.min(1, share ?? 0);
  return (
    <td>
      <svg
        class={isTight(knob.name, shown) ? "use tight" : isAlwaysFull(knob.name) ? "use full" : "use"}
        viewBox="0 0 100 6"
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <rect class="limit" width="100" height="6" />
        <rect class="used" width={(100 * shown).toFixed(1)} height="6" />
      </svg>
      <span class="amount">
        {share === null ? NOTHING : percent(share)} <small>of {plain(limit)}</small>
      </span>
    </td>
  );
}
