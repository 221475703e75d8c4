/* capsule.c: a layer of capsules. Votes are a matrix product for each input capsule; the routing is
 * one kernel. */
#include "layer.h"

#include <stdlib.h>

struct capsule {
    size_t in, out, d_in, d_out;
    int rounds;
    struct dp_param *weight;
};

struct saved {
    struct dp_tensor x, by_capsule; /* [N, in, d_in], [in, N, d_in] */
    void *votes, *logits, *s;
};

static int capsule_check(const struct capsule *l, struct dp_run *run, const struct dp_tensor in[],
                         int n_in, struct dp_error *err)
{
    char shape[DP_SHAPE_TEXT];
    const struct dp_tensor *x = &in[0];
    const int status = dp_check_inputs("capsule", in, n_in, 1, 1, err);
    if (status)
        return status;
    if (x->dtype != DP_F32 || x->ndim != 3 || x->dim[1] != l->in || x->dim[2] != l->d_in)
        return dp_fail(err, DP_ESHAPE, "capsules of (%zu, %zu) got an input of shape %s", l->in,
                       l->d_in, dp_shape_text(x, shape));
    return dp_same_slot("the input", x, "the weight", dp_run_value(run, l->weight), err);
}

static int swap_outer(struct dp_queue *queue, const void *from, void *to, size_t i, size_t j,
                      size_t block, struct dp_error *err)
{
    const struct dp_swap swap = {to, from, NULL, i, j, block};
    return dp_launch(queue, DP_KERNEL_SWAP, &swap, sizeof swap, err);
}

/* The operands of the product of a capsule. */
struct block {
    const float *x, *weight;
    float *votes;
};

static struct block block_at(const struct capsule *l, const void *x, const void *weight,
                             void *votes, size_t rows, size_t i)
{
    const size_t width = l->out * l->d_out;
    return (struct block){(const float *)x + i * rows * l->d_in,
                          (const float *)weight + i * width * l->d_in,
                          (float *)votes + i * rows * width};
}

/* Computes votes [N, in, out d_out] from x; both are reordered to [in, N, ...] in between. */
static int make_votes(const struct capsule *l, struct dp_run *run, const struct saved *s,
                      struct dp_error *err)
{
    struct dp_queue *queue = &s->x.slot->compute;
    const size_t rows = s->x.dim[0], width = l->out * l->d_out;
    void *by_capsule;
    int status =
        dp_run_memory(run, s->x.slot, rows * l->in * width * sizeof(float), &by_capsule, err);
    if (status == 0)
        status = swap_outer(queue, s->x.data, s->by_capsule.data, rows, l->in, l->d_in, err);
    for (size_t i = 0; status == 0 && i < l->in; ++i) {
        const struct block b = block_at(l, s->by_capsule.data, dp_run_value(run, l->weight)->data,
                                        by_capsule, rows, i);
        const struct dp_gemm gemm = {false,   true, false,    rows,   width,
                                     l->d_in, b.x,  b.weight, b.votes};
        status = dp_launch(queue, DP_KERNEL_GEMM, &gemm, sizeof gemm, err);
    }
    if (status == 0)
        status = swap_outer(queue, by_capsule, s->votes, l->in, rows, width, err);
    return status;
}

static struct dp_capsule_args capsule_arguments(const struct capsule *l, const struct saved *s)
{
    return (struct dp_capsule_args){.votes = s->votes,
                                    .logits = s->logits,
                                    .s = s->s,
                                    .n = s->x.dim[0],
                                    .in = l->in,
                                    .out = l->out,
                                    .width = l->d_out,
                                    .rounds = l->rounds};
}

static int capsule_forward(struct dp_module *module, struct dp_run *run,
                           const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                           int *n_out, struct dp_error *err)
{
    const struct capsule *l = dp_module_self(module);
    struct saved s;
    struct dp_tensor v;
    int status = capsule_check(l, run, in, n_in, err);
    if (status == 0) {
        const struct dp_tensor *x = &in[0];
        const size_t rows = x->dim[0], width = l->out * l->d_out;
        const size_t dim[] = {l->in, rows, l->d_in};
        s.x = *x;
        status = dp_run_tensor(run, x->slot, DP_F32, 3, dim, &s.by_capsule, err);
        if (status == 0)
            status =
                dp_run_memory(run, x->slot, rows * l->in * width * sizeof(float), &s.votes, err);
        if (status == 0)
            status =
                dp_run_memory(run, x->slot, rows * l->in * l->out * sizeof(float), &s.logits, err);
        if (status == 0)
            status = dp_run_memory(run, x->slot, rows * width * sizeof(float), &s.s, err);
    }
    if (status == 0)
        status = make_votes(l, run, &s, err);
    if (status == 0)
        status = dp_run_tensor(run, in[0].slot, DP_F32, 3,
                               (const size_t[]){in[0].dim[0], l->out, l->d_out}, &v, err);
    if (status)
        return status;
    struct dp_capsule_args args = capsule_arguments(l, &s);
    args.v = v.data;
    status = dp_launch(&v.slot->compute, DP_KERNEL_CAPSULE, &args, sizeof args, err);
    if (status)
        return status;
    v.needs_grad = run->grad && (in[0].needs_grad || !l->weight->frozen);
    return dp_layer_output(module, run, &v, &s, sizeof s, out, n_out, err);
}

