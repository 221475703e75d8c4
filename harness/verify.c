/* verify.c: compares what a step left behind with the reference, value by value.
 *
 * The split is stated here in closed form; weight gradients and updated weights are made a row at
 * a time, so that a large layer needs no second copy. */
#include "verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "equal.h"
#include "verify_dense.h"

static int differ(const char *what, const char *where, size_t number,
                  const struct equal_report *report, struct verify_text *why)
{
    char text[120];

    equal_text(report, text, sizeof text);
    snprintf(why->text, sizeof why->text, "%s, %s %zu: %s", what, where, number, text);
    return 1;
}

/* Rows that replica i must see: ceil(rows / devices) each, the last what is left. A rank of
 * DistributedDataParallel: as many as the others, or one more. */
static size_t rows_of(const struct verify *v, size_t i)
{
    const size_t part = (v->rows + v->devices - 1) / v->devices;
    const size_t rest = i * part < v->rows ? v->rows - i * part : 0;

    if (v->ranks)
        return v->rows / v->devices + (i < v->rows % v->devices);
    return rest < part ? rest : part;
}

static int check_shards(const struct verify *v, const struct verify_step *step, size_t *values,
                        struct verify_text *why)
{
    const size_t part = (v->rows + v->devices - 1) / v->devices;
    const size_t shards = v->ranks ? v->devices : (v->rows + part - 1) / part;

    *values += 1;
    if (step->n_shards != shards) {
        snprintf(why->text, sizeof why->text, "%zu rows on %zu devices: %zu shards, must be %zu",
                 v->rows, v->devices, step->n_shards, shards);
        return 1;
    }
    for (size_t i = 0; i < shards; i++) {
        const size_t want = rows_of(v, i);

        *values += 1;
        if (step->shard[i] != want) {
            snprintf(why->text, sizeof why->text,
                     "%zu rows on %zu devices: replica %zu saw %zu rows, must see %zu", v->rows,
                     v->devices, i, step->shard[i], want);
            return 1;
        }
    }
    return 0;
}

static int check_outputs(const struct verify *v, const struct verify_step *step, size_t *values,
                         struct verify_text *why)
{
    const size_t width = v->layer[v->layers - 1].out;
    struct equal_report report;

    for (size_t n = 0; n < v->rows; n++) {
        *values += width;
        if (equal_exact(step->outputs + n * width, v->output + n % v->period * width, width,
                        &report))
            return differ("outputs", "row", n, &report, why);
    }
    *values += 1;
    if (equal_exact(&step->loss, &v->loss, 1, &report)) {
        const float want = (float)v->loss;

        snprintf(why->text, sizeof why->text, "loss is %.9g, must be %.9g", (double)step->loss,
                 (double)want);
        return 1;
    }
    return 0;
}

/* Row i of the weight gradient, and its bias gradient as element in. */
static void gradient_row(const struct verify *v, const struct verify_layer *layer, size_t i,
                         double *want)
{
    memset(want, 0, (layer->in + 1) * sizeof *want);
    for (size_t r = 0; r < v->patterns; r++) {
        const double factor = v->weight[r] * layer->upstream[r * layer->out + i];
        const double *a = layer->input + r * layer->in;

        if (factor == 0)
            continue;
        for (size_t j = 0; j < layer->in; j++)
            want[j] += factor * a[j];
        want[layer->in] += factor;
    }
    for (size_t j = 0; j <= layer->in; j++)
        want[j] /= (double)v->divisor;
}

/* Turns the gradient row into the updated parameters. */
static void update_row(const struct verify_layer *layer, size_t i, double *want)
{
    for (size_t j = 0; j <= layer->in; j++)
        want[j] *= -VERIFY_LEARNING_RATE;
    for (int e = 0; e < 2; e++)
        want[layer->weight[i][e].column] += layer->weight[i][e].sign;
    want[layer->in] += layer->bias[i];
}

static int check_row(const float *const *list, const char *kind, size_t l, size_t i,
                     const struct verify_layer *layer, const double *want, struct verify_text *why)
{
    struct equal_report report;
    char what[48];

    if (equal_exact(list[2 * l] + i * layer->in, want, layer->in, &report)) {
        snprintf(what, sizeof what, "%s weight of layer %zu", kind, l);
        return differ(what, "row", i, &report, why);
    }
    if (equal_exact(list[2 * l + 1] + i, want + layer->in, 1, &report)) {
        snprintf(what, sizeof what, "%s bias of layer %zu", kind, l);
        return differ(what, "element", i, &report, why);
    }
    return 0;
}

static int check_layer(const struct verify *v, size_t l, const struct verify_step *step,
                       size_t *values, struct verify_text *why)
{
    const struct verify_layer *layer = &v->layer[l];
    double *want = verify_numbers(1, layer->in + 1);
    int rc = 0;

    if (want == NULL) {
        snprintf(why->text, sizeof why->text, "out of memory for the reference");
        return -1;
    }
    for (size_t i = 0; i < layer->out && rc == 0; i++) {
        *values += 2 * (layer->in + 1);
        gradient_row(v, layer, i, want);
        rc = check_row(step->gradient, "gradient of", l, i, layer, want, why);
        update_row(layer, i, want);
        if (rc == 0)
            rc = check_row(step->updated, "updated", l, i, layer, want, why);
    }
    free(want);
    return rc;
}

int verify_check(const struct verify *verify, const struct verify_step *step, size_t *values,
                 struct verify_text *why)
{
    int rc;

    *values = 0;
    rc = check_shards(verify, step, values, why);
    if (rc == 0 && verify->dense != NULL)
        return verify_dense_check(verify, step, values, why);
    if (rc == 0)
        rc = check_outputs(verify, step, values, why);
    for (size_t l = 0; l < verify->layers && rc == 0; l++)
        rc = check_layer(verify, l, step, values, why);
    return rc;
}
