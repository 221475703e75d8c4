/* expect.c: all comparisons of a case's numbers. Every comparison asks "is it equal", never "is it
 * different", so that NaN fails. */
#include "inside.h"

#include "impls/words.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static uint64_t bits_at(const struct impl_array *array, size_t i)
{
    const size_t bytes = check_dtype_bytes(array->dtype);
    uint64_t bits = 0;

    if (bytes == 4) {
        uint32_t word;
        memcpy(&word, (const char *)array->data + i * 4, 4);
        bits = word;
    } else if (bytes == 8) {
        memcpy(&bits, (const char *)array->data + i * 8, 8);
    }
    return bits;
}

/* Returns `want` rounded to the type of the array, and its bits. */
static double expect_rounded(enum impl_dtype dtype, double want, uint64_t *bits)
{
    const float single = (float)want;
    const int32_t small = dtype == IMPL_I32 ? (int32_t)want : 0;
    const int64_t large = dtype == IMPL_I64 ? (int64_t)want : 0;
    uint32_t word = 0;

    *bits = 0;
    switch (dtype) {
    case IMPL_F32:
        memcpy(&word, &single, 4);
        break;
    case IMPL_I32:
        memcpy(&word, &small, 4);
        break;
    case IMPL_F64:
        memcpy(bits, &want, 8);
        return want;
    case IMPL_I64:
        memcpy(bits, &large, 8);
        return want;
    default:
        break;
    }
    *bits = word;
    return dtype == IMPL_F32 ? (double)single : want;
}

static _Noreturn void differ(struct check *c, const char *what, const struct impl_array *got,
                             size_t i, double want, uint64_t want_bits, size_t different, size_t n)
{
    check_fail(c, "%s: element %zu is %s, must be %s; %zu of %zu differ", what, i,
               check_number(c, got->dtype, check_element(got, i), bits_at(got, i)),
               check_number(c, got->dtype, want, want_bits), different, n);
}

static void must_exist(struct check *c, const char *what, const struct impl_array *got)
{
    if (got->dtype != IMPL_NONE)
        return;
    hint_search(c);
    check_fail(c, "%s: there is none", what);
}

void check_values(struct check *c, const char *what, const struct impl_array *got, size_t n,
                  const double want[])
{
    size_t different = 0, first = 0;
    uint64_t bits;

    must_exist(c, what, got);
    if (check_elements(got) != n)
        check_fail(c, "%s: %zu elements, must be %zu", what, check_elements(got), n);
    for (size_t i = n; i-- > 0;) {
        const double target = expect_rounded(got->dtype, want[i], &bits);
        const double value = check_element(got, i);
        const bool same = bits_at(got, i) == bits || (value == 0 && target == 0);
        if (!(same && isfinite(value) && isfinite(want[i]))) {
            ++different;
            first = i;
        }
    }
    c->outcome->compared += n;
    hint_values(c, what, got, n, want, different);
    if (different > 0) {
        const double target = expect_rounded(got->dtype, want[first], &bits);
        differ(c, what, got, first, target, bits, different, n);
    }
}

/* Whether it is the same to the last bit. */
static bool as_exact(const struct impl_array *got, size_t i, double want)
{
    uint64_t bits;

    if (isnan(want))
        return isnan(check_element(got, i));
    expect_rounded(got->dtype, want, &bits);
    return bits_at(got, i) == bits;
}

void check_bits(struct check *c, const char *what, const struct impl_array *got, size_t n,
                const double want[])
{
    size_t different = 0, first = 0;
    uint64_t bits;

    must_exist(c, what, got);
    if ((got->dtype != IMPL_F32 && got->dtype != IMPL_F64) || check_elements(got) != n)
        check_fail(c, "%s: %zu elements of type %s, must be %zu floats", what, check_elements(got),
                   impl_dtype_word(got->dtype), n);
    for (size_t i = n; i-- > 0;)
        if (!as_exact(got, i, want[i])) {
            ++different;
            first = i;
        }
    c->outcome->compared += n;
    hint_values(c, what, got, n, want, different);
    if (different > 0) {
        expect_rounded(got->dtype, want[first], &bits);
        differ(c, what, got, first, want[first], bits, different, n);
    }
}

