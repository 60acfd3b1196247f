/*
 * Matrix product and elementwise loops for the reference programs of `coxswain bench engine`.
 * They mark the limit a plain C program reaches on this machine: the widest vectors the compiler offers, fused
 * multiply-add, no regard for reproducible bits. The engine's own kernels (kernels/) share nothing with this file.
 */
#ifndef BENCH_MATRIX_H
#define BENCH_MATRIX_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__AVX512F__)
#define WIDTH 16
#define MAX_ROWS 12 /* 12 rows of two 512-bit vectors: 24 of 32 registers hold sums */
#else
#define WIDTH 8
#define MAX_ROWS 6 /* 6 rows of two 256-bit vectors: 12 of 16 registers hold sums */
#endif
#define PANEL (2 * WIDTH)
#define DEPTH 256 /* columns of a taken at a time: fewer mean more trips to c, */
#define BLOCK 120 /* and rows: together they stay in the second-level cache */
#define MOST_COLUMNS 1024

typedef float vec __attribute__((vector_size(WIDTH * 4), aligned(4), may_alias));
#define INLINE static inline __attribute__((always_inline))

/* A matrix operand: element (i, p) is at data[i * row + p * col]. */
typedef struct { const float *data; ptrdiff_t row, col; } operand;
INLINE operand plain(const float *data, ptrdiff_t ld) { return (operand){data, ld, 1}; }
INLINE operand transposed(const float *data, ptrdiff_t ld) { return (operand){data, 1, ld}; }

/* out[rows, PANEL] (+)= a · b for a constant number of rows, so that every sum has a register. */
INLINE void tile(int rows, operand a, const float *b, ptrdiff_t ldb, int depth, float *out, ptrdiff_t ldo, int add) {
  vec low[MAX_ROWS], high[MAX_ROWS];
#pragma GCC unroll 12
  for (int i = 0; i < rows; i++) {
    low[i] = add ? *(const vec *)(out + i * ldo) : (vec){0};
    high[i] = add ? *(const vec *)(out + i * ldo + WIDTH) : (vec){0};
  }
  for (int p = 0; p < depth; p++) {
    const vec b0 = *(const vec *)(b + p * ldb), b1 = *(const vec *)(b + p * ldb + WIDTH);
    const float *ap = a.data + p * a.col;
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++) {
      const float s = ap[i * a.row];
      low[i] += s * b0;
      high[i] += s * b1;
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < rows; i++) {
    *(vec *)(out + i * ldo) = low[i];
    *(vec *)(out + i * ldo + WIDTH) = high[i];
  }
}

__attribute__((noinline)) static void
row_tile(int rows, operand a, const float *b, ptrdiff_t ldb, int depth, float *out, ptrdiff_t ldo, int add) {
#define CASE(n) case n: if (add) tile(n, a, b, ldb, depth, out, ldo, 1); else tile(n, a, b, ldb, depth, out, ldo, 0); break;
  switch (rows) {
    CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6)
#if MAX_ROWS > 6
    CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12)
#endif
  }
#undef CASE
}

/* rows × depth of a, so that the product reads it in memory order: strides of a power of two share few cache lines. */
INLINE void pack_rows(int rows, operand a, float *packed, int depth) {
  for (int q = 0; q < depth; q++)
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++) packed[q * rows + i] = a.data[i * a.row + q * a.col];
}

/* A panel of b with zeros for missing columns. */
static void pack_panel(operand b, float *packed, int cols, int depth) {
  if (cols == PANEL && b.col == 1) {
    for (int q = 0; q < depth; q++) memcpy(packed + q * PANEL, b.data + q * b.row, sizeof(float) * PANEL);
    return;
  }
  if (cols < PANEL) memset(packed, 0, sizeof(float) * (size_t)depth * PANEL);
  for (int q = 0; q < depth; q += 16) /* sixteen floats of each column are one cache line of it */
    for (int x = 0; x < cols; x++)
      for (int r = q; r < q + 16 && r < depth; r++) packed[r * PANEL + x] = b.data[r * b.row + x * b.col];
}

