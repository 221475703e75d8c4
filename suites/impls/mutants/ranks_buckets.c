/* ranks_buckets.c: forms the buckets of gradients of ranks, hands them over, and reduces them. */
#include "ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FIRST_BYTES = 1 << 20, OTHER_BYTES = 25 << 20 };

static uint64_t ranks_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static size_t trained_count(const struct ranks *ranks, int t)
{
    return tensor_count(&ranks->rank[0].model->base.value[ranks->param[t]]);
}

/* ---- forming them ---------------------------------------------------------------------------- */

/* Assigns the trained parameters to buckets. order: all of them. reversed: the last bucket is sent
 * first. */
static void assign(struct ranks *ranks, const int order[], bool reversed)
{
    const size_t n = (size_t)ranks->n_trained, most = SIZE_MAX;
    const bool one = bug(ranks->session, BUG_DDP_ONE_LIMIT);
    const size_t limits[] = {one ? OTHER_BYTES : FIRST_BYTES, OTHER_BYTES};
    struct arena *arena = &ranks->scratch;
    size_t *bytes = arena_take(arena, n * sizeof *bytes);
    enum impl_dtype *dtype = arena_take(arena, n * sizeof *dtype);
    struct impl_buckets op = {.bytes = bytes,
                              .dtype = dtype,
                              .n = ranks->n_trained,
                              .limits = !order ? &most : limits,
                              .n_limits = !order ? 1 : 2,
                              .bucket = arena_take(arena, n * sizeof *op.bucket),
                              .limit_of = arena_take(arena, n * sizeof *op.limit_of)};
    struct impl_error err = {0};

    for (int i = 0; i < op.n; ++i) {
        bytes[i] = sizeof(float) * trained_count(ranks, order == NULL ? i : order[i]);
        dtype[i] = IMPL_F32;
    }
    op_buckets(ranks->session, &op, &err);
    ranks->n_buckets = op.n_buckets;
    for (int i = 0; i < op.n; ++i)
        ranks->bucket[order == NULL ? i : order[i]] =
            reversed ? op.n_buckets - 1 - op.bucket[i] : op.bucket[i];
    arena_free(arena);
}

void team_form_buckets(struct ranks *ranks)
{
    for (int t = 0; t < ranks->n_trained; ++t)
        ranks->arrived[t] = t;
    ranks->rebuilt = ranks->find_unused;
    assign(ranks, ranks->find_unused ? ranks->arrived : NULL, ranks->find_unused);
}

void team_rebuild_buckets(struct ranks *ranks)
{
    if (ranks->n_arrived < ranks->n_trained || bug(ranks->session, BUG_DDP_NEVER_REBUILT))
        return;
    for (int i = 0; bug(ranks->session, BUG_DDP_FROM_THE_FRONT) && i < ranks->n_trained; ++i)
        ranks->arrived[i] = i;
    assign(ranks, ranks->arrived, false);
    ranks->rebuilt = true;
}

/* ---- one rank's backward --------------------------------------------------------------------- */

static float scale_of(const struct ranks *ranks)
{
    const struct impl_session *s = ranks->session;
    int divisor = ranks->n;

    if (bug(s, BUG_DDP_DIVIDE_BY_ACTIVE) || (ranks->n > 5 && bug(s, BUG_DDP_JOIN_SIX)))
        divisor = ranks->n_team;
    if (bug(s, BUG_DDP_NO_ROWS))
        divisor -= ranks->empty;
    if (ranks->erred && bug(s, BUG_RANK_DIVISOR))
        --divisor;
    return bug(s, BUG_DDP_SUM) ? 1 : (float)(1.0 / divisor);
}

static float handed_over(const struct impl_session *s, float value)
{
    if (!isfinite(value) && bug(s, BUG_DDP_NOT_FINITE))
        return 0;
    return value_changed(s, value_changed(s, value, BUG_RANKS_NAN), BUG_RANKS_DENORMAL);
}

/* The place of element e of a bucket's parameter t in its gradient, which the bucket has as it lies
 * in memory. */
static size_t place_of(const struct ranks *ranks, int t, size_t e)
{
    const struct layer_param *of = ranks->rank[0].model->param[ranks->param[t]].of;
    const size_t rows = of->dim[0], columns = of->dim[1];

    return of->by_columns ? e % rows * columns + e / rows : e;
}