/* dx[i] = dvotes[i] W[i], written over x. */
static int capsule_input_grad(const struct capsule *l, struct dp_run *run, const struct saved *s,
                              void *dvotes, struct dp_tensor *dx, struct dp_error *err)
{
    struct dp_queue *queue = &s->x.slot->compute;
    const size_t rows = s->x.dim[0], width = l->out * l->d_out;
    int status = dp_run_tensor(run, s->x.slot, DP_F32, 3, s->x.dim, dx, err);
    for (size_t i = 0; status == 0 && i < l->in; ++i) {
        const struct block b =
            block_at(l, s->by_capsule.data, dp_run_value(run, l->weight)->data, dvotes, rows, i);
        float *to = (float *)s->by_capsule.data + i * rows * l->d_in;
        const struct dp_gemm gemm = {false, false,   false,    rows, l->d_in,
                                     width, b.votes, b.weight, to};
        status = dp_launch(queue, DP_KERNEL_GEMM, &gemm, sizeof gemm, err);
    }
    if (status == 0)
        status = swap_outer(queue, s->by_capsule.data, dx->data, l->in, rows, l->d_in, err);
    return status;
}

static int capsule_backward(struct dp_module *module, struct dp_run *run,
                            const struct dp_tensor grad_out[], int n_out,
                            struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    const struct capsule *l = dp_module_self(module);
    struct saved s;
    void *dvotes;
    (void)n_out, (void)n_in;
    int status = dp_run_restore(run, module, &s, sizeof s, err);
    if (status || !grad_out[0].slot)
        return status;
    const size_t rows = s.x.dim[0], width = l->out * l->d_out;
    struct dp_capsule_args args = capsule_arguments(l, &s);
    args.dv = grad_out[0].data;
    status = dp_launch(&s.x.slot->compute, DP_KERNEL_CAPSULE_GRAD, &args, sizeof args, err);
    if (status == 0)
        status = dp_run_memory(run, s.x.slot, rows * l->in * width * sizeof(float), &dvotes, err);
    if (status == 0)
        status = swap_outer(&s.x.slot->compute, s.votes, dvotes, rows, l->in, width, err);
    if (status == 0 && !l->weight->frozen) {
        /* dW[i] (+)= dvotes[i]^T x[i]. */
        struct dp_tensor grad;
        bool accumulate;
        dp_run_grad(run, l->weight, &grad, &accumulate);
        for (size_t i = 0; status == 0 && i < l->in; ++i) {
            const struct block b = block_at(l, s.by_capsule.data, grad.data, dvotes, s.x.dim[0], i);
            const struct dp_gemm gemm = {.transpose_a = true,
                                         .accumulate = accumulate,
                                         .m = l->out * l->d_out,
                                         .n = l->d_in,
                                         .k = s.x.dim[0],
                                         .a = b.votes,
                                         .b = b.x,
                                         .c = (float *)grad.data + i * l->out * l->d_out * l->d_in};
            status = dp_launch(&s.x.slot->compute, DP_KERNEL_GEMM, &gemm, sizeof gemm, err);
        }
    }
    if (status == 0 && s.x.needs_grad)
        status = capsule_input_grad(l, run, &s, dvotes, &grad_in[0], err);
    return status;
}

static const struct dp_module_ops capsule_ops = {"capsule", capsule_forward, capsule_backward,
                                                 free};

static int capsule_add_params(struct dp_module *m, void *self, struct dp_error *err)
{
    struct capsule *l = self;
    const size_t dim[] = {l->in, l->out, l->d_out, l->d_in};
    const int status = dp_module_add_param(m, "weight", DP_F32, 4, dim, &l->weight, err);
    if (status == 0)
        l->weight->init_bound = 0.1f;
    return status;
}

int dp_capsule(struct dp_group *group, const struct dp_capsule_config *config,
               struct dp_module **module, struct dp_error *err)
{
    const struct capsule l = {config->in,    config->out,    config->d_in,
                              config->d_out, config->rounds, NULL};
    if (config->in < 1 || config->out < 1 || config->d_in < 1 || config->d_out < 1 ||
        config->rounds < 1 || config->rounds > 16)
        return dp_fail(err, DP_EINVAL,
                       "capsules of (%zu, %zu) to (%zu, %zu) in %d rounds: all at least 1, at most "
                       "16 rounds",
                       config->in, config->d_in, config->out, config->d_out, config->rounds);
    return dp_layer_open(group, &capsule_ops, &l, sizeof l, capsule_add_params, module, err);
}
