/* train/against.c: two trainings next to each other, and how far they diverge.
 *
 * On real data sums are rounded, in an order that depends on the number of devices, and training
 * lets such differences grow. So it is also measured how far trainings diverge that differ in
 * rounding only: further trainings on the devices of the other side get the rows of each batch in
 * another order, which changes nothing but the order of sums. The bound of a step is FACTOR times
 * the largest distance that one of them has, or had, from the other side, and at least FACTOR
 * roundings of the largest parameter.
 *
 * AdamW divides a gradient by its own size. An element whose gradient consists of rounding only,
 * like that of a key's bias, moves as far as any other, so the largest difference has no meaning.
 * There are few such elements, so with AdamW differences and sizes are means over all
 * parameters. */
#include "train/train.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"
#include "text/alloc.h"

/* One direction of growth soon dominates all differences, and then the ratio of two of them is that
 * of two normal numbers: one is more than 64 times the largest of three others with a probability
 * of about E[(2 phi(0) |x| / 64)^3] = 3e-6. */
static const double FACTOR = 64;

/* A bound that is more than this part of the largest parameter is useless: from that step on
 * differences are recorded but not judged. */
static const double LOOSE = 0.01;

int train_against_open(struct train_against *against, struct train_side *side,
                       const struct train_side_config *config, struct dp_error *err)
{
    const struct train_side_config honest = {
        .model = config->model, .batch = config->batch, .update = config->update};
    const size_t width = side->width, labels = side->labels;
    int status;

    *against = (struct train_against){.side = side};
    against->feature = cli_alloc(config->batch * width, sizeof *against->feature);
    against->label = cli_alloc(config->batch * labels, sizeof *against->label);
    against->order = cli_alloc(config->batch, sizeof *against->order);
    against->width = width;
    against->labels = labels;
    against->mean = config->update.kind == TRAIN_ADAMW;
    for (int i = 0; i < TRAIN_SHUFFLED; ++i)
        if ((status = train_side_open(&against->shuffled[i], side->group, &honest, err)))
            return status;
    return 0;
}

void train_against_close(struct train_against *against)
{
    for (int i = 0; i < TRAIN_SHUFFLED; ++i)
        train_side_close(&against->shuffled[i]);
    free(against->feature);
    free(against->label);
    free(against->order);
    *against = (struct train_against){.side = NULL};
}

static int copy_params(struct train_side *to, const struct train_side *from, struct dp_error *err)
{
    if (to->n_params != from->n_params || to->n_values != from->n_values)
        return dp_fail(err, DP_ESHAPE, "the models differ: %d and %d parameters", to->n_params,
                       from->n_params);
    return train_side_write(to, from->value, err);
}

int train_against_start(struct train_against *against, struct train_side *first, uint64_t seed,
                        struct dp_error *err)
{
    int status;

    against->seed = seed;
    if ((status = train_side_read(first, err)) || (status = copy_params(against->side, first, err)))
        return status;
    for (int i = 0; i < TRAIN_SHUFFLED; ++i)
        if ((status = copy_params(&against->shuffled[i], first, err)))
            return status;
    return 0;
}

/* Copies the batch with its rows in another order. */
static void shuffle(struct train_against *against, int i, const struct loader_batch *batch,
                    struct loader_batch *shuffled)
{
    const size_t width = against->width, labels = against->labels;
    struct stream stream =
        stream_open(against->seed, STREAM_OF_AGAINST, against->steps * TRAIN_SHUFFLED + (size_t)i);

    for (size_t r = 0; r < batch->rows; ++r)
        against->order[r] = r;
    stream_shuffle(&stream, against->order, batch->rows);
    for (size_t r = 0; r < batch->rows; ++r) {
        const size_t from = against->order[r];

        memcpy(against->feature + r * width, batch->feature + from * width,
               width * sizeof *against->feature);
        memcpy(against->label + r * labels, batch->label + from * labels,
               labels * sizeof *against->label);
    }
    *shuffled = (struct loader_batch){.rows = batch->rows,
                                      .feature = against->feature,
                                      .label = against->label,
                                      .index = batch->index};
}

/* Returns the largest difference of a parameter, or the mean of all; infinite if one is not a
 * number. *at is the place of the largest. */
static double distance(const struct train_side *a, const struct train_side *b, bool mean,
                       size_t *at)
{
    double most = 0, sum = 0;

    *at = 0;
    for (size_t i = 0; i < a->n_values; ++i) {
        const double apart = fabs((double)a->value[i] - (double)b->value[i]);

        sum += isfinite(apart) ? apart : INFINITY;
        if (!(apart <= most)) {
            most = isfinite(apart) ? apart : INFINITY;
            *at = i;
        }
    }
    return mean ? sum / (double)a->n_values : most;
}

static void note_divergence(struct train_divergence *divergence,
                            const struct train_against *against, const struct train_side *first,
                            size_t at)
{
    char name[80];
    size_t element = 0;

    if (divergence->here)
        return;
    train_side_where(first, at, name, sizeof name, &element);
    *divergence = (struct train_divergence){.here = true, .step = against->steps};
    snprintf(divergence->where, sizeof divergence->where, "%s[%zu] is %.9g and %.9g", name, element,
             (double)first->value[at], (double)against->side->value[at]);
}

int train_against_step(struct train_against *against, struct train_side *first,
                       const struct loader_batch *batch, struct dp_error *err)
{
    double rounding = 0;
    size_t at = 0;
    float loss;
    int status;

    ++against->steps;
    if ((status = train_side_step(against->side, batch, &loss, err)) ||
        (status = train_side_read(against->side, err)) || (status = train_side_read(first, err)))
        return status;
    for (int i = 0; i < TRAIN_SHUFFLED; ++i) {
        struct loader_batch shuffled;

        shuffle(against, i, batch, &shuffled);
        if ((status = train_side_step(&against->shuffled[i], &shuffled, &loss, err)) ||
            (status = train_side_read(&against->shuffled[i], err)))
            return status;
        rounding =
            fmax(rounding, distance(&against->shuffled[i], against->side, against->mean, &at));
    }
    /* The largest magnitude of the parameters, or the mean. */
    double size = 0, sum = 0;

    for (size_t i = 0; i < against->side->n_values; ++i) {
        sum += fabs((double)against->side->value[i]);
        size = fmax(size, fabs((double)against->side->value[i]));
    }
    if (against->mean)
        size = sum / (double)against->side->n_values;
    rounding = fmax(rounding, (double)FLT_EPSILON / 2 * size);
    against->rounding = fmax(against->rounding, rounding);
    against->bound = FACTOR * against->rounding;
    against->last = distance(first, against->side, against->mean, &at);
    against->most = fmax(against->most, against->last);
    if (!(against->last == 0))
        note_divergence(&against->diverged, against, first, at);
    if (!against->loose && against->bound < LOOSE * size) {
        ++against->judged;
        against->judged_bound = against->bound;
    } else {
        against->loose = true;
    }
    if (!against->loose && !(against->last <= against->bound))
        note_divergence(&against->beyond, against, first, at);
    return 0;
}

bool train_against_holds(const struct train_against *against)
{
    return !against->inexact.here && !against->beyond.here &&
           against->exact_steps + against->judged > 0;
}
