/* verify/check.c: compares the results of a step with the reference, value by value: bit for bit
 * where the model is exact, else within the bound that is stored with every number.
 *
 * The split is stated here in closed form. */
#include "verify/verify.h"

#include <math.h>
#include <stdio.h>

#include "numbers/equal.h"
#include "verify/arrays.h"

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

        found->values += width;
        if (verify_compare(v, "outputs, row", n, step->outputs + n * width, &row, found, why))
            return 1;
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

int verify_measure(const struct verify *verify, const struct verify_step *step,
                   struct verify_found *found, struct text_error *why)
{
    int status;

    *found = (struct verify_found){0};
    status = check_shards(verify, step, found, why);
    if (status == 0)
        status = compare_outputs(verify, step, found, why);
    if (status == 0)
        status = (verify->layers > 0 ? reference_chain_check : reference_arrays_check)(verify, step,
                                                                                       found, why);
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
    return reference_chain_gradient(verify, gradient) == 0
               ? 0
               : text_fail(why, "out of memory for the known answer");
}

double verify_width(const struct verify *verify)
{
    const struct reference_array *output = &verify->arrays->output;
    double widest = 0;

    for (size_t i = 0; i < output->n; ++i)
        widest = fmax(widest, output->bound[i] / fabs(output->value[i]));
    return widest;
}
