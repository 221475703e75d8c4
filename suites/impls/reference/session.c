/* session.c: a session is a group of slots; it also has the reference's description of itself. */
#include "reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* These are left out: transfers and memory, which core does not count; and ranks that differ, which
 * core cannot make, because all ranks come from one module. */
enum {
    CAPABILITIES = IMPL_CAP_SPLIT | IMPL_CAP_SCATTER | IMPL_CAP_GATHER | IMPL_CAP_BROADCAST |
                   IMPL_CAP_REDUCE | IMPL_CAP_APPLY | IMPL_CAP_BUCKETS | IMPL_CAP_SAMPLER |
                   IMPL_CAP_PARALLEL | IMPL_CAP_FUNCTIONAL | IMPL_CAP_ARGUMENTS | IMPL_CAP_TRACE |
                   IMPL_CAP_TRAFFIC | IMPL_CAP_DDP | IMPL_CAP_BATCH_NORM | IMPL_CAP_FIND_UNUSED |
                   IMPL_CAP_LAUNCHES | IMPL_CAP_TRANSFORMER | IMPL_CAP_ADAMW | IMPL_CAP_JOIN
};

/* Ranks that can use each other's memory reduce during backward, others after it. */
static uint64_t overlap_of(const struct dp_group *group)
{
    const char *name = dp_group_communicator(group);
    struct dp_communicator_row row;

    /* A communicator that fell back has the name of its fallback, and can do less. A composite can
     * do all that its first part can. */
    if (!dp_communicator_of(name, &row) || (row.instead && strcmp(row.instead, name) == 0))
        return 0;
    return row.can & DP_COMM_OVERLAP ? IMPL_CAP_OVERLAP : 0;
}

static const enum impl_choice dialect[IMPL_DIALECTS] = {
    [IMPL_REPLICA_0] = IMPL_ALIAS,      [IMPL_UNUSED] = IMPL_ZERO,
    [IMPL_UNEQUAL_ROWS] = IMPL_REFUSE,  [IMPL_SINGLE_OUTPUT] = IMPL_IGNORE,
    [IMPL_FAILING] = IMPL_LOWEST,       [IMPL_NO_ROWS] = IMPL_EMPTY,
    [IMPL_ZERO_SIZE] = IMPL_ACCEPT,     [IMPL_DUPLICATES] = IMPL_REFUSE,
    [IMPL_NESTED] = IMPL_REFUSE,        [IMPL_SHARD_0] = IMPL_VIEW,
    [IMPL_FUNCTIONAL_HOST] = IMPL_CALL, [IMPL_EMPTY_IDS] = IMPL_REFUSE,
    [IMPL_BORROWED] = IMPL_REFUSE,      [IMPL_MIXED_RANKS] = IMPL_ACCEPT,
    [IMPL_ARGUMENTS_ONLY] = IMPL_CALL,  [IMPL_SUMS] = IMPL_LISTED,
};

static void session_describe_all(struct dp_group *group, struct impl_about *about)
{
    memset(about, 0, sizeof *about);
    snprintf(about->name, sizeof about->name, "reference (%s kernels, %s communicator)",
             dp_group_backend(group), dp_group_communicator(group));
    snprintf(about->version, sizeof about->version, "%s", REFERENCE_VERSION);
    about->devices = dp_group_size(group);
    for (int i = 0; i < about->devices; ++i)
        snprintf(about->device_name[i], sizeof about->device_name[i], "%s",
                 dp_slot_name(dp_group_slot(group, i)));
    about->capabilities = CAPABILITIES | overlap_of(group);
    memcpy(about->dialect, dialect, sizeof dialect);
    struct dp_communicator_row row;

    about->dialect[IMPL_SUMS] =
        dp_communicator_of(dp_group_communicator(group), &row) && row.can & DP_COMM_FREE_SUMS
            ? IMPL_FREE
            : IMPL_LISTED;
    dp_group_blas(group, about->blas, sizeof about->blas);
    snprintf(about->gpu_software, sizeof about->gpu_software, "%s", dp_group_software(group));
}

/* The options are "BACKEND/COMMUNICATOR". NULL: the default of the devices; without devices a
 * backend for GPUs cannot be used. */
static const char *backend_of(const struct impl_config *config, char name[32])
{
    snprintf(name, 32, "%.*s", (int)strcspn(config->options, "/"), config->options);
    return name[0] != '\0' && !config->host_only ? name : NULL;
}

static const char *communicator_of(const struct impl_config *config, char name[32])
{
    const char *slash = strchr(config->options, '/');

    snprintf(name, 32, "%s", slash ? slash + 1 : "");
    return name[0] != '\0' && !config->host_only ? name : NULL;
}

int reference_session_open(const struct dp_group_config *config, struct impl_session **session,
                           struct impl_error *err)
{
    struct dp_error error = {0};
    struct impl_session *s = calloc(1, sizeof *s);
    int status;

    if (!s)
        return impl_fail(err, IMPL_EBROKEN, "no memory for a session");
    status = dp_group_open(config, &s->group, &error);
    if (status == 0)
        status = dp_run_open(s->group, &s->run, &error);
    if (status != 0) {
        status = error_of(NULL, status, &error, err);
        reference_close(s);
        return status;
    }
    *session = s;
    return 0;
}

int reference_open(const struct impl_config *config, struct impl_about *about,
                   struct impl_session **session, struct impl_error *err)
{
    const char *devices = config->devices[0] != '\0' ? config->devices : "virt:8";
    char backend[32], communicator[32];
    const struct dp_group_config group = {
        .devices = config->host_only ? "host" : devices,
        .backend = backend_of(config, backend),
        .communicator = communicator_of(config, communicator),
        .lag_seed = config->seed,
    };
    const int status = reference_session_open(&group, session, err);

    if (status == 0)
        session_describe_all((*session)->group, about);
    return status;
}

static void close_models(struct impl_session *session)
{
    while (session->models)
        reference_model_close(session->models);
}

void reference_close(struct impl_session *session)
{
    if (!session)
        return;
    close_models(session);
    dp_run_close(session->run);
    dp_group_close(session->group);
    free(session);
}

int reference_reset(struct impl_session *session, struct impl_error *err)
{
    (void)err;
    close_models(session);
    dp_run_reset(session->run);
    return 0;
}
