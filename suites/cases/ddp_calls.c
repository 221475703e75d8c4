/* ddp_calls.c: cases of area DDP: how a user calls the layer: by name, in both modes, in no_sync
 * twice, two layers in turn; and what it returns. */
#include "ddp.h"

static const double rows[DDP_MOST] = {1, 10, -4, 6}, other[DDP_MOST] = {7, -3, 2, 40};

static double calls_mean_of(const double x[], int ranks)
{
    double sum = 0;

    for (int r = 0; r < ranks; ++r)
        sum += x[r];
    return sum / ranks;
}

/* ---- DDP-34: values and names are handed on -------------------------------------------------- */

/* y = 3 (2a + 1) b + 1000, with the list [3]: of a, b and the list the last ones have names. */
static void ddp_calls_keywords(struct check *c, int ranks)
{
    static const double factor = 3;

    for (int named = 0; named <= 3; ++named) {
        struct impl_model *model = check_ddp_model(
            c, ranks,
            check_text(c,
                       "{\"device\":-1,\"keywords\":%d,\"layers\":[{\"kind\":\"first\",\"layers\":"
                       "[" DDP_AFFINE "]},{\"kind\":\"multiply\"},{\"kind\":\"argument\"}]}",
                       named));

        for (int turn = 0; turn < 2; ++turn) {
            struct ddp_call call = {.ranks = ranks, .n_in = 2, .n_out = 1, .n_args = 1};
            double weight = 0;

            check_note(c, "R=%d, %d of 3 values by name, step %d: ", ranks, named, turn);
            call.args = check_vector(c, 1, &factor);
            for (int r = 0; r < ranks; ++r) {
                call.in[r][0] = check_needs_grad(check_vector(c, 1, &rows[r]));
                call.in[r][1] = check_needs_grad(check_vector(c, 1, &other[r]));
                weight += 3 * rows[r] * other[r] / ranks;
            }
            ddp_fresh_pass(c, model, &call);
            for (int r = 0; r < ranks; ++r) {
                const double scaled = 3 * (2 * rows[r] + 1);

                check_values(c, check_text(c, "output of rank %d", r), call.out[r][0], 1,
                             (const double[]){scaled * other[r] + 1000});
                check_values(c, check_text(c, "input gradient of rank %d", r), call.grad_in[r][1],
                             1, &scaled);
            }
            ddp_grads_are(c, model, ranks, weight, 3 * calls_mean_of(other, ranks));
        }
        check_model_close(c, model);
    }
}

/* ---- DDP-34: what the module returns is returned --------------------------------------------- */

/* A tensor of two rows, then a dictionary of that and of its rows doubled, of which one gets no
 * gradient; then a tuple of one tensor. */
static void ddp_calls_returned(struct check *c, int ranks)
{
    static const char *const words[] = {"tensor", "dict", "tuple"};

    for (int form = 0; form < 3; ++form) {
        const bool two = form == 1;
        struct impl_model *model = check_ddp_model(
            c, ranks,
            check_text(c, "{\"device\":-1,\"returns\":\"%s\",\"layers\":[" DDP_AFFINE "%s]}",
                       words[form], two ? ",{\"kind\":\"fork\"}" : ""));

        for (int turn = 0; turn < 2; ++turn) {
            struct ddp_call call = {.ranks = ranks, .n_in = 1, .n_out = two ? 2 : 1};

            check_note(c, "R=%d, a %s, step %d: ", ranks, words[form], turn);
            for (int r = 0; r < ranks; ++r) {
                const double x[] = {rows[r], other[r]}, g[] = {1, 0, 1, 0};

                call.in[r][0] = check_vector(c, 2, x);
                call.g[r][two ? 1 : 0] = check_vector(c, two ? 4 : 2, g);
            }
            ddp_fresh_pass(c, model, &call);
            for (int r = 0; r < ranks; ++r)
                check_values(c, check_text(c, "output of rank %d", r), call.out[r][0], 2,
                             (const double[]){2 * rows[r] + 1, 2 * other[r] + 1});
            if (two)
                ddp_grads_are(c, model, ranks,
                              calls_mean_of(rows, ranks) + calls_mean_of(other, ranks), 2);
            else
                ddp_grads_are(c, model, ranks, calls_mean_of(rows, ranks), 1);
        }
        check_model_close(c, model);
    }
}

/* ---- DDP-34: modes reach the module ---------------------------------------------------------- */

static void ddp_calls_modes(struct check *c, int ranks)
{
    struct impl_model *model =
        check_ddp_model(c, ranks, DDP_MODEL(DDP_AFFINE ",{\"kind\":\"tag_mode\"}"));

    for (int turn = 0; turn < 6; ++turn) {
        struct ddp_call call = ddp_rows(c, ranks, rows);

        check_note(c, "R=%d, step %d: ", ranks, turn);
        call.eval = turn % 3 > 0;
        call.infer = turn % 3 > 1;
        check_zero_grad(c, model);
        ddp_forward(c, model, &call);
        for (int r = 0; r < ranks; ++r)
            check_values(c, check_text(c, "output of rank %d", r), call.out[r][0], 1,
                         (const double[]){2 * rows[r] + 1 + (call.infer ? 0 : 1000) +
                                          (call.eval ? 0 : 2000)});
        if (call.infer)
            continue;
        ddp_backward(c, model, &call);
        ddp_grads_are(c, model, ranks, calls_mean_of(rows, ranks), 1);
    }
}

