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

static const double LIMIT = 0x1p24;

/* A step on both sides, with the same numbers. */
struct exact {
    const struct train_model *model;
    struct train_side *side[2];
    struct dp_module *loss[2];
    struct dp_sgd *sgd[2];       /* not of ranks */
    struct train_ranks ranks[2]; /* of DistributedDataParallel */
    size_t factor[2]; /* factor of c: the number of ranks that gradients are divided by */
    struct dp_tensor upstream[2]; /* [batch, classes] */
    float *value;                 /* all parameters */
    float *feature, *c, *scaled;  /* [batch, features], [batch, classes], c times factor */
    size_t width;
    float *result[2]; /* outputs, loss, gradients, parameters: n_result numbers */
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
    bool whole = true;

    for (size_t i = 0; data->table == 0 && whole && i < data->rows * data->features; ++i)
        whole = fabsf(data->feature[i]) <= 64 && data->feature[i] == floorf(data->feature[i]);
    x->most_feature = data->table > 0 ? 1 : 3;
    for (size_t r = 0; r < rows; ++r) {
        const float *row = data->feature + stream_below(stream, data->rows) * data->features;

        for (size_t j = 0; j < x->width; ++j) {
            const float number = whole ? row[j] : draw_number(stream, 3);

            x->feature[r * x->width + j] = number;
            if (data->table == 0)
                x->most_feature = fmax(x->most_feature, fabs((double)number));
        }
    }
    for (size_t i = 0; i < rows * (size_t)x->model->classes; ++i)
        x->c[i] = draw_number(stream, 2);
}

