/* Kernels that treat each element alone, and the sum of squares. */
#include "kernels.h"
#include "vmath.h"

INLINE vec8 activate(vec8 x, const int act) {
  switch (act) {
    case ACT_RELU: return relu8(x);
    case ACT_TANH: return tanh8(x);
    case ACT_SIGMOID: return sigmoid8(x);
    default: return x;
  }
}

INLINE vec8 back_through(vec8 y, vec8 dy, const int act) {
  switch (act) {
    case ACT_RELU: return pick(y > splat8(0), dy, splat8(0));
    case ACT_TANH: return dy * (splat8(1) - y * y);
    case ACT_SIGMOID: return dy * (y * (splat8(1) - y));
    default: return dy;
  }
}

INLINE void forward_all(const float *x, float *y, int count, const int act) {
  int i = 0;
  for (; i + 8 <= count; i += 8) store8(y + i, activate(load8(x + i), act));
  if (i < count) store_n(y + i, activate(load_n(x + i, count - i), act), count - i);
}

INLINE void backward_all(const float *y, const float *dy, float *dx, int count, const int act) {
  int i = 0;
  for (; i + 8 <= count; i += 8) store8(dx + i, back_through(load8(y + i), load8(dy + i), act));
  int n = count - i;
  if (n > 0) store_n(dx + i, back_through(load_n(y + i, n), load_n(dy + i, n), act), n);
}

void cox_activation_forward(const float *x, float *y, int count, int act) {
  switch (act) {
    case ACT_RELU: forward_all(x, y, count, ACT_RELU); break;
    case ACT_TANH: forward_all(x, y, count, ACT_TANH); break;
    case ACT_SIGMOID: forward_all(x, y, count, ACT_SIGMOID); break;
    default: forward_all(x, y, count, ACT_NONE);
  }
}

void cox_activation_backward(const float *y, const float *dy, float *dx, int count, int act) {
  switch (act) {
    case ACT_RELU: backward_all(y, dy, dx, count, ACT_RELU); break;
    case ACT_TANH: backward_all(y, dy, dx, count, ACT_TANH); break;
    case ACT_SIGMOID: backward_all(y, dy, dx, count, ACT_SIGMOID); break;
    default: backward_all(y, dy, dx, count, ACT_NONE);
  }
}

void cox_axpy(const float *x, float *y, int count, double a) {
  vec8 by = splat8((float)a);
  int i = 0;
  for (; i + 8 <= count; i += 8) store8(y + i, load8(y + i) + by * load8(x + i));
  int n = count - i;
  if (n > 0) store_n(y + i, load_n(y + i, n) + by * load_n(x + i, n), n);
}

void cox_scale(float *x, int count, double a) {
  vec8 by = splat8((float)a);
  int i = 0;
  for (; i + 8 <= count; i += 8) store8(x + i, load8(x + i) * by);
  if (i < count) store_n(x + i, load_n(x + i, count - i) * by, count - i);
}

/* Lanes 0 to 3 and 4 to 7 apart: gcc keeps vectors of four doubles in registers and those of eight in memory. */
INLINE void add_squares(vec8 x, dvec4 *low, dvec4 *high) {
  dvec4 l = __builtin_convertvector(__builtin_shufflevector(x, x, 0, 1, 2, 3), dvec4);
  dvec4 h = __builtin_convertvector(__builtin_shufflevector(x, x, 4, 5, 6, 7), dvec4);
  *low += l * l;
  *high += h * h;
}

double cox_sum_squares(const float *x, int count) {
  dvec4 low = {0}, high = {0};
  int i = 0;
  for (; i + 8 <= count; i += 8) add_squares(load8(x + i), &low, &high);
  if (i < count) add_squares(load_n(x + i, count - i), &low, &high);
  return ((low[0] + high[0]) + (low[2] + high[2])) + ((low[1] + high[1]) + (low[3] + high[3]));
}
