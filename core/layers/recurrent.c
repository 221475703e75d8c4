/* recurrent.c: the Elman network and the LSTM over [N, T, F], with an initial state of zeros.
 *
 * Inside, time is the first dimension, so that the rows of a step are together. The inputs of all
 * steps are one matrix product, and the recurrent part is one product per step. The sums of the
 * gates become their activations and, in the backward, the gradients of the sums. So the gradients
 * of the weights are also one product each. */
#include "layer.h"

#include <math.h>
#include <stdlib.h>

struct recurrent {
    const char *kind;
    size_t features, hidden, gates; /* gates: 4 or 1 */
    bool last;
    struct dp_param *weight_x, *weight_h, *bias_x, *bias_h;
};

/* The data of one forward; all are [T, N, ...]. */
struct saved {
    struct dp_tensor x, gates, h, c;
    bool needs_grad; /* of the input */
};

static float *rnn_step_of(const struct dp_tensor *tensor, size_t t)
{
    return (float *)tensor->data + t * tensor->dim[1] * tensor->dim[2];
}

static int swap_to(struct dp_run *run, const struct dp_tensor *from, struct dp_tensor *to,
                   struct dp_error *err)
{
    const size_t dim[] = {from->dim[1], from->dim[0], from->dim[2]};
    const int status = dp_run_tensor(run, from->slot, DP_F32, 3, dim, to, err);
    if (status)
        return status;
    const struct dp_swap swap = {to->data, from->data, NULL, dim[1], dim[0], dim[2]};
    return dp_launch(&from->slot->compute, DP_KERNEL_SWAP, &swap, sizeof swap, err);
}

/* c [m, n] = a [m, k] W^T (+ c). */
static int times_weight(struct dp_queue *queue, const float *a, const void *weight, float *c,
                        const size_t mnk[3], bool accumulate, struct dp_error *err)
{
    const struct dp_gemm gemm = {false, true, accumulate, mnk[0], mnk[1], mnk[2], a, weight, c};
    return dp_launch(queue, DP_KERNEL_GEMM, &gemm, sizeof gemm, err);
}

static int lstm_step(const struct recurrent *l, struct dp_run *run, const struct saved *s, size_t t,
                     struct dp_error *err)
{
    const struct dp_lstm_args args = {.gates = rnn_step_of(&s->gates, t),
                                      .bias_x = dp_run_value(run, l->bias_x)->data,
                                      .bias_h = dp_run_value(run, l->bias_h)->data,
                                      .c_before = t > 0 ? rnn_step_of(&s->c, t - 1) : NULL,
                                      .c = rnn_step_of(&s->c, t),
                                      .h = rnn_step_of(&s->h, t),
                                      .rows = s->x.dim[1],
                                      .hidden = l->hidden};
    return dp_launch(&s->x.slot->compute, DP_KERNEL_LSTM, &args, sizeof args, err);
}

static int rnn_step(const struct recurrent *l, struct dp_run *run, const struct saved *s, size_t t,
                    struct dp_error *err)
{
    struct dp_queue *queue = &s->x.slot->compute;
    const size_t rows = s->x.dim[1];
    float *sums = rnn_step_of(&s->gates, t);
    const struct dp_add_bias x = {sums, dp_run_value(run, l->bias_x)->data, rows, l->hidden};
    const struct dp_add_bias h = {sums, dp_run_value(run, l->bias_h)->data, rows, l->hidden};
    const struct dp_activation args = {rnn_step_of(&s->h, t), sums, rows * l->hidden};
    int status = dp_launch(queue, DP_KERNEL_ADD_BIAS, &x, sizeof x, err);
    if (status == 0)
        status = dp_launch(queue, DP_KERNEL_ADD_BIAS, &h, sizeof h, err);
    if (status == 0)
        status = dp_launch(queue, DP_KERNEL_TANH, &args, sizeof args, err);
    return status;
}

static bool rnn_is_trained(const struct recurrent *l)
{
    return !l->weight_x->frozen || !l->weight_h->frozen || !l->bias_x->frozen || !l->bias_h->frozen;
}

