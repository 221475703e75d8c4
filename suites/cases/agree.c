/* agree.c: area AGREE: the same work gives the same bits on every device and in every run, and a
 * device that deviates is named. The result on which they agree is also compared with the known
 * answer. */
#include "bound.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- the vote -------------------------------------------------------------------------------- */

/* The same result, from each device. */
struct votes {
    const char *what;
    int n;
    int device[IMPL_MAX_DEVICES];
    const struct impl_array *of[IMPL_MAX_DEVICES];
};

static uint32_t agree_bits(const struct impl_array *array, size_t i)
{
    uint32_t word;

    memcpy(&word, (const char *)array->data + i * sizeof word, sizeof word);
    return word;
}

static bool agree_same_bits(const struct impl_array *a, const struct impl_array *b)
{
    return memcmp(a->data, b->data, check_elements(a) * sizeof(float)) == 0;
}

static bool all_finite(const struct impl_array *array)
{
    for (size_t i = 0; i < check_elements(array); ++i)
        if (!isfinite(check_element(array, i)))
            return false;
    return true;
}

static int supporters(const struct votes *v, int of)
{
    int count = 0;

    for (int i = 0; i < v->n; ++i)
        count += agree_same_bits(v->of[i], v->of[of]);
    return count;
}

/* Ends the case: `other` differs from `one`, with which `count` devices agree. */
static _Noreturn void accuse(struct check *c, const struct votes *v, int one, int count, int other)
{
    const struct impl_array *a = v->of[one], *b = v->of[other];
    const size_t n = check_elements(a);
    size_t first = n, different = 0;

    for (size_t i = n; i-- > 0;)
        if (agree_bits(a, i) != agree_bits(b, i)) {
            ++different;
            first = i;
        }
    if (2 * count > v->n)
        check_fail(
            c,
            "device %d (%s) deviates from %d others: %s, element %zu: expected %.9g (0x%08" PRIx32
            "), actual %.9g (0x%08" PRIx32 "), XOR 0x%08" PRIx32 "; %zu of %zu differ",
            v->device[other], check_device_name(c, v->device[other]), count, v->what, first,
            check_element(a, first), agree_bits(a, first), check_element(b, first),
            agree_bits(b, first), agree_bits(a, first) ^ agree_bits(b, first), different, n);
    check_fail(
        c,
        "devices %d and %d disagree, and no bits have a majority: %s, element %zu: device %d "
        "has %.9g (0x%08" PRIx32 "), device %d has %.9g (0x%08" PRIx32 "), XOR 0x%08" PRIx32
        "; %zu of %zu differ",
        v->device[one], v->device[other], v->what, first, v->device[one], check_element(a, first),
        agree_bits(a, first), v->device[other], check_element(b, first), agree_bits(b, first),
        agree_bits(a, first) ^ agree_bits(b, first), different, n);
}

/* Checks that all have the same bits. The device that deviates from the majority is named. */
static void agree_all(struct check *c, const struct votes *v)
{
    int best = 0;

    for (int i = 0; i < v->n; ++i) {
        check_shape(c, v->what, v->of[i], v->of[0]->ndim, v->of[0]->dim);
        check_true(c, v->of[i]->dtype == IMPL_F32 && all_finite(v->of[i]),
                   "device %d: %s is not float, or not finite", v->device[i], v->what);
        if (supporters(v, i) > supporters(v, best))
            best = i;
    }
    for (int i = 0; i < v->n; ++i)
        if (!agree_same_bits(v->of[i], v->of[best]))
            accuse(c, v, best, supporters(v, best), i);
}

/* ---- AGREE-01: the same shard on every device ------------------------------------------------ */

enum { RESULTS = 6 };

/* The results of one device: output, input gradient, gradients of the parameters. */
struct results {
    const struct impl_array *of[RESULTS];
};

struct shape {
    size_t rows, in, out;
};
static const struct shape shapes[] = {{1, 1, 1}, {7, 5, 3}, {13, 64, 33}, {64, 17, 8}, {33, 31, 1}};

