/* train/exact.c: steps on whole numbers, after which both sides must have the same bits.
 *
 * Features are those of the data if these are whole numbers, else made up. A row of a weight has
 * two entries of +-1, a bias is from -2 to 2, the loss is the sum of c * y with c from {-2, -1, 1,
 * 2}, and the update is w - g. Then every number is whole, and sums are exact in any order while
 * they stay below 2^24, which train_bound proves for each step.
 *
 * So there is one right result, too. train/reference.c computes it if the model is a chain of
 * linear layers, because both sides may be wrong in the same way.
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

static const double LIMIT = 0x1p24;

/* A step on both sides, with the same numbers. */
struct exact {
    const struct train_model *model;
    struct train_side side[2];
    size_t factor[2]; /* factor of c: the number of ranks that gradients are divided by */
    float *value;     /* all parameters */
    float *feature, *c, *scaled; /* [batch, features], [batch, classes], c times factor */
    float *result[2];            /* outputs, loss, gradients, parameters: n_result numbers */
    size_t n_result;
    double most_feature;
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
    const struct train_side *side = &x->side[0];
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

static double bound_of(const struct exact *x, size_t rows)
{
    const size_t factor = x->factor[0] > x->factor[1] ? x->factor[0] : x->factor[1];

    return train_bound(&x->side[0], x->model, x->value, x->most_feature, rows, factor);
}

/* Reads a tensor, with -0 as 0: the sign of a sum of zeros depends on its order. */
static int read_result(struct exact *x, const struct dp_tensor *tensor, float **to)
{
    const size_t n = dp_tensor_count(tensor);
    const int status = dp_tensor_read(*to, tensor, x->err);

    for (size_t i = 0; i < n; ++i)
        (*to)[i] += 0.0F;
    *to += n;
    return status;
}

static int run_side(struct exact *x, int k, size_t rows)
{
    struct train_side *side = &x->side[k];
    const struct session *s = side->session;
    struct dp_tensor in[2], value, grad;
    float *to = x->result[k], loss;
    int status;

    for (size_t i = 0; i < rows * (size_t)x->model->classes; ++i)
        x->scaled[i] = x->c[i] * (float)x->factor[k];
    session_clear(side->session);
    if ((status = train_side_write(side, x->value, x->err)) ||
        (status = train_side_spread(side, x->err)) ||
        (status = train_side_put(side, rows, x->feature, &in[0], x->err)) ||
        (status = dp_tensor_rows(&side->target, 0, rows, &in[1], x->err)) ||
        (status = dp_tensor_write(&in[1], x->scaled, x->err)) ||
        (status = train_side_pass(side, in, &loss, NULL, x->err)))
        return status;
    for (int r = 0; r < s->n_ranks && status == 0; ++r)
        status = read_result(x, &s->out[r * DP_MAX_IO + 1], &to);
    *to++ = loss + 0.0F;
    for (int p = 0; p < s->n_params && status == 0; ++p) {
        status = session_param(s, 0, p, &value, &grad, x->err);
        if (status == 0)
            status = grad.slot ? read_result(x, &grad, &to)
                               : dp_fail(x->err, DP_EFAULT, "a gradient is none");
    }
    if (status == 0)
        status = train_optimizer_step(&side->optimizer, x->err);
    if (status == 0)
        status = train_side_agree(side, x->err);
    for (int p = 0; p < side->n_params && status == 0; ++p)
        status = read_result(x, &side->param[p]->value, &to);
    return status;
}

/* Notes the first value that differs: of the two sides, or of side 0 and the reference. */
static void note_inexact(const struct exact *x, struct train_against *against, size_t rows,
                         const struct equal_report *report, const char *between)
{
    const size_t classes = (size_t)x->model->classes, outputs = rows * classes;
    const size_t values = x->side[0].n_values, i = report->first;
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

        train_side_where(&x->side[0], (i - outputs - 1) % values, param, sizeof param, &element);
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
    const size_t n = rows * (size_t)x->model->classes + 1 + 2 * x->side[0].n_values;
    const struct train_numbers numbers = {rows, x->value, x->feature, x->c};
    struct equal_report report;
    double *want;

    ++against->exact_steps;
    if (equal_bits(x->result[0], x->result[1], n, &report) != 0)
        note_inexact(x, against, rows, &report, " and");
    if (train_reference(&x->model->workload, &numbers, &want))
        return dp_fail(x->err, DP_ENOMEM, "no memory for the reference of %zu rows", rows);
    if (!want)
        return 0;
    ++against->reference_steps;
    if (equal_exact(x->result[0], want, n, &report) != 0)
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
    struct exact x = {.model = model, .n_result = batch * classes + 1 + 2 * values, .err = err};
    size_t least = 1;
    int status = 0;

    if (!model->exact) {
        snprintf(against->exact_why, sizeof against->exact_why,
                 "%.60s has steps that round whatever the numbers are", model->name);
        return 0;
    }
    for (int k = 0; k < 2; ++k) {
        const size_t n = x.factor[k] = (size_t)sides[k]->session->n_ranks;

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
    x.value = cli_alloc(values, sizeof *x.value);
    x.feature = cli_alloc(batch * model->width, sizeof *x.feature);
    x.c = cli_alloc(batch * classes, sizeof *x.c);
    x.scaled = cli_alloc(batch * classes, sizeof *x.scaled);
    x.result[0] = cli_alloc(x.n_result, sizeof(float));
    x.result[1] = cli_alloc(x.n_result, sizeof(float));
    for (int k = 0; k < 2 && status == 0; ++k) {
        struct train_side_config config = sides[k]->config;

        config.batch = batch;
        config.exact = true;
        config.update = (struct train_update){.kind = TRAIN_SGD, .lr = 1, .parts = 1};
        status = train_side_open(&x.side[k], sides[k]->group, &config, err);
    }
    for (size_t s = 0; s < TRAIN_EXACT_STEPS && status == 0; ++s) {
        struct stream stream = stream_open(seed, STREAM_OF_EXACT, s);
        size_t rows = batch;

        fill_params(&x, &stream);
        fill_batch(&x, data, &stream, rows);
        while (rows / 2 >= least && !(bound_of(&x, rows) < LIMIT))
            rows = rows / 2 / least * least;
        if (!(bound_of(&x, rows) < LIMIT)) {
            snprintf(against->exact_why, sizeof against->exact_why,
                     "sums of up to %.3g are not exact in single precision", bound_of(&x, rows));
            break;
        }
        if ((status = run_side(&x, 0, rows)) == 0 && (status = run_side(&x, 1, rows)) == 0)
            status = compare_step(&x, against, rows);
    }
    for (int k = 0; k < 2; ++k) {
        train_side_close(&x.side[k]);
        free(x.result[k]);
    }
    free(x.value);
    free(x.feature);
    free(x.c);
    free(x.scaled);
    return status;
}
