/* part.c: models whose ranks are in several processes, each in its own group, and the rest of a
 * session. Outside, devices and ranks have their numbers among all processes; inside, their numbers
 * in this process. */
#include "part.h"
#include "dp_mpi.h"
#include "reference.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether it is a model of one rank that is not in this process. */
static bool part_is_elsewhere(const struct impl_model *model)
{
    return !model->session->group;
}

/* Changes a device's number from that in this process to that among all; a number of no device
 * stays. */
static void part_shift_device(const struct impl_model *model, int *device)
{
    if (model->ddp && *device >= 0)
        *device += dp_group_first(model->session->group);
}

/* The capabilities that work with several processes, and that the cases of ranks need. */
enum {
    PART_CAPABILITIES = IMPL_CAP_BUCKETS | IMPL_CAP_SAMPLER | IMPL_CAP_TRACE | IMPL_CAP_TRAFFIC |
                        IMPL_CAP_DDP | IMPL_CAP_BATCH_NORM | IMPL_CAP_FIND_UNUSED |
                        IMPL_CAP_LAUNCHES | IMPL_CAP_OVERLAP | IMPL_CAP_TRANSFORMER |
                        IMPL_CAP_ADAMW | IMPL_CAP_JOIN
};

enum { ELSEWHERE = INT_MIN };

struct part {
    struct dp_mpi *mpi;
    int devices;      /* offered devices: a model has at most so many ranks */
    char behind[64];  /* the suffixes of the device list, after the number */
    char backend[32]; /* "": the default of the devices */
    uint64_t seed;
    struct impl_session *models; /* one for each model of several ranks */
};

/* ---- sessions -------------------------------------------------------------------------------- */

static int part_read_devices(struct part *part, const char *devices, struct impl_error *err)
{
    const char *list = devices[0] != '\0' ? devices : "virt:8";
    char *end = NULL;
    const long n = strncmp(list, "virt:", 5) == 0 ? strtol(list + 5, &end, 10) : 0;

    if (n < 1 || n > DP_MAX_SLOTS)
        return impl_fail(err, IMPL_EINVAL, "devices '%.60s': virt:1 to virt:%d", list,
                         DP_MAX_SLOTS);
    part->devices = (int)n;
    snprintf(part->behind, sizeof part->behind, "%s", end);
    return IMPL_OK;
}

static int open_rest(struct part *part, const struct impl_config *config, struct impl_about *about,
                     struct impl_session **session, struct impl_error *err)
{
    struct impl_session *s = NULL;
    int status = IMPL_OK;

    if (dp_mpi_rank(part->mpi) == 0) {
        status = reference_open(config, about, &s, err);

        struct dp_communicator_row row;

        /* Its capabilities are those of a group in one process. */
        about->capabilities &= PART_CAPABILITIES & ~(uint64_t)IMPL_CAP_OVERLAP;
        if (dp_communicator_of("mpi", &row) && row.can & DP_COMM_OVERLAP)
            about->capabilities |= IMPL_CAP_OVERLAP;
        snprintf(about->name, sizeof about->name, "reference (%.20s kernels, mpi communicator)",
                 part->backend[0] != '\0' ? part->backend : "cpu");
    } else if (!(s = calloc(1, sizeof *s))) {
        status = impl_fail(err, IMPL_EBROKEN, "no memory for a session");
    }
    if (status == IMPL_OK)
        s->part = part;
    *session = s;
    return status;
}

int part_open(struct dp_mpi *mpi, const struct impl_config *config, struct impl_about *about,
              struct impl_session **session, struct impl_error *err)
{
    struct part *part = calloc(1, sizeof *part);
    int status;

    memset(about, 0, sizeof *about);
    if (!part)
        return impl_fail(err, IMPL_EBROKEN, "no memory for a part");
    part->mpi = mpi;
    part->seed = config->seed;
    snprintf(part->backend, sizeof part->backend, "%s", config->options);
    status = part_read_devices(part, config->devices, err);
    if (status == IMPL_OK)
        status = open_rest(part, config, about, session, err);
    if (status != IMPL_OK)
        free(part);
    return status;
}

static void part_model_close(struct impl_model *model)
{
    struct impl_session *session = model->session;
    struct impl_session **link = &session->part->models;
    const bool own = model->ddp != NULL;

    reference_model_close(model);
    while (own && *link && *link != session)
        link = &(*link)->next;
    if (!own || !*link)
        return;
    *link = session->next;
    reference_close(session);
}

static void close_models(struct part *part)
{
    while (part->models) {
        struct impl_session *next = part->models->next;

        reference_close(part->models);
        part->models = next;
    }
}

static int part_reset(struct impl_session *session, struct impl_error *err)
{
    close_models(session->part);
    while (session->models)
        reference_model_close(session->models);
    return session->group ? reference_reset(session, err) : IMPL_OK;
}

static void part_close(struct impl_session *session)
{
    struct part *part = session->part;

    close_models(part);
    reference_close(session);
    free(part);
}

/* ---- functions ------------------------------------------------------------------------------- */