/* The factor is not near 0, because then the output of the layers before it would vanish next to
 * the summand. */
static const double *agree_factor_of(struct check *c)
{
    double *factor = check_memory(c, sizeof *factor);

    *factor = (double)(1.25F + (float)check_randoms(c, 1, check_seed(c) + 3)[0] / 4);
    return factor;
}

static struct impl_model *network(struct check *c, const int ids[], int k, const struct shape *s)
{
    struct impl_model *model = check_parallel(
        c, k, ids, "",
        check_text(c,
                   "{\"kind\":\"linear\",\"in\":%zu,\"out\":%zu},{\"kind\":\"relu\"},"
                   "{\"kind\":\"affine\"},{\"kind\":\"subtract_mean\"}",
                   s->in, s->out));
    const uint64_t seed = check_seed(c);

    check_set(c, model, IMPL_VALUE, 0, check_randoms(c, s->in * s->out, seed + 1));
    check_set(c, model, IMPL_VALUE, 1, check_randoms(c, s->out, seed + 2));
    check_set(c, model, IMPL_VALUE, 2, agree_factor_of(c));
    check_set(c, model, IMPL_VALUE, 3, check_randoms(c, 1, seed + 4));
    return model;
}

/* The answer for one block of rows, which is that of each block if all blocks are the same. */
static struct bound_answer shard_answer(struct check *c, const struct shape *s)
{
    const uint64_t seed = check_seed(c);
    const struct bound_matrix param[BOUND_PARAMS] = {
        bound_given(c, s->out, s->in, check_randoms(c, s->in * s->out, seed + 1)),
        bound_given(c, 1, s->out, check_randoms(c, s->out, seed + 2)),
        bound_given(c, 1, 1, agree_factor_of(c)),
        bound_given(c, 1, 1, check_randoms(c, 1, seed + 4)),
    };
    const struct bound_matrix x =
        bound_given(c, s->rows, s->in, check_randoms(c, s->rows * s->in, seed + 5));
    const struct bound_matrix g =
        bound_given(c, s->rows, s->out, check_randoms(c, s->rows * s->out, seed + 6));

    return bound_shard(c, param, &x, &g);
}

static struct results on_device(struct check *c, int device, const struct shape *s)
{
    const size_t in[] = {s->rows, s->in}, out[] = {s->rows, s->out};
    struct impl_model *model = network(c, &device, 1, s);
    const double *x = check_randoms(c, s->rows * s->in, check_seed(c) + 5);
    const double *g = check_randoms(c, s->rows * s->out, check_seed(c) + 6);
    struct results r;

    r.of[0] = check_forward(c, model, check_needs_grad(check_array(c, 2, in, x)));
    r.of[1] = check_backward(c, model, check_on(check_array(c, 2, out, g), device));
    for (int p = 0; p < 4; ++p)
        r.of[2 + p] = check_get(c, model, IMPL_GRAD, p);
    return r;
}

static void same_shard(struct check *c)
{
    static const char *const names[RESULTS] = {"output",
                                               "input gradient",
                                               "gradient of 0.weight",
                                               "gradient of 0.bias",
                                               "gradient of 2.weight",
                                               "gradient of 2.bias"};

    for (size_t form = 0; form < sizeof shapes / sizeof shapes[0]; ++form) {
        struct results result[IMPL_MAX_DEVICES];
        struct votes v = {.n = check_devices(c)};
        const struct shape *s = &shapes[form];
        const struct bound_answer known = shard_answer(c, s);
        check_note(c, "shard of [%zu, %zu], %zu outputs: ", s->rows, s->in, s->out);
        for (int d = 0; d < v.n; ++d) {
            v.device[d] = d;
            result[d] = on_device(c, d, s);
        }
        for (int what = 0; what < RESULTS; ++what) {
            v.what = names[what];
            for (int d = 0; d < v.n; ++d)
                v.of[d] = result[d].of[what];
            agree_all(c, &v);
            bound_is(c, names[what], v.of[0],
                     what == 0   ? &known.y
                     : what == 1 ? &known.dx
                                 : &known.grad[what - 2]);
        }
    }
}

