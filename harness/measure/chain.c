/* measure/chain.c: runs chains of steps, step by step and without a stop. */
#include "measure/measure.h"

#include <inttypes.h>
#include <math.h>

/* In the first step no parameter moves by more than 2 to the power of this, so numbers stay near
 * those that the verifier knows. At 2^-8 they left the range of floats within ten steps of an
 * mlp. */
enum { FARTHEST = -20 };

void chain_open(struct chain *chain, struct session *session, size_t length, bool traced)
{
    *chain = (struct chain){.session = session, .length = length, .traced = traced};
    marks_open(&chain->marks, session);
}

void chain_close(struct chain *chain)
{
    marks_close(&chain->marks);
    *chain = (struct chain){.session = NULL};
}

/* ---- step by step ---------------------------------------------------------------------------- */

/* Runs one step that goes on with the parameters of the last one, and reads all of its results. */
static int single_step(struct session *s, int k, struct dp_error *err)
{
    struct session_times times;
    int status;

    if ((status = session_step(s, k, &times, err)) || (status = session_trace(s, err)))
        return status;
    return session_read(s, err);
}

/* Whether all values in a list of gradients, or of parameters, are numbers; *most: the largest
 * magnitude. */
static bool find_most(const struct session *s, float *const list[], double *most)
{
    bool finite = true;

    for (int p = 0; p < s->n_params; ++p)
        for (size_t i = 0; i < dp_tensor_count(&s->param[p]->value); ++i) {
            finite = finite && isfinite(list[p][i]);
            *most = fmax(*most, fabs((double)list[p][i]));
        }
    return finite;
}

static int learn_chain(struct chain *chain, int k, const struct session_verified *verified,
                       struct dp_error *err)
{
    const struct marks *marks = &chain->marks;
    struct chain_set *set = &chain->set[k];
    struct session *s = chain->session;
    struct marks_digest before = {{0}};
    double most = 0;
    int status = marks_clear(&chain->marks, err);

    set->digest = 0;
    if (status == 0)
        status = session_prepare(s, k, err);
    for (size_t step = 0; status == 0 && step < chain->length; ++step) {
        if (step > 0)
            session_clear(s);
        if ((status = single_step(s, k, err)) || (status = marks_fold(&chain->marks, err)))
            return status;
        /* If the steps of a chain were alike, or their results were no numbers, a step could be
         * left out and nothing would show it. */
        if (step == 0 && session_gradients(s) != verified->gradients)
            return dp_fail(err, DP_EFAULT,
                           "first step of a chain: gradients have digest %016" PRIx64
                           ", those of the verified step %016" PRIx64,
                           session_gradients(s), verified->gradients);
        if (session_digest(s) == set->digest)
            return dp_fail(err, DP_EFAULT,
                           "step %zu of a chain of %zu leaves what the one before left", step,
                           chain->length);
        if (!isfinite(s->loss_value) || !find_most(s, s->updated, &most))
            return dp_fail(err, DP_EFAULT,
                           "step %zu of a chain of %zu leaves numbers that are none: a shorter "
                           "chain may not",
                           step, chain->length);
        set->digest = session_digest(s);
        status = marks_digest(&chain->marks, &set->marks, err);
        /* Each place must have changed: a fold that did nothing would find nothing. */
        for (int i = 0; status == 0 && i < MARKS_PLACES; ++i)
            if (marks->at[i].slot && set->marks.at[i] == before.at[i])
                return dp_fail(err, DP_EFAULT, "a step of a chain leaves no marks on %s",
                               dp_slot_name(marks->at[i].slot));
        before = set->marks;
    }
    return status;
}

int chain_learn(struct chain *chain, int k, const struct session_verified *verified,
                struct dp_error *err)
{
    struct session *s = chain->session;
    const double before = s->update.config.lr;
    double rate, most = 0;
    int status;

    if (chain->set[k].rate > 0)
        return 0;
    /* The verified step is run again: the size of its gradients decides how fast a chain may
     * learn. */
    if ((status = session_prepare(s, k, err)) || (status = single_step(s, k, err)))
        return status;
    if (session_digest(s) != verified->step)
        return dp_fail(err, DP_EFAULT,
                       "before a chain: digest %016" PRIx64 ", the verified step's is %016" PRIx64,
                       session_digest(s), verified->step);
    if (!find_most(s, s->gradient, &most) || !(most > 0))
        return dp_fail(err, DP_EFAULT, "before a chain: the largest gradient is %g", most);
    rate = ldexp(1, FARTHEST - 1 - ilogb(most));
    update_set_rate(&s->update, rate);
    status = learn_chain(chain, k, verified, err);
    update_set_rate(&s->update, before);
    chain->set[k].rate = status == 0 ? rate : 0;
    return status;
}

/* ---- without a stop -------------------------------------------------------------------------- */

int chain_run(struct chain *chain, int k, struct session_times *times, struct dp_error *err)
{
    struct session *s = chain->session;
    const double before = s->update.config.lr;
    int status = marks_clear(&chain->marks, err);

    update_set_rate(&s->update, chain->set[k].rate);
    if (status == 0)
        status = session_prepare(s, k, err);
    session_set_traced(s, chain->traced);
    times->start_ns = watch_clock_ns();
    for (size_t step = 0; status == 0 && step < chain->length; ++step) {
        if (step > 0)
            session_clear(s);
        status = s->kind->step(s, k, err);
        if (status == 0)
            status = marks_fold(&chain->marks, err);
    }
    if (status == 0)
        status = dp_group_wait(s->group, err);
    times->step_ns = watch_clock_ns() - times->start_ns;
    session_set_traced(s, true);
    update_set_rate(&s->update, before);
    return status;
}

int chain_check(struct chain *chain, int k, struct dp_error *err)
{
    const struct chain_set *set = &chain->set[k];
    const struct dp_slot *slot;
    struct marks_digest marks;
    int status = marks_digest(&chain->marks, &marks, err);

    if (status == 0 && (slot = marks_differ(&chain->marks, &marks, &set->marks)))
        return dp_fail(err, DP_EFAULT,
                       "a chain of %zu steps gave other results than the steps one by one, first "
                       "seen on %s: 'lockstep soak' names the device that caused it",
                       chain->length, dp_slot_name(slot));
    if (status || (status = session_read(chain->session, err)))
        return status;
    if (session_digest(chain->session) == set->digest)
        return 0;
    return dp_fail(err, DP_EFAULT,
                   "after a chain of %zu steps: digest %016" PRIx64
                   ", step by step it was %016" PRIx64,
                   chain->length, session_digest(chain->session), set->digest);
}
