/* embedding.c: rows of a table, chosen by number. The table may be on the host. */
#include "layer.h"

#include <stdlib.h>

struct embedding {
    size_t rows, width;
    struct dp_param *weight;
};

static struct dp_lookup embedding_arguments(const struct embedding *e, void *table, void *y,
                                            const struct dp_tensor *index)
{
    return (struct dp_lookup){.table = table,
                              .y = y,
                              .index = index->data,
                              .n = dp_tensor_count(index),
                              .rows = e->rows,
                              .cols = e->width};
}

static int embedding_forward(struct dp_module *module, struct dp_run *run,
                             const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                             int *n_out, struct dp_error *err)
{
    const struct embedding *e = dp_module_self(module);
    const struct dp_tensor *index = &in[0], *table = dp_run_value(run, e->weight);
    size_t dim[DP_MAX_DIMS] = {0};
    char shape[DP_SHAPE_TEXT];
    struct dp_tensor y;
    int status = dp_check_inputs("embedding", in, n_in, 1, 1, err);
    if (status == 0 && (index->dtype != DP_I32 || index->ndim >= DP_MAX_DIMS))
        status = dp_fail(err, DP_ESHAPE,
                         "embedding(%zu, %zu) takes 32-bit integers of at most %d dimensions; got "
                         "an input of shape %s",
                         e->rows, e->width, DP_MAX_DIMS - 1, dp_shape_text(index, shape));
    if (status == 0)
        status = dp_same_slot("the input", index, "the table", table, err);
    if (status)
        return status;
    for (int d = 0; d < index->ndim; ++d)
        dim[d] = index->dim[d];
    dim[index->ndim] = e->width;
    status = dp_run_tensor(run, index->slot, DP_F32, index->ndim + 1, dim, &y, err);
    if (status)
        return status;
    const struct dp_lookup args = embedding_arguments(e, table->data, y.data, index);
    status = dp_launch(&index->slot->compute, DP_KERNEL_LOOKUP, &args, sizeof args, err);
    if (status)
        return status;
    y.needs_grad = run->grad && !e->weight->frozen;
    return dp_layer_output(module, run, &y, index, sizeof *index, out, n_out, err);
}

static int embedding_backward(struct dp_module *module, struct dp_run *run,
                              const struct dp_tensor grad_out[], int n_out,
                              struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    const struct embedding *e = dp_module_self(module);
    struct dp_tensor index, grad;
    (void)n_out, (void)grad_in, (void)n_in;
    const int status = dp_run_restore(run, module, &index, sizeof index, err);
    if (status || !grad_out[0].slot || e->weight->frozen)
        return status;
    bool accumulate;
    dp_run_grad(run, e->weight, &grad, &accumulate);
    struct dp_lookup args = embedding_arguments(e, grad.data, grad_out[0].data, &index);
    args.accumulate = accumulate;
    return dp_launch(&index.slot->compute, DP_KERNEL_LOOKUP_GRAD, &args, sizeof args, err);
}

static const struct dp_module_ops embedding_ops = {"embedding", embedding_forward,
                                                   embedding_backward, free};

static int embedding_add_params(struct dp_module *m, void *self, struct dp_error *err)
{
    struct embedding *e = self;
    const size_t dim[] = {e->rows, e->width};
    const int status = dp_module_add_param(m, "weight", DP_F32, 2, dim, &e->weight, err);
    if (status == 0)
        e->weight->init_bound = 1.0f;
    return status;
}

int dp_embedding(struct dp_group *group, size_t rows, size_t width, struct dp_module **module,
                 struct dp_error *err)
{
    const struct embedding e = {.rows = rows, .width = width};
    if (rows < 1 || width < 1 || rows > INT32_MAX)
        return dp_fail(err, DP_EINVAL, "embedding(%zu, %zu): 1 to %d rows of at least 1", rows,
                       width, INT32_MAX);
    return dp_layer_open(group, &embedding_ops, &e, sizeof e, embedding_add_params, module, err);
}
