/* train/exact.c: steps on whole numbers, after which both sides must have the same bits.
 *
 * Features are those of the data if these are whole numbers, else made up. A row of a weight has
 * two entries of +-1, a bias is from -2 to 2, the loss is the sum of c * y with c from {-2, -1, 1,
 * 2}, and the update is w - g. Then every number is whole, and sums are exact in any order while
 * they stay below 2^24, which bound_of proves for each step.
 *
 * So there is one right result, too, because both sides may be wrong in the same way: the float64
 * model of the sweep, which shares no code with core, computes it.
 *
 * The mean over R ranks is exact if R is a power of two. There c is multiplied by R, so that
 * gradients are the same as without ranks; the losses of ranks, whole numbers in single precision,
 * add up to R times the loss. */
#include "train/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numbers/equal.h"
#include "stream.h"
#include "text/alloc.h"
#include "verify/arrays.h"

static const double LIMIT = 0x1p24;

/* A step on both sides, with the same numbers. */
struct exact {
    const struct train_model *model;
    const struct train_side *first; /* has the names and shapes of the parameters */
    float *value;                   /* all parameters */
    float *feature, *c;             /* [batch, features], [batch, classes] */
    size_t n_result;
    double most_feature;
    struct exact_side {
        const struct exact *exact;
        struct cell_config cell;
        struct session session;
        size_t factor; /* of c: the number of ranks that gradients are divided by */
        float *result; /* outputs, loss, gradients, parameters: n_result numbers */
    } side[2];
    struct dp_error *err;
};

/* Draws a number from -most to most, but never 0: then a lost number shows. */
static float draw_number(struct stream *stream, size_t most)
{
    const float size = (float)(1 + stream_below(stream, most));

    return stream_below(stream, 2) == 0 ? -size : size;
}

static void fill_batch(struct exact *x, const struct dataset *data, struct stream *stream,
                       size_t rows)
{
    const size_t width = x->model->width;
    bool whole = true;

    for (size_t i = 0; data->table == 0 && whole && i < data->rows * data->features; ++i)
        whole = fabsf(data->feature[i]) <= 64 && data->feature[i] == floorf(data->feature[i]);
    x->most_feature = data->table > 0 ? 1 : 3;
    for (size_t r = 0; r < rows; ++r) {
        const float *row = data->feature + stream_below(stream, data->rows) * data->features;

        for (size_t j = 0; j < width; ++j) {
            const float number = whole ? row[j] : draw_number(stream, 3);

            x->feature[r * width + j] = number;
            if (data->table == 0)
                x->most_feature = fmax(x->most_feature, fabs((double)number));
        }
    }
    for (size_t i = 0; i < rows * (size_t)x->model->classes; ++i)
        x->c[i] = draw_number(stream, 2);
}

static void fill_params(struct exact *x, struct stream *stream)
{
    const struct train_side *side = x->first;
    float *to = x->value;

    for (int p = 0; p < side->n_params; ++p) {
        const struct dp_tensor *value = &side->param[p]->value;
        const size_t count = dp_tensor_count(value), rows = value->ndim > 0 ? value->dim[0] : 1;

        memset(to, 0, count * sizeof *to);
        for (size_t i = 0; value->ndim < 2 && i < count; ++i)
            to[i] = (float)stream_below(stream, 5) - 2;
        for (size_t r = 0; value->ndim >= 2 && r < 2 * rows; ++r)
            to[r / 2 * (count / rows) + stream_below(stream, count / rows)] +=
                draw_number(stream, 1);
        to += count;
    }
}

/* ---- how large sums can be ---------------------------------------------------------------------
 *
 * Bounds on sums of absolute values, layer by layer:
 *   forward   a(l+1) <= r(l) a(l) + b(l)       r: largest row of |W|, b: largest |bias|
 *   backward  d(l)   <= s(l) d(l+1)            s: largest sum of |W| over all that an input feeds
 *   gradient  g(l)   <= rows * positions * d(l+1) * max(a(l), 1)
 * ReLU and max-pooling only take numbers away. A row of a table is its product with a row that has
 * one 1. */
