/* verify/twins.c: what the twins of a model add to its bounds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/arrays.h"

enum { TIMES = 3 }; /* what both twins change together */

static struct reference_array *array_of(struct reference_arrays *arrays, int i)
{
    return i < REFERENCE_PARAMS ? &arrays->grad[i] : &arrays->output;
}

static size_t part_of(const struct reference_array *array, size_t k)
{
    return k / (array->n / array->parts);
}

static void clear(struct reference_array *array)
{
    memset(array->value, 0, array->n * sizeof *array->value);
    memset(array->bound, 0, array->n * sizeof *array->bound);
}

/* Also behind a failure: what is still in its place stays there. */
static void put_back(struct twins *twins, struct reference_arrays *arrays)
{
    for (int i = 0; i < TWINS_ARRAYS && twins->value[i]; ++i) {
        struct reference_array *array = array_of(arrays, i);

        free(array->value);
        free(array->bound);
        array->value = twins->value[i];
        array->bound = twins->bound[i];
    }
}

int twins_begin(struct twins *twins, struct reference_arrays *arrays, double factor,
                struct text_error *why)
{
    *twins =
        (struct twins){.factor = factor, .norm = arrays->norm, .norm_bound = arrays->norm_bound};
    for (int i = 0; i < TWINS_ARRAYS; ++i) {
        struct reference_array *array = array_of(arrays, i);
        double *value = verify_numbers(1, array->n), *bound = verify_numbers(1, array->n);

        if (!value || !bound) {
            free(value);
            free(bound);
            put_back(twins, arrays);
            return verify_starved(why);
        }
        twins->value[i] = array->value;
        twins->bound[i] = array->bound;
        array->value = value;
        array->bound = bound;
    }
    return 0;
}

void twins_take(struct twins *twins, struct reference_arrays *arrays, double factor)
{
    double squares = 0;

    for (int i = 0; i < TWINS_ARRAYS; ++i) {
        struct reference_array *array = array_of(arrays, i);
        double most[REFERENCE_PARTS] = {0};

        for (size_t k = 0; k < array->n; ++k) {
            const double value = twins->value[i][k], moved = fabs(array->value[k] - value);
            double *of_part = &most[part_of(array, k)];

            *of_part = moved > *of_part || isnan(moved) ? moved : *of_part; /* NaN stays */
            if (i < REFERENCE_PARAMS)
                squares += pow(array->value[k] / factor - value / twins->factor, 2);
        }
        for (size_t part = 0; part < array->parts; ++part)
            twins->most[i][part] += most[part];
        clear(array);
    }
    twins->norm_most += sqrt(squares);
}

void twins_end(struct twins *twins, struct reference_arrays *arrays)
{
    put_back(twins, arrays);
    for (int i = 0; i < TWINS_ARRAYS; ++i) {
        const struct reference_array *array = array_of(arrays, i);

        for (size_t k = 0; k < array->n; ++k)
            if (array->bound[k] > 0)
                array->bound[k] += TIMES * twins->most[i][part_of(array, k)];
    }
    arrays->norm = twins->norm;
    arrays->norm_bound = twins->norm_bound + TIMES * twins->norm_most;
}
