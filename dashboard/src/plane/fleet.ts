/**
 * The fleet as the page has it: the newest document of /v1/fleet.
 * Owns: the signal, and that it is asked for anew when the stream says that it has changed, while somebody looks, at most
 * once a second. Not here: drawing (views/fleet.tsx).
 */
import { effect, signal } from "@preact/signals";
import type { FleetDocument } from "../../../src/contract/index.ts";
import { store } from "../state.ts";
import { ask, PlaneProblem } from "./client.ts";

type Loaded =
  | { readonly kind: "loading" }
  | { readonly kind: "seen"; readonly fleet: FleetDocument }
  /** What is managed here is none. */
  | { readonly kind: "none"; readonly why: string }
  | { readonly kind: "problem"; readonly why: string };

export const fleetState = signal<Loaded>({ kind: "loading" });

/** A simulated world tells several times a second, which nobody could read. */
const LEAST_MS = 1_000;

/** Looks now, and again whenever it has changed, until it is told to stop. One look after the other: they must not pile up. */
export function followFleet(): () => void {
  const stop = new AbortController();
  let isUnderWay = false;
  let isAskedAgain = false;
  let pause: ReturnType<typeof setTimeout> | undefined;
  const look = async (): Promise<void> => {
    // A page that nobody sees looks once it is seen again.
    if (stop.signal.aborted || document.visibilityState !== "visible") return;
    isAskedAgain = isUnderWay;
    if (isUnderWay) return;
    isUnderWay = true;
    await loadFleet(stop.signal);
    pause = setTimeout(() => {
      isUnderWay = false;
      if (isAskedAgain) void look();
    }, LEAST_MS);
  };
  const forget = effect(() => {
    void store.fleetChanged.value;
    void look();
  });
  const seenAgain = (): void => void look();
  document.addEventListener("visibilitychange", seenAgain);
  return () => {
    stop.abort();
    clearTimeout(pause);
    forget();
    document.removeEventListener("visibilitychange", seenAgain);
  };
}

async function loadFleet(stop: AbortSignal): Promise<void> {
  try {
    const fleet = (await (await ask("fleet", { signal: stop })).json()) as FleetDocument;
    fleetState.value = { kind: "seen", fleet };
  } catch (problem) {
    if (stop.aborted) return;
    const why = problem instanceof Error ? problem.message : String(problem);
    if (problem instanceof PlaneProblem && problem.code === "plane.no-fleet") fleetState.value = { kind: "none", why };
    // What is shown stays: it is no less true because the connection is gone.
    else if (fleetState.value.kind !== "seen") fleetState.value = { kind: "problem", why };
  }
}
