/* soak/ranks.c: the devices as ranks that all have the same rows, which stay there; and mode dp: a
 * model in DataParallel, and a batch that has the same rows once for each device. */
#include <stdlib.h>
#include <string.h>

#include "measure/pair.h"
#include "soak/soak.h"

/* ---- mode dp --------------------------------------------------------------------------------- */

static int open_wrapped(struct soak_ranks *s, const struct workload *w, struct dp_error *err)
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
static int load_all(struct soak_ranks *s, size_t rows, size_t width, const float values[],
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

    if ((status = open_wrapped(ranks, &options->workload, err)) ||
        (status = soak_ranks_list(ranks, answer, err)))
        return status;
    for (int r = 0; r < ranks->n; ++r)
        factor[r] = 1;
    status = load_all(ranks, answer->rows, options->workload.size[0], answer->input, factor,
                      &all->input, err);
    for (unsigned odd = 0; status == 0 && odd < 2; ++odd) {
        for (int r = 0; r < ranks->n; ++r)
            factor[r] = soak_factor(r, odd);
        status = load_all(ranks, answer->rows, answer->width, answer->upstream, factor,
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

/* ---- opening ----------------------------------------------------------------------------- */

/* A bucket for each parameter: as much goes on at a time as can. */
static int open_ddp(struct soak_ranks *s, struct dp_slot *const slots[], struct dp_error *err)
{
    const struct dp_ddp_config config = {.first_bucket_bytes = s->overlap,
                                         .bucket_bytes = s->overlap};
    const int status = dp_ddp_open(s->top, slots, s->n, &config, &s->ddp, err);

    if (status || !s->overlap || dp_ddp_overlaps(s->ddp))
        return status;
    return dp_fail(err, DP_ENOTSUP,
                   "nothing to overlap: one device, or a communicator that reduces after backward");
}

static int open_modules(struct soak_ranks *s, const struct workload *w, struct dp_error *err)
{
    struct dp_slot *slots[DP_MAX_SLOTS];
    int status;

    for (int r = 0; r < s->n; ++r)
        slots[r] = dp_group_slot(s->group, r);
    if ((status = workload_open(w, s->group, &s->model, err)) ||
        (status = dp_module_to(s->model, slots[0], err)) ||
        (status = dp_loss(s->group, DP_LOSS_SUM, 1, false, &s->loss, err)) ||
        (status = pair_open(s->group, s->model, s->loss, &s->pair, err)) ||
        (status = soak_meter_open(s->group, s->pair, &s->meters, &s->top, err)))
        return status;
    return open_ddp(s, slots, err);
}

/* Nothing is learned in buffers. */
int soak_ranks_list(struct soak_ranks *s, const struct soak_answer *answer, struct dp_error *err)
{
    struct dp_param *list[2 * SOAK_PARAMS];
    const int n = dp_module_params(s->model, list, 2 * SOAK_PARAMS);
    int status;

    if (n < 0)
        return dp_fail(err, n, "no memory for a list of the parameters");
    if (n > 2 * SOAK_PARAMS)
        return dp_fail(err, DP_EINVAL, "%d parameters and buffers, at most %d", n, 2 * SOAK_PARAMS);
    for (int p = 0; p < n; ++p) {
        const int to = s->n_params;

        if (list[p]->buffer)
            continue;
        if (to == answer->n_params || dp_tensor_count(&list[p]->value) != answer->count[to])
            return dp_fail(err, DP_ESHAPE, "parameter %d is not what the known answer has", to);
        s->at[to] = p;
        s->param[to] = list[p];
        if ((status = dp_module_param_name(s->model, p, s->name[to], sizeof s->name[to])))
            return dp_fail(err, status,
                           status == DP_ENOMEM ? "no memory for the name of parameter %d"
                                               : "parameter %d has no name",
                           to);
        s->n_params = to + 1;
    }
    return s->n_params == answer->n_params
               ? 0
               : dp_fail(err, DP_ESHAPE, "%d parameters, the known answer has %d", s->n_params,
                         answer->n_params);
}

static int load(struct dp_slot *slot, size_t rows, size_t width, const float values[],
                struct dp_tensor *tensor, struct dp_error *err)
{
    const int status = dp_tensor_alloc(slot, DP_F32, 2, (size_t[]){rows, width}, tensor, err);

    return status ? status : dp_tensor_write(tensor, values, err);
}

int soak_ranks_open(struct soak_ranks *ranks, struct dp_group *group,
                    const struct soak_options *options, const struct soak_answer *answer,
                    struct dp_error *err)
{
    int status;

    memset(ranks, 0, sizeof *ranks);
    ranks->group = group;
    ranks->n = dp_group_size(group);
    ranks->overlap = options->mode == SOAK_OVERLAP;
    if (options->mode == SOAK_DP) {
        status = soak_wrapped_open(ranks, options, answer, err);
    } else if ((status = open_modules(ranks, &options->workload, err)) == 0) {
        status = soak_ranks_list(ranks, answer, err);
        for (int r = 0; status == 0 && r < ranks->n; ++r) {
            /* The factors of even iterations and of odd ones; scaled in place, and back, which is
             * exact. */
            struct dp_slot *slot = dp_group_slot(ranks->group, r);
            const size_t n = answer->rows * answer->width;
            status = load(slot, answer->rows, options->workload.size[0], answer->input,
                          &ranks->rank[r].input, err);

            for (unsigned odd = 0; status == 0 && odd < 2; ++odd) {
                const float factor = soak_factor(r, odd);

                for (size_t i = 0; i < n; ++i)
                    answer->upstream[i] *= factor;
                status = load(slot, answer->rows, answer->width, answer->upstream,
                              &ranks->rank[r].upstream[odd], err);
                for (size_t i = 0; i < n; ++i)
                    answer->upstream[i] /= factor;
            }
        }
    }
    dp_group_trace(group, &ranks->trace);
    return status ? status : soak_ranks_restore(ranks, answer, err);
}

void soak_ranks_close(struct soak_ranks *ranks)
{
    if (ranks->group)
        dp_group_trace(ranks->group, NULL);
    dp_ddp_close(ranks->ddp);
    dp_run_close(ranks->run);
    for (int r = 0; r < ranks->n; ++r) {
        dp_tensor_free(&ranks->rank[r].input);
        dp_tensor_free(&ranks->rank[r].upstream[0]);
        dp_tensor_free(&ranks->rank[r].upstream[1]);
    }
    dp_module_close(ranks->top);
    dp_module_close(ranks->pair);
    dp_module_close(ranks->loss);
    dp_module_close(ranks->model);
    memset(ranks, 0, sizeof *ranks);
}

int soak_ranks_restore(struct soak_ranks *ranks, const struct soak_answer *answer,
                       struct dp_error *err)
{
    int status = 0;

    for (int r = 0; r < (ranks->ddp ? ranks->n : 1); ++r)
        for (int p = 0; status == 0 && p < ranks->n_params; ++p) {
            struct dp_tensor value, grad;

            status = soak_ranks_param(ranks, r, p, &value, &grad, err);
            if (status == 0)
                status = dp_tensor_write(&value, answer->value[p], err);
        }
    return status;
}

/* A gradient that is none has no slot. */
int soak_ranks_param(const struct soak_ranks *ranks, int r, int p, struct dp_tensor *value,
                     struct dp_tensor *grad, struct dp_error *err)
{
    struct dp_ddp_param param = {.grad = {0}};
    bool has_grad = false;

    if (ranks->ddp) {
        const int status = dp_ddp_param(ranks->ddp, r, ranks->at[p], &param, err);

        if (status)
            return status;
        has_grad = *param.has_grad;
    } else {
        param.value = ranks->param[p]->value;
        param.grad = ranks->param[p]->grad;
        has_grad = ranks->param[p]->has_grad;
    }
    *value = param.value;
    *grad = has_grad ? param.grad : (struct dp_tensor){0};
    return 0;
}

/* ---- a step ------------------------------------------------------------------------------ */

/* Whether anything was overlapped is counted, and not believed: a bucket that is launched before
 * its rank's last one is complete overlaps some of the backward. */
static int count_buckets(struct soak_ranks *ranks, struct dp_error *err)
{
    const int n = dp_ddp_buckets(ranks->ddp);
    struct dp_ddp_bucket bucket;
    int status;

    for (int r = 0; r < ranks->n; ++r) {
        uint64_t last_ns = 0;

        for (int b = 0; b < n; ++b) {
            if ((status = dp_ddp_bucket(ranks->ddp, r, b, &bucket, err)))
                return status;
            last_ns = bucket.ready_ns > last_ns ? bucket.ready_ns : last_ns;
        }
        for (int b = 0; b < n; ++b) {
            if ((status = dp_ddp_bucket(ranks->ddp, r, b, &bucket, err)))
                return status;
            ++ranks->buckets;
            ranks->beside += bucket.launch_ns < last_ns;
        }
    }
    return 0;
}

int soak_ranks_step(struct soak_ranks *ranks, uint64_t iteration, struct dp_error *err)
{
    struct dp_tensor in[DP_MAX_SLOTS * 2], *out = ranks->out;
    int n_out = 0, status;

    if (!ranks->ddp)
        return soak_wrapped_step(ranks, iteration, err);
    for (int r = 0; r < ranks->n; ++r) {
        in[2 * r] = ranks->rank[r].input;
        in[2 * r + 1] = ranks->rank[r].upstream[iteration % 2];
    }
    memset(&ranks->trace, 0, sizeof ranks->trace);
    soak_meter_clear(&ranks->meters);
    dp_ddp_reset(ranks->ddp);
    dp_ddp_zero_grad(ranks->ddp);
    dp_ddp_no_sync(ranks->ddp, !ranks->overlap);
    dp_group_barrier(ranks->group);
    if ((status = dp_ddp_forward(ranks->ddp, in, 2, NULL, out, &n_out, err)) ||
        (status = dp_ddp_backward(ranks->ddp, NULL, 0, NULL, 0, err)) ||
        (status = dp_group_wait(ranks->group, err)))
        return status;
    for (int r = 0; r < ranks->n; ++r) {
        ranks->rank[r].loss = out[r * DP_MAX_IO];
        ranks->rank[r].output = out[r * DP_MAX_IO + 1];
    }
    if (ranks->overlap && (status = count_buckets(ranks, err)))
        return status;
    return dp_trace_read(ranks->group, err);
}

int soak_ranks_reduce(struct soak_ranks *ranks, struct dp_error *err)
{
    int status;

    if (ranks->overlap) /* that was done by the step */
        return 0;
    dp_ddp_no_sync(ranks->ddp, false);
    if ((status = dp_ddp_reduce(ranks->ddp, err)))
        return status;
    return dp_group_wait(ranks->group, err);
}

double soak_ranks_busy(const struct soak_ranks *ranks, int r)
{
    const uint64_t *ns = ranks->trace.replica[r].ns;

    return ranks->meters.of[r].cpu
               ? (double)ranks->meters.of[r].busy_ns
               : (double)(ns[DP_PHASE_FORWARD] + ns[DP_PHASE_LOSS] + ns[DP_PHASE_BACKWARD]);
}
