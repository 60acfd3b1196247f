/*
 * The bridge between Node and the kernels (Node-API, so one binary serves every Node from 20 on).
 *
 * Reading an argument through Node-API costs as much as a small layer, so arguments do not travel that way: the caller
 * writes them as doubles into the tensor memory and calls without any. A result comes back in the first of them.
 * Operands are checked against the memory's size: a wrong offset, or none where one is needed, raises a RangeError
 * instead of killing the process.
 */
#include <node_api.h>
#include <stdlib.h>

#include "gemm.h"
#include "kernels.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* One per kernel set. */
typedef struct {
  char *memory;
  size_t bytes;
  double *args; /* inside the memory */
  const char *wrong; /* what is wrong with an operand of the current call, or null */
} Context;

static double number(const Context *c, int i) { return c->args[i]; }
static int whole(const Context *c, int i) { return (int)number(c, i); }

/* The operand in argument i, null if absent, after making sure that it ends inside the memory. */
static float *optional(Context *c, int i, double floats) {
  double at = number(c, i);
  if (at == 0) return NULL;
  if (!(at > 0 && at + floats * 4 <= (double)c->bytes)) {
    c->wrong = "a kernel's operand reaches beyond the tensor memory";
    return NULL;
  }
  return (float *)(c->memory + (size_t)at);
}

/* The same for an operand that the kernel reads or writes without asking; of no floats, it may be absent too. */
static float *block(Context *c, int i, double floats) {
  if (number(c, i) == 0 && floats > 0) c->wrong = "a kernel's operand is NULL that may not be";
  return optional(c, i, floats);
}

static double matrix(double rows, double cols, double step) {
  return rows > 0 && cols > 0 ? (rows - 1) * step + cols : 0;
}

static void linear_forward(Context *c) {
  double rows = whole(c, 4), in = whole(c, 5), out = whole(c, 6);
  float *x = block(c, 0, rows * in), *w = block(c, 1, in * out), *b = optional(c, 2, out), *y = block(c, 3, rows * out);
  if (c->wrong) return;
  cox_linear_forward(x, w, b, y, (int)rows, (int)in, (int)out, whole(c, 7));
}

static void linear_backward_input(Context *c) {
  double rows = whole(c, 3), in = whole(c, 4), out = whole(c, 5);
  float *dy = block(c, 0, rows * out), *w = block(c, 1, in * out), *dx = block(c, 2, rows * in);
  if (c->wrong) return;
  cox_linear_backward_input(dy, w, dx, (int)rows, (int)in, (int)out);
}

static void linear_backward_params(Context *c) {
  double rows = whole(c, 4), in = whole(c, 5), out = whole(c, 6);
  float *x = block(c, 0, rows * in), *dy = block(c, 1, rows * out), *dw = block(c, 2, in * out);
  float *db = optional(c, 3, out);
  if (c->wrong) return;
  cox_linear_backward_params(x, dy, dw, db, (int)rows, (int)in, (int)out);
}

static void gemm_any(Context *c) {
  int m = whole(c, 6), n = whole(c, 7), k = whole(c, 8), flags = whole(c, 9);
  float *left = block(c, 0, flags & GEMM_TRANS_A ? matrix(k, m, whole(c, 1)) : matrix(m, k, whole(c, 1)));
  float *right = block(c, 2, flags & GEMM_TRANS_B ? matrix(n, k, whole(c, 3)) : matrix(k, n, whole(c, 3)));
  float *to = block(c, 4, matrix(m, n, whole(c, 5)));
  if (c->wrong) return;
  cox_gemm(left, whole(c, 1), right, whole(c, 3), to, whole(c, 5), m, n, k, flags);
}

static void activation_forward(Context *c) {
  int count = whole(c, 2);
  float *x = block(c, 0, count), *y = block(c, 1, count);
  if (!c->wrong) cox_activation_forward(x, y, count, whole(c, 3));
}

