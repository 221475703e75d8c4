/* kernels_ref.h: declares the portable kernels, for tables that replace some of them. */
#ifndef DP_KERNELS_REF_H
#define DP_KERNELS_REF_H

#include <stdint.h>
#include <string.h>

#include "../backend.h"

#define DP_REF_NAME(number, name, cpu, gpu, words, arguments) dp_kernel_fn dp_ref_##name;
DP_KERNEL_LIST(DP_REF_NAME)
#undef DP_REF_NAME

/* ---- between float and bfloat16, which is the upper half of a float ---- */

/* Rounds to nearest, with ties to even. Adding may carry into the exponent, and on to infinity, as
 * it should. */
static inline uint16_t dp_bf16_round(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

static inline float dp_bf16_value(uint16_t number)
{
    const uint32_t bits = (uint32_t)number << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
