/* nest_mixed.c: area NEST: wrappers in wrappers, parts on the host next to wrapped ones, and no
 * devices. */
#include "golden.h"

/* ---- NEST-06: a wrapper inside a wrapper ----------------------------------------------------- */

static const char *inside_text(struct check *c, int k, const char *inner_ids, bool deep)
{
    return check_text(c,
                      "{\"layers\":[{\"kind\":\"parallel\",\"device_ids\":%s,\"layers\":["
                      "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]},%s"
                      "{\"kind\":\"parallel\",\"device_ids\":%s,\"layers\":["
                      "{\"kind\":\"affine\",\"weight\":[3],\"bias\":[-4]}]}%s]}]}",
                      check_ids(c, k), deep ? "{\"kind\":\"sequence\",\"layers\":[" : "", inner_ids,
                      deep ? "]}" : "");
}

/* The model is refused when it is opened or when it is used; it never returns a number. */
static void nest_inside_refused(struct check *c, int k)
{
    const struct impl_array *x = check_counted(c, 10, 1, 1);
    const unsigned allowed = ALLOW(IMPL_EINVAL) | ALLOW(IMPL_EDEVICE);

    for (int form = 0; form < 4; ++form) {
        const char *ids = form < 2 ? check_ids(c, k) : "[0]";
        struct impl_model *model;
        int status;
        check_note(c, "K=%d, inside on %s: ", k, ids);
        status = check_try_model(c, inside_text(c, k, ids, form % 2 == 1), 1, &model);
        if (status == IMPL_OK)
            status = check_try_one(c, model, x, true, true);
        check_refused(c, "a wrapper inside a wrapper", status, allowed);
        golden_works(c, k);
    }
}

/* The output is y = 3*(2x + 1) - 4, and every gradient is summed once. */
static void nest_inside_accepted(struct check *c, int k)
{
    const size_t n = 10;
    const double *x = check_sequence(c, n, 1, 1), *g = check_sequence(c, n, 3, 2);
    double y[10], dx[10], d[4] = {0};
    for (size_t r = 0; r < n; ++r) {
        y[r] = 6 * x[r] - 1;
        dx[r] = 6 * g[r];
        d[0] += 3 * g[r] * x[r];
        d[1] += 3 * g[r];
        d[2] += g[r] * (2 * x[r] + 1);
        d[3] += g[r];
    }

    for (int deep = 0; deep < 2; ++deep) {
        struct impl_model *model =
            check_model(c, "%s", inside_text(c, k, check_ids(c, k), deep == 1));
        check_note(c, "K=%d: ", k);
        check_values(c, "output", check_forward(c, model, check_needs_grad(check_column(c, n, x))),
                     n, y);
        check_values(c, "input gradient",
                     check_backward(c, model, check_on(check_column(c, n, g), 0)), n, dx);
        for (int p = 0; p < 4; ++p)
            check_grad_is(c, model, p, d[p]);
    }
}

/* ---- NEST-07: a part on the host ------------------------------------------------------------- */

enum { WORDS = 6, WIDE = 2, OUT = 3, N = 10 };

/* Word 3 is never used, word 1 four times, in different shards. */
static const double words[N] = {5, 1, 1, 4, 0, 1, 5, 2, 1, 5};

struct embedded {
    const double *table, *weight, *bias, *g;
    double y[N * OUT], dtable[WORDS * WIDE], dweight[OUT * WIDE], dbias[OUT];
};

static struct embedded *embedded_of(struct check *c)
{
    struct embedded *t = check_memory(c, sizeof *t);

    t->table = check_integers(c, WORDS * WIDE, 31);
    t->weight = check_integers(c, OUT * WIDE, 32);
    t->bias = check_integers(c, OUT, 33);
    t->g = check_integers(c, N * OUT, 34);
    for (size_t r = 0; r < N; ++r)
        for (size_t o = 0; o < OUT; ++o) {
            const double *row = &t->table[(size_t)words[r] * WIDE], g = t->g[r * OUT + o];
            t->y[r * OUT + o] = t->bias[o];
            t->dbias[o] += g;
            for (size_t n = 0; n < WIDE; ++n) {
                t->y[r * OUT + o] += t->weight[o * WIDE + n] * row[n];
                t->dweight[o * WIDE + n] += g * row[n];
                t->dtable[(size_t)words[r] * WIDE + n] += g * t->weight[o * WIDE + n];
            }
        }
    return t;
}

