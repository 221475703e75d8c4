/* verify/arrays.c: opens a reference of whole arrays, and fills it by the model of its workload. */
#include "verify/arrays.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "descriptor.h"
#include "text/alloc.h"
#include "verify/bounded.h"
#include "verify_list.h"

int reference_array_open(struct reference_array *array, size_t n)
{
    array->n = n;
    array->parts = 1;
    array->value = verify_numbers(1, n);
    array->bound = verify_numbers(1, n);
    return !array->value || !array->bound ? -1 : 0;
}

static int open_arrays(struct verify *v)
{
    const struct workload *workload = &v->workload;
    const size_t width = workload_width(workload), factors = workload->is->tokens ? 0 : width;
    struct reference_arrays *d = v->arrays;

    v->weight = verify_numbers(1, v->patterns);
    d->input = verify_numbers(v->patterns, workload->size[0]);
    d->upstream = verify_numbers(v->patterns, factors);
    if (!v->weight || !d->input || !d->upstream ||
        reference_array_open(&d->output, v->patterns * width))
        return -1;
    for (size_t p = 0; p < REFERENCE_PARAMS; ++p) {
        const size_t n = d->param[p].n = workload_param_count(workload, p);

        if (!(d->param[p].value = verify_numbers(1, n)) || reference_array_open(&d->grad[p], n))
            return -1;
    }
    return 0;
}

static void put_set(struct verify *v)
{
    const struct workload *workload = &v->workload;
    const struct workload_set *set = &v->set;
    const size_t in = workload->size[0], width = workload->size[workload->n_sizes - 1];
    struct reference_arrays *d = v->arrays;

    for (size_t p = 0; p < REFERENCE_PARAMS; ++p)
        for (size_t i = 0; i < d->param[p].n; ++i)
            d->param[p].value[i] = workload_value(workload, set, p, i);
    for (size_t n = 0; n < v->rows; ++n)
        v->weight[verify_place(v, n)] += reference_row(v, n);
    /* A model of sequences of tokens has no inputs here: its reference asks for the tokens one by
     * one. */
    for (size_t r = 0; r < v->patterns && !workload->is->tokens; ++r) {
        const size_t kind = r % v->kinds;

        for (size_t i = 0; i < in; ++i)
            d->input[r * in + i] =
                workload->is->table ? workload_number(set, kind) : workload_input(set, kind, i);
        for (size_t i = 0; i < width; ++i)
            d->upstream[r * width + i] = workload_upstream(set, kind, i);
    }
}

/* Checks every sum of an exact model, those of the update included, in units of its smallest bit;
 * then that operands of matrix products are so small that a math which rounds operands does not
 * change them. */
static int check_limits(const struct verify *v, struct text_error *why)
{
    const struct reference_arrays *d = v->arrays;
    double most = 0, operand = d->operand;

    for (size_t i = 0; i < d->output.n; ++i)
        most = fmax(most, d->output.bound[i]);
    for (int p = 0; p < REFERENCE_PARAMS; ++p)
        for (size_t i = 0; i < d->grad[p].n; ++i) {
            const double size = fabs(d->param[p].value[i]);

            most = fmax(most, d->grad[p].bound[i] + size / VERIFY_LEARNING_RATE);
            operand = fmax(operand, size);
        }
    if (verify_exact(d->loss_bound < 0x1p53 ? most : d->loss_bound, why))
        return -1;
    if (operand <= v->operand_limit)
        return 0;
    return text_fail(
        why,
        "operands may reach %.0f, more than %.0f: the math of matrix products would round "
        "them",
        operand, v->operand_limit);
}

/* Returns the widest bound of its parts, each as a share of the largest number in the part. */
static double width_of(const struct reference_array *array)
{
    const size_t n = array->n / array->parts;
    double widest = 0;

    for (size_t part = 0; part < array->parts; ++part) {
        double most = 0, bound = 0;
        bool finite = true;

        for (size_t i = part * n; i < (part + 1) * n; ++i) {
            most = fmax(most, fabs(array->value[i]));
            bound = fmax(bound, array->bound[i]);
            finite = finite && isfinite(array->bound[i]);
        }
        if (!finite || bound != 0)
            widest = fmax(widest, finite && most > 0 ? bound / most : INFINITY);
    }
    return widest;
}

/* Refuses bounds above an eighth of the largest number: a comparison within such a bound says
 * nothing. */
static int check_bounds(const struct verify *v, struct text_error *why)
{
    const struct reference_arrays *d = v->arrays;
    double widest = width_of(&d->output);
    char what[40] = "outputs";

    for (int p = 0; p < REFERENCE_PARAMS; ++p) {
        const double width = width_of(&d->grad[p]);

        if (width > widest)
            snprintf(what, sizeof what, "gradient of parameter %d", p);
        widest = fmax(widest, width);
    }
    if (widest <= 1.0 / 8)
        return 0;
    return text_fail(
        why,
        "%s rounds, and over %zu rows by up to %.3g of the largest number (%s), more than an "
        "eighth: %s",
        v->workload.name, v->rows, widest, what,
        v->rows > 1 ? "fewer rows can be verified" : "it cannot be verified");
}

#define DECLARE(name) extern const struct verify_reference verify_reference_##name;
VERIFY_REFERENCES(DECLARE)

#define ROW(name) &verify_reference_##name,
static const struct verify_reference *const references[] = {VERIFY_REFERENCES(ROW)};

