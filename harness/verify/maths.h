/* verify/maths.h: how the reference of a model that rounds allows for a math that rounds the
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
#ifndef HARNESS_VERIFY_MATHS_H
#define HARNESS_VERIFY_MATHS_H

#include <stdbool.h>

#include "dp.h"

/* A variant of the model; f32 is the model itself. */
struct maths_variant {
    enum dp_math math;
    bool scatters;
};

/* Returns x as an operand. It is unchanged if the math keeps all of its bits. bf16 moves it by at
 * most half of the last of 8 bits; tf32, which a GPU may cut off, by at most the last of 11
 * bits. */
double maths_operand(struct maths_variant variant, double x);

#endif