static int rnn_check(const struct recurrent *l, struct dp_run *run, const struct dp_tensor in[],
                     int n_in, struct dp_error *err)
{
    char shape[DP_SHAPE_TEXT];
    const int status = dp_check_inputs(l->kind, in, n_in, 1, 1, err);
    if (status)
        return status;
    if (in->dtype != DP_F32 || in->ndim != 3 || in->dim[1] < 1 || in->dim[2] != l->features)
        return dp_fail(
            err, DP_ESHAPE,
            "%s(%zu, %zu) takes rows of at least 1 step of %zu features; got an input of "
            "shape %s",
            l->kind, l->features, l->hidden, l->features, dp_shape_text(in, shape));
    return dp_same_slot("the input", in, "the weight", dp_run_value(run, l->weight_x), err);
}

static int open_saved(const struct recurrent *l, struct dp_run *run, const struct dp_tensor *x,
                      struct saved *s, struct dp_error *err)
{
    const size_t steps = x->dim[1], rows = x->dim[0];
    const size_t dim[] = {steps, rows, l->hidden}, wide[] = {steps, rows, l->gates * l->hidden};
    *s = (struct saved){.needs_grad = x->needs_grad};
    int status = swap_to(run, x, &s->x, err);
    if (status == 0)
        status = dp_run_tensor(run, x->slot, DP_F32, 3, wide, &s->gates, err);
    if (status == 0)
        status = dp_run_tensor(run, x->slot, DP_F32, 3, dim, &s->h, err);
    if (status == 0 && l->gates == 4)
        status = dp_run_tensor(run, x->slot, DP_F32, 3, dim, &s->c, err);
    return status;
}

static int recurrent_forward(struct dp_module *module, struct dp_run *run,
                             const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                             int *n_out, struct dp_error *err)
{
    const struct recurrent *l = dp_module_self(module);
    struct saved s;
    struct dp_tensor y;
    int status = rnn_check(l, run, in, n_in, err);
    if (status == 0)
        status = open_saved(l, run, &in[0], &s, err);
    if (status == 0) {
        struct dp_queue *queue = &s.x.slot->compute;
        const size_t steps = s.x.dim[0], rows = s.x.dim[1], width = l->gates * l->hidden;
        status = times_weight(queue, s.x.data, dp_run_value(run, l->weight_x)->data, s.gates.data,
                              (const size_t[]){steps * rows, width, l->features}, false, err);
        for (size_t t = 0; status == 0 && t < steps; ++t) {
            if (t > 0)
                status = times_weight(
                    queue, rnn_step_of(&s.h, t - 1), dp_run_value(run, l->weight_h)->data,
                    rnn_step_of(&s.gates, t), (const size_t[]){rows, width, l->hidden}, true, err);
            if (status == 0)
                status =
                    l->gates == 4 ? lstm_step(l, run, &s, t, err) : rnn_step(l, run, &s, t, err);
        }
    }
    if (status)
        return status;
    if (l->last) {
        y = s.h;
        y.ndim = 2;
        y.dim[0] = s.h.dim[1];
        y.dim[1] = l->hidden;
        y.data = rnn_step_of(&s.h, s.h.dim[0] - 1);
    } else {
        status = swap_to(run, &s.h, &y, err);
    }
    if (status)
        return status;
    y.needs_grad = run->grad && (in[0].needs_grad || rnn_is_trained(l));
    return dp_layer_output(module, run, &y, &s, sizeof s, out, n_out, err);
}

/* The gradients of the states during the backward: of h at each step, and of c between steps. */
struct back {
    struct dp_tensor dy; /* [T, N, H]; [N, H] if only the last step is an output */
    void *dh, *dc;       /* [N, H] */
};

/* Computes the gradients of the sums of step t from dh, and writes them over its gates. */
static int step_back(const struct recurrent *l, const struct saved *s, const struct back *b,
                     size_t t, const float *dh, struct dp_error *err)
{
    struct dp_queue *queue = &s->x.slot->compute;
    const size_t rows = s->x.dim[1];
    if (l->gates == 1) {
        const struct dp_activation_grad args = {rnn_step_of(&s->gates, t), dh,
                                                rnn_step_of(&s->h, t), rows * l->hidden};
        return dp_launch(queue, DP_KERNEL_TANH_GRAD, &args, sizeof args, err);
    }
    const struct dp_lstm_args args = {.gates = rnn_step_of(&s->gates, t),
                                      .c_before = t > 0 ? rnn_step_of(&s->c, t - 1) : NULL,
                                      .c = rnn_step_of(&s->c, t),
                                      .dh = dh,
                                      .dc = b->dc,
                                      .rows = rows,
                                      .hidden = l->hidden,
                                      .last = t + 1 == s->x.dim[0]};
    return dp_launch(queue, DP_KERNEL_LSTM_GRAD, &args, sizeof args, err);
}