static int part_buckets(struct impl_session *session, struct impl_buckets *op,
                        struct impl_error *err)
{
    return session->group ? reference_buckets(session, op, err) : IMPL_OK;
}

static int part_sampler(struct impl_session *session, struct impl_sampler *op,
                        struct impl_error *err)
{
    return session->group ? reference_sampler(session, op, err) : IMPL_OK;
}

/* ---- models ---------------------------------------------------------------------------------- */

/* The first processes have one rank more, if the ranks cannot be divided evenly. */
static int ranks_here(const struct part *part, int ranks)
{
    const int processes = dp_mpi_size(part->mpi);

    return ranks / processes + (dp_mpi_rank(part->mpi) < ranks % processes);
}

/* Returns the status of a call that all processes make: if it fails here, it fails in the others,
 * too. */
static int part_done(const struct impl_model *model, int status)
{
    if (status != IMPL_OK && model->ddp)
        dp_mpi_abort(model->session->part->mpi);
    return status;
}

/* ---- forward and backward -------------------------------------------------------------------- */

/* The inputs of the ranks of this process are taken from those of all, and the results are put into
 * their places. */

/* Processes share no memory, so an array on the device of another process cannot be read. */
static int take_arrays(const struct impl_model *model, const struct impl_array from[], int n_each,
                       struct impl_array to[], struct impl_error *err)
{
    const struct dp_group *group = model->session->group;
    const int first = dp_group_first(group), size = dp_group_size(group);
    /* Other values are refused later. */
    const int n = n_each < 0 || n_each > IMPL_MAX_IO ? 0 : size * n_each;

    for (int i = 0; i < n; ++i) {
        to[i] = from[first * n_each + i];
        if (to[i].dtype == IMPL_NONE || to[i].device < 0)
            continue;
        to[i].device -= first;
        if (to[i].device < 0 || to[i].device >= size)
            return impl_fail(err, IMPL_EDEVICE,
                             "a tensor of rank %d is on device %d, which is of "
                             "another process",
                             first + i / n_each, from[first * n_each + i].device);
    }
    return IMPL_OK;
}

static void shift_arrays(const struct impl_model *model, struct impl_array arrays[], int n)
{
    for (int i = 0; i < n; ++i)
        if (arrays[i].dtype != IMPL_NONE)
            part_shift_device(model, &arrays[i].device);
}

/* Threads of different processes may have the same number, so the numbers are changed. */
static void shift_trace(const struct impl_model *model, struct impl_trace *trace)
{
    const uint64_t first = (uint64_t)dp_group_first(model->session->group);

    for (int i = 0; trace && i < trace->replicas; ++i) {
        part_shift_device(model, &trace->replica[i].device);
        trace->replica[i].thread += first << 48;
    }
    if (trace)
        trace->caller += first << 48;
}

static int shift_error(const struct impl_model *model, int status, struct impl_error *err)
{
    const int first = dp_group_first(model->session->group);
    char text[sizeof err->text];

    if (status == IMPL_OK)
        return status;
    part_shift_device(model, &err->device);
    part_shift_device(model, &err->device_also);
    if (err->replica < 0)
        return status;
    /* The text has the numbers of this process. */
    memcpy(text, err->text, sizeof text);
    snprintf(err->text, sizeof err->text, "ranks from %d on: %.220s", first, text);
    err->replica += first;
    return status;
}

static int part_forward(struct impl_model *model, struct impl_forward *op, struct impl_error *err)
{
    if (part_is_elsewhere(model))
        return IMPL_OK;
    if (!model->ddp)
        return reference_forward(model, op, err);

    const struct dp_group *group = model->session->group;
    const int first = dp_group_first(group);
    struct impl_forward here = *op;
    int status = take_arrays(model, op->in, op->n_in, model->arrays, err);

    if (status != IMPL_OK)
        return part_done(model, status);
    here.in = model->arrays;
    here.out = op->out + (size_t)first * IMPL_MAX_IO;
    here.active = op->active ? op->active + first : NULL;
    status = reference_forward(model, &here, err);
    op->n_out = here.n_out;
    shift_arrays(model, here.out, dp_group_size(group) * IMPL_MAX_IO);
    shift_trace(model, op->trace);
    return part_done(model, shift_error(model, status, err));
}

static int part_backward(struct impl_model *model, struct impl_backward *op, struct impl_error *err)
{
    if (part_is_elsewhere(model))
        return IMPL_OK;
    if (!model->ddp)
        return reference_backward(model, op, err);

    const struct dp_group *group = model->session->group;
    const int first = dp_group_first(group), world = dp_group_world(group);
    const int each = op->n_in / world;
    struct impl_backward here = *op;
    int status = take_arrays(model, op->grad_out, op->n_grad_out, model->arrays, err);

    if (status != IMPL_OK)
        return part_done(model, status);
    if (op->n_in < 0 || op->n_in != each * world || each > IMPL_MAX_IO)
        return impl_fail(err, IMPL_EINVAL, "%d inputs of %d ranks", op->n_in, world);
    here.grad_out = model->arrays;
    here.grad_in = op->grad_in + (size_t)first * (size_t)each;
    here.n_in = each * dp_group_size(group);
    status = reference_backward(model, &here, err);
    shift_arrays(model, here.grad_in, here.n_in);
    shift_trace(model, op->trace);
    return part_done(model, shift_error(model, status, err));
}