static void activation_backward(Context *c) {
  int count = whole(c, 3);
  float *y = block(c, 0, count), *dy = block(c, 1, count), *dx = block(c, 2, count);
  if (!c->wrong) cox_activation_backward(y, dy, dx, count, whole(c, 4));
}

static void axpy(Context *c) {
  int count = whole(c, 2);
  float *x = block(c, 0, count), *y = block(c, 1, count);
  if (!c->wrong) cox_axpy(x, y, count, number(c, 3));
}

static void scale(Context *c) {
  float *x = block(c, 0, whole(c, 1));
  if (!c->wrong) cox_scale(x, whole(c, 1), number(c, 2));
}

static void sum_squares(Context *c) {
  float *x = block(c, 0, whole(c, 1));
  if (!c->wrong) c->args[0] = cox_sum_squares(x, whole(c, 1));
}

static void softmax_forward(Context *c) {
  double rows = whole(c, 2), cols = whole(c, 3);
  float *x = block(c, 0, rows * cols), *y = block(c, 1, rows * cols);
  if (!c->wrong) cox_softmax_forward(x, y, (int)rows, (int)cols);
}

static void softmax_backward(Context *c) {
  double rows = whole(c, 3), cols = whole(c, 4);
  float *y = block(c, 0, rows * cols), *dy = block(c, 1, rows * cols), *dx = block(c, 2, rows * cols);
  if (!c->wrong) cox_softmax_backward(y, dy, dx, (int)rows, (int)cols);
}

static void layer_norm_forward(Context *c) {
  double rows = whole(c, 5), cols = whole(c, 6);
  float *x = block(c, 0, rows * cols), *gamma = block(c, 1, cols), *beta = block(c, 2, cols);
  float *y = block(c, 3, rows * cols), *saved = block(c, 4, rows * 2);
  if (!c->wrong) cox_layer_norm_forward(x, gamma, beta, y, saved, (int)rows, (int)cols, number(c, 7));
}

static void layer_norm_backward(Context *c) {
  double rows = whole(c, 7), cols = whole(c, 8);
  float *x = block(c, 0, rows * cols), *gamma = block(c, 1, cols), *saved = block(c, 2, rows * 2);
  float *dy = block(c, 3, rows * cols), *dx = block(c, 4, rows * cols);
  float *dgamma = block(c, 5, cols), *dbeta = block(c, 6, cols);
  if (!c->wrong) cox_layer_norm_backward(x, gamma, saved, dy, dx, dgamma, dbeta, (int)rows, (int)cols);
}

static void gru_forward(Context *c) {
  double steps = whole(c, 7), batch = whole(c, 8), h = whole(c, 9), rows = steps * batch;
  float *xp = block(c, 0, rows * 3 * h), *u = block(c, 1, 3 * h * h), *bias = block(c, 2, 3 * h);
  float *h0 = optional(c, 3, batch * h), *mask = optional(c, 4, rows), *out = block(c, 5, rows * h);
  float *saved = block(c, 6, rows * 4 * h);
  if (c->wrong) return;
  cox_gru_forward(xp, u, bias, h0, mask, out, saved, (int)steps, (int)batch, (int)h, whole(c, 10));
}

static void gru_backward(Context *c) {
  double steps = whole(c, 11), batch = whole(c, 12), h = whole(c, 13), rows = steps * batch;
  float *u = block(c, 0, 3 * h * h), *h0 = optional(c, 1, batch * h), *mask = optional(c, 2, rows);
  float *out = block(c, 3, rows * h), *saved = block(c, 4, rows * 4 * h), *dout = block(c, 5, rows * h);
  float *dxp = block(c, 6, rows * 3 * h), *du = block(c, 7, 3 * h * h), *dc = block(c, 8, 3 * h);
  float *dh0 = optional(c, 9, batch * h), *scratch = block(c, 10, (rows + batch) * h);
  if (c->wrong) return;
  cox_gru_backward(u, h0, mask, out, saved, dout, dxp, du, dc, dh0, scratch, (int)steps, (int)batch, (int)h,
                   whole(c, 14));
}

