/* measure/session_ddp.c: the steps of a workload in DistributedDataParallel: every rank has its own
 * rows and its own loss; the model that is wrapped ends in that loss. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/session.h"

/* ---- model and loss as one module ---------------------------------------------------------- */

/* Rank r has slot r of the group. */
static struct dp_span loss_begin(const struct session *s, const struct dp_run *run,
                                 enum dp_phase outer)
{
    return dp_phase_within(dp_group_slot(s->group, dp_run_replica(run)), DP_PHASE_LOSS, outer);
}

/* In: a batch and the factors of its outputs. Out: the loss, and the outputs. */
static int rank_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                        int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    const struct session *s = dp_module_self(module);
    struct dp_tensor terms[2] = {{0}, in[1]};
    int status, n = 0;

    (void)n_in;
    if ((status = dp_forward(dp_module_child(module, 0), run, in, 1, terms, &n, err)))
        return status;

    const struct dp_span span = loss_begin(s, run, DP_PHASE_FORWARD);

    terms[1] = in[1];
    out[1] = terms[0];
    terms[0].needs_grad = true;
    status = dp_forward(dp_module_child(module, 1), run, terms, 2, out, &n, err);
    dp_phase_end(&span);
    *n_out = 2;
    return status;
}

static int rank_backward(struct dp_module *module, struct dp_run *run,
                         const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                         int n_in, struct dp_error *err)
{
    const struct dp_span span = loss_begin(dp_module_self(module), run, DP_PHASE_BACKWARD);
    struct dp_tensor terms[2] = {{0}};
    int status = dp_backward(dp_module_child(module, 1), run, grad_out, 1, terms, 2, err);

    (void)n_out, (void)n_in;
    dp_phase_end(&span);
    grad_in[0] = grad_in[1] = (struct dp_tensor){0};
    return status ? status
                  : dp_backward(dp_module_child(module, 0), run, terms, 1, grad_in, 1, err);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Rows are dealt evenly, the first ranks have one more. */
static size_t rank_rows(const struct session *s, size_t rank)
{
    return s->rows / (size_t)s->n_ranks + (rank < s->rows % (size_t)s->n_ranks);
}

static int open_ranks(struct session *s, size_t bucket_bytes, struct dp_error *err)
{
    static const struct dp_module_ops ops = {
        .kind = "model_and_loss", .forward = rank_forward, .backward = rank_backward};
    const struct dp_ddp_config config = {.first_bucket_bytes = bucket_bytes,
                                         .bucket_bytes = bucket_bytes};
    struct dp_module *children[2] = {s->probed, s->loss_module};
    struct dp_slot *slots[DP_MAX_SLOTS];
    int status;

    for (int r = 0; r < s->n_ranks; ++r)
        slots[r] = dp_group_slot(s->group, r);
    if ((status = dp_module_open(s->group, &ops, s, children, 2, &s->top, err)))
        return status;
    return dp_ddp_open(s->top, slots, s->n_ranks, &config, &s->ddp, err);
}

int session_ddp_open(struct session *session, size_t bucket_bytes, struct dp_error *err)
{
    session->n_ranks = dp_group_size(session->group);
    session->ranks = calloc((size_t)session->n_ranks, sizeof *session->ranks);
    if (!session->ranks)
        return dp_fail(err, DP_ENOMEM, "no memory for %d ranks", session->n_ranks);
    return open_ranks(session, bucket_bytes, err);
}

static int open_part(struct session *s, int r, size_t first, size_t width, const float values[],
                     struct dp_tensor *tensor, struct dp_error *err)
{
    int status = dp_tensor_alloc(dp_group_slot(s->group, r), DP_F32, 2,
                                 (size_t[]){rank_rows(s, (size_t)r), width}, tensor, err);

    return status ? status : dp_tensor_write(tensor, values + first * width, err);
}

int session_ddp_batch(struct session *session, int k, const float inputs[], const float upstream[],
                      struct dp_error *err)
{
    const struct workload *w = session->workload;
    size_t first = 0;
    int status = 0;

    for (int r = 0; status == 0 && r < session->n_ranks; ++r) {
        struct dp_tensor *in = session->ranks[r].in[k];

        if ((status = open_part(session, r, first, w->size[0], inputs, &in[0], err)) == 0)
            status = open_part(session, r, first, w->size[w->n_sizes - 1], upstream, &in[1], err);
        first += rank_rows(session, (size_t)r);
    }
    return status;
}

void session_ddp_close_set(struct session *session, int k)
{
    for (int r = 0; session->ranks && r < session->n_ranks; ++r)
        for (int i = 0; i < 2; ++i) {
            struct dp_tensor *in = &session->ranks[r].in[k][i];

            if (in->slot)
                dp_tensor_free(in);
            *in = (struct dp_tensor){0};
        }
}

void session_ddp_close(struct session *session)
{
    dp_ddp_close(session->ddp);
    for (int k = 0; k < SESSION_SETS; ++k)
        session_ddp_close_set(session, k);
    free(session->ranks);
    session->ranks = NULL;
}

/* ---- steps ----------------------------------------------------------------------------------- */

int session_ddp_prepare(struct session *session, int k, struct dp_error *err)
{
    int status = 0;

    dp_ddp_reset(session->ddp);
    dp_ddp_zero_grad(session->ddp);
    for (int r = 0; r < session->n_ranks; ++r)
        for (int p = 0; status == 0 && p < session->n_params; ++p) {
            struct dp_ddp_param param;

            status = dp_ddp_param(session->ddp, r, p, &param, err);
            if (status == 0)
                status = dp_tensor_write(&param.value, session->value[k][p], err);
        }
    return status;
}

int session_ddp_issue(struct session *session, int k, struct dp_error *err)
{
    struct dp_tensor in[DP_MAX_SLOTS * 2], out[DP_MAX_SLOTS * DP_MAX_IO];
    int n_out = 0, status;

    for (int r = 0; r < session->n_ranks; ++r)
        memcpy(&in[2 * r], session->ranks[r].in[k], 2 * sizeof in[0]);
    if ((status = dp_ddp_forward(session->ddp, in, 2, NULL, out, &n_out, err)))
        return status;
    if ((status = dp_ddp_backward(session->ddp, NULL, 0, NULL, 0, err)))
        return status;
    if ((status = dp_ddp_step(session->ddp, (float)VERIFY_LEARNING_RATE, 0, 0, err)))
        return status;
    for (int r = 0; r < session->n_ranks; ++r) {
        session->ranks[r].loss = out[r * DP_MAX_IO];
        session->ranks[r].output = out[r * DP_MAX_IO + 1];
    }
    return 0;
}

/* ---- results --------------------------------------------------------------------------------- */

static int read_outputs(struct session *s, struct dp_error *err)
{
    const size_t width = s->workload->size[s->workload->n_sizes - 1];
    float *to = s->outputs, loss;
    double sum = 0;
    int status = 0;

    for (int r = 0; status == 0 && r < s->n_ranks; ++r) {
        const size_t count = rank_rows(s, (size_t)r) * width;

        if (dp_tensor_count(&s->ranks[r].output) != count ||
            dp_tensor_count(&s->ranks[r].loss) != 1)
            return dp_fail(err, DP_ESHAPE, "rank %d: %zu outputs and %zu losses, must be %zu and 1",
                           r, dp_tensor_count(&s->ranks[r].output),
                           dp_tensor_count(&s->ranks[r].loss), count);
        if ((status = dp_tensor_read(to, &s->ranks[r].output, err)) ||
            (status = dp_tensor_read(&loss, &s->ranks[r].loss, err)))
            return status;
        to += count;
        sum += (double)loss;
    }
    s->loss_value = (float)sum;
    return 0;
}

/* Rank 0's, and that the others have the same. */
int session_ddp_read(struct session *session, struct dp_error *err)
{
    int status = read_outputs(session, err);

    if (status == 0)
        status = dp_ddp_compare(session->ddp, err);
    for (int p = 0; status == 0 && p < session->n_params; ++p) {
        struct dp_ddp_param param;

        if ((status = dp_ddp_param(session->ddp, 0, p, &param, err)) ||
            (status = dp_tensor_read(session->updated[p], &param.value, err)))
            return status;
        for (size_t i = 0; i < dp_tensor_count(&param.value) && !*param.has_grad; ++i)
            session->gradient[p][i] = NAN;
        if (*param.has_grad)
            status = dp_tensor_read(session->gradient[p], &param.grad, err);
    }
    return status;
}