static int steps_back(const struct recurrent *l, struct dp_run *run, const struct saved *s,
                      const struct back *b, struct dp_error *err)
{
    const size_t steps = s->x.dim[0], rows = s->x.dim[1];
    int status = 0;
    for (size_t t = steps; status == 0 && t-- > 0;) {
        const bool end = t + 1 == steps;
        float *dh = l->last ? (end ? b->dy.data : b->dh) : rnn_step_of(&b->dy, t);
        if (!end) {
            const struct dp_gemm gemm = {.accumulate = !l->last,
                                         .m = rows,
                                         .n = l->hidden,
                                         .k = l->gates * l->hidden,
                                         .a = rnn_step_of(&s->gates, t + 1),
                                         .b = dp_run_value(run, l->weight_h)->data,
                                         .c = dh};
            status = dp_launch(&s->x.slot->compute, DP_KERNEL_GEMM, &gemm, sizeof gemm, err);
        }
        if (status == 0)
            status = step_back(l, s, b, t, dh, err);
    }
    return status;
}

/* grad (+)= sums^T inputs, over rows. */
static int rnn_weight_grad(const struct recurrent *l, struct dp_run *run, struct dp_param *weight,
                           const float *sums, const struct dp_tensor *inputs, size_t rows,
                           struct dp_error *err)
{
    struct dp_tensor grad;
    bool accumulate;
    if (weight->frozen)
        return 0;
    dp_run_grad(run, weight, &grad, &accumulate);
    const struct dp_gemm gemm = {.transpose_a = true,
                                 .accumulate = accumulate,
                                 .m = l->gates * l->hidden,
                                 .n = inputs->dim[2],
                                 .k = rows,
                                 .a = sums,
                                 .b = inputs->data,
                                 .c = grad.data};
    return dp_launch(&inputs->slot->compute, DP_KERNEL_GEMM, &gemm, sizeof gemm, err);
}

/* Both biases have the same gradient, which is summed once. */
static int bias_grads(const struct recurrent *l, struct dp_run *run, const struct saved *s,
                      struct dp_error *err)
{
    struct dp_param *const bias[] = {l->bias_x, l->bias_h};
    struct dp_queue *queue = &s->x.slot->compute;
    const size_t width = l->gates * l->hidden;
    void *sum;
    int status = dp_run_memory(run, s->x.slot, width * sizeof(float), &sum, err);
    if (status)
        return status;
    const struct dp_sum_rows rows = {sum, s->gates.data, s->x.dim[0] * s->x.dim[1], width, false};
    status = dp_launch(queue, DP_KERNEL_SUM_ROWS, &rows, sizeof rows, err);
    for (int i = 0; status == 0 && i < 2; ++i) {
        struct dp_tensor grad;
        struct dp_reduce_args add = {.dtype = DP_F32, .n_src = 1, .n = width, .src = {sum}};
        if (bias[i]->frozen)
            continue;
        dp_run_grad(run, bias[i], &grad, &add.accumulate);
        add.dst = grad.data;
        status = dp_launch(queue, DP_KERNEL_REDUCE, &add, sizeof add, err);
    }
    return status;
}

static int rnn_input_grad(const struct recurrent *l, struct dp_run *run, const struct saved *s,
                          struct dp_tensor *dx, struct dp_error *err)
{
    struct dp_tensor by_time;
    int status = dp_run_tensor(run, s->x.slot, DP_F32, 3, s->x.dim, &by_time, err);
    if (status)
        return status;
    const struct dp_gemm gemm = {.m = s->x.dim[0] * s->x.dim[1],
                                 .n = l->features,
                                 .k = l->gates * l->hidden,
                                 .a = s->gates.data,
                                 .b = dp_run_value(run, l->weight_x)->data,
                                 .c = by_time.data};
    status = dp_launch(&s->x.slot->compute, DP_KERNEL_GEMM, &gemm, sizeof gemm, err);
    return status ? status : swap_to(run, &by_time, dx, err);
}

