/* open.c: a world of processes, from the start of MPI to its end. See dp_mpi.h. */
#include "inside.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEADLINE_MS = 300000, START_MS = 60000 };
#define GONE_NS 1000000000u /* how long the carrier may take to end without work */
/* Other processes may be about to read memory of this one, and some MPIs fail if it is gone. So it
 * waits this long, until they have been told. */
#define LINGER_NS 250000000

static int copy_text(char *to, size_t bytes, const char *from, const char *what,
                     struct dp_error *err)
{
    const size_t length = from ? strlen(from) : 0;
    if (length >= bytes)
        return dp_fail(err, DP_EINVAL, "the text of the %s has %zu characters: at most %zu", what,
                       length, bytes - 1);
    memcpy(to, from ? from : "", length);
    return 0;
}

static int open_lock(struct dp_mpi *mpi, struct dp_error *err)
{
    pthread_condattr_t clock;
    if (pthread_condattr_init(&clock) != 0)
        return dp_fail(err, DP_ENOMEM, "no memory for a thread of MPI");
    const bool failed = pthread_condattr_setclock(&clock, CLOCK_MONOTONIC) != 0 ||
                        pthread_mutex_init(&mpi->lock, NULL) != 0 ||
                        pthread_cond_init(&mpi->changed, &clock) != 0 ||
                        pthread_cond_init(&mpi->wake, &clock) != 0;
    pthread_condattr_destroy(&clock);
    return failed ? dp_fail(err, DP_ENOMEM, "no memory for a thread of MPI") : 0;
}

/* True: the thread has ended. False: it is left alone, in MPI. */
static bool open_join(struct dp_mpi *mpi, uint64_t ns)
{
    pthread_mutex_lock(&mpi->lock);
    const bool gone = dp_mpi_wait_gone(mpi, ns);
    pthread_mutex_unlock(&mpi->lock);
    if (gone)
        pthread_join(mpi->carrier, NULL);
    else
        pthread_detach(mpi->carrier);
    return gone;
}

static int open_start(struct dp_mpi *mpi, struct dp_error *err)
{
    if (pthread_create(&mpi->carrier, NULL, dp_mpi_carry, mpi) != 0)
        return dp_fail(err, DP_ENOMEM, "the thread of MPI cannot be started");
    pthread_mutex_lock(&mpi->lock);
    const bool started = dp_mpi_wait_state(mpi, STATE_STARTING, mpi->start_ns);
    int status = 0;
    if (!started)
        status = dp_fail(err, DP_EFAULT, "MPI has not started within %.1f s",
                         (double)mpi->start_ns * 1e-9);
    else if (mpi->state != STATE_OPEN)
        status = dp_fail(err, mpi->error.status, "%s", mpi->error.text);
    pthread_mutex_unlock(&mpi->lock);
    if (status)
        (void)open_join(mpi, started ? GONE_NS : 0);
    return status;
}

/* Memory of a failed start is not freed, because MPI has begun and has not ended. */
int dp_mpi_open(const struct dp_mpi_config *config, struct dp_mpi **mpi, struct dp_error *err)
{
    struct dp_mpi *m = calloc(1, sizeof *m);
    if (!m)
        return dp_fail(err, DP_ENOMEM, "no memory for MPI");
    const unsigned deadline = config->deadline_ms ? config->deadline_ms : DEADLINE_MS;
    const unsigned begin = config->start_ms ? config->start_ms : START_MS;
    m->deadline_ns = (uint64_t)deadline * 1000000u;
    m->start_ns = (uint64_t)begin * 1000000u;
    m->processes = config->processes;
    m->world = (struct dp_world){&dp_bootstrap_mpi, m, &dp_comm_mpi};
    int status = copy_text(m->build, sizeof m->build, config->build, "build", err);
    if (status == 0)
        status = copy_text(m->plan, sizeof m->plan, config->plan, "plan", err);
    if (status == 0)
        status = dp_mpi_load(config->module, &m->wire, err);
    if (status == 0)
        status = open_lock(m, err);
    if (status) {
        free(m);
        return status;
    }
    status = open_start(m, err);
    if (status == 0)
        *mpi = m;
    return status;
}

static int open_close_all(struct dp_mpi *mpi, struct dp_error *err)
{
    char nothing[1] = {0};
    struct mpi_call call = {.kind = CALL_CLOSE, .mine = nothing, .all = nothing};
    struct dp_error why = {0};
    int status = dp_mpi_call(mpi, &call, &why);
    if (status)
        return dp_fail(err, DP_EFAULT, "MPI was not ended: %.200s", why.text);
    pthread_mutex_lock(&mpi->lock);
    if (!dp_mpi_wait_state(mpi, STATE_OPEN, mpi->start_ns))
        status = dp_fail(err, DP_EFAULT, "MPI has not ended within %.1f s",
                         (double)mpi->start_ns * 1e-9);
    else if (mpi->state == STATE_BROKEN)
        status = dp_fail(err, DP_EFAULT, "MPI was not ended: %.200s", mpi->error.text);
    pthread_mutex_unlock(&mpi->lock);
    return status;
}

int dp_mpi_close(struct dp_mpi *mpi, struct dp_error *err)
{
    if (!mpi)
        return 0;
    const int status = open_close_all(mpi, err);
    const struct timespec linger = {0, LINGER_NS};
    if (status)
        nanosleep(&linger, NULL);
    if (open_join(mpi, GONE_NS)) {
        const bool peace = status == 0;
        if (peace) {
            /* After all processes have closed, MPI writes to nothing any more. */
            for (int p = 0; p < mpi->size; ++p) {
                for (int k = 0; k < BUFFERS; ++k) {
                    free(mpi->buffer[p][k].bytes);
                    free(mpi->buffer[p][k].request);
                }
            }
            free(mpi->buffer);
            free(mpi->letter);
            free(mpi->heads_out);
            free(mpi->heads_in);
        }
        free(mpi->who);
        free(mpi->first);
        free(mpi->sent);
        free(mpi->come);
        free(mpi->inquiry.answered);
        free(mpi->inquiry.answer);
        free(mpi->active.link);
        free(mpi->active.in);
        free(mpi->active.piece);
        pthread_mutex_destroy(&mpi->lock);
        pthread_cond_destroy(&mpi->changed);
        pthread_cond_destroy(&mpi->wake);
        if (peace)
            free(mpi); /* it contains the buffers for letters */
    }
    return status;
}

const struct dp_world *dp_mpi_world(const struct dp_mpi *mpi)
{
    return &mpi->world;
}

int dp_mpi_size(const struct dp_mpi *mpi)
{
    return mpi->size;
}

int dp_mpi_rank(const struct dp_mpi *mpi)
{
    return mpi->rank;
}

const char *dp_mpi_library(const struct dp_mpi *mpi)
{
    return mpi->library;
}

const char *dp_mpi_host(const struct dp_mpi *mpi, int process)
{
    return process >= 0 && process < mpi->size ? mpi->who[process].host : "";
}

bool dp_mpi_shares_cores(const struct dp_mpi *mpi, int process)
{
    return process >= 0 && process < mpi->size && mpi->who[process].meets;
}

long dp_mpi_pid(const struct dp_mpi *mpi, int process)
{
    return process >= 0 && process < mpi->size ? mpi->who[process].pid : 0;
}
