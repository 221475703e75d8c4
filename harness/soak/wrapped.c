/* soak/wrapped.c: mode dp: a model in DataParallel, and a batch that has the same rows once for
 * each device. */
#include "soak/soak.h"

#include <stdlib.h>
#include <string.h>

static int open_modules(struct soak_ranks *s, const struct workload *w, struct dp_error *err)
{
    const struct dp_parallel_config config = {0};
    int status;

    if ((status = workload_open(w, s->group, &s->model, err)) ||
        (status = dp_module_to(s->model, dp_group_slot(s->group, 0), err)) ||
        (status = dp_loss(s->group, DP_LOSS_SUM, 1, false, &s->loss, err)) ||
        (status = soak_meter_open(s->group, s->model, &s->meters, &s->pair, err)) ||
        (status = dp_parallel(s->pair, &config, &s->top, err)))
        return status;
    return dp_run_open(s->group, &s->run, err);
}

/* Rows of each device times what factor_of says of it. */
static int load(struct soak_ranks *s, size_t rows, size_t width, const float values[],
                const float factor[], struct dp_tensor *tensor, struct dp_error *err)
{
    const size_t each = rows * width, n = (size_t)s->n;
    float *all = each <= SIZE_MAX / sizeof *all / n ? malloc(n * each * sizeof *all) : NULL;
    int status;

    if (!all)
        return dp_fail(err, DP_ENOMEM, "no memory for %zu rows", n * rows);
    for (size_t r = 0; r < n; ++r)
        for (size_t i = 0; i < each; ++i)
            all[r * each + i] = values[i] * factor[r];
    status = dp_tensor_alloc(dp_group_slot(s->group, 0), DP_F32, 2, (size_t[]){n * rows, width},
                             tensor, err);
    if (status == 0)
        status = dp_tensor_write(tensor, all, err);
    free(all);
    return status;
}

int soak_wrapped_open(struct soak_ranks *ranks, const struct soak_options *options,
                      const struct soak_answer *answer, struct dp_error *err)
{
    struct soak_rank *all = &ranks->rank[0];
    float factor[DP_MAX_SLOTS];
    int status;

    if ((status = open_modules(ranks, &options->workload, err)) ||
        (status = soak_ranks_list(ranks, answer, err)))
        return status;
    for (int r = 0; r < ranks->n; ++r)
        factor[r] = 1;
    status = load(ranks, answer->rows, options->workload.size[0], answer->input, factor,
                  &all->input, err);
    for (unsigned odd = 0; status == 0 && odd < 2; ++odd) {
        for (int r = 0; r < ranks->n; ++r)
            factor[r] = soak_factor(r, odd);
        status = load(ranks, answer->rows, answer->width, answer->upstream, factor,
                      &all->upstream[odd], err);
    }
    return status;
}

int soak_wrapped_step(struct soak_ranks *ranks, uint64_t iteration, struct dp_error *err)
{
    struct soak_rank *all = &ranks->rank[0];
    struct dp_tensor out[DP_MAX_IO], loss[DP_MAX_IO], grad[DP_MAX_IO] = {{0}}, terms[2];
    int n = 0, status;

    memset(&ranks->trace, 0, sizeof ranks->trace);
    soak_meter_clear(&ranks->meters);
    dp_run_reset(ranks->run);
    dp_zero_grad(ranks->top);
    dp_group_barrier(ranks->group);
    if ((status = dp_forward(ranks->top, ranks->run, &all->input, 1, out, &n, err)))
        return status;
    all->output = terms[0] = out[0];
    terms[0].needs_grad = true;
    terms[1] = all->upstream[iteration % 2];
    if ((status = dp_forward(ranks->loss, ranks->run, terms, 2, loss, &n, err)) ||
        (status = dp_backward(ranks->loss, ranks->run, NULL, 0, grad, 2, err)) ||
        (status = dp_backward(ranks->top, ranks->run, grad, 1, NULL, 0, err)) ||
        (status = dp_group_wait(ranks->group, err)))
        return status;
    all->loss = loss[0];
    return dp_trace_read(ranks->group, err);
}
