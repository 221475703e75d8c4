/* linear.c: y = x W^T + b, with x [N, ..., D_in], W [D_out, D_in], b [D_out], y [N, ..., D_out].
 * All dimensions of x but the last are the rows of one matrix. */
#include "layer.h"

#include <stdlib.h>

struct linear {
    size_t d_in, d_out;
    bool has_bias;
    struct dp_param *weight, *bias; /* bias may be NULL */
};

static int linear_check(const struct linear *l, struct dp_run *run, const struct dp_tensor *x,
                        struct dp_error *err)
{
    char shape[DP_SHAPE_TEXT];
    if (x->dtype != DP_F32 || x->ndim < 2 || x->dim[x->ndim - 1] != l->d_in)
        return dp_fail(err, DP_ESHAPE, "linear(%zu, %zu) got an input of shape %s", l->d_in,
                       l->d_out, dp_shape_text(x, shape));
    return dp_same_slot("the input", x, "the weight", dp_run_value(run, l->weight), err);
}

/* An operand of a matrix product. It is rounded only if the math of the group does that. */
struct operand {
    const float *value;
    uint16_t *rounded;
};

/* The data that a forward saves. The backward uses the rounded operands again. */
struct saved {
    struct dp_tensor x;
    struct operand input;
    uint16_t *weight; /* rounded */
};

static bool rounds(const struct dp_run *run)
{
    return run->group->math == DP_MATH_BF16;
}

static int take_operand(struct dp_run *run, const struct dp_tensor *t, struct operand *operand,
                        struct dp_error *err)
{
    const size_t n = dp_tensor_count(t);
    void *memory = NULL;
    *operand = (struct operand){t->data, NULL};
    if (!rounds(run))
        return 0;
    const int status = dp_run_memory(run, t->slot, n * sizeof *operand->rounded, &memory, err);
    if (status)
        return status;
    operand->rounded = memory;
    const struct dp_round_bf16 args = {operand->rounded, operand->value, n};
    return dp_launch(&t->slot->compute, DP_KERNEL_ROUND_BF16, &args, sizeof args, err);
}

/* c (+)= op(a) op(b) with the sizes of dp_gemm, whose operands are ignored. */
static int linear_multiply(const struct dp_run *run, struct dp_slot *slot, const struct dp_gemm *g,
                           const struct operand *a, const struct operand *b, struct dp_error *err)
{
    const struct dp_gemm plain = {g->transpose_a, g->transpose_b, g->accumulate, g->m, g->n,
                                  g->k,           a->value,       b->value,      g->c};
    const struct dp_gemm_bf16 rounded = {g->transpose_a, g->transpose_b, g->accumulate, g->m, g->n,
                                         g->k,           a->rounded,     b->rounded,    g->c};
    return rounds(run)
               ? dp_launch(&slot->compute, DP_KERNEL_GEMM_BF16, &rounded, sizeof rounded, err)
               : dp_launch(&slot->compute, DP_KERNEL_GEMM, &plain, sizeof plain, err);
}

static size_t linear_rows_of(const struct linear *l, const struct dp_tensor *x)
{
    return dp_tensor_count(x) / l->d_in;
}

static int linear_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                          int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    const struct linear *l = dp_module_self(module);
    const struct dp_tensor *x = &in[0];
    int status = dp_check_inputs("linear", in, n_in, 1, 1, err);
    if (status == 0)
        status = linear_check(l, run, x, err);
    if (status)
        return status;
    struct dp_tensor y;
    struct saved saved = {.x = *x};
    struct operand weight;
    /* The output has the shape of x, with D_out instead of D_in. */
    size_t dim[DP_MAX_DIMS];
    for (int d = 0; d < x->ndim; ++d)
        dim[d] = d + 1 < x->ndim ? x->dim[d] : l->d_out;
    status = dp_run_tensor(run, x->slot, DP_F32, x->ndim, dim, &y, err);
    if (status == 0)
        status = take_operand(run, x, &saved.input, err);
    if (status == 0)
        status = take_operand(run, dp_run_value(run, l->weight), &weight, err);
    if (status)
        return status;
    y.needs_grad =
        run->grad && (x->needs_grad || !l->weight->frozen || (l->bias && !l->bias->frozen));
    const struct dp_gemm gemm = {
        .transpose_b = true, .m = linear_rows_of(l, x), .n = l->d_out, .k = l->d_in, .c = y.data};
    status = linear_multiply(run, x->slot, &gemm, &saved.input, &weight, err);
    if (status == 0 && l->bias) {
        const struct dp_add_bias add = {y.data, dp_run_value(run, l->bias)->data, gemm.m, l->d_out};
        status = dp_launch(&x->slot->compute, DP_KERNEL_ADD_BIAS, &add, sizeof add, err);
    }
    saved.weight = weight.rounded;
    return status ? status
                  : dp_layer_output(module, run, &y, &saved, sizeof saved, out, n_out, err);
}

