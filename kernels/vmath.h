/*
 * exp, sigmoid and tanh in float32, within two units in the last place (measured in test/conformance). Polynomials are
 * least-maximum fits of the relative error; the constants' digits are those of the nearest float.
 */
#ifndef COXSWAIN_VMATH_H
#define COXSWAIN_VMATH_H

#include "vec.h"

/*
 * e^x for x <= 0, all that a stable sigmoid, tanh or softmax needs: no overflow to care for. Below -87.3 the result,
 * no longer a normal float, is 0. With x = n ln 2 + r and |r| <= ln 2 / 2: e^x = 2^n e^r.
 */
INLINE vec8 exp_negative(vec8 x) {
  const float shift = 12582912.0f; /* 1.5 * 2^23: adding it leaves the nearest integer in the low bits */
  vec8 shifted = x * splat8(1.44269504f) + splat8(shift);
  vec8 n = shifted - splat8(shift);
  /* ln 2 in two parts, the first with trailing zeros, so that n * first is exact. */
  vec8 r = (x - n * splat8(0.693359375f)) - n * splat8(-2.12194440e-4f);
  vec8 p = splat8(0.0013813144760206342f);
  p = p * r + splat8(0.008369418792426586f);
  p = p * r + splat8(0.04166845604777336f);
  p = p * r + splat8(0.16666515171527863f);
  p = p * r + splat8(0.4999999403953552f);
  vec8 e = (p * (r * r) + r) + splat8(1.0f);
  vec8 power = (vec8)(((mask8)shifted << 23) + 0x3f800000);
  return pick(x < splat8(-87.3f), splat8(0), e * power);
}

INLINE vec8 abs8(vec8 x) { return (vec8)((mask8)x & 0x7fffffff); }

INLINE vec8 sigmoid8(vec8 x) {
  vec8 e = exp_negative(-abs8(x));
  return pick(x < splat8(0), e, splat8(1.0f)) / (splat8(1.0f) + e);
}

INLINE vec8 tanh8(vec8 x) {
  vec8 size = abs8(x);
  vec8 q = x * x;
  vec8 p = splat8(-0.005704979877918959f);
  p = p * q + splat8(0.020639080554246902f);
  p = p * q + splat8(-0.05373971164226532f);
  p = p * q + splat8(0.13331441581249237f);
  p = p * q + splat8(-0.3333328068256378f);
  vec8 near = x + x * (q * p);
  vec8 e = exp_negative(size * splat8(-2.0f));
  vec8 far = (splat8(1.0f) - e) / (splat8(1.0f) + e);
  far = (vec8)((mask8)far | ((mask8)x & (int)0x80000000));
  return pick(size < splat8(0.625f), near, far);
}

INLINE vec8 relu8(vec8 x) { return pick(x < splat8(0), splat8(0), x); }

#endif
