/* values.c: bugs that change special numbers: infinite, NaN, denormal, minus zero, of many bits.
 * Each leaves all other numbers as they are. */
#include "inside.h"

#include <float.h>
#include <math.h>

/* Returns a value as the bug changes it. */
static float changed(float value, enum bug number)
{
    switch (number) {
    case BUG_PART_NAN:
    case BUG_RANKS_NAN:
        return isnan(value) ? 0 : value;
    case BUG_SUM_CLAMPED:
        return isinf(value) ? copysignf(FLT_MAX, value) : value;
    case BUG_SUM_DENORMAL:
    case BUG_DX_DENORMAL:
    case BUG_RANKS_DENORMAL:
        return fpclassify(value) == FP_SUBNORMAL ? 0 : value;
    case BUG_SCATTER_ZERO:
    case BUG_GATHER_ZERO:
    case BUG_REPLICA_ZERO:
        return value == 0 ? 0 : value;
    default:
        return value;
    }
}

float value_changed(const struct impl_session *s, float value, enum bug number)
{
    return bug(s, number) ? changed(value, number) : value;
}

void values_changed(const struct impl_session *s, struct impl_array *tensor, enum bug number)
{
    for (size_t i = 0; bug(s, number) && tensor->dtype == IMPL_F32 && i < tensor_count(tensor); ++i)
        floats(tensor)[i] = changed(floats(tensor)[i], number);
}

void wide_rounded(const struct impl_session *s, struct impl_array *tensor, enum bug number)
{
    for (size_t i = 0; bug(s, number) && tensor->dtype == IMPL_I64 && i < tensor_count(tensor);
         ++i) {
        const double value = (double)((int64_t *)tensor->data)[i];

        /* The largest integers cannot be represented in a double, and would not fit when they are
         * converted back. */
        if (fabs(value) < 0x1p62)
            ((int64_t *)tensor->data)[i] = (int64_t)value;
    }
}
