/* agree_trained.c: cases of area AGREE: the same step in every run, and training on any number of
 * devices. */
#include "agree.h"
#include "bound.h"
#include "ids.h"

#include <float.h>
#include <math.h>

/* ---- AGREE-02: the same step twice ----------------------------------------------------------- */

struct run {
    struct impl_array *y, *dx, *grad[4], *value[4];
};

/* Checks v = momentum * v + g, w -= rate * v, with the v, g and w that the run itself reported. */
static void stepped(struct check *c, const struct impl_array *before,
                    const struct impl_array *after, const struct impl_array *grad, double v[])
{
    const double rate = (double)0.05F, momentum = (double)0.9F, eps = (double)FLT_EPSILON;

    for (size_t e = 0; e < check_elements(before); ++e) {
        const double g = check_element(grad, e), was = check_element(before, e);
        const double size = fabs(momentum * v[e]) + fabs(g);

        v[e] = momentum * v[e] + g;
        check_true(c,
                   fabs(check_element(after, e) - (was - rate * v[e])) <=
                       4 * eps * (fabs(was) + rate * size),
                   "element %zu of a parameter is %.9g after a step, must be %.9g", e,
                   check_element(after, e), was - rate * v[e]);
    }
}

/* Returns the answer for a batch, from the parameters that the model has now. */
static struct bound_answer net_answer(struct check *c, struct impl_model *model,
                                      const struct impl_array *x, const struct impl_array *g)
{
    struct bound_matrix param[BOUND_PARAMS], in = bound_taken(c, x), up = bound_taken(c, g);

    for (int p = 0; p < BOUND_PARAMS; ++p)
        param[p] = bound_taken(c, check_get(c, model, IMPL_VALUE, p));
    return bound_net(c, param, &in, &up);
}

/* Makes two steps of training with momentum, on data that are not exact. */
static void train(struct check *c, int k, const char *delays, struct run *run)
{
    enum { ROWS = 11, IN = 6, OUT = 3 };
    const size_t in[] = {ROWS, IN}, out[] = {ROWS, OUT};
    struct impl_model *model =
        check_parallel(c, k, mixed_ids(k), "",
                       check_text(c,
                                  "{\"kind\":\"sleep\",\"forward_ms\":[%s],\"backward_ms\":[%s]},"
                                  "{\"kind\":\"linear\",\"in\":6,\"out\":5},{\"kind\":\"relu\"},"
                                  "{\"kind\":\"linear\",\"in\":5,\"out\":3}",
                                  delays, delays));
    static const size_t size[] = {30, 5, 15, 3};

    double velocity[4][30] = {{0}};

    for (int p = 0; p < 4; ++p) {
        check_set(c, model, IMPL_VALUE, p, check_randoms(c, size[p], 60 + (uint64_t)p));
        run->value[p] = check_get(c, model, IMPL_VALUE, p);
    }
    for (uint64_t step = 0; step < 2; ++step) {
        const struct impl_array *x =
            check_needs_grad(check_array(c, 2, in, check_randoms(c, (size_t)ROWS * IN, 70 + step)));
        const struct impl_array *g =
            check_on(check_array(c, 2, out, check_randoms(c, (size_t)ROWS * OUT, 80 + step)),
                     mixed_ids(k)[0]);
        const struct bound_answer known = net_answer(c, model, x, g);

        check_zero_grad(c, model);
        run->y = check_forward(c, model, x);
        run->dx = check_backward(c, model, g);
        bound_is(c, "output", run->y, &known.y);
        bound_is(c, "input gradient", run->dx, &known.dx);
        for (int p = 0; p < 4; ++p) {
            run->grad[p] = check_get(c, model, IMPL_GRAD, p);
            bound_is(c, check_text(c, "gradient %d", p), run->grad[p], &known.grad[p]);
        }
        check_step(c, model, 0.05F, 0.9F);
        for (int p = 0; p < 4; ++p) {
            const struct impl_array *before = run->value[p];

            run->value[p] = check_get(c, model, IMPL_VALUE, p);
            stepped(c, before, run->value[p], run->grad[p], velocity[p]);
        }
    }
}

static void agree_runs(struct check *c)
{
    static const char *const delays[] = {"0", "0", "2,1,0"};

    for (int i = 0, k; (k = check_count(c, i)) != 0; ++i) {
        struct run first, again;
        train(c, k, delays[0], &first);
        for (size_t turn = 1; turn < sizeof delays / sizeof delays[0]; ++turn) {
            check_note(c, "K=%d, run %zu: ", k, turn + 1);
            train(c, k, k < 3 ? delays[0] : delays[turn], &again);
            check_same(c, "output", again.y, first.y);
            check_same(c, "input gradient", again.dx, first.dx);
            for (int p = 0; p < 4; ++p) {
                check_same(c, check_text(c, "gradient %d", p), again.grad[p], first.grad[p]);
                check_same(c, check_text(c, "trained parameter %d", p), again.value[p],
                           first.value[p]);
            }
        }
    }
}

/* ---- AGREE-03: trained on K devices, used on each -------------------------------------------- */

