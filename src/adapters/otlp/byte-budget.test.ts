import { expect, test } from "vitest";
import { ByteBudget } from "./byte-budget.ts";

/** In steps of one byte, how much a sender gets. */
function most(budget: ByteBudget, sender: string): number {
  const held = budget.open(sender);
  let taken = 0;
  while (held.take(1)) taken += 1;
  return taken;
}

test("a sender alone gets half, the next half of what is left, and all requests of one sender share", () => {
  const budget = new ByteBudget(1_000);
  expect(most(budget, "a")).toBe(500);
  expect(most(budget, "a")).toBe(0);
  expect(most(budget, "b")).toBe(250);
  expect(most(budget, "c")).toBe(125);
});

test("what is given back can be taken again, by whoever comes", () => {
  const budget = new ByteBudget(1_000);
  const held = budget.open("a");
  expect(held.take(501)).toBe(false);
  expect(held.take(500)).toBe(true);
  held.giveBack();
  held.giveBack();
  expect(most(budget, "b")).toBe(500);
});
