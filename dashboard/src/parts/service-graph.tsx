/**
 * Who calls whom, coloured by blame.
 * Owns: the drawing; the same is said as a table for those who do not see it, or want the figures.
 * Not here: where vertices stand (graph-layout.ts).
 */
import type { ComponentChild } from "preact";
import type { GraphEdge, GraphVertex, ServiceGraphDocument } from "../../../src/contract/index.ts";
import { latency, percent, whole } from "../words/format.ts";
import { layOut, usualCalls } from "./graph-layout.ts";

const BOX = { width: 168, height: 40 };
const GAP = { x: 64, y: 14 };
const PAD = 6;

/** From where on somebody is drawn as to blame, and as perhaps to blame. */
const [BLAMED, DOUBTED] = [0.5, 0.25];

interface Placed {
  readonly vertex: GraphVertex;
  readonly x: number;
  readonly y: number;
}

export function ServiceGraph(props: {
  graph: ServiceGraphDocument;
  chosen: string | null;
  choose: (service: string) => void;
}): ComponentChild {
  const { graph, chosen, choose } = props;
  const drawn = usualCalls(graph.edges);
  const places = layOut(
    graph.vertices.map(({ name }) => name),
    drawn,
  );
  const rows = Math.max(1, ...places.map(({ row }) => row + 1));
  const layers = Math.max(1, ...places.map(({ layer }) => layer + 1));
  const height = 2 * PAD + rows * (BOX.height + GAP.y) - GAP.y;
  const width = 2 * PAD + layers * (BOX.width + GAP.x) - GAP.x;
  const inLayer = (layer: number): number => places.filter((place) => place.layer === layer).length;
  const placed = new Map<string, Placed>();
  for (const { name, layer, row } of places) {
    const vertex = graph.vertices.find((one) => one.name === name);
    if (vertex === undefined) continue;
    // A layer of few is spread over the whole height.
    const step = height / inLayer(layer);
    const y = step * (row + 0.5) - BOX.height / 2;
    placed.set(name, { vertex, x: PAD + layer * (BOX.width + GAP.x), y });
  }
  const most = Math.max(1, ...graph.edges.map(({ calls }) => calls));
  const blamed = graph.vertices.filter(({ blame }) => blame >= BLAMED).map(({ name }) => name);
  const about = `${graph.vertices.length} services and ${graph.edges.length} calls between them; ${blamed.length === 0 ? "nobody is to blame" : `to blame: ${blamed.join(", ")}`}. The table below has the figures.`;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="scroll" aria-label="Service graph, as a picture" tabIndex={0}>
        <svg
          class="service-graph"
          viewBox={`0 0 ${width} ${height}`}
          width={width}
          height={height}
          role="img"
          aria-label={about}
        >
          {drawn.map((edge) => (
            <Call key={`${edge.caller} ${edge.callee}`} edge={edge} placed={placed} most={most} />
          ))}
          {[...placed.values()].map((place) => (
            <Vertex key={place.vertex.name} place={place} isChosen={place.vertex.name === chosen} choose={choose} />
          ))}
        </svg>
      </section>
      <p class="legend quiet">
        <span>
          <span class="key blamed" aria-hidden="true" /> to blame
        </span>{" "}
        <span>
          <span class="key doubted" aria-hidden="true" /> perhaps
        </span>{" "}
        <span>
          <span class="key critical" aria-hidden="true" /> on critical paths
        </span>{" "}
        <span>wider: more calls</span>
      </p>
      <details>
        <summary>The graph as a table</summary>
        <CallTable edges={graph.edges} />
      </details>
    </>
  );
}

function Vertex({
  place,
  isChosen,
  choose,
}: {
  place: Placed;
  isChosen: boolean;
  choose: (name: string) => void;
}): ComponentChild {
  const { vertex, x, y } = place;
  const blame = vertex.blame >= BLAMED ? "blamed" : vertex.blame >= DOUBTED ? "doubted" : "calm";
  const title = `${vertex.name}: ${latency(vertex.criticalMs)} of a request on average, on the critical path of ${percent(vertex.criticalShare)}; blame ${percent(vertex.blame)}`;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the choice is offered by keyboard beside it, in the list of traces
    <g
      class={`vertex ${blame}${isChosen ? " chosen" : ""}`}
      transform={`translate(${x} ${y.toFixed(1)})`}
      onClick={() => choose(vertex.name)}
    >
      <title>{title}</title>
      <rect width={BOX.width} height={BOX.height} rx="7" />
      <text x="9" y="17" class="name">
        {short(vertex.name)}
      </text>
      <text x="9" y="32" class="figure">
        {vertex.blame >= DOUBTED ? `▲ ${Math.round(100 * vertex.blame)} % · ` : ""}
        {latency(vertex.criticalMs)} critical
      </text>
    </g>
  );
}

function Call({
  edge,
  placed,
  most,
}: {
  edge: GraphEdge;
  placed: ReadonlyMap<string, Placed>;
  most: number;
}): ComponentChild {
  const [from, to] = [placed.get(edge.caller), placed.get(edge.callee)];
  if (from === undefined || to === undefined) return null;
  const [x1, y1, x2, y2] = [from.x + BOX.width, from.y + BOX.height / 2, to.x, to.y + BOX.height / 2];
  const bend = Math.max(30, Math.abs(x2 - x1) / 2);
  const share = edge.calls === 0 ? 0 : edge.criticalCalls / edge.calls;
  return (
    <path
      class={share >= 0.5 ? "call critical" : "call"}
      stroke-width={(1 + 2.5 * Math.sqrt(edge.calls / most)).toFixed(1)}
      d={`M${x1} ${y1.toFixed(1)}C${x1 + bend} ${y1.toFixed(1)} ${x2 - bend} ${y2.toFixed(1)} ${x2} ${y2.toFixed(1)}`}
    />
  );
}

/** As many letters as a box has room for. */
const short = (name: string): string => (name.length > 22 ? `${name.slice(0, 21)}…` : name);

function CallTable({ edges }: { edges: readonly GraphEdge[] }): ComponentChild {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section class="scroll" aria-label="Calls between services" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Caller</th>
            <th scope="col">Callee</th>
            {["Calls", "Errors", "Mean", "p99", "Critical"].map((name) => (
              <th key={name} scope="col" class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {edges.map((edge) => (
            <tr key={`${edge.caller} ${edge.callee}`}>
              <th scope="row">{edge.caller}</th>
              <td>{edge.callee}</td>
              <td class="number">{whole(edge.calls)}</td>
              <td class="number">{whole(edge.errors)}</td>
              <td class="number">{latency(edge.meanMs)}</td>
              <td class="number">{latency(edge.p99Ms)}</td>
              <td class="number">{percent(edge.calls === 0 ? 0 : edge.criticalCalls / edge.calls)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
