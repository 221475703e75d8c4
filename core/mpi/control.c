/* control.c: messages between the carriers of processes, in addition to the calls.
 *
 * When a call does not end, each process is asked how far it is. Carriers answer even while their
 * programs compute. Processes that do not answer have died or stopped. If all answer, those that
 * have joined the fewest calls are named. */
#include "inside.h"

#include <stdio.h>
#include <time.h>

#define GRACE_NS 400000000u /* to wait for an answer */
#define DEFER_NS 300000000u /* longer than that, to wait for a verdict about an earlier call */
#define TELL_NS  200000000u /* to send a verdict */
#define NAP_NS   50000

void dp_mpi_name(struct dp_mpi *mpi, int process, char *text, size_t bytes)
{
    char where[40];
    pthread_mutex_lock(&mpi->lock);
    const int *first = mpi->first[mpi->size] > 0 ? mpi->first + process : NULL;
    if (!first)
        snprintf(where, sizeof where, "process %d of %d", process, mpi->size);
    else if (first[1] - first[0] == 1)
        snprintf(where, sizeof where, "rank %d", first[0]);
    else
        snprintf(where, sizeof where, "ranks %d to %d", first[0], first[1] - 1);
    pthread_mutex_unlock(&mpi->lock);
    snprintf(text, bytes, "%s (host %.40s, process %ld)", where, mpi->who[process].host,
             mpi->who[process].pid);
}

int dp_mpi_wire_failed(const struct dp_mpi *mpi, const char *why, struct dp_error *err)
{
    const struct mpi_call *call = mpi->active.call;
    if (!call)
        return dp_fail(err, DP_EFAULT, "%.160s", why);
    return dp_fail(err, DP_EFAULT, "%s %llu: %.160s", dp_mpi_kind_name(call->kind),
                   (unsigned long long)call->number, why);
}

/* ---- letters ----------------------------------------------------------------------------- */

/* A letter that has arrived can be written again. */
static int check_letter(struct dp_mpi *mpi, struct mpi_letter *letter, struct dp_error *err)
{
    char why[DP_WIRE_TEXT];
    bool done = false;
    if (!letter->busy)
        return 0;
    if (mpi->wire->test(mpi->self, &letter->request, &done, NULL, NULL, why))
        return dp_mpi_wire_failed(mpi, why, err);
    letter->busy = !done;
    return 0;
}

/* A process that accepts no more letters gets none. */
static int send_letter(struct dp_mpi *mpi, int peer, const struct mpi_control *control,
                       struct dp_error *err)
{
    char why[DP_WIRE_TEXT];
    int status = 0;
    for (int k = 0; status == 0 && k < WIRE_LETTERS; ++k) {
        struct mpi_letter *letter = &mpi->letter[peer][k];
        status = check_letter(mpi, letter, err);
        if (status || letter->busy)
            continue;
        letter->control = *control;
        if (mpi->wire->send(mpi->self, &letter->control, sizeof letter->control, peer,
                            WIRE_TAG_CONTROL, &letter->request, why))
            return dp_mpi_wire_failed(mpi, why, err);
        letter->busy = true;
        return 0;
    }
    return status;
}

static int send_to_all(struct dp_mpi *mpi, const struct mpi_control *control, struct dp_error *err)
{
    int status = 0;
    for (int p = 0; p < mpi->size; ++p) {
        if (p != mpi->rank && send_letter(mpi, p, control, err))
            status = DP_EFAULT; /* the other processes are told all the same */
    }
    return status;
}

static bool all_have_left(struct dp_mpi *mpi)
{
    bool left = true;
    for (int p = 0; p < mpi->size; ++p) {
        for (int k = 0; k < WIRE_LETTERS; ++k) {
            struct mpi_letter *letter = &mpi->letter[p][k];
            if (check_letter(mpi, letter, NULL))
                letter->busy = false; /* it will never arrive */
            left = left && !letter->busy;
        }
    }
    return left;
}

