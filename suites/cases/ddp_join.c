/* ddp_join.c: cases of area DDP: ranks with fewer batches join. A forward in which no rank is
 * active is the end. */
#include "ddp.h"

static const char affine[] = DDP_MODEL(DDP_AFFINE);
static const float rate = 0.0625F;

struct loop {
    int ranks;
    int batches[DDP_MOST];
    double x[DDP_MOST];
    int last; /* the highest of the ranks with the most batches */
};

static const struct loop two = {2, {3, 5}, {50, 50}, 1};

static const struct loop many[] = {
    {2, {3, 5}, {30, 70}, 1},
    {2, {4, 2}, {30, 70}, 0},
    {4, {1, 4, 2, 3}, {30, 70, -10, 6}, 1},
    {4, {3, 2, 3, 1}, {30, 70, -10, 6}, 2},
    {4, {2, 2, 2, 2}, {30, 70, -10, 6}, 3},
};
enum { MANY = sizeof many / sizeof many[0] };

/* Makes iteration i. The ranks that have a batch get the sum of their gradients, divided by R.
 * Returns false if no rank had a batch. */
static bool iterate(struct check *c, struct impl_model *model, const struct loop *loop, int i,
                    double mean[2])
{
    struct ddp_call call = ddp_rows(c, loop->ranks, loop->x);
    bool active[DDP_MOST], any = false;

    mean[0] = mean[1] = 0;
    for (int r = 0; r < loop->ranks; ++r) {
        active[r] = i < loop->batches[r];
        any = any || active[r];
        call.in[r][0] = active[r] ? call.in[r][0] : NULL;
        mean[0] += active[r] ? loop->x[r] / loop->ranks : 0;
        mean[1] += active[r] ? 1.0 / loop->ranks : 0;
    }
    call.active = active;
    ddp_forward(c, model, &call);
    if (!any)
        return false;
    ddp_backward(c, model, &call);
    for (int r = 0; r < loop->ranks; ++r)
        for (int p = 0; active[r] && p < 2; ++p)
            ddp_rank_is(c, model, r, IMPL_GRAD, p, mean[p]);
    return true;
}

/* Runs the whole loop with a step after each backward; sum: of the means. */
static void join_train(struct check *c, struct impl_model *model, const struct loop *loop,
                       const char *name, double sum[2])
{
    double mean[2];

    sum[0] = sum[1] = 0;
    check_note(c, "%s, iteration 0: ", name);
    for (int i = 0; iterate(c, model, loop, i, mean); ++i) {
        check_step(c, model, rate, 0);
        check_zero_grad(c, model);
        sum[0] += mean[0];
        sum[1] += mean[1];
        check_note(c, "%s, iteration %d: ", name, i + 1);
    }
    check_note(c, "%s, after the end: ", name);
}

static const char *join_name_of(struct check *c, int row)
{
    return check_text(c, "setting %d, R=%d", row, many[row].ranks);
}

/* ---- DDP-19: the divisor --------------------------------------------------------------------- */

static void ddp_join_divisor(struct check *c)
{
    static const double want[] = {50, 50, 50, 25, 25};
    struct impl_model *model = check_ddp_model(c, two.ranks, affine);
    double mean[2];

    for (int i = 0; i < 5; ++i) {
        check_note(c, "iteration %d: ", i);
        check_true(c, iterate(c, model, &two, i, mean), "nobody is active");
        ddp_rank_is(c, model, 1, IMPL_GRAD, 0, want[i]);
        check_step(c, model, rate, 0);
        check_zero_grad(c, model);
    }
    check_note(c, "the end: ");
    check_true(c, !iterate(c, model, &two, 5, mean), "somebody is active");
}

/* Other ranks end first, and several at once. In an ordinary step after the loop all are active
 * again. */
