/*
 * The kernels' C interface: one function per method of the Kernels port (src/learn/tensor/kernels.ts, where the
 * meaning of every argument is written down). Absent operands are null pointers.
 *
 * The same sources become kernels.wasm and the native addon, with the same bits in every result. Three rules keep it so:
 *  - a sum runs in an order that depends on shapes only: over k one after the other in matrix products, in eight fixed
 *    lanes joined by one fixed tree in reductions;
 *  - multiply and add are never contracted, and nothing is reassociated (-ffp-contract=off, no -ffast-math);
 *  - no libm: exp, tanh and the sigmoid are in vmath.h; the square root is the processor's, which is exact.
 */
#ifndef COXSWAIN_KERNELS_H
#define COXSWAIN_KERNELS_H

#ifdef __wasm__
#define EXPORT(name) __attribute__((export_name(#name), visibility("default")))
#else
#define EXPORT(name) __attribute__((visibility("hidden")))
#endif

enum { ACT_NONE = 0, ACT_RELU = 1, ACT_TANH = 2, ACT_SIGMOID = 3 };
enum { GEMM_TRANS_A = 1, GEMM_TRANS_B = 2, GEMM_ACCUMULATE = 4 };

EXPORT(linearForward)
void cox_linear_forward(const float *x, const float *w, const float *b, float *y, int rows, int inputs, int outputs,
                        int act);
EXPORT(linearBackwardInput)
void cox_linear_backward_input(const float *dy, const float *w, float *dx, int rows, int inputs, int outputs);
EXPORT(linearBackwardParams)
void cox_linear_backward_params(const float *x, const float *dy, float *dw, float *db, int rows, int inputs,
                                int outputs);
EXPORT(gemm)
void cox_gemm(const float *a, int lda, const float *b, int ldb, float *c, int ldc, int m, int n, int k, int flags);

EXPORT(activationForward) void cox_activation_forward(const float *x, float *y, int count, int act);
EXPORT(activationBackward)
void cox_activation_backward(const float *y, const float *dy, float *dx, int count, int act);
EXPORT(axpy) void cox_axpy(const float *x, float *y, int count, double a);
EXPORT(scale) void cox_scale(float *x, int count, double a);
EXPORT(sumSquares) double cox_sum_squares(const float *x, int count);

EXPORT(softmaxForward) void cox_softmax_forward(const float *x, float *y, int rows, int cols);
EXPORT(softmaxBackward) void cox_softmax_backward(const float *y, const float *dy, float *dx, int rows, int cols);
EXPORT(layerNormForward)
void cox_layer_norm_forward(const float *x, const float *gamma, const float *beta, float *y, float *saved, int rows,
                            int cols, double eps);
EXPORT(layerNormBackward)
void cox_layer_norm_backward(const float *x, const float *gamma, const float *saved, const float *dy, float *dx,
                             float *dgamma, float *dbeta, int rows, int cols);

EXPORT(gruForward)
void cox_gru_forward(const float *xp, const float *u, const float *c, const float *h0, const float *mask, float *out,
                     float *saved, int steps, int batch, int hidden, int reverse);
EXPORT(gruBackward)
void cox_gru_backward(const float *u, const float *h0, const float *mask, const float *out, const float *saved,
                      const float *dout, float *dxp, float *du, float *dc, float *dh0, float *scratch, int steps,
                      int batch, int hidden, int reverse);
EXPORT(lstmForward)
void cox_lstm_forward(const float *xp, const float *u, const float *h0, const float *c0, const float *mask, float *out,
                      float *cells, float *saved, int steps, int batch, int hidden, int reverse);
EXPORT(lstmBackward)
void cox_lstm_backward(const float *u, const float *h0, const float *c0, const float *mask, const float *out,
                       const float *cells, const float *saved, const float *dout, float *dxp, float *du, float *dh0,
                       float *dc0, float *scratch, int steps, int batch, int hidden, int reverse);

EXPORT(adam)
void cox_adam(float *p, const float *g, float *m, float *v, int count, double step, double beta1, double beta2,
              double eps, double root_correction, double decay);
EXPORT(sgd)
void cox_sgd(float *p, const float *g, float *velocity, int count, double lr, double momentum, double decay);
EXPORT(softUpdate) void cox_soft_update(float *target, const float *source, int count, double tau);

#endif