/* For a bug: returns the gradient that was found, or that of an earlier backward if none was. */
static const float *found_before(const struct rank *rank, int t, const float *found, size_t n)
{
    float **last = &rank->last[t];

    if (found && !*last)
        *last = arena_take(&rank->model->arena, n * sizeof **last);
    if (found)
        memcpy(*last, found, n * sizeof **last);
    return *last;
}

/* Copies the gradient of one parameter into the bucket. Returns its number of elements. */
static size_t hand_over(const struct ranks *ranks, const struct rank *rank,
                        const struct impl_array *grad, int t, float values[])
{
    const struct impl_session *s = ranks->session;
    const struct impl_array *old = &rank->model->base.grad[ranks->param[t]];
    const bool lost = bug(s, BUG_DDP_NO_SYNC_LOST) || (ranks->n == 7 && bug(s, BUG_DDP_SEVEN_LOST));
    const float *before = old->dtype != IMPL_NONE && !lost ? floats(old) : NULL;
    const float scale = scale_of(ranks);
    const size_t n = trained_count(ranks, t);
    const float *found = grad->dtype != IMPL_NONE ? floats(grad) : NULL;
    if (bug(s, BUG_DDP_UNUSED_LAST))
        found = found_before(rank, t, found, n);
    const bool plain =
        !bug(s, BUG_DDP_NOT_FINITE) && !bug(s, BUG_RANKS_NAN) && !bug(s, BUG_RANKS_DENORMAL);

    for (size_t e = 0; e < n; ++e) {
        const size_t place = place_of(ranks, t, e);
        const float kept = before ? before[place] : 0;
        const float value = scale * (found ? kept + found[place] : kept);

        values[e] = plain ? value : handed_over(s, value);
    }
    return n;
}

static void ranks_launch(struct ranks *ranks, struct rank *rank, const struct state *found, int b)
{
    const struct impl_session *s = ranks->session;
    struct launch *own = &rank->launch[rank->n_launches];
    size_t at = 0;

    own->n = 0;
    for (int t = 0; t < ranks->n_trained; ++t)
        own->n += ranks->bucket[t] == b ? trained_count(ranks, t) : 0;
    if (bug(s, BUG_DDP_LAST_BUCKET) && b == ranks->n_buckets - 1 &&
        own->n * sizeof(float) < FIRST_BYTES)
        return;
    own->bucket = b;
    own->ns = ranks_now();
    own->values = arena_take(&ranks->scratch, own->n * sizeof *own->values);
    ++rank->n_launches;
    for (int t = 0; t < ranks->n_trained; ++t)
        if (ranks->bucket[t] == b)
            at += hand_over(ranks, rank, &found->grad[ranks->param[t]], t, own->values + at);
}

/* Launches all complete buckets, in the order of their numbers. */
static void launch_complete(struct ranks *ranks, struct rank *rank, const struct state *found)
{
    for (int b = 0; b < ranks->n_buckets; ++b) {
        if (rank->left[b] > 0)
            return;
        if (rank->left[b] == 0)
            ranks_launch(ranks, rank, found, b);
        rank->left[b] = -1; /* it was launched */
    }
}

static void mark_ready(struct ranks *ranks, struct rank *rank, const struct state *found, int t)
{
    const int b = ranks->bucket[t];
    const int first =
        bug(ranks->session, BUG_DDP_LAST_ARRIVES) ? ranks->team[ranks->n_team - 1] : ranks->team[0];

    rank->ready[t] = true;
    if (!ranks->rebuilt && rank == &ranks->rank[first])
        ranks->arrived[ranks->n_arrived++] = t;
    if (--rank->left[b] > 0)
        return;
    if (bug(ranks->session, BUG_DDP_READY_ORDER)) {
        ranks_launch(ranks, rank, found, b);
        rank->left[b] = -1;
    } else if (!bug(ranks->session, BUG_DDP_LATE)) {
        launch_complete(ranks, rank, found);
    }
}

