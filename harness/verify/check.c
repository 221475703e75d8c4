/* verify/check.c: compares the results of a step with the reference, value by value: bit for bit
 * where the model is exact, else within the bound that is stored with every number.
 *
 * The split is stated here in closed form. */
#include "verify/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "numbers/equal.h"
#include "verify/arrays.h"
#include "verify/bounded.h"

/* Replica i must see ceil(rows / devices) rows, and the last one the rest. A rank of
 * DistributedDataParallel sees as many rows as the others, or one more. */
static int check_shards(const struct verify *v, const struct verify_step *step,
                        struct verify_found *found, struct text_error *why)
{
    const size_t part = (v->rows + v->devices - 1) / v->devices;
    const size_t shards = v->ranks ? v->devices : (v->rows + part - 1) / part;

    found->values += 1;
    if (step->n_shards != shards) {
        snprintf(why->text, sizeof why->text, "%zu row%s on %zu device%s: %zu shard%s, must be %zu",
                 v->rows, text_s(v->rows), v->devices, text_s(v->devices), step->n_shards,
                 text_s(step->n_shards), shards);
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
                     "%zu row%s on %zu device%s: replica %zu saw %zu row%s, must see %zu", v->rows,
                     text_s(v->rows), v->devices, text_s(v->devices), i, step->shard[i],
                     text_s(step->shard[i]), want);
            return 1;
        }
    }
    return 0;
}

/* Compares n numbers with those of the array: 0; or 1, and why has the first that differs. */
static int verify_compare(const struct verify *v, const char *what, size_t number, const float *got,
                          const struct reference_array *want, struct verify_found *found,
                          struct text_error *why)
{
    struct equal_report report;
    char text[120];

    if (!v->arrays->exact)
        found->ratio = fmax(found->ratio, equal_ratio(got, want->value, want->bound, want->n));
    if ((v->arrays->exact ? equal_exact(got, want->value, want->n, &report)
                          : equal_within(got, want->value, want->bound, want->n, &report)) == 0)
        return 0;
    equal_text(&report, text, sizeof text);
    snprintf(why->text, sizeof why->text, "%s %zu: %s", what, number, text);
    return 1;
}

/* Checks the outputs, then the loss. */
static int compare_outputs(const struct verify *v, const struct verify_step *step,
                           struct verify_found *found, struct text_error *why)
{
    const struct reference_arrays *d = v->arrays;
    const size_t width = d->output.n / v->patterns;
    double value = d->loss, bound = 0;
    struct reference_array loss = {1, &value, &bound, 1};

    for (size_t n = 0; n < v->rows; ++n) {
        const size_t at = verify_place(v, n) * width;
        const struct reference_array row = {width, d->output.value + at, d->output.bound + at, 1};
        const float *got = step->outputs + n * width;

        found->values += width;
        /* A batch may have many rows of one number; only one that differs needs a report. */
        if (d->exact && equal_exact(got, row.value, width, NULL) == 0)
            continue;
        if (verify_compare(v, "outputs, row", n, got, &row, found, why))
            return verify_name_device(v, step->device, n, why);
    }
    found->values += 1;
    if (workload_end(&v->workload)->loss == DP_LOSS_XENT)
        reference_mean_loss(v, step->outputs, &loss);
    else if (!d->exact)
        verify_loss_of(v, step->outputs, width, &loss);
    if (verify_compare(v, "loss", 0, &step->loss, &loss, found, why) == 0)
        return 0;
    snprintf(why->text, sizeof why->text, "loss is %.9g, must be %.9g", (double)step->loss,
             (double)(float)value);
    return 1;
}

/* A row of the gradient, then of the updated parameters, with the number of the bias after it. */
struct row {
    double *want, *bound;
};

/* list: the weight, then the bias of the layer; what: "gradient of weight of layer 0, row", and the
 * same of the bias. */
static int check_row(const struct verify *v, const float *const *list, char what[2][64], size_t in,
                     size_t i, const struct row *row, struct verify_found *found,
                     struct text_error *why)
{
    const struct reference_array weight = {in, row->want, row->bound, 1};
    const struct reference_array bias = {1, row->want + in, row->bound + in, 1};

    return verify_compare(v, what[0], i, list[0] + i * in, &weight, found, why) ||
           verify_compare(v, what[1], i, list[1] + i, &bias, found, why);
}

/* Checks each row of the gradient, then that row of the updated parameters. */
static int check_layer(const struct verify *v, size_t l, const struct verify_step *step,
                       struct verify_found *found, struct text_error *why)
{
    const struct verify_layer *layer = &v->layer[l];
    double *want = verify_numbers(2, layer->in + 1);
    const struct row row = {want, want ? want + layer->in + 1 : NULL};
    char what[2][2][64];
    int status = 0;

