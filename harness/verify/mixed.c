/* verify/mixed.c: a float64 step of the model mixed: y = W t[n] + b for row n of a table t. A row
 * of the table gets the sum over all rows of the batch that have its number. */
#include "verify/sums.h"

enum { WIDTH = 10 };

static void mixed_pattern(void *model, struct verify_sums *sums, size_t r)
{
    const struct reference_arrays *d = sums->arrays;
    const size_t first = (size_t)d->input[r] * WIDTH; /* of the row in the table */
    struct bounded x[WIDTH], dx[WIDTH];

    (void)model;
    for (size_t j = 0; j < WIDTH; ++j)
        x[j] = (struct bounded){d->param[0].value[first + j], 0};
    verify_sums_linear(sums, r, 1, x, WIDTH, dx);
    for (size_t j = 0; j < WIDTH; ++j)
        verify_sums_add(sums, 0, first + j, dx[j], (struct bounded){1, 0});
}

const struct verify_reference verify_reference_mixed = {.workload = "mixed",
                                                        .pattern = mixed_pattern};
