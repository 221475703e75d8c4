/* train/ranks.c: steps of DistributedDataParallel, as a user's program makes them: the model and
 * its loss on every rank. */
#include "train/ranks.h"

#include <string.h>

#include "measure/pair.h"

int train_ranks_open(struct train_ranks *ranks, struct dp_group *group, struct dp_module *model,
                     struct dp_module *loss, struct dp_error *err)
{
    const struct dp_ddp_config config = {0};
    struct dp_slot *slots[DP_MAX_SLOTS];
    int status;

    ranks->n = dp_group_size(group);
    for (int r = 0; r < ranks->n; ++r)
        slots[r] = dp_group_slot(group, r);
    if ((status = pair_open(group, model, loss, &ranks->pair, err)))
        return status;
    return dp_ddp_open(ranks->pair, slots, ranks->n, &config, &ranks->ddp, err);
}

void train_ranks_close(struct train_ranks *ranks)
{
    dp_ddp_close(ranks->ddp);
    dp_module_close(ranks->pair);
    *ranks = (struct train_ranks){.n = 0};
}

int train_ranks_spread(struct train_ranks *ranks, struct dp_error *err)
{
    const int n = dp_module_params(ranks->pair, NULL, 0);
    struct dp_ddp_param from, to;
    int status;

    if (n < 0)
        return dp_fail(err, n, "no memory for a list of the ranks' parameters");
    for (int p = 0; p < n; ++p)
        for (int r = 1; r < ranks->n; ++r)
            if ((status = dp_ddp_param(ranks->ddp, 0, p, &from, err)) ||
                (status = dp_ddp_param(ranks->ddp, r, p, &to, err)) ||
                (status = dp_tensor_copy(&to.value, &from.value, err)))
                return status;
    return 0;
}

void train_ranks_deal(const struct train_ranks *ranks, size_t rows, size_t bytes, const void *from,
                      void *to)
{
    const size_t n = (size_t)ranks->n;
    char *next = to;

    for (size_t r = 0; r < n; ++r)
        for (size_t i = r; i < rows; i += n) {
            memcpy(next, (const char *)from + i * bytes, bytes);
            next += bytes;
        }
}

static int cut(const struct train_ranks *ranks, const struct dp_tensor *input,
               const struct dp_tensor *target, struct dp_tensor in[], struct dp_error *err)
{
    const size_t rows = input->dim[0] / (size_t)ranks->n;
    int status;

    if (rows == 0 || rows * (size_t)ranks->n != input->dim[0])
        return dp_fail(err, DP_EINVAL, "%zu rows are not as many for each of %d ranks",
                       input->dim[0], ranks->n);
    for (int r = 0; r < ranks->n; ++r)
        if ((status = dp_tensor_rows(input, (size_t)r * rows, rows, &in[2 * r], err)) ||
            (status = dp_tensor_rows(target, (size_t)r * rows, rows, &in[2 * r + 1], err)))
            return status;
    return 0;
}

int train_ranks_pass(struct train_ranks *ranks, const struct dp_tensor *input,
                     const struct dp_tensor *target, float *loss, struct dp_tensor output[],
                     struct dp_error *err)
{
    struct dp_tensor in[2 * DP_MAX_SLOTS], out[DP_MAX_SLOTS * DP_MAX_IO];
    double sum = 0;
    int n = 0, status;

    dp_ddp_reset(ranks->ddp);
    dp_ddp_zero_grad(ranks->ddp);
    if ((status = cut(ranks, input, target, in, err)) ||
        (status = dp_ddp_forward(ranks->ddp, in, 2, NULL, out, &n, err)) ||
        (status = dp_ddp_backward(ranks->ddp, NULL, 0, NULL, 0, err)))
        return status;
    for (int r = 0; r < ranks->n; ++r) {
        float own = 0;

        if ((status = dp_tensor_read(&own, &out[r * DP_MAX_IO], err)))
            return status;
        sum += (double)own;
        if (output)
            output[r] = out[r * DP_MAX_IO + 1];
    }
    *loss = (float)(sum / ranks->n);
    return 0;
}
