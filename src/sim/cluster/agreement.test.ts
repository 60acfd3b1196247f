import { expect, test } from "vitest";
import { type AgreementCell, latencyError, measureCell } from "./agreement.ts";
import { eventWorld } from "./event/event-world.ts";
import { fluidWorld } from "./fluid/fluid-world.ts";
import { evaluationNodes } from "./processors.ts";
import { generateApplications } from "./workloads/index.ts";

const nodes = evaluationNodes().filter(({ processor }) => processor === "xeon-e5");

/** A few cells of the study world-cluster, on other seeds: light and busy, throttled and not, steady and bursty. */
const conditions: readonly Omit<AgreementCell, "application">[] = [
  { cores: 0.25, replicas: 1, utilisation: 0.2, dispersion: 1 },
  { cores: 0.25, replicas: 4, utilisation: 0.6, dispersion: 4 },
  { cores: 1, replicas: 1, utilisation: 0.4, dispersion: 4 },
  { cores: 1, replicas: 2, utilisation: 0.6, dispersion: 1 },
  { cores: 2, replicas: 1, utilisation: 0.8, dispersion: 1 },
];

test("the fluid world's p50 and p99 are the event world's, within 10 % and 20 % at the median cell", () => {
  const errors = { p50: [] as number[], p99: [] as number[], answered: [] as number[] };
  const used: number[] = [];
  for (const application of generateApplications({ seed: 1_001, count: 4 })) {
    for (const condition of conditions) {
      const cell = { application, ...condition };
      const options = { nodes, seed: 1_002, minutes: 8 };
      const [event, fluid] = [measureCell(eventWorld, cell, options), measureCell(fluidWorld, cell, options)];
      errors.p50.push(latencyError(fluid.p50, event.p50) as number);
      errors.p99.push(latencyError(fluid.p99, event.p99) as number);
      errors.answered.push(Math.abs(fluid.answered - event.answered));
      used.push(Math.abs(fluid.cpu - event.cpu), Math.abs(fluid.memory - event.memory));
    }
  }
  expect(median(errors.p50)).toBeLessThan(0.1);
  expect(median(errors.p99)).toBeLessThan(0.2);
  expect(median(errors.answered)).toBeLessThan(0.01);
  // Shares of the limits: what controllers that watch utilisation see.
  expect(median(used)).toBeLessThan(0.02);
});

test("an error is relative to the event world; one that answers where the other does not is as wrong as can be", () => {
  expect(latencyError(110, 100)).toBeCloseTo(0.1, 12);
  expect(latencyError(75, 100)).toBeCloseTo(0.25, 12);
  expect(latencyError(null, 100)).toBe(1);
  expect(latencyError(100, null)).toBe(1);
  expect(latencyError(null, null)).toBeNull();
});

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}
