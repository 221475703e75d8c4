/* measure/chain.c: chains of steps, step by step and without a stop. */
#include "measure/chain.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numbers/equal.h"

/* No parameter moves by more than 2 to the power of this in the first step: numbers stay near those
 * that the verifier knows. At 2^-8 they left the range of floats within ten steps of an mlp. */
enum { FARTHEST = -20 };

int chain_open(struct chain *chain, struct session *session, size_t length, struct dp_error *err)
{
    struct dp_kind_row kind;

    *chain = (struct chain){.session = session, .length = length};
    chain->traced = dp_kind_of(dp_slot_name(dp_group_slot(session->group, 0)), &kind) &&
                    (kind.flags & DP_KIND_CORES) != 0;
    chain->read = calloc(DP_FOLD_MARKS, sizeof *chain->read);
    return chain->read ? 0 : dp_fail(err, DP_ENOMEM, "no memory for the marks of a chain");
}

void chain_close(struct chain *chain)
{
    for (int i = 0; i < CHAIN_PLACES; ++i)
        if (chain->marks[i].slot)
            dp_tensor_free(&chain->marks[i]);
    free(chain->read);
    *chain = (struct chain){.session = NULL};
}

/* ---- marks ----------------------------------------------------------------------------------- */

static int place_of(const struct dp_tensor *tensor)
{
    struct dp_slot_info info;

    dp_slot_describe(tensor->slot, &info);
    return info.index + 1;
}

/* Memory for marks where the tensor is. */
static int fold(struct chain *chain, const struct dp_tensor *tensor, struct dp_error *err)
{
    struct dp_tensor *marks = &chain->marks[place_of(tensor)];
    int status = 0;

    if (!marks->slot) {
        memset(chain->read, 0, DP_FOLD_MARKS * sizeof *chain->read);
        status =
            dp_tensor_alloc(tensor->slot, DP_I32, 1, (const size_t[]){DP_FOLD_MARKS}, marks, err);
        if (status == 0)
            status = dp_tensor_write(marks, chain->read, err);
    }
    return status ? status : dp_tensor_fold(marks, tensor, err);
}

static int fold_param(struct chain *chain, const struct dp_tensor *value,
                      const struct dp_tensor *grad, bool has_grad, struct dp_error *err)
{
    int status = fold(chain, value, err);

    return status || !has_grad ? status : fold(chain, grad, err);
}

static int fold_wrapped(struct chain *chain, struct dp_error *err)
{
    const struct session *s = chain->session;
    int status;

    if ((status = fold(chain, &s->output, err)) || (status = fold(chain, &s->loss, err)))
        return status;
    for (int p = 0; status == 0 && p < s->n_params; ++p)
        status =
            fold_param(chain, &s->param[p]->value, &s->param[p]->grad, s->param[p]->has_grad, err);
    return status;
}

static int fold_rank(struct chain *chain, int r, struct dp_error *err)
{
    const struct session *s = chain->session;
    int status;

    if ((status = fold(chain, &s->ranks[r].output, err)) ||
        (status = fold(chain, &s->ranks[r].loss, err)))
        return status;
    for (int p = 0; status == 0 && p < s->n_params; ++p) {
        struct dp_ddp_param param;

        status = dp_ddp_param(s->ddp, r, s->at[p], &param, err);
        if (status == 0)
            status = fold_param(chain, &param.value, &param.grad, *param.has_grad, err);
    }
    return status;
}

/* All that a step leaves, where it is. */
static int fold_step(struct chain *chain, struct dp_error *err)
{
    int status = 0;

    if (chain->session->n_ranks == 0)
        return fold_wrapped(chain, err);
    for (int r = 0; status == 0 && r < chain->session->n_ranks; ++r)
        status = fold_rank(chain, r, err);
    return status;
}

static int clear_marks(struct chain *chain, struct dp_error *err)
{
    int status = 0;

    memset(chain->read, 0, DP_FOLD_MARKS * sizeof *chain->read);
    for (int i = 0; status == 0 && i < CHAIN_PLACES; ++i)
        if (chain->marks[i].slot)
            status = dp_tensor_write(&chain->marks[i], chain->read, err);
    return status;
}

/* 0: nothing is left at that place. */
static int digest_marks(struct chain *chain, uint64_t digest[CHAIN_PLACES], struct dp_error *err)
{
    int status = 0;

    for (int i = 0; status == 0 && i < CHAIN_PLACES; ++i) {
        digest[i] = 0;
        if (!chain->marks[i].slot)
            continue;
        status = dp_tensor_read(chain->read, &chain->marks[i], err);
        digest[i] = equal_digest(1, chain->read, DP_FOLD_MARKS * sizeof *chain->read);
    }
    return status;
}

/* ---- step by step ---------------------------------------------------------------------------- */

/* One that goes on, by itself, with all that it leaves. */
static int single_step(struct session *s, int k, struct dp_error *err)
{
    struct session_times times;
    int status;

    if ((status = session_step(s, k, &times, err)) || (status = session_trace(s, err)))
        return status;
    return session_read(s, err);
}

/* Whether all of a list of gradients, or of parameters, are numbers; *most: the largest magnitude.
 */
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