static void fill_params(struct exact *x, struct stream *stream)
{
    const struct train_side *side = x->side[0];
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

    return train_bound(x->side[0], x->model, x->value, x->most_feature, rows, factor);
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

/* Runs forward, loss and backward; outputs and loss are read. */
static int pass_alone(struct exact *x, int k, const struct dp_tensor in[2], float **to)
{
    struct train_side *side = x->side[k];
    struct dp_tensor out[DP_MAX_IO], loss[DP_MAX_IO], terms[2] = {in[0], in[1]}, grad[2] = {0};
    int n = 0, status;

    dp_zero_grad(side->top);
    if ((status = dp_forward(side->top, side->run, in, 1, out, &n, x->err)))
        return status;
    terms[0] = out[0];
    terms[0].needs_grad = true;
    if ((status = dp_forward(x->loss[k], side->run, terms, 2, loss, &n, x->err)) ||
        (status = dp_backward(x->loss[k], side->run, NULL, 0, grad, 2, x->err)) ||
        (status = dp_backward(side->top, side->run, grad, 1, NULL, 1, x->err)) ||
        (status = read_result(x, &out[0], to)))
        return status;
    return read_result(x, &loss[0], to);
}

static int pass_ranks(struct exact *x, int k, const struct dp_tensor in[2], float **to)
{
    struct train_ranks *ranks = &x->ranks[k];
    struct dp_tensor out[DP_MAX_SLOTS];
    struct train_said messages[DP_MAX_SLOTS];
    uint64_t arrived;
    float loss;
    int status;

    dp_ddp_zero_grad(ranks->ddp);
    if ((status = train_ranks_spread(ranks, x->err)) ||
        (status = train_ranks_pass(ranks, &in[0], &in[1], messages, out, x->err)) ||
        (status = train_ranks_mean(ranks, messages, &loss, &arrived, x->err)))
        return status;
    for (int r = 0; r < ranks->n && status == 0; ++r)
        status = read_result(x, &out[r], to);
    *(*to)++ = loss + 0.0F;
    return status;
}

static int run_side(struct exact *x, int k, size_t rows)
{
    struct train_side *side = x->side[k];
    struct dp_ddp *ddp = x->ranks[k].ddp;
    struct dp_tensor in[2];
    float *to = x->result[k];
    int status;

    for (size_t i = 0; i < rows * (size_t)x->model->classes; ++i)
        x->scaled[i] = x->c[i] * (float)x->factor[k];
    dp_run_reset(side->run);
    dp_run_train_mode(side->run, true);
    dp_run_grad_mode(side->run, true);
    if ((status = train_side_write(side, x->value, x->err)) ||
        (status = train_side_put(side, rows, x->feature, &in[0], x->err)) ||
        (status = dp_tensor_rows(&x->upstream[k], 0, rows, &in[1], x->err)) ||
        (status = dp_tensor_write(&in[1], x->scaled, x->err)) ||
        (status = ddp ? pass_ranks(x, k, in, &to) : pass_alone(x, k, in, &to)))
        return status;
    for (int p = 0; p < side->n_params && status == 0; ++p) {
        struct dp_param *own = side->param[p];
        struct dp_ddp_param param = {own->value, own->grad, &own->has_grad};

        if (ddp && (status = dp_ddp_param(ddp, 0, p, &param, x->err)))
            return status;
        status = *param.has_grad ? read_result(x, &param.grad, &to)
                                 : dp_fail(x->err, DP_EFAULT, "a gradient is none");
    }
    if (status == 0)
        status = ddp ? dp_ddp_step(ddp, 1, 0, 0, x->err) : dp_sgd_step(x->sgd[k], x->err);
    if (status == 0 && ddp)
        status = dp_ddp_compare(ddp, x->err);
    for (int p = 0; p < side->n_params && status == 0; ++p)
        status = read_result(x, &side->param[p]->value, &to);
    return status;
}

/* Notes the first value that differs: of the two sides, or of side 0 and the reference. */
static void note_inexact(const struct exact *x, struct train_against *against, size_t rows,
                         const struct equal_report *report, const char *between)
{
    const size_t classes = (size_t)x->model->classes, outputs = rows * classes;
    const size_t values = x->side[0]->n_values, i = report->first;
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

        train_side_where(x->side[0], (i - outputs - 1) % values, param, sizeof param, &element);
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
    const size_t n = rows * (size_t)x->model->classes + 1 + 2 * x->side[0]->n_values;
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

static int open_exact(struct exact *x, size_t batch)
{
    const size_t classes = (size_t)x->model->classes, values = x->side[0]->n_values;
    int status;

    x->n_result = batch * classes + 1 + 2 * values;
    x->value = malloc((values + 1) * sizeof *x->value);
    x->feature = malloc(batch * x->width * sizeof *x->feature);
    x->c = malloc(batch * classes * sizeof *x->c);
    x->scaled = malloc(batch * classes * sizeof *x->scaled);
    if (!x->value || !x->feature || !x->c || !x->scaled)
        return dp_fail(x->err, DP_ENOMEM, "no memory for %zu rows", batch);
    for (int k = 0; k < 2; ++k) {
        struct train_side *side = x->side[k];

        x->result[k] = malloc(x->n_result * sizeof(float));
        if (!x->result[k])
            return dp_fail(x->err, DP_ENOMEM, "no memory for %zu numbers", x->n_result);
        if ((status = dp_loss(side->group, DP_LOSS_SUM, 1, false, &x->loss[k], x->err)) ||
            (status = dp_tensor_alloc(side->target.slot, DP_F32, 2, (size_t[]){batch, classes},
                                      &x->upstream[k], x->err)))
            return status;
        status = side->ranks.ddp ? train_ranks_open(&x->ranks[k], side->group, side->inner,
                                                    x->loss[k], NULL, x->err)
                                 : dp_sgd_open(side->top, 1, 0, 0, &x->sgd[k], x->err);
        if (status)
            return status;
    }
    return 0;
}

static void close_exact(struct exact *x)
{
    for (int k = 0; k < 2; ++k) {
        train_ranks_close(&x->ranks[k]);
        dp_module_close(x->loss[k]);
        dp_sgd_close(x->sgd[k]);
        dp_tensor_free(&x->upstream[k]);
        free(x->result[k]);
    }
    free(x->value);
    free(x->feature);
    free(x->c);
    free(x->scaled);
}

static int run_exact_steps(struct exact *x, struct train_against *against,
                           const struct dataset *data, uint64_t seed, size_t batch)
{
    const size_t least = x->factor[0] > x->factor[1] ? x->factor[0] : x->factor[1];
    int status;

    for (size_t s = 0; s < TRAIN_EXACT_STEPS; ++s) {
        struct stream stream = stream_open(seed, STREAM_OF_EXACT, s);
        size_t rows = batch;

        fill_params(x, &stream);
        fill_batch(x, data, &stream, rows);
        while (rows / 2 >= least && !(bound_of(x, rows) < LIMIT))
            rows = rows / 2 / least * least;
        if (!(bound_of(x, rows) < LIMIT)) {
            snprintf(against->exact_why, sizeof against->exact_why,
                     "sums of up to %.3g are not exact in single precision", bound_of(x, rows));
            return 0;
        }
        if ((status = run_side(x, 0, rows)) || (status = run_side(x, 1, rows)) ||
            (status = compare_step(x, against, rows)))
            return status;
    }
    return 0;
}

int train_exact(struct train_against *against, struct train_side *first,
                const struct train_model *model, const struct dataset *data, uint64_t seed,
                size_t batch, struct dp_error *err)
{
    struct exact x = {
        .model = model, .side = {first, against->side}, .width = against->width, .err = err};
    int status;

    if (!model->exact) {
        snprintf(against->exact_why, sizeof against->exact_why,
                 "%.60s has steps that round whatever the numbers are", model->name);
        return 0;
    }
    for (int k = 0; k < 2; ++k) {
        const size_t n = (size_t)x.side[k]->ranks.n;

        x.factor[k] = n > 0 ? n : 1;
        if ((n & (n - 1)) == 0)
            continue;
        snprintf(against->exact_why, sizeof against->exact_why,
                 "the mean over %zu ranks rounds; that of 1, 2, 4, 8, ... does not", n);
        return 0;
    }
    if (first->n_values != against->side->n_values)
        return dp_fail(err, DP_ESHAPE, "the models differ: %zu and %zu numbers", first->n_values,
                       against->side->n_values);
    if ((status = open_exact(&x, batch)) == 0)
        status = run_exact_steps(&x, against, data, seed, batch);
    close_exact(&x);
    return status;
}