static int linear_weight_grad(const struct linear *l, struct dp_run *run, const struct saved *saved,
                              const struct operand *dy, struct dp_error *err)
{
    struct dp_tensor grad;
    bool accumulate;
    dp_run_grad(run, l->weight, &grad, &accumulate);
    const struct dp_gemm gemm = {.transpose_a = true,
                                 .accumulate = accumulate,
                                 .m = l->d_out,
                                 .n = l->d_in,
                                 .k = linear_rows_of(l, &saved->x),
                                 .c = grad.data};
    return linear_multiply(run, saved->x.slot, &gemm, dy, &saved->input, err);
}

static int linear_input_grad(const struct linear *l, struct dp_run *run, const struct saved *saved,
                             const struct operand *dy, struct dp_tensor *dx, struct dp_error *err)
{
    const struct dp_tensor *x = &saved->x;
    const int status = dp_run_tensor(run, x->slot, DP_F32, x->ndim, x->dim, dx, err);
    if (status)
        return status;
    const struct dp_gemm gemm = {
        .m = linear_rows_of(l, x), .n = l->d_in, .k = l->d_out, .c = dx->data};
    const struct operand weight = {dp_run_value(run, l->weight)->data, saved->weight};
    return linear_multiply(run, x->slot, &gemm, dy, &weight, err);
}

static int linear_backward(struct dp_module *module, struct dp_run *run,
                           const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                           int n_in, struct dp_error *err)
{
    const struct linear *l = dp_module_self(module);
    struct saved saved;
    struct operand dy;
    (void)n_out, (void)n_in;
    int status = dp_run_restore(run, module, &saved, sizeof saved, err);
    if (status || !grad_out[0].slot)
        return status;
    status = take_operand(run, &grad_out[0], &dy, err);
    if (status == 0 && !l->weight->frozen)
        status = linear_weight_grad(l, run, &saved, &dy, err);
    if (status == 0 && l->bias && !l->bias->frozen) {
        struct dp_tensor grad;
        bool accumulate;
        dp_run_grad(run, l->bias, &grad, &accumulate);
        const size_t rows = dp_tensor_count(&grad_out[0]) / l->d_out;
        const struct dp_sum_rows sum = {grad.data, grad_out[0].data, rows, l->d_out, accumulate};
        status = dp_launch(&grad_out[0].slot->compute, DP_KERNEL_SUM_ROWS, &sum, sizeof sum, err);
    }
    if (status == 0 && saved.x.needs_grad)
        status = linear_input_grad(l, run, &saved, &dy, &grad_in[0], err);
    return status;
}

static const struct dp_module_ops linear_ops = {"linear", linear_forward, linear_backward, free};

static int linear_add_params(struct dp_module *m, void *self, struct dp_error *err)
{
    struct linear *l = self;
    const size_t dim[] = {l->d_out, l->d_in};
    int status = dp_module_add_param(m, "weight", DP_F32, 2, dim, &l->weight, err);
    if (status == 0 && l->has_bias)
        status = dp_module_add_param(m, "bias", DP_F32, 1, &l->d_out, &l->bias, err);
    return status;
}

static int tie_params(struct dp_module *m, void *self, struct dp_error *err)
{
    const struct linear *l = self;
    return dp_module_tie_param(m, l->weight, err);
}

int dp_linear_tied(struct dp_group *group, struct dp_param *weight, struct dp_module **module,
                   struct dp_error *err)
{
    const struct dp_tensor *w = &weight->value;
    char shape[DP_SHAPE_TEXT];
    if (w->slot->group != group)
        return dp_fail(err, DP_EINVAL, "linear with a weight of another group");
    if (w->dtype != DP_F32 || w->ndim != 2 || dp_tensor_count(w) == 0)
        return dp_fail(err, DP_ESHAPE, "linear with a weight of shape %s: a matrix of floats",
                       dp_shape_text(w, shape));
    const struct linear l = {.d_in = w->dim[1], .d_out = w->dim[0], .weight = weight};
    return dp_layer_open(group, &linear_ops, &l, sizeof l, tie_params, module, err);
}

int dp_linear(struct dp_group *group, size_t d_in, size_t d_out, bool bias,
              struct dp_module **module, struct dp_error *err)
{
    const struct linear l = {.d_in = d_in, .d_out = d_out, .has_bias = bias};
    if (d_in < 1 || d_out < 1)
        return dp_fail(err, DP_EINVAL, "linear(%zu, %zu): at least 1 feature", d_in, d_out);
    return dp_layer_open(group, &linear_ops, &l, sizeof l, linear_add_params, module, err);
}
