/**
 * Which view is shown: `#/`, `#/workloads/<id>`, `#/agents/<id>`, `#/events`, `#/services[/<trace>]`,
 * `#/fleet`, `#/map[/<name>]`, `#/studies[/<id>]`.
 * Owns: addresses in both directions. Hashes, because the page must work from any folder on any server;
 * ours leads an address without the hash to the one with it.
 */
import { signal } from "@preact/signals";

export type KnownRoute =
  | { readonly view: "overview" }
  | { readonly view: "workload"; readonly id: string }
  | { readonly view: "agent"; readonly id: string }
  | { readonly view: "events"; readonly workload: string | null }
  | { readonly view: "services"; readonly trace: string | null }
  | { readonly view: "fleet" }
  | { readonly view: "map"; readonly chosen: string | null }
  | { readonly view: "studies"; readonly study: string | null };
export type Route = KnownRoute | { readonly view: "unknown"; readonly address: string };

export function parseRoute(hash: string): Route {
  const parts = hash
    .replace(/^#?\/?/, "")
    .split("/")
    .filter((part) => part !== "")
    .map(decode);
  const [first, second] = parts;
  if (first === undefined) return { view: "overview" };
  // All of them are in the overview.
  if ((first === "workloads" || first === "agents") && second === undefined) return { view: "overview" };
  if (first === "workloads" && second !== undefined) return { view: "workload", id: second };
  if (first === "agents" && second !== undefined) return { view: "agent", id: second };
  if (first === "events") return { view: "events", workload: second ?? null };
  if (first === "services") return { view: "services", trace: second ?? null };
  if (first === "fleet") return { view: "fleet" };
  if (first === "map") return { view: "map", chosen: second ?? null };
  if (first === "studies") return { view: "studies", study: second ?? null };
  return { view: "unknown", address: hash };
}

export function hrefOf(route: KnownRoute): string {
  switch (route.view) {
    case "overview":
      return "#/";
    case "workload":
      return `#/workloads/${encodeURIComponent(route.id)}`;
    case "agent":
      return `#/agents/${encodeURIComponent(route.id)}`;
    case "events":
      return route.workload === null ? "#/events" : `#/events/${encodeURIComponent(route.workload)}`;
    case "services":
      return route.trace === null ? "#/services" : `#/services/${encodeURIComponent(route.trace)}`;
    case "fleet":
      return "#/fleet";
    case "map":
      return route.chosen === null ? "#/map" : `#/map/${encodeURIComponent(route.chosen)}`;
    case "studies":
      return route.study === null ? "#/studies" : `#/studies/${encodeURIComponent(route.study)}`;
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const route = signal<Route>(parseRoute(globalThis.location?.hash ?? ""));

export function followAddress(): void {
  window.addEventListener("hashchange", () => {
    const before = route.value.view;
    route.value = parseRoute(location.hash);
    // Within these views an address is a choice of theirs: whoever makes it stays where it is made.
    const isChoice = before === route.value.view && ["events", "services", "map", "studies"].includes(before);
    if (isChoice) return;
    // A new view starts at its top, and where a reader's focus is: its heading.
    window.scrollTo(0, 0);
    requestAnimationFrame(() => document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true }));
  });
}
