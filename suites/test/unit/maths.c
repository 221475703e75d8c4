/* maths.c: operands that a math rounds, and how much that adds to the bounds of a model. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "verify/arrays.h"

static const struct maths_variant none = {DP_MATH_F32, false};
static const struct maths_variant shrinks[] = {{DP_MATH_TF32, false}, {DP_MATH_BF16, false}};
static const struct maths_variant scatters[] = {{DP_MATH_TF32, true}, {DP_MATH_BF16, true}};

/* The maths keep 11 and 8 bits: an operand moves by the last bit of one, or by half of the last bit
 * of the other. */
Test(maths, an_operand_moves_by_the_most_it_may)
{
    static const double keeps[] = {1 + 0x1p-10, 1 + 0x1p-7}, most[] = {0x1p-10, 0x1p-8};

    for (int m = 0; m < 2; ++m) {
        const double x = keeps[m] + 0x1p-15;

        cr_assert(maths_operand(none, x) == x);
        cr_assert(maths_operand(shrinks[m], keeps[m]) == keeps[m]);
        cr_assert(maths_operand(scatters[m], -keeps[m]) == -keeps[m]);
        cr_assert(maths_operand(shrinks[m], 0) == 0);
        cr_assert(maths_operand(shrinks[m], x) == x - most[m]);
        cr_assert(maths_operand(shrinks[m], -x) == most[m] - x);
        cr_assert(maths_operand(shrinks[m], 24 * x) == 24 * x - 16 * most[m]);
        cr_assert(fabs(maths_operand(scatters[m], x) - x) == most[m]);
    }
}

/* About as many numbers are rounded up as down: there are 4096, and a standard deviation is 64. */
Test(maths, operands_scatter)
{
    for (int m = 0; m < 2; ++m) {
        int up = 0;

        for (int i = 0; i < 8192; i += 2) {
            const double x = 1 + (i + 1) * 0x1p-23;

            up += maths_operand(scatters[m], x) > x;
        }
        cr_assert(abs(up - 2048) < 6 * 32, "%d of 4096 up", up);
    }
}

static struct reference_array array(size_t n, const double value[], const double bound[],
                                    size_t parts)
{
    struct reference_array made = {n, calloc(n + 1, 8), calloc(n + 1, 8), parts};

    cr_assert(made.value && made.bound);
    for (size_t i = 0; i < n; ++i) {
        made.value[i] = value[i];
        made.bound[i] = bound[i];
    }
    return made;
}

static void maths_set(struct reference_array *to, double a, double b, double c, double d)
{
    const double value[] = {a, b, c, d};

    for (int i = 0; i < 4; ++i)
        to->value[i] = value[i];
}

/* A number without a rounded operand stays exact. The others may differ by three times the
 * differences of both twins, added for each part. */
Test(maths, bounds_widen)
{
    static const double value[] = {5, 7, 1, 1}, bound[] = {0, 0x1p-20, 0x1p-20, 0x1p-20};
    struct reference_arrays d = {.norm = 10, .norm_bound = 1, .output = array(0, NULL, NULL, 1)};
    struct text_error why = {""};
    struct variants variants;

    for (int p = 0; p < REFERENCE_PARAMS; ++p)
        d.grad[p] = p == 0 ? array(4, value, bound, 2) : array(0, NULL, NULL, 1);
    cr_assert(variants_begin(&variants, &d, 0.5, &why) == 0);
    cr_assert(d.grad[0].value[1] == 0);
    maths_set(&d.grad[0], 5, 7.25, 1, 1); /* before clipping 14.5, and 14 */
    variants_take(&variants, &d, 0.5);
    cr_assert(d.grad[0].value[1] == 0);
    maths_set(&d.grad[0], 5, 6, 1, 1.5);
    variants_take(&variants, &d, 0.5);
    variants_end(&variants, &d);
    for (int i = 0; i < 4; ++i)
        cr_assert(d.grad[0].value[i] == value[i]);
    cr_assert(d.grad[0].bound[0] == 0);
    cr_assert(d.grad[0].bound[1] == 0x1p-20 + 3 * (0.25 + 1));
    cr_assert(d.grad[0].bound[2] == 0x1p-20 + 3 * 0.5);
    cr_assert(d.norm == 10 && d.norm_bound == 1 + 3 * (0.5 + sqrt(5)));
    /* A NaN gives no bound, whatever follows it. */
    cr_assert(variants_begin(&variants, &d, 0.5, &why) == 0);
    maths_set(&d.grad[0], (double)NAN, 7, 1, 1);
    variants_take(&variants, &d, 0.5);
    variants_end(&variants, &d);
    cr_assert(isnan(d.grad[0].bound[1]) && isfinite(d.grad[0].bound[2]));
    for (int p = 0; p < REFERENCE_PARAMS; ++p) {
        free(d.grad[p].value);
        free(d.grad[p].bound);
    }
    free(d.output.value);
    free(d.output.bound);
}
