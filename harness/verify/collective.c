/* verify/collective.c: the numbers that ranks bring to collectives, and the known answers. */
#include "verify/collective.h"

#include <stdlib.h>
#include <string.h>

/* Numbers are from 1 to SPREAD: no rank's part is 0, and the sum over all ranks stays below
 * 2^24. */
enum { SPREAD = 1024, BY_ITERATION = 67, BY_BLOCK = 131, GUARD = 2048, CHUNK = 256 };
_Static_assert((size_t)DP_MAX_SLOTS *SPREAD < (1 << 24), "a sum of all ranks is exact in float");
_Static_assert(DP_MAX_SLOTS < BY_ITERATION,
               "no rank's number is another one's of the iteration before");
_Static_assert(BY_BLOCK % 2 == 1, "blocks differ: no multiple of it below SPREAD is one of SPREAD");

/* ---- rows ------------------------------------------------------------------------------------ */

/* Neighbouring numbers differ, by the golden ratio. The numbers of other ranks, blocks and
 * iterations differ, too. */
static uint32_t number(uint32_t rank, uint64_t iteration, size_t block, size_t at)
{
    const uint32_t spread = (uint32_t)at * UINT32_C(0x9e3779b1) >> 22;
    const uint32_t others = (uint32_t)block * BY_BLOCK + (uint32_t)iteration * BY_ITERATION;

    return 1 + (spread + rank + others) % SPREAD;
}

/* The ranks have consecutive numbers, which begin again at 1 after SPREAD. A sum in closed form is
 * cheaper than to add them one by one. */
