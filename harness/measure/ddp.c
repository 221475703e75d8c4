/* measure/ddp.c: the row ddp: steps of a workload in DistributedDataParallel. Every rank has
 * separate rows and a separate loss; the model that is wrapped ends in that loss.
 *
 * If the batch starts on the host, each step copies the rows of the ranks to their devices. One
 * dp_scatter does it for all ranks of this process, and its copies run in parallel: the phase
 * scatter. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/pair.h"
#include "measure/session.h"

/* ---- opening --------------------------------------------------------------------------------- */

/* The rows of a rank. They are dealt evenly: the first ranks of the world have one more. */
static size_t rows_of(const struct session *s, size_t rank)
{
    const size_t world = (size_t)dp_group_world(s->group);

    return s->rows / world + (rank < s->rows % world);
}

/* The rows of a local rank. */
static size_t rank_rows(const struct session *s, size_t rank)
{
    return rows_of(s, (size_t)dp_group_first(s->group) + rank);
}

/* The rows of all ranks before those of this process. */
static size_t first_row(const struct session *s)
{
    size_t rows = 0;

    for (int r = 0; r < dp_group_first(s->group); ++r)
        rows += rows_of(s, (size_t)r);
    return rows;
}

/* The rows of all ranks of this process. */
static size_t all_rows(const struct session *s)
{
    size_t rows = 0;

    for (int r = 0; r < s->n_ranks; ++r)
        rows += rank_rows(s, (size_t)r);
    return rows;
}

static int open_ranks(struct session *s, const struct cell_config *how, struct dp_error *err)
{
    const struct dp_ddp_config config = {.first_bucket_bytes = how->bucket_bytes,
                                         .bucket_bytes = how->bucket_bytes};
    struct dp_slot *slots[DP_MAX_SLOTS];
    int status;

    for (int r = 0; r < s->n_ranks; ++r)
        slots[r] = dp_group_slot(s->group, r);
    if ((status = pair_open(s->group, s->probed, s->loss_module, &s->top, err)))
        return status;
    return dp_ddp_open(s->top, slots, s->n_ranks, &config, &s->ddp, err);
}

/* Opens the ranks. Each has the whole model. */
static int ddp_open(struct session *s, const struct cell_config *config, struct dp_error *err)
{
    int status;

    if ((status = workload_open(s->workload, s->group, &s->model, err)) ||
        (status = probe_open(s->group, s->model, &s->probe, &s->probed, err)) ||
        (status = dp_module_to(s->probed, dp_group_slot(s->group, 0), err)))
        return status;
    s->n_ranks = dp_group_size(s->group);
    s->ranks = calloc((size_t)s->n_ranks, sizeof *s->ranks);
    s->out = calloc((size_t)s->n_ranks * DP_MAX_IO, sizeof *s->out);
    if (!s->ranks || !s->out)
        return dp_fail(err, DP_ENOMEM, "no memory for %d ranks", s->n_ranks);
    return open_ranks(s, config, err);
}

/* ---- batches --------------------------------------------------------------------------------- */

/* One side of the batch in host memory. */
struct side {
    enum workload_side which;
    struct workload_row row;
    const unsigned char *values;
};

/* Opens a tensor of the rows from first to first + rows of that side. A number has 4 bytes. */
static int open_rows(struct dp_slot *slot, const struct side *side, size_t first, size_t rows,
                     struct dp_tensor *tensor, struct dp_error *err)
{
    return session_open_rows(slot, &side->row, rows,
                             side->values + first * side->row.width * sizeof(float), tensor, err);
}

static int deal(struct session *s, int k, const struct side *side, struct dp_error *err)
{
    size_t first = first_row(s);
    int status = 0;

    for (int r = 0; status == 0 && r < s->n_ranks; ++r) {
        const size_t rows = rank_rows(s, (size_t)r);

        status = open_rows(dp_group_slot(s->group, r), side, first, rows,
                           &s->ranks[r].in[k][side->which], err);
        first += rows;
    }
    return status;
}

/* Keeps the rows of all local ranks on the host, where each step scatters them. */
static int keep(struct session *s, int k, const struct side *side, struct dp_error *err)
{
    return open_rows(dp_group_host(s->group), side, first_row(s), all_rows(s),
                     side->which == WORKLOAD_INPUT ? &s->input[k] : &s->upstream[k], err);
}

static int load_side(struct session *s, const struct workload_set *set, enum workload_side which,
                     struct dp_error *err)
{
    void *values = session_side(s, set, which);
    const struct side side = {which, workload_row(s->workload, which), values};
    int status;

