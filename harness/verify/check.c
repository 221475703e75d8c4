/* verify/check.c: compares the results of a step with the reference, value by value.
 *
 * The split is stated here in closed form. Weight gradients and updated weights are computed a row
 * at a time, so that a large layer needs no second copy. */
#include "verify/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers/equal.h"
#include "verify/arrays.h"

static int differ(const char *what, const char *where, size_t number,
                  const struct equal_report *report, struct text_error *why)
{
    char text[120];

    equal_text(report, text, sizeof text);
    snprintf(why->text, sizeof why->text, "%s, %s %zu: %s", what, where, number, text);
    return 1;
}

/* Replica i must see ceil(rows / devices) rows, and the last one the rest. A rank of
 * DistributedDataParallel sees as many rows as the others, or one more. */
static int check_shards(const struct verify *v, const struct verify_step *step,
                        struct verify_found *found, struct text_error *why)
{
    const size_t part = (v->rows + v->devices - 1) / v->devices;
    const size_t shards = v->ranks ? v->devices : (v->rows + part - 1) / part;

    found->values += 1;
    if (step->n_shards != shards) {
        snprintf(why->text, sizeof why->text, "%zu rows on %zu devices: %zu shards, must be %zu",
                 v->rows, v->devices, step->n_shards, shards);
        return 1;
    }
    for (size_t i = 0; i < shards; ++i) {
        const size_t rest = i * part < v->rows ? v->rows - i * part : 0;
        size_t want = rest < part ? rest : part;

        if (v->ranks)
            want = v->rows / v->devices + (i < v->rows % v->devices);
        found->values += 1;
        if (step->shard[i] != want) {
            snprintf(why->text, sizeof why->text,
                     "%zu rows on %zu devices: replica %zu saw %zu rows, must see %zu", v->rows,
                     v->devices, i, step->shard[i], want);
            return 1;
        }
    }
    return 0;
}

/* Compares bit for bit, or within bounds if there are any. */
static size_t compare(const float *got, const double *want, const double *bound, size_t n,
                      struct verify_found *found, struct equal_report *report)
{
    if (!bound)
        return equal_exact(got, want, n, report);
    found->ratio = fmax(found->ratio, equal_ratio(got, want, bound, n));
    return equal_within(got, want, bound, n, report);
}

/* Checks the outputs, then the loss. */
static int compare_outputs(const struct verify *v, const struct verify_step *step,
                           struct verify_found *found, struct text_error *why)
{
    const size_t width = v->layer[v->layers - 1].out;
    double value = v->loss, bound = 0;
    struct reference_array loss = {1, &value, &bound, 1};
    struct equal_report report;

    for (size_t n = 0; n < v->rows; ++n) {
        const size_t at = workload_pattern(&v->set, n) * width;

        found->values += width;
        if (compare(step->outputs + n * width, v->output + at,
                    v->probe ? v->output_error + at : NULL, width, found, &report))
            return differ("outputs", "row", n, &report, why);
    }
    found->values += 1;
    if (v->probe)
        verify_loss_of(v, step->outputs, width, &loss);
    if (compare(&step->loss, &value, v->probe ? &bound : NULL, 1, found, &report)) {
        snprintf(why->text, sizeof why->text, "loss is %.9g, must be %.9g", (double)step->loss,
                 (double)(float)value);
        return 1;
    }
    return 0;
}

/* One row of a weight, with the number of the bias after it. bound: NULL if all is exact. */
struct row {
    double *want, *bound;
};

static int check_row(const float *const *list, const char *kind, size_t l, size_t i,
                     const struct verify_layer *layer, const struct row *row,
                     struct verify_found *found, struct text_error *why)
{
    const double *bound_of_bias = row->bound ? row->bound + layer->in : NULL;
    struct equal_report report;
    char what[48];

    if (compare(list[2 * l] + i * layer->in, row->want, row->bound, layer->in, found, &report)) {
        snprintf(what, sizeof what, "%s weight of layer %zu", kind, l);
        return differ(what, "row", i, &report, why);
    }
    if (compare(list[2 * l + 1] + i, row->want + layer->in, bound_of_bias, 1, found, &report)) {
        snprintf(what, sizeof what, "%s bias of layer %zu", kind, l);
        return differ(what, "element", i, &report, why);
    }
    return 0;
}

/* Checks each row of the gradient, then that row of the updated parameters. */
static int check_layer(const struct verify *v, size_t l, const struct verify_step *step,
                       struct verify_found *found, struct text_error *why)
{
    const struct verify_layer *layer = &v->layer[l];
    double *want = verify_numbers(2, layer->in + 1);
    const struct row row = {want, v->probe && want ? want + layer->in + 1 : NULL};
    int status = 0;

    if (!want)
        return verify_starved(why);
    for (size_t i = 0; i < layer->out && status == 0; ++i) {
        found->values += 2 * (layer->in + 1);
        verify_gradient_row(v, layer, i, want);
        if (v->probe)
            verify_probe_row(v, layer, i, want, row.bound);
        status = check_row(step->gradient, "gradient of", l, i, layer, &row, found, why);
        if (status != 0)
            break;
        for (size_t j = 0; j <= layer->in; ++j)
            want[j] *= -VERIFY_LEARNING_RATE;
        for (int e = 0; e < 2; ++e)
            want[layer->weight[i][e].column] += layer->weight[i][e].value;
        want[layer->in] += layer->bias[i];
        if (v->probe)
            verify_probe_update(layer->in + 1, want, row.bound);
        status = check_row(step->updated, "updated", l, i, layer, &row, found, why);
    }
    free(want);
    return status;
}

int verify_measure(const struct verify *verify, const struct verify_step *step,
                   struct verify_found *found, struct text_error *why)
{
    int status;

    *found = (struct verify_found){0};
    status = check_shards(verify, step, found, why);
    if (status == 0 && verify->arrays)
        return reference_arrays_check(verify, step, found, why);
    if (status == 0)
        status = compare_outputs(verify, step, found, why);
    for (size_t l = 0; l < verify->layers && status == 0; ++l)
        status = check_layer(verify, l, step, found, why);
    return status;
}

int verify_check(const struct verify *verify, const struct verify_step *step, size_t *values,
                 struct text_error *why)
{
    struct verify_found found;
    const int status = verify_measure(verify, step, &found, why);

    *values = found.values;
    return status;
}

double verify_width(const struct verify *verify)
{
    const struct reference_arrays *d = verify->arrays;
    const size_t n = d ? d->output.n : verify->patterns * verify->layer[verify->layers - 1].out;
    const double *value = d ? d->output.value : verify->output;
    const double *bound = d ? d->output.bound : verify->output_error;
    double widest = 0;

    for (size_t i = 0; i < n; ++i)
        widest = fmax(widest, bound[i] / fabs(value[i]));
    return widest;
}