static uint32_t sum_of_all(int ranks, uint64_t iteration, size_t block, size_t at)
{
    const uint32_t n = (uint32_t)ranks, first = number(0, iteration, block, at);
    const uint32_t last = first + n - 1, beyond = last > SPREAD ? last - SPREAD : 0;

    return n * first + n * (n - 1) / 2 - beyond * SPREAD;
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

static double all_but_own(int ranks)
{
    return (double)(ranks - 1) / ranks;
}

const struct collective collectives[COLLECTIVES] = {
    [COLLECTIVE_ALLREDUCE] = {"allreduce", "all_reduce_perf", "sum", -1, false, false, false,
                              reduced_and_spread},
    [COLLECTIVE_BROADCAST] = {"broadcast", "broadcast_perf", "none", 0, false, false, false, once},
    [COLLECTIVE_ALLGATHER] = {"allgather", "all_gather_perf", "none", -1, false, true, false,
                              all_but_own},
    [COLLECTIVE_REDUCESCATTER] = {"reducescatter", "reduce_scatter_perf", "sum", -1, true, false,
                                  false, all_but_own},
    [COLLECTIVE_ALLTOALL] = {"alltoall", "alltoall_perf", "none", -1, true, true, true,
                             all_but_own},
};

static void put_f32(void *to, const uint32_t numbers[], size_t n)
{
    for (size_t i = 0; i < n; ++i)
        ((float *)to)[i] = (float)numbers[i];
}

static void put_f64(void *to, const uint32_t numbers[], size_t n)
{
    for (size_t i = 0; i < n; ++i)
        ((double *)to)[i] = (double)numbers[i];
}

static void put_i32(void *to, const uint32_t numbers[], size_t n)
{
    for (size_t i = 0; i < n; ++i)
        ((int32_t *)to)[i] = (int32_t)numbers[i];
}

/* bf16 has fewer whole numbers than are used here. So each number is mapped to a bit pattern,
 * counted from that of 1.0. */
static void put_bf16(void *to, const uint32_t numbers[], size_t n)
{
    for (size_t i = 0; i < n; ++i)
        ((uint16_t *)to)[i] = (uint16_t)(0x3f80 + numbers[i]);
}

const struct collective_type collective_types[COLLECTIVE_TYPES] = {
    {"f32", "float", DP_F32, sizeof(float), true, put_f32},
    {"f64", "double", DP_F64, sizeof(double), true, put_f64},
    {"bf16", "bfloat16", DP_BF16, sizeof(uint16_t), false, put_bf16},
    {"i32", "int32", DP_I32, sizeof(int32_t), true, put_i32},
};

static bool collective_adds(const struct collective *collective)
{
    return strcmp(collective->nccl_op, "sum") == 0;
}

bool collective_takes(const struct collective *collective, const struct collective_type *type)
{
    return type->adds || !collective_adds(collective);
}

const struct collective *collective_find(const char *name)
{
    for (int i = 0; i < COLLECTIVES; ++i)
        if (strcmp(collectives[i].name, name) == 0)
            return &collectives[i];
    return NULL;
}

const struct collective *collective_of_nccl(const char *program)
{
    for (int i = 0; i < COLLECTIVES; ++i)
        if (strcmp(collectives[i].nccl_program, program) == 0)
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

const struct collective_type *collective_type_of_nccl(const char *nccl_name)
{
    for (int i = 0; i < COLLECTIVE_TYPES; ++i)
        if (strcmp(collective_types[i].nccl_name, nccl_name) == 0)
            return &collective_types[i];
    return NULL;
}

void collective_names(char text[COLLECTIVE_NAMES])
{
    text[0] = '\0';
    for (int i = 0; i < COLLECTIVES; ++i)
        text_list(text, COLLECTIVE_NAMES, ", ", collectives[i].name);
}

bool collective_has_blocks(const struct collective *collective)
{
    return collective->in_blocks || collective->out_blocks;
}

size_t collective_unit(const struct collective *collective, const struct collective_type *type,
                       int ranks)
{
    return type->bytes * (collective_has_blocks(collective) ? (size_t)ranks : 1);
}

/* ---- data ------------------------------------------------------------------------------------ */

static size_t block_of(const struct collective_data *data)
{
    return data->count / (collective_has_blocks(data->collective) ? (size_t)data->ranks : 1);
}

static size_t in_count(const struct collective_data *data)
{
    return data->collective->in_blocks ? data->count : block_of(data);
}

static size_t out_count(const struct collective_data *data)
{
    return data->collective->out_blocks ? data->count : block_of(data);
}

/* In place, the smaller of input and output is the block of the rank in the larger one. */
struct collective_range collective_in(const struct collective_data *data, int rank)
{
    const size_t n = in_count(data), own = (size_t)rank * block_of(data);
    const bool inside = !data->out_of_place && n < data->count;

    return (struct collective_range){COLLECTIVE_GUARD + (inside ? own : 0), n};
}

struct collective_range collective_out(const struct collective_data *data, int rank)
{
    const size_t n = out_count(data), own = (size_t)rank * block_of(data);

    if (data->out_of_place)
        return (struct collective_range){2 * COLLECTIVE_GUARD + in_count(data), n};
    return (struct collective_range){COLLECTIVE_GUARD + (n < data->count ? own : 0), n};
}

size_t collective_elements(const struct collective_data *data)
{
    return data->out_of_place ? in_count(data) + out_count(data) + 3 * COLLECTIVE_GUARD
                              : data->count + 2 * COLLECTIVE_GUARD;
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

/* Fills the guards. They are the same on all ranks and in all iterations, and no rank brings or
 * gets their numbers. */
static void fill_guards(const struct collective_data *data, void *array)
{
    const size_t elements = collective_elements(data);
    const size_t places[] = {0, elements - COLLECTIVE_GUARD, COLLECTIVE_GUARD + in_count(data)};
    uint32_t numbers[COLLECTIVE_GUARD];

    for (uint32_t i = 0; i < COLLECTIVE_GUARD; ++i)
        numbers[i] = GUARD + i;
    for (size_t i = 0; i < (data->out_of_place ? 3 : 2); ++i)
        data->type->put((char *)array + places[i] * data->type->bytes, numbers, COLLECTIVE_GUARD);
}

/* Fills in the numbers that the rank brings, or the answer. If each rank brings a block for each
 * rank, the answer has those that were brought for this one; if each gets a block from each rank,
 * block k is from rank k. Else a block is from rank 0, unless all are added. */
static void fill_numbers(const struct collective_data *data, void *array, bool brings, int rank,
                         uint64_t iteration)
{
    const struct collective *is = data->collective;
    const struct collective_range range =
        brings ? collective_in(data, rank) : collective_out(data, rank);
    const bool adds = !brings && collective_adds(is);
    const bool apart = !brings && collective_has_blocks(is);
    const size_t n = block_of(data), own = (size_t)rank;
    uint32_t numbers[CHUNK];

    for (size_t block = 0; block * n < range.n; ++block) {
        const size_t root = is->out_blocks ? block : 0, mine = is->in_blocks ? own : 0;
        const size_t from = brings ? own : root, brought = apart ? mine : block;

        for (size_t at = 0; at < n; at += CHUNK) {
            const size_t some = n - at < CHUNK ? n - at : CHUNK;
            const size_t first = range.first + block * n + at;

            for (size_t i = 0; i < some; ++i)
                numbers[i] = adds ? sum_of_all(data->ranks, iteration, brought, at + i)
                                  : number((uint32_t)from, iteration, brought, at + i);
            data->type->put((char *)array + first * data->type->bytes, numbers, some);
        }
    }
}

void collective_input(const struct collective_data *data, int rank, uint64_t iteration)
{
    collective_forget(data);
    fill_guards(data, data->host);
    fill_numbers(data, data->host, true, rank, iteration);
}

void collective_expect(const struct collective_data *data, int rank, uint64_t iteration)
{
    fill_guards(data, data->answer);
    fill_numbers(data, data->answer, true, rank, iteration);
    fill_numbers(data, data->answer, false, rank, iteration);
}

void collective_forget(const struct collective_data *data)
{
    memset(data->host, 0xff, bytes_of(data));
}

static uint64_t bits_of(const struct collective_data *data, const void *array, size_t i)
{
    const unsigned char *from = (const unsigned char *)array + i * data->type->bytes;
    uint64_t bits = 0;

    for (size_t byte = data->type->bytes; byte > 0; --byte)
        bits = bits << 8 | from[byte - 1];
    return bits;
}

bool collective_differs(const struct collective_data *data, int rank,
                        struct collective_mismatch *mismatch)
{
    const size_t first = collective_out(data, rank).first;

    *mismatch = (struct collective_mismatch){.wrong = 0};
    if (memcmp(data->host, data->answer, bytes_of(data)) == 0)
        return false;
    for (size_t i = 0; i < collective_elements(data); ++i) {
        const uint64_t expected = bits_of(data, data->answer, i);
        const uint64_t actual = bits_of(data, data->host, i);

        if (expected == actual)
            continue;
        if (mismatch->wrong++ == 0) {
            mismatch->index = (long long)i - (long long)first;
            mismatch->expected = expected;
            mismatch->actual = actual;
        }
    }
    return true;
}
