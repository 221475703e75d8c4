/* verify/maths.h: a model that rounds, in a math that rounds the operands of matrix products, too.
 *
 * Over the layers of a transformer, bounds on every such rounding would add up to more than the
 * numbers themselves. So the model has two twins, which are the same but for operands: every one
 * that the math would round is moved by the most that it may be. In the one all move towards 0, as
 * roundings that are alike do; in the other up or down at random, as those that are not. What a
 * twin changes at most in an array is what one such way to round makes of it. Three times both
 * together are added to every bound of the array (of a part of it, where it has parts), but to
 * those of 0: of a sum without terms nothing is rounded. Three, because another way to round may do
 * more: of 5488 arrays of gpt-tiny in bf16, with 25 seeds, the largest difference was 1.4 times
 * both together, and it fell by a factor of ten with every 0.3. What a step in float rounds besides
 * is in the bounds already. */
#ifndef HARNESS_VERIFY_MATHS_H
#define HARNESS_VERIFY_MATHS_H

#include <stdbool.h>

#include "dp.h"

/* f32: the model itself. */
struct maths_variant {
    enum dp_math math;
    bool scatters;
};

/* x as an operand: as it is where the math keeps all its bits. Of bf16 half of the last bit of 8 is
 * the most, of tf32, which a GPU may cut off, the last bit of 11. */
double maths_operand(struct maths_variant variant, double x);

#endif