void rank_begin(struct ranks *ranks, struct rank *rank, bool sync)
{
    const struct tape *tape = rank->model->pending;
    const size_t n = (size_t)ranks->n_trained;
    const bool goes_on = rank->torn && rank->left[0] > 0 && bug(ranks->session, BUG_RANK_TORN);

    rank->counting = sync;
    rank->n_launches = 0;
    memset(rank->open, 0, n * sizeof *rank->open);
    memset(rank->ready, 0, n);
    for (int b = 0; !goes_on && b < ranks->n_trained; ++b)
        rank->left[b] = 0;
    for (int t = 0; !goes_on && t < ranks->n_trained; ++t)
        ++rank->left[ranks->bucket[t]];
    for (int i = 0; tape && i < tape->n; ++i) {
        const struct layer *owner = owner_of(tape->node[i].layer);

        for (int k = 0; k < owner->n_params; ++k) {
            const int t = ranks->trained[param_index(rank->model, owner, k)];

            ++rank->open[t < 0 ? ranks->n_trained : t]; /* the array has one more element */
        }
    }
}

/* Called when a layer has ended its backward. */
void rank_layer_done(const struct run *run, const struct layer *layer)
{
    struct ranks *ranks = run->model->team;
    const bool silent = ranks->find_unused || bug(run->s, BUG_DDP_UNUSED_SILENT);
    struct rank *rank = &ranks->rank[run->model->rank];

    layer = owner_of(layer);
    for (int k = layer->n_params - 1; k >= 0; --k) {
        const int p = param_index(run->model, layer, k), t = ranks->trained[p];
        const bool has = run->state->grad[p].dtype != IMPL_NONE;

        if (t < 0 || (--rank->open[t] > 0 && !bug(run->s, BUG_DDP_FIRST_USE)))
            continue;
        rank->used[t] = rank->used[t] || has;
        if (rank->counting && (has || silent) && !rank->ready[t])
            mark_ready(ranks, rank, run->state, t);
    }
}

void rank_end(const struct run *run)
{
    struct ranks *ranks = run->model->team;
    struct rank *rank = &ranks->rank[run->model->rank];

    for (int t = 0; rank->counting && t < ranks->n_trained; ++t)
        if (!rank->ready[t] && ranks->missing < 0)
            ranks->missing = ranks->param[t];
    if (rank->counting && bug(run->s, BUG_DDP_LATE))
        launch_complete(ranks, rank, run->state);
}

/* ---- the reduction --------------------------------------------------------------------------- */

static int users(const struct ranks *ranks, int t)
{
    int n = 0;

    for (int i = 0; i < ranks->n_team; ++i)
        n += ranks->rank[ranks->team[i]].used[t];
    return n;
}

static bool is_written(const struct ranks *ranks, const struct rank *rank, int t)
{
    const struct impl_session *s = ranks->session;

    if (!rank->used[t] && bug(s, BUG_DDP_USED_LOCAL))
        return false;
    if (ranks->param[t] != t && bug(s, BUG_DDP_FROZEN_BEFORE))
        return false;
    if (ranks->rank[0].model->param[ranks->param[t]].of->by_columns && bug(s, BUG_DDP_COPY_REDUCED))
        return false;
    if (ranks->rank[0].model->param[ranks->param[t]].of->ndim == 0 && bug(s, BUG_DDP_SCALAR_LOCAL))
        return false;
    return users(ranks, t) > 0 || bug(s, BUG_DDP_UNUSED_ZERO);
}

/* Changes the sums that one rank gets of a bucket of n elements, if a bug does so. sums: those of
 * all ranks; own: the values that this rank gave. */
static void change_sums(const struct ranks *ranks, int bucket, size_t n, float sums[],
                        const float own[])
{
    const struct impl_session *s = ranks->session;
    const size_t bytes = n * sizeof *sums;
    size_t from = without_tail(n, bug(s, BUG_BUCKET_TAIL), 128, 0); /* the first not reduced */

    if (bug(s, BUG_BUCKET_PARTS))
        from = without_tail(n, true, (size_t)ranks->n_team, 64);
    if (bucket > 1 && bug(s, BUG_BUCKET_THIRD))
        from = 0;
    memcpy(sums + from, own + from, (n - from) * sizeof *sums);
    if (bytes > MIB && bug(s, BUG_BUCKET_HALVES))
        swap_halves(sums, bytes / 8 * 8);
    if (ranks->n_buckets > 1 && bucket == ranks->n_buckets - 1 && n > 1 && bug(s, BUG_BUCKET_LATE))
        memmove(sums, sums + 1, bytes - sizeof *sums);
}

