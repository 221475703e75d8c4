/* verify/arrays.c: opens a reference of whole arrays and compares a step with it: bit for bit where
 * the model is exact, else within the bound that is stored with every number. */
#include "verify/arrays.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "descriptor.h"
#include "numbers/equal.h"
#include "verify/bounded.h"
#include "verify_list.h"

static int open_array(struct reference_array *array, size_t n)
{
    array->n = n;
    array->parts = 1;
    array->value = verify_numbers(1, n);
    array->bound = verify_numbers(1, n);
    return !array->value || !array->bound ? -1 : 0;
}

static int open_arrays(struct verify *v, const struct workload *workload)
{
    const size_t width = workload_width(workload), factors = workload->is->tokens ? 0 : width;
    struct reference_arrays *d = v->arrays = calloc(1, sizeof *d);

    if (!d)
        return -1;
    v->weight = verify_numbers(1, v->patterns);
    d->input = verify_numbers(v->patterns, workload->size[0]);
    d->upstream = verify_numbers(v->patterns, factors);
    if (!v->weight || !d->input || !d->upstream || open_array(&d->output, v->patterns * width))
        return -1;
    for (size_t p = 0; p < REFERENCE_PARAMS; ++p) {
        const size_t n = d->param[p].n = workload_param_count(workload, p);

        if (!(d->param[p].value = verify_numbers(1, n)) || open_array(&d->grad[p], n))
            return -1;
    }
    return 0;
}

static void put_set(struct verify *v, const struct workload *workload,
                    const struct workload_set *set)
{
    const size_t in = workload->size[0], width = workload->size[workload->n_sizes - 1];
    struct reference_arrays *d = v->arrays;

    for (size_t p = 0; p < REFERENCE_PARAMS; ++p)
        for (size_t i = 0; i < d->param[p].n; ++i)
            d->param[p].value[i] = workload_value(workload, set, p, i);
    for (size_t n = 0; n < v->rows; ++n)
        v->weight[verify_place(v, n)] += reference_row(v, set, n);
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
static int check_bounds(const struct verify *v, const struct workload *workload,
                        struct text_error *why)
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
        workload->name, v->rows, widest, what,
        v->rows > 1 ? "fewer rows can be verified" : "it cannot be verified");
}

#define DECLARE(name) extern const struct verify_reference verify_reference_##name;
VERIFY_REFERENCES(DECLARE)

#define ROW(name) &verify_reference_##name,
static const struct verify_reference *const references[] = {VERIFY_REFERENCES(ROW)};

static int arrays_fill(struct verify *v, const struct workload *workload,
                       const struct workload_set *set, struct text_error *why)
{
    for (size_t i = 0; i < sizeof references / sizeof references[0]; ++i)
        if (strcmp(references[i]->workload, workload->is->name) == 0)
            return (v->probe ? references[i]->probe : references[i]->fill)(v, set, why);
    return text_fail(why, "%s has no reference", workload->name);
}

static int fill_clipped(struct verify *v, const struct workload_set *set, struct text_error *why)
{
    const int status = arrays_fill(v, &v->workload, set, why);

    if (status != 0)
        return status;
    /* A bound allows for at least two roundings of the sum of |terms|. The mean over ranks has two
     * more, so the bound doubles. The factor 2^-8 allows for what one rounding makes of another. */
    for (int p = 0; p < REFERENCE_PARAMS && v->mean_roundings > 0; ++p)
        for (size_t i = 0; i < v->arrays->grad[p].n; ++i)
            v->arrays->grad[p].bound[i] *= 2 + 0x1p-8;
    return reference_clip(v, why);
}

static int fill_variants(struct verify *v, const struct workload_set *set, struct text_error *why)
{
    struct variants *variants = calloc(1, sizeof *variants);
    int status = variants ? fill_clipped(v, set, why) : verify_starved(why);

    if (status == 0)
        status = variants_begin(variants, v->arrays, reference_factor(v), why);
    const bool begun = status == 0;

    for (int scatters = 0; scatters < 2 && status == 0; ++scatters) {
        v->variant = (struct maths_variant){v->math, scatters == 1};
        status = fill_clipped(v, set, why);
        variants_take(variants, v->arrays, reference_factor(v));
    }
    v->variant = (struct maths_variant){.math = DP_MATH_F32};
    if (begun)
        variants_end(variants, v->arrays);
    free(variants);
    return status;
}