typedef float vec8 __attribute__((vector_size(32), aligned(4), may_alias));

INLINE void narrow_tile(int rows, operand a, const float *b, int depth, float *out) {
  vec8 sum[MAX_ROWS];
#pragma GCC unroll 12
  for (int i = 0; i < rows; i++) sum[i] = (vec8){0};
  for (int p = 0; p < depth; p++) {
    const vec8 bp = *(const vec8 *)(b + 8 * p);
    const float *ap = a.data + p * a.col;
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++) sum[i] += ap[i * a.row] * bp;
  }
#pragma GCC unroll 12
  for (int i = 0; i < rows; i++) *(vec8 *)(out + 8 * i) = sum[i];
}

/* c[m, n] (+)= a · b for at most eight columns: a whole panel would compute mostly zeros. */
static void multiply_narrow(operand a, operand b, float *c, ptrdiff_t ldc, int m, int n, int k, int add) {
  static _Thread_local float columns[8 * MOST_COLUMNS] __attribute__((aligned(64)));
  static _Thread_local float out[8 * MAX_ROWS] __attribute__((aligned(64)));
  for (int p = 0; p < k; p++)
    for (int j = 0; j < n; j++) columns[8 * p + j] = b.data[p * b.row + j * b.col];
  for (int i = 0; i < m; i += MAX_ROWS) {
    const operand from = {a.data + i * a.row, a.row, a.col};
    const int rows = m - i < MAX_ROWS ? m - i : MAX_ROWS;
    if (rows == MAX_ROWS) narrow_tile(MAX_ROWS, from, columns, k, out);
    else for (int r = 0; r < rows; r++) narrow_tile(1, (operand){from.data + r * a.row, a.row, a.col}, columns, k, out + 8 * r);
    for (int r = 0; r < rows; r++)
      for (int j = 0; j < n; j++) c[(i + r) * ldc + j] = (add ? c[(i + r) * ldc + j] : 0.f) + out[8 * r + j];
  }
}

/*
 * c[m, n] (+)= a · b. Matrices too large for the caches are packed in blocks; small ones are read where they lie,
 * except panels with missing or scattered columns.
 */
static void multiply(operand a, operand b, float *c, ptrdiff_t ldc, int m, int n, int k, int add) {
  static _Thread_local float rows_of_a[BLOCK * DEPTH] __attribute__((aligned(64)));
  static _Thread_local float panels_of_b[DEPTH * MOST_COLUMNS] __attribute__((aligned(64)));
  static _Thread_local float edge[MAX_ROWS * PANEL] __attribute__((aligned(64)));
  if (n <= 8 && k <= MOST_COLUMNS) {
    multiply_narrow(a, b, c, ldc, m, n, k, add);
    return;
  }
  const int is_large = m > 64 && n > 64;
  for (int p = 0; p < k; p += DEPTH) {
    const int depth = k - p < DEPTH ? k - p : DEPTH, keep = add || p > 0;
    const operand b_rows = {b.data + p * b.row, b.row, b.col};
    for (int j = 0; j < n; j += PANEL)
      if (is_large || b.col != 1 || n - j < PANEL)
        pack_panel((operand){b_rows.data + j * b.col, b.row, b.col}, panels_of_b + j * depth, n - j < PANEL ? n - j : PANEL, depth);
    for (int top = 0; top < m; top += BLOCK) {
      const int block = m - top < BLOCK ? m - top : BLOCK;
      const int tiles = (block + MAX_ROWS - 1) / MAX_ROWS, height = (block + tiles - 1) / tiles;
      const operand a_block = {a.data + top * a.row + p * a.col, a.row, a.col};
      if (is_large)
        for (int i = 0; i < block; i += height) {
          const operand from = {a_block.data + i * a.row, a.row, a.col};
          if (height == MAX_ROWS && block - i >= MAX_ROWS) pack_rows(MAX_ROWS, from, rows_of_a + i * depth, depth);
          else pack_rows(block - i < height ? block - i : height, from, rows_of_a + i * depth, depth);
        }
      for (int j = 0; j < n; j += PANEL) {
        const int cols = n - j < PANEL ? n - j : PANEL, is_packed = is_large || b.col != 1 || cols < PANEL;
        const float *panel = is_packed ? panels_of_b + j * depth : b_rows.data + j;
        const ptrdiff_t ldp = is_packed ? PANEL : b.row;
        for (int i = 0; i < block; i += height) {
          const int rows = block - i < height ? block - i : height;
          const operand tile_of_a = is_large ? (operand){rows_of_a + i * depth, 1, rows} : (operand){a_block.data + i * a.row, a.row, a.col};
          float *out = c + (top + i) * ldc + j;
          if (cols == PANEL) {
            row_tile(rows, tile_of_a, panel, ldp, depth, out, ldc, keep);
          } else {
            row_tile(rows, tile_of_a, panel, ldp, depth, edge, PANEL, 0);
            for (int r = 0; r < rows; r++)
              for (int x = 0; x < cols; x++) out[r * ldc + x] = (keep ? out[r * ldc + x] : 0.f) + edge[r * PANEL + x];
          }
        }
      }
    }
  }
}

