/* ddp_unused.c: cases of area DDP: parameters that get no gradient on some rank, or on none. */
#include "ddp.h"

#include <ctype.h>
#include <string.h>

#define SEARCHING(layers) "{\"device\":-1,\"find_unused\":true,\"layers\":[" layers "]}"

/* ---- DDP-21: unused on some ranks ------------------------------------------------------------ */

/* A branch uses low if x is not above 0, else high. */
static const char branch[] = SEARCHING("{\"kind\":\"branch\",\"low\":[1],\"high\":[1]}");

static const struct uses {
    int ranks;
    double x[DDP_MOST];
} uses[] = {
    {2, {8, -3}}, {2, {-6, 5}}, {4, {8, 4, -4, 16}}, {4, {-8, -4, -12, 2}}, {4, {1, -1, 2, -2}},
};
enum { USES = sizeof uses / sizeof uses[0] };

/* A rank that does not use the parameter gives zero, and the divisor stays R. The second time
 * gradients are not zeroed: those that are there are reduced as well, also if the parameter was not
 * used. From step 2 on each rank uses the other parameter. */
static void ddp_unused_on_some(struct check *c)
{
    for (int k = 0; k < USES; ++k) {
        const struct uses *use = &uses[k];
        struct impl_model *model = check_ddp_model(c, use->ranks, branch);

        for (int turn = 0; turn < 4; ++turn) {
            double x[DDP_MOST], mean[2] = {0, 0};
            struct ddp_call call;

            for (int r = 0; r < use->ranks; ++r) {
                x[r] = turn < 2 ? use->x[r] : -use->x[r];
                mean[x[r] > 0] += x[r] / use->ranks;
            }
            call = ddp_rows(c, use->ranks, x);
            check_note(c, "setting %d, step %d: ", k, turn);
            if (turn % 2 == 0)
                check_zero_grad(c, model);
            ddp_pass(c, model, &call);
            for (int p = 0; p < 2; ++p)
                ddp_all_is(c, model, use->ranks, IMPL_GRAD, p, (1 + turn % 2) * mean[p]);
        }
        check_model_close(c, model);
    }
}

/* ---- DDP-22: unused everywhere --------------------------------------------------------------- */

/* The parameters are weight, bias, unused (2 elements), weight, bias. */
static const char idle[] = SEARCHING(DDP_AFFINE ",{\"kind\":\"unused\",\"size\":2}," DDP_AFFINE);
enum { IDLE = 2 };

/* Every second rank has a gradient from before, and the others have none. */
static void ddp_unused_everywhere(struct check *c, int ranks)
{
    static const double x[DDP_MOST] = {1, 10, -4, 6};
    struct impl_model *model = check_ddp_model(c, ranks, idle);
    double mean = 0;

    for (int r = 0; r < ranks; ++r)
        mean += x[r] / ranks;
    for (int turn = 1; turn <= 3; ++turn) {
        struct ddp_call call = ddp_rows(c, ranks, x);
        const double own[2] = {123, -7};

        check_note(c, "R=%d, step %d: ", ranks, turn);
        for (int r = 0; turn == 2 && r < ranks; r += 2)
            ddp_set(c, model, r, IMPL_GRAD, IDLE, own);
        ddp_pass(c, model, &call);
        for (int r = 0; r < ranks; ++r) {
            const double *want = turn > 1 && r % 2 == 0 ? own : NULL;
            const struct impl_array *grad = check_get_rank(c, model, r, IMPL_GRAD, IDLE);
            const char *what = check_text(c, "rank %d: gradient of the unused parameter", r);

            if (!want)
                check_is_none(c, what, grad);
            else
                check_values(c, what, grad, 2, want);
        }
        ddp_all_is(c, model, ranks, IMPL_GRAD, 0, 2 * turn * mean);
        ddp_all_is(c, model, ranks, IMPL_GRAD, 4, turn);
    }
}

/* High is used at first, and then no longer. */
static void ddp_unused_later(struct check *c, int ranks)
{
    static const double above[DDP_MOST] = {1, 10, 4, 6}, below[DDP_MOST] = {-2, -20, -8, -3};
    struct impl_model *model = check_ddp_model(c, ranks, branch);

    for (int turn = 0; turn < 3; ++turn) {
        struct ddp_call call = ddp_rows(c, ranks, turn == 0 ? above : below);

        check_note(c, "R=%d, step %d: ", ranks, turn);
        check_zero_grad(c, model);
        for (int r = 0; turn == 2 && r < ranks; ++r)
            ddp_set(c, model, r, IMPL_GRAD, 1, (const double[]){123 + r});
        ddp_pass(c, model, &call);
        for (int r = 0; turn == 1 && r < ranks; ++r)
            check_is_none(c, "gradient of the parameter that is used no more",
                          check_get_rank(c, model, r, IMPL_GRAD, 1));
        for (int r = 0; turn == 2 && r < ranks; ++r)
            ddp_rank_is(c, model, r, IMPL_GRAD, 1, 123 + r);
    }
}

