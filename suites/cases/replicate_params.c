/* replicate_params.c: area REPL: which parameters are replicated, and which of them get the
 * gradient. */
#include "primitive.h"

#include <string.h>

enum { ROWS = 10 };

static const struct impl_array *one_to_ten(struct check *c)
{
    return check_needs_grad(check_counted(c, ROWS, 1, 1));
}

/* ---- REPL-08: a tree ------------------------------------------------------------------------- */

#define TREE                                                                                       \
    "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]},"                                           \
    "{\"kind\":\"sequence\",\"layers\":["                                                          \
    "{\"kind\":\"identity\"},"                                                                     \
    "{\"kind\":\"affine\",\"weight\":[3],\"with_bias\":false},"                                    \
    "{\"kind\":\"sequence\",\"layers\":["                                                          \
    "{\"kind\":\"affine\",\"weight\":[5],\"bias\":[-2]},"                                          \
    "{\"kind\":\"sequence\",\"layers\":["                                                          \
    "{\"kind\":\"affine\",\"weight\":[-1],\"bias\":[4]},"                                          \
    "{\"kind\":\"unused\",\"size\":3,\"weight\":[7,8,9]}]}]}]},"                                   \
    "{\"kind\":\"affine\",\"weight\":[7],\"bias\":[6]}"

/* The affine layers of the tree in order: the numbers of their parameters, -1: none. */
struct link {
    int weight, bias;
    double w, b;
};

enum { LINKS = 5 };

static void train_chain(struct check *c, struct impl_model *model, const struct link links[])
{
    const double *g = check_sequence(c, ROWS, 1, 1);
    double y[ROWS], dw[LINKS], db[LINKS];
    const struct impl_array *out = check_forward(c, model, one_to_ten(c));

    /* Computes the chain in plain arithmetic: outputs, and the gradients for g. */
    memset(dw, 0, LINKS * sizeof *dw);
    memset(db, 0, LINKS * sizeof *db);
    for (int r = 0; r < ROWS; ++r) {
        double in[LINKS], at = r + 1, back = g[r];

        for (int i = 0; i < LINKS; ++i) {
            in[i] = at;
            at = links[i].w * at + links[i].b;
        }
        y[r] = at;
        for (int i = LINKS; i-- > 0;) {
            dw[i] += back * in[i];
            db[i] += back;
            back *= links[i].w;
        }
    }
    check_values(c, "output", out, ROWS, y);
    check_backward(c, model, primitive_upstream(c, out, g));
    for (int i = 0; i < LINKS; ++i) {
        check_grad_is(c, model, links[i].weight, dw[i]);
        if (links[i].bias >= 0)
            check_grad_is(c, model, links[i].bias, db[i]);
    }
    check_zero_grad(c, model);
}

static void replicate_tree(struct check *c, int k)
{
    static const double unused[] = {7, 8, 9};
    struct impl_model *model = check_parallel(c, k, primitive_order(c, k), "", TREE);
    struct link links[LINKS] = {
        {0, 1, 2, 1}, {2, -1, 3, 0}, {3, 4, 5, -2}, {5, 6, -1, 4}, {8, 9, 7, 6}};

    static const char *const names[] = {
        "0.module.0.weight",     "0.module.0.bias",         "0.module.1.1.weight",
        "0.module.1.2.0.weight", "0.module.1.2.0.bias",     "0.module.1.2.1.0.weight",
        "0.module.1.2.1.0.bias", "0.module.1.2.1.1.weight", "0.module.2.weight",
        "0.module.2.bias",
    };
    const int n = (int)(sizeof names / sizeof names[0]);

    check_int(c, "number of parameters", check_params(c, model), n);
    for (int i = 0; i < n; ++i) {
        struct impl_param param;

        check_param(c, model, i, &param);
        check_true(c, strcmp(param.name, names[i]) == 0, "parameter %d is called %s, must be %s", i,
                   param.name, names[i]);
    }
    train_chain(c, model, links);
    for (int l = 0; l < LINKS; ++l) {
        check_note(c, "K=%d, after the weight %d was set: ", k, links[l].weight);
        links[l].w = 4 - 3 * (l % 2);
        check_set(c, model, IMPL_VALUE, links[l].weight, &links[l].w);
        train_chain(c, model, links);
    }
    check_values(c, "the unused parameter", check_get(c, model, IMPL_VALUE, 7), 3, unused);
}

