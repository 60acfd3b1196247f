import { expect, test } from "vitest";
import { node, spansOf } from "../../../test/fixtures/traces/span-tree.ts";
import type { RecordedTraces, RecordedWindow } from "../../adapters/datasets/index.ts";
import { type Ms, seededRng } from "../../base/index.ts";
import { localizeRecorded } from "./localization-recorded.ts";

/** Minutes of a shop with three services, of which one may be slow now and then; shop is always the slowest of all. */
function minute(window: number, slow: string | null, fault: number | null): RecordedWindow {
  const rng = seededRng(window + 1);
  const spans = Array.from({ length: 40 }, (_, k) => {
    const start = window * 60e6 + k * 1e6;
    const took = (name: string): number => (2_000 + 200 * rng.next()) * (name === slow && rng.next() < 0.5 ? 8 : 1);
    const [cart, pay, ship] = [took("cart"), took("pay"), took("ship")];
    let at = start + 10_000;
    const inTurn = [
      ["cart", cart],
      ["pay", pay],
      ["ship", ship],
    ] as const;
    const children = inTurn.map(([name, us]) => {
      const child = node(name, [at, at + us], [], { instance: name });
      at += us + 100;
      return child;
    });
    return spansOf(node("shop", [start, at + 10_000 + 3_000 * rng.next()], children, { instance: "shop" }), {
      trace: window * 100 + k + 1,
    });
  }).flat();
  return { window, application: "hipster", at: (window * 60_000) as Ms, fault, spans, cpu: new Map() };
}

const services = ["cart", "pay", "ship"];
const recording: RecordedTraces = {
  faults: Array.from({ length: 12 }, (_, fault) => ({
    fault,
    application: "hipster" as const,
    type: "cpu_contention",
    service: services[fault % 3] as string,
  })),
  windows: [
    minute(100, null, null),
    ...Array.from({ length: 12 }, (_, fault) => minute(fault, services[fault % 3] as string, fault)),
  ],
};

test("faults are found by a localizer that learned from the others, where the highest latency is always the caller", () => {
  const results = localizeRecorded({ recording, seed: 1, passes: 3, progress: () => {} });
  expect(results).toHaveLength(12);
  expect(results.filter(({ place }) => place.learned === 1).length).toBeGreaterThanOrEqual(11);
  expect(results.map(({ place }) => place.latency).every((place) => place > 1)).toBe(true);
  expect(results.every(({ suspects }) => suspects === 4)).toBe(true);
});

test("nothing is learned from the fault that is judged: a wrong label of its own does not change its places", () => {
  const lied: RecordedTraces = {
    ...recording,
    faults: recording.faults.map((fault) => (fault.fault === 0 ? { ...fault, service: "shop" } : fault)),
  };
  const run = (of: RecordedTraces) => localizeRecorded({ recording: of, seed: 1, passes: 2, progress: () => {} })[0];
  const [honest, other] = [run(recording), run(lied)];
  expect(honest?.place.learned).toBe(1);
  expect(other?.place.learned).toBeGreaterThan(1);
});

test("a service that takes all of its CPU is found by that, where its spans are as ever", () => {
  const busy = (window: RecordedWindow): RecordedWindow => {
    const fault = recording.faults.find(({ fault: own }) => own === window.fault);
    const calm = minute(window.window, null, window.fault);
    return { ...calm, cpu: new Map([...services, "shop"].map((name) => [name, name === fault?.service ? 0.95 : 0.1])) };
  };
  const results = localizeRecorded({
    recording: { ...recording, windows: recording.windows.map(busy) },
    seed: 1,
    passes: 3,
    progress: () => {},
  });
  expect(results.every(({ place }) => place.learned === 1)).toBe(true);
  expect(results.filter(({ place }) => place.spans === 1).length).toBeLessThan(8);
});
