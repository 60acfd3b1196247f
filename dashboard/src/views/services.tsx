/**
 * Services: who calls whom and who is to blame, how requests do, which paths they take, where one request's time went, what
 * the containers of each may use, anomalies to try it with, and what is done about them.
 * Not here: drawing (parts/), asking (plane/services.ts), the anomalies (service-anomalies.tsx), what is done about them
 * (service-acting.tsx), limits (service-limits.tsx).
 */
import { useSignal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect } from "preact/hooks";
import type { TraceDocument, TraceSummaryDocument } from "../../../src/contract/index.ts";
import { Empty, Loading, Problem, Title } from "../parts/bits.tsx";
import { PathBands } from "../parts/path-bands.tsx";
import { ServiceGraph } from "../parts/service-graph.tsx";
import { TraceTimeline } from "../parts/trace-timeline.tsx";
import { followServices, pathsOf, readTrace, type ServicesSeen, servicesState, tracesOf } from "../plane/services.ts";
import { hrefOf } from "../router.ts";
import { clock, latency, load, percent, whole } from "../words/format.ts";
import { brokenRequests, headlineOf, resourceWord } from "../words/services.ts";
import { Acting } from "./service-acting.tsx";
import { Anomalies } from "./service-anomalies.tsx";
import { Limits } from "./service-limits.tsx";

export function ServicesView({ trace }: { trace: string | null }): ComponentChild {
  const [request, service] = [pathsOf.value, tracesOf.value];
  useEffect(() => followServices(), [request, service]);
  const state = servicesState.value;
  if (state.kind === "seen") return <Seen seen={state.seen} trace={trace} />;
  return (
    <>
      <Title>Services</Title>
      {state.kind === "loading" ? <Loading what="services" /> : null}
      {state.kind === "problem" ? <Problem what="Services cannot be shown." why={state.why} /> : null}
      {state.kind === "none" ? <Problem what="Nothing is known of services." why={state.why} /> : null}
    </>
  );
}

