import { describe, expect, test } from "vitest";
import { node, spansOf, type TreeNode } from "../../../test/fixtures/traces/span-tree.ts";
import { milliseconds } from "../../base/index.ts";
import { NameTable, spanColumnsOf } from "../telemetry/index.ts";
import { TracingCoordinator } from "./coordinator.ts";
import { PathWindows, type PathWindowsOptions } from "./path-windows.ts";

const at = milliseconds;
/** Microseconds: A holds the request up for 80, or B does. */
const viaA = node("root", [0, 100], [node("A", [10, 90]), node("B", [10, 30])]);
const viaB = node("root", [0, 100], [node("A", [10, 30]), node("B", [10, 90])]);

function watched(options: PathWindowsOptions = {}) {
  const names = new NameTable();
  const coordinator = new TracingCoordinator(names);
  const windows = new PathWindows({ window: at(1_000), most: 5, ...options });
  let trace = 0;
  const see = (tree: TreeNode, startMs: number, now = startMs): void => {
    const spans = spansOf(tree, { trace: ++trace }).map((span) => ({
      ...span,
      startUs: span.startUs + 1_000 * startMs,
      endUs: span.endUs + 1_000 * startMs,
    }));
    coordinator.admit(spanColumnsOf(spans, names), at(now));
    const traces = coordinator.flush(at(now));
    if (traces === null) return;
    windows.observe(traces, at(now));
    coordinator.release(traces);
  };
  return { windows, see };
}

describe("critical paths over time", () => {
  test("each window counts the paths of the requests that began in it", () => {
    const { windows, see } = watched();
    see(viaA, 10_000);
    see(viaA, 10_999);
    see(viaB, 11_000);
    see(viaB, 10_500, 11_200);
    expect(windows.windows()).toMatchObject([
      {
        from: 10_000,
        to: 11_000,
        types: [
          {
            requestType: "root/op",
            requests: 3,
            meanUs: 100,
            paths: [
              { signature: "root/op > A/op", count: 2, meanUs: 100 },
              { signature: "root/op > B/op", count: 1 },
            ],
          },
        ],
      },
      { from: 11_000, types: [{ requests: 1, paths: [{ signature: "root/op > B/op", count: 1 }] }] },
    ]);
    expect(windows.windows("another/op").every(({ types }) => types.length === 0)).toBe(true);
  });

  test("an instance's critical time is per request, and names the type that it held up", () => {
    const { windows, see } = watched();
    see(viaA, 10_000);
    see(viaA, 10_100);
    see(viaB, 10_200);
    see(viaB, 10_300);
    // A: 80 in two of four requests; the root 20 in each.
    expect(windows.criticalTimes(at(10_000), at(11_000))).toMatchObject([
      { service: "A", perRequestUs: 40, share: 0.5, requestType: "root/op" },
      { service: "B", perRequestUs: 40, share: 0.5 },
      { service: "root", perRequestUs: 20, share: 1 },
    ]);
    expect(windows.criticalTimes(at(11_000), at(12_000))).toEqual([]);
  });

  test("old windows go, what is older still or not yet begun is left out", () => {
    const { windows, see } = watched();
    for (let second = 10; second <= 20; second++) see(viaA, 1_000 * second);
    expect(windows.windows().map(({ from }) => from)).toEqual([16_000, 17_000, 18_000, 19_000, 20_000]);
    see(viaA, 3_000, 20_000);
    see(viaA, 200_000, 20_500);
    expect(windows.windows()).toHaveLength(5);
  });

  test("more paths than the bound are counted together", () => {
    const { windows, see } = watched({ mostEntries: 2 });
    see(viaA, 10_000);
    see(viaB, 10_100);
    expect(windows.windows()[0]?.types[0]).toMatchObject({ requests: 2, others: 1, paths: [{ count: 1 }] });
  });
});
