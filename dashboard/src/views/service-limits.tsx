/** What each container may use of the five resources, and how much of it is used. Suspects first. */
import type { ComponentChild } from "preact";
import {
  type InstanceDocument,
  type ServiceResource,
  type SuspectDocument,
  serviceResources,
} from "../../../src/server/services-contract.ts";
import { NOTHING, percent, plain } from "../words/format.ts";
import { resourceUnit, resourceWord } from "../words/services.ts";

/** From where on a limit is nearly reached. A cache is always full: that says nothing about whether it is too small. */
const TIGHT = 0.9;
const isTight = (resource: ServiceResource, use: number): boolean => resource !== "llc" && use >= TIGHT;

export function Limits(props: {
  instances: readonly InstanceDocument[];
  suspects: readonly SuspectDocument[];
}): ComponentChild {
  const scores = new Map(props.suspects.map(({ instance, score }) => [instance, score]));
  const culprits = new Set(props.suspects.filter(({ isCulprit }) => isCulprit).map(({ instance }) => instance));
  const rank = ({ instance }: InstanceDocument): number => (culprits.has(instance) ? (scores.get(instance) ?? 0) : 0);
  const ordered = [...props.instances].sort((a, b) => rank(b) - rank(a) || a.instance.localeCompare(b.instance));
  return (
    <section class="card" aria-labelledby="limits-title">
      <h2 id="limits-title">Limits, and how much of each is used</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="scroll" aria-label="Limits of each container" tabIndex={0}>
        <table class="limits">
          <thead>
            <tr>
              <th scope="col">Container</th>
              {serviceResources.map((resource) => (
                <th key={resource} scope="col">
                  {sentenceCase(resourceWord[resource])} <small>{resourceUnit[resource]}</small>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {ordered.map((one) => (
              <tr key={one.instance} class={culprits.has(one.instance) ? "culprit" : ""}>
                <th scope="row">
                  {culprits.has(one.instance) ? "▲ " : ""}
                  {one.instance}
                  <small>
                    on {one.node}
                    {one.isReady ? "" : ", starting"}
                  </small>
                </th>
                {serviceResources.map((resource) => (
                  <Use key={resource} instance={one} resource={resource} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

function Use({ instance, resource }: { instance: InstanceDocument; resource: ServiceResource }): ComponentChild {
  const use = instance.use?.[resource] ?? null;
  const shown = Math.min(1, use ?? 0);
  return (
    <td>
      <svg
        class={isTight(resource, shown) ? "use tight" : resource === "llc" ? "use full" : "use"}
        viewBox="0 0 100 6"
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <rect class="limit" width="100" height="6" />
        <rect class="used" width={(100 * shown).toFixed(1)} height="6" />
      </svg>
      <span class="amount">
        {use === null ? NOTHING : percent(use)} <small>of {plain(instance.limits[resource])}</small>
      </span>
    </td>
  );
}

const sentenceCase = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