void dp_mpi_tell(struct dp_mpi *mpi, const char *verdict)
{
    struct mpi_control control = {.kind = CONTROL_VERDICT};
    const struct timespec nap = {0, NAP_NS};
    snprintf(control.text, sizeof control.text, "%s", verdict);
    (void)send_to_all(mpi, &control, NULL);
    for (const uint64_t begin = dp_now_ns(); dp_now_ns() - begin < TELL_NS;) {
        if (all_have_left(mpi))
            return;
        nanosleep(&nap, NULL);
    }
}

static int listen(struct dp_mpi *mpi, struct dp_error *err)
{
    char why[DP_WIRE_TEXT];
    if (mpi->wire->receive(mpi->self, &mpi->incoming, sizeof mpi->incoming, -1, WIRE_TAG_CONTROL,
                           &mpi->control_request, why))
        return dp_mpi_wire_failed(mpi, why, err);
    return 0;
}

static int control_answer(struct dp_mpi *mpi, int peer, struct dp_error *err)
{
    pthread_mutex_lock(&mpi->lock);
    const struct mpi_control control = {.kind = CONTROL_STATE,
                                        .last = (uint32_t)mpi->last,
                                        .calls = mpi->calls,
                                        .world = mpi->world_calls,
                                        .since = mpi->since};
    pthread_mutex_unlock(&mpi->lock);
    return send_letter(mpi, peer, &control, err);
}

static bool is_before(uint64_t world, uint64_t since, uint64_t than_world, uint64_t than_since)
{
    return world < than_world || (world == than_world && since < than_since);
}

static int take_letter(struct dp_mpi *mpi, int peer, struct dp_error *err)
{
    struct mpi_control *control = &mpi->incoming;
    control->text[sizeof control->text - 1] = '\0';
    if (control->kind == CONTROL_VERDICT) {
        mpi->told = true;
        return dp_fail(err, DP_EFAULT, "%s", control->text);
    }
    if (control->kind == CONTROL_ASK) {
        /* Another process waits in an earlier call than this one. Its finding is what all will
         * report. */
        const struct mpi_call *call = mpi->active.call;
        if (call && is_before(control->world, control->since, call->world_at, call->since_at))
            mpi->inquiry.defers = true;
        return control_answer(mpi, peer, err);
    }
    mpi->inquiry.answered[peer] = true;
    mpi->inquiry.answer[peer] = *control;
    return 0;
}

int dp_mpi_control_open(struct dp_mpi *mpi, struct dp_error *err)
{
    return mpi->size > 1 ? listen(mpi, err) : 0;
}

int dp_mpi_control_read(struct dp_mpi *mpi, struct dp_error *err)
{
    char why[DP_WIRE_TEXT];
    int status = 0;
    while (status == 0 && mpi->size > 1) {
        bool done = false;
        int peer = 0;
        if (mpi->wire->test(mpi->self, &mpi->control_request, &done, &peer, NULL, why))
            return dp_mpi_wire_failed(mpi, why, err);
        if (!done)
            return 0;
        status = take_letter(mpi, peer, err);
        if (status == 0)
            status = listen(mpi, err);
    }
    return status;
}

/* ---- the processes to name ----------------------------------------------------------------- */

/* Processes that have one thing in common. */
struct culprits {
    int first, n;
    char why[100];
};

static void blame(struct culprits *culprits, int process)
{
    if (culprits->n++ == 0)
        culprits->first = process;
}

static bool all_answered(const struct dp_mpi *mpi)
{
    bool all = true;
    for (int p = 0; p < mpi->size; ++p)
        all = all && (p == mpi->rank || mpi->inquiry.answered[p]);
    return all;
}

/* A process that does not take part in the call is late only if it misses an earlier one. */
static bool takes_part(const struct dp_mpi *mpi, int process)
{
    const struct mpi_active *a = &mpi->active;
    bool part = false;
    for (int k = 0; k < a->n_links; ++k)
        part = part || a->link[k].peer == process;
    return part || (a->call->c == NULL);
}

