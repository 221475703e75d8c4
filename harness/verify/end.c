/* verify/end.c: how a step goes on after the gradients: the loss of classes, clipping, the
 * update. */
#include <math.h>

#include "verify/arrays.h"
#include "verify/bounded.h"

static const double U = BOUNDED_U;

/* ---- rows ------------------------------------------------------------------------------------ */

/* The number of rows that the loss of row n is a mean over, times the number of losses whose
 * gradients are averaged. */
static double mean_over(const struct verify *v, size_t n)
{
    const size_t ranks = v->ranks ? v->devices : 1, rank = v->ranks ? verify_shard(v, n) : 0;
    const size_t rows = v->rows / ranks + (rank < v->rows % ranks);

    return (double)rows * (double)ranks;
}

double reference_row(const struct verify *v, size_t n)
{
    if (workload_end(&v->workload)->loss != DP_LOSS_XENT)
        return workload_scale(&v->set, n);
    return 1 / (mean_over(v, n) * (double)v->workload.size[GPT_CONTEXT]);
}

/* ---- loss ------------------------------------------------------------------------------------ */

/* The loss of each rank is a sum in double that is rounded once. */
void reference_mean_loss(const struct verify *v, const float *outputs, struct reference_array *loss)
{
    const size_t *size = v->workload.size, time = size[GPT_CONTEXT], n = size[GPT_VOCABULARY];
    const double ranks = v->ranks ? (double)v->devices : 1;
    double value = 0, terms = 0;

    for (size_t row = 0; row < v->rows; ++row) {
        /* A step reports the sum of the losses of the ranks, not their mean. */
        const double part = ranks / (mean_over(v, row) * (double)time);
        double sum = 0, sizes = 0; /* of -log softmax of the class; of its |terms| */

        for (size_t t = 0; t < time; ++t) {
            const float *y = outputs + (row * time + t) * n;
            const size_t pattern = workload_pattern(&v->set, row);
            const size_t class = (size_t)workload_token(&v->workload, &v->set, pattern, t + 1);
            double most = (double)y[0], exps = 0;

            for (size_t i = 1; i < n; ++i)
                most = fmax(most, (double)y[i]);
            for (size_t i = 0; i < n; ++i)
                exps += exp((double)y[i] - most);
            sizes += fabs(most) + fabs(log(exps)) + fabs((double)y[class]);
            sum += most + log(exps) - (double)y[class];
        }
        value += part * sum;
        terms += part * sizes;
    }
    *loss->value = value;
    /* 2^-53 is BOUNDED_U of double. */
    *loss->bound =
        2 * U * fabs(value) + 4 * ((double)(v->rows * time) + (double)n) * 0x1p-53 * terms;
}

/* ---- clipping -------------------------------------------------------------------------------- */

double reference_factor(const struct verify *v)
{
    const struct workload_end *end = workload_end(&v->workload);

    return end->adamw ? end->max_norm / (v->arrays->norm + 1e-6) : 1;
}

int reference_clip(struct verify *v, struct text_error *why)
{
    const struct workload_end *end = workload_end(&v->workload);
    struct reference_arrays *d = v->arrays;
    double squares = 0, products = 0, away = 0;

    if (!end->adamw)
        return 0;
    /* The norm and its bound: |g + e| is at least |g| - g e / |g|, and at most |g| + g e / |g| +
     * e e / (2 |g|). */
    for (int p = 0; p < REFERENCE_PARAMS; ++p)
        for (size_t i = 0; i < d->grad[p].n; ++i) {
            squares += d->grad[p].value[i] * d->grad[p].value[i];
            products += fabs(d->grad[p].value[i]) * d->grad[p].bound[i];
            away += d->grad[p].bound[i] * d->grad[p].bound[i];
        }
    d->norm = sqrt(squares);
    d->norm_bound = (products + away / 2) / d->norm + 4 * U * d->norm;
    if (!(d->norm > end->max_norm))
        return text_fail(why,
                         "gradients have a norm of %.3g, not above %.3g: clipping would not show",
                         d->norm, end->max_norm);

    const double factor = reference_factor(v);
    const double least = d->norm - d->norm_bound;
    const double of_factor =
        least > 0 ? d->norm_bound / least + 4 * U : INFINITY; /* how far it is away */

    for (int p = 0; p < REFERENCE_PARAMS; ++p)
        for (size_t i = 0; i < d->grad[p].n; ++i) {
            const double value = factor * d->grad[p].value[i];
            const double bound = factor * d->grad[p].bound[i];

            d->grad[p].value[i] = value;
            d->grad[p].bound[i] = bound + of_factor * (fabs(value) + bound);
        }
    return 0;
}

/* ---- updates --------------------------------------------------------------------------------- */

static double first_move(const struct dp_adamw_config *config, double g)
{
    return config->lr * g / (fabs(g) + config->eps);
}

void reference_update(const struct verify *v, int p, double *want, double *bound)
{
    const struct workload_end *end = workload_end(&v->workload);
    const struct dp_adamw_config *config = &end->config;
    const struct reference_array *grad = &v->arrays->grad[p];

    for (size_t i = 0; i < grad->n; ++i) {
        const double w = v->arrays->param[p].value[i], g = grad->value[i], e = grad->bound[i];

        if (!end->adamw) {
            const double step = VERIFY_LEARNING_RATE * g, carried = VERIFY_LEARNING_RATE * e;

            want[i] = w - step;
            bound[i] = carried + 2 * U * (fabs(step) + carried + fabs(want[i]));
            continue;
        }
        /* In a first step m / (1 - beta1) is g, and the root of s / (1 - beta2) is |g|, so the move
         * grows with g. The factor 16 allows for its roundings, which are parts of the move. */
        const double move = first_move(config, g);
        const double carried =
            fmax(first_move(config, g + e) - move, move - first_move(config, g - e));

        want[i] = w * (1 - config->lr * config->decay) - move;
        bound[i] =
            carried + 16 * U * (fabs(move) + carried) + 3 * U * (fabs(w) + fabs(want[i]) + carried);
    }
}
