/* failure_second.c: a replica fails, the model recovers, and another one fails: the second error is
 * reported, with nothing of the first. */
#include "golden.h"

#include <string.h>

enum { N = 10, STEPS = 6 };

/* Replica `first` fails in step 2, `second` in step 4. */
struct twice {
    int first, second;
    bool backward;
};

static const struct told {
    int status;
    const char *word, *text;
} told[] = {{IMPL_EINVAL, "inval", "the first of them"}, {IMPL_ESHAPE, "shape", "quite another"}};

static const char *second_fails(struct check *c, const struct twice *t, int which, int at)
{
    return check_text(c,
                      "{\"kind\":\"fail\",\"when\":\"%s\",\"replicas\":[%d],\"at\":%d,"
                      "\"status\":\"%s\",\"text\":\"%s\"}",
                      t->backward ? "backward" : "forward", which == 0 ? t->first : t->second, at,
                      told[which].word, told[which].text);
}

static void error_is(struct check *c, int status, const struct told *want, int replica, int device)
{
    const struct impl_error *error = check_error(c);

    check_refused(c, "a step in which a replica fails", status, ALLOW(want->status));
    check_true(c, strstr(error->text, want->text) != NULL, "the error says '%s', must contain '%s'",
               error->text, want->text);
    check_int(c, "the replica that the error names", error->replica, replica);
    check_int(c, "the device that the error names", error->device, device);
}

/* Makes a step, and returns its status. If it has an output and gradients, they must be right. */
static int second_step_all(struct check *c, struct impl_model *model)
{
    const size_t n = N;
    struct golden_call call = {.in = {golden_rows(c, n)}, .n_in = 1};
    struct impl_backward op = {.grad_out = golden_rows(c, n), .n_grad_out = 1, .n_in = 1};
    int status = golden_try_forward(c, model, &call);

    if (status != IMPL_OK)
        return status;
    golden_is_counted(c, "output", &call.out[0], n, 3, 2);
    op.grad_in = check_output(c, 1, 4096);
    status = check_try_backward(c, model, &op);
    if (status == IMPL_OK)
        golden_is_counted(c, "input gradient", &op.grad_in[0], n, 2, 2);
    return status;
}

static void fails_twice(struct check *c, int k, const struct twice *t)
{
    /* In a forward the first of the layers fails first, in a backward the last one. The layer that
     * fails in step 4 runs after the one that fails in step 2, and has counted that step. */
    const char *early = second_fails(c, t, 0, 2), *late = second_fails(c, t, 1, 4);
    struct impl_model *model =
        golden_parallel(c, k, "",
                        check_text(c, "%s," GOLDEN_AFFINE ",%s", t->backward ? late : early,
                                   t->backward ? early : late));
    int good = 0;

    for (int turn = 1; turn <= STEPS; ++turn) {
        const int failing = turn == 2 ? t->first : t->second;
        int status;

        check_note(c, "K=%d, replicas %d and %d, step %d: ", k, t->first, t->second, turn);
        status = second_step_all(c, model);
        if (turn == 2 || turn == 4)
            error_is(c, status, &told[turn / 2 - 1], failing, golden_ids(c, k)[failing]);
        else
            check_accepted(c, "status of a step in which none fails", status);
        good += status == IMPL_OK;
        check_value_is(c, model, 0, 2);
        check_grads_are(c, model, 385 * good, 55 * good);
    }
    check_model_close(c, model);
}

static void each_pair(struct check *c, int k)
{
    const bool backward = check_variant(c) == 1;
    size_t size[IMPL_MAX_DEVICES];
    const int m = check_shards(N, k, size);

    fails_twice(c, k, &(struct twice){0, m - 1, backward});
    fails_twice(c, k, &(struct twice){m - 1, m / 2 - (m == 2), backward});
}

static const struct check_case cases[] = {
    {"APPLY-13.forward", "APPLY-13", MUST, REPORTED, DP, PARALLEL, 2, .each = each_pair},
    {"APPLY-13.backward", "APPLY-13", MUST, REPORTED, DP, PARALLEL, 2, .each = each_pair,
     .variant = 1},
};
const struct check_table failure_second_table = CHECK_TABLE(cases);
