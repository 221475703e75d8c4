/* measure/ddp.c: the row ddp: steps of a workload in DistributedDataParallel. Every rank has
 * separate rows and a separate loss; the model that is wrapped ends in that loss.
 *
 * If the batch starts on the host, each step copies the rows of the ranks to their devices. One
 * dp_scatter does it for all ranks of this process, and its copies run in parallel: the phase
 * scatter. */
#include <stdlib.h>
#include <string.h>

#include "measure/session.h"

/* ---- opening --------------------------------------------------------------------------------- */

/* Opens the ranks. Each has the whole model. */
static int ddp_open(struct session *s, const struct cell_config *how, struct dp_error *err)
{
    const struct dp_ddp_config config = {.first_bucket_bytes = how->bucket_bytes,
                                         .bucket_bytes = how->bucket_bytes};
    struct dp_slot *slots[DP_MAX_SLOTS];
    int status;

    s->ranks = calloc((size_t)s->n_ranks, sizeof *s->ranks);
    if (!s->ranks)
        return dp_fail(err, DP_ENOMEM, "no memory for %d ranks", s->n_ranks);
    for (int r = 0; r < s->n_ranks; ++r)
        slots[r] = dp_group_slot(s->group, r);
    if ((status = workload_open(s->workload, s->group, &s->model, err)) ||
        (status = dp_module_to(s->model, slots[0], err)))
        return status;
    if (s->use.around && !s->use.inside) {
        status = pair_open(s->group, s->model, s->loss_module, &s->pair, err);
        if (status == 0)
            status = s->use.around(s->use.user, s->group, s->pair, &s->top, err);
    } else {
        status = session_observe(s, s->model, err);
        if (status == 0)
            status = pair_open(s->group, s->probed, s->loss_module, &s->top, err);
    }
    return status ? status : dp_ddp_open(s->top, slots, s->n_ranks, &config, &s->ddp, err);
}

/* ---- batches --------------------------------------------------------------------------------- */

/* The rows of all ranks before those of this process. */
static size_t first_row(const struct session *s)
{
    size_t rows = 0;

    for (int r = 0; r < dp_group_first(s->group); ++r)
        rows += session_rank_rows(s, r);
    return rows;
}

/* Loads one side of a batch: the rows of every local rank on its device; or all of them on the
 * host, where each step scatters them. */
static int load_side(struct session *s, const struct workload_set *set, enum workload_side side,
                     struct dp_error *err)
{
    const struct workload_row row = workload_row(s->workload, side);
    const int first = dp_group_first(s->group), k = set->index;
    unsigned char *values = session_side(s, set, side);
    const unsigned char *from;
    size_t all = 0;
    int status = 0;

    if (!values)
        return dp_fail(err, DP_ENOMEM, "no memory for %zu rows", s->rows);
    from = values + first_row(s) * row.width * sizeof(float); /* a number has 4 bytes */
    for (int r = 0; status == 0 && r < s->n_ranks; ++r) {
        const size_t rows = session_rank_rows(s, first + r);

        if (!s->host_inputs)
            status = session_open_rows(dp_group_slot(s->group, r), &row, rows,
                                       from + all * row.width * sizeof(float),
                                       &s->ranks[r].in[k][side], err);
        all += rows;
    }
    if (s->host_inputs)
        status = session_open_rows(dp_group_host(s->group), &row, all, from,
                                   side == WORKLOAD_INPUT ? &s->input[k] : &s->upstream[k], err);
    free(values);
    return status;
}

/* Loads the batch that a wrapper would get: the rows of every rank on its device, or all on the
 * host. */
static int ddp_load(struct session *s, const struct workload_set *set, struct dp_error *err)
{
    const int status = load_side(s, set, WORKLOAD_INPUT, err);

    return status ? status : load_side(s, set, WORKLOAD_TARGET, err);
}

static void ddp_unload(struct session *session, int k)
{
    dp_tensor_free(&session->input[k]);
    dp_tensor_free(&session->upstream[k]);
    for (int r = 0; session->ranks && r < session->n_ranks; ++r)
        for (int i = 0; i < 2; ++i)
            dp_tensor_free(&session->ranks[r].in[k][i]);
}

