/* verify/maths.c: rounds operands as a variant of the model has them. */
#include "verify/maths.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* How many bits of a float a math drops, and how far that moves a number from 1 to below 2 at
 * most. */
struct drops {
    int bits;
    double most;
};
static const struct drops drops_of[DP_MATHS] = {
    [DP_MATH_TF32] = {13, 0x1p-10}, [DP_MATH_BF16] = {16, 0x1p-8}};

/* Whether a number moves up, decided by all of its bits: equal numbers move alike, as they do when
 * they are rounded. */
static bool goes_up(uint32_t bits)
{
    const uint64_t mixed = (bits ^ bits >> 16) * UINT64_C(0x9E3779B97F4A7C15);

    return mixed >> 63 != 0;
}

double maths_operand(struct maths_variant variant, double x)
{
    const struct drops drops = drops_of[variant.math];
    const float value = (float)x;
    uint32_t bits;
    int exponent;

    memcpy(&bits, &value, sizeof bits);
    if (drops.bits == 0 || (bits & (((uint32_t)1 << drops.bits) - 1)) == 0)
        return x;
    frexp(x, &exponent); /* it is 1 for a number from 1 to below 2 */

    const double moved = ldexp(drops.most, exponent - 1);
    const bool up = variant.scatters ? goes_up(bits) : x < 0;

    return up ? x + moved : x - moved;
}
