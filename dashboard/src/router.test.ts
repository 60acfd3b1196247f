import { expect, test } from "vitest";
import { dashboardViews } from "../../src/contract/index.ts";
import { hrefOf, parseRoute } from "./router.ts";

test.each([
  { view: "overview" },
  { view: "workload", id: "a/b c" },
  { view: "agent", id: "100%" },
  { view: "events", workload: null },
  { view: "events", workload: "x" },
  { view: "services", trace: null },
  { view: "services", trace: "0af7651916cd43dd8448eb211c80319c" },
  { view: "fleet" },
  { view: "map", chosen: null },
  { view: "map", chosen: "known-1-7" },
  { view: "studies", study: "rl-cartpole" },
] as const)("the address of %j leads back to it", (route) => {
  expect(parseRoute(hrefOf(route))).toEqual(route);
});

test("an address that is none is said to be none, and a broken escape does not throw", () => {
  expect(parseRoute("#/nowhere/else").view).toBe("unknown");
  expect(parseRoute("#/workloads/%E0%A4%A")).toEqual({ view: "workload", id: "%E0%A4%A" });
});

test("every view that the server knows is one of the page's", () => {
  for (const view of dashboardViews) {
    expect(parseRoute(`#/${view}`).view).not.toBe("unknown");
    expect(parseRoute(`#/${view}/one`).view).not.toBe("unknown");
  }
});