static void ddp_join_divisor_many(struct check *c)
{
    for (int row = 0; row < MANY; ++row) {
        const struct loop *loop = &many[row];
        struct impl_model *model = check_ddp_model(c, loop->ranks, affine);
        struct ddp_call call = ddp_rows(c, loop->ranks, loop->x);
        double sum[2], mean = 0;

        join_train(c, model, loop, join_name_of(c, row), sum);
        for (int r = 0; r < loop->ranks; ++r)
            mean += loop->x[r] / loop->ranks;
        ddp_fresh_pass(c, model, &call);
        ddp_grads_are(c, model, loop->ranks, mean, 1);
        check_model_close(c, model);
    }
}

/* ---- DDP-20: the model of the last one ------------------------------------------------------- */

/* Runs the loop twice. `apart`: the difference between the weights of two consecutive ranks. */
static void last_one_wins(struct check *c, int row, double apart)
{
    const struct loop *loop = &many[row];
    struct impl_model *model = check_ddp_model(c, loop->ranks, affine);
    double sum[2];

    for (int r = 0; r < loop->ranks; ++r)
        ddp_set(c, model, r, IMPL_VALUE, 0, (const double[]){2 + apart * r});
    for (int turn = 1; turn <= 2; ++turn) {
        join_train(c, model, loop, check_text(c, "%s, loop %d", join_name_of(c, row), turn), sum);
        ddp_all_is(c, model, loop->ranks, IMPL_VALUE, 0,
                   2 + apart * loop->last - turn * (double)rate * sum[0]);
        ddp_all_is(c, model, loop->ranks, IMPL_VALUE, 1, 1 - turn * (double)rate * sum[1]);
    }
    check_model_close(c, model);
}

/* The ranks were equal, and those that ended earlier missed steps. */
static void ddp_join_last(struct check *c)
{
    for (int row = 0; row < MANY; ++row)
        last_one_wins(c, row, 0);
}

/* No two ranks are equal, so the result shows whose parameters were sent. */
static void ddp_join_tie(struct check *c)
{
    for (int row = 0; row < MANY; ++row)
        last_one_wins(c, row, 100);
}

/* ---- DDP-08, DDP-20: buffers ----------------------------------------------------------------- */

enum { COUNT = 2 }; /* after weight and bias */

/* While ranks join, the highest rank that has a batch sends the buffers; at the end it is the last
 * one. */
static void ddp_join_buffers(struct check *c)
{
    for (int row = 0; row < MANY; ++row) {
        const struct loop *loop = &many[row];
        struct impl_model *model =
            check_ddp_model(c, loop->ranks, DDP_MODEL(DDP_AFFINE ",{\"kind\":\"counter\"}"));
        double mean[2], count = 0;
        bool any = true;

        for (int i = 0; any; ++i) {
            check_note(c, "%s, iteration %d: ", join_name_of(c, row), i);
            check_zero_grad(c, model);
            /* Each rank that has a batch gets another count; that of the last one remains. */
            for (int r = 0; r < loop->ranks; ++r)
                if (i < loop->batches[r]) {
                    count = 100 * r + i;
                    ddp_set(c, model, r, IMPL_VALUE, COUNT, &count);
                }
            any = iterate(c, model, loop, i, mean);
            count += any ? 1 : 0;
            for (int r = 0; r < loop->ranks; ++r)
                if (!any || i < loop->batches[r])
                    ddp_rank_is(c, model, r, IMPL_VALUE, COUNT, count);
        }
        check_model_close(c, model);
    }
}

enum { JOIN = IMPL_CAP_DDP | IMPL_CAP_JOIN };

static const struct check_case cases[] = {
    {"DDP-08.join", "DDP-08", MAY, OBSERVED, DDP, JOIN, 0, ddp_join_buffers},
    {"DDP-19.divisor", "DDP-19", MAY, OBSERVED, DDP, JOIN, 0, ddp_join_divisor},
    {"DDP-19.many", "DDP-19", MAY, OBSERVED, DDP, JOIN, 0, ddp_join_divisor_many},
    {"DDP-20.last", "DDP-20", MAY, OBSERVED, DDP, JOIN, 0, ddp_join_last},
    {"DDP-20.tie", "DDP-20", MAY, OBSERVED, DDP, JOIN, 0, ddp_join_tie},
};
const struct check_table ddp_join_table = CHECK_TABLE(cases);
