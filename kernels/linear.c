/* Linear layers: products with the bias as the sums' start and the activation at their end. */
#include "gemm.h"
#include "kernels.h"

void cox_linear_forward(const float *x, const float *w, const float *b, float *y, int rows, int inputs, int outputs,
                        int act) {
  gemm((Operand){x, inputs, 1}, (Operand){w, outputs, 1}, (Start){b, 0}, (Output){y, outputs, act == ACT_RELU}, rows,
       outputs, inputs);
  if (act > ACT_RELU) cox_activation_forward(y, y, rows * outputs, act);
}

void cox_linear_backward_input(const float *dy, const float *w, float *dx, int rows, int inputs, int outputs) {
  gemm((Operand){dy, outputs, 1}, (Operand){w, 1, outputs}, (Start){0, 0}, (Output){dx, inputs, 0}, rows, inputs,
       outputs);
}

void cox_linear_backward_params(const float *x, const float *dy, float *dw, float *db, int rows, int inputs,
                                int outputs) {
  gemm((Operand){x, 1, inputs}, (Operand){dy, outputs, 1}, (Start){dw, outputs}, (Output){dw, outputs, 0}, inputs,
       outputs, rows);
  if (db) column_sums(dy, outputs, db, rows, outputs);
}