/* ---- REPL-09: one parameter in two places ---------------------------------------------------- */

/* The model is y = w * (w * x): dw = 2 * w * sum(g * x) = 1540 for w = 2, from both uses. */
static void replicate_tied(struct check *c, int k)
{
    const double *g = check_sequence(c, ROWS, 1, 1);
    const double before = 1000;
    struct impl_model *model =
        check_parallel(c, k, primitive_order(c, k), "", "{\"kind\":\"tied\",\"weight\":[2]}");
    double w = 2;

    check_int(c, "number of parameters", check_params(c, model), 1);
    for (int step = 0; step < 2; ++step) {
        const struct impl_array *y = check_forward(c, model, one_to_ten(c));

        check_note(c, "K=%d step %d: ", k, step);
        check_values(c, "output", y, ROWS, check_sequence(c, ROWS, w * w, w * w));
        if (step == 0)
            check_set(c, model, IMPL_GRAD, 0, &before);
        check_values(c, "input gradient", check_backward(c, model, primitive_upstream(c, y, g)),
                     ROWS, check_sequence(c, ROWS, w * w, w * w));
        check_grad_is(c, model, 0, (step == 0 ? before : 0) + 2 * w * 385);
        w = 0.5;
        check_set(c, model, IMPL_VALUE, 0, &w);
        check_zero_grad(c, model);
    }
    check_note(c, "K=%d: ", k);
    check_forward(c, model, one_to_ten(c));
    check_backward(c, model, NULL);
    check_grad_is(c, model, 0, 2 * w * 55);
    check_step(c, model, 1.0F / 64, 0);
    w -= 2 * w * 55 / 64;
    check_values(c, "output after a step", check_infer(c, model, one_to_ten(c)), ROWS,
                 check_sequence(c, ROWS, w * w, w * w));
}

/* An affine layer is used, then the same one again: y = w * (w * x + b) + b. */
static void replicate_used_again(struct check *c, int k)
{
    const double *g = check_sequence(c, ROWS, 1, 1);
    struct impl_model *model =
        check_parallel(c, k, primitive_order(c, k), "",
                       "{\"kind\":\"affine\",\"name\":\"a\",\"weight\":[2],\"bias\":[1]},"
                       "{\"kind\":\"sequence\",\"layers\":[{\"kind\":\"again\",\"of\":\"a\"}]}");
    double w = 2, b = 1;

    check_int(c, "number of parameters", check_params(c, model), 2);
    for (int step = 0; step < 2; ++step) {
        const struct impl_array *y = check_forward(c, model, one_to_ten(c));

        check_note(c, "K=%d step %d: ", k, step);
        check_values(c, "output", y, ROWS, check_sequence(c, ROWS, w * w + w * b + b, w * w));
        check_backward(c, model, primitive_upstream(c, y, g));
        check_grads_are(c, model, 2 * w * 385 + b * 55, 55 + w * 55);
        check_zero_grad(c, model);
        w = -3;
        b = 5;
        check_set(c, model, IMPL_VALUE, 0, &w);
        check_set(c, model, IMPL_VALUE, 1, &b);
    }
}

/* ---- REPL-12: a list of matrices ------------------------------------------------------------- */

/* Computes y += x w^T, where w is 2 x 2. */
static void params_times(const double x[2], const double w[4], double y[2])
{
    y[0] = x[0] * w[0] + x[1] * w[1];
    y[1] = x[0] * w[2] + x[1] * w[3];
}

