/* verify/variants.c: adds to the bounds of a model what its variants (verify/maths.c) change. */
#include <math.h>
#include <stdlib.h>

#include "verify/arrays.h"

enum { TIMES = 3 }; /* the factor on the sum of both changes */

static size_t part_of(const struct reference_array *array, size_t k)
{
    return k / (array->n / array->parts);
}

/* Puts the numbers back, also after a failure: numbers that were not moved out stay in place. */
static void put_back(struct variants *variants, struct reference_arrays *arrays)
{
    for (int i = 0; i < REFERENCE_RESULTS && variants->value[i]; ++i) {
        struct reference_array *array = reference_result(arrays, i);

        free(array->value);
        free(array->bound);
        array->value = variants->value[i];
        array->bound = variants->bound[i];
    }
}

int variants_begin(struct variants *variants, struct reference_arrays *arrays, double factor,
                   struct text_error *why)
{
    *variants =
        (struct variants){.factor = factor, .norm = arrays->norm, .norm_bound = arrays->norm_bound};
    for (int i = 0; i < REFERENCE_RESULTS; ++i) {
        struct reference_array *array = reference_result(arrays, i);
        double *value = verify_numbers(1, array->n), *bound = verify_numbers(1, array->n);

        if (!value || !bound) {
            free(value);
            free(bound);
            put_back(variants, arrays);
            return verify_starved(why);
        }
        variants->value[i] = array->value;
        variants->bound[i] = array->bound;
        array->value = value;
        array->bound = bound;
    }
    return 0;
}

void variants_take(struct variants *variants, struct reference_arrays *arrays, double factor)
{
    double squares = 0;

    for (int i = 0; i < REFERENCE_RESULTS; ++i) {
        struct reference_array *array = reference_result(arrays, i);
        double most[REFERENCE_PARTS] = {0};

        for (size_t k = 0; k < array->n; ++k) {
            const double value = variants->value[i][k], moved = fabs(array->value[k] - value);
            double *of_part = &most[part_of(array, k)];

            *of_part = moved > *of_part || isnan(moved) ? moved : *of_part; /* NaN stays */
            if (i < REFERENCE_PARAMS)
                squares += pow(array->value[k] / factor - value / variants->factor, 2);
        }
        for (size_t part = 0; part < array->parts; ++part)
            variants->most[i][part] += most[part];
        reference_clear(array);
    }
    variants->norm_most += sqrt(squares);
}

void variants_end(struct variants *variants, struct reference_arrays *arrays)
{
    put_back(variants, arrays);
    for (int i = 0; i < REFERENCE_RESULTS; ++i) {
        const struct reference_array *array = reference_result(arrays, i);

        for (size_t k = 0; k < array->n; ++k)
            if (array->bound[k] > 0)
                array->bound[k] += TIMES * variants->most[i][part_of(array, k)];
    }
    arrays->norm = variants->norm;
    arrays->norm_bound = variants->norm_bound + TIMES * variants->norm_most;
}
