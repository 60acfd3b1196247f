/* What the recurrent kernels share: the walk along a sequence and products with the recurrent weights. */
#ifndef COXSWAIN_RECURRENT_H
#define COXSWAIN_RECURRENT_H

#include "gemm.h"
#include "vec.h"

/* Position of the i-th visited step, and the state it begins from (null where that is all zeros). */
INLINE int step_at(int i, int steps, int reverse) { return reverse ? steps - 1 - i : i; }
INLINE const float *state_before(int i, int steps, int reverse, const float *initial, const float *states, int size) {
  if (i == 0) return initial;
  return states + step_at(i - 1, steps, reverse) * size;
}

/* Recurrent weights, packed once for the whole sequence. */
typedef struct {
  Operand plain;
  const float *packed; /* null where all of a layer's weights together are too large for the packing area */
  int n, k;
} Weights;

/*
 * Packs `count` matrices one behind the other, all or none: a product with unpacked weights packs blocks into the same
 * area and would overwrite the packed ones.
 */
INLINE void pack_weights(Weights *weights, const int count) {
  long floats = 0;
  for (int i = 0; i < count; i++) floats += packed_floats(weights[i].n, weights[i].k);
  if (floats > PACK_FLOATS) return;
  float *room = pack_area;
  for (int i = 0; i < count; i++) {
    pack_whole(weights[i].plain, weights[i].n, weights[i].k, room);
    weights[i].packed = room;
    room += packed_floats(weights[i].n, weights[i].k);
  }
}

INLINE void times_weights(Operand a, const Weights *w, Start start, Output c, int m) {
  if (w->packed) gemm_packed(a, w->packed, start, c, m, w->n, w->k);
  else gemm(a, w->plain, start, c, m, w->n, w->k);
}

/*
 * du[hidden,n] += (state before)^T * dgates, over all steps at once. Outputs are stored step after step, so the states
 * before all steps but the first visited are one matrix, shifted by a step against the gates.
 */
INLINE void weight_gradient(const float *h0, const float *out, const float *dgates, int gates_row, float *du,
                            int du_row, int n, int steps, int batch, int hidden, int reverse) {
  int rows = (steps - 1) * batch;
  const float *states = reverse ? out + batch * hidden : out;
  const float *later = reverse ? dgates : dgates + batch * gates_row;
  const float *first = reverse ? dgates + rows * gates_row : dgates;
  Start on = {du, du_row};
  Output to = {du, du_row, 0};
  if (rows > 0) gemm((Operand){states, 1, hidden}, (Operand){later, gates_row, 1}, on, to, hidden, n, rows);
  if (h0) gemm((Operand){h0, 1, hidden}, (Operand){first, gates_row, 1}, on, to, hidden, n, batch);
}

/* Rows whose mask is 0 keep their state and pass its gradient. */
INLINE int is_open(const float *mask, int row) { return !mask || mask[row] != 0; }

#endif