/* Computes g w, and dw += g^T x. */
static void times_back(const double g[2], const double x[2], const double w[4], double dx[2],
                       double dw[4])
{
    for (int o = 0; o < 2; ++o)
        for (int i = 0; i < 2; ++i)
            dw[2 * o + i] += g[o] * x[i];
    dx[0] = g[0] * w[0] + g[1] * w[2];
    dx[1] = g[0] * w[1] + g[1] * w[3];
}

static void train_list(struct check *c, struct impl_model *model, const double first[4],
                       const double second[4])
{
    const size_t dim[] = {ROWS, 2};
    const double *x = check_integers(c, 2 * ROWS, 5), *g = check_integers(c, 2 * ROWS, 6);
    double h[2], y[2 * ROWS], dh[2], dx[2 * ROWS], d_first[4] = {0}, d_second[4] = {0};
    const struct impl_array *out;

    for (int r = 0; r < ROWS; ++r) {
        params_times(x + 2 * (size_t)r, first, h);
        params_times(h, second, y + 2 * (size_t)r);
        times_back(g + 2 * (size_t)r, h, second, dh, d_second);
        times_back(dh, x + 2 * (size_t)r, first, dx + 2 * (size_t)r, d_first);
    }
    out = check_forward(c, model, check_needs_grad(check_array(c, 2, dim, x)));
    check_values(c, "output", out, 2 * ROWS, y);
    check_values(c, "input gradient", check_backward(c, model, primitive_upstream(c, out, g)),
                 2 * ROWS, dx);
    check_values(c, "gradient of the first", check_get(c, model, IMPL_GRAD, 0), 4, d_first);
    check_values(c, "gradient of the second", check_get(c, model, IMPL_GRAD, 1), 4, d_second);
    check_zero_grad(c, model);
}

static void replicate_list(struct check *c, int k)
{
    static const double a[] = {1, 2, -3, 4}, b[] = {5, -1, 2, 3}, other[] = {-2, 7, 1, -5};
    static const char list[] =
        "{\"kind\":\"sequence\",\"layers\":["
        "{\"kind\":\"linear\",\"in\":2,\"out\":2,\"with_bias\":false,\"weight\":[1,2,-3,4]},"
        "{\"kind\":\"linear\",\"in\":2,\"out\":2,\"with_bias\":false,\"weight\":[5,-1,2,3]}]}";
    struct impl_model *model = check_parallel(c, k, primitive_order(c, k), "", list);

    check_int(c, "number of parameters", check_params(c, model), 2);
    train_list(c, model, a, b);
    check_set(c, model, IMPL_VALUE, 1, other);
    train_list(c, model, a, other);
}

/* ---- REPL-13: frozen ------------------------------------------------------------------------- */

/* The model is y = 3 * (2x + 1) - 1. Of four parameters only the second is trained; the gradients
 * of the others stay as they were: 123, none, -7. */
static void replicate_frozen(struct check *c, int k)
{
    static const double marks[] = {123, 1000, 0, -7};
    const double *g = check_sequence(c, ROWS, 1, 1);
    struct impl_model *model =
        check_parallel(c, k, primitive_order(c, k), "",
                       "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1],\"frozen\":[\"weight\"]},"
                       "{\"kind\":\"affine\",\"weight\":[3],\"bias\":[-1],\"frozen\":true}");

    for (int p = 0; p < 4; ++p)
        if (p != 2)
            check_set(c, model, IMPL_GRAD, p, &marks[p]);
    for (int step = 1; step <= 2; ++step) {
        const struct impl_array *y = check_forward(c, model, one_to_ten(c));

        check_note(c, "K=%d step %d: ", k, step);
        check_values(c, "output", y, ROWS, check_sequence(c, ROWS, 8, 6));
        check_values(c, "input gradient", check_backward(c, model, primitive_upstream(c, y, g)),
                     ROWS, check_sequence(c, ROWS, 6, 6));
        check_grads_are(c, model, 123, 1000 + 3 * 55 * step);
        check_grad_none(c, model, 2);
        check_grad_is(c, model, 3, -7);
    }
}