/* ---- DDP-35: the end of an inner no_sync does not end the outer one -------------------------- */

static void ddp_calls_inner(struct check *c, int ranks)
{
    struct impl_model *model = check_ddp_model(
        c, ranks, "{\"device\":-1,\"inner_no_sync\":true,\"layers\":[" DDP_AFFINE "]}");
    double mean = 0;

    for (int turn = 0; turn < 4; ++turn) {
        struct ddp_call call = ddp_rows(c, ranks, turn % 2 == 0 ? rows : other);

        check_note(c, "R=%d, step %d: ", ranks, turn);
        call.no_sync = turn % 2 == 0;
        if (call.no_sync)
            check_zero_grad(c, model);
        ddp_pass(c, model, &call);
        mean = calls_mean_of(rows, ranks) + calls_mean_of(other, ranks);
        for (int r = 0; call.no_sync && r < ranks; ++r)
            ddp_rank_is(c, model, r, IMPL_GRAD, 0, rows[r]);
        if (!call.no_sync)
            ddp_grads_are(c, model, ranks, mean, 2);
    }
}

/* ---- DDP-36: two layers know nothing of each other ------------------------------------------- */

enum { COUNT = 2 }; /* after weight and bias */

/* The first is in no_sync in every other step, the second in the steps between: backwards in the
 * order of the forwards, and the other way round. Each sends its buffers unless its own forward
 * before was in no_sync. */
static void ddp_calls_two(struct check *c, int ranks)
{
    struct impl_model *model[2];

    for (int m = 0; m < 2; ++m)
        model[m] = check_ddp_model(c, ranks, DDP_MODEL(DDP_AFFINE ",{\"kind\":\"counter\"}"));
    for (int turn = 0; turn < 6; ++turn) {
        struct ddp_call call[2];

        check_note(c, "R=%d, step %d: ", ranks, turn);
        for (int m = 0; m < 2; ++m) {
            const bool sent = turn < 2 || turn % 2 == m;

            check_zero_grad(c, model[m]);
            ddp_set(c, model[m], 1, IMPL_VALUE, COUNT, (const double[]){100});
            call[m] = ddp_rows(c, ranks, m == 0 ? rows : other);
            call[m].no_sync = turn > 0 && turn % 2 == m;
            ddp_forward(c, model[m], &call[m]);
            ddp_rank_is(c, model[m], 1, IMPL_VALUE, COUNT, sent ? turn + 1 : 101);
        }
        for (int i = 0; i < 2; ++i) {
            const int m = turn < 3 ? i : 1 - i;

            ddp_backward(c, model[m], &call[m]);
        }
        for (int m = 0; m < 2; ++m) {
            const double *x = m == 0 ? rows : other;

            check_note(c, "R=%d, step %d, model %d: ", ranks, turn, m);
            if (!call[m].no_sync)
                ddp_grads_are(c, model[m], ranks, calls_mean_of(x, ranks), 1);
            for (int r = 0; call[m].no_sync && r < ranks; ++r)
                ddp_rank_is(c, model[m], r, IMPL_GRAD, 0, x[r]);
        }
    }
}

/* ---- DDP-09: a forward whose backward never comes -------------------------------------------- */

static void ddp_calls_dropped(struct check *c, int ranks)
{
    struct impl_model *model = check_ddp_model(c, ranks, DDP_MODEL(DDP_AFFINE));

    for (int turn = 0; turn < 4; ++turn) {
        struct ddp_call dropped = ddp_rows(c, ranks, other), call = ddp_rows(c, ranks, rows);

        check_note(c, "R=%d, step %d: ", ranks, turn);
        dropped.no_sync = turn == 2;
        check_zero_grad(c, model);
        ddp_forward(c, model, &dropped);
        ddp_pass(c, model, &call);
        ddp_grads_are(c, model, ranks, calls_mean_of(rows, ranks), 1);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

enum {
    CALLS = IMPL_CAP_DDP | IMPL_CAP_CALLS,
    NAMED = CALLS | IMPL_CAP_ARGUMENTS | IMPL_CAP_TRANSFORMER
};

static const struct check_case cases[] = {
    {"DDP-09.dropped", "DDP-09", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = ddp_calls_dropped},
    {"DDP-34.keywords", "DDP-34", MAY, OBSERVED, DDP, NAMED, 0, .ranks = ddp_calls_keywords},
    {"DDP-34.returned", "DDP-34", MAY, OBSERVED, DDP, CALLS, 0, .ranks = ddp_calls_returned},
    {"DDP-34.modes", "DDP-34", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = ddp_calls_modes},
    {"DDP-35.inner", "DDP-35", MAY, OBSERVED, DDP, CALLS, 0, .ranks = ddp_calls_inner},
    {"DDP-36.two", "DDP-36", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = ddp_calls_two},
};
const struct check_table ddp_calls_table = CHECK_TABLE(cases);