static int open_back(const struct recurrent *l, struct dp_run *run, const struct saved *s,
                     const struct dp_tensor *dy, struct back *b, struct dp_error *err)
{
    const size_t bytes = s->x.dim[1] * l->hidden * sizeof(float);
    int status = 0;
    *b = (struct back){.dy = *dy};
    if (!l->last)
        status = swap_to(run, dy, &b->dy, err);
    if (status == 0 && l->last)
        status = dp_run_memory(run, s->x.slot, bytes, &b->dh, err);
    if (status == 0 && l->gates == 4)
        status = dp_run_memory(run, s->x.slot, bytes, &b->dc, err);
    return status;
}

static int recurrent_backward(struct dp_module *module, struct dp_run *run,
                              const struct dp_tensor grad_out[], int n_out,
                              struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    const struct recurrent *l = dp_module_self(module);
    struct saved s;
    struct back b;
    (void)n_out, (void)n_in;
    int status = dp_run_restore(run, module, &s, sizeof s, err);
    if (status || !grad_out[0].slot || !(s.needs_grad || rnn_is_trained(l)))
        return status;
    status = open_back(l, run, &s, &grad_out[0], &b, err);
    if (status == 0)
        status = steps_back(l, run, &s, &b, err);
    const size_t steps = s.x.dim[0], rows = s.x.dim[1];
    if (status == 0)
        status = rnn_weight_grad(l, run, l->weight_x, s.gates.data, &s.x, steps * rows, err);
    if (status == 0)
        status = rnn_weight_grad(l, run, l->weight_h, rnn_step_of(&s.gates, 1), &s.h,
                                 (steps - 1) * rows, err);
    if (status == 0)
        status = bias_grads(l, run, &s, err);
    if (status == 0 && s.needs_grad)
        status = rnn_input_grad(l, run, &s, &grad_in[0], err);
    return status;
}

static const struct dp_module_ops rnn_ops = {"rnn", recurrent_forward, recurrent_backward, free};
static const struct dp_module_ops lstm_ops = {"lstm", recurrent_forward, recurrent_backward, free};

static int rnn_add_params(struct dp_module *m, void *self, struct dp_error *err)
{
    struct recurrent *l = self;
    const size_t width = l->gates * l->hidden;
    const size_t x[] = {width, l->features}, h[] = {width, l->hidden};
    int status = dp_module_add_param(m, "weight_ih_l0", DP_F32, 2, x, &l->weight_x, err);
    if (status == 0)
        status = dp_module_add_param(m, "weight_hh_l0", DP_F32, 2, h, &l->weight_h, err);
    if (status == 0)
        status = dp_module_add_param(m, "bias_ih_l0", DP_F32, 1, &width, &l->bias_x, err);
    if (status == 0)
        status = dp_module_add_param(m, "bias_hh_l0", DP_F32, 1, &width, &l->bias_h, err);
    if (status)
        return status;
    struct dp_param *const all[] = {l->weight_x, l->weight_h, l->bias_x, l->bias_h};
    for (int i = 0; i < 4; ++i)
        all[i]->init_bound = 1.0f / sqrtf((float)l->hidden);
    return 0;
}

static int open_layer(struct dp_group *group, const struct dp_module_ops *ops,
                      const struct recurrent *l, struct dp_module **module, struct dp_error *err)
{
    size_t width;
    if (l->features < 1 || l->hidden < 1 || !dp_multiply(l->gates, l->hidden, &width))
        return dp_fail(err, DP_EINVAL,
                       "%s(%zu, %zu): at least 1 feature and 1 hidden unit, at most what memory "
                       "has addresses for",
                       l->kind, l->features, l->hidden);
    return dp_layer_open(group, ops, l, sizeof *l, rnn_add_params, module, err);
}

int dp_rnn(struct dp_group *group, size_t features, size_t hidden, bool last,
           struct dp_module **module, struct dp_error *err)
{
    const struct recurrent l = {
        .kind = "rnn", .features = features, .hidden = hidden, .gates = 1, .last = last};
    return open_layer(group, &rnn_ops, &l, module, err);
}

int dp_lstm(struct dp_group *group, size_t features, size_t hidden, bool last,
            struct dp_module **module, struct dp_error *err)
{
    const struct recurrent l = {
        .kind = "lstm", .features = features, .hidden = hidden, .gates = 4, .last = last};
    return open_layer(group, &lstm_ops, &l, module, err);
}
