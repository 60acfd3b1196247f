/* Softmax and layer normalisation, row by row; sums in eight lanes and one fixed tree. */
#include "kernels.h"
#include "vmath.h"

static void softmax_row(const float *x, float *y, int cols) {
  const float lowest = -__builtin_inff();
  vec8 tops = splat8(lowest);
  int j = 0;
  for (; j + 8 <= cols; j += 8) {
    vec8 v = load8(x + j);
    tops = pick(v > tops, v, tops);
  }
  float top = max8(tops);
  for (; j < cols; j++) top = x[j] > top ? x[j] : top;

  vec8 shift = splat8(top), sums = splat8(0);
  for (j = 0; j + 8 <= cols; j += 8) {
    vec8 e = exp_negative(load8(x + j) - shift);
    store8(y + j, e);
    sums += e;
  }
  int n = cols - j;
  if (n > 0) {
    store_n(y + j, exp_negative(load_n(x + j, n) - shift), n);
    sums += load_n(y + j, n); /* read back, so that the lanes beyond the row count as 0 */
  }
  vec8 total = splat8(sum8(sums));
  for (j = 0; j + 8 <= cols; j += 8) store8(y + j, load8(y + j) / total);
  if (n > 0) store_n(y + j, load_n(y + j, n) / total, n);
}

void cox_softmax_forward(const float *x, float *y, int rows, int cols) {
  for (int r = 0; r < rows; r++) softmax_row(x + r * cols, y + r * cols, cols);
}

void cox_softmax_backward(const float *y, const float *dy, float *dx, int rows, int cols) {
  for (int r = 0; r < rows; r++, y += cols, dy += cols, dx += cols) {
    vec8 sums = splat8(0);
    for (int j = 0; j < cols; j += 8) sums += load_n(y + j, cols - j) * load_n(dy + j, cols - j);
    vec8 dot = splat8(sum8(sums));
    for (int j = 0; j < cols; j += 8) {
      int n = cols - j;
      store_n(dx + j, load_n(y + j, n) * (load_n(dy + j, n) - dot), n);
    }
  }
}

void cox_layer_norm_forward(const float *x, const float *gamma, const float *beta, float *y, float *saved, int rows,
                            int cols, double eps) {
  for (int r = 0; r < rows; r++, x += cols, y += cols) {
    vec8 sums = splat8(0);
    for (int j = 0; j < cols; j += 8) sums += load_n(x + j, cols - j);
    float mean = sum8(sums) / (float)cols;

    vec8 squares = splat8(0);
    int j = 0;
    for (; j + 8 <= cols; j += 8) {
      vec8 d = load8(x + j) - splat8(mean);
      squares += d * d;
    }
    if (j < cols) {
      vec8 d = splat8(0);
      for (int i = 0; i < cols - j; i++) d[i] = x[j + i] - mean;
      squares += d * d;
    }
    float inverse = 1.0f / __builtin_sqrtf(sum8(squares) / (float)cols + (float)eps);

    for (j = 0; j < cols; j += 8) {
      int n = cols - j;
      vec8 normal = (load_n(x + j, n) - splat8(mean)) * splat8(inverse);
      store_n(y + j, normal * load_n(gamma + j, n) + load_n(beta + j, n), n);
    }
    saved[2 * r] = mean;
    saved[2 * r + 1] = inverse;
  }
}

/* With x^ the normalised row and g = dy * gamma: dx = (g - mean(g) - x^ * mean(g * x^)) / std. */
void cox_layer_norm_backward(const float *x, const float *gamma, const float *saved, const float *dy, float *dx,
                             float *dgamma, float *dbeta, int rows, int cols) {
  for (int r = 0; r < rows; r++, x += cols, dy += cols, dx += cols) {
    vec8 mean = splat8(saved[2 * r]), inverse = splat8(saved[2 * r + 1]);
    vec8 sum_g = splat8(0), sum_gx = splat8(0);
    for (int j = 0; j < cols; j += 8) {
      int n = cols - j;
      vec8 d = load_n(dy + j, n); /* 0 beyond the row, so that those lanes add nothing below */
      vec8 normal = (load_n(x + j, n) - mean) * inverse;
      vec8 g = d * load_n(gamma + j, n);
      store_n(dgamma + j, load_n(dgamma + j, n) + d * normal, n);
      store_n(dbeta + j, load_n(dbeta + j, n) + d, n);
      sum_g += g;
      sum_gx += g * normal;
    }
    vec8 mean_g = splat8(sum8(sum_g) / (float)cols), mean_gx = splat8(sum8(sum_gx) / (float)cols);
    for (int j = 0; j < cols; j += 8) {
      int n = cols - j;
      vec8 normal = (load_n(x + j, n) - mean) * inverse;
      vec8 g = load_n(dy + j, n) * load_n(gamma + j, n);
      store_n(dx + j, inverse * ((g - mean_g) - normal * mean_gx), n);
    }
  }
}