static struct culprits find_late(const struct dp_mpi *mpi)
{
    const struct mpi_call *call = mpi->active.call;
    struct culprits found = {.n = 0};
    uint64_t world = call->world_at, since = call->since_at;
    for (int p = 0; p < mpi->size; ++p) {
        const struct mpi_control *state = &mpi->inquiry.answer[p];
        const uint64_t there = takes_part(mpi, p) ? state->since : UINT64_MAX;
        if (p == mpi->rank || !is_before(state->world, there, call->world_at, call->since_at))
            continue;
        if (is_before(state->world, there, world, since))
            found.n = 0; /* later than those found before */
        else if (found.n > 0 && (state->world != world || there != since))
            continue;
        world = state->world;
        since = there;
        blame(&found, p);
        snprintf(found.why, sizeof found.why, "it has joined %llu calls%s%s",
                 (unsigned long long)state->calls, state->calls > 0 ? ", the last one " : "",
                 state->calls > 0 ? dp_mpi_kind_name((enum mpi_kind)state->last) : "");
    }
    return found;
}

static bool is_waiting(const struct mpi_flow *flow)
{
    return flow->ended < flow->posted;
}

/* They have all joined, but the call does not proceed. */
static struct culprits find_stuck(const struct dp_mpi *mpi)
{
    const struct mpi_active *a = &mpi->active;
    struct culprits found = {.n = 0};
    for (int k = 0; k < a->n_links; ++k) {
        const struct mpi_link *link = &a->link[k];
        if (!link->come || !link->sent || is_waiting(&link->out) || is_waiting(&link->in) ||
            is_waiting(&link->sums_out) || is_waiting(&link->sums_in))
            blame(&found, link->peer);
    }
    snprintf(found.why, sizeof found.why, "it says that it has, but nothing comes through");
    return found;
}

static int control_judge(struct dp_mpi *mpi, struct dp_error *err)
{
    const struct mpi_call *call = mpi->active.call;
    struct culprits found = {.n = 0};
    for (int p = 0; p < mpi->size; ++p) {
        if (p != mpi->rank && !mpi->inquiry.answered[p])
            blame(&found, p);
    }
    snprintf(found.why, sizeof found.why, "%s not answer", found.n > 1 ? "they do" : "it does");
    char name[120], more[24] = "";
    if (found.n == 0)
        found = find_late(mpi);
    if (found.n == 0)
        found = find_stuck(mpi);
    dp_mpi_name(mpi, found.first, name, sizeof name);
    if (found.n > 1)
        snprintf(more, sizeof more, " and %d more", found.n - 1);
    mpi->common = true;
    return dp_fail(err, DP_EFAULT, "%s%s did not join %s %llu within %.1f s: %s", name, more,
                   dp_mpi_kind_name(call->kind), (unsigned long long)call->number,
                   (double)mpi->deadline_ns * 1e-9, found.why);
}

int dp_mpi_inquire(struct dp_mpi *mpi, struct dp_error *err)
{
    struct mpi_inquiry *inquiry = &mpi->inquiry;
    const struct mpi_call *call = mpi->active.call;
    const struct mpi_control ask = {
        .kind = CONTROL_ASK, .world = call->world_at, .since = call->since_at};
    if (inquiry->on) {
        const uint64_t since = dp_now_ns() - inquiry->begin_ns;
        const bool over = since >= GRACE_NS + (inquiry->defers ? DEFER_NS : 0);
        return over || (all_answered(mpi) && !inquiry->defers) ? control_judge(mpi, err) : 0;
    }
    inquiry->on = true;
    inquiry->begin_ns = dp_now_ns();
    for (int p = 0; p < mpi->size; ++p)
        inquiry->answered[p] = false;
    return send_to_all(mpi, &ask, err);
}