static const char small[] =
    "{\"kind\":\"linear\",\"in\":2,\"out\":3,\"weight\":[1,-2,3,4,-5,2],\"bias\":[1,2,-3]},"
    "{\"kind\":\"relu\"},{\"kind\":\"linear\",\"in\":3,\"out\":1,\"weight\":[2,-1,3],\"bias\":[5]}";
enum { PARAMS = 4 };

/* Checks the bits of the parameters, which a closed form gives. */
static void learned(struct check *c, struct impl_model *model, const struct bound_matrix param[],
                    const struct bound_answer *known, double velocity[][6])
{
    for (int p = 0; p < PARAMS; ++p) {
        const size_t n = param[p].rows * param[p].columns;
        double want[6];

        for (size_t e = 0; e < n; ++e) {
            velocity[p][e] = 0.5 * velocity[p][e] + known->grad[p].at[e].value;
            param[p].at[e].value -= 0.0625 * velocity[p][e];
            want[e] = param[p].at[e].value;
        }
        check_values(c, check_text(c, "trained parameter %d", p),
                     check_get(c, model, IMPL_VALUE, p), n, want);
    }
}

/* Makes two steps; small data and a rate of 1/16 keep every number exact. */
static struct impl_model *trained(struct check *c, int k)
{
    static const double x[2][18] = {{1, 2, -3, 1, 2, 2, -1, 3, 3, -2, 1, 1, 2, -3, -2, 1, 3, 3},
                                    {2, -1, 1, 3, -2, 3, 3, 1, -1, 2, 2, -3, 1, -1, 3, 2, -3, 1}};
    static const double g[2][9] = {{1, -2, 2, 1, -1, 2, -2, 1, 2}, {-1, 2, 1, -2, 2, 1, 1, -2, -1}};
    const size_t in[] = {9, 2};
    struct impl_model *model = check_parallel(c, k, mixed_ids(k), "", small);
    double velocity[PARAMS][6] = {{0}};
    struct bound_matrix param[PARAMS];

    for (int p = 0; p < PARAMS; ++p)
        param[p] = bound_taken(c, check_get(c, model, IMPL_VALUE, p));
    for (int step = 0; step < 2; ++step) {
        const struct bound_matrix rows = bound_given(c, 9, 2, x[step]);
        const struct bound_matrix up = bound_given(c, 9, 1, g[step]);
        const struct bound_answer known = bound_net(c, param, &rows, &up);

        check_zero_grad(c, model);
        check_forward(c, model, check_needs_grad(check_array(c, 2, in, x[step])));
        check_backward(c, model, check_on(check_column(c, 9, g[step]), mixed_ids(k)[0]));
        check_step(c, model, 0.0625F, 0.5F);
        learned(c, model, param, &known, velocity);
    }
    return model;
}

/* Returns the output of a model with these parameters on one device, for data that are not
 * exact. */
static const struct impl_array *used_on(struct check *c, int device,
                                        struct impl_array *const value[])
{
    const size_t in[] = {7, 2};
    struct impl_model *model = check_parallel(c, 1, &device, "", small);

    for (int p = 0; p < PARAMS; ++p) {
        double *numbers = check_memory(c, check_elements(value[p]) * sizeof *numbers);
        for (size_t e = 0; e < check_elements(value[p]); ++e)
            numbers[e] = check_element(value[p], e);
        check_set(c, model, IMPL_VALUE, p, numbers);
    }
    return check_infer(c, model, check_array(c, 2, in, check_randoms(c, 14, 91)));
}

static void agree_trained(struct check *c)
{
    const size_t in[] = {7, 2};
    struct impl_model *one = trained(c, 1);
    const struct impl_array *x = check_array(c, 2, in, check_randoms(c, 14, 91));
    const struct bound_answer known =
        net_answer(c, one, x, check_column(c, 7, check_sequence(c, 7, 1, 0)));
    const struct impl_array *expected = check_infer(c, one, x);

    bound_is(c, "output of the model trained on one device", expected, &known.y);

    for (int i = 0, k; (k = check_count(c, i)) != 0; ++i) {
        struct impl_model *model = trained(c, k);
        struct votes v = {.what = "output of the trained model", .n = check_devices(c)};
        struct impl_array *value[PARAMS];
        check_note(c, "K=%d: ", k);
        check_int(c, "parameters", check_params(c, model), PARAMS);
        for (int p = 0; p < PARAMS; ++p) {
            value[p] = check_get(c, model, IMPL_VALUE, p);
            check_same(c, check_text(c, "trained parameter %d", p), value[p],
                       check_get(c, one, IMPL_VALUE, p));
        }
        for (int d = 0; d < v.n; ++d) {
            v.device[d] = d;
            v.of[d] = used_on(c, d, value);
        }
        agree_all(c, &v);
        check_same(c, "output of the model trained on one device", v.of[0], expected);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { DP = PROFILE_DATAPARALLEL };

static const struct check_case cases[] = {
    {"AGREE-02.runs", "AGREE-02", MUST, OBSERVED, DP, IMPL_CAP_PARALLEL, 1, agree_runs, 0,
     IMPL_SUMS, IMPL_LISTED},
    {"AGREE-03.trained", "AGREE-03", MUST, OBSERVED, DP, IMPL_CAP_PARALLEL, 1, agree_trained, 0, 0,
     0},
};
const struct check_table agree_trained_table = CHECK_TABLE(cases);