static int fill_checked(struct verify *v, const struct workload_set *set, struct text_error *why)
{
    const bool variants = v->math != DP_MATH_F32 && !workload_is_exact(&v->workload);
    const int status = (variants ? fill_variants : fill_clipped)(v, set, why);

    if (status)
        return status;
    if (!v->probe)
        return v->arrays->exact ? check_limits(v, why) : check_bounds(v, &v->workload, why);
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

int reference_arrays_open(struct verify *v, const struct workload *workload,
                          const struct workload_set *set, struct text_error *why)
{
    if (open_arrays(v, workload))
        return verify_starved(why);
    put_set(v, workload, set);
    v->arrays->exact = workload_is_exact(workload) && !v->probe;
    if (!workload_has_math(workload, v->math))
        return text_fail(why, "%s is verified with math f32 only", workload->name);
    return fill_checked(v, set, why);
}

int reference_arrays_again(struct verify *v, const struct workload_set *set, struct text_error *why)
{
    memset(v->weight, 0, v->patterns * sizeof *v->weight);
    for (int i = 0; i < REFERENCE_RESULTS; ++i)
        reference_clear(reference_result(v->arrays, i));
    put_set(v, &v->workload, set);
    return fill_checked(v, set, why);
}

int reference_arrays_given(const struct workload *workload, const struct reference_numbers *numbers,
                           struct verify **verify, struct text_error *why)
{
    struct verify *v = calloc(1, sizeof *v);
    int status = -1;

    if (v) {
        v->workload = *workload;
        v->rows = v->patterns = v->kinds = numbers->rows;
        status = open_arrays(v, workload);
    }
    if (status == 0) {
        struct reference_arrays *d = v->arrays;
        const float *value = numbers->value;

        for (size_t p = 0; p < REFERENCE_PARAMS; ++p)
            for (size_t i = 0; i < d->param[p].n; ++i)
                d->param[p].value[i] = (double)*value++;
        for (size_t i = 0; i < v->rows * workload->size[0]; ++i)
            d->input[i] = (double)numbers->input[i];
        for (size_t i = 0; i < d->output.n; ++i)
            d->upstream[i] = (double)numbers->upstream[i];
        for (size_t r = 0; r < v->rows; ++r)
            v->weight[r] = 1;
        status = arrays_fill(v, workload, &v->set, why);
    } else {
        status = verify_starved(why);
    }
    if (status == 0)
        *verify = v;
    else
        verify_close(v);
    return status;
}

void reference_linear(struct verify *v, size_t r, int p, const double *x, size_t in, double *dx,
                      double *terms)
{
    struct reference_arrays *d = v->arrays;
    const size_t width = d->param[p + 1].n;
    const double *g = d->upstream + r * width, times = v->weight[r];

    for (size_t j = 0; j < in; ++j)
        dx[j] = 0;
    for (size_t j = 0; j < in && terms; ++j)
        terms[j] = 0;
    for (size_t k = 0; k < width; ++k) {
        const double *w = d->param[p].value + k * in;
        double y = d->param[p + 1].value[k], size = fabs(y);

        for (size_t j = 0; j < in; ++j) {
            y += w[j] * x[j];
            size += fabs(w[j] * x[j]);
            dx[j] += g[k] * w[j];
            if (terms)
                terms[j] += fabs(g[k] * w[j]);
            reference_add(&d->grad[p], k * in + j, times, g[k] * x[j]);
        }
        reference_add(&d->grad[p + 1], k, times, g[k]);
        d->output.value[r * width + k] = y;
        d->output.bound[r * width + k] = size;
        d->loss += times * g[k] * y;
        d->loss_bound += times * fabs(g[k] * y);
    }
}

static int compare(const struct reference_arrays *d, const char *what, size_t number,
                   const float *got, const double *want, const double *bound, size_t n,
                   struct verify_found *found, struct text_error *why)
{
    struct equal_report report;
    char text[120];

    if (!d->exact)
        found->ratio = fmax(found->ratio, equal_ratio(got, want, bound, n));
    if ((d->exact ? equal_exact(got, want, n, &report)
                  : equal_within(got, want, bound, n, &report)) == 0)
        return 0;
    equal_text(&report, text, sizeof text);
    snprintf(why->text, sizeof why->text, "%s %zu: %s", what, number, text);
    return 1;
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

int reference_arrays_check(const struct verify *v, const struct verify_step *step,
                           struct verify_found *found, struct text_error *why)
{
    const struct reference_arrays *d = v->arrays;
    const struct workload_end *end = workload_end(&v->workload);
    const size_t width = d->output.n / v->patterns;
    double value = d->loss, loss_bound = 0;
    struct reference_array loss = {1, &value, &loss_bound, 1};
    int status = 0;

    for (size_t n = 0; n < v->rows && status == 0; ++n) {
        const size_t at = verify_place(v, n) * width;

        found->values += width;
        status = compare(d, "outputs, row", n, step->outputs + n * width, d->output.value + at,
                         d->output.bound + at, width, found, why);
    }
    if (status != 0)
        return status;
    found->values += 1;
    if (end->loss == DP_LOSS_XENT)
        reference_mean_loss(v, step->outputs, &loss);
    else if (!d->exact)
        verify_loss_of(v, step->outputs, width, &loss);
    status = compare(d, "loss", 0, &step->loss, &value, &loss_bound, 1, found, why);
    if (status == 0 && end->adamw) {
        /* If gradients are clipped, only this comparison shows how large they were. */
        const float got = (float)step->norm;
        const double bound = d->norm_bound + 2 * BOUNDED_U * d->norm;

        found->values += 1;
        status = compare(d, "norm of gradients", 0, &got, &d->norm, &bound, 1, found, why);
    }
    for (int p = 0; p < REFERENCE_PARAMS && status == 0; ++p) {
        const struct reference_array *grad = &d->grad[p];
        double *want = verify_numbers(2, grad->n), *bound = want ? want + grad->n : NULL;

        if (!want)
            return verify_starved(why);
        found->values += 2 * grad->n;
        status = compare(d, "gradient of parameter", (size_t)p, step->gradient[p], grad->value,
                         grad->bound, grad->n, found, why);
        if (status == 0) {
            reference_update(v, p, want, bound);
            status = compare(d, "updated parameter", (size_t)p, step->updated[p], want, bound,
                             grad->n, found, why);
        }
        free(want);
    }
    return status;
}
