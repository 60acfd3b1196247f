/**
 * Conformance of the GRU and LSTM kernels. The oracle is a forward pass in double precision; gradients are its
 * central differences, so no formula of a backward pass is trusted twice.
 */

import { expect, test } from "vitest";
import { seededRng } from "../../../src/base/index.ts";
import { NULL, type Ptr } from "../../../src/learn/tensor/index.ts";
import { at, Bench, expectClose, plain, range, type Subject } from "./harness.ts";

interface Case {
  readonly steps: number;
  readonly batch: number;
  readonly hidden: number;
  readonly reverse: 0 | 1;
  readonly masked: boolean;
  /** Whether an initial state is given; else it is zero. */
  readonly begun: boolean;
}

/** Operands by name, as plain numbers, so that a central difference can move each of them. */
type Inputs = Record<"xp" | "u" | "c" | "h0" | "c0", number[]> & { readonly mask: number[] | null };

const CASES: readonly Case[] = [
  { steps: 1, batch: 1, hidden: 1, reverse: 0, masked: false, begun: false },
  { steps: 3, batch: 2, hidden: 5, reverse: 0, masked: false, begun: true },
  { steps: 4, batch: 3, hidden: 8, reverse: 1, masked: false, begun: true },
  { steps: 5, batch: 3, hidden: 7, reverse: 0, masked: true, begun: true },
  { steps: 5, batch: 4, hidden: 9, reverse: 1, masked: true, begun: false },
  { steps: 3, batch: 5, hidden: 17, reverse: 1, masked: false, begun: false },
  { steps: 2, batch: 9, hidden: 33, reverse: 0, masked: true, begun: true },
  { steps: 3, batch: 6, hidden: 65, reverse: 0, masked: false, begun: false },
  // The recurrent weights are larger than the kernels' packing area.
  { steps: 2, batch: 1, hidden: 850, reverse: 0, masked: false, begun: true },
];

const describeCase = (c: Case) =>
  `${c.steps} steps, batch ${c.batch}, ${c.hidden} units${c.reverse ? ", reversed" : ""}${c.masked ? ", masked" : ""}${c.begun ? ", from a state" : ""}`;

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

interface Trace {
  readonly out: number[];
  /** GRU: r, z, n and hU_n + c_n. LSTM: i, f, g, o. */
  readonly saved: number[];
  readonly cells: number[];
}

/** One row's units at one step; `sums` is h·U. */
type Cell = (args: {
  x: readonly number[];
  sums: readonly number[];
  h: readonly number[];
  c: readonly number[];
  inputs: Inputs;
}) => {
  h: number[];
  c: number[];
  saved: number[];
};

const gruCell: Cell = ({ x, sums, h, inputs }) => {
  const n = h.length;
  const gate = (k: number, j: number) => at(sums, k * n + j) + at(inputs.c, k * n + j);
  const r = range(n).map((j) => sigmoid(at(x, j) + gate(0, j)));
  const z = range(n).map((j) => sigmoid(at(x, n + j) + gate(1, j)));
  const q = range(n).map((j) => gate(2, j));
  const t = range(n).map((j) => Math.tanh(at(x, 2 * n + j) + at(r, j) * at(q, j)));
  return {
    h: range(n).map((j) => (1 - at(z, j)) * at(t, j) + at(z, j) * at(h, j)),
    c: [],
    saved: [...r, ...z, ...t, ...q],
  };
};

const lstmCell: Cell = ({ x, sums, h, c }) => {
  const n = h.length;
  const gate = (k: number) => range(n).map((j) => at(x, k * n + j) + at(sums, k * n + j));
  const [i, f, g, o] = [gate(0).map(sigmoid), gate(1).map(sigmoid), gate(2).map(Math.tanh), gate(3).map(sigmoid)];
  const cell = range(n).map((j) => at(f, j) * at(c, j) + at(i, j) * at(g, j));
  return { h: range(n).map((j) => at(o, j) * Math.tanh(at(cell, j))), c: cell, saved: [...i, ...f, ...g, ...o] };
};

interface Model {
  readonly cell: Cell;
  readonly gates: number;
}
const GRU: Model = { cell: gruCell, gates: 3 };
const LSTM: Model = { cell: lstmCell, gates: 4 };

function oracle({ cell, gates }: Model, { steps, batch, hidden, reverse }: Case, inputs: Inputs): Trace {
  const trace: Trace = {
    out: new Array<number>(steps * batch * hidden).fill(0),
    cells: new Array<number>(steps * batch * hidden).fill(0),
    saved: new Array<number>(steps * batch * 4 * hidden).fill(0),
  };
  const put = (to: number[], where: number, values: readonly number[]) => {
    for (const [i, v] of values.entries()) to[where + i] = v;
  };
  for (const row of range(batch)) {
    let h = range(hidden).map((j) => inputs.h0[row * hidden + j] ?? 0);
    let c = range(hidden).map((j) => inputs.c0[row * hidden + j] ?? 0);
    for (const i of range(steps)) {
      const spot = (reverse ? steps - 1 - i : i) * batch + row;
      const x = inputs.xp.slice(spot * gates * hidden, (spot + 1) * gates * hidden);
      const next = cell({ x, sums: timesWeights(h, inputs.u, gates * hidden), h, c, inputs });
      put(trace.saved, spot * 4 * hidden, next.saved);
      if (inputs.mask?.[spot] !== 0) [h, c] = [next.h, next.c];
      put(trace.out, spot * hidden, h);
      put(trace.cells, spot * hidden, c);
    }
  }
  return trace;
}

