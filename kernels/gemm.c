/*
 * Matrix products: C = start + A * B, tile by tile (tile.h). Small products read B in place; large ones pack it into
 * panels that a tile reads in sequence (pack.h), in blocks that stay in the second-level cache.
 */
#include "kernels.h"
#include "pack.h"

#define BLOCK_K 256
#define BLOCK_M 64
#define BLOCK_N 512

#ifdef __wasm__
static float pack_storage[PACK_FLOATS] __attribute__((aligned(64)));
float *pack_area = pack_storage;
#else
_Thread_local float *pack_area; /* set by addon.c */
#endif

/* One function per number of rows: the fewer rows, the more columns, so that additions always overlap. */
#define STRIP(rows, wide)                                                                                    \
  static __attribute__((noinline)) void strip_##rows##_along(const Tile *t, int n) { strip(*t, rows, wide, 1, n); } \
  static __attribute__((noinline)) void strip_##rows##_across(const Tile *t, int n) { strip(*t, rows, wide, 0, n); }
STRIP(1, 4 * WIDE)
STRIP(2, 2 * WIDE)
STRIP(3, WIDE)
STRIP(4, WIDE)

static void gemm_direct(Tile t, int m, int n) {
  const int along = t.a_col == 1;
  int i = 0;
  for (; i + 4 <= m; i += 4) {
    if (along) strip_4_along(&t, n);
    else strip_4_across(&t, n);
    skip_rows(&t, 4);
  }
  switch (m - i) {
    case 1:
      if (along) strip_1_along(&t, n);
      else strip_1_across(&t, n);
      break;
    case 2:
      if (along) strip_2_along(&t, n);
      else strip_2_across(&t, n);
      break;
    case 3:
      if (along) strip_3_along(&t, n);
      else strip_3_across(&t, n);
      break;
  }
}

/* ── few columns ─────────────────────────────────────────────────────────────────────────────────────────────── */

INLINE vec4 splat4(float x) { return (vec4){x, x, x, x}; }

/* One column of C from an A contiguous along k: rows of A become lanes, so each lane still adds in the order of k. */
static void one_column(Tile t, int m) {
  int i = 0;
  for (; i + 8 <= m; i += 8) {
    float sums[8] = {0};
    if (t.start) {
      for (int r = 0; r < 8; r++) sums[r] = t.start[(i + r) * t.start_row];
    }
    vec4 low = load4(sums), high = load4(sums + 4);
    const float *a = t.a + i * t.a_row;
    int s = 0;
    for (; s + 4 <= t.k; s += 4) {
      vec4 upper[4], lower[4];
      UNROLL for (int r = 0; r < 4; r++) upper[r] = load4(a + r * t.a_row + s);
      UNROLL for (int r = 0; r < 4; r++) lower[r] = load4(a + (4 + r) * t.a_row + s);
      turn4(upper);
      turn4(lower);
      UNROLL for (int r = 0; r < 4; r++) {
        vec4 b = splat4(t.b[(s + r) * t.b_row]);
        low += upper[r] * b;
        high += lower[r] * b;
      }
    }
    store4(sums, low);
    store4(sums + 4, high);
    for (int r = 0; r < 8; r++) {
      float sum = sums[r];
      for (int rest = s; rest < t.k; rest++) sum += a[r * t.a_row + rest] * t.b[rest * t.b_row];
      t.c[(i + r) * t.c_row] = t.relu && sum < 0 ? 0 : sum;
    }
  }
  for (; i < m; i++) {
    float sum = t.start ? t.start[i * t.start_row] : 0;
    for (int s = 0; s < t.k; s++) sum += t.a[i * t.a_row + s] * t.b[s * t.b_row];
    t.c[i * t.c_row] = t.relu && sum < 0 ? 0 : sum;
  }
}

/* Fewer than eight columns: copied to where eight are, so that whole tiles serve, and back. */
static void few_columns(Tile t, int b_col, int m, int n) {
  float *b = pack_area, *c = pack_area + 8 * t.k, *start = c + 8 * m;
  for (int s = 0; s < t.k; s++) {
    for (int j = 0; j < n; j++) b[8 * s + j] = t.b[s * t.b_row + j * b_col];
  }
  float *const to = t.c;
  const int to_row = t.c_row;
  if (t.start && t.start_row == 0) {
    for (int j = 0; j < n; j++) start[j] = t.start[j];
    t.start = start;
  } else if (t.start) {
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) c[8 * i + j] = t.start[i * t.start_row + j];
    }
    t.start = c;
    t.start_row = 8;
  }
  t.b = b;
  t.b_row = 8;
  t.c = c;
  t.c_row = 8;
  gemm_direct(t, m, 8);
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) to[i * to_row + j] = c[8 * i + j];
  }
}