function Seen({ seen, trace }: { seen: ServicesSeen; trace: string | null }): ComponentChild {
  const { services, graph, suspects, paths } = seen;
  const isBroken = brokenRequests(services.simulated).length > 0;
  return (
    <div class="services-view">
      <Title>{headlineOf(services, suspects)}</Title>
      <p class="quiet">
        From spans: at every moment of a request, the one service that everybody was waiting for.{" "}
        {services.simulated === null
          ? ""
          : `The application ${services.simulated.application} is simulated here and sends its spans like any other.`}
      </p>
      <div class="beside">
        <section class="card graph-card" aria-labelledby="graph-title">
          <h2 id="graph-title">Who calls whom, in the last five minutes</h2>
          {graph.vertices.length === 0 ? (
            <Empty>No trace is complete yet: one is, six seconds after its request.</Empty>
          ) : (
            <ServiceGraph
              graph={graph}
              chosen={tracesOf.value}
              choose={(name) => {
                tracesOf.value = tracesOf.value === name ? null : name;
              }}
            />
          )}
        </section>
        <Suspects seen={seen} isBroken={isBroken} />
      </div>
      <div class="halves">
        <Requests seen={seen} />
        <Anomalies simulated={services.simulated} />
      </div>
      <Acting simulated={services.simulated} />
      <section class="card" aria-labelledby="paths-title">
        <h2 id="paths-title">Critical paths over time</h2>
        {paths.requests.length === 0 ? (
          <Empty>No path is known yet.</Empty>
        ) : (
          <>
            <label>
              Requests{" "}
              <select
                value={paths.request ?? ""}
                onChange={(event) => {
                  pathsOf.value = event.currentTarget.value;
                }}
              >
                {paths.requests.map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
            <PathBands paths={paths} />
          </>
        )}
      </section>
      <Traces seen={seen} chosen={trace} />
      <Limits suspects={suspects.items} />
      <Senders seen={seen} />
    </div>
  );
}

function Suspects({ seen, isBroken }: { seen: ServicesSeen; isBroken: boolean }): ComponentChild {
  const { suspects, services } = seen;
  const blamed = services.simulated === null || isBroken ? suspects.items.filter(({ isCulprit }) => isCulprit) : [];
  const others = suspects.items.filter((one) => !blamed.includes(one)).slice(0, blamed.length === 0 ? 4 : 2);
  return (
    <section class="card decision suspects" aria-labelledby="suspects-title">
      <h2 id="suspects-title">Who is to blame</h2>
      {blamed.length === 0 ? <p>Nobody beyond doubt.</p> : null}
      <ol>
        {[...blamed, ...others].map((one) => (
          <li key={one.instance} class={blamed.includes(one) ? "culprit" : "other"}>
            <p class="who">
              <strong>{one.instance}</strong>{" "}
              {blamed.includes(one) ? <span class="badge">▲ lacks {resourceWord[one.resource]}</span> : null}
              <span class="score">{suspects.isTrained ? percent(one.score) : one.score.toFixed(2)}</span>
            </p>
            <svg class="score-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
              <rect width={(100 * one.score).toFixed(1)} height="4" />
            </svg>
            <p class="quiet">{sentence(one.reason)}</p>
          </li>
        ))}
      </ol>
      <p class="quiet">
        {suspects.isTrained
          ? `The percentage says how often one with such features was the culprit. As of ${clock(suspects.at)}.`
          : "Still learning on simulated anomalies: until then the figures are only an order."}
      </p>
    </section>
  );
}

function Requests({ seen }: { seen: ServicesSeen }): ComponentChild {
  const requests = seen.services.simulated?.requests ?? [];
  if (requests.length === 0) return null;
  return (
    <section class="card" aria-labelledby="requests-title">
      <h2 id="requests-title">Requests, as their clients see them</h2>
      <p class="quiet">The twin has the same requests and anomalies, and Kubernetes autoscaling alone.</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="scroll" aria-label="Requests" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Request</th>
              {["p50", "p99", "Twin's p99", "SLO", "Load"].map((name) => (
                <th key={name} scope="col" class="number">
                  {name}
                </th>
              ))}
              <th scope="col">SLO kept</th>
            </tr>
          </thead>
          <tbody>
            {requests.map((one) => {
              const isBroken = brokenRequests({ ...seen.services.simulated, requests: [one] } as never).length > 0;
              return (
                <tr key={one.request}>
                  <th scope="row">{one.request}</th>
                  <td class="number">{latency(one.p50Ms)}</td>
                  <td class="number">{latency(one.p99Ms)}</td>
                  <td class="number">{latency(one.twinP99Ms)}</td>
                  <td class="number">{latency(one.sloMs)}</td>
                  <td class="number">{load(one.offered)}</td>
                  <td>
                    <span class={isBroken ? "verdict no" : "verdict yes"}>{isBroken ? "✗ no" : "✓ yes"}</span>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </section>
    </section>
  );
}

function Traces({ seen, chosen }: { seen: ServicesSeen; chosen: string | null }): ComponentChild {
  const { traces, graph } = seen;
  // The slowest of the first look, until a person chooses: a timeline that changes by itself cannot be read.
  const first = useSignal<string | null>(null);
  if (first.value === null && traces[0] !== undefined) first.value = traces[0].id;
  const id = chosen ?? first.value;
  return (
    <section class="card" aria-labelledby="traces-title">
      <h2 id="traces-title">Slowest requests of the last five minutes</h2>
      <label>
        Through{" "}
        <select
          value={tracesOf.value ?? ""}
          onChange={(event) => {
            tracesOf.value = event.currentTarget.value === "" ? null : event.currentTarget.value;
          }}
        >
          <option value="">any service</option>
          {[...graph.vertices]
            .map(({ name }) => name)
            .sort()
            .map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
        </select>
      </label>
      {traces.length === 0 ? <Empty>No such trace.</Empty> : <TraceList traces={traces} chosen={id} />}
      {id === null ? null : <OneTrace key={id} id={id} />}
    </section>
  );
}

function TraceList({
  traces,
  chosen,
}: {
  traces: readonly TraceSummaryDocument[];
  chosen: string | null;
}): ComponentChild {
  return (
    <ul class="trace-list">
      {traces.map(({ id, service, operation, at, durationMs, spans, errors }) => (
        <li key={id}>
          <a href={hrefOf({ view: "services", trace: id })} aria-current={id === chosen ? "true" : undefined}>
            <strong>{latency(durationMs)}</strong> {service}/{operation}
            <small>
              {clock(at)} · {spans} spans{errors > 0 ? ` · ${errors} failed` : ""}
            </small>
          </a>
        </li>
      ))}
    </ul>
  );
}

function OneTrace({ id }: { id: string }): ComponentChild {
  const loaded = useSignal<TraceDocument | "loading" | { readonly problem: string }>("loading");
  useEffect(() => {
    const stop = new AbortController();
    readTrace(id, stop.signal).then(
      (trace) => {
        loaded.value = trace;
      },
      (reason: unknown) => {
        if (!stop.signal.aborted) loaded.value = { problem: reason instanceof Error ? reason.message : String(reason) };
      },
    );
    return () => stop.abort();
  }, [id]);
  const state = loaded.value;
  if (state === "loading") return <Loading what="the trace" />;
  if ("problem" in state) return <Problem what="The trace cannot be shown." why={state.problem} />;
  const on = state.tree.filter(({ criticalMs }) => criticalMs !== null);
  const most = [...on].sort((a, b) => (b.criticalMs ?? 0) - (a.criticalMs ?? 0))[0];
  return (
    <div class="one-trace">
      <h3>
        {state.service}/{state.operation}, {latency(state.durationMs)}
      </h3>
      <p class="quiet">
        {on.length} of {state.spans} spans are on its critical path
        {most === undefined ? "." : `; ${most.instance} alone held it up for ${latency(most.criticalMs)}.`} Dark: the
        time in which everybody waited for this span.
      </p>
      <TraceTimeline trace={state} />
    </div>
  );
}

function Senders({ seen }: { seen: ServicesSeen }): ComponentChild {
  const { listeners, counts } = seen.services;
  const dropped = Object.entries(counts.dropped);
  const refused = Object.entries(counts.refused);
  return (
    <section class="card" aria-labelledby="senders-title">
      <h2 id="senders-title">Your own spans</h2>
      {listeners.problems.map((problem) => (
        <p key={problem} class="refusal">
          {problem}
        </p>
      ))}
      {listeners.http === null && listeners.grpc === null ? (
        <p>No spans are taken from senders.</p>
      ) : (
        <p>
          OTLP over HTTP at <code>{listeners.http ?? "nowhere"}</code>, over gRPC at{" "}
          <code>{listeners.grpc ?? "nowhere"}</code>. {whole(counts.spans)} spans came in {whole(counts.requests)}{" "}
          requests; {whole(counts.storedTraces)} traces are stored, {whole(counts.waiting)} spans wait for the rest of
          theirs.
        </p>
      )}
      {dropped.length + refused.length === 0 ? null : (
        <p class="quiet">
          Not used: {[...dropped, ...refused].map(([reason, count]) => `${whole(count)} ${reason}`).join(", ")}.
        </p>
      )}
    </section>
  );
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
