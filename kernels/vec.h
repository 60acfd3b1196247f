/*
 * Eight floats at a time, in the vector extensions that gcc and clang share. On wasm the compiler splits a vec8 into two
 * 128-bit halves; with AVX2 it is one register. Either way each lane sees the same operations.
 */
#ifndef COXSWAIN_VEC_H
#define COXSWAIN_VEC_H

#define INLINE static inline __attribute__((always_inline))
/* Fixed-size loops over tile rows and columns must vanish, or the accumulators live in memory. */
#define UNROLL _Pragma("GCC unroll 16")

typedef float vec4 __attribute__((vector_size(16), may_alias));
typedef float vec8 __attribute__((vector_size(32), may_alias));
typedef int mask8 __attribute__((vector_size(32), may_alias));
typedef double dvec4 __attribute__((vector_size(32), may_alias));
typedef vec4 vec4_any __attribute__((aligned(4)));
typedef vec8 vec8_any __attribute__((aligned(4)));

INLINE vec4 load4(const float *p) { return *(const vec4_any *)p; }
INLINE void store4(float *p, vec4 x) { *(vec4_any *)p = x; }
INLINE vec8 load8(const float *p) { return *(const vec8_any *)p; }
INLINE void store8(float *p, vec8 x) { *(vec8_any *)p = x; }
INLINE vec8 splat8(float x) { return (vec8){x, x, x, x, x, x, x, x}; }

/* Edges are rare: one small loop, not inlined into every kernel. */
static __attribute__((noinline, unused)) void copy_edge(float *to, const float *from, int n) {
  for (int i = 0; i < n; i++) to[i] = from[i];
}

/* The first n floats, zeros after them; reads and writes nothing beyond. */
INLINE vec8 load_n(const float *p, int n) {
  if (n >= 8) return load8(p);
  float edge[8] = {0};
  copy_edge(edge, p, n);
  return load8(edge);
}
INLINE void store_n(float *p, vec8 x, int n) {
  if (n >= 8) {
    store8(p, x);
    return;
  }
  float edge[8];
  store8(edge, x);
  copy_edge(p, edge, n);
}

/* where mask is set a, else b; the operands' NaNs pass untouched. */
INLINE vec8 pick(mask8 mask, vec8 a, vec8 b) { return (vec8)((mask & (mask8)a) | (~mask & (mask8)b)); }

INLINE vec8 sqrt8(vec8 x) {
#if defined(__wasm_simd128__)
  vec4 low = __builtin_shufflevector(x, x, 0, 1, 2, 3), high = __builtin_shufflevector(x, x, 4, 5, 6, 7);
  low = (vec4)__builtin_wasm_sqrt_f32x4(low);
  high = (vec4)__builtin_wasm_sqrt_f32x4(high);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
#elif defined(__AVX__)
  return (vec8)__builtin_ia32_sqrtps256(x);
#else
  UNROLL for (int i = 0; i < 8; i++) x[i] = __builtin_sqrtf(x[i]);
  return x;
#endif
}

/* The one tree that joins eight lanes. */
INLINE float sum8(vec8 x) { return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])); }
INLINE float max8(vec8 x) {
  float top = x[0];
  for (int i = 1; i < 8; i++) top = x[i] > top ? x[i] : top;
  return top;
}

#endif
