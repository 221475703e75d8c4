/* fast_functions.h: exp, sigmoid and tanh as polynomials, which compilers vectorise; the C
 * library's functions are called one number at a time. Within 4 units in the last place where |x| <
 * 87, beyond that within 2^-125. */
#ifndef DP_FAST_FUNCTIONS_H
#define DP_FAST_FUNCTIONS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* exp of x <= 0: x = n log 2 + r, |r| <= log(2) / 2, a polynomial in r times 2^n. Adding 1.5 * 2^23
 * rounds to a whole number, which the last bits then hold. Coefficients: Cephes, expf. */
static inline float exp_below(float x)
{
    const float least = x < -87.0f ? -87.0f : x;
    const float shifted = least * 1.44269504f + 12582912.0f, n = shifted - 12582912.0f;
    const float r = (least - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    return (p * r * r + r + 1.0f) * of_bits((bits_of(shifted) << 23) + 0x3f800000u);
}

static inline float sigmoid(float x)
{
    const float e = exp_below(-fabsf(x)), one = 1.0f;
    return (x >= 0.0f ? one : e) / (one + e);
}

/* Near 0 a polynomial, where 1 - 2 / (1 + exp(2x)) loses digits. Coefficients: Cephes, tanhf. */
static inline float tanh_fast(float x)
{
    const float size = fabsf(x), z = x * x, e = exp_below(-2.0f * size);
    const float far = (1.0f - e) / (1.0f + e), signed_far = x < 0.0f ? -far : far;
    float p = -5.70498872745e-3f;
    p = p * z + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
    const float close = p * z * x + x;
    return size < 0.625f ? close : signed_far;
}

#endif