/* b[k, n] as panels of PANEL columns, each [k, PANEL]: worth it when one matrix multiplies many times. */
__attribute__((unused)) static void pack_panels(operand b, float *panels, int n, int k) {
  for (int j = 0; j < n; j += PANEL)
    for (int p = 0; p < k; p++)
      for (int x = 0; x < PANEL; x++) panels[(size_t)j * k + p * PANEL + x] = b.data[p * b.row + (j + x) * b.col];
}

/* c[m, n] += a · b with b from pack_panels; n is a multiple of PANEL. */
__attribute__((unused)) static void
multiply_panels(operand a, const float *panels, float *c, ptrdiff_t ldc, int m, int n, int k) {
  const int tiles = (m + MAX_ROWS - 1) / MAX_ROWS;
  const int height = (m + tiles - 1) / tiles;
  for (int j = 0; j < n; j += PANEL)
    for (int i = 0; i < m; i += height)
      row_tile(m - i < height ? m - i : height, (operand){a.data + i * a.row, a.row, a.col}, panels + (size_t)j * k, PANEL, k, c + i * ldc + j, ldc, 1);
}

/*
 * e^x within a few units in the last place: 2^n by the exponent's bits, a polynomial for the rest. No branches and no
 * unions, so that compilers turn loops over it into vectors.
 */
INLINE float exp_fast(float x) {
  x = __builtin_fminf(__builtin_fmaxf(x, -87.f), 88.f);
  const float shifted = x * 1.442695041f + 12582912.f; /* 1.5 · 2^23: rounds to a whole number in the low bits */
  const float n = shifted - 12582912.f;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float y = 1.9875691500e-4f;
  y = y * r + 1.3981999507e-3f;
  y = y * r + 8.3334519073e-3f;
  y = y * r + 4.1665795894e-2f;
  y = y * r + 1.6666665459e-1f;
  y = y * r + 5.0000001201e-1f;
  y = y * r * r + r + 1.f;
  int32_t bits;
  __builtin_memcpy(&bits, &y, sizeof bits);
  bits += (int32_t)n * (1 << 23);
  __builtin_memcpy(&y, &bits, sizeof y);
  return y;
}
INLINE float sigmoid_fast(float x) { return 1.f / (1.f + exp_fast(-x)); }
INLINE float tanh_fast(float x) { return 1.f - 2.f / (exp_fast(2.f * x) + 1.f); }

static float *floats(size_t count) {
  void *block = NULL;
  if (posix_memalign(&block, 64, sizeof(float) * (count + PANEL)) != 0) abort();
  memset(block, 0, sizeof(float) * (count + PANEL));
  return block;
}

#endif