    if (!want)
        return verify_starved(why);
    for (int k = 0; k < 2; ++k) {
        const char *kind = k == 0 ? "gradient of" : "updated";

        snprintf(what[k][0], sizeof what[k][0], "%s weight of layer %zu, row", kind, l);
        snprintf(what[k][1], sizeof what[k][1], "%s bias of layer %zu, element", kind, l);
    }
    for (size_t i = 0; i < layer->out && status == 0; ++i) {
        found->values += 2 * (layer->in + 1);
        reference_chain_row(v, layer, i, want, row.bound);
        status = check_row(v, step->gradient + 2 * l, what[0], layer->in, i, &row, found, why);
        if (status != 0)
            break;
        for (size_t j = 0; j <= layer->in; ++j)
            want[j] *= -VERIFY_LEARNING_RATE;
        for (int e = 0; e < 2; ++e)
            want[layer->weight[i][e].column] += layer->weight[i][e].value;
        want[layer->in] += layer->bias[i];
        /* The product with the learning rate, a power of two, rounds nothing; the difference does.
         */
        for (size_t j = 0; j <= layer->in && v->probe; ++j) {
            const double carried = VERIFY_LEARNING_RATE * row.bound[j];

            row.bound[j] = carried + 2 * BOUNDED_U * (fabs(want[j]) + carried);
        }
        status = check_row(v, step->updated + 2 * l, what[1], layer->in, i, &row, found, why);
    }
    free(want);
    return status;
}

/* Checks the gradients and the updated parameters of a model that is no chain. */
static int compare_params(const struct verify *v, const struct verify_step *step,
                          struct verify_found *found, struct text_error *why)
{
    const struct reference_arrays *d = v->arrays;
    int status = 0;

    if (workload_end(&v->workload)->adamw) {
        /* If gradients are clipped, only this comparison shows how large they were. */
        const float got = (float)step->norm;
        double norm = d->norm, bound = d->norm_bound + 2 * BOUNDED_U * d->norm;
        const struct reference_array want = {1, &norm, &bound, 1};

        found->values += 1;
        status = verify_compare(v, "norm of gradients", 0, &got, &want, found, why);
    }
    for (size_t p = 0; p < REFERENCE_PARAMS && status == 0; ++p) {
        const size_t n = d->grad[p].n;
        double *want = verify_numbers(2, n);
        const struct reference_array updated = {n, want, want ? want + n : NULL, 1};

        if (!want)
            return verify_starved(why);
        found->values += 2 * n;
        status = verify_compare(v, "gradient of parameter", p, step->gradient[p], &d->grad[p],
                                found, why);
        if (status == 0) {
            reference_update(v, (int)p, updated.value, updated.bound);
            status =
                verify_compare(v, "updated parameter", p, step->updated[p], &updated, found, why);
        }
        free(want);
    }
    return status;
}

int verify_measure(const struct verify *verify, const struct verify_step *step,
                   struct verify_found *found, struct text_error *why)
{
    int status;

    *found = (struct verify_found){0};
    status = check_shards(verify, step, found, why);
    if (status == 0)
        status = compare_outputs(verify, step, found, why);
    if (status == 0 && verify->layers == 0)
        return compare_params(verify, step, found, why);
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

int verify_answer(const struct verify *verify, float outputs[], double *loss,
                  float *const gradient[], struct text_error *why)
{
    const struct reference_arrays *d = verify->arrays;
    const size_t width = d->output.n / verify->patterns;

    if (!d->exact)
        return text_fail(why, "its results are rounded: there is no answer to the bit");
    for (size_t n = 0; n < verify->rows; ++n)
        for (size_t i = 0; i < width; ++i)
            outputs[n * width + i] = (float)d->output.value[verify_place(verify, n) * width + i];
    *loss = d->loss;
    for (int p = 0; p < REFERENCE_PARAMS; ++p)
        for (size_t i = 0; i < d->grad[p].n; ++i)
            gradient[p][i] = (float)d->grad[p].value[i];
    for (size_t l = 0; l < verify->layers; ++l) {
        const struct verify_layer *layer = &verify->layer[l];
        double *row = verify_numbers(1, layer->in + 1);

        if (!row)
            return text_fail(why, "out of memory for the known answer");
        for (size_t i = 0; i < layer->out; ++i) {
            reference_chain_row(verify, layer, i, row, NULL);
            for (size_t j = 0; j < layer->in; ++j)
                gradient[2 * l][i * layer->in + j] = (float)row[j];
            gradient[2 * l + 1][i] = (float)row[layer->in];
        }
        free(row);
    }
    return 0;
}

double verify_width(const struct verify *verify)
{
    const struct reference_array *output = &verify->arrays->output;
    double widest = 0;

    for (size_t i = 0; i < output->n; ++i)
        widest = fmax(widest, output->bound[i] / fabs(output->value[i]));
    return widest;
}