void check_shape_text(const struct impl_array *array, char text[120])
{
    size_t used = (size_t)snprintf(text, 120, "[");

    for (int i = 0; i < array->ndim && used < 100; ++i)
        used +=
            (size_t)snprintf(text + used, 120 - used, "%s%zu", i > 0 ? ", " : "", array->dim[i]);
    snprintf(text + used, 120 - used, "]");
}

void check_shape(struct check *c, const char *what, const struct impl_array *got, int ndim,
                 const size_t dim[])
{
    struct impl_array want = {.ndim = ndim};
    char found[120], wanted[120];
    bool same = got->ndim == ndim;

    must_exist(c, what, got);
    for (int i = 0; i < ndim; ++i) {
        want.dim[i] = dim[i];
        same = same && got->dim[i] == dim[i];
    }
    ++c->outcome->compared;
    if (same)
        return;
    check_shape_text(got, found);
    check_shape_text(&want, wanted);
    check_fail(c, "%s: shape %s, must be %s", what, found, wanted);
}

void check_same(struct check *c, const char *what, const struct impl_array *got,
                const struct impl_array *want)
{
    const size_t n = check_elements(want);
    size_t different = 0, first = 0;

    must_exist(c, what, got);
    must_exist(c, what, want);
    if (got->dtype != want->dtype)
        check_fail(c, "%s: type %s, must be %s", what, impl_dtype_word(got->dtype),
                   impl_dtype_word(want->dtype));
    check_shape(c, what, got, want->ndim, want->dim);
    for (size_t i = n; i-- > 0;)
        if (!(bits_at(got, i) == bits_at(want, i) && isfinite(check_element(got, i)))) {
            ++different;
            first = i;
        }
    c->outcome->compared += n;
    if (different > 0)
        differ(c, what, got, first, check_element(want, first), bits_at(want, first), different, n);
}

void check_is_none(struct check *c, const char *what, const struct impl_array *got)
{
    ++c->outcome->compared;
    if (got->dtype != IMPL_NONE)
        check_fail(c, "%s: there is one (first element %.9g), must be none", what,
                   check_elements(got) > 0 ? check_element(got, 0) : 0.0);
}

void check_device(struct check *c, const char *what, const struct impl_array *got, int device)
{
    must_exist(c, what, got);
    check_true(c, got->device == device, "%s: on device %d, must be %d", what, got->device, device);
}

void check_int(struct check *c, const char *what, long long got, long long want)
{
    ++c->outcome->compared;
    if (got != want)
        check_fail(c, "%s: %lld, must be %lld", what, got, want);
}

void check_accepted(struct check *c, const char *what, int status)
{
    if (status != IMPL_OK)
        check_fail(c, "%s must be accepted and was refused as %s: %s", what,
                   impl_status_word(status), c->error.text);
}

void check_at_least(struct check *c, const char *what, long long got, long long least)
{
    ++c->outcome->compared;
    if (got < least)
        check_fail(c, "%s: %lld, must be at least %lld", what, got, least);
}

void check_at_most(struct check *c, const char *what, long long got, long long most)
{
    if (got > most)
        check_fail(c, "%s: %lld, must be at most %lld", what, got, most);
}

void check_true(struct check *c, bool holds, const char *format, ...)
{
    char text[400];
    va_list args;

    ++c->outcome->compared;
    if (holds)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    check_fail(c, "%s", text);
}

void check_refused(struct check *c, const char *what, int status, unsigned allowed)
{
    const unsigned never = ALLOW(IMPL_OK) | ALLOW(IMPL_ENOTSUP) | ALLOW(IMPL_EROOM);
    char words[160];

    ++c->outcome->compared;
    if (status == IMPL_OK)
        check_fail(c, "%s must be refused and was accepted", what);
    if ((ALLOW(status) & allowed & ~never) == 0)
        check_fail(c, "%s was refused for the wrong reason: %s (%s); allowed: %s", what,
                   impl_status_word(status), c->error.text,
                   impl_status_list(allowed & ~never, words, sizeof words));
    c->refused = true;
}