/* ---- REPL-11: a parameter from outside ------------------------------------------------------- */

/* Opens an affine layer a before the wrapper, and inside it one that borrows the weight of a. */
static struct impl_model *borrowing(struct check *c, int k)
{
    const int *ids = primitive_order(c, k);

    return check_model(c,
                       "{\"device\":%d,\"layers\":["
                       "{\"kind\":\"affine\",\"name\":\"a\",\"weight\":[2],\"bias\":[1]},"
                       "{\"kind\":\"parallel\",\"device_ids\":%s,\"layers\":["
                       "{\"kind\":\"affine\",\"weight\":[3],\"bias\":[-4]},"
                       "{\"kind\":\"borrow\",\"of\":\"a\"}]}]}",
                       ids[0], check_list(c, ids, k));
}

/* Trains y = w * (3 * (w * x + b) - 4). */
static void train_borrowing(struct check *c, struct impl_model *model, int k, double w, double b)
{
    const double *g = check_sequence(c, ROWS, 1, 1);
    const struct impl_array *x = check_on(check_counted(c, ROWS, 1, 1), primitive_order(c, k)[0]);
    const struct impl_array *y = check_forward(c, model, x);

    check_values(c, "output", y, ROWS, check_sequence(c, ROWS, w * (3 * (w + b) - 4), 3 * w * w));
    check_backward(c, model, primitive_upstream(c, y, g));
    check_grads_are(c, model, 3 * w * 385, 3 * w * 55);
    check_grad_is(c, model, 2, w * (w * 385 + b * 55));
    check_grad_is(c, model, 3, w * 55);
    check_zero_grad(c, model);
}

static void replicate_borrowed_base(struct check *c, int k)
{
    const double edited = -5;
    struct impl_model *model = borrowing(c, k);

    train_borrowing(c, model, k, 2, 1);
    check_set(c, model, IMPL_VALUE, 0, &edited);
    train_borrowing(c, model, k, edited, 1);
}

/* Only replicas on other devices use a weight that they do not have. */
static void replicate_borrowed_refused(struct check *c, int k)
{
    struct impl_model *model = borrowing(c, k);
    const double row = 6;
    const int home = primitive_order(c, k)[0];
    struct impl_array *x = check_counted(c, ROWS, 1, 1);

    check_refused(c, "a parameter of another device",
                  check_try_one(c, model, check_on(x, home), true, true), ALLOW(IMPL_EDEVICE));
    check_grad_none(c, model, 0);
    check_values(c, "output of one row",
                 check_one(c, model, check_on(check_column(c, 1, &row), home), true, true), 1,
                 (const double[]){2 * (3 * 13 - 4)});
}

static const struct check_case cases[] = {
    {"REPL-08.tree", "REPL-08", MUST, OBSERVED, DP, PARALLEL, 1, .each = replicate_tree},
    {"REPL-09.tied", "REPL-09", MUST, OBSERVED, DP, PARALLEL, 1, .each = replicate_tied},
    {"REPL-09.again", "REPL-09", MUST, OBSERVED, DP, PARALLEL, 1, .each = replicate_used_again},
    {"REPL-11.base", "REPL-11", MUST, OBSERVED, DP, PARALLEL, 1, .each = replicate_borrowed_base,
     .dialect = IMPL_BORROWED, .choice = IMPL_BASE},
    {"REPL-11.refused", "REPL-11", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     .each = replicate_borrowed_refused, .dialect = IMPL_BORROWED, .choice = IMPL_REFUSE},
    {"REPL-12.list", "REPL-12", MUST, OBSERVED, DP, PARALLEL, 1, .each = replicate_list},
    {"REPL-13.frozen", "REPL-13", MUST, OBSERVED, DP, PARALLEL, 1, .each = replicate_frozen},
};
const struct check_table replicate_params_table = CHECK_TABLE(cases);
