/*
 * Matrix products for the other kernels. Every element of C is init + a0*b0 + a1*b1 + ..., in that order, whatever the
 * path: direct or packed, whole tile or edge. So callers may choose paths by speed alone.
 */
#ifndef COXSWAIN_GEMM_H
#define COXSWAIN_GEMM_H

/* A matrix operand: element (i, k) of A stands at data[i*row + k*col]; one of the two steps is 1. */
typedef struct {
  const float *data;
  int row, col;
} Operand;

/*
 * Where sums begin: null for 0, a bias with step 0 (the same row for all), or C itself with its own step to accumulate.
 */
typedef struct {
  const float *data;
  int row;
} Start;

typedef struct {
  float *data;
  int row;
  int relu; /* applied when the sum is complete */
} Output;

void gemm(Operand a, Operand b, Start start, Output c, int m, int n, int k);

/* The second operand packed once and used for many products, as the recurrent weights are at every step. */
int packed_floats(int n, int k);
void pack_whole(Operand b, int n, int k, float *packed);
void gemm_packed(Operand a, const float *packed, Start start, Output c, int m, int n, int k);

/* out[j] += sum over rows of x[row*step + j]. */
void column_sums(const float *x, int step, float *out, int rows, int cols);

/*
 * Room for packed operands, one per thread. 8 MiB hold the recurrent weights up to a hidden size of about 700; beyond
 * that the recurrent kernels pack block by block at each step. Untouched pages cost no memory.
 */
#define PACK_FLOATS (2 * 1024 * 1024)
#ifdef __wasm__
extern float *pack_area;
#else
extern _Thread_local float *pack_area;
#endif

#endif
