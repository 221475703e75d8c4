/* attention.c: causal attention of several heads. The probabilities of all rows and heads are one
 * tensor, which the backward uses again. Products use that tensor, and the columns of the packed
 * input that belong to a head, so nothing is copied. */
#include "layer.h"

#include <math.h>
#include <stdlib.h>

struct attention {
    size_t heads;
    struct dp_draws draws;
};

struct saved {
    struct dp_tensor x;
    struct dp_tensor p, kept; /* probabilities; after dropout: without dropout the same as p */
    const uint64_t *key;      /* NULL: nothing was dropped */
};

static int attention_check(const struct attention *l, const struct dp_tensor in[], int n_in,
                           struct dp_error *err)
{
    char shape[DP_SHAPE_TEXT];
    const struct dp_tensor *x = &in[0];
    const int status = dp_check_inputs("attention", in, n_in, 1, 1, err);
    if (status)
        return status;
    if (x->dtype != DP_F32 || x->ndim != 3 || x->dim[2] == 0 || x->dim[2] % (3 * l->heads) != 0)
        return dp_fail(err, DP_ESHAPE,
                       "attention(%zu heads) got an input of shape %s: rows, steps, and a multiple "
                       "of 3 * %zu",
                       l->heads, dp_shape_text(x, shape), l->heads);
    return 0;
}

/* ---- products ----------------------------------------------------------------------------- */

/* One matrix for each row and head, with its place. */
struct operand {
    float *data;
    struct dp_heads at;
};

/* Part 0, 1 or 2 of a packed tensor [N, T, 3, heads, size]: q, k or v, each [T, size]. */
static struct operand attention_part_of(const struct attention *l, const struct dp_tensor *packed,
                                        size_t part)
{
    const size_t all = packed->dim[2], width = all / 3;
    float *data = packed->data;
    return (struct operand){data + part * width, {packed->dim[1] * all, width / l->heads, all}};
}

/* The matrices of a tensor [N, T, heads, size]. */
static struct operand attention_joined(const struct attention *l, const struct dp_tensor *y)
{
    const size_t width = y->dim[2];
    return (struct operand){y->data, {y->dim[1] * width, width / l->heads, width}};
}

/* The matrices of a tensor [N, heads, T, T]. */
static struct operand attention_squares(const struct dp_tensor *p)
{
    const size_t time = p->dim[3];
    return (struct operand){p->data, {p->dim[1] * time * time, time * time, time}};
}

enum { PLAIN, TRANSPOSED };

/* A matrix as stored, or its transpose. */
struct factor {
    struct operand operand;
    int transposed;
};

/* c = a b, a sum of k products. A [T, T] has zeros above the diagonal. Elements above the diagonal
 * of a product [T, T] are not used. */
static int attention_multiply(const struct dp_tensor *p, struct factor a, struct factor b,
                              struct operand c, size_t n, size_t k, enum dp_triangle triangle,
                              struct dp_error *err)
{
    const struct dp_gemm_heads args = {.transpose_a = a.transposed == TRANSPOSED,
                                       .transpose_b = b.transposed == TRANSPOSED,
                                       .triangle = triangle,
                                       .m = p->dim[3],
                                       .n = n,
                                       .k = k,
                                       .rows = p->dim[0],
                                       .heads = p->dim[1],
                                       .a = a.operand.data,
                                       .b = b.operand.data,
                                       .c = c.data,
                                       .at_a = a.operand.at,
                                       .at_b = b.operand.at,
                                       .at_c = c.at};
    if (dp_tensor_count(p) == 0)
        return 0;
    return dp_launch(&p->slot->compute, DP_KERNEL_GEMM_HEADS, &args, sizeof args, err);
}

static size_t attention_size_of(const struct attention *l, const struct dp_tensor *x)
{
    return x->dim[2] / 3 / l->heads;
}

/* p becomes its softmax. If there is d, it becomes the gradient of the input of the softmax. */
static int attention_softmax(const struct attention *l, const struct saved *s,
                             const struct dp_tensor *d, struct dp_error *err)
{
    const struct dp_causal_args args = {.p = s->p.data,
                                        .d = d ? d->data : NULL,
                                        .n = s->p.dim[0] * s->p.dim[1],
                                        .time = s->p.dim[3],
                                        .scale = 1.0 / sqrt((double)attention_size_of(l, &s->x))};
    return dp_launch(&s->p.slot->compute, d ? DP_KERNEL_CAUSAL_GRAD : DP_KERNEL_CAUSAL, &args,
                     sizeof args, err);
}

/* ---- forward ------------------------------------------------------------------------------ */

