/*
 * The limit of a DDPG update and of batch-1 inference: state 8, action 5, hidden 64×64, batch 64.
 * The arithmetic is the one of every contender: TD target, critic's mean squared error, Adam, deterministic policy
 * gradient, Adam, soft update of both targets. Fixture layout: bench/engine/fixtures.ts.
 */
#include <math.h>
#include "matrix.h"
#include "line-protocol.h"

enum { STATE = 8, ACTION = 5, HIDDEN = 64, BATCH = 64, BOTH = STATE + ACTION };
static const float GAMMA = 0.99f, TAU = 0.005f;
static const double RATE = 1e-3, BETA1 = 0.9, BETA2 = 0.999, EPSILON = 1e-8;

typedef struct {
  int inputs, outputs, count, squash;
  float *params, *grads, *m, *v;
  float *h1, *h2, *out, *d1, *d2; /* activations and their gradients, [BATCH, width] */
} net;

static net actor, critic, actor_target, critic_target;

static net make(int inputs, int outputs, int squash, int trainable) {
  net n = {.inputs = inputs, .outputs = outputs, .squash = squash};
  n.count = inputs * HIDDEN + HIDDEN + HIDDEN * HIDDEN + HIDDEN + HIDDEN * outputs + outputs;
  n.params = floats((size_t)n.count);
  n.h1 = floats(BATCH * HIDDEN);
  n.h2 = floats(BATCH * HIDDEN);
  n.out = floats((size_t)(BATCH * outputs));
  if (trainable) {
    n.grads = floats((size_t)n.count);
    n.m = floats((size_t)n.count);
    n.v = floats((size_t)n.count);
    n.d1 = floats(BATCH * HIDDEN);
    n.d2 = floats(BATCH * HIDDEN);
  }
  return n;
}

static int layer2(const net *n) { return n->inputs * HIDDEN + HIDDEN; }
static int layer3(const net *n) { return layer2(n) + HIDDEN * HIDDEN + HIDDEN; }

/* y = x · w + bias; the bias is written first and the product added to it. */
static void dense(const float *x, const float *w, float *y, int in, int out) {
  const float *bias = w + in * out;
  for (int i = 0; i < BATCH; i++) memcpy(y + i * out, bias, sizeof(float) * (size_t)out);
  multiply(plain(x, in), plain(w, out), y, out, BATCH, out, in, 1);
}

/* One row: the weights are read once in memory order, sums stay in registers for 64 columns at a time. */
static void dense_row(const float *x, const float *w, float *restrict y, int in, int out) {
  const float *bias = w + in * out;
  if (out == HIDDEN) {
    float sum[HIDDEN];
    memcpy(sum, bias, sizeof sum);
    for (int p = 0; p < in; p++)
      for (int j = 0; j < HIDDEN; j++) sum[j] += x[p] * w[p * HIDDEN + j];
    memcpy(y, sum, sizeof sum);
  } else {
    float sum[ACTION];
    memcpy(sum, bias, sizeof sum);
    for (int p = 0; p < in; p++)
      for (int j = 0; j < ACTION; j++) sum[j] += x[p] * w[p * ACTION + j];
    memcpy(y, sum, sizeof sum);
  }
}

static void relu(float *y, int count) {
  for (int i = 0; i < count; i++) y[i] = y[i] > 0.f ? y[i] : 0.f;
}

static void forward(net *n, const float *x) {
  dense(x, n->params, n->h1, n->inputs, HIDDEN);
  relu(n->h1, BATCH * HIDDEN);
  dense(n->h1, n->params + layer2(n), n->h2, HIDDEN, HIDDEN);
  relu(n->h2, BATCH * HIDDEN);
  dense(n->h2, n->params + layer3(n), n->out, HIDDEN, n->outputs);
  if (n->squash)
    for (int i = 0; i < BATCH * n->outputs; i++) n->out[i] = tanh_fast(n->out[i]);
}

static void act(const float *x, float *action) {
  dense_row(x, actor.params, actor.h1, STATE, HIDDEN);
  relu(actor.h1, HIDDEN);
  dense_row(actor.h1, actor.params + layer2(&actor), actor.h2, HIDDEN, HIDDEN);
  relu(actor.h2, HIDDEN);
  dense_row(actor.h2, actor.params + layer3(&actor), action, HIDDEN, ACTION);
  for (int j = 0; j < ACTION; j++) action[j] = tanh_fast(action[j]);
}

static void dense_grads(const float *x, const float *dy, float *dw, int in, int out) {
  multiply(transposed(x, in), plain(dy, out), dw, out, in, out, BATCH, 0);
  float *db = dw + in * out;
  memset(db, 0, sizeof(float) * (size_t)out);
  for (int i = 0; i < BATCH; i++)
    for (int j = 0; j < out; j++) db[j] += dy[i * out + j];
}

static void through_relu(const float *y, float *d) {
  for (int i = 0; i < BATCH * HIDDEN; i++) d[i] = y[i] > 0.f ? d[i] : 0.f;
}

/* Gradients of the parameters (or not) and of the input (or not), from the gradient of the output before squashing. */
static void backward(net *n, const float *x, const float *dout, int want_params, float *dx) {
  if (want_params) dense_grads(n->h2, dout, n->grads + layer3(n), HIDDEN, n->outputs);
  multiply(plain(dout, n->outputs), transposed(n->params + layer3(n), n->outputs), n->d2, HIDDEN, BATCH, HIDDEN, n->outputs, 0);
  through_relu(n->h2, n->d2);
  if (want_params) dense_grads(n->h1, n->d2, n->grads + layer2(n), HIDDEN, HIDDEN);
  multiply(plain(n->d2, HIDDEN), transposed(n->params + layer2(n), HIDDEN), n->d1, HIDDEN, BATCH, HIDDEN, HIDDEN, 0);
  through_relu(n->h1, n->d1);
  if (want_params) dense_grads(x, n->d1, n->grads, n->inputs, HIDDEN);
  if (dx) multiply(plain(n->d1, HIDDEN), transposed(n->params, HIDDEN), dx, n->inputs, BATCH, n->inputs, HIDDEN, 0);
}