/* Returns rows begin .. begin + rows - 1 of an array, without a copy. */
static const struct impl_array *agree_rows_of(struct check *c, const struct impl_array *array,
                                              size_t begin, size_t rows)
{
    struct impl_array *view = check_memory(c, sizeof *view);

    *view = *array;
    view->dim[0] = rows;
    view->data = (char *)array->data + begin * array->dim[1] * sizeof(float);
    return view;
}

/* Gives each device the same block of rows, in one step of all devices at once. */
static void repeated(struct check *c, const struct impl_array *whole, const char *what,
                     const int ids[], int k, const struct bound_matrix *known)
{
    const size_t rows = known->rows;
    struct votes v = {.what = what, .n = k};

    check_int(c, check_text(c, "%s: dimensions", what), whole->ndim, 2);
    check_int(c, check_text(c, "%s: rows", what), (long long)whole->dim[0], (long long)rows * k);
    for (int s = 0; s < k; ++s) {
        v.device[s] = ids[s];
        v.of[s] = agree_rows_of(c, whole, (size_t)s * rows, rows);
    }
    agree_all(c, &v);
    bound_is(c, what, v.of[0], known);
}

static const double *blocks(struct check *c, size_t block, int k, uint64_t seed)
{
    const double *one = check_randoms(c, block, seed);
    double *all = check_memory(c, block * (size_t)k * sizeof *all);

    for (size_t s = 0; s < (size_t)k; ++s)
        memcpy(all + s * block, one, block * sizeof *all);
    return all;
}

static void same_shard_together(struct check *c, int k)
{
    for (size_t form = 0; form < sizeof shapes / sizeof shapes[0]; ++form) {
        const struct shape *s = &shapes[form];
        const size_t in[] = {s->rows * (size_t)k, s->in};
        const size_t out[] = {s->rows * (size_t)k, s->out};
        const int *ids = mixed_ids(k);
        const struct bound_answer known = shard_answer(c, s);
        struct impl_model *model = network(c, ids, k, s);
        const double *x = blocks(c, s->rows * s->in, k, check_seed(c) + 5);
        const double *g = blocks(c, s->rows * s->out, k, check_seed(c) + 6);
        check_note(c, "K=%d, shards of [%zu, %zu], %zu outputs: ", k, s->rows, s->in, s->out);
        repeated(c, check_forward(c, model, check_needs_grad(check_array(c, 2, in, x))), "output",
                 ids, k, &known.y);
        repeated(c, check_backward(c, model, check_on(check_array(c, 2, out, g), ids[0])),
                 "input gradient", ids, k, &known.dx);
    }
}

/* Calls one module on each device, all at once. */
static struct bound_matrix call_answer(struct check *c, const double x[])
{
    static const double w[] = {0.3, -1.7, 0.11, 2.9, 0.07, -0.6}, b[] = {0.1, -0.2};
    const struct bound_matrix in = bound_given(c, 9, 3, x);
    double single[6], bias[2];
    struct bound_matrix weight, offset, z, h;

    for (int i = 0; i < 6; ++i)
        single[i] = (double)(float)w[i];
    for (int i = 0; i < 2; ++i)
        bias[i] = (double)(float)b[i];
    weight = bound_given(c, 2, 3, single);
    offset = bound_given(c, 1, 2, bias);
    z = bound_linear(c, &in, &weight, &offset);
    h = bound_relu(c, &z);
    return bound_scaled(c, &h, (double)0.7F, (double)0.013F);
}