static int probabilities(const struct attention *l, struct dp_run *run, struct saved *s,
                         struct dp_error *err)
{
    const struct dp_tensor *x = &s->x;
    const size_t dim[] = {x->dim[0], l->heads, x->dim[1], x->dim[1]};
    int status = dp_run_tensor(run, x->slot, DP_F32, 4, dim, &s->p, err);
    if (status == 0)
        status = attention_multiply(&s->p, (struct factor){attention_part_of(l, x, 0), PLAIN},
                                    (struct factor){attention_part_of(l, x, 1), TRANSPOSED},
                                    attention_squares(&s->p), dim[3], attention_size_of(l, x),
                                    DP_TRIANGLE_C, err);
    if (status == 0)
        status = attention_softmax(l, s, NULL, err);
    s->kept = s->p;
    if (status || !run->train || !(l->draws.p > 0.0))
        return status;
    status = dp_run_tensor(run, x->slot, DP_F32, 4, dim, &s->kept, err);
    if (status == 0)
        status = dp_draws_key(&l->draws, run, x->slot, &s->key, err);
    return status ? status : dp_draws_drop(&l->draws, s->key, &s->p, &s->kept, err);
}

static int attention_forward(struct dp_module *module, struct dp_run *run,
                             const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                             int *n_out, struct dp_error *err)
{
    const struct attention *l = dp_module_self(module);
    struct saved s = {.key = NULL};
    struct dp_tensor y;
    int status = attention_check(l, in, n_in, err);
    if (status)
        return status;
    s.x = in[0];
    const size_t dim[] = {in[0].dim[0], in[0].dim[1], in[0].dim[2] / 3};
    status = dp_run_tensor(run, in[0].slot, DP_F32, 3, dim, &y, err);
    if (status == 0)
        status = probabilities(l, run, &s, err);
    if (status == 0)
        status = attention_multiply(&s.p, (struct factor){attention_squares(&s.kept), PLAIN},
                                    (struct factor){attention_part_of(l, &s.x, 2), PLAIN},
                                    attention_joined(l, &y), attention_size_of(l, &s.x), dim[1],
                                    DP_TRIANGLE_A, err);
    if (status)
        return status;
    y.needs_grad = run->grad && in[0].needs_grad;
    return dp_layer_output(module, run, &y, &s, sizeof s, out, n_out, err);
}

/* ---- backward ----------------------------------------------------------------------------- */

static int attention_input_grad(const struct attention *l, struct dp_run *run,
                                const struct saved *s, const struct dp_tensor *dy,
                                struct dp_tensor *dx, struct dp_error *err)
{
    const struct dp_tensor *x = &s->x;
    const size_t size = attention_size_of(l, x), time = x->dim[1];
    struct dp_tensor d;
    int status = dp_run_tensor(run, x->slot, DP_F32, 3, x->dim, dx, err);
    if (status == 0)
        status = attention_multiply(&s->p, (struct factor){attention_squares(&s->kept), TRANSPOSED},
                                    (struct factor){attention_joined(l, dy), PLAIN},
                                    attention_part_of(l, dx, 2), size, time, DP_TRIANGLE_A, err);
    if (status == 0) {
        /* Computes the gradient of the scores from that of the output. */
        status = dp_run_tensor(run, s->x.slot, DP_F32, 4, s->p.dim, &d, err);
        if (status == 0)
            status = attention_multiply(&s->p, (struct factor){attention_joined(l, dy), PLAIN},
                                        (struct factor){attention_part_of(l, &s->x, 2), TRANSPOSED},
                                        attention_squares(&d), s->p.dim[3],
                                        attention_size_of(l, &s->x), DP_TRIANGLE_C, err);
        if (status == 0 && s->key)
            status = dp_draws_drop(&l->draws, s->key, &d, &d, err);
        if (status == 0)
            status = attention_softmax(l, s, &d, err);
    }
    if (status == 0)
        status = attention_multiply(&s->p, (struct factor){attention_squares(&d), PLAIN},
                                    (struct factor){attention_part_of(l, x, 1), PLAIN},
                                    attention_part_of(l, dx, 0), size, time, DP_TRIANGLE_A, err);
    if (status == 0)
        status = attention_multiply(&s->p, (struct factor){attention_squares(&d), TRANSPOSED},
                                    (struct factor){attention_part_of(l, x, 0), PLAIN},
                                    attention_part_of(l, dx, 1), size, time, DP_TRIANGLE_A, err);
    return status;
}

static int attention_backward(struct dp_module *module, struct dp_run *run,
                              const struct dp_tensor grad_out[], int n_out,
                              struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    const struct attention *l = dp_module_self(module);
    struct saved s;
    (void)n_out, (void)n_in;
    const int status = dp_run_restore(run, module, &s, sizeof s, err);
    if (status || !grad_out[0].slot || !s.x.needs_grad)
        return status;
    return attention_input_grad(l, run, &s, &grad_out[0], &grad_in[0], err);
}

static const struct dp_module_ops attention_ops = {"attention", attention_forward,
                                                   attention_backward, free};

int dp_attention(struct dp_group *group, size_t heads, double p, uint64_t seed,
                 struct dp_module **module, struct dp_error *err)
{
    const struct attention l = {heads, {p, seed}};
    if (heads < 1 || heads > SIZE_MAX / 3 || !(p >= 0.0 && p <= 1.0))
        return dp_fail(err, DP_EINVAL,
                       "attention(%zu heads, dropout of %g): at least 1 head, dropout 0 to 1",
                       heads, p);
    return dp_layer_open(group, &attention_ops, &l, sizeof l, NULL, module, err);
}
