/* A GRU over a whole sequence. The equations and layouts stand in src/learn/tensor/kernels.ts. */
#include "kernels.h"
#include "recurrent.h"
#include "vmath.h"

/* Eight (or the last n) units of one row; `s` holds the sums h*U + c in the places of r, z and q. */
INLINE void cell_forward(const float *x, const float *h, float *s, float *y, int hidden, int j, const int n) {
  vec8 r = sigmoid8(load_n(x + j, n) + load_n(s + j, n));
  vec8 z = sigmoid8(load_n(x + hidden + j, n) + load_n(s + hidden + j, n));
  vec8 q = load_n(s + 3 * hidden + j, n);
  vec8 t = tanh8(load_n(x + 2 * hidden + j, n) + r * q);
  vec8 before = h ? load_n(h + j, n) : splat8(0);
  store_n(s + j, r, n);
  store_n(s + hidden + j, z, n);
  store_n(s + 2 * hidden + j, t, n);
  store_n(y + j, (splat8(1) - z) * t + z * before, n);
}

static void copy_state(const float *h, float *y, int hidden) {
  for (int j = 0; j < hidden; j++) y[j] = h ? h[j] : 0.0f;
}

/* Without a state the sums are the bias. */
static void bias_only(const float *c, float *s, int batch, int hidden) {
  for (int row = 0; row < batch; row++, s += 4 * hidden) {
    for (int j = 0; j < 2 * hidden; j++) s[j] = c[j];
    for (int j = 0; j < hidden; j++) s[3 * hidden + j] = c[2 * hidden + j];
  }
}

void cox_gru_forward(const float *xp, const float *u, const float *c, const float *h0, const float *mask, float *out,
                     float *saved, int steps, int batch, int hidden, int reverse) {
  Weights weights[2] = {
      {{u, 3 * hidden, 1}, 0, 2 * hidden, hidden},          /* r and z */
      {{u + 2 * hidden, 3 * hidden, 1}, 0, hidden, hidden}, /* q */
  };
  pack_weights(weights, 2);
  for (int i = 0; i < steps; i++) {
    int t = step_at(i, steps, reverse);
    const float *h = state_before(i, steps, reverse, h0, out, batch * hidden);
    float *s = saved + t * batch * 4 * hidden;
    if (h) {
      Operand state = {h, hidden, 1};
      times_weights(state, &weights[0], (Start){c, 0}, (Output){s, 4 * hidden, 0}, batch);
      times_weights(state, &weights[1], (Start){c + 2 * hidden, 0}, (Output){s + 3 * hidden, 4 * hidden, 0}, batch);
    } else {
      bias_only(c, s, batch, hidden);
    }
    for (int row = 0; row < batch; row++, s += 4 * hidden) {
      int at = t * batch + row, j = 0;
      const float *x = xp + at * 3 * hidden, *before = h ? h + row * hidden : 0;
      float *y = out + at * hidden;
      for (; j + 8 <= hidden; j += 8) cell_forward(x, before, s, y, hidden, j, 8);
      if (j < hidden) cell_forward(x, before, s, y, hidden, j, hidden - j);
      if (!is_open(mask, at)) copy_state(before, y, hidden);
    }
  }
}

/* dh is the gradient of this step's output; it is replaced by the direct part of the gradient of the state before. */
INLINE void cell_backward(const float *s, const float *h, float *dh, float *dx, float *dq, int hidden, int j,
                          const int n) {
  vec8 r = load_n(s + j, n), z = load_n(s + hidden + j, n), t = load_n(s + 2 * hidden + j, n);
  vec8 q = load_n(s + 3 * hidden + j, n), d = load_n(dh + j, n);
  vec8 before = h ? load_n(h + j, n) : splat8(0);
  vec8 one = splat8(1);
  vec8 dt = (d * (one - z)) * (one - t * t);
  vec8 dz = (d * (before - t)) * (z * (one - z));
  vec8 dr = (dt * q) * (r * (one - r));
  store_n(dx + j, dr, n);
  store_n(dx + hidden + j, dz, n);
  store_n(dx + 2 * hidden + j, dt, n);
  store_n(dq + j, dt * r, n);
  store_n(dh + j, d * z, n);
}

void cox_gru_backward(const float *u, const float *h0, const float *mask, const float *out, const float *saved,
                      const float *dout, float *dxp, float *du, float *dc, float *dh0, float *scratch, int steps,
                      int batch, int hidden, int reverse) {
  /* dxp holds the gradients of the r and z sums already; only q's, n's times r, need room of their own. */
  const int size = batch * hidden;
  float *dq_all = scratch, *dh = scratch + steps * size;
  Weights weights[2] = {
      {{u, 1, 3 * hidden}, 0, hidden, 2 * hidden},          /* back from r and z */
      {{u + 2 * hidden, 1, 3 * hidden}, 0, hidden, hidden}, /* back from q */
  };
  pack_weights(weights, 2);
  for (int j = 0; j < size; j++) dh[j] = 0;
  for (int i = steps - 1; i >= 0; i--) {
    int t = step_at(i, steps, reverse);
    const float *h = state_before(i, steps, reverse, h0, out, size);
    float *dx = dxp + t * 3 * size, *dq = dq_all + t * size;
    cox_axpy(dout + t * size, dh, size, 1.0);
    for (int row = 0; row < batch; row++) {
      int at = t * batch + row, j = 0;
      const float *s = saved + at * 4 * hidden, *before = h ? h + row * hidden : 0;
      float *dh_row = dh + row * hidden, *dx_row = dx + row * 3 * hidden, *dq_row = dq + row * hidden;
      if (!is_open(mask, at)) {
        for (; j < 3 * hidden; j++) dx_row[j] = 0;
        for (j = 0; j < hidden; j++) dq_row[j] = 0;
        continue;
      }
      for (; j + 8 <= hidden; j += 8) cell_backward(s, before, dh_row, dx_row, dq_row, hidden, j, 8);
      if (j < hidden) cell_backward(s, before, dh_row, dx_row, dq_row, hidden, j, hidden - j);
    }
    if (i == 0 && !dh0) break;
    times_weights((Operand){dx, 3 * hidden, 1}, &weights[0], (Start){dh, hidden}, (Output){dh, hidden, 0}, batch);
    times_weights((Operand){dq, hidden, 1}, &weights[1], (Start){dh, hidden}, (Output){dh, hidden, 0}, batch);
  }
  if (dh0) {
    for (int j = 0; j < size; j++) dh0[j] = dh[j];
  }
  weight_gradient(h0, out, dxp, 3 * hidden, du, 3 * hidden, 2 * hidden, steps, batch, hidden, reverse);
  weight_gradient(h0, out, dq_all, hidden, du + 2 * hidden, 3 * hidden, hidden, steps, batch, hidden, reverse);
  column_sums(dxp, 3 * hidden, dc, steps * batch, 2 * hidden);
  column_sums(dq_all, hidden, dc + 2 * hidden, steps * batch, hidden);
}
