/*
 * Tiles: the innermost loops of every matrix product.
 * A tile keeps 4 rows by 8 (wasm) or 16 (AVX2) columns of C in registers while k runs; more rows, or a loop unrolled
 * over k, were slower.
 */
#ifndef COXSWAIN_TILE_H
#define COXSWAIN_TILE_H

#include "vmath.h"

#ifdef __AVX__
#define WIDE 2 /* vec8s in a tile's row when four rows are computed together */
#else
#define WIDE 1
#endif
#define PANEL (8 * WIDE)

/* What a tile needs besides its size: kept in one place, so that the variants below differ by constants only. */
typedef struct {
  const float *a;
  int a_row, a_col;
  const float *b;
  int b_row;
  const float *start;
  int start_row;
  float *c;
  int c_row;
  int k;
  int relu;
} Tile;

/*
 * `rows` by `8*wide` elements of C, everything constant but the strides. `along` says that A is contiguous along k
 * (rows of A are walked side by side), else along its rows (four neighbours are read at each k).
 */
INLINE void tile(const Tile *t, const int rows, const int wide, const int along) {
  vec8 sum[4][8];
  UNROLL for (int i = 0; i < rows; i++) {
    UNROLL for (int v = 0; v < wide; v++) {
      sum[i][v] = t->start ? load8(t->start + i * t->start_row + 8 * v) : splat8(0);
    }
  }
  const float *a = t->a, *b = t->b;
  const int a_row = t->a_row, a_step = along ? 1 : t->a_col, b_row = t->b_row;
  for (int k = t->k; k > 0; k--) {
    vec8 bv[8];
    UNROLL for (int v = 0; v < wide; v++) bv[v] = load8(b + 8 * v);
    UNROLL for (int i = 0; i < rows; i++) {
      vec8 ai = splat8(along ? a[i * a_row] : a[i]);
      UNROLL for (int v = 0; v < wide; v++) sum[i][v] += ai * bv[v];
    }
    a += a_step;
    b += b_row;
  }
  UNROLL for (int i = 0; i < rows; i++) {
    UNROLL for (int v = 0; v < wide; v++) {
      store8(t->c + i * t->c_row + 8 * v, t->relu ? relu8(sum[i][v]) : sum[i][v]);
    }
  }
}

/*
 * A tile of fewer than eight columns. The first `safe` steps may read eight floats of B all the same, since what
 * follows a row is the next one; only the last rows must not be read beyond.
 */
INLINE void narrow_tile(const Tile *t, const int rows, const int along, int cols, int safe) {
  vec8 sum[4];
  UNROLL for (int i = 0; i < rows; i++) {
    sum[i] = t->start ? load_n(t->start + i * t->start_row, cols) : splat8(0);
  }
  const float *a = t->a, *b = t->b;
  const int a_row = t->a_row, a_step = along ? 1 : t->a_col, b_row = t->b_row;
  int k = 0;
  for (; k < safe; k++) {
    vec8 bv = load8(b);
    UNROLL for (int i = 0; i < rows; i++) sum[i] += splat8(along ? a[i * a_row] : a[i]) * bv;
    a += a_step;
    b += b_row;
  }
  for (; k < t->k; k++) {
    vec8 bv = load_n(b, cols);
    UNROLL for (int i = 0; i < rows; i++) sum[i] += splat8(along ? a[i * a_row] : a[i]) * bv;
    a += a_step;
    b += b_row;
  }
  UNROLL for (int i = 0; i < rows; i++) store_n(t->c + i * t->c_row, t->relu ? relu8(sum[i]) : sum[i], cols);
}

/* How many leading steps of a narrow tile at column j may read eight floats of a b[k,n] stored by rows. */
INLINE int safe_steps(int j, int n, int k, int b_row) {
  int spare = (k - 1) * b_row + n - j - 8;
  int safe = spare < 0 ? 0 : spare / b_row + 1;
  return safe > k ? k : safe;
}

/* `rows` rows of C against all n columns of a B that is read in place. */
INLINE void strip(Tile t, const int rows, const int wide, const int along, int n) {
  int j = 0;
  for (; j + 8 * wide <= n; j += 8 * wide) {
    tile(&t, rows, wide, along);
    t.b += 8 * wide;
    t.c += 8 * wide;
    if (t.start) t.start += 8 * wide;
  }
  if (wide > 1) {
    for (; j + 8 <= n; j += 8) {
      tile(&t, rows, 1, along);
      t.b += 8;
      t.c += 8;
      if (t.start) t.start += 8;
    }
  }
  if (j < n) narrow_tile(&t, rows, along, n - j, safe_steps(j, n, t.k, t.b_row));
}

/* `t` moved down by so many rows. */
INLINE void skip_rows(Tile *t, int rows) {
  t->a += rows * t->a_row;
  t->c += rows * t->c_row;
  if (t->start) t->start += rows * t->start_row;
}

#endif