static void same_call(struct check *c)
{
    const int n = check_devices(c);
    const size_t dim[] = {9, 3};
    struct impl_call *calls = check_memory(c, (size_t)n * sizeof *calls);
    struct impl_apply op = {.calls = calls, .n = n, .grad = true, .train = true};
    struct votes v = {.what = "output of a call", .n = n};
    const double *x = check_randoms(c, 27, check_seed(c) + 7);
    const struct bound_matrix known = call_answer(c, x);

    for (int d = 0; d < n; ++d) {
        calls[d].description = check_text(
            c,
            "{\"device\":%d,\"layers\":[{\"kind\":\"linear\",\"in\":3,\"out\":2,"
            "\"weight\":[0.3,-1.7,0.11,2.9,0.07,-0.6],\"bias\":[0.1,-0.2]},{\"kind\":\"relu\"},"
            "{\"kind\":\"affine\",\"weight\":[0.7],\"bias\":[0.013]}]}",
            d);
        calls[d].device = d;
        calls[d].in = check_on(check_array(c, 2, dim, x), d);
        calls[d].n_in = 1;
        calls[d].out = check_output(c, IMPL_MAX_IO, 4096);
    }
    check_apply(c, &op);
    for (int d = 0; d < n; ++d) {
        check_int(c, "outputs", calls[d].n_out, 1);
        v.device[d] = d;
        v.of[d] = &calls[d].out[0];
    }
    agree_all(c, &v);
    bound_is(c, v.what, v.of[0], &known);
}

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
static void agree_train(struct check *c, int k, const char *delays, struct run *run)
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

static void agree_runs(struct check *c, int k)
{
    static const char *const delays[] = {"0", "0", "2,1,0"};
    struct run first, again;
    agree_train(c, k, delays[0], &first);
    for (size_t turn = 1; turn < sizeof delays / sizeof delays[0]; ++turn) {
        check_note(c, "K=%d, run %zu: ", k, turn + 1);
        agree_train(c, k, k < 3 ? delays[0] : delays[turn], &again);
        check_again(c, "output", again.y, first.y);
        check_again(c, "input gradient", again.dx, first.dx);
        for (int p = 0; p < 4; ++p) {
            check_again(c, check_text(c, "gradient %d", p), again.grad[p], first.grad[p]);
            check_again(c, check_text(c, "trained parameter %d", p), again.value[p],
                        first.value[p]);
        }
    }
}

/* ---- AGREE-03: trained on K devices, used on each -------------------------------------------- */

static const char small[] =
    "{\"kind\":\"linear\",\"in\":2,\"out\":3,\"weight\":[1,-2,3,4,-5,2],\"bias\":[1,2,-3]},"
    "{\"kind\":\"relu\"},{\"kind\":\"linear\",\"in\":3,\"out\":1,\"weight\":[2,-1,3],\"bias\":[5]}";
enum { PARAMS = 4 };

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
        /* Checks the bits of the parameters, which a closed form gives. */
        for (int p = 0; p < PARAMS; ++p) {
            const size_t n = param[p].rows * param[p].columns;
            double want[6];

            for (size_t e = 0; e < n; ++e) {
                velocity[p][e] = 0.5 * velocity[p][e] + known.grad[p].at[e].value;
                param[p].at[e].value -= 0.0625 * velocity[p][e];
                want[e] = param[p].at[e].value;
            }
            check_values(c, check_text(c, "trained parameter %d", p),
                         check_get(c, model, IMPL_VALUE, p), n, want);
        }
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
    const struct bound_answer known = net_answer(c, one, x, check_counted(c, 7, 1, 0));
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

static const struct check_case cases[] = {
    {"AGREE-01.alone", "AGREE-01", MUST, OBSERVED, DP, PARALLEL, 2, same_shard},
    {"AGREE-01.together", "AGREE-01", MUST, OBSERVED, DP, PARALLEL, 2, .each = same_shard_together},
    {"AGREE-01.apply", "AGREE-01", MUST, OBSERVED, DP, IMPL_CAP_APPLY, 2, same_call},
    {"AGREE-02.runs", "AGREE-02", MUST, OBSERVED, DP, PARALLEL, 1, .each = agree_runs,
     .dialect = IMPL_SUMS, .choice = IMPL_LISTED},
    {"AGREE-03.trained", "AGREE-03", MUST, OBSERVED, DP, PARALLEL, 1, agree_trained},
};
const struct check_table agree_table = CHECK_TABLE(cases);