/* ── products with a packed block ─────────────────────────────────────────────────────────────────────────────── */

/* One tile of a panel; the last panel's spare columns are computed and dropped. */
INLINE void panel_tile(const Tile *t, const int rows, const int along, int cols) {
  if (cols == PANEL) {
    tile(t, rows, WIDE, along);
    return;
  }
  Tile part = *t;
  for (int j = 0; j < cols; j += 8) {
    int width = cols - j < 8 ? cols - j : 8;
    if (width == 8) tile(&part, rows, 1, along);
    else narrow_tile(&part, rows, along, width, part.k);
    part.b += 8;
    part.c += 8;
    if (part.start) part.start += 8;
  }
}

/*
 * A tile of one or two rows has too few additions in flight to keep the processor busy, so six rows left over are
 * taken as 3 + 3 and nine as 3 + 3 + 3, where there are that many.
 */
INLINE void panel_rows(Tile t, const int along, int m, int cols) {
  int spare = m & 3;
  int threes = spare == 3 ? 1 : spare == 2 && m >= 6 ? 2 : spare == 1 && m >= 9 ? 3 : 0;
  for (int fours = (m - 3 * threes) >> 2; fours > 0; fours--) {
    panel_tile(&t, 4, along, cols);
    skip_rows(&t, 4);
  }
  for (int i = 0; i < threes; i++) {
    panel_tile(&t, 3, along, cols);
    skip_rows(&t, 3);
  }
  if (threes > 0) return;
  if (spare == 1) panel_tile(&t, 1, along, cols);
  else if (spare == 2) panel_tile(&t, 2, along, cols);
}

static __attribute__((noinline)) void panel_rows_along(const Tile *t, int m, int cols) {
  panel_rows(*t, 1, m, cols);
}
static __attribute__((noinline)) void panel_rows_across(const Tile *t, int m, int cols) {
  panel_rows(*t, 0, m, cols);
}

/* t.b is a packed block of n columns and t.k rows. */
static void gemm_block(Tile t, int m, int n) {
  for (int j = 0; j < n; j += PANEL) {
    int cols = n - j < PANEL ? n - j : PANEL;
    if (t.a_col == 1) panel_rows_along(&t, m, cols);
    else panel_rows_across(&t, m, cols);
    t.b += t.k * PANEL;
    t.c += PANEL;
    if (t.start) t.start += PANEL;
  }
}

static void gemm_blocked(Operand a, Operand b, Start start, Output c, int m, int n, int k) {
  float *packed_b = pack_area, *packed_a = pack_area + BLOCK_K * BLOCK_N;
  for (int j = 0; j < n; j += BLOCK_N) {
    int cols = n - j < BLOCK_N ? n - j : BLOCK_N;
    for (int s = 0; s < k; s += BLOCK_K) {
      int depth = k - s < BLOCK_K ? k - s : BLOCK_K;
      pack_block((Operand){b.data + s * b.row + j * b.col, b.row, b.col}, cols, depth, packed_b);
      int last = s + depth == k;
      for (int i = 0; i < m; i += BLOCK_M) {
        int rows = m - i < BLOCK_M ? m - i : BLOCK_M;
        float *to = c.data + i * c.row + j;
        Tile t = {a.data + i * a.row + s * a.col, a.row, a.col, packed_b, PANEL, to, c.row, to, c.row, depth,
                  last && c.relu};
        if (s == 0) {
          t.start = start.data ? start.data + i * start.row + j : 0;
          t.start_row = start.row;
        }
        if (a.col == 1) {
          gemm_block(t, rows, cols);
          continue;
        }
        pack_rows(t.a, a.col, rows, depth, packed_a);
        t.a_col = 4;
        for (int p = 0; p < cols; p += PANEL) {
          int width = cols - p < PANEL ? cols - p : PANEL;
          Tile u = t;
          u.b += p * depth;
          u.c += p;
          if (u.start) u.start += p;
          for (int r = 0; r < rows; r += 4) {
            u.a = packed_a + r * depth;
            panel_rows_across(&u, rows - r < 4 ? rows - r : 4, width);
            u.c += 4 * u.c_row;
            if (u.start) u.start += 4 * u.start_row;
          }
        }
      }
    }
  }
}

