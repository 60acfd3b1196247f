import { expect, test } from "vitest";
import { type MicroserviceCell, measureMicroserviceCell } from "./agreement.ts";
import { hotelReservation, socialNetwork, trainTicket } from "./applications/index.ts";
import { microserviceWorld } from "./event/event-world.ts";
import { fluidMicroserviceWorld } from "./fluid/fluid-world.ts";

const places = [
  { application: hotelReservation, logic: "recommendation", store: "mongodb-reservation", designRate: 120 },
  { application: socialNetwork, logic: "text-service", store: "post-storage-mongodb", designRate: 120 },
  { application: trainTicket, logic: "ts-travel-service", store: "ts-order-mongo", designRate: 50 },
];

const error = (fluid: number | null, event: number | null): number | null =>
  fluid === null || event === null ? (fluid === event ? null : 1) : Math.abs(fluid / event - 1);
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] as number;

/** Load over what limits are made for × contention in one container. */
test("the fluid rung's p50 and p99 are the event rung's, within 10 % and 20 % at the median", () => {
  const [p50, p99, answered]: number[][] = [[], [], []];
  const worst: { readonly cell: string; readonly p99: number }[] = [];
  for (const { application, logic, store, designRate } of places) {
    for (const load of [0.6, 1.8]) {
      const cells: Omit<MicroserviceCell, "application" | "load">[] = [
        { kind: "cpu", service: logic, contention: 0 },
        { kind: "cpu", service: logic, contention: 0.6 },
        { kind: "io-bandwidth", service: store, contention: 0.5 },
      ];
      for (const cell of cells) {
        const options = { seed: 17, designRate, span: 15 };
        const event = measureMicroserviceCell(microserviceWorld, { application, load, ...cell }, options);
        const fluid = measureMicroserviceCell(
          (made) => fluidMicroserviceWorld({ ...made, samples: 400 }),
          { application, load, ...cell },
          options,
        );
        for (const type of application.requests.keys()) {
          const halves = error(fluid.p50[type] as number | null, event.p50[type] as number | null);
          const tails = error(fluid.p99[type] as number | null, event.p99[type] as number | null);
          if (halves !== null) p50?.push(halves);
          if (tails === null) continue;
          p99?.push(tails);
          const where = `${application.name}/${application.requests[type]?.name} load ${load} ${cell.kind} ${cell.contention}`;
          worst.push({ cell: where, p99: tails });
        }
        answered?.push(Math.abs(event.answered - fluid.answered));
      }
    }
  }
  worst.sort((a, b) => b.p99 - a.p99);
  const shown = worst.slice(0, 5).map(({ cell, p99: off }) => `${cell}: ${(100 * off).toFixed(0)} %`);
  const medians = {
    p50: median(p50 as number[]),
    p99: median(p99 as number[]),
    answered: median(answered as number[]),
  };
  const text = Object.entries(medians).map(([what, off]) => `${what} ${(100 * off).toFixed(1)} %`);
  // The error is printed, not hidden.
  process.stdout.write(`fluid against event, medians: ${text.join(", ")}; worst p99: ${shown.join("; ")}\n`);
  expect(medians.p50).toBeLessThan(0.1);
  expect(medians.p99).toBeLessThan(0.2);
  expect(medians.answered).toBeLessThan(0.02);
});
