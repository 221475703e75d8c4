/* verify/mixed.c: a float64 step of the model mixed: y = W t[n] + b for row n of a table t. All
 * numbers are integers; the sum of |terms| is computed with every sum. A row of the table gets the
 * sum over all rows of the batch that have its number. */
#include "verify/sums.h"

enum { WIDTH = 10 };

static int mixed_fill(struct verify *v, const struct workload_set *set, struct text_error *why)
{
    struct reference_arrays *d = v->arrays;

    (void)set, (void)why;
    for (size_t r = 0; r < v->patterns; ++r) {
        const size_t first = (size_t)d->input[r] * WIDTH; /* of the row in the table */
        double dx[WIDTH], terms[WIDTH];

        reference_linear(v, r, 1, d->param[0].value + first, WIDTH, dx, terms);
        for (size_t j = 0; j < WIDTH; ++j) {
            d->grad[0].value[first + j] += v->weight[r] * dx[j];
            d->grad[0].bound[first + j] += v->weight[r] * terms[j];
        }
    }
    return 0;
}

static void probe_pattern(void *model, struct verify_sums *sums, const struct workload_set *set,
                          size_t r)
{
    const size_t first = (size_t)workload_number(set, r) * WIDTH;
    struct bounded x[WIDTH], dx[WIDTH];

    (void)model;
    for (size_t j = 0; j < WIDTH; ++j)
        x[j] = (struct bounded){sums->arrays->param[0].value[first + j], 0};
    verify_sums_linear(sums, set, r, 1, x, WIDTH, dx);
    for (size_t j = 0; j < WIDTH; ++j)
        verify_sums_add(sums, 0, first + j, dx[j], (struct bounded){1, 0});
}

static int mixed_probe(struct verify *v, const struct workload_set *set, struct text_error *why)
{
    return verify_sums_fill(v, set, probe_pattern, 0, NULL, why);
}

const struct verify_reference verify_reference_mixed = {"mixed", mixed_fill, mixed_probe};
