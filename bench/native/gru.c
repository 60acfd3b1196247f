/*
 * The limit of a bidirectional GRU: 2 layers × 256, 100 steps, batch 20, input 32, forward and backward on one thread.
 * Gates in the order r, z, n with two biases each, as everywhere else. Fixture layout: bench/engine/fixtures.ts.
 */
#include "matrix.h"
#include "line-protocol.h"

enum { INPUT = 32, HIDDEN = 256, GATES = 3 * HIDDEN, STEPS = 100, BATCH = 20, ROWS = STEPS * BATCH, LAYERS = 2, SIDES = 2 };

/* One direction of one layer. */
typedef struct {
  int inputs, reverse;
  const float *w, *b, *u, *c;    /* w[inputs, GATES], b[GATES], u[HIDDEN, GATES], c[GATES] */
  float *dw, *db, *du, *dc;
  float *xp, *r, *z, *n, *hn;    /* [ROWS, …], kept for the backward pass */
  float *before;                 /* [ROWS, HIDDEN]: the state each step started from */
  float *dxp, *dhp;              /* [ROWS, GATES] */
} side;

static side sides[LAYERS][SIDES];
static const float *input, *d_output;
static float *outputs[LAYERS], *d_outputs[LAYERS], *scratch, *state_grad, *answer_block;
static float *panels; /* the recurrent weights of the side at work, in the order the product reads them */
static size_t answer_count, grad_count;
static float *grads;

/* One row of one step: the gates, kept for the way back, and the new state. */
static void cell(const float *restrict xp, const float *restrict hp, const float *restrict h, float *const *saved, float *restrict y) {
  float *restrict r = saved[0], *restrict z = saved[1], *restrict n = saved[2], *restrict hn = saved[3];
  for (int j = 0; j < HIDDEN; j++) {
    const float reset = sigmoid_fast(xp[j] + hp[j]);
    const float keep = sigmoid_fast(xp[HIDDEN + j] + hp[HIDDEN + j]);
    const float candidate = tanh_fast(xp[2 * HIDDEN + j] + reset * hp[2 * HIDDEN + j]);
    r[j] = reset;
    z[j] = keep;
    hn[j] = hp[2 * HIDDEN + j];
    n[j] = candidate;
    y[j] = candidate + keep * (h[j] - candidate);
  }
}

static void forward_side(side *s, const float *x, float *out) {
  for (int i = 0; i < ROWS; i++) memcpy(s->xp + i * GATES, s->b, sizeof(float) * GATES);
  multiply(plain(x, s->inputs), plain(s->w, GATES), s->xp, GATES, ROWS, GATES, s->inputs, 1);
  pack_panels(plain(s->u, GATES), panels, GATES, HIDDEN);
  const int lead = SIDES * HIDDEN;
  for (int step = 0; step < STEPS; step++) {
    const int t = s->reverse ? STEPS - 1 - step : step;
    const int from = s->reverse ? t + 1 : t - 1;
    float *before = s->before + t * BATCH * HIDDEN;
    for (int i = 0; i < BATCH; i++) {
      if (step == 0) memset(before + i * HIDDEN, 0, sizeof(float) * HIDDEN);
      else memcpy(before + i * HIDDEN, out + (from * BATCH + i) * lead, sizeof(float) * HIDDEN);
      memcpy(scratch + i * GATES, s->c, sizeof(float) * GATES);
    }
    multiply_panels(plain(before, HIDDEN), panels, scratch, GATES, BATCH, GATES, HIDDEN);
    for (int i = 0; i < BATCH; i++) {
      const size_t row = (size_t)(t * BATCH + i);
      float *saved[4] = {s->r + row * HIDDEN, s->z + row * HIDDEN, s->n + row * HIDDEN, s->hn + row * HIDDEN};
      cell(s->xp + row * GATES, scratch + i * GATES, before + i * HIDDEN, saved, out + row * (size_t)lead);
    }
  }
}

static void column_sums(const float *x, float *sums) {
  memset(sums, 0, sizeof(float) * GATES);
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < GATES; j++) sums[j] += x[i * GATES + j];
}

/* One row of one step on the way back: dh is the gradient of the new state and becomes that of the old one. */
static void cell_backward(
    const float *restrict dy, const float *restrict h, const float *const *saved, float *restrict dh, float *restrict dxp,
    float *restrict dhp) {
  const float *restrict r = saved[0], *restrict z = saved[1], *restrict n = saved[2], *restrict hn = saved[3];
  for (int j = 0; j < HIDDEN; j++) {
    const float d = dh[j] + dy[j];
    const float dn = d * (1.f - z[j]) * (1.f - n[j] * n[j]);
    const float dz = d * (h[j] - n[j]) * z[j] * (1.f - z[j]);
    const float dr = dn * hn[j] * r[j] * (1.f - r[j]);
    dxp[j] = dhp[j] = dr;
    dxp[HIDDEN + j] = dhp[HIDDEN + j] = dz;
    dxp[2 * HIDDEN + j] = dn;
    dhp[2 * HIDDEN + j] = dn * r[j];
    dh[j] = d * z[j];
  }
}