static void lstm_forward(Context *c) {
  double steps = whole(c, 8), batch = whole(c, 9), h = whole(c, 10), rows = steps * batch;
  float *xp = block(c, 0, rows * 4 * h), *u = block(c, 1, 4 * h * h);
  float *h0 = optional(c, 2, batch * h), *c0 = optional(c, 3, batch * h), *mask = optional(c, 4, rows);
  float *out = block(c, 5, rows * h), *cells = block(c, 6, rows * h), *saved = block(c, 7, rows * 4 * h);
  if (c->wrong) return;
  cox_lstm_forward(xp, u, h0, c0, mask, out, cells, saved, (int)steps, (int)batch, (int)h, whole(c, 11));
}

static void lstm_backward(Context *c) {
  double steps = whole(c, 13), batch = whole(c, 14), h = whole(c, 15), rows = steps * batch;
  float *u = block(c, 0, 4 * h * h), *h0 = optional(c, 1, batch * h), *c0 = optional(c, 2, batch * h);
  float *mask = optional(c, 3, rows), *out = block(c, 4, rows * h), *cells = block(c, 5, rows * h);
  float *saved = block(c, 6, rows * 4 * h), *dout = block(c, 7, rows * h), *dxp = block(c, 8, rows * 4 * h);
  float *du = block(c, 9, 4 * h * h), *dh0 = optional(c, 10, batch * h), *dc0 = optional(c, 11, batch * h);
  float *scratch = block(c, 12, 2 * batch * h);
  if (c->wrong) return;
  cox_lstm_backward(u, h0, c0, mask, out, cells, saved, dout, dxp, du, dh0, dc0, scratch, (int)steps, (int)batch,
                    (int)h, whole(c, 16));
}

static void adam(Context *c) {
  int count = whole(c, 4);
  float *p = block(c, 0, count), *g = block(c, 1, count), *m = block(c, 2, count), *v = block(c, 3, count);
  if (c->wrong) return;
  cox_adam(p, g, m, v, count, number(c, 5), number(c, 6), number(c, 7), number(c, 8), number(c, 9), number(c, 10));
}

static void sgd(Context *c) {
  int count = whole(c, 3);
  float *p = block(c, 0, count), *g = block(c, 1, count), *velocity = optional(c, 2, count);
  if (!c->wrong) cox_sgd(p, g, velocity, count, number(c, 4), number(c, 5), number(c, 6));
}

static void soft_update(Context *c) {
  int count = whole(c, 2);
  float *target = block(c, 0, count), *source = block(c, 1, count);
  if (!c->wrong) cox_soft_update(target, source, count, number(c, 3));
}

/* ── Node-API ────────────────────────────────────────────────────────────────────────────────────────────────── */

static napi_value finish(napi_env env, Context *c) {
  if (c->wrong) {
    napi_throw_range_error(env, "kernels.operand-wrong", c->wrong);
    c->wrong = NULL;
  }
  return NULL;
}

#define CALL(kernel)                                                         \
  static napi_value call_##kernel(napi_env env, napi_callback_info info) {   \
    Context *c;                                                              \
    napi_get_cb_info(env, info, NULL, NULL, NULL, (void **)&c);              \
    kernel(c);                                                               \
    return finish(env, c);                                                   \
  }
CALL(linear_forward)
CALL(linear_backward_input)
CALL(linear_backward_params)
CALL(gemm_any)
CALL(activation_forward)
CALL(activation_backward)
CALL(axpy)
CALL(scale)
CALL(sum_squares)
CALL(softmax_forward)
CALL(softmax_backward)
CALL(layer_norm_forward)
CALL(layer_norm_backward)
CALL(gru_forward)
CALL(gru_backward)
CALL(lstm_forward)
CALL(lstm_backward)
CALL(adam)
CALL(sgd)
CALL(soft_update)

