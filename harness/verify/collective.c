/* verify/collective.c: the numbers of collectives, and their known answers. */
#include "verify/collective.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 1 to SPREAD: no rank's part is 0, and the sum of all stays below 2^24. */
enum { SPREAD = 1024, BY_ITERATION = 67 };
_Static_assert((size_t)DP_MAX_SLOTS *SPREAD < (1 << 24), "a sum of all ranks is exact in float");
_Static_assert(DP_MAX_SLOTS < BY_ITERATION,
               "no rank's number is another one's of the iteration before");

/* ---- rows ------------------------------------------------------------------------------------ */

/* Neighbours differ, by the golden ratio; so do ranks, and iterations. */
static uint32_t number(uint32_t rank, uint64_t iteration, size_t index)
{
    const uint32_t spread = (uint32_t)index * UINT32_C(0x9e3779b1) >> 22;

    return 1 + (spread + rank + (uint32_t)iteration * BY_ITERATION) % SPREAD;
}

/* Ranks have neighbouring numbers, which begin again at 1 behind SPREAD: cheaper than to add them
 * one by one. */
static uint32_t sum_of_all(int ranks, uint64_t iteration, size_t index)
{
    const uint32_t n = (uint32_t)ranks, first = number(0, iteration, index);
    const uint32_t last = first + n - 1, beyond = last > SPREAD ? last - SPREAD : 0;

    return n * first + n * (n - 1) / 2 - beyond * SPREAD;
}

static uint32_t of_first(int ranks, uint64_t iteration, size_t index)
{
    (void)ranks;
    return number(0, iteration, index);
}

static double reduced_and_spread(int ranks)
{
    return 2.0 * (ranks - 1) / ranks;
}

static double once(int ranks)
{
    (void)ranks;
    return 1.0;
}

const struct collective collectives[COLLECTIVES] = {
    [COLLECTIVE_ALLREDUCE] = {"allreduce", "sum", -1, reduced_and_spread, sum_of_all},
    [COLLECTIVE_BROADCAST] = {"broadcast", "none", 0, once, of_first},
};

const struct collective_type collective_types[COLLECTIVE_TYPES] = {
    {"f32", "float", DP_F32, sizeof(float)},
};

const struct collective *collective_find(const char *name)
{
    for (int i = 0; i < COLLECTIVES; ++i)
        if (strcmp(collectives[i].name, name) == 0)
            return &collectives[i];
    return NULL;
}

const struct collective_type *collective_type_find(const char *name)
{
    for (int i = 0; i < COLLECTIVE_TYPES; ++i)
        if (strcmp(collective_types[i].name, name) == 0)
            return &collective_types[i];
    return NULL;
}

void collective_names(char text[COLLECTIVE_NAMES])
{
    size_t used = 0;

    for (int i = 0; i < COLLECTIVES; ++i)
        used += (size_t)snprintf(text + used, COLLECTIVE_NAMES - used, "%s%s", i > 0 ? ", " : "",
                                 collectives[i].name);
}

/* ---- data ------------------------------------------------------------------------------------ */

size_t collective_elements(const struct collective_data *data)
{
    return data->count + 2 * COLLECTIVE_GUARD;
}

static size_t bytes_of(const struct collective_data *data)
{
    return collective_elements(data) * data->type->bytes;
}

int collective_open(struct collective_data *data)
{
    data->host = malloc(bytes_of(data));
    data->answer = malloc(bytes_of(data));
    return data->host && data->answer ? 0 : -1;
}

void collective_close(struct collective_data *data)
{
    free(data->host);
    free(data->answer);
    data->host = data->answer = NULL;
}

/* The guards of a rank's numbers are alike in all ranks and iterations. */
static void fill_guards(const struct collective_data *data, float to[])
{
    for (size_t i = 0; i < COLLECTIVE_GUARD; ++i) {
        to[i] = -1.0f - (float)i;
        to[COLLECTIVE_GUARD + data->count + i] = -1.0f - (float)i;
    }
}

void collective_input(const struct collective_data *data, int rank, uint64_t iteration)
{
    float *to = data->host;

    fill_guards(data, to);
    for (size_t i = 0; i < data->count; ++i)
        to[COLLECTIVE_GUARD + i] = (float)number((uint32_t)rank, iteration, i);
}

void collective_expect(const struct collective_data *data, uint64_t iteration)
{
    float *to = data->answer;

    fill_guards(data, to);
    for (size_t i = 0; i < data->count; ++i)
        to[COLLECTIVE_GUARD + i] = (float)data->collective->answer(data->ranks, iteration, i);
}

void collective_forget(const struct collective_data *data)
{
    memset(data->host, 0xff, bytes_of(data));
}

static uint64_t bits_of(const struct collective_data *data, const void *array, size_t i)
{
    uint32_t bits;

    memcpy(&bits, (const char *)array + i * data->type->bytes, sizeof bits);
    return bits;
}

bool collective_differs(const struct collective_data *data, struct collective_mismatch *mismatch)
{
    *mismatch = (struct collective_mismatch){.wrong = 0};
    if (memcmp(data->host, data->answer, bytes_of(data)) == 0)
        return false;
    for (size_t i = 0; i < collective_elements(data); ++i) {
        const uint64_t expected = bits_of(data, data->answer, i);
        const uint64_t actual = bits_of(data, data->host, i);

        if (expected == actual)
            continue;
        if (mismatch->wrong++ == 0) {
            mismatch->index = (long long)i - COLLECTIVE_GUARD;
            mismatch->expected = expected;
            mismatch->actual = actual;
        }
    }
    return true;
}
