import fc from "fast-check";
import { expect, test } from "vitest";
import { Mailbox } from "./mailbox.ts";

test("items come out in the order they went in, also around the end of the ring", async () => {
  const box = new Mailbox<number>({ capacity: 3 });
  box.offer(1);
  box.offer(2);
  expect(box.poll()).toBe(1);
  box.offer(3);
  box.offer(4);
  expect([box.poll(), await box.take(), box.poll(), box.poll()]).toEqual([2, 3, 4, undefined]);
});

test("a full mailbox refuses, counts the refusal and keeps what it accepted", () => {
  const box = new Mailbox<string>({ capacity: 2 });
  expect([box.offer("a"), box.offer("b"), box.offer("c"), box.offer("d")]).toEqual([true, true, false, false]);
  expect(box.refused).toBe(2);
  expect(box.size).toBe(2);
  expect([box.poll(), box.poll()]).toEqual(["a", "b"]);
});

test("a waiting taker gets the next item at once, and takers are served in their order", async () => {
  const box = new Mailbox<number>({ capacity: 1 });
  const first = box.take();
  const second = box.take();
  expect(box.offer(1)).toBe(true);
  expect(box.offer(2)).toBe(true);
  expect(box.size).toBe(0);
  expect(await Promise.all([first, second])).toEqual([1, 2]);
});

test("an undefined item is an item", async () => {
  const box = new Mailbox<undefined>({ capacity: 1 });
  box.offer(undefined);
  expect(box.size).toBe(1);
  expect(await box.take()).toBeUndefined();
  expect(box.size).toBe(0);
});

test("closing lets what was accepted be taken, then ends, and refuses offers", async () => {
  const box = new Mailbox<number>({ capacity: 2 });
  box.offer(1);
  box.close();
  expect(box.isClosed).toBe(true);
  expect(box.offer(2)).toBe(false);
  expect(box.refused).toBe(1);
  expect(await box.take()).toBe(1);
  expect(await box.take()).toBeUndefined();
});

test("closing wakes everybody who waits", async () => {
  const box = new Mailbox<number>({ capacity: 1 });
  const waiting = [box.take(), box.take()];
  box.close();
  expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
});

test("an aborted wait rejects with the reason and loses no item", async () => {
  const box = new Mailbox<number>({ capacity: 1 });
  const abort = new AbortController();
  const waiting = box.take(abort.signal);
  abort.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  box.offer(5);
  expect(box.poll()).toBe(5);
});

test("a signal that is aborted already rejects even when there is an item, which stays", async () => {
  const box = new Mailbox<number>({ capacity: 1 });
  box.offer(1);
  await expect(box.take(AbortSignal.abort(new Error("late")))).rejects.toThrow("late");
  expect(box.size).toBe(1);
});

test("a capacity below one is refused", () => {
  for (const capacity of [0, -1, 1.5, Number.NaN]) {
    expect(() => new Mailbox({ capacity })).toThrow("room for at least one item");
  }
});

test("it behaves as a bounded list under any sequence of offers and polls", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(fc.option(fc.integer(), { nil: null })), (capacity, acts) => {
      const box = new Mailbox<number>({ capacity });
      const model: number[] = [];
      let refused = 0;
      for (const act of acts) {
        if (act === null) expect(box.poll()).toBe(model.shift());
        else if (model.length < capacity) {
          model.push(act);
          expect(box.offer(act)).toBe(true);
        } else {
          refused += 1;
          expect(box.offer(act)).toBe(false);
        }
        expect([box.size, box.refused]).toEqual([model.length, refused]);
      }
    }),
    { seed: 2 },
  );
});
