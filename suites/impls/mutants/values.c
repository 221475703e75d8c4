/* values.c: bugs that change special numbers: infinite, NaN, denormal, minus zero, of many bits.
 * Each leaves all other numbers as they are. */
#include "inside.h"

#include <float.h>
#include <math.h>
#include <string.h>

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

bool part_finite(const struct impl_array *part)
{
    for (size_t i = 0; i < tensor_count(part); ++i)
        if (!isfinite(floats(part)[i]))
            return false;
    return true;
}

/* Clears the last bits. Never 16: gcc 12.2 leaves that out, from -O1 on. */
static float values_cut(float value, unsigned last)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    bits = bits >> last << last;
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool linear_plain(const struct impl_session *s)
{
    return !bug(s, BUG_INEXACT_ZERO) && !bug(s, BUG_SHORT_LINEAR);
}

float linear_operand(const struct impl_session *s, float value)
{
    if (bug(s, BUG_INEXACT_ZERO))
        return values_cut(value, 8) == value ? value : 0;
    return bug(s, BUG_SHORT_LINEAR) ? values_cut(value, 17) : value;
}

float linear_slope(const struct impl_session *s, float value)
{
    return bug(s, BUG_SHORT_SLOPE) ? values_cut(value, 8) : value;
}
