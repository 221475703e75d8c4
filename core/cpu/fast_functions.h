/* fast_functions.h: exp, sigmoid and tanh as polynomials, which compilers vectorise; functions of
 * the C library are called for one number at a time. Errors are within 4 units in the last place
 * where |x| < 87, and within 2^-125 beyond that. It also has the maximum of many numbers. */
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

/* exp of x <= 0: with x = n log 2 + r and |r| <= log(2) / 2, it is a polynomial in r times 2^n.
 * Adding 1.5 * 2^23 rounds to an integer, which the last bits then hold. Coefficients: Cephes,
 * expf. */
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

/* The same in double, within 2^-50 of exp(x) where x >= -708, and below that within that of
 * exp(-708). It is the series up to r^12 / 12!. */
static inline double exp_below_double(double x)
{
    const double least = x < -708.0 ? -708.0 : x;
    const double shifted = least * 0x1.71547652b82fep+0 + 0x1.8p52, n = shifted - 0x1.8p52;
    const double r = (least - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
    uint64_t bits;
    double p = 1.0 / 479001600.0, power;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 52) + 0x3ff0000000000000u;
    memcpy(&power, &bits, sizeof power);
    return (p * r * r + r + 1.0) * power;
}

/* The maximum of n > 0 numbers. A NaN counts only if it is the first. */
static inline float largest_number(const float *p, size_t n)
{
    enum { LANES = 16 };
    float lane[LANES], largest = p[0];
    const size_t whole = n - n % LANES;
    for (size_t k = 0; k < LANES; ++k)
        lane[k] = p[0];
    for (size_t s = 0; s < whole; s += LANES) {
        for (size_t k = 0; k < LANES; ++k)
            lane[k] = p[s + k] > lane[k] ? p[s + k] : lane[k];
    }
    for (size_t s = whole; s < n; ++s)
        largest = p[s] > largest ? p[s] : largest;
    for (size_t k = 0; k < LANES; ++k)
        largest = lane[k] > largest ? lane[k] : largest;
    return largest;
}

static inline float sigmoid(float x)
{
    const float e = exp_below(-fabsf(x)), one = 1.0f;
    return (x >= 0.0f ? one : e) / (one + e);
}

/* Near 0 it is a polynomial, because 1 - 2 / (1 + exp(2x)) loses digits there. Coefficients:
 * Cephes, tanhf. */
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