function timesWeights(h: readonly number[], u: readonly number[], width: number): number[] {
  const sums = new Float64Array(width);
  for (let k = 0; k < h.length; k++) {
    const hk = h[k]!;
    for (let g = 0; g < width; g++) sums[g]! += hk * u[k * width + g]!;
  }
  return Array.from(sums);
}

/** d(Σ out·dout)/d(operand) by place, at up to `most` places spread over it. */
function differences(loss: () => number, operand: number[], most: number): Map<number, number> {
  const step = 1e-5;
  const stride = Math.max(1, Math.floor(operand.length / most));
  const result = new Map<number, number>();
  for (let i = 0; i < operand.length; i += stride) {
    const kept = at(operand, i);
    operand[i] = kept + step;
    const above = loss();
    operand[i] = kept - step;
    result.set(i, (above - loss()) / (2 * step));
    operand[i] = kept;
  }
  return result;
}

type Operands = "xp" | "u" | "c" | "h0" | "c0";

interface Answer {
  readonly inputs: Inputs;
  readonly dout: number[];
  readonly trace: Trace;
  readonly gradients: Record<Operands, Map<number, number>>;
}

const answers = new Map<string, Answer>();

/** Worked out once for all kernel sets. */
function answerOf(model: Model, c: Case): Answer {
  const key = `${model.gates} ${describeCase(c)}`;
  const known = answers.get(key);
  if (known) return known;
  const { steps, batch, hidden } = c;
  const rng = seededRng(hidden);
  const values = (count: number, size = 1) => range(count).map(() => Math.fround((rng.next() * 2 - 1) * size));
  const inputs: Inputs = {
    xp: values(steps * batch * model.gates * hidden),
    u: values(hidden * model.gates * hidden, 1 / Math.sqrt(hidden)),
    c: values(model.gates * hidden),
    h0: c.begun ? values(batch * hidden) : [],
    c0: c.begun ? values(batch * hidden) : [],
    mask: c.masked ? range(steps * batch).map((i) => (i % 3 === 1 ? 0 : 1)) : null,
  };
  const dout = values(steps * batch * hidden);
  const loss = () => oracle(model, c, inputs).out.reduce((sum, y, i) => sum + y * at(dout, i), 0);
  const most = hidden > 100 ? 2 : hidden > 20 ? 12 : 40;
  const slopes = (name: Operands) => differences(loss, inputs[name], most);
  const answer: Answer = {
    inputs,
    dout,
    trace: oracle(model, c, inputs),
    gradients: { xp: slopes("xp"), u: slopes("u"), c: slopes("c"), h0: slopes("h0"), c0: slopes("c0") },
  };
  answers.set(key, answer);
  return answer;
}

/** The chosen places of a kernel's gradient against central differences. */
function expectGradient(actual: Float32Array, exact: Map<number, number>, added?: Float32Array): void {
  const picked = Float32Array.from(exact.keys(), (i) => at(actual, i));
  const wanted = [...exact].map(([i, value]) => value + (added ? at(added, i) : 0));
  expectClose(picked, plain(wanted, 4), 40);
}

const named = CASES.map((c) => [describeCase(c), c] as const);