/* dx (+)= …, NULL when nobody asks for it. */
static void backward_side(side *s, const float *x, const float *dout, float *dx, int add) {
  const int lead = SIDES * HIDDEN;
  pack_panels(transposed(s->u, GATES), panels, HIDDEN, GATES);
  memset(state_grad, 0, sizeof(float) * BATCH * HIDDEN);
  for (int step = STEPS - 1; step >= 0; step--) {
    const int t = s->reverse ? STEPS - 1 - step : step;
    for (int i = 0; i < BATCH; i++) {
      const size_t row = (size_t)(t * BATCH + i);
      const float *saved[4] = {s->r + row * HIDDEN, s->z + row * HIDDEN, s->n + row * HIDDEN, s->hn + row * HIDDEN};
      const float *h = s->before + row * HIDDEN;
      float *dh = state_grad + i * HIDDEN;
      cell_backward(dout + row * (size_t)lead, h, saved, dh, s->dxp + row * GATES, s->dhp + row * GATES);
    }
    multiply_panels(plain(s->dhp + t * BATCH * GATES, GATES), panels, state_grad, HIDDEN, BATCH, HIDDEN, GATES);
  }
  multiply(transposed(s->before, HIDDEN), plain(s->dhp, GATES), s->du, GATES, HIDDEN, GATES, ROWS, 0);
  multiply(transposed(x, s->inputs), plain(s->dxp, GATES), s->dw, GATES, s->inputs, GATES, ROWS, 0);
  column_sums(s->dhp, s->dc);
  column_sums(s->dxp, s->db);
  if (dx) multiply(plain(s->dxp, GATES), transposed(s->w, GATES), dx, s->inputs, ROWS, s->inputs, GATES, add);
}

static void pass(void) {
  for (int l = 0; l < LAYERS; l++)
    for (int d = 0; d < SIDES; d++) forward_side(&sides[l][d], l ? outputs[l - 1] : input, outputs[l] + d * HIDDEN);
  for (int l = LAYERS - 1; l >= 0; l--) {
    const float *dout = l == LAYERS - 1 ? d_output : d_outputs[l];
    for (int d = 0; d < SIDES; d++)
      backward_side(&sides[l][d], l ? outputs[l - 1] : input, dout + d * HIDDEN, l ? d_outputs[l - 1] : NULL, d > 0);
  }
}

static void prepare(const float *data, size_t count) {
  (void)count;
  const int made = grads != NULL;
  grad_count = 0;
  for (int l = 0; l < LAYERS; l++) {
    const int in = l ? SIDES * HIDDEN : INPUT;
    grad_count += SIDES * ((size_t)in * GATES + GATES + HIDDEN * GATES + GATES);
  }
  if (!made) grads = floats(grad_count);
  float *g = grads;
  for (int l = 0; l < LAYERS; l++) {
    if (!made) {
      outputs[l] = floats(ROWS * SIDES * HIDDEN);
      d_outputs[l] = floats(ROWS * SIDES * HIDDEN);
    }
    for (int d = 0; d < SIDES; d++) {
      side *s = &sides[l][d];
      s->inputs = l ? SIDES * HIDDEN : INPUT;
      s->reverse = d;
      const size_t wide = (size_t)s->inputs * GATES, deep = HIDDEN * GATES;
      s->w = data, s->b = data + wide, s->u = data + wide + GATES, s->c = data + wide + GATES + deep;
      s->dw = g, s->db = g + wide, s->du = g + wide + GATES, s->dc = g + wide + GATES + deep;
      data += wide + deep + 2 * GATES;
      g += wide + deep + 2 * GATES;
      if (!made) {
        s->xp = floats(ROWS * GATES), s->dxp = floats(ROWS * GATES), s->dhp = floats(ROWS * GATES);
        s->r = floats(ROWS * HIDDEN), s->z = floats(ROWS * HIDDEN), s->n = floats(ROWS * HIDDEN);
        s->hn = floats(ROWS * HIDDEN), s->before = floats(ROWS * HIDDEN);
      }
    }
  }
  input = data;
  d_output = data + ROWS * INPUT;
  if (!made) {
    scratch = floats(BATCH * GATES);
    state_grad = floats(BATCH * HIDDEN);
    panels = floats(GATES * HIDDEN);
    answer_count = ROWS * SIDES * HIDDEN + grad_count;
    answer_block = floats(answer_count);
  }
}

static void run(long iterations) {
  for (long i = 0; i < iterations; i++) pass();
}

/* The outputs of the last layer, then every gradient in the order of the parameters. */
static const float *answer(size_t *count) {
  const size_t out = ROWS * SIDES * HIDDEN;
  memcpy(answer_block, outputs[LAYERS - 1], sizeof(float) * out);
  memcpy(answer_block + out, grads, sizeof(float) * grad_count);
  *count = answer_count;
  return answer_block;
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "usage: gru FIXTURES\n"), 2;
  const task tasks[] = {{"gru", prepare, run, answer}, {0}};
  return serve(tasks, argv[1]);
}
