/* Packing: operands copied into the order in which tiles read them. */
#ifndef COXSWAIN_PACK_H
#define COXSWAIN_PACK_H

#include "gemm.h"
#include "tile.h"

/* Four rows of four, turned. */
INLINE void turn4(vec4 *r) {
  vec4 a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5), b = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
  vec4 c = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5), d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
  r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  r[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  r[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

/* `width` columns of b[k,n] side by side, zeros where n ends before the panel does. */
static void pack_panel(Operand b, int width, int panel, int k, float *to) {
  if (width < panel) {
    for (int s = 0; s < k; s++) {
      for (int j = 0; j < panel; j++) to[s * panel + j] = j < width ? b.data[s * b.row + j * b.col] : 0.0f;
    }
  } else if (b.col == 1) {
    for (int s = 0; s < k; s++) {
      for (int j = 0; j < panel; j += 4) store4(to + s * panel + j, load4(b.data + s * b.row + j));
    }
  } else {
    for (int j = 0; j < panel; j += 4) {
      const float *from = b.data + j * b.col;
      int s = 0;
      for (; s + 4 <= k; s += 4) {
        vec4 r[4];
        UNROLL for (int i = 0; i < 4; i++) r[i] = load4(from + i * b.col + s);
        turn4(r);
        UNROLL for (int i = 0; i < 4; i++) store4(to + (s + i) * panel + j, r[i]);
      }
      for (; s < k; s++) {
        for (int i = 0; i < 4; i++) to[s * panel + j + i] = from[i * b.col + s];
      }
    }
  }
}

static void pack_block(Operand b, int n, int k, float *to) {
  for (int j = 0; j < n; j += PANEL) {
    int width = n - j < PANEL ? n - j : PANEL;
    pack_panel((Operand){b.data + j * b.col, b.row, b.col}, width, PANEL, k, to);
    to += k * PANEL;
  }
}

/* A block of A whose rows are neighbours, as panels of four: otherwise each k would touch another cache line. */
static void pack_rows(const float *a, int step, int m, int k, float *to) {
  for (int i = 0; i < m; i += 4) {
    int rows = m - i < 4 ? m - i : 4;
    if (rows == 4) {
      for (int s = 0; s < k; s++) store4(to + s * 4, load4(a + s * step + i));
    } else {
      for (int s = 0; s < k; s++) {
        for (int r = 0; r < rows; r++) to[s * 4 + r] = a[s * step + i + r];
      }
    }
    to += k * 4;
  }
}

#endif