/* Computes the largest sum of |W| over a row, and over all entries that one input (dim[1]) has. */
static void measure_weight(const struct dp_tensor *value, const float w[], double *row,
                           double *column)
{
    const size_t rows = value->dim[0], inputs = value->dim[1];
    const size_t inner = dp_tensor_count(value) / rows / inputs;

    *row = *column = 0;
    for (size_t r = 0; r < rows; ++r) {
        double sum = 0;

        for (size_t i = 0; i < inputs * inner; ++i)
            sum += fabs((double)w[r * inputs * inner + i]);
        *row = fmax(*row, sum);
    }
    for (size_t j = 0; j < inputs; ++j) {
        double sum = 0;

        for (size_t r = 0; r < rows; ++r)
            for (size_t i = 0; i < inner; ++i)
                sum += fabs((double)w[(r * inputs + j) * inner + i]);
        *column = fmax(*column, sum);
    }
}

enum { MAX_LAYERS = 64 };

/* Returns the largest sum of absolute values that a step of that many rows can have. */
static double bound_of(const struct exact *x, size_t rows)
{
    const struct train_side *side = x->first;
    const size_t one = x->side[0].factor, other = x->side[1].factor;
    const size_t factor = one > other ? one : other;
    double a[MAX_LAYERS + 1] = {x->most_feature}, column[MAX_LAYERS], most = 0;
    double delta = 2 * (double)factor;
    const float *at = x->value;
    int layers = 0;

    for (int p = 0; p < side->n_params; ++p) {
        const struct dp_tensor *value = &side->param[p]->value;
        const size_t count = dp_tensor_count(value);
        double row;

        if (value->ndim >= 2 && layers == MAX_LAYERS)
            return INFINITY;
        if (value->ndim >= 2) {
            measure_weight(value, at, &row, &column[layers]);
            a[layers + 1] = row * a[layers];
            ++layers;
        } else {
            double bias = 0;

            for (size_t i = 0; i < count; ++i)
                bias = fmax(bias, fabs((double)at[i]));
            a[layers] += bias;
        }
        at += count;
    }
    if (factor > 1)
        most = (double)(rows * (size_t)x->model->classes) * delta * a[layers];
    for (int l = layers - 1; l >= 0; --l) {
        most = fmax(most,
                    fmax(a[l + 1], (double)(rows * x->model->positions) * delta * fmax(a[l], 1)));
        delta *= column[l];
    }
    return most + 2;
}

/* ---- a step ---------------------------------------------------------------------------------- */

static void fill_rows(void *user, const struct workload_set *set, enum workload_side which,
                      void *values)
{
    const struct exact_side *side = user;
    const struct exact *x = side->exact;
    const bool numbers = x->model->table > 0; /* those of the rows of a table */
    const size_t rows = side->session.rows;

    (void)set;
    for (size_t i = 0; which == WORKLOAD_TARGET && i < rows * (size_t)x->model->classes; ++i)
        ((float *)values)[i] = x->c[i] * (float)side->factor;
    for (size_t i = 0; which == WORKLOAD_INPUT && i < rows * x->model->width; ++i)
        if (numbers)
            ((int32_t *)values)[i] = (int32_t)x->feature[i];
        else
            ((float *)values)[i] = x->feature[i];
}

/* Opens the steps of a side: a session with its configuration, but for the numbers. */
static int open_side(struct exact *x, int k, const struct train_side *like, size_t batch)
{
    struct exact_side *side = &x->side[k];
    struct session *s = &side->session;
    const struct session_use use = {
        .around = like->config.tamper, .inside = true, .fill = fill_rows, .user = side};
    const int devices = dp_group_size(like->group);
    int status;

    side->exact = x;
    side->result = cli_alloc(x->n_result, sizeof *side->result);
    side->cell = (struct cell_config){.workload = x->model->workload,
                                      .rows = batch,
                                      .n_devices = devices,
                                      .mode = like->config.ddp ? CELL_DDP
                                              : devices > 0    ? CELL_DP
                                                               : CELL_PLAIN};
    if ((status = session_open(s, like->group, &side->cell, &use, x->err)))
        return status;
    session_set_traced(s, false);
    update_set_rate(&s->update, 1);
    return 0;
}