static void adam(net *n, long t) {
  const float step = (float)(RATE / (1.0 - pow(BETA1, (double)t)));
  const float root = (float)(1.0 / sqrt(1.0 - pow(BETA2, (double)t)));
  const float b1 = (float)BETA1, b2 = (float)BETA2, c1 = (float)(1.0 - BETA1), c2 = (float)(1.0 - BETA2), eps = (float)EPSILON;
  float *restrict p = n->params, *restrict m = n->m, *restrict v = n->v;
  const float *restrict g = n->grads;
  for (int i = 0; i < n->count; i++) {
    m[i] = b1 * m[i] + c1 * g[i];
    v[i] = b2 * v[i] + c2 * g[i] * g[i];
    p[i] -= step * m[i] / (sqrtf(v[i]) * root + eps);
  }
}

static void soft_update(net *target, const net *source) {
  float *restrict t = target->params;
  const float *restrict s = source->params;
  for (int i = 0; i < target->count; i++) t[i] += TAU * (s[i] - t[i]);
}

static const float *states, *actions, *rewards, *next_states, *ended;
static float *joined, *d_joined, *d_q, *d_action, *answer_block;
static long updates;

static void join(const float *state, const float *action) {
  for (int i = 0; i < BATCH; i++) {
    memcpy(joined + i * BOTH, state + i * STATE, sizeof(float) * STATE);
    memcpy(joined + i * BOTH + STATE, action + i * ACTION, sizeof(float) * ACTION);
  }
}

static void update(void) {
  updates++;
  forward(&actor_target, next_states);
  join(next_states, actor_target.out);
  forward(&critic_target, joined);

  join(states, actions);
  forward(&critic, joined);
  for (int i = 0; i < BATCH; i++) {
    const float wanted = rewards[i] + GAMMA * (1.f - ended[i]) * critic_target.out[i];
    d_q[i] = 2.f / BATCH * (critic.out[i] - wanted);
  }
  backward(&critic, joined, d_q, 1, NULL);
  adam(&critic, updates);

  forward(&actor, states);
  join(states, actor.out);
  forward(&critic, joined);
  for (int i = 0; i < BATCH; i++) d_q[i] = -1.f / BATCH;
  backward(&critic, joined, d_q, 0, d_joined);
  for (int i = 0; i < BATCH; i++)
    for (int j = 0; j < ACTION; j++) {
      const float a = actor.out[i * ACTION + j];
      d_action[i * ACTION + j] = d_joined[i * BOTH + STATE + j] * (1.f - a * a);
    }
  backward(&actor, states, d_action, 1, NULL);
  adam(&actor, updates);

  soft_update(&actor_target, &actor);
  soft_update(&critic_target, &critic);
}

static void prepare(const float *data, size_t count) {
  if (!actor.params) {
    actor = make(STATE, ACTION, 1, 1);
    critic = make(BOTH, 1, 0, 1);
    actor_target = make(STATE, ACTION, 1, 0);
    critic_target = make(BOTH, 1, 0, 0);
    joined = floats(BATCH * BOTH);
    d_joined = floats(BATCH * BOTH);
    d_q = floats(BATCH);
    d_action = floats(BATCH * ACTION);
    answer_block = floats((size_t)(2 * (actor.count + critic.count)));
  }
  (void)count;
  net *pairs[2][2] = {{&actor, &actor_target}, {&critic, &critic_target}};
  for (int i = 0; i < 2; i++) {
    net *online = pairs[i][0];
    memcpy(online->params, data, sizeof(float) * (size_t)online->count);
    memcpy(pairs[i][1]->params, data, sizeof(float) * (size_t)online->count);
    memset(online->m, 0, sizeof(float) * (size_t)online->count);
    memset(online->v, 0, sizeof(float) * (size_t)online->count);
    data += online->count;
  }
  states = data;
  actions = states + BATCH * STATE;
  rewards = actions + BATCH * ACTION;
  next_states = rewards + BATCH;
  ended = next_states + BATCH * STATE;
  updates = 0;
}

static void run_updates(long iterations) {
  for (long i = 0; i < iterations; i++) update();
}

static const float *ddpg_answer(size_t *count) {
  const net *all[4] = {&actor, &critic, &actor_target, &critic_target};
  size_t at = 0;
  for (int i = 0; i < 4; i++) {
    memcpy(answer_block + at, all[i]->params, sizeof(float) * (size_t)all[i]->count);
    at += (size_t)all[i]->count;
  }
  *count = at;
  return answer_block;
}

/* Inference: a new observation is copied in each time, as a control loop does, and one action is read. */
static void run_inference(long iterations) {
  static float observation[STATE];
  static volatile float sink;
  for (long i = 0; i < iterations; i++) {
    memcpy(observation, states + (i % BATCH) * STATE, sizeof observation);
    act(observation, actor.out);
    sink = actor.out[0];
  }
  (void)sink;
}

/* The actions of all states, one forward pass each. */
static const float *inference_answer(size_t *count) {
  for (int i = 0; i < BATCH; i++) act(states + i * STATE, answer_block + i * ACTION);
  *count = BATCH * ACTION;
  return answer_block;
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "usage: ddpg FIXTURES\n"), 2;
  const task tasks[] = {
    {"ddpg", prepare, run_updates, ddpg_answer},
    {"inference", prepare, run_inference, inference_answer},
    {0},
  };
  return serve(tasks, argv[1]);
}