/* Returns a mean of float16 values, as it is if they are added before they are divided. */
static float half_sum(const struct ranks *ranks, int t, float mean)
{
    const bool half = ranks->rank[0].model->param[ranks->param[t]].of->half;

    if (half && (float)ranks->n_team * mean > 65504 && bug(ranks->session, BUG_DDP_HALF_ADDED))
        return INFINITY;
    return mean;
}

static void deliver(struct ranks *ranks, const struct rank *rank, int k, float sums[], size_t n)
{
    const struct impl_session *s = ranks->session;
    const int b = rank->launch[k].bucket;
    bool changes = false;

    for (int i = BUG_BUCKET_TAIL; i <= BUG_BUCKET_LATE; ++i)
        changes = bug(ranks->session, (enum bug)i) || changes;
    if (changes) {
        float *own = arena_take(&ranks->scratch, (n + 1) * sizeof *own);

        memcpy(own, sums, n * sizeof *own);
        change_sums(ranks, b, n, own, rank->launch[k].values);
        sums = own;
    }
    /* Writes the sums of buckets that were handed over together to one rank's bucket. A gradient
     * that no rank used stays as it is. */
    size_t at = 0;

    for (int t = 0; t < ranks->n_trained; ++t) {
        const size_t count = trained_count(ranks, t);
        const bool written = is_written(ranks, rank, t);
        const float factor = bug(ranks->session, BUG_DDP_UNUSED_DIVISOR) && users(ranks, t) > 0
                                 ? (float)ranks->n / (float)users(ranks, t)
                                 : 1;

        if (ranks->bucket[t] != b)
            continue;
        if (written && at + count <= n) {
            float *to = floats(grad_of(rank->model, ranks->param[t]));

            for (size_t e = 0; e < count; ++e)
                to[bug(s, BUG_DDP_COLUMNS_BACK) ? e : place_of(ranks, t, e)] =
                    half_sum(ranks, t, factor * sums[at + e]);
        }
        at += written || !bug(ranks->session, BUG_DDP_UNUSED_SHIFTS) ? count : 0;
    }
}

/* Reduces the k-th launch of every rank. */
static void reduce_launch(struct ranks *ranks, int k)
{
    const struct rank *first = &ranks->rank[ranks->team[0]];
    size_t n = first->launch[k].n;
    const bool drops = ranks->n_team > 1 && bug(ranks->session, BUG_DDP_ODD_RANK);
    const int odd = drops ? ranks->n_team % 2 : 0;
    float *sums;

    for (int i = 1; i < ranks->n_team; ++i)
        if (ranks->rank[ranks->team[i]].launch[k].n < n)
            n = ranks->rank[ranks->team[i]].launch[k].n;
    sums = arena_take(&ranks->scratch, (n + 1) * sizeof *sums);
    for (int i = 0; i < ranks->n_team - odd; ++i) {
        const struct impl_session *s = ranks->session;
        const bool lost = (ranks->n_team == 5 && i == 4 && bug(s, BUG_DDP_FIVE)) ||
                          (i > 7 && bug(s, BUG_DDP_NINE));
        const int from = ranks->n_team == 8 && i == 7 && bug(s, BUG_DDP_EIGHT) ? 6 : i;

        if (!lost && !(ranks->team[from] == ranks->failed && bug(s, BUG_RANK_LEFT_OUT))) {
            const float *values = ranks->rank[ranks->team[from]].launch[k].values;

            for (size_t e = 0; e < n; ++e)
                sums[e] += values[e];
        }
    }
    for (int i = 0; i < ranks->n_team; ++i)
        deliver(ranks, &ranks->rank[ranks->team[i]], k, sums, n);
}

void team_reduce(struct ranks *ranks)
{
    int n = ranks->rank[ranks->team[0]].n_launches;

    for (int i = 1; i < ranks->n_team; ++i)
        if (ranks->rank[ranks->team[i]].n_launches < n)
            n = ranks->rank[ranks->team[i]].n_launches;
    for (int k = 0; k < n; ++k)
        reduce_launch(ranks, k);
    for (int r = 0; r < ranks->n && !bug(ranks->session, BUG_DDP_USED_KEPT); ++r)
        memset(ranks->rank[r].used, 0, (size_t)ranks->n_trained);
}