/* Appends numbers, with -0 as 0: the sign of a sum of zeros depends on its order. */
static void put_result(float **to, const float from[], size_t n)
{
    for (size_t i = 0; i < n; ++i)
        *(*to)++ = from[i] + 0.0F;
}

static int run_side(struct exact *x, int k, size_t rows)
{
    struct exact_side *side = &x->side[k];
    struct session *s = &side->session;
    const float *value = x->value;
    struct session_times times;
    float *to = side->result;
    int status;

    session_close_set(s, 0);
    s->rows = rows;
    for (int p = 0; p < s->n_params; ++p) {
        const size_t n = dp_tensor_count(&s->param[p]->value);

        s->value[0][p] = cli_alloc(n, sizeof *value);
        memcpy(s->value[0][p], value, n * sizeof *value);
        value += n;
    }
    if ((status = session_load(s, &(const struct workload_set){.index = 0}, x->err)) ||
        (status = session_prepare(s, 0, x->err)) || (status = session_step(s, 0, &times, x->err)) ||
        (status = session_read(s, x->err)))
        return status;
    put_result(&to, s->outputs, session_outputs(s));
    put_result(&to, &(float){s->loss_value / (float)side->factor}, 1);
    for (int p = 0; p < s->n_params; ++p) {
        struct dp_tensor param, grad;

        if ((status = session_param(s, 0, p, &param, &grad, x->err)))
            return status;
        if (!grad.slot)
            return dp_fail(x->err, DP_EFAULT, "a gradient is none");
        put_result(&to, s->gradient[p], dp_tensor_count(&param));
    }
    for (int p = 0; p < s->n_params; ++p)
        put_result(&to, s->updated[p], dp_tensor_count(&s->param[p]->value));
    return 0;
}

/* Computes the right result of the step; the caller frees it. NULL: memory is short. */
static float *right_result(const struct exact *x, size_t rows)
{
    const struct workload *workload = &x->model->workload;
    const struct reference_numbers given = {rows, x->value, x->feature, x->c};
    const size_t outputs = rows * (size_t)x->model->classes, n = x->first->n_values;
    float *want = cli_alloc(x->n_result, sizeof *want), *gradient[REFERENCE_PARAMS] = {NULL};
    float *const gradients = want + outputs + 1, *at = gradients;
    struct verify *verify = NULL;
    struct text_error why;
    double loss;

    for (size_t p = 0; p < workload_n_params(workload); ++p) {
        gradient[p] = at;
        at += workload_param_count(workload, p);
    }
    if (reference_given(workload, &given, &verify, &why) ||
        verify_answer(verify, want, &loss, gradient, &why)) {
        free(want);
        want = NULL;
    }
    verify_close(verify);
    if (!want)
        return NULL;
    want[outputs] = (float)loss;
    for (size_t i = 0; i < n; ++i)
        gradients[n + i] = x->value[i] - gradients[i];
    return want;
}

/* Notes the first value that differs: of the two sides, or of side 0 and the reference. */
static void note_inexact(const struct exact *x, struct train_against *against, size_t rows,
                         const struct equal_report *report, const char *between)
{
    const size_t classes = (size_t)x->model->classes, outputs = rows * classes;
    const size_t values = x->first->n_values, i = report->first;
    struct train_divergence *divergence = &against->inexact;
    char name[120], param[80];
    size_t element;

    if (divergence->here)
        return;
    if (i < outputs) {
        snprintf(name, sizeof name, "output [%zu, %zu]", i / classes, i % classes);
    } else if (i == outputs) {
        snprintf(name, sizeof name, "the loss");
    } else {
        const bool updated = i - outputs - 1 >= values;

        train_side_where(x->first, (i - outputs - 1) % values, param, sizeof param, &element);
        snprintf(name, sizeof name, "%s%s[%zu]", updated ? "updated " : "gradient of ", param,
                 element);
    }
    *divergence = (struct train_divergence){.here = true, .step = against->exact_steps};
    snprintf(divergence->where, sizeof divergence->where, "%.100s is %.9g%s %.9g", name,
             report->got, between, report->want);
}

