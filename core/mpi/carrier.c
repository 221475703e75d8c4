/* carrier.c: the thread that makes every call of MPI. It advances one call of its process at a
 * time, reads messages of other processes, and makes sure that every wait ends. */
#include "inside.h"

#include <sched.h>
#include <stdio.h>

/* When nothing moves, it first polls, then yields its core, and then sleeps, each for this long.
 * While its program waits for the call, the program has given up its core. */
#define SPIN_NS       20000u
#define YIELD_NS      1000000u
#define NAP_NS        50000u
#define LONG_NAP_NS   200000u
#define IDLE_SLEEP_NS 10000000u

static int carrier_start(struct dp_mpi *mpi, struct dp_error *err)
{
    char why[DP_WIRE_TEXT] = "MPI does not start";
    if (mpi->wire->start(&mpi->self, &mpi->rank, &mpi->size, mpi->library, mpi->host, why))
        return dp_fail(err, DP_EFAULT, "%s", why);
    return dp_mpi_identify(mpi, err);
}

static void enter(struct dp_mpi *mpi, enum mpi_state state)
{
    pthread_mutex_lock(&mpi->lock);
    if (mpi->state != STATE_BROKEN)
        mpi->state = state;
    pthread_cond_broadcast(&mpi->changed);
    pthread_mutex_unlock(&mpi->lock);
}

/* still_ns: how long nothing has moved. */
static void rest(struct dp_mpi *mpi, uint64_t still_ns)
{
    pthread_mutex_lock(&mpi->lock);
    const bool idle = !mpi->active.call && !mpi->head, awaited = mpi->waiting > 0;
    const bool spins = !idle && awaited && still_ns < SPIN_NS;
    const bool yields = !idle && awaited && still_ns < YIELD_NS;
    if (!mpi->give_up && idle)
        dp_mpi_wait(mpi, &mpi->wake, IDLE_SLEEP_NS);
    else if (!mpi->give_up && !yields)
        dp_mpi_wait(mpi, &mpi->wake, still_ns < 10 * YIELD_NS ? NAP_NS : LONG_NAP_NS);
    pthread_mutex_unlock(&mpi->lock);
    if (yields && !spins)
        sched_yield();
}

static int check_program(struct dp_mpi *mpi, struct dp_error *err)
{
    pthread_mutex_lock(&mpi->lock);
    const bool give_up = mpi->give_up;
    pthread_mutex_unlock(&mpi->lock);
    if (!give_up)
        return 0;
    char name[120];
    dp_mpi_name(mpi, mpi->rank, name, sizeof name);
    mpi->common = true;
    return dp_fail(err, DP_EFAULT, "%s has given up", name);
}

/* Takes the next call of this process, if there is one. */
static int take_call(struct dp_mpi *mpi, bool *moved, struct dp_error *err)
{
    pthread_mutex_lock(&mpi->lock);
    struct mpi_call *call = mpi->head;
    if (call) {
        mpi->head = call->next;
        mpi->tail = mpi->head ? mpi->tail : NULL;
    }
    pthread_mutex_unlock(&mpi->lock);
    if (!call)
        return 0;
    *moved = true;
    call->begin_ns = dp_now_ns();
    const int status = dp_mpi_plan(mpi, call, err);
    return status ? status : dp_mpi_begin_step(mpi, err);
}

/* The results of the call are written before it ends. */
static void end_call(struct dp_mpi *mpi)
{
    struct mpi_call *call = mpi->active.call;
    const uint64_t now = dp_now_ns();
    for (int i = 0; call->kind == CALL_ALLREDUCE && call->c && i < call->c->n_parts; ++i)
        atomic_store(call->c->part[i].done_ns, now);
    mpi->active.call = NULL;
    mpi->inquiry.on = mpi->inquiry.defers = false;
    pthread_mutex_lock(&mpi->lock);
    call->end_ns = now;
    call->ended = true;
    if (mpi->waiting > 0)
        pthread_cond_broadcast(&mpi->changed);
    pthread_mutex_unlock(&mpi->lock);
}

static int carrier_finish(struct dp_mpi *mpi, struct dp_error *err)
{
    char why[DP_WIRE_TEXT];
    if (mpi->size > 1 && mpi->wire->cancel(mpi->self, &mpi->control_request, why))
        return dp_mpi_wire_failed(mpi, why, err);
    if (mpi->wire->finish(mpi->self, why))
        return dp_mpi_wire_failed(mpi, why, err);
    enter(mpi, STATE_CLOSED);
    return 0;
}

static int go_on(struct dp_mpi *mpi, bool *moved, bool *closed, struct dp_error *err)
{
    const struct mpi_call *call = mpi->active.call;
    bool ended = false;
    const int status = dp_mpi_step(mpi, moved, &ended, err);
    if (status)
        return status;
    if (ended) {
        *moved = true;
        *closed = call->kind == CALL_CLOSE;
        end_call(mpi);
        return *closed ? carrier_finish(mpi, err) : 0;
    }
    if (*moved) {
        mpi->active.moved_ns = dp_now_ns();
        return 0;
    }
    const bool late = dp_now_ns() - mpi->active.moved_ns > mpi->deadline_ns;
    return late ? dp_mpi_inquire(mpi, err) : 0;
}

static int turn(struct dp_mpi *mpi, bool *moved, bool *closed, struct dp_error *err)
{
    int status = dp_mpi_control_read(mpi, err);
    if (status == 0)
        status = check_program(mpi, err);
    if (status == 0 && !mpi->active.call)
        status = take_call(mpi, moved, err);
    return status || !mpi->active.call ? status : go_on(mpi, moved, closed, err);
}

/* Other processes are told first: when the waiting threads of this process go on, MPI is not called
 * any more. */
static void break_down(struct dp_mpi *mpi, const struct dp_error *why)
{
    if (mpi->self && mpi->letter && !mpi->told) {
        char name[120], text[sizeof why->text];
        dp_mpi_name(mpi, mpi->rank, name, sizeof name);
        snprintf(text, sizeof text, "%s has given up: %.100s", name, why->text);
        dp_mpi_tell(mpi, mpi->common ? why->text : text);
    }
    pthread_mutex_lock(&mpi->lock);
    if (mpi->state != STATE_BROKEN)
        mpi->error = *why;
    mpi->state = STATE_BROKEN;
    pthread_cond_broadcast(&mpi->changed);
    pthread_mutex_unlock(&mpi->lock);
}

void *dp_mpi_carry(void *arg)
{
    struct dp_mpi *mpi = arg;
    struct dp_error err = {0};
    bool closed = false;
    int status = carrier_start(mpi, &err);
    uint64_t moved_ns = dp_now_ns();
    if (status == 0)
        enter(mpi, STATE_OPEN);
    while (status == 0 && !closed) {
        bool moved = false;
        const uint64_t now = dp_now_ns();
        atomic_store(&mpi->beat, now);
        status = turn(mpi, &moved, &closed, &err);
        moved_ns = moved ? now : moved_ns;
        if (status == 0 && !moved)
            rest(mpi, now - moved_ns);
    }
    if (status)
        break_down(mpi, &err);
    pthread_mutex_lock(&mpi->lock);
    mpi->gone = true;
    pthread_cond_broadcast(&mpi->changed);
    pthread_mutex_unlock(&mpi->lock);
    return NULL;
}