/* An embedding on the host feeds a wrapped linear layer; its gradient comes back to the host. */
static void nest_host_head(struct check *c, int k)
{
    const struct embedded *t = embedded_of(c);
    const size_t n = N, out[] = {N, OUT};
    struct impl_model *model = check_model(
        c,
        "{\"layers\":[{\"kind\":\"embedding\",\"rows\":%d,\"columns\":%d,\"device\":-1},"
        "{\"kind\":\"parallel\",\"device_ids\":%s,\"layers\":["
        "{\"kind\":\"linear\",\"in\":%d,\"out\":%d}]}]}",
        WORDS, WIDE, check_list(c, mixed_ids(k), k), WIDE, OUT);
    struct impl_array *dtable;
    check_set(c, model, IMPL_VALUE, 0, t->table);
    check_set(c, model, IMPL_VALUE, 1, t->weight);
    check_set(c, model, IMPL_VALUE, 2, t->bias);
    check_values(c, "output", check_forward(c, model, check_typed(c, IMPL_I32, 1, &n, words)),
                 N * OUT, t->y);
    check_is_none(
        c, "gradient of the words",
        check_backward(c, model, check_on(check_array(c, 2, out, t->g), mixed_ids(k)[0])));
    dtable = check_get(c, model, IMPL_GRAD, 0);
    check_values(c, "gradient of the host's table", dtable, WORDS * WIDE, t->dtable);
    check_device(c, "gradient of the host's table", dtable, IMPL_HOST);
    check_values(c, "gradient of the wrapped weight", check_get(c, model, IMPL_GRAD, 1), OUT * WIDE,
                 t->dweight);
    check_values(c, "gradient of the wrapped bias", check_get(c, model, IMPL_GRAD, 2), OUT,
                 t->dbias);
}

/* The wrapped block is first, and its output is gathered on the host, where the rest of the model
 * is. */
static void nest_host_tail(struct check *c, int k)
{
    const size_t n = 9;
    const double *x = check_sequence(c, n, -3, 1), *g = check_sequence(c, n, 2, 5);
    double y[9], dx[9], d[4] = {0};
    struct impl_model *model;
    model = check_model(c,
                        "{\"layers\":[{\"kind\":\"parallel\",\"device_ids\":%s,"
                        "\"output_device\":-1,\"layers\":["
                        "{\"kind\":\"affine\",\"weight\":[3],\"bias\":[2]}]},"
                        "{\"kind\":\"affine\",\"weight\":[-5],\"bias\":[1],\"device\":-1}]}",
                        check_list(c, mixed_ids(k), k));
    for (size_t r = 0; r < n; ++r) {
        const double inner = 3 * x[r] + 2;
        y[r] = -5 * inner + 1;
        dx[r] = -15 * g[r];
        d[0] += -5 * g[r] * x[r];
        d[1] += -5 * g[r];
        d[2] += g[r] * inner;
        d[3] += g[r];
    }
    check_values(c, "output", check_forward(c, model, check_needs_grad(check_column(c, n, x))), n,
                 y);
    check_values(c, "input gradient", check_backward(c, model, check_column(c, n, g)), n, dx);
    for (int p = 0; p < 4; ++p)
        check_grad_is(c, model, p, d[p]);
}

/* To wrap the whole mixed model is an error, also if only a later layer is on the host. */
static void nest_host_inside_refused(struct check *c, int k)
{
    static const char *const parts[] = {
        "{\"kind\":\"affine\",\"device\":-1},{\"kind\":\"affine\"}",
        "{\"kind\":\"affine\"},{\"kind\":\"affine\",\"device\":-1}",
        "{\"kind\":\"affine\",\"device\":-1}",
    };
    const struct impl_array *x = check_counted(c, 10, 1, 1);

    for (size_t part = 0; part < sizeof parts / sizeof parts[0]; ++part) {
        struct impl_model *model = check_parallel(c, k, NULL, "", parts[part]);
        check_note(c, "K=%d, model %zu: ", k, part);
        check_refused(c, "a wrapped model with a part on the host",
                      check_try_one(c, model, x, true, true), ALLOW(IMPL_EDEVICE));
        golden_works(c, k);
    }
}