/* The step that the verifier knows, once more; its gradients say how fast a chain may learn. */
static int begin_with_verified(struct session *s, int k, const struct session_verified *verified,
                               float *rate, struct dp_error *err)
{
    double most = 0;
    int status = session_prepare(s, k, err);

    if (status == 0)
        status = single_step(s, k, err);
    if (status)
        return status;
    if (session_digest(s) != verified->step)
        return dp_fail(err, DP_EFAULT,
                       "before a chain: digest %016" PRIx64 ", the verified step's is %016" PRIx64,
                       session_digest(s), verified->step);
    if (!find_most(s, s->gradient, &most) || !(most > 0))
        return dp_fail(err, DP_EFAULT, "before a chain: the largest gradient is %g", most);
    *rate = (float)ldexp(1, FARTHEST - 1 - ilogb(most));
    return 0;
}

/* A chain of steps that are alike, or of what no number is, would hide that one of them was left
 * out. */
static int check_step(const struct chain *chain, size_t step, uint64_t before,
                      const struct session_verified *verified, struct dp_error *err)
{
    const struct session *s = chain->session;
    double most = 0;

    if (step == 0 && session_gradients(s) != verified->gradients)
        return dp_fail(err, DP_EFAULT,
                       "first step of a chain: gradients have digest %016" PRIx64
                       ", those of the verified step %016" PRIx64,
                       session_gradients(s), verified->gradients);
    if (session_digest(s) == before)
        return dp_fail(err, DP_EFAULT, "step %zu of a chain of %zu leaves what the one before left",
                       step, chain->length);
    if (!isfinite(s->loss_value) || !find_most(s, s->updated, &most))
        return dp_fail(err, DP_EFAULT,
                       "step %zu of a chain of %zu leaves numbers that are none: a shorter chain "
                       "may not",
                       step, chain->length);
    return 0;
}

/* A fold that did nothing would find nothing. */
static int check_marks(struct chain *chain, struct chain_set *set, uint64_t before[CHAIN_PLACES],
                       struct dp_error *err)
{
    const int status = digest_marks(chain, set->marks, err);

    for (int i = 0; status == 0 && i < CHAIN_PLACES; ++i) {
        if (chain->marks[i].slot && set->marks[i] == before[i])
            return dp_fail(err, DP_EFAULT, "a step of a chain leaves no marks on %s",
                           dp_slot_name(chain->marks[i].slot));
        before[i] = set->marks[i];
    }
    return status;
}

static int learn_steps(struct chain *chain, int k, const struct session_verified *verified,
                       struct dp_error *err)
{
    struct chain_set *set = &chain->set[k];
    struct session *s = chain->session;
    uint64_t before[CHAIN_PLACES] = {0};
    int status = clear_marks(chain, err);

    set->digest = 0;
    if (status == 0)
        status = session_prepare(s, k, err);
    for (size_t step = 0; status == 0 && step < chain->length; ++step) {
        if (step > 0)
            session_clear(s);
        if ((status = single_step(s, k, err)) || (status = fold_step(chain, err)) ||
            (status = check_step(chain, step, set->digest, verified, err)))
            return status;
        set->digest = session_digest(s);
        status = check_marks(chain, set, before, err);
    }
    return status;
}

int chain_learn(struct chain *chain, int k, const struct session_verified *verified,
                struct dp_error *err)
{
    struct session *s = chain->session;
    const float before = s->rate;
    float rate = 0;
    int status;

    if (chain->set[k].rate > 0)
        return 0;
    if ((status = begin_with_verified(s, k, verified, &rate, err)))
        return status;
    session_set_rate(s, rate);
    status = learn_steps(chain, k, verified, err);
    session_set_rate(s, before);
    chain->set[k].rate = status == 0 ? rate : 0;
    return status;
}

/* ---- without a stop -------------------------------------------------------------------------- */

static int run_steps(struct chain *chain, int k, struct session_times *times, struct dp_error *err)
{
    struct session *s = chain->session;
    int status = 0;

    times->start_ns = session_clock_ns();
    for (size_t step = 0; status == 0 && step < chain->length; ++step) {
        if (step > 0)
            session_clear(s);
        status = s->kind->step(s, k, err);
        if (status == 0)
            status = fold_step(chain, err);
    }
    if (status == 0)
        status = dp_group_wait(s->group, err);
    times->step_ns = session_clock_ns() - times->start_ns;
    return status;
}

int chain_run(struct chain *chain, int k, struct session_times *times, struct dp_error *err)
{
    struct session *s = chain->session;
    const float before = s->rate;
    int status = clear_marks(chain, err);

    session_set_rate(s, chain->set[k].rate);
    if (status == 0)
        status = session_prepare(s, k, err);
    if (!chain->traced)
        dp_group_trace(s->group, NULL);
    if (status == 0)
        status = run_steps(chain, k, times, err);
    dp_group_trace(s->group, &s->trace);
    session_set_rate(s, before);
    return status;
}

int chain_check(struct chain *chain, int k, struct dp_error *err)
{
    const struct chain_set *set = &chain->set[k];
    uint64_t marks[CHAIN_PLACES];
    int status = digest_marks(chain, marks, err);

    for (int i = 0; status == 0 && i < CHAIN_PLACES; ++i)
        if (marks[i] != set->marks[i])
            return dp_fail(err, DP_EFAULT,
                           "in a chain of %zu steps %s had a result that it had not step by step",
                           chain->length, dp_slot_name(chain->marks[i].slot));
    if (status || (status = session_read(chain->session, err)))
        return status;
    if (session_digest(chain->session) == set->digest)
        return 0;
    return dp_fail(err, DP_EFAULT,
                   "behind a chain of %zu steps: digest %016" PRIx64
                   ", step by step it was %016" PRIx64,
                   chain->length, session_digest(chain->session), set->digest);
}
