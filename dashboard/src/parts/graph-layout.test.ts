import { expect, test } from "vitest";
import { layOut, usualCalls } from "./graph-layout.ts";

const edge = (caller: string, callee: string) => ({ caller, callee });
const layersIn = (names: readonly string[], edges: ReturnType<typeof edge>[]) =>
  Object.fromEntries(layOut(names, edges).map(({ name, layer }) => [name, layer]));

test("everybody stands right of all who call it", () => {
  const edges = [edge("front", "cart"), edge("front", "db"), edge("cart", "cache"), edge("cache", "db")];
  expect(layersIn(["db", "cart", "front", "cache"], edges)).toEqual({ front: 0, cart: 1, cache: 2, db: 3 });
});

test("a circle and a call to oneself end, and nobody is lost", () => {
  const places = layOut(["a", "b", "c"], [edge("a", "b"), edge("b", "c"), edge("c", "b"), edge("a", "a")]);
  expect(places.map(({ name }) => name).sort()).toEqual(["a", "b", "c"]);
  expect(Math.max(...places.map(({ layer }) => layer))).toBeLessThan(3);
});

test("two chains do not cross, and the picture does not depend on the order of the edges", () => {
  const edges = [edge("root", "a"), edge("root", "b"), edge("a", "z"), edge("b", "y")];
  const places = layOut(["root", "a", "b", "y", "z"], edges);
  const rowOf = (name: string) => places.find((place) => place.name === name)?.row ?? -1;
  expect(Math.sign(rowOf("a") - rowOf("b"))).toBe(Math.sign(rowOf("z") - rowOf("y")));
  expect(layOut(["z", "y", "b", "a", "root"], [...edges].reverse())).toEqual(places);
});

test("without anybody there is nothing", () => {
  expect(layOut([], [])).toEqual([]);
});

test("a call in a hundred of what somebody gets is not drawn, and the only caller of a quiet one is", () => {
  const edges = [
    { ...edge("cart", "db"), calls: 990 },
    { ...edge("root", "db"), calls: 10 },
    { ...edge("root", "rare"), calls: 1 },
  ];
  expect(usualCalls(edges).map(({ caller, callee }) => `${caller} ${callee}`)).toEqual(["cart db", "root rare"]);
});