static void ddp_close(struct session *session)
{
    dp_ddp_close(session->ddp);
    free(session->ranks);
    session->ranks = NULL;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void ddp_clear(struct session *session)
{
    dp_ddp_reset(session->ddp);
    dp_ddp_zero_grad(session->ddp);
}

/* Copies input number i of every rank from the host to its device. */
static int carry(struct session *s, const struct dp_tensor *rows, int i, struct dp_tensor in[],
                 struct dp_error *err)
{
    struct dp_slot *slots[DP_MAX_SLOTS];
    struct dp_tensor part[DP_MAX_SLOTS];
    size_t sizes[DP_MAX_SLOTS];
    int n, status;

    for (int r = 0; r < s->n_ranks; ++r) {
        slots[r] = dp_group_slot(s->group, r);
        sizes[r] = session_rank_rows(s, dp_group_first(s->group) + r);
    }
    status = dp_scatter(s->run, rows, slots, s->n_ranks, 0, sizes, part, &n, err);
    for (int r = 0; status == 0 && r < s->n_ranks; ++r)
        in[2 * r + i] = part[r];
    return status;
}

static int ddp_step(struct session *s, int k, struct dp_error *err)
{
    struct dp_tensor in[DP_MAX_SLOTS * 2];
    int n_out = 0, status;

    for (int r = 0; !s->host_inputs && r < s->n_ranks; ++r)
        memcpy(&in[2 * r], s->ranks[r].in[k], 2 * sizeof in[0]);
    if (s->host_inputs && ((status = carry(s, &s->input[k], 0, in, err)) ||
                           (status = carry(s, &s->upstream[k], 1, in, err))))
        return status;
    if ((status = dp_ddp_forward(s->ddp, in, 2, NULL, s->out, &n_out, err)) ||
        (status = dp_ddp_backward(s->ddp, NULL, 0, NULL, 0, err)))
        return status;
    return s->use.frozen ? 0 : update_step(&s->update, s->ddp, err);
}

/* ---- results --------------------------------------------------------------------------------- */

/* Reads outputs and losses, and checks that all local ranks have the same parameters. */
static int ddp_read(struct session *s, struct dp_error *err)
{
    const size_t width = workload_width(s->workload);
    float *to = s->outputs + first_row(s) * width, loss[DP_MAX_SLOTS];
    double sum = 0;
    int status;

    for (int r = 0; r < s->n_ranks; ++r) {
        const size_t count = session_rank_rows(s, dp_group_first(s->group) + r) * width;
        const struct dp_tensor *out = &s->out[r * DP_MAX_IO];

        if (dp_tensor_count(&out[1]) != count || dp_tensor_count(&out[0]) != 1)
            return dp_fail(err, DP_ESHAPE, "rank %d: %zu outputs and %zu losses, must be %zu and 1",
                           r, dp_tensor_count(&out[1]), dp_tensor_count(&out[0]), count);
        if ((status = dp_tensor_read(to, &out[1], err)) ||
            (status = dp_tensor_read(&loss[r], &out[0], err)))
            return status;
        to += count;
        sum += (double)loss[r];
    }
    s->loss_value = (float)sum;
    if (session_is_shared(s) && (status = session_share_outputs(s, width, loss, err)))
        return status;
    return dp_ddp_compare(s->ddp, err);
}

const struct measurable measure_ddp = {.phases = 1 << RECORD_FORWARD | 1 << RECORD_LOSS |
                                                 1 << RECORD_BACKWARD | 1 << RECORD_REDUCE |
                                                 1 << RECORD_UPDATE,
                                       .ranks = true,
                                       .free = DP_COMM_FREE_ORDER,
                                       .open = ddp_open,
                                       .load = ddp_load,
                                       .unload = ddp_unload,
                                       .clear = ddp_clear,
                                       .step = ddp_step,
                                       .read = ddp_read,
                                       .verify = verify_ranks,
                                       .close = ddp_close};
