/* An LSTM over a whole sequence. The equations and layouts stand in src/learn/tensor/kernels.ts. */
#include "kernels.h"
#include "recurrent.h"
#include "vmath.h"

/* `s` holds h*U in the places of the four gates. */
INLINE void cell_forward(const float *x, const float *c, float *s, float *cell, float *y, int hidden, int j,
                         const int n) {
  vec8 i = sigmoid8(load_n(x + j, n) + load_n(s + j, n));
  vec8 f = sigmoid8(load_n(x + hidden + j, n) + load_n(s + hidden + j, n));
  vec8 g = tanh8(load_n(x + 2 * hidden + j, n) + load_n(s + 2 * hidden + j, n));
  vec8 o = sigmoid8(load_n(x + 3 * hidden + j, n) + load_n(s + 3 * hidden + j, n));
  vec8 before = c ? load_n(c + j, n) : splat8(0);
  vec8 next = f * before + i * g;
  store_n(s + j, i, n);
  store_n(s + hidden + j, f, n);
  store_n(s + 2 * hidden + j, g, n);
  store_n(s + 3 * hidden + j, o, n);
  store_n(cell + j, next, n);
  store_n(y + j, o * tanh8(next), n);
}

static void copy_state(const float *from, float *to, int hidden) {
  for (int j = 0; j < hidden; j++) to[j] = from ? from[j] : 0.0f;
}

void cox_lstm_forward(const float *xp, const float *u, const float *h0, const float *c0, const float *mask, float *out,
                      float *cells, float *saved, int steps, int batch, int hidden, int reverse) {
  const int size = batch * hidden;
  Weights weights = {{u, 4 * hidden, 1}, 0, 4 * hidden, hidden};
  pack_weights(&weights, 1);
  for (int i = 0; i < steps; i++) {
    int t = step_at(i, steps, reverse);
    const float *h = state_before(i, steps, reverse, h0, out, size);
    const float *c = state_before(i, steps, reverse, c0, cells, size);
    float *s = saved + t * 4 * size;
    if (h) {
      times_weights((Operand){h, hidden, 1}, &weights, (Start){0, 0}, (Output){s, 4 * hidden, 0}, batch);
    } else {
      for (int j = 0; j < 4 * size; j++) s[j] = 0;
    }
    for (int row = 0; row < batch; row++, s += 4 * hidden) {
      int at = t * batch + row, j = 0;
      const float *x = xp + at * 4 * hidden;
      const float *h_row = h ? h + row * hidden : 0, *c_row = c ? c + row * hidden : 0;
      float *cell = cells + at * hidden, *y = out + at * hidden;
      for (; j + 8 <= hidden; j += 8) cell_forward(x, c_row, s, cell, y, hidden, j, 8);
      if (j < hidden) cell_forward(x, c_row, s, cell, y, hidden, j, hidden - j);
      if (!is_open(mask, at)) {
        copy_state(h_row, y, hidden);
        copy_state(c_row, cell, hidden);
      }
    }
  }
}

/* dc is the gradient of this step's cell; it is replaced by that of the cell before. */
INLINE void cell_backward(const float *s, const float *c, const float *cell, const float *dh, float *dc, float *dx,
                          int hidden, int j, const int n) {
  vec8 i = load_n(s + j, n), f = load_n(s + hidden + j, n);
  vec8 g = load_n(s + 2 * hidden + j, n), o = load_n(s + 3 * hidden + j, n);
  vec8 before = c ? load_n(c + j, n) : splat8(0);
  vec8 one = splat8(1), top = tanh8(load_n(cell + j, n)), d = load_n(dh + j, n);
  vec8 e = load_n(dc + j, n) + (d * o) * (one - top * top);
  store_n(dx + j, (e * g) * (i * (one - i)), n);
  store_n(dx + hidden + j, (e * before) * (f * (one - f)), n);
  store_n(dx + 2 * hidden + j, (e * i) * (one - g * g), n);
  store_n(dx + 3 * hidden + j, (d * top) * (o * (one - o)), n);
  store_n(dc + j, e * f, n);
}

void cox_lstm_backward(const float *u, const float *h0, const float *c0, const float *mask, const float *out,
                       const float *cells, const float *saved, const float *dout, float *dxp, float *du, float *dh0,
                       float *dc0, float *scratch, int steps, int batch, int hidden, int reverse) {
  const int size = batch * hidden;
  float *dh = scratch, *dc = scratch + size;
  Weights weights = {{u, 1, 4 * hidden}, 0, hidden, 4 * hidden};
  pack_weights(&weights, 1);
  for (int j = 0; j < 2 * size; j++) dh[j] = 0;
  for (int i = steps - 1; i >= 0; i--) {
    int t = step_at(i, steps, reverse);
    const float *c = state_before(i, steps, reverse, c0, cells, size);
    float *dx = dxp + t * 4 * size;
    cox_axpy(dout + t * size, dh, size, 1.0);
    for (int row = 0; row < batch; row++) {
      int at = t * batch + row, j = 0;
      const float *s = saved + at * 4 * hidden, *cell = cells + at * hidden, *before = c ? c + row * hidden : 0;
      float *dh_row = dh + row * hidden, *dc_row = dc + row * hidden, *dx_row = dx + row * 4 * hidden;
      if (!is_open(mask, at)) {
        for (; j < 4 * hidden; j++) dx_row[j] = 0;
        continue;
      }
      for (; j + 8 <= hidden; j += 8) cell_backward(s, before, cell, dh_row, dc_row, dx_row, hidden, j, 8);
      if (j < hidden) cell_backward(s, before, cell, dh_row, dc_row, dx_row, hidden, j, hidden - j);
      /* An open row's state reaches the step before through the gates only. */
      for (j = 0; j < hidden; j++) dh_row[j] = 0;
    }
    if (i == 0 && !dh0) break;
    times_weights((Operand){dx, 4 * hidden, 1}, &weights, (Start){dh, hidden}, (Output){dh, hidden, 0}, batch);
  }
  if (dh0) copy_state(dh, dh0, size);
  if (dc0) copy_state(dc, dc0, size);
  weight_gradient(h0, out, dxp, 4 * hidden, du, 4 * hidden, 4 * hidden, steps, batch, hidden, reverse);
}
