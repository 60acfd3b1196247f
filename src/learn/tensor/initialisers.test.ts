import { describe, expect, test } from "vitest";
import { expectClose } from "../../../test/oracle/harness.ts";
import { matrix, product, transpose } from "../../../test/oracle/matrix.ts";
import { seededRng } from "../../base/index.ts";
import {
  constant,
  type Initialiser,
  kaimingUniform,
  orthogonal,
  torchDefault,
  uniform,
  xavierUniform,
  zeros,
} from "./initialisers.ts";

const fill = (init: Initialiser, rows: number, cols: number, seed = 1) => {
  const values = new Float32Array(rows * cols);
  init(values, { rows, cols, fanIn: rows, fanOut: cols }, seededRng(seed));
  return values;
};

describe("initialisers", () => {
  // Bounds by hand for 100 inputs and 200 outputs.
  test.each([
    ["PyTorch's default", torchDefault(), 0.1],
    ["Xavier", xavierUniform(), Math.sqrt(6 / 300)],
    ["Kaiming for ReLU", kaimingUniform(), Math.sqrt(2) * Math.sqrt(3 / 100)],
    ["DDPG's last layer", uniform(3e-3), 3e-3],
  ])("%s is uniform within its bound", (_name, init, bound) => {
    const values = fill(init, 100, 200);
    const extreme = values.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    expect(extreme).toBeLessThanOrEqual(bound * (1 + 1e-6));
    expect(extreme).toBeGreaterThan(bound * 0.999);
    const mean = values.reduce((a, b) => a + b) / values.length;
    const variance = values.reduce((sum, x) => sum + x * x, 0) / values.length;
    // A uniform's standard deviation is bound/√3; of 20,000 draws the mean strays by bound·0.0041 (one standard error).
    expect(Math.abs(mean)).toBeLessThan(bound * 0.02);
    expect(Math.abs(variance / (bound ** 2 / 3) - 1)).toBeLessThan(0.03);
  });

  test.each([
    [6, 6],
    [9, 4],
    [4, 9],
    [64, 5],
    [1, 3],
  ])("orthogonal %ix%i: the shorter side's vectors are orthogonal with the gain's length", (rows, cols) => {
    const gain = Math.SQRT2;
    const w = matrix(fill(orthogonal(gain), rows, cols), rows, cols);
    const few = Math.min(rows, cols);
    const gram = rows >= cols ? product(transpose(w), w) : product(w, transpose(w));
    const wanted = Array.from({ length: few * few }, (_, i) => (i % (few + 1) === 0 ? 2 : 0));
    expectClose(gram.flat(), wanted, 1e-6);
  });

  test("constants and zeros", () => {
    expect([...fill(constant(0.5), 1, 3)]).toEqual([0.5, 0.5, 0.5]);
    expect([...fill(zeros(), 1, 2)]).toEqual([0, 0]);
  });

  test("same seed same numbers, another seed others", () => {
    expect(fill(orthogonal(), 5, 3, 4)).toEqual(fill(orthogonal(), 5, 3, 4));
    expect(fill(orthogonal(), 5, 3, 4)).not.toEqual(fill(orthogonal(), 5, 3, 5));
  });
});
