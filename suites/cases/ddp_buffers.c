/* ddp_buffers.c: cases of area DDP: buffers are sent from rank 0 before a forward, in place. */
#include "ddp.h"

static const double rows[DDP_MOST] = {1, 10, -4, 6};

static const char counting[] =
    DDP_MODEL(DDP_AFFINE ",{\"kind\":\"counter\",\"count\":[5]}"); /* weight, bias, count */
enum { COUNT = 2 };

/* ---- DDP-08: before each forward, but not after one without sync or without grad mode -------- */

static const struct turn {
    bool no_sync, infer;
    bool sent; /* sent before the forward, as the turn before requires */
} turns[] = {
    {false, false, true},  {false, false, true},  {true, false, true},  {true, false, false},
    {false, false, false}, {false, false, true},  {false, true, true},  {false, true, false},
    {true, true, false},   {false, false, false}, {false, false, true},
};
enum { TURNS = sizeof turns / sizeof turns[0] };

static void ddp_buffers_sent(struct check *c, int ranks)
{
    struct impl_model *model = check_ddp_model(c, ranks, counting);

    for (int i = 0; i < TURNS; ++i) {
        check_note(c, "R=%d, step %d: ", ranks, i);
        /* In each turn every rank begins with another count. That of rank 0 is 5, and one more for
         * each turn. */
        struct ddp_call call = ddp_rows(c, ranks, rows);

        for (int r = 1; r < ranks; ++r)
            ddp_set(c, model, r, IMPL_VALUE, COUNT, (const double[]){100 * r});
        call.no_sync = turns[i].no_sync;
        call.infer = turns[i].infer;
        ddp_forward(c, model, &call);
        for (int r = 0; r < ranks; ++r)
            ddp_rank_is(c, model, r, IMPL_VALUE, COUNT,
                        r == 0 || turns[i].sent ? 5 + i + 1 : 100 * r + 1);
        if (!call.infer)
            ddp_backward(c, model, &call);
        ddp_all_is(c, model, ranks, IMPL_VALUE, 0, 2); /* parameters stay as they are */
    }
}

/* ---- batch norm ------------------------------------------------------------------------------ */

/* The parameters are weight, bias, mean, variance, batches. eps is lost in var + eps; it is not 0,
 * which PyTorch refuses. */
static const char norm[] = DDP_MODEL("{\"kind\":\"batch_norm\",\"features\":1,\"momentum\":0.5,"
                                     "\"eps\":1e-24,\"weight\":[1],\"running_var\":[1]}");
enum { MEAN = 2, VARIANCE, BATCHES };

static struct ddp_call buffers_columns(struct check *c, int ranks, size_t n, const double x[])
{
    struct ddp_call call = {.ranks = ranks, .n_in = 1, .n_out = 1};

    for (int r = 0; r < ranks && r < DDP_MOST; ++r)
        call.in[r][0] = check_needs_grad(check_column(c, n, x + (size_t)r * n));
    return call;
}

/* Rank r moves the statistics that rank 0 had after the forward before by its two rows, 4r + turn
 * and two more: their mean is 4r + turn + 1, their variance 2. */
static void ddp_buffers_statistics(struct check *c, int ranks)
{
    struct impl_model *model = check_ddp_model(c, ranks, norm);
    double mean = 0, variance = 1;

    for (int turn = 0; turn < 3; ++turn) {
        double x[2 * DDP_MOST];
        struct ddp_call call;

        check_note(c, "R=%d, step %d: ", ranks, turn);
        for (int r = 0; r < ranks; ++r) {
            x[2 * r] = 4 * r + turn;
            x[2 * r + 1] = x[2 * r] + 2;
        }
        call = buffers_columns(c, ranks, 2, x);
        ddp_pass(c, model, &call);
        variance = 0.5 * variance + 0.5 * 2;
        for (int r = 0; r < ranks; ++r) {
            check_values(c, check_text(c, "output of rank %d", r), call.out[r][0], 2,
                         (const double[]){-1, 1});
            ddp_rank_is(c, model, r, IMPL_VALUE, MEAN, 0.5 * mean + 0.5 * (4 * r + turn + 1));
            ddp_rank_is(c, model, r, IMPL_VALUE, VARIANCE, variance);
            ddp_rank_is(c, model, r, IMPL_VALUE, BATCHES, turn + 1);
        }
        mean = 0.5 * mean + 0.5 * (turn + 1);
    }
}

