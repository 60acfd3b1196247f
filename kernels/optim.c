/* Optimiser steps. Constants such as 1 - beta2 are formed in double: in float, 1 - 0.999 is off by 5e-5 of itself. */
#include "kernels.h"
#include "vmath.h"

void cox_adam(float *p, const float *g, float *m, float *v, int count, double step, double beta1, double beta2,
              double eps, double root_correction, double decay) {
  const vec8 keep_m = splat8((float)beta1), add_m = splat8((float)(1 - beta1));
  const vec8 keep_v = splat8((float)beta2), add_v = splat8((float)(1 - beta2));
  const vec8 by = splat8((float)step), least = splat8((float)eps), root = splat8((float)root_correction);
  const vec8 keep_p = splat8((float)(1 - decay));
  for (int i = 0; i < count; i += 8) {
    int n = count - i;
    vec8 grad = load_n(g + i, n);
    vec8 m1 = load_n(m + i, n) * keep_m + grad * add_m;
    vec8 v1 = load_n(v + i, n) * keep_v + (grad * grad) * add_v;
    store_n(m + i, m1, n);
    store_n(v + i, v1, n);
    store_n(p + i, load_n(p + i, n) * keep_p - (by * m1) / (sqrt8(v1) * root + least), n);
  }
}

void cox_sgd(float *p, const float *g, float *velocity, int count, double lr, double momentum, double decay) {
  const vec8 by = splat8((float)lr), keep = splat8((float)momentum), pull = splat8((float)decay);
  for (int i = 0; i < count; i += 8) {
    int n = count - i;
    vec8 value = load_n(p + i, n);
    vec8 move = load_n(g + i, n) + pull * value;
    if (velocity) {
      move += keep * load_n(velocity + i, n);
      store_n(velocity + i, move, n);
    }
    store_n(p + i, value - by * move, n);
  }
}

void cox_soft_update(float *target, const float *source, int count, double tau) {
  const vec8 by = splat8((float)tau);
  for (int i = 0; i < count; i += 8) {
    int n = count - i;
    vec8 old = load_n(target + i, n);
    store_n(target + i, old + by * (load_n(source + i, n) - old), n);
  }
}
