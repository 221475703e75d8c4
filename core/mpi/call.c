/* call.c: gives calls to the carrier, in order, and waits for them. The bootstrap is made of such
 * calls. */
#include "inside.h"

#include <time.h>

#define LOOK_NS    100000000u  /* how often to check the carrier */
#define CARRIER_NS 2000000000u /* how long the carrier may be away, in addition to the deadline */

const char *dp_mpi_kind_name(enum mpi_kind kind)
{
    static const char *const names[CALL_KINDS] = {
        [CALL_EXCHANGE] = "exchange",   [CALL_BARRIER] = "barrier",
        [CALL_AGREE] = "agree",         [CALL_BROADCAST] = "broadcast",
        [CALL_ALLREDUCE] = "allreduce", [CALL_ALLGATHER] = "allgather",
        [CALL_ALLTOALL] = "alltoall",   [CALL_REDUCESCATTER] = "reducescatter",
        [CALL_CLOSE] = "close"};
    return (unsigned)kind < CALL_KINDS ? names[kind] : "unknown call";
}

/* Called with the lock held. */
static int broken(const struct dp_mpi *mpi, struct dp_error *err)
{
    return dp_fail(err, mpi->error.status ? mpi->error.status : DP_EFAULT, "%s",
                   mpi->error.status ? mpi->error.text : "these processes work together no longer");
}

int dp_mpi_begin(struct dp_mpi *mpi, struct mpi_call *call, struct dp_error *err)
{
    pthread_mutex_lock(&mpi->lock);
    int status = 0;
    if (mpi->state != STATE_OPEN || mpi->give_up) {
        status = broken(mpi, err);
    } else {
        /* Some calls are of some processes only: a process without a rank that takes part does not
         * make them. */
        const bool all = !call->c || call->kind != CALL_ALLREDUCE ||
                         call->c->n_members == call->team->group->world;
        mpi->world_calls += all;
        mpi->since = all ? 0 : mpi->since + 1;
        mpi->last = call->kind;
        call->number = ++mpi->calls;
        call->world_at = mpi->world_calls;
        call->since_at = mpi->since;
        call->ended = false;
        call->next = NULL;
        if (mpi->tail)
            mpi->tail->next = call;
        else
            mpi->head = call;
        mpi->tail = call;
        pthread_cond_signal(&mpi->wake);
    }
    pthread_mutex_unlock(&mpi->lock);
    return status;
}

void dp_mpi_wait(struct dp_mpi *mpi, pthread_cond_t *condition, uint64_t ns)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    ns += (uint64_t)until.tv_nsec;
    until.tv_sec += (time_t)(ns / 1000000000u);
    until.tv_nsec = (long)(ns % 1000000000u);
    (void)pthread_cond_timedwait(condition, &mpi->lock, &until);
}

/* Called with the lock held. MPI may hang, and the carrier with it. */
static void check_carrier(struct dp_mpi *mpi)
{
    const uint64_t limit = mpi->deadline_ns + CARRIER_NS;
    const uint64_t beat = atomic_load(&mpi->beat), now = dp_now_ns(); /* the order matters */
    if (mpi->state != STATE_OPEN || now - beat < limit)
        return;
    mpi->state = STATE_BROKEN;
    dp_fail(&mpi->error, DP_EFAULT, "MPI has not come back from a call for %.1f s",
            (double)limit * 1e-9);
}

int dp_mpi_end(struct dp_mpi *mpi, const struct mpi_call *call, struct dp_error *err)
{
    int status = 0;
    pthread_mutex_lock(&mpi->lock);
    ++mpi->waiting;
    pthread_cond_signal(&mpi->wake);
    while (!call->ended && mpi->state == STATE_OPEN) {
        dp_mpi_wait(mpi, &mpi->changed, LOOK_NS);
        check_carrier(mpi);
    }
    --mpi->waiting;
    if (!call->ended)
        status = broken(mpi, err);
    pthread_mutex_unlock(&mpi->lock);
    return status;
}

int dp_mpi_call(struct dp_mpi *mpi, struct mpi_call *call, struct dp_error *err)
{
    const int status = dp_mpi_begin(mpi, call, err);
    return status ? status : dp_mpi_end(mpi, call, err);
}

bool dp_mpi_wait_state(struct dp_mpi *mpi, enum mpi_state from, uint64_t ns)
{
    const uint64_t begin = dp_now_ns();
    while (mpi->state == from && dp_now_ns() - begin < ns)
        dp_mpi_wait(mpi, &mpi->changed, LOOK_NS);
    return mpi->state != from;
}

bool dp_mpi_wait_gone(struct dp_mpi *mpi, uint64_t ns)
{
    const uint64_t begin = dp_now_ns();
    while (!mpi->gone && dp_now_ns() - begin < ns)
        dp_mpi_wait(mpi, &mpi->changed, LOOK_NS);
    return mpi->gone;
}

void dp_mpi_abort(struct dp_mpi *mpi)
{
    pthread_mutex_lock(&mpi->lock);
    mpi->give_up = true;
    pthread_cond_signal(&mpi->wake);
    while (mpi->state == STATE_OPEN) {
        dp_mpi_wait(mpi, &mpi->changed, LOOK_NS);
        check_carrier(mpi);
    }
    pthread_mutex_unlock(&mpi->lock);
}

int dp_mpi_exchange(struct dp_mpi *mpi, const void *mine, size_t bytes, void *all,
                    struct dp_error *err)
{
    struct mpi_call call = {.kind = CALL_EXCHANGE, .mine = mine, .all = all, .bytes = bytes};
    return dp_mpi_call(mpi, &call, err);
}

/* ---- the bootstrap ----------------------------------------------------------------------- */

static int boot_size(void *self)
{
    const struct dp_mpi *mpi = self;
    return mpi->size;
}

static int boot_rank(void *self)
{
    const struct dp_mpi *mpi = self;
    return mpi->rank;
}

static int boot_exchange(void *self, const void *mine, size_t bytes, void *all,
                         struct dp_error *err)
{
    return dp_mpi_exchange(self, mine, bytes, all, err);
}

static int boot_barrier(void *self, struct dp_error *err)
{
    char nothing[1] = {0};
    struct mpi_call call = {.kind = CALL_BARRIER, .mine = nothing, .all = nothing};
    return dp_mpi_call(self, &call, err);
}

static void boot_abort(void *self)
{
    dp_mpi_abort(self);
}

const struct dp_bootstrap dp_bootstrap_mpi = {.name = "mpi",
                                              .size = boot_size,
                                              .rank = boot_rank,
                                              .exchange = boot_exchange,
                                              .barrier = boot_barrier,
                                              .abort = boot_abort};
