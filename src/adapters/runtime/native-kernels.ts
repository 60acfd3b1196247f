/**
 * The native kernel set over the addon of kernels/addon.c.
 * Owns: the addon's calling convention. Arguments are written as doubles into the tensor memory and calls carry none,
 * because reading an argument through Node-API costs about as much as a small layer does.
 * Not here: finding and vetting the addon (native-addon.ts).
 */

import type { Kernels } from "../../learn/tensor/index.ts";
import { growableMemory, Memory } from "../../learn/tensor/index.ts";
import type { NativeAddon } from "./native-addon.ts";

/** Doubles that the arguments of one call take at most. */
const ARGS = 24;
/** They begin behind the null pointer. */
const ARGS_AT = 64;

/** A fresh set with its own memory. */
export function nativeKernels(addon: NativeAddon, { initialMiB = 1 }: { initialMiB?: number } = {}): Kernels {
  const backing = growableMemory({ initialMiB });
  const native = addon.create();
  let args: Float64Array = new Float64Array(0);
  const bind = (buffer: ArrayBufferLike): void => {
    args = new Float64Array(buffer, ARGS_AT, ARGS);
    native.bind(new Uint8Array(buffer), ARGS_AT);
  };
  bind(backing.buffer);
  const memory = new Memory(backing, { reserved: ARGS_AT + ARGS * 8, onGrow: bind });
  return {
    name: "native",
    memory,
    linearForward(x, w, b, y, rows, inputs, outputs, act) {
      args[0] = x;
      args[1] = w;
      args[2] = b;
      args[3] = y;
      args[4] = rows;
      args[5] = inputs;
      args[6] = outputs;
      args[7] = act;
      native.linearForward();
    },
    linearBackwardInput(dy, w, dx, rows, inputs, outputs) {
      args[0] = dy;
      args[1] = w;
      args[2] = dx;
      args[3] = rows;
      args[4] = inputs;
      args[5] = outputs;
      native.linearBackwardInput();
    },
    linearBackwardParams(x, dy, dw, db, rows, inputs, outputs) {
      args[0] = x;
      args[1] = dy;
      args[2] = dw;
      args[3] = db;
      args[4] = rows;
      args[5] = inputs;
      args[6] = outputs;
      native.linearBackwardParams();
    },
    gemm(a, lda, b, ldb, c, ldc, m, n, k, flags) {
      args[0] = a;
      args[1] = lda;
      args[2] = b;
      args[3] = ldb;
      args[4] = c;
      args[5] = ldc;
      args[6] = m;
      args[7] = n;
      args[8] = k;
      args[9] = flags;
      native.gemm();
    },
    activationForward(x, y, count, act) {
      args[0] = x;
      args[1] = y;
      args[2] = count;
      args[3] = act;
      native.activationForward();
    },
    activationBackward(y, dy, dx, count, act) {
      args[0] = y;
      args[1] = dy;
      args[2] = dx;
      args[3] = count;
      args[4] = act;
      native.activationBackward();
    },
    axpy(x, y, count, a) {
      args[0] = x;
      args[1] = y;
      args[2] = count;
      args[3] = a;
      native.axpy();
    },
    scale(x, count, a) {
      args[0] = x;
      args[1] = count;
      args[2] = a;
      native.scale();
    },
    sumSquares(x, count) {
      args[0] = x;
      args[1] = count;
      native.sumSquares();
      return args[0] ?? Number.NaN;
    },
    softmaxForward(x, y, rows, cols) {
      args[0] = x;
      args[1] = y;
      args[2] = rows;
      args[3] = cols;
      native.softmaxForward();
    },
    softmaxBackward(y, dy, dx, rows, cols) {
      args[0] = y;
      args[1] = dy;
      args[2] = dx;
      args[3] = rows;
      args[4] = cols;
      native.softmaxBackward();
    },
    layerNormForward(x, gamma, beta, y, saved, rows, cols, eps) {
      args[0] = x;
      args[1] = gamma;
      args[2] = beta;
      args[3] = y;
      args[4] = saved;
      args[5] = rows;
      args[6] = cols;
      args[7] = eps;
      native.layerNormForward();
    },
    layerNormBackward(x, gamma, saved, dy, dx, dgamma, dbeta, rows, cols) {
      args[0] = x;
      args[1] = gamma;
      args[2] = saved;
      args[3] = dy;
      args[4] = dx;
      args[5] = dgamma;
      args[6] = dbeta;
      args[7] = rows;
      args[8] = cols;
      native.layerNormBackward();
    },
    gruForward(xp, u, c, h0, mask, out, saved, steps, batch, hidden, reverse) {
      args[0] = xp;
      args[1] = u;
      args[2] = c;
      args[3] = h0;
      args[4] = mask;
      args[5] = out;
      args[6] = saved;
      args[7] = steps;
      args[8] = batch;
      args[9] = hidden;
      args[10] = reverse;
      native.gruForward();
    },
    gruBackward(u, h0, mask, out, saved, dout, dxp, du, dc, dh0, scratch, steps, batch, hidden, reverse) {
      args[0] = u;
      args[1] = h0;
      args[2] = mask;
      args[3] = out;
      args[4] = saved;
      args[5] = dout;
      args[6] = dxp;
      args[7] = du;
      args[8] = dc;
      args[9] = dh0;
      args[10] = scratch;
      args[11] = steps;
      args[12] = batch;
      args[13] = hidden;
      args[14] = reverse;
      native.gruBackward();
    },
    lstmForward(xp, u, h0, c0, mask, out, cells, saved, steps, batch, hidden, reverse) {
      args[0] = xp;
      args[1] = u;
      args[2] = h0;
      args[3] = c0;
      args[4] = mask;
      args[5] = out;
      args[6] = cells;
      args[7] = saved;
      args[8] = steps;
      args[9] = batch;
      args[10] = hidden;
      args[11] = reverse;
      native.lstmForward();
    },
    lstmBackward(u, h0, c0, mask, out, cells, saved, dout, dxp, du, dh0, dc0, scratch, steps, batch, hidden, reverse) {
      args[0] = u;
      args[1] = h0;
      args[2] = c0;
      args[3] = mask;
      args[4] = out;
      args[5] = cells;
      args[6] = saved;
      args[7] = dout;
      args[8] = dxp;
      args[9] = du;
      args[10] = dh0;
      args[11] = dc0;
      args[12] = scratch;
      args[13] = steps;
      args[14] = batch;
      args[15] = hidden;
      args[16] = reverse;
      native.lstmBackward();
    },
    adam(p, g, m, v, count, step, beta1, beta2, eps, rootCorrection, decay) {
      args[0] = p;
      args[1] = g;
      args[2] = m;
      args[3] = v;
      args[4] = count;
      args[5] = step;
      args[6] = beta1;
      args[7] = beta2;
      args[8] = eps;
      args[9] = rootCorrection;
      args[10] = decay;
      native.adam();
    },
    sgd(p, g, velocity, count, lr, momentum, decay) {
      args[0] = p;
      args[1] = g;
      args[2] = velocity;
      args[3] = count;
      args[4] = lr;
      args[5] = momentum;
      args[6] = decay;
      native.sgd();
    },
    softUpdate(target, source, count, tau) {
      args[0] = target;
      args[1] = source;
      args[2] = count;
      args[3] = tau;
      native.softUpdate();
    },
  };
}