/* Compares the sides with each other, and side 0 with the float64 model. The other side has the
 * same bits, or differs from side 0 and is reported for that. */
static int compare_step(const struct exact *x, struct train_against *against, size_t rows)
{
    const size_t n = rows * (size_t)x->model->classes + 1 + 2 * x->first->n_values;
    struct equal_report report;
    float *want;

    ++against->exact_steps;
    if (equal_bits(x->side[0].result, x->side[1].result, n, &report) != 0)
        note_inexact(x, against, rows, &report, " and");
    if (!workload_is_exact(&x->model->workload))
        return 0;
    if (!(want = right_result(x, rows)))
        return dp_fail(x->err, DP_ENOMEM, "no memory for the reference of %zu rows", rows);
    ++against->reference_steps;
    if (equal_bits(x->side[0].result, want, n, &report) != 0)
        note_inexact(x, against, rows, &report, ", must be");
    free(want);
    return 0;
}

int train_exact(struct train_against *against, const struct train_side *first,
                const struct train_model *model, const struct dataset *data, uint64_t seed,
                size_t batch, struct dp_error *err)
{
    const struct train_side *const sides[2] = {first, against->side};
    const size_t classes = (size_t)model->classes, values = first->n_values;
    struct exact *x;
    size_t least = 1, factor[2];
    int status = 0;

    if (!model->exact) {
        snprintf(against->exact_why, sizeof against->exact_why,
                 "%.60s has steps that round whatever the numbers are", model->name);
        return 0;
    }
    for (int k = 0; k < 2; ++k) {
        const size_t n = factor[k] = (size_t)sides[k]->session->n_ranks;

        least = n > least ? n : least;
        if ((n & (n - 1)) == 0)
            continue;
        snprintf(against->exact_why, sizeof against->exact_why,
                 "the mean over %zu ranks rounds; that of 1, 2, 4, 8, ... does not", n);
        return 0;
    }
    if (values != against->side->n_values)
        return dp_fail(err, DP_ESHAPE, "the models differ: %zu and %zu numbers", values,
                       against->side->n_values);
    x = cli_alloc(1, sizeof *x);
    x->model = model;
    x->first = first;
    x->err = err;
    x->n_result = batch * classes + 1 + 2 * values;
    x->value = cli_alloc(values, sizeof *x->value);
    x->feature = cli_alloc(batch * model->width, sizeof *x->feature);
    x->c = cli_alloc(batch * classes, sizeof *x->c);
    for (int k = 0; k < 2 && status == 0; ++k) {
        x->side[k].factor = factor[k];
        status = open_side(x, k, sides[k], batch);
    }
    for (size_t s = 0; s < TRAIN_EXACT_STEPS && status == 0; ++s) {
        struct stream stream = stream_open(seed, STREAM_OF_EXACT, s);
        size_t rows = batch;

        fill_params(x, &stream);
        fill_batch(x, data, &stream, rows);
        while (rows / 2 >= least && !(bound_of(x, rows) < LIMIT))
            rows = rows / 2 / least * least;
        if (!(bound_of(x, rows) < LIMIT)) {
            snprintf(against->exact_why, sizeof against->exact_why,
                     "sums of up to %.3g are not exact in single precision", bound_of(x, rows));
            break;
        }
        if ((status = run_side(x, 0, rows)) == 0 && (status = run_side(x, 1, rows)) == 0)
            status = compare_step(x, against, rows);
    }
    for (int k = 0; k < 2; ++k) {
        session_close(&x->side[k].session);
        free(x->side[k].result);
    }
    free(x->value);
    free(x->feature);
    free(x->c);
    free(x);
    return status;
}
