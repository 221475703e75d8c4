/* hint.c: what a wrong number looks like: a question for the reader of a failure, and never a part
 * of the verdict.
 *
 * A hint is about all numbers of one comparison that are wrong, so a single number that happens to
 * be twice another one gives no hint where its neighbours are wrong in another way. */
#include "inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double NARROW = 1.0 / 1024; /* of TF32 and float16, whose fractions have 10 bits */
static const double EXACT = 1 << 24;
enum { BFLOAT16_BITS = 8, FLOAT16_BITS = 11 };

/* The numbers of one comparison. */
struct numbers {
    size_t n;
    const double *got, *want;
    bool integers; /* of an integer type: they are not rounded */
};

/* Whether all wrong numbers are what they must be, times the factor. */
static bool are_times(const struct numbers *numbers, double factor)
{
    bool told = false;

    for (size_t i = 0; i < numbers->n; ++i) {
        if (numbers->got[i] == numbers->want[i])
            continue;
        if ((float)numbers->got[i] != (float)(numbers->want[i] * factor))
            return false;
        told = true;
    }
    return told;
}

/* Whether all wrong numbers are what the case expected of the same thing before. A single whole
 * number may be that by chance. */
static bool are_old(const struct check *c, uint64_t what, const struct numbers *numbers)
{
    for (size_t k = 0; k < KEPT; ++k) {
        const struct kept *kept = &c->kept[k];
        bool same = kept->what == what && kept->n == numbers->n;
        int told = 0;

        for (size_t i = 0; i < numbers->n && same; ++i) {
            if (numbers->got[i] == numbers->want[i])
                continue;
            same = numbers->got[i] == kept->want[i];
            told += numbers->got[i] == rint(numbers->got[i]) ? numbers->got[i] != 0 : 2;
        }
        if (same && told > 1)
            return true;
    }
    return false;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Whether the right numbers are there, in another order. */
static bool are_moved(const struct numbers *numbers)
{
    const size_t bytes = numbers->n * sizeof(double);
    double *got = malloc(bytes), *want = malloc(bytes);
    bool moved = false;

    if (got && want) {
        memcpy(got, numbers->got, bytes);
        memcpy(want, numbers->want, bytes);
        qsort(got, numbers->n, sizeof *got, compare_doubles);
        qsort(want, numbers->n, sizeof *want, compare_doubles);
        moved = memcmp(got, want, bytes) == 0;
    }
    free(got);
    free(want);
    return moved;
}

/* Whether all wrong numbers are infinite, and none must be. */
static bool are_infinite(const struct numbers *numbers)
{
    for (size_t i = 0; i < numbers->n; ++i)
        if (!isfinite(numbers->want[i]) ||
            (numbers->got[i] != numbers->want[i] && !isinf(numbers->got[i])))
            return false;
    return true;
}

/* Whole numbers that a float holds are not rounded. */
static bool are_rounded(const struct numbers *numbers)
{
    for (size_t i = 0; i < numbers->n; ++i) {
        const double got = numbers->got[i], want = numbers->want[i];

        if (got != want && (!isfinite(want) || !(fabs(got - want) <= fabs(want) * NARROW) ||
                            (got == rint(got) && want == rint(want) && fabs(got) < EXACT)))
            return false;
    }
    return !numbers->integers;
}

/* Rounds a number to so many significant bits. */
static double to_bits(double number, int bits)
{
    int exponent;
    const double part = frexp(number, &exponent);

    return ldexp(rint(ldexp(part, bits)), exponent - bits);
}

/* Whether all numbers are right if they are rounded to so many bits. What is right to three bits
 * more was not rounded to these; a whole number that lost one bit may be that by chance. */
static bool are_short(const struct numbers *numbers, int bits)
{
    bool longer = true;
    int told = 0;

    for (size_t i = 0; i < numbers->n; ++i) {
        const double got = numbers->got[i], want = numbers->want[i];

        if (!isfinite(want) || got != to_bits(want, bits))
            return false;
        longer = longer && got == to_bits(want, bits + 3);
        told += got != want && want != rint(want);
        for (int lost = 0; lost < 2 && to_bits(want, bits + lost) != want; ++lost)
            ++told;
    }
    return !longer && told > 1 && !numbers->integers;
}

/* Whether an array has these values, rounded to its type. */
static bool has_values(const struct impl_array *array, size_t n, const double values[])
{
    for (size_t i = 0; i < n; ++i) {
        const double one = array->dtype == IMPL_NONE ? NAN : check_element(array, i);
        const double value = array->dtype == IMPL_F32 ? (float)values[i] : values[i];

        if (array->dtype == IMPL_NONE || (one != value && !(isnan(one) && isnan(value))))
            return false;
    }
    return true;
}

void hint_search(struct check *c)
{
    if (c->scenario && strstr(c->scenario, "find_unused; ") && c->n_calls > 0)
        snprintf(c->outcome->hint, sizeof c->outcome->hint,
                 "the layer was made with find_unused_parameters=True: was that ignored?");
}

/* Compares wrong numbers with what another rank has: the first that has others, or any. Returns
 * whether it was read from one of several ranks, and another one has others. */
static bool look_at_others(struct check *c, const struct impl_array *got,
                           const struct numbers *numbers)
{
    const struct reading read = c->reading;
    const bool local = c->local == read.model;
    const struct open_model *open = c->models;
    const size_t bytes = sizeof c->outcome->hint;
    const struct impl_array *other = NULL;
    bool same = true;
    int rank = 0;

    while (open && open->model != read.model)
        open = open->next;
    if (!open || open->ranks < 2 || got != read.array)
        return false;
    for (int r = 0; r < open->ranks && same; ++r) {
        if (r == read.rank)
            continue;
        other = check_get_rank(c, read.model, r, read.what, read.i);
        same = has_values(other, numbers->n, numbers->got);
        rank = !same || r == (read.rank == 0) ? r : rank;
    }
    c->reading = read;
    if (local && same)
        snprintf(c->outcome->hint, bytes,
                 "rank %d has the same, and after a forward in no_sync() each rank keeps its own: "
                 "was no_sync() ignored?",
                 rank);
    else if (!local && !same && read.what == IMPL_GRAD)
        snprintf(c->outcome->hint, bytes,
                 "rank %d has %s: not reduced over the ranks, or the collective was not waited "
                 "for?",
                 rank, other->dtype == IMPL_NONE ? "none" : "another gradient");
    else if (read.rank > 0 && rank == 0 && read.what == IMPL_VALUE &&
             has_values(other, numbers->n, numbers->want))
        snprintf(c->outcome->hint, bytes,
                 "rank 0 has the right one: was it not broadcast from there?");
    return !same;
}

void check_again(struct check *c, const char *what, const struct impl_array *got,
                 const struct impl_array *before)
{
    char *hint = c->outcome->hint;

    snprintf(hint, sizeof c->outcome->hint, "the same step gave another result: a race?");
    check_same(c, what, got, before);
    hint[0] = '\0';
}

static uint64_t hash_of(const char *what)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *what != '\0'; ++what)
        hash = (hash ^ (unsigned char)*what) * UINT64_C(0x100000001b3);
    return hash;
}