export function recurrentSuite(subject: Subject): void {
  test.each(named)("gru: %s", (_, c) => {
    const { steps, batch, hidden, reverse } = c;
    const rows = steps * batch;
    const bench = new Bench(subject, hidden);
    const { inputs, dout, trace, gradients } = answerOf(GRU, c);
    const put = (operand: readonly number[] | null): Ptr => (operand?.length ? bench.put(operand) : NULL);
    const [xp, u, bias, h0, mask] = [put(inputs.xp), put(inputs.u), put(inputs.c), put(inputs.h0), put(inputs.mask)];
    const [out, saved] = [bench.room(rows * hidden), bench.room(rows * 4 * hidden)];
    bench.kernels.gruForward(xp, u, bias, h0, mask, out, saved, steps, batch, hidden, reverse);
    expectClose(bench.take(out, rows * hidden), plain(trace.out, 2), 8 + hidden / 2);
    if (!c.masked) expectClose(bench.take(saved, rows * 4 * hidden), plain(trace.saved, 4), 8 + hidden / 2);

    const [du0, dc0] = [bench.values(inputs.u.length), bench.values(3 * hidden)];
    const [du, dc, dxp] = [bench.put(du0), bench.put(dc0), bench.room(rows * 3 * hidden)];
    const dh0 = c.begun ? bench.room(batch * hidden) : NULL;
    const [scratch, pd] = [bench.room(rows * 3 * hidden + 4 * batch * hidden), bench.put(dout)];
    bench.kernels.gruBackward(u, h0, mask, out, saved, pd, dxp, du, dc, dh0, scratch, steps, batch, hidden, reverse);
    expect([...bench.take(pd, dout.length)]).toEqual(dout);
    expectGradient(bench.take(dxp, inputs.xp.length), gradients.xp);
    expectGradient(bench.take(du, inputs.u.length), gradients.u, du0);
    expectGradient(bench.take(dc, 3 * hidden), gradients.c, dc0);
    expectGradient(bench.take(dh0, batch * hidden), gradients.h0);
  });

  test.each(named)("lstm: %s", (_, c) => {
    const { steps, batch, hidden, reverse } = c;
    const rows = steps * batch;
    const bench = new Bench(subject, hidden);
    const { inputs, dout, trace, gradients } = answerOf(LSTM, c);
    const put = (operand: readonly number[] | null): Ptr => (operand?.length ? bench.put(operand) : NULL);
    const [xp, u, h0, c0, mask] = [put(inputs.xp), put(inputs.u), put(inputs.h0), put(inputs.c0), put(inputs.mask)];
    const [out, cells, saved] = [bench.room(rows * hidden), bench.room(rows * hidden), bench.room(rows * 4 * hidden)];
    bench.kernels.lstmForward(xp, u, h0, c0, mask, out, cells, saved, steps, batch, hidden, reverse);
    expectClose(bench.take(out, rows * hidden), plain(trace.out, 2), 8 + hidden / 2);
    expectClose(bench.take(cells, rows * hidden), plain(trace.cells, 2), 8 + hidden / 2);
    if (!c.masked) expectClose(bench.take(saved, rows * 4 * hidden), plain(trace.saved, 4), 8 + hidden / 2);

    const du0 = bench.values(inputs.u.length);
    const [du, dxp] = [bench.put(du0), bench.room(rows * 4 * hidden)];
    const [dh0, dc0] = c.begun ? [bench.room(batch * hidden), bench.room(batch * hidden)] : [NULL, NULL];
    const [scratch, pd] = [bench.room(4 * batch * hidden), bench.put(dout)];
    bench.kernels.lstmBackward(
      u,
      h0,
      c0,
      mask,
      out,
      cells,
      saved,
      pd,
      dxp,
      du,
      dh0,
      dc0,
      scratch,
      steps,
      batch,
      hidden,
      reverse,
    );
    expect([...bench.take(pd, dout.length)]).toEqual(dout);
    expectGradient(bench.take(dxp, inputs.xp.length), gradients.xp);
    expectGradient(bench.take(du, inputs.u.length), gradients.u, du0);
    expectGradient(bench.take(dh0, batch * hidden), gradients.h0);
    expectGradient(bench.take(dc0, batch * hidden), gradients.c0);
  });

  test("what stands in masked steps, even NaN, reaches neither outputs nor gradients", () => {
    const [steps, batch, hidden] = [2, 2, 9];
    const bench = new Bench(subject);
    const xp = bench.values(steps * batch * 3 * hidden);
    xp.fill(Number.NaN, 3 * hidden, 2 * 3 * hidden); // step 0, row 1
    const mask = bench.put([1, 0, 1, 1]);
    const [u, c] = [bench.put(bench.values(3 * hidden * hidden)), bench.put(bench.values(3 * hidden))];
    const [out, saved] = [bench.room(steps * batch * hidden), bench.room(steps * batch * 4 * hidden)];
    bench.kernels.gruForward(bench.put(xp), u, c, NULL, mask, out, saved, steps, batch, hidden, 0);
    const states = bench.take(out, steps * batch * hidden);
    expect(states.every(Number.isFinite)).toBe(true);
    expect([...states.subarray(hidden, 2 * hidden)]).toEqual(range(hidden).map(() => 0));
    const dout = bench.put(bench.values(steps * batch * hidden));
    const dxp = bench.room(steps * batch * 3 * hidden);
    const [du, dc] = [bench.put(new Float32Array(3 * hidden * hidden)), bench.put(new Float32Array(3 * hidden))];
    const scratch = bench.room(steps * batch * 3 * hidden + 4 * batch * hidden);
    bench.kernels.gruBackward(u, NULL, mask, out, saved, dout, dxp, du, dc, NULL, scratch, steps, batch, hidden, 0);
    const gradients = bench.take(dxp, steps * batch * 3 * hidden);
    expect(gradients.every(Number.isFinite)).toBe(true);
    expect([...gradients.subarray(3 * hidden, 6 * hidden)]).toEqual(range(3 * hidden).map(() => 0));
    expect(bench.take(du, 3 * hidden * hidden).every(Number.isFinite)).toBe(true);
  });
}