    if (!values)
        status = dp_fail(err, DP_ENOMEM, "no memory for %zu rows", s->rows);
    else
        status = s->host_inputs ? keep(s, set->index, &side, err) : deal(s, set->index, &side, err);
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
    for (int k = 0; k < SESSION_SETS; ++k)
        ddp_unload(session, k);
    free(session->ranks);
    free(session->out);
    session->ranks = NULL;
    session->out = NULL;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void ddp_clear(struct session *session)
{
    dp_ddp_reset(session->ddp);
    dp_ddp_zero_grad(session->ddp);
}

static int ddp_prepare(struct session *session, int k, struct dp_error *err)
{
    int status = 0;

    for (int r = 0; r < session->n_ranks; ++r)
        for (int p = 0; status == 0 && p < session->n_params; ++p) {
            struct dp_ddp_param param;

            status = dp_ddp_param(session->ddp, r, session->at[p], &param, err);
            if (status == 0)
                status = dp_tensor_write(&param.value, session->value[k][p], err);
        }
    return status;
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
        sizes[r] = rank_rows(s, (size_t)r);
    }
    status = dp_scatter(s->run, rows, slots, s->n_ranks, 0, sizes, part, &n, err);
    for (int r = 0; status == 0 && r < s->n_ranks; ++r)
        in[2 * r + i] = part[r];
    return status;
}

static int take_batch(struct session *s, int k, struct dp_tensor in[], struct dp_error *err)
{
    int status;

    if (!s->host_inputs) {
        for (int r = 0; r < s->n_ranks; ++r)
            memcpy(&in[2 * r], s->ranks[r].in[k], 2 * sizeof in[0]);
        return 0;
    }
    status = carry(s, &s->input[k], 0, in, err);
    return status ? status : carry(s, &s->upstream[k], 1, in, err);
}

static int ddp_step(struct session *session, int k, struct dp_error *err)
{
    struct dp_tensor in[DP_MAX_SLOTS * 2];
    int n_out = 0, status;

    if ((status = take_batch(session, k, in, err)))
        return status;
    if ((status = dp_ddp_forward(session->ddp, in, 2, NULL, session->out, &n_out, err)))
        return status;
    if ((status = dp_ddp_backward(session->ddp, NULL, 0, NULL, 0, err)))
        return status;
    return update_step(&session->update, session->ddp, err);
}

/* ---- results --------------------------------------------------------------------------------- */

static int read_outputs(struct session *s, struct dp_error *err)
{
    const size_t width = workload_width(s->workload);
    float *to = s->outputs + first_row(s) * width, loss[DP_MAX_SLOTS];
    double sum = 0;
    int status = 0;

    for (int r = 0; status == 0 && r < s->n_ranks; ++r) {
        const size_t count = rank_rows(s, (size_t)r) * width;
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
    return session_is_shared(s) ? session_share_outputs(s, width, loss, err) : 0;
}

/* Reads the results of rank 0, and checks that the other ranks have the same. */
static int ddp_read(struct session *session, struct dp_error *err)
{
    int status = read_outputs(session, err);

    if (status == 0)
        status = dp_ddp_compare(session->ddp, err);
    for (int p = 0; status == 0 && p < session->n_params; ++p) {
        struct dp_ddp_param param;

        if ((status = dp_ddp_param(session->ddp, 0, session->at[p], &param, err)) ||
            (status = dp_tensor_read(session->updated[p], &param.value, err)))
            return status;
        for (size_t i = 0; i < dp_tensor_count(&param.value) && !*param.has_grad; ++i)
            session->gradient[p][i] = NAN;
        if (*param.has_grad)
            status = dp_tensor_read(session->gradient[p], &param.grad, err);
    }
    return status;
}

const struct measurable measure_ddp = {.phases = 1 << RECORD_FORWARD | 1 << RECORD_LOSS |
                                                 1 << RECORD_BACKWARD | 1 << RECORD_REDUCE |
                                                 1 << RECORD_UPDATE,
                                       .apart = true,
                                       .free = DP_COMM_FREE_ORDER,
                                       .open = ddp_open,
                                       .load = ddp_load,
                                       .unload = ddp_unload,
                                       .clear = ddp_clear,
                                       .prepare = ddp_prepare,
                                       .step = ddp_step,
                                       .read = ddp_read,
                                       .verify = verify_ranks,
                                       .close = ddp_close};
