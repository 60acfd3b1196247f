import { expect, test } from "vitest";
import { MOST_SLOS, RequestSlos } from "./request-slos.ts";

test("what a person says goes before the configuration, also that there is to be none", () => {
  const slos = new RequestSlos({ search: 100, login: 50 }, { search: 80 });
  expect([...slos.inForce]).toEqual([
    ["search", 80],
    ["login", 50],
  ]);
  expect(slos.set("login", null)).toBe(true);
  expect(slos.set("POST /checkout", 250)).toBe(true);
  expect(slos.said).toEqual({ search: 80, login: null, "POST /checkout": 250 });
  expect(slos.inForce.has("login")).toBe(false);
  // Nothing is kept of a name that neither has.
  slos.set("POST /checkout", null);
  expect(slos.said).toEqual({ search: 80, login: null });
});

test("there is a most, which does not keep anybody from changing what there is", () => {
  const slos = new RequestSlos(Object.fromEntries(Array.from({ length: MOST_SLOS }, (_, i) => [`r${i}`, 1])), {});
  expect(slos.set("one-more", 5)).toBe(false);
  expect(slos.set("r3", 5)).toBe(true);
  expect(slos.inForce.get("r3")).toBe(5);
});