void gemm(Operand a, Operand b, Start start, Output c, int m, int n, int k) {
  if (m <= 0 || n <= 0) return;
  /* One output column from a transposed A is one output row of the mirrored product, which vectors like better. */
  if (n == 1 && m > 1 && a.row == 1 && c.row == 1 && b.row == 1 && (!start.data || start.row == 1)) {
    gemm((Operand){b.data, k, 1}, (Operand){a.data, a.col, 1}, (Start){start.data, 0}, (Output){c.data, m, c.relu}, 1,
         m, k);
    return;
  }
  if (n < 8 && m >= 8 && k > 0 && 8 * ((long)k + m + 1) <= PACK_FLOATS) {
    Tile t = {a.data, a.row, a.col, b.data, b.row, start.data, start.row, c.data, c.row, k, c.relu};
    if (n == 1 && a.col == 1) one_column(t, m);
    else few_columns(t, b.col, m, n);
    return;
  }
  int is_small = m < 8 || (long)n * k <= 8192;
  if (b.col == 1 && is_small) {
    Tile t = {a.data, a.row, a.col, b.data, b.row, start.data, start.row, c.data, c.row, k, c.relu};
    gemm_direct(t, m, n);
  } else if (k == 0) {
    Tile t = {a.data, a.row, 1, b.data, b.row, start.data, start.row, c.data, c.row, 0, c.relu};
    gemm_direct(t, m, n);
  } else {
    gemm_blocked(a, b, start, c, m, n, k);
  }
}

int packed_floats(int n, int k) { return (n + PANEL - 1) / PANEL * PANEL * k; }

void pack_whole(Operand b, int n, int k, float *packed) {
  for (int s = 0; s < k; s += BLOCK_K) {
    int depth = k - s < BLOCK_K ? k - s : BLOCK_K;
    pack_block((Operand){b.data + s * b.row, b.row, b.col}, n, depth, packed);
    packed += packed_floats(n, depth);
  }
}

void gemm_packed(Operand a, const float *packed, Start start, Output c, int m, int n, int k) {
  for (int s = 0; s < k; s += BLOCK_K) {
    int depth = k - s < BLOCK_K ? k - s : BLOCK_K;
    Tile t = {a.data + s * a.col, a.row, a.col, packed, PANEL, c.data, c.row, c.data, c.row, depth,
              s + depth == k && c.relu};
    if (s == 0) {
      t.start = start.data;
      t.start_row = start.row;
    }
    gemm_block(t, m, n);
    packed += packed_floats(n, depth);
  }
}

void column_sums(const float *x, int step, float *out, int rows, int cols) {
  int j = 0;
  for (; j + 32 <= cols; j += 32) {
    vec8 sum[4];
    UNROLL for (int v = 0; v < 4; v++) sum[v] = load8(out + j + 8 * v);
    for (int r = 0; r < rows; r++) {
      UNROLL for (int v = 0; v < 4; v++) sum[v] += load8(x + r * step + j + 8 * v);
    }
    UNROLL for (int v = 0; v < 4; v++) store8(out + j + 8 * v, sum[v]);
  }
  for (; j < cols; j += 8) {
    int n = cols - j;
    vec8 sum = load_n(out + j, n);
    for (int r = 0; r < rows; r++) sum += load_n(x + r * step + j, n);
    store_n(out + j, sum, n);
  }
}

void cox_gemm(const float *a, int lda, const float *b, int ldb, float *c, int ldc, int m, int n, int k, int flags) {
  Operand left = flags & GEMM_TRANS_A ? (Operand){a, 1, lda} : (Operand){a, lda, 1};
  Operand right = flags & GEMM_TRANS_B ? (Operand){b, 1, ldb} : (Operand){b, ldb, 1};
  gemm(left, right, (Start){flags & GEMM_ACCUMULATE ? c : 0, ldc}, (Output){c, ldc, 0}, m, n, k);
}