/* ---- NEST-09: the same text with and without devices ----------------------------------------- */

struct result {
    struct impl_array *first, *y, *dx, *value[4];
};

/* Checks the output before any step, which follows from the numbers of the description. */
static void first_is_known(struct check *c, const struct impl_array *got, const double x[])
{
    static const double w[] = {1, -2, 3, 4, -5, 2}, b[] = {1, 2, -3}, v[] = {2, -1, 3};
    double y[9];

    for (int row = 0; row < 9; ++row) {
        y[row] = 5;
        for (int j = 0; j < 3; ++j) {
            const double h = w[2 * j] * x[2 * row] + w[2 * j + 1] * x[2 * row + 1] + b[j];

            y[row] += v[j] * (h > 0 ? h : 0);
        }
    }
    check_values(c, "first output", got, 9, y);
}

/* Makes two steps of training; all numbers stay exact, because data are small and the rate is
 * 1/16. */
static void mixed_train(struct check *c, struct result *result)
{
    static const char text[] =
        "{\"layers\":[{\"kind\":\"parallel\",\"layers\":["
        "{\"kind\":\"linear\",\"in\":2,\"out\":3,\"weight\":[1,-2,3,4,-5,2],\"bias\":[1,2,-3]},"
        "{\"kind\":\"relu\"},"
        "{\"kind\":\"linear\",\"in\":3,\"out\":1,\"weight\":[2,-1,3],\"bias\":[5]}]}]}";
    static const double x[2][18] = {{1, 2, -3, 1, 2, 2, -1, 3, 3, -2, 1, 1, 2, -3, -2, 1, 3, 3},
                                    {2, -1, 1, 3, -2, 3, 3, 1, -1, 2, 2, -3, 1, -1, 3, 2, -3, 1}};
    static const double g[2][9] = {{1, -2, 2, 1, -1, 2, -2, 1, 2}, {-1, 2, 1, -2, 2, 1, 1, -2, -1}};
    const size_t in[] = {9, 2};
    struct impl_model *model = check_model(c, "%s", text);

    for (int turn = 0; turn < 2; ++turn) {
        result->y = check_forward(c, model, check_needs_grad(check_array(c, 2, in, x[turn])));
        result->dx =
            check_backward(c, model, check_on(check_column(c, 9, g[turn]), result->y->device));
        check_step(c, model, 0.0625F, 0);
        check_zero_grad(c, model);
        result->first = turn == 0 ? result->y : result->first;
    }
    first_is_known(c, result->first, x[0]);
    for (int i = 0; i < 4; ++i)
        result->value[i] = check_get(c, model, IMPL_VALUE, i);
}

static void nest_same_text(struct check *c)
{
    struct result with = {0}, without = {0};

    mixed_train(c, &with);
    check_use(c, check_host_session(c));
    mixed_train(c, &without);
    check_device(c, "output without devices", without.y, IMPL_HOST);
    check_same(c, "output without devices", without.y, with.y);
    check_same(c, "input gradient without devices", without.dx, with.dx);
    for (int i = 0; i < 4; ++i)
        check_same(c, check_text(c, "trained parameter %d without devices", i), without.value[i],
                   with.value[i]);
}

static const struct check_case cases[] = {
    {"NEST-06.refused", "NEST-06", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     .each = nest_inside_refused, .dialect = IMPL_NESTED, .choice = IMPL_REFUSE},
    {"NEST-06.accepted", "NEST-06", MUST, OBSERVED, DP, PARALLEL, 2, .each = nest_inside_accepted,
     .dialect = IMPL_NESTED, .choice = IMPL_ACCEPT},
    {"NEST-07.host_head", "NEST-07", MUST, OBSERVED, DP, PARALLEL, 1, .each = nest_host_head},
    {"NEST-07.host_tail", "NEST-07", MUST, OBSERVED, DP, PARALLEL, 2, .each = nest_host_tail},
    {"NEST-07.host_inside", "NEST-07", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     .each = nest_host_inside_refused},
    {"NEST-09.same_text", "NEST-09", MUST, OBSERVED, DP, PARALLEL, 1, nest_same_text},
};
const struct check_table nest_mixed_table = CHECK_TABLE(cases);