/* ---- DDP-16: used, but only before the step that sends --------------------------------------- */

/* High gets its gradients without sync, and the step that reduces uses low alone: the accumulated
 * gradients are reduced nevertheless. PyTorch 1.13 does not do that (#69031, #42793). */
static void ddp_unused_after_no_sync(struct check *c)
{
    static const double below[DDP_MOST] = {-2, -20, -8, -3};

    for (int k = 0; k < USES; ++k) {
        const struct uses *use = &uses[k];
        struct impl_model *model = check_ddp_model(c, use->ranks, branch);
        double mean[2] = {0, 0};

        for (int r = 0; r < use->ranks; ++r) {
            mean[use->x[r] > 0] += use->x[r] / use->ranks;
            mean[0] += below[r] / use->ranks;
        }
        for (int turn = 0; turn < 2; ++turn) {
            struct ddp_call first = ddp_rows(c, use->ranks, use->x);
            struct ddp_call second = ddp_rows(c, use->ranks, below);

            check_note(c, "setting %d, step %d: ", k, turn);
            check_zero_grad(c, model);
            first.no_sync = true;
            ddp_pass(c, model, &first);
            ddp_pass(c, model, &second);
            for (int p = 0; p < 2; ++p)
                ddp_all_is(c, model, use->ranks, IMPL_GRAD, p, mean[p]);
        }
        check_model_close(c, model);
    }
}

/* ---- DDP-23: a parameter is unused, and unused ones are not searched for --------------------- */

#define AFFINES DDP_AFFINE "," DDP_AFFINE "," DDP_AFFINE

/* The unused parameter is number 6 of 9. */
static const char waiting[] = DDP_MODEL(AFFINES ",{\"kind\":\"unused\"}," DDP_AFFINE);

/* Whether the text has the name, or the number 6, and not only as a digit of another number. */
static bool names_it(const char *text, const char *name)
{
    if (name[0] != '\0' && strstr(text, name))
        return true;
    for (const char *at = text; (at = strchr(at, '6')); ++at)
        if ((at == text || !isdigit((unsigned char)at[-1])) && !isdigit((unsigned char)at[1]))
            return true;
    return false;
}

/* Its backward refuses, or at the latest the next forward, and the error says which parameter it
 * is. */
static void ddp_unused_refused(struct check *c, int ranks)
{
    static const double x[DDP_MOST] = {1, 10, -4, 6};
    struct impl_model *model = check_ddp_model(c, ranks, waiting);
    struct ddp_call call = ddp_rows(c, ranks, x);
    struct impl_param unused;
    int status;

    check_param(c, model, 6, &unused);
    ddp_forward(c, model, &call);
    status = ddp_try_backward(c, model, &call);
    if (status == IMPL_OK)
        status = ddp_try_forward(c, model, &call);
    check_refused(c, "the second forward after a backward without parameter 6", status,
                  DDP_REFUSALS);
    check_true(c, names_it(check_error(c)->text, unused.name),
               "the error must name the parameter without a gradient, by its number 6 or as '%s'; "
               "it is '%s'",
               unused.name, check_error(c)->text);
    check_model_close(c, model);
    model = check_ddp_model(c, ranks, DDP_MODEL(DDP_AFFINE));
    call = ddp_rows(c, ranks, x);
    ddp_pass(c, model, &call);
    ddp_all_is(c, model, ranks, IMPL_GRAD, 1, 1);
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { SEARCH = IMPL_CAP_DDP | IMPL_CAP_FIND_UNUSED };

static const struct check_case cases[] = {
    {"DDP-16.unused", "DDP-16", MAY, OBSERVED, DDP, SEARCH, 0, ddp_unused_after_no_sync},
    {"DDP-21.some", "DDP-21", MAY, OBSERVED, DDP, SEARCH, 0, ddp_unused_on_some},
    {"DDP-22.everywhere", "DDP-22", MAY, OBSERVED, DDP, SEARCH, 0, .ranks = ddp_unused_everywhere},
    {"DDP-22.later", "DDP-22", MAY, OBSERVED, DDP, SEARCH, 0, .ranks = ddp_unused_later},
    {"DDP-23.refused", "DDP-23", MUST_REFUSE, OBSERVED, DDP, IMPL_CAP_DDP, 0,
     .ranks = ddp_unused_refused},
};
const struct check_table ddp_unused_table = CHECK_TABLE(cases);