/* PyTorch counts batches in an int64. Such a number is larger than the integers that a float holds,
 * and every rank begins with another one. */
static void ddp_buffers_batches(struct check *c, int ranks)
{
    struct impl_model *model = check_ddp_model(c, ranks, norm);
    struct impl_param param;
    double first;

    check_param(c, model, BATCHES, &param);
    first = param.dtype == IMPL_I64 ? 1099511627777 : 5;
    for (int turn = 0; turn < 3; ++turn) {
        double x[2 * DDP_MOST];
        struct ddp_call call;

        check_note(c, "R=%d, step %d: ", ranks, turn);
        for (int r = 0; r < ranks; ++r) {
            x[2 * r] = 4 * r;
            x[2 * r + 1] = x[2 * r] + 2;
            if (r > 0 || turn == 0)
                ddp_set(c, model, r, IMPL_VALUE, BATCHES, (const double[]){first + 100 * r});
        }
        call = buffers_columns(c, ranks, 2, x);
        ddp_pass(c, model, &call);
        ddp_all_is(c, model, ranks, IMPL_VALUE, BATCHES, first + turn + 1);
    }
}

/* ---- DDP-09: two forwards before a backward -------------------------------------------------- */

static struct ddp_call evaluate(struct check *c, struct impl_model *model, int ranks,
                                const double x[], double mean, double deviation)
{
    struct ddp_call call = buffers_columns(c, ranks, 1, x);

    call.eval = true;
    /* In evaluation y = (x - mean) / 2, then (x - mean) / 4. */
    ddp_set(c, model, 0, IMPL_VALUE, MEAN, &mean);
    ddp_set(c, model, 0, IMPL_VALUE, VARIANCE, (const double[]){deviation * deviation});
    ddp_forward(c, model, &call);
    for (int r = 0; r < ranks; ++r)
        check_values(c, check_text(c, "output of rank %d", r), call.out[r][0], 1,
                     (const double[]){(x[r] - mean) / deviation});
    return call;
}

static void input_gradients(struct check *c, const struct ddp_call *call, double want)
{
    for (int r = 0; r < call->ranks; ++r)
        check_values(c, check_text(c, "input gradient of rank %d", r), call->grad_in[r][0], 1,
                     &want);
}

/* The second forward overwrites the buffers that the first one has used. The backward of the first
 * is right, or it is refused. */
static void ddp_buffers_two_forwards(struct check *c, int ranks)
{
    static const double x[DDP_MOST] = {8, 24, -8, 40}, other[DDP_MOST] = {4, -4, 12, 20};
    struct impl_model *model = check_ddp_model(c, ranks, norm);
    struct ddp_call first, second;
    int status;

    check_note(c, "R=%d, first forward: ", ranks);
    first = evaluate(c, model, ranks, x, 2, 2);
    check_note(c, "R=%d, second forward: ", ranks);
    second = evaluate(c, model, ranks, other, 4, 4);
    check_note(c, "R=%d, backward of the second: ", ranks);
    ddp_backward(c, model, &second);
    input_gradients(c, &second, 0.25);
    check_note(c, "R=%d, backward of the first: ", ranks);
    status = ddp_try_backward(c, model, &first);
    if (status == IMPL_OK)
        input_gradients(c, &first, 0.5);
    else
        check_refused(c, "backward", status, DDP_REFUSALS);
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { NORM = IMPL_CAP_DDP | IMPL_CAP_BATCH_NORM };

static const struct check_case cases[] = {
    {"DDP-08.sent", "DDP-08", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = ddp_buffers_sent},
    {"DDP-08.statistics", "DDP-08", MAY, OBSERVED, DDP, NORM, 0, .ranks = ddp_buffers_statistics},
    {"DDP-08.batches", "DDP-08", MAY, OBSERVED, DDP, NORM, 0, .ranks = ddp_buffers_batches},
    {"DDP-09.two_forwards", "DDP-09", MAY, OBSERVED, DDP, NORM, 0,
     .ranks = ddp_buffers_two_forwards},
};
const struct check_table ddp_buffers_table = CHECK_TABLE(cases);
