import { expect, test } from "vitest";
import { END_CODE } from "../env/index.ts";
import { estimateAdvantages } from "./gae.ts";

function advantagesOf(rows: { r: number; v: number; next: number; end?: keyof typeof END_CODE; stream?: number }[]) {
  const out = { advantages: new Float32Array(rows.length), returns: new Float32Array(rows.length) };
  estimateAdvantages(
    {
      count: rows.length,
      rewards: rows.map((x) => x.r),
      values: rows.map((x) => x.v),
      nextValues: rows.map((x) => x.next),
      ends: rows.map((x) => END_CODE[x.end ?? "no"]),
      streams: rows.map((x) => x.stream ?? 0),
      streamCount: 2,
      gamma: 0.5,
      lambda: 0.5,
    },
    out,
  );
  return { advantages: [...out.advantages], returns: [...out.returns] };
}

test("three steps by hand, bootstrapped from the last value", () => {
  // γ = λ = ½, V = 2, 4, 8, then 16; r = 1, 2, 3.
  // δ₂ = 3 + 8 − 8 = 3; δ₁ = 2 + 4 − 4 = 2; δ₀ = 1 + 2 − 2 = 1. A₂ = 3; A₁ = 2 + ¼·3 = 2.75; A₀ = 1 + ¼·2.75 = 1.6875.
  const { advantages, returns } = advantagesOf([
    { r: 1, v: 2, next: 4 },
    { r: 2, v: 4, next: 8 },
    { r: 3, v: 8, next: 16 },
  ]);
  expect(advantages).toEqual([1.6875, 2.75, 3]);
  expect(returns).toEqual([3.6875, 6.75, 11]);
});

test("a terminated step has no future and a truncated one keeps it; neither passes the next episode's advantage back", () => {
  const ending = (end: "terminated" | "truncated") =>
    advantagesOf([
      { r: 1, v: 2, next: 10, end },
      { r: 7, v: 1, next: 0 },
    ]).advantages[0];
  expect(ending("terminated")).toBe(1 - 2);
  expect(ending("truncated")).toBe(1 + 5 - 2);
});

test("interleaved streams do not touch each other", () => {
  const alone = advantagesOf([
    { r: 1, v: 2, next: 4 },
    { r: 2, v: 4, next: 8 },
  ]).advantages;
  const mixed = advantagesOf([
    { r: 1, v: 2, next: 4, stream: 1 },
    { r: 100, v: 0, next: 3, stream: 0 },
    { r: 50, v: 3, next: 9, stream: 0, end: "terminated" },
    { r: 2, v: 4, next: 8, stream: 1 },
  ]).advantages;
  expect([mixed[0], mixed[3]]).toEqual(alone);
});

test("with λ = 1 and no end the advantage is the discounted sum minus the value", () => {
  const out = { advantages: new Float32Array(3), returns: new Float32Array(3) };
  estimateAdvantages(
    {
      count: 3,
      rewards: [1, 1, 1],
      values: [5, 6, 7],
      nextValues: [6, 7, 8],
      ends: [0, 0, 0],
      streams: [0, 0, 0],
      streamCount: 1,
      gamma: 0.5,
      lambda: 1,
    },
    out,
  );
  // 1 + ½ + ¼ + ⅛·8 = 2.75
  expect(out.returns[0]).toBe(2.75);
  expect(out.advantages[0]).toBe(2.75 - 5);
});