static void keep_numbers(struct check *c, const char *what, size_t n, const double want[])
{
    struct kept *kept = &c->kept[c->n_kept++ % KEPT];

    if (n == 0 || n > KEPT_NUMBERS)
        return;
    *kept = (struct kept){.what = hash_of(what), .n = n};
    memcpy(kept->want, want, n * sizeof *want);
}

/* parts: 1 if it is of one device or rank. */
static void look_at_numbers(struct check *c, const char *what, const struct numbers *numbers,
                            int parts)
{
    const double *got = numbers->got, *want = numbers->want;
    const size_t n = numbers->n;
    const char *names = c->of_ranks ? "ranks" : "devices";
    char *hint = c->outcome->hint;
    const size_t bytes = sizeof c->outcome->hint;

    size_t same = 0; /* to a reader: 0 is equal to -0 */

    while (same < n && got[same] == want[same])
        ++same;
    if (same == n)
        return;
    if (are_infinite(numbers))
        snprintf(hint, bytes, "infinite: added up before it is divided?");
    else if (are_old(c, hash_of(what), numbers))
        snprintf(hint, bytes, "that was right earlier in this case: an old copy, not refreshed?");
    else if (n > 1 && are_moved(numbers))
        snprintf(hint, bytes, "the right numbers in another order: are parts swapped?");
    else if (parts > 1 && are_times(numbers, parts))
        snprintf(hint, bytes, "%d times what it must be, with %d %s: %s", parts, parts, names,
                 c->of_ranks ? "a sum where a mean belongs, reduced twice, or not cleared?"
                             : "counted once for each of them?");
    else if (parts > 1 && are_times(numbers, 1.0 / parts))
        snprintf(hint, bytes, "1/%d of what it must be, with %d %s: %s", parts, parts, names,
                 c->of_ranks ? "divided twice?" : "a mean where a sum belongs?");
    else if (are_times(numbers, 2))
        snprintf(hint, bytes, "twice what it must be: added twice, or not cleared?");
    else if (are_times(numbers, 0))
        snprintf(hint, bytes, "0 where it must not be: left out, or cleared?");
    else if (are_short(numbers, BFLOAT16_BITS) || are_short(numbers, FLOAT16_BITS))
        snprintf(hint, bytes, "right if it is rounded to %d bits: reduced in %s?",
                 are_short(numbers, BFLOAT16_BITS) ? BFLOAT16_BITS : FLOAT16_BITS,
                 are_short(numbers, BFLOAT16_BITS) ? "bfloat16" : "float16");
    else if (are_rounded(numbers))
        snprintf(hint, bytes,
                 "almost right: rounded to a shorter type, or added in another order?");
}

void hint_values(struct check *c, const char *what, const struct impl_array *got, size_t n,
                 const double want[], size_t different)
{
    double *values;

    if (different == 0) {
        keep_numbers(c, what, n, want);
        return;
    }
    values = malloc(n * sizeof *values);
    if (!values) /* the failure counts without a hint, too */
        return;
    for (size_t i = 0; i < n; ++i)
        values[i] = check_element(got, i);
    const struct numbers numbers = {n, values, want,
                                    got->dtype == IMPL_I32 || got->dtype == IMPL_I64};

    const bool unlike = look_at_others(c, got, &numbers);

    if (c->outcome->hint[0] == '\0')
        look_at_numbers(c, what, &numbers, unlike && c->local == c->reading.model ? 1 : c->parts);
    for (size_t i = 0; i < c->n_calls && i < CALLS_SHOWN && c->outcome->hint[0] == '\0'; ++i)
        if (got == c->reading.array && c->reading.what == IMPL_VALUE && !c->param.buffer &&
            strcmp(c->calls[i], "step") == 0)
            snprintf(c->outcome->hint, sizeof c->outcome->hint,
                     "after a step: was the gradient wrong already?");
    free(values);
}
