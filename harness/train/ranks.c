/* train/ranks.c: steps of DistributedDataParallel, as the program of a user runs them: the model
 * and its loss on every rank. */
#include "train/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "dp_mpi.h"
#include "measure/pair.h"

int train_ranks_open(struct train_ranks *ranks, struct dp_group *group, struct dp_module *model,
                     struct dp_module *loss, struct dp_mpi *mpi, struct dp_error *err)
{
    const struct dp_ddp_config config = {0};
    struct dp_slot *slots[DP_MAX_SLOTS];
    int status;

    ranks->n = dp_group_size(group);
    ranks->first = dp_group_first(group);
    ranks->world = dp_group_world(group);
    ranks->mpi = mpi;
    ranks->own = calloc((size_t)ranks->world + 1, sizeof *ranks->own);
    ranks->out = calloc((size_t)ranks->n * DP_MAX_IO, sizeof *ranks->out);
    if (!ranks->own || !ranks->out)
        return dp_fail(err, DP_ENOMEM, "no memory for the losses of %d ranks", ranks->world);
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
    free(ranks->own);
    free(ranks->out);
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

size_t train_ranks_deal(const struct train_ranks *ranks, size_t rows, size_t bytes,
                        const void *from, void *to)
{
    const size_t first = (size_t)ranks->first, n = (size_t)ranks->n;
    char *next = to;
    size_t dealt = 0;

    for (size_t r = first; r < first + n; ++r)
        for (size_t i = r; i < rows; i += (size_t)ranks->world, ++dealt) {
            memcpy(next, (const char *)from + i * bytes, bytes);
            next += bytes;
        }
    return dealt;
}

/* The losses are added in the order of ranks, whichever process these are in. */
int train_ranks_mean(struct train_ranks *ranks, const struct train_said here[], float *loss,
                     uint64_t *arrived, struct dp_error *err)
{
    const size_t bytes = (size_t)ranks->n * sizeof *here;
    double sum = 0;
    int status = 0;

    if (ranks->mpi)
        status = dp_mpi_exchange(ranks->mpi, here, bytes, ranks->own, err);
    else
        memcpy(ranks->own, here, bytes);
    *arrived = 0;
    for (int r = 0; status == 0 && r < ranks->world; ++r) {
        sum += ranks->own[r].loss;
        *arrived += ranks->own[r].arrived;
    }
    *loss = (float)(sum / ranks->world);
    return status;
}

int train_ranks_pass(struct train_ranks *ranks, const struct dp_tensor *input,
                     const struct dp_tensor *target, struct train_said messages[],
                     struct dp_tensor output[], struct dp_error *err)
{
    const size_t rows = input->dim[0] / (size_t)ranks->n;
    struct dp_tensor in[2 * DP_MAX_SLOTS], *out = ranks->out;
    float loss;
    int n = 0, status;

    dp_ddp_reset(ranks->ddp);
    if (rows == 0 || rows * (size_t)ranks->n != input->dim[0])
        return dp_fail(err, DP_EINVAL, "%zu rows are not as many for each of %d ranks",
                       input->dim[0], ranks->n);
    for (int r = 0; r < ranks->n; ++r)
        if ((status = dp_tensor_rows(input, (size_t)r * rows, rows, &in[2 * r], err)) ||
            (status = dp_tensor_rows(target, (size_t)r * rows, rows, &in[2 * r + 1], err)))
            return status;
    if ((status = dp_ddp_forward(ranks->ddp, in, 2, NULL, out, &n, err)) ||
        (status = dp_ddp_backward(ranks->ddp, NULL, 0, NULL, 0, err)))
        return status;
    for (int r = 0; r < ranks->n; ++r) {
        if ((status = dp_tensor_read(&loss, &out[r * DP_MAX_IO], err)))
            return status;
        messages[r] = (struct train_said){.loss = (double)loss};
        if (output)
            output[r] = out[r * DP_MAX_IO + 1];
    }
    return 0;
}
