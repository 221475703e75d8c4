/* failure_ranks.c: cases of area DDP: a rank fails. PyTorch raises the exception of the rank's
 * module, in the process of that rank; the program that started the ranks knows its number. */
#include "ddp.h"

#include <string.h>

static const double rows[DDP_MOST] = {1, 10, -4, 6};

static const struct kind {
    int status;
    const char *word, *text;
} kinds[] = {{IMPL_EINVAL, "inval", "wonderful"},
             {IMPL_ESHAPE, "shape", "3 is not 4"},
             {IMPL_EFAULT, "fault", "a bad day"}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const char *ranks_fails(struct check *c, int rank, const char *when, int at,
                               const struct kind *kind)
{
    return check_text(c,
                      "{\"kind\":\"fail\",\"when\":\"%s\",\"replicas\":[%d],\"at\":%d,"
                      "\"status\":\"%s\",\"text\":\"%s of %d\"}",
                      when, rank, at, kind->word, kind->text, rank);
}

static void is_right(struct check *c, struct impl_model *model, int ranks,
                     const struct ddp_call *call)
{
    double mean = 0;

    for (int r = 0; r < ranks; ++r) {
        const double y = 2 * rows[r] + 1;

        mean += rows[r] / ranks;
        check_values(c, check_text(c, "output of rank %d", r), call->out[r][0], 1, &y);
    }
    ddp_grads_are(c, model, ranks, mean, 1);
}

static void good_pass(struct check *c, struct impl_model *model, int ranks, struct ddp_call *call)
{
    check_zero_grad(c, model);
    *call = ddp_rows(c, ranks, rows);
    ddp_pass(c, model, call);
    is_right(c, model, ranks, call);
}

/* Makes a forward, and a backward if that is to fail. */
static int bad_pass(struct check *c, struct impl_model *model, int ranks, const char *when)
{
    struct ddp_call call = ddp_rows(c, ranks, rows);
    const int status = ddp_try_forward(c, model, &call);

    if (when[0] == 'f')
        return status;
    check_accepted(c, "status of the forward", status);
    return ddp_try_backward(c, model, &call);
}

/* Checks the number, kind and text of the rank; if the error names a device at all, it is that of
 * the rank. */
static void error_is(struct check *c, int status, const struct kind *kind, int rank, int device)
{
    const struct impl_error *error = check_error(c);
    const char *text = check_text(c, "%s of %d", kind->text, rank);

    check_refused(c, "a step in which a rank fails", status, ALLOW(kind->status));
    check_true(c, strstr(error->text, text) != NULL, "the error says '%s', must contain '%s'",
               error->text, text);
    check_int(c, "the rank that the error names", error->replica, rank);
    check_true(c, error->device == IMPL_NOWHERE || error->device == device,
               "the error names device %d; rank %d is on %d", error->device, rank, device);
    check_int(c, "a second device that the error names", error->device_also, IMPL_NOWHERE);
}

static void one_fails(struct check *c, int ranks, int bad, const char *when,
                      const struct kind *kind)
{
    struct impl_model *model = check_ddp_model(
        c, ranks, check_text(c, DDP_MODEL("%s," DDP_AFFINE), ranks_fails(c, bad, when, 2, kind)));
    struct ddp_call call;

    check_note(c, "R=%d, rank %d fails in %s: ", ranks, bad, when);
    good_pass(c, model, ranks, &call);
    error_is(c, bad_pass(c, model, ranks, when), kind, bad, call.out[bad][0]->device);
    check_model_close(c, model);
}

static void failure_rank_named(struct check *c)
{
    one_fails(c, 2, 1, "forward", &kinds[0]);
    one_fails(c, 2, 0, "backward", &kinds[1]);
    one_fails(c, 4, 2, "backward", &kinds[2]);
    one_fails(c, 4, 3, "forward", &kinds[1]);
}

/* Ranks 1 and 3 fail in different ways: the error is one of the two, and all of it. */
static void failure_rank_of_several(struct check *c)
{
    enum { RANKS = 4 };
    struct impl_model *model = check_ddp_model(
        c, RANKS,
        check_text(c, DDP_MODEL("%s,%s," DDP_AFFINE), ranks_fails(c, 1, "forward", 2, &kinds[0]),
                   ranks_fails(c, 3, "forward", 2, &kinds[1])));
    struct ddp_call call;
    int status, rank;

    good_pass(c, model, RANKS, &call);
    status = bad_pass(c, model, RANKS, "forward");
    rank = check_error(c)->replica;
    check_true(c, rank == 1 || rank == 3, "the error names rank %d, must be 1 or 3", rank);
    error_is(c, status, &kinds[rank == 3], rank, call.out[rank][0]->device);
}

/* ---- DDP-32: after it ------------------------------------------------------------------------ */

/* Checks that the model is right, or refuses for good; a mean of other values is an error. Returns
 * false if it refuses. */
static bool goes_on(struct check *c, struct impl_model *model, int ranks)
{
    struct ddp_call call = ddp_rows(c, ranks, rows);
    const int status = ddp_try_forward(c, model, &call);

    if (status != IMPL_OK) {
        check_refused(c, "a forward after a rank's failure", status, DDP_REFUSALS);
        check_refused(c, "another forward after a rank's failure", ddp_try_forward(c, model, &call),
                      DDP_REFUSALS);
        return false;
    }
    check_zero_grad(c, model);
    ddp_backward(c, model, &call);
    is_right(c, model, ranks, &call);
    return true;
}

/* Rank 1 fails in step 2, rank 0 in step 5, which is its sixth call because step 3 runs twice. */
static void recovers(struct check *c, int ranks, const char *when)
{
    const bool backward = when[0] == 'b';
    const char *early = ranks_fails(c, 1, when, 2, &kinds[0]),
               *late = ranks_fails(c, 0, when, 6, &kinds[1]);
    struct impl_model *model =
        check_ddp_model(c, ranks,
                        check_text(c, DDP_MODEL("%s,%s," DDP_AFFINE), backward ? late : early,
                                   backward ? early : late));
    struct ddp_call call;

    for (int turn = 1; turn <= 7; ++turn) {
        const bool fails_now = turn == 2 || turn == 5;

        check_note(c, "R=%d, failures in %s, step %d: ", ranks, when, turn);
        if (fails_now) {
            check_zero_grad(c, model);
            error_is(c, bad_pass(c, model, ranks, when), &kinds[turn == 5], turn == 2,
                     call.out[turn == 2][0]->device);
        } else if (turn == 3 && !goes_on(c, model, ranks)) {
            break;
        } else {
            good_pass(c, model, ranks, &call);
            check_step(c, model, 0, 0);
            ddp_all_is(c, model, ranks, IMPL_VALUE, 0, 2);
        }
    }
    check_model_close(c, model);
    check_note(c, "R=%d, a new model after failures in %s: ", ranks, when);
    model = check_ddp_model(c, ranks, DDP_MODEL(DDP_AFFINE));
    good_pass(c, model, ranks, &call);
    check_model_close(c, model);
}

static void failure_rank_after(struct check *c, int ranks)
{
    recovers(c, ranks, "forward");
    recovers(c, ranks, "backward");
}

/* y = x, with two parameters. If a layer before it fails in backward, they have their gradients. */
#define DDP_ONE "{\"kind\":\"affine\",\"weight\":[1]}"

static int all_try(struct check *c, struct impl_model *model, int ranks, bool no_sync)
{
    struct ddp_call call = ddp_rows(c, ranks, rows);
    int status;

    call.no_sync = no_sync;
    status = ddp_try_forward(c, model, &call);
    if (status != IMPL_OK)
        return status;
    check_zero_grad(c, model);
    status = ddp_try_backward(c, model, &call);
    if (status == IMPL_OK && !no_sync)
        is_right(c, model, ranks, &call);
    return status;
}

/* All ranks fail in step 2: none waits for another, so they can go on. Ranks that run one after
 * another fail so, too: each in its second step. */
static void all_fail(struct check *c, int ranks, const char *when, bool no_sync)
{
    static const char text[] = "all of us";
    const char *fails = check_text(c,
                                   "{\"kind\":\"fail\",\"when\":\"%s\",\"replicas\":%s,"
                                   "\"at\":2,\"status\":\"inval\",\"text\":\"%s\"}",
                                   when, check_ids(c, ranks), text);
    struct impl_model *model =
        check_ddp_model(c, ranks, check_text(c, DDP_MODEL(DDP_AFFINE ",%s," DDP_ONE), fails));
    struct ddp_call call;
    bool refused;
    int status;

    check_note(c, "R=%d, failures in %s%s: ", ranks, when, no_sync ? " without sync" : "");
    good_pass(c, model, ranks, &call);
    status = all_try(c, model, ranks, no_sync);
    check_refused(c, "a step in which all ranks fail", status, ALLOW(IMPL_EINVAL));
    check_note(c, "R=%d, after failures in %s%s: ", ranks, when, no_sync ? " without sync" : "");
    for (int r = 1; r < ranks && status != IMPL_OK && strstr(check_error(c)->text, text); ++r)
        status = all_try(c, model, ranks, false);
    refused = status != IMPL_OK && !strstr(check_error(c)->text, text);
    if (goes_on(c, model, ranks)) {
        check_true(c, !refused, "a step was refused, and the next one accepted");
        good_pass(c, model, ranks, &call);
    }
    check_model_close(c, model);
    model = check_ddp_model(c, ranks, DDP_MODEL(DDP_AFFINE));
    good_pass(c, model, ranks, &call);
    check_model_close(c, model);
}

/* Variant 0: without sync, which an error ends as well. */
static void failure_of_all(struct check *c, int ranks)
{
    all_fail(c, ranks, "forward", check_variant(c) == 0);
    all_fail(c, ranks, "backward", check_variant(c) == 0);
}

static const struct check_case cases[] = {
    {"DDP-31.named", "DDP-31", MUST, REPORTED, DDP, IMPL_CAP_DDP, 0, failure_rank_named, 60000},
    {"DDP-31.of_several", "DDP-31", MUST, REPORTED, DDP, IMPL_CAP_DDP, 0, failure_rank_of_several,
     30000},
    {"DDP-32.after", "DDP-32", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = failure_rank_after,
     .limit_ms = 60000},
    {"DDP-32.no_sync", "DDP-32", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = failure_of_all,
     .limit_ms = 60000},
    {"DDP-32.all", "DDP-32", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = failure_of_all,
     .limit_ms = 60000, .variant = 1},
};
const struct check_table failure_ranks_table = CHECK_TABLE(cases);
