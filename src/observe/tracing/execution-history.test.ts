import { expect, test } from "vitest";
import { nameAt, node, spansOf } from "../../../test/fixtures/traces/span-tree.ts";
import { executionHistory } from "./execution-history.ts";
import { assembleTraces } from "./whole-traces.ts";

test("a call is a request sent, received, computed, and answered", () => {
  // W is started at 50 and outlives the root: it answers nobody.
  const tree = node("root", [0, 100], [node("A", [10, 40]), node("W", [50, 200])]);
  const { block } = assembleTraces(spansOf(tree));
  const { vertices, edges } = executionHistory(block);
  const name = (at: number): string => {
    const vertex = vertices[at];
    if (vertex === undefined) return "?";
    const time = vertex.fromUs === vertex.toUs ? `${vertex.fromUs}` : `${vertex.fromUs}-${vertex.toUs}`;
    return `${nameAt(block, vertex.span)} ${vertex.kind} ${time}`;
  };
  expect(vertices.map((_, at) => name(at))).toEqual([
    "root recv_req 0",
    "root compute 0-10",
    "root send_req 10",
    "root compute 10-40",
    "root compute 40-50",
    "root send_req 50",
    "root compute 50-100",
    "A recv_req 10",
    "A compute 10-40",
    "W recv_req 50",
    "W compute 50-200",
  ]);
  const others = edges.filter(({ kind }) => kind !== "next");
  expect(others.map(({ kind, from, to }) => `${kind}: ${name(from)} to ${name(to)}`)).toEqual([
    "request: root send_req 10 to A recv_req 10",
    "request: root send_req 50 to W recv_req 50",
    "response: A compute 10-40 to root compute 40-50",
  ]);
  // Within a span one thing follows the other.
  expect(edges.filter(({ kind }) => kind === "next")).toHaveLength(6 + 1 + 1);
});

test("an answer that comes at the very end of its caller still has somewhere to go", () => {
  const { block } = assembleTraces(spansOf(node("root", [0, 40], [node("A", [10, 40])])));
  const { vertices, edges } = executionHistory(block);
  const response = edges.find(({ kind }) => kind === "response");
  expect(vertices[response?.to ?? -1]).toMatchObject({ kind: "compute", span: 0, fromUs: 40, toUs: 40 });
});
