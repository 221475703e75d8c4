/* verify/maths.c: how the reference of a model that rounds allows for a math that rounds the
 * operands of matrix products, too.
 *
 * Bounds on every such rounding would add up to more than the numbers themselves over the layers of
 * a transformer. So the model has two variants that differ from it in operands only: every operand
 * that the math would round is moved as far as the math may move it. In the first variant all move
 * towards 0, as roundings that are alike do; in the second they move up or down at random, as
 * independent roundings do. The largest change of an array in a variant shows the effect of one
 * such way to round. Three times the sum of both changes is added to every bound of the array (of a
 * part of it, if it has parts), except to bounds of 0: a sum without terms rounds nothing. The
 * factor is three because another way to round may change more. In 5488 arrays of gpt-tiny in bf16,
 * with 25 seeds, the largest difference was 1.4 times the sum of both, and the number of
 * differences fell by a factor of ten with every 0.3. The other roundings of a step in float are in
 * the bounds already. */
#include "numbers/equal.h"
#include "verify/model.h"

#include <math.h>
#include <stdint.h>

/* How many bits of a float a math drops, and how far that moves a number from 1 to below 2 at
 * most. */
struct drops {
    int bits;
    double most;
};
static const struct drops drops_of[DP_MATHS] = {
    [DP_MATH_TF32] = {13, 0x1p-10}, [DP_MATH_BF16] = {16, 0x1p-8}};

double maths_operand(struct maths_variant variant, double x)
{
    const struct drops drops = drops_of[variant.math];
    const uint32_t bits = equal_word((float)x);
    int exponent;

    if (drops.bits == 0 || (bits & (((uint32_t)1 << drops.bits) - 1)) == 0)
        return x;
    frexp(x, &exponent); /* it is 1 for a number from 1 to below 2 */

    const double moved = ldexp(drops.most, exponent - 1);
    /* Whether it moves up at random is decided by all of its bits: equal numbers move alike, as
     * they do when they are rounded. */
    const uint64_t mixed = (bits ^ bits >> 16) * UINT64_C(0x9E3779B97F4A7C15);
    const bool up = variant.scatters ? mixed >> 63 != 0 : x < 0;

    return up ? x + moved : x - moved;
}