static const struct {
  const char *name;
  napi_callback call;
} kernels[] = {
    {"linearForward", call_linear_forward},
    {"linearBackwardInput", call_linear_backward_input},
    {"linearBackwardParams", call_linear_backward_params},
    {"gemm", call_gemm_any},
    {"activationForward", call_activation_forward},
    {"activationBackward", call_activation_backward},
    {"axpy", call_axpy},
    {"scale", call_scale},
    {"sumSquares", call_sum_squares},
    {"softmaxForward", call_softmax_forward},
    {"softmaxBackward", call_softmax_backward},
    {"layerNormForward", call_layer_norm_forward},
    {"layerNormBackward", call_layer_norm_backward},
    {"gruForward", call_gru_forward},
    {"gruBackward", call_gru_backward},
    {"lstmForward", call_lstm_forward},
    {"lstmBackward", call_lstm_backward},
    {"adam", call_adam},
    {"sgd", call_sgd},
    {"softUpdate", call_soft_update},
};

static void release(napi_env env, void *data, void *hint) {
  (void)env, (void)hint;
  free(data);
}

/* bind(bytes: Uint8Array, argsAt): the memory, now and again after it has grown, and where arguments will lie in it. */
static napi_value bind_memory(napi_env env, napi_callback_info info) {
  size_t count = 2, bytes = 0;
  napi_value given[2];
  Context *c;
  void *data = NULL;
  napi_typedarray_type type;
  double args_at = 0;
  napi_get_cb_info(env, info, &count, given, NULL, (void **)&c);
  if (count < 2 || napi_get_typedarray_info(env, given[0], &type, &bytes, &data, NULL, NULL) != napi_ok ||
      type != napi_uint8_array || !data || napi_get_value_double(env, given[1], &args_at) != napi_ok) {
    napi_throw_type_error(env, NULL, "bind takes the tensor memory as a Uint8Array and the arguments' offset");
    return NULL;
  }
  c->memory = data;
  c->bytes = bytes;
  c->args = (double *)(c->memory + (size_t)args_at);
  return NULL;
}

/* create(): an object with all kernels, not yet bound to a memory. */
static napi_value create(napi_env env, napi_callback_info info) {
  (void)info;
  /* One packing area per thread serves all its kernel sets: calls on one thread never overlap. */
  if (!pack_area) pack_area = aligned_alloc(64, PACK_FLOATS * sizeof(float));
  Context *c = calloc(1, sizeof(Context));
  if (!c || !pack_area) {
    free(c);
    napi_throw_error(env, NULL, "no memory for a kernel set");
    return NULL;
  }
  napi_value set, function;
  napi_create_object(env, &set);
  napi_wrap(env, set, c, release, NULL, NULL);
  for (size_t i = 0; i < COUNT(kernels); i++) {
    napi_create_function(env, kernels[i].name, NAPI_AUTO_LENGTH, kernels[i].call, c, &function);
    napi_set_named_property(env, set, kernels[i].name, function);
  }
  napi_create_function(env, "bind", NAPI_AUTO_LENGTH, bind_memory, c, &function);
  napi_set_named_property(env, set, "bind", function);
  return set;
}

/* A worker's environment ends on the worker's own thread, where its packing area is known. */
static void clean_up(void *unused) {
  (void)unused;
  free(pack_area);
  pack_area = NULL;
}

NAPI_MODULE_INIT() {
  napi_value value;
  napi_add_env_cleanup_hook(env, clean_up, NULL);
  napi_create_function(env, "create", NAPI_AUTO_LENGTH, create, NULL, &value);
  napi_set_named_property(env, exports, "create", value);
  napi_create_string_utf8(env, SOURCE_HASH, NAPI_AUTO_LENGTH, &value);
  napi_set_named_property(env, exports, "sourceHash", value);
  return exports;
}