static int arrays_fill(struct verify *v, struct text_error *why)
{
    for (size_t i = 0; i < sizeof references / sizeof references[0]; ++i)
        if (strcmp(references[i]->workload, v->workload.is->name) == 0)
            return references[i]->fill ? references[i]->fill(v, why)
                                       : verify_sums_fill(v, references[i], why);
    return text_fail(why, "%s has no reference", v->workload.name);
}

static int fill_clipped(struct verify *v, struct text_error *why)
{
    const int status = arrays_fill(v, why);

    if (status != 0)
        return status;
    /* A bound allows for at least two roundings of the sum of |terms|. The mean over ranks has two
     * more, so the bound doubles. The factor 2^-8 allows for what one rounding makes of another. */
    for (int p = 0; p < REFERENCE_PARAMS && v->mean_roundings > 0; ++p)
        for (size_t i = 0; i < v->arrays->grad[p].n; ++i)
            v->arrays->grad[p].bound[i] *= 2 + 0x1p-8;
    return reference_clip(v, why);
}

static int fill_variants(struct verify *v, struct text_error *why)
{
    struct variants *variants = cli_alloc(1, sizeof *variants);
    int status = fill_clipped(v, why);

    if (status == 0)
        status = variants_begin(variants, v->arrays, reference_factor(v), why);
    const bool begun = status == 0;

    for (int scatters = 0; scatters < 2 && status == 0; ++scatters) {
        v->variant = (struct maths_variant){v->math, scatters == 1};
        status = fill_clipped(v, why);
        variants_take(variants, v->arrays, reference_factor(v));
    }
    v->variant = (struct maths_variant){.math = DP_MATH_F32};
    if (begun)
        variants_end(variants, v->arrays);
    free(variants);
    return status;
}

static int fill_checked(struct verify *v, struct text_error *why)
{
    const bool variants = v->math != DP_MATH_F32 && !workload_is_exact(&v->workload);
    const int status = (variants ? fill_variants : fill_clipped)(v, why);

    if (status)
        return status;
    if (!v->probe)
        return v->arrays->exact ? check_limits(v, why) : check_bounds(v, why);
    /* The bounds of a probe may have any width, which the probe reports; but they must be finite.
     */
    double sum = 0;

    for (int i = 0; i < REFERENCE_RESULTS; ++i)
        for (size_t k = 0; k < reference_result(v->arrays, i)->n; ++k)
            sum += reference_result(v->arrays, i)->bound[k];
    return isfinite(sum)
               ? 0
               : text_fail(why, "the probe of %s has a number without a bound", v->workload.name);
}

int reference_arrays_open(struct verify *v, struct text_error *why)
{
    if (open_arrays(v))
        return verify_starved(why);
    put_set(v);
    if (!workload_has_math(&v->workload, v->math))
        return text_fail(why, "%s is verified with math f32 only", v->workload.name);
    return fill_checked(v, why);
}

int reference_arrays_again(struct verify *v, struct text_error *why)
{
    memset(v->weight, 0, v->patterns * sizeof *v->weight);
    for (int i = 0; i < REFERENCE_RESULTS; ++i)
        reference_clear(reference_result(v->arrays, i));
    put_set(v);
    return fill_checked(v, why);
}

int reference_arrays_given(struct verify *v, const struct reference_numbers *numbers,
                           struct text_error *why)
{
    struct reference_arrays *d = v->arrays;
    const float *value = numbers->value;

    if (open_arrays(v))
        return verify_starved(why);
    for (size_t p = 0; p < REFERENCE_PARAMS; ++p)
        for (size_t i = 0; i < d->param[p].n; ++i)
            d->param[p].value[i] = (double)*value++;
    for (size_t i = 0; i < v->rows * v->workload.size[0]; ++i)
        d->input[i] = (double)numbers->input[i];
    for (size_t i = 0; i < d->output.n; ++i)
        d->upstream[i] = (double)numbers->upstream[i];
    for (size_t r = 0; r < v->rows; ++r)
        v->weight[r] = 1;
    return arrays_fill(v, why);
}

/* The loss is a sum in double that is rounded once; with DistributedDataParallel each rank's loss
 * is rounded, and the sum of the ranks again. The outputs of the step have been found right, so a
 * loss that is computed from them has a far narrower bound than the loss of the reference. */
void verify_loss_of(const struct verify *v, const float *outputs, size_t width,
                    struct reference_array *loss)
{
    const struct workload_set *set = &v->set;
    const size_t parts = v->ranks ? v->devices : 1;
    double size = 0, rounded = 0;

    *loss->value = 0;
    for (size_t part = 0, n = 0; part < parts; ++part) {
        const size_t end = n + v->rows / parts + (part < v->rows % parts);
        double sum = 0;

        for (; n < end; ++n)
            for (size_t k = 0; k < width; ++k) {
                const double term = workload_scale(set, n) *
                                    workload_upstream(set, workload_pattern(&v->set, n), k) *
                                    (double)outputs[n * width + k];

                sum += term;
                size += fabs(term);
            }
        *loss->value += sum;
        rounded += fabs(sum);
    }
    /* 2^-53 is BOUNDED_U of double. The factor 4 covers the roundings of both sums, and what one
     * makes of the other. */
    *loss->bound = 2 * BOUNDED_U * rounded + 4 * (double)(v->rows * width) * 0x1p-53 * size;
}