/* ---- the other operations -------------------------------------------------------------------- */

static int open_here(struct part *part, const char *description, int n, struct impl_model **model,
                     struct impl_error *err)
{
    char devices[96];
    const struct dp_group_config config = {
        .devices = devices,
        .backend = part->backend[0] != '\0' ? part->backend : NULL,
        .world = dp_mpi_world(part->mpi),
        .lag_seed = part->seed,
    };
    struct impl_session *session = NULL;
    int status;

    snprintf(devices, sizeof devices, "virt:%d%s", n, part->behind);
    status = reference_session_open(&config, &session, err);
    if (status == IMPL_OK)
        status = reference_model_open(session, description, n, model, err);
    if (status != IMPL_OK) {
        dp_mpi_abort(part->mpi);
        reference_close(session);
        return status;
    }
    session->part = part;
    session->next = part->models;
    part->models = session;
    return IMPL_OK;
}

static int part_model_open(struct impl_session *session, const char *description, int ranks,
                           struct impl_model **model, struct impl_error *err)
{
    struct part *part = session->part;

    if (ranks == 1 && !session->group) {
        struct impl_model *m = calloc(1, sizeof *m);

        if (!m)
            return impl_fail(err, IMPL_EBROKEN, "no memory for a model");
        m->session = session;
        m->next = session->models;
        session->models = m;
        *model = m;
        return IMPL_OK;
    }
    if (ranks == 1)
        return reference_model_open(session, description, ranks, model, err);
    if (ranks < 1 || ranks > part->devices)
        return impl_fail(err, IMPL_ENODEV, "%d ranks: each needs a device, there are %d", ranks,
                         part->devices);
    if (ranks < dp_mpi_size(part->mpi))
        return impl_fail(err, IMPL_EINVAL, "%d ranks: each of %d processes needs one", ranks,
                         dp_mpi_size(part->mpi));
    return open_here(part, description, ranks_here(part, ranks), model, err);
}

static int part_params(struct impl_model *model, int *n, struct impl_error *err)
{
    return part_is_elsewhere(model) ? IMPL_OK : reference_params(model, n, err);
}

static int part_param(struct impl_model *model, int i, struct impl_param *param,
                      struct impl_error *err)
{
    return part_is_elsewhere(model) ? IMPL_OK : reference_param(model, i, param, err);
}

/* Returns the number of a rank in this process. All processes refuse a number that is no rank. */
static int rank_here(const struct impl_model *model, int rank)
{
    const struct dp_group *group = model->session->group;

    if (part_is_elsewhere(model))
        return ELSEWHERE;
    if (!model->ddp)
        return rank;
    const bool is_rank = rank >= 0 && rank < dp_group_world(group);
    const int here = rank - dp_group_first(group);

    return is_rank && (here < 0 || here >= dp_group_size(group)) ? ELSEWHERE : here;
}

static int part_set(struct impl_model *model, int rank, enum impl_what what, int i,
                    const struct impl_array *array, struct impl_error *err)
{
    const int here = rank_here(model, rank);

    return here == ELSEWHERE ? IMPL_OK : reference_set(model, here, what, i, array, err);
}

static int part_get(struct impl_model *model, int rank, enum impl_what what, int i,
                    struct impl_array *array, struct impl_error *err)
{
    const int here = rank_here(model, rank);
    int status = IMPL_OK;

    array->dtype = IMPL_NONE;
    if (here != ELSEWHERE)
        status = reference_get(model, here, what, i, array, err);
    part_shift_device(model, &array->device);
    return status;
}

static int part_to(struct impl_model *model, int device, struct impl_error *err)
{
    return part_is_elsewhere(model) ? IMPL_OK : reference_to(model, device, err);
}

static int part_zero_grad(struct impl_model *model, struct impl_error *err)
{
    return part_is_elsewhere(model) ? IMPL_OK : reference_zero_grad(model, err);
}

static int part_step(struct impl_model *model, const struct impl_step *step, struct impl_error *err)
{
    if (part_is_elsewhere(model))
        return IMPL_OK;
    return part_done(model, reference_step(model, step, err));
}

const struct impl_ops *part_ops(void)
{
    static const struct impl_ops ops = {
        .version = IMPL_VERSION,
        .bytes = sizeof ops,
        .close = part_close,
        .reset = part_reset,
        .buckets = part_buckets,
        .sampler = part_sampler,
        .model_open = part_model_open,
        .model_close = part_model_close,
        .params = part_params,
        .param = part_param,
        .set = part_set,
        .get = part_get,
        .to = part_to,
        .zero_grad = part_zero_grad,
        .forward = part_forward,
        .backward = part_backward,
        .step = part_step,
    };

    return &ops;
}
