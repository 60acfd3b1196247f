import fc from "fast-check";
import { expect, test } from "vitest";
import { EventQueue } from "./event-queue.ts";

const drain = (queue: EventQueue): number[] => {
  const subjects: number[] = [];
  while (queue.pop()) subjects.push(queue.subject);
  return subjects;
};

test("events come by time, and those of one moment in the order they were scheduled", () => {
  const queue = new EventQueue();
  const times = [5, 1, 3, 1, 5, 1];
  times.forEach((at, i) => {
    queue.schedule(at, 0, i);
  });
  expect(drain(queue)).toEqual([1, 3, 5, 2, 0, 4]);
});

test("an event carries its kind and subject", () => {
  const queue = new EventQueue();
  queue.schedule(2.5, 7, -3);
  expect(queue.nextAt).toBe(2.5);
  expect(queue.pop()).toBe(true);
  expect([queue.at, queue.kind, queue.subject]).toEqual([2.5, 7, -3]);
  expect([queue.pop(), queue.nextAt]).toEqual([false, Number.POSITIVE_INFINITY]);
});

test("a ticket of an event that has happened does not touch the one that took its place", () => {
  const queue = new EventQueue();
  const old = queue.schedule(1, 0, 1);
  queue.pop();
  const fresh = queue.schedule(2, 0, 2);
  expect([queue.isPending(old), queue.cancel(old), queue.move(old, 9)]).toEqual([false, false, false]);
  expect([queue.isPending(fresh), queue.nextAt]).toEqual([true, 2]);
});

test("zero is nobody's ticket", () => {
  const queue = new EventQueue();
  queue.schedule(1, 0, 1);
  expect([queue.isPending(0), queue.cancel(0), queue.size]).toEqual([false, false, 1]);
});

test("a moved event goes behind those that are already there at its new time", () => {
  const queue = new EventQueue();
  const moved = queue.schedule(1, 0, 1);
  queue.schedule(4, 0, 2);
  expect(queue.move(moved, 4)).toBe(true);
  expect(drain(queue)).toEqual([2, 1]);
});

test("time does not go back, and is a number", () => {
  const queue = new EventQueue();
  const ticket = queue.schedule(10, 0, 0);
  queue.schedule(20, 0, 0);
  queue.pop();
  expect(() => queue.schedule(9, 3, 0)).toThrow("kind 3 at 9 lies before the present 10");
  expect(() => queue.schedule(Number.NaN, 0, 0)).toThrow("before the present");
  expect(queue.move(ticket, 1)).toBe(false);
  const later = queue.schedule(30, 0, 0);
  expect(() => queue.move(later, 9)).toThrow("before the present 10");
});

interface Plan {
  readonly at: number;
  readonly order: number;
  readonly subject: number;
}

test("any mix of scheduling, moving, cancelling and popping agrees with a sorted list", () => {
  const command = fc.record({
    what: fc.constantFrom("schedule", "schedule", "schedule", "pop", "cancel", "move"),
    // Few distinct times, so that ties are common.
    after: fc.integer({ min: 0, max: 6 }),
    which: fc.nat(),
  });
  fc.assert(
    fc.property(fc.array(command, { maxLength: 400 }), (commands) => {
      const queue = new EventQueue();
      const tickets: number[] = [];
      const model = new Map<number, Plan>();
      let order = 0;
      let now = 0;
      const first = (): Plan | undefined => [...model.values()].sort((a, b) => a.at - b.at || a.order - b.order)[0];
      for (const { what, after, which } of commands) {
        const chosen = tickets.length === 0 ? 0 : which % tickets.length;
        const isPending = model.has(chosen);
        if (what === "schedule") {
          model.set(tickets.length, { at: now + after, order: order++, subject: tickets.length });
          tickets.push(queue.schedule(now + after, 0, tickets.length));
        } else if (what === "cancel" && tickets.length > 0) {
          expect(queue.cancel(tickets[chosen]!)).toBe(isPending);
          model.delete(chosen);
        } else if (what === "move" && tickets.length > 0) {
          expect(queue.move(tickets[chosen]!, now + after)).toBe(isPending);
          if (isPending) model.set(chosen, { at: now + after, order: order++, subject: chosen });
        } else if (what === "pop") {
          const expected = first();
          expect(queue.pop()).toBe(expected !== undefined);
          if (expected) {
            expect([queue.at, queue.subject]).toEqual([expected.at, expected.subject]);
            model.delete(expected.subject);
            now = expected.at;
          }
        }
        expect([queue.size, queue.nextAt]).toEqual([model.size, first()?.at ?? Number.POSITIVE_INFINITY]);
      }
    }),
    { seed: 11, numRuns: 150 },
  );
});
