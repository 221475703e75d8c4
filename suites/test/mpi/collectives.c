/* collectives.c: every operation between processes is compared with a loop on the host: sizes from
 * nothing to megabytes, each type, in place and out of place, late devices.
 *
 * Usage: lockstep-mpi-collectives MODULE LOCALS
 *
 * LOCALS: ranks of each process, "1,3,2". The numbers are not exact, so that a sum in another order
 * shows. */
#include "../must.h"
#include "backend.h"
#include "ddp.h"
#include "start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 8 };

struct test {
    struct dp_mpi *mpi;
    struct dp_group *group;
    int world, first, n;
    int failed;
};

static void collectives_expect(struct test *t, bool right, const char *what, int kind, size_t n,
                               int rank)
{
    if (right || t->failed++)
        return;
    printf("FAIL %s: %s of kind %d, %zu elements, rank %d\n", must_row, what, kind, n, rank);
}

/* ---- numbers ----------------------------------------------------------------------------- */

static double collectives_number(int rank, size_t i)
{
    uint64_t z = ((uint64_t)rank << 40) + i + 1;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)(int64_t)(z >> 11) / 4503599627370496.0 - 1.0;
}

static void collectives_store(void *to, enum dp_dtype dtype, size_t i, double value)
{
    switch (dtype) {
    case DP_F32:
        ((float *)to)[i] = (float)value;
        break;
    case DP_F64:
        ((double *)to)[i] = value;
        break;
    case DP_I32:
        ((int32_t *)to)[i] = (int32_t)(value * 1e6);
        break;
    case DP_I64:
        ((int64_t *)to)[i] = (int64_t)(value * 1e12);
        break;
    default:
        ((uint16_t *)to)[i] = (uint16_t)((value + 1.0) * 30000.0);
    }
}

/* sum[i] += the number of a rank, in rank order, and rounded after each addition. */
static void collectives_add(void *sum, enum dp_dtype dtype, size_t i, double value)
{
    switch (dtype) {
    case DP_F32:
        ((float *)sum)[i] += (float)value;
        break;
    case DP_F64:
        ((double *)sum)[i] += value;
        break;
    case DP_I32:
        ((int32_t *)sum)[i] += (int32_t)(value * 1e6);
        break;
    default:
        ((int64_t *)sum)[i] += (int64_t)(value * 1e12);
    }
}

/* ---- from one memory to another ---------------------------------------------------------- */

static bool in_blocks(enum dp_collective_kind kind)
{
    return kind == DP_COLLECTIVE_REDUCESCATTER || kind == DP_COLLECTIVE_ALLTOALL;
}

static bool out_blocks(enum dp_collective_kind kind)
{
    return kind == DP_COLLECTIVE_ALLGATHER || kind == DP_COLLECTIVE_ALLTOALL;
}

static bool sums(enum dp_collective_kind kind)
{
    return kind == DP_COLLECTIVE_ALLREDUCE || kind == DP_COLLECTIVE_REDUCESCATTER;
}

/* Computes element i of the result of rank r. */
static void want(const struct test *t, enum dp_collective_kind kind, enum dp_dtype dtype, size_t n,
                 int root, int r, size_t i, void *to)
{
    const size_t block = (size_t)r * n;
    if (kind == DP_COLLECTIVE_BROADCAST)
        collectives_store(to, dtype, i, collectives_number(root, i));
    else if (kind == DP_COLLECTIVE_ALLGATHER)
        collectives_store(to, dtype, i, collectives_number((int)(i / n), i % n));
    else if (kind == DP_COLLECTIVE_ALLTOALL)
        collectives_store(to, dtype, i, collectives_number((int)(i / n), block + i % n));
    else
        for (int s = 0; s < t->world; ++s) {
            const double value =
                collectives_number(s, (kind == DP_COLLECTIVE_REDUCESCATTER ? block : 0) + i);
            if (s == 0)
                collectives_store(to, dtype, i, value);
            else
                collectives_add(to, dtype, i, value);
        }
}

struct collective_call {
    enum dp_collective_kind kind;
    enum dp_dtype dtype;
    size_t n;
    bool in_place, alone; /* alone: by dp_allreduce or dp_broadcast */
    int root;
    size_t ins, outs; /* elements of a tensor */
    struct dp_tensor large[MOST_RANKS], in[MOST_RANKS], out[MOST_RANKS];
    /* Copies from source to in and from out to result: work in the queues before the collective,
     * and after it. */
    struct dp_tensor source[MOST_RANKS], result[MOST_RANKS];
};

static void collectives_make(struct test *t, struct collective_call *s)
{
    const size_t most = s->ins > s->outs ? s->ins : s->outs, block = s->n;
    for (int i = 0; i < t->n; ++i) {
        struct dp_slot *slot = dp_group_slot(t->group, i);
        must(dp_tensor_alloc(slot, s->dtype, 1, &most, &s->large[i], &must_err));
        s->in[i] = s->out[i] = s->large[i];
        if (!s->in_place && s->ins < s->outs)
            must(dp_tensor_alloc(slot, s->dtype, 1, &s->ins, &s->in[i], &must_err));
        else if (!s->in_place)
            must(dp_tensor_alloc(slot, s->dtype, 1, &s->outs, &s->out[i], &must_err));
        else if (s->ins != s->outs)
            must(dp_tensor_rows(&s->large[i], (size_t)(t->first + i) * block, block,
                                s->ins < s->outs ? &s->in[i] : &s->out[i], &must_err));
        must(dp_tensor_alloc(slot, s->dtype, 1, &s->ins, &s->source[i], &must_err));
        must(dp_tensor_alloc(slot, s->dtype, 1, &s->outs, &s->result[i], &must_err));
        void *values = calloc(s->ins, 8);
        for (size_t k = 0; values && k < s->ins; ++k)
            collectives_store(values, s->dtype, k, collectives_number(t->first + i, k));
        if (values)
            must(dp_tensor_write(&s->source[i], values, &must_err));
        free(values);
    }
}

static void collectives_check(struct test *t, const struct collective_call *s)
{
    const size_t bytes = s->outs * dp_dtype_bytes(s->dtype);
    char *got = malloc(bytes), *wanted = calloc(1, bytes);
    for (int i = 0; got && wanted && i < t->n; ++i) {
        must(dp_tensor_read(got, &s->result[i], &must_err));
        for (size_t k = 0; k < s->outs; ++k)
            want(t, s->kind, s->dtype, s->n, s->root, t->first + i, k, wanted);
        collectives_expect(t, memcmp(got, wanted, bytes) == 0,
                           s->in_place ? "a spread in place" : "a spread", (int)s->kind, s->n,
                           t->first + i);
    }
    free(got);
    free(wanted);
}

/* The input of a rank is unchanged. */
static void check_in(struct test *t, const struct collective_call *s)
{
    const size_t bytes = s->ins * dp_dtype_bytes(s->dtype);
    char *got = malloc(bytes), *wanted = calloc(1, bytes);
    for (int i = 0; got && wanted && i < t->n; ++i) {
        must(dp_tensor_read(got, &s->in[i], &must_err));
        for (size_t k = 0; k < s->ins; ++k)
            collectives_store(wanted, s->dtype, k, collectives_number(t->first + i, k));
        collectives_expect(t, memcmp(got, wanted, bytes) == 0, "what is brought", (int)s->kind,
                           s->n, t->first + i);
    }
    free(got);
    free(wanted);
}

static int run_collective(const struct test *t, const struct collective_call *s)
{
    if (!s->alone)
        return dp_collective_run(t->group, s->kind, s->root, s->in, s->out, &must_err);
    return s->kind == DP_COLLECTIVE_ALLREDUCE ? dp_allreduce(t->group, s->in, &must_err)
                                              : dp_broadcast(t->group, s->in, s->root, &must_err);
}

static void collective_call(struct test *t, struct collective_call s)
{
    s.root = (int)((s.n + (size_t)s.dtype) % (size_t)t->world);
    s.ins = s.n * (in_blocks(s.kind) ? (size_t)t->world : 1);
    s.outs = s.n * (out_blocks(s.kind) ? (size_t)t->world : 1);
    collectives_make(t, &s);
    for (int i = 0; i < t->n; ++i)
        must(dp_tensor_copy(&s.in[i], &s.source[i], &must_err));
    must(run_collective(t, &s));
    for (int i = 0; i < t->n; ++i)
        must(dp_tensor_copy(&s.result[i], &s.out[i], &must_err));
    collectives_check(t, &s);
    if (!s.in_place)
        check_in(t, &s);
    for (int i = 0; i < t->n; ++i) {
        if (!s.in_place)
            dp_tensor_free(s.ins < s.outs ? &s.in[i] : &s.out[i]);
        dp_tensor_free(&s.large[i]);
        dp_tensor_free(&s.source[i]);
        dp_tensor_free(&s.result[i]);
    }
}

static void collective_calls(struct test *t)
{
    static const size_t sizes[] = {1, 7, 240, 961, 20011};
    static const size_t alone[] = {1, 3, 240, 959, 961, 5000, 70001, 400000};
    for (int k = 0; k < DP_COLLECTIVE_KINDS; ++k) {
        const enum dp_collective_kind kind = (enum dp_collective_kind)k;
        for (int type = DP_F32; type <= DP_BF16; ++type) {
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
                struct collective_call call = {kind, (enum dp_dtype)type, sizes[i], .ins = 0};
                if (type == DP_BF16 && sums(kind))
                    continue;
                collective_call(t, call);
                call.in_place = true;
                if (kind != DP_COLLECTIVE_ALLTOALL)
                    collective_call(t, call);
            }
        }
        collective_call(
            t, (struct collective_call){kind, DP_F32, 300007, .in_place = k % 2 == 0 && k != 4});
    }
    for (size_t i = 0; i < sizeof alone / sizeof *alone; ++i) {
        struct collective_call call = {DP_COLLECTIVE_ALLREDUCE, DP_F32, alone[i], .in_place = true,
                                       .alone = true};
        collective_call(t, call);
        call.kind = DP_COLLECTIVE_BROADCAST;
        collective_call(t, call);
    }
}

/* ---- between processes ------------------------------------------------------------------- */

static void collectives_exchange(struct test *t, size_t bytes)
{
    const struct dp_world *world = dp_mpi_world(t->mpi);
    const int size = dp_mpi_size(t->mpi), rank = dp_mpi_rank(t->mpi);
    unsigned char *mine = malloc(bytes + 1), *all = calloc((size_t)size, bytes + 1);
    for (size_t i = 0; i < bytes; ++i)
        mine[i] = (unsigned char)(i * 31 + (size_t)rank * 7 + (i >> 8));
    must(world->bootstrap->exchange(world->self, mine, bytes, all, &must_err));
    bool right = true;
    for (size_t i = 0; i < bytes * (size_t)size; ++i)
        right =
            right && all[i] == (unsigned char)(i % bytes * 31 + i / bytes * 7 + (i % bytes >> 8));
    collectives_expect(t, right, "an exchange", 0, bytes, rank);
    must(world->bootstrap->barrier(world->self, &must_err));
    free(mine);
    free(all);
}

static void agree(struct test *t, int n)
{
    const int size = dp_mpi_size(t->mpi), rank = dp_mpi_rank(t->mpi);
    int64_t *values = malloc((size_t)n * sizeof *values);
    for (int i = 0; i < n; ++i) /* the largest is that of process i % size */
        values[i] = rank == i % size ? 5 - i : -(int64_t)i - 1000000000000;
    must(dp_comm_allreduce_max(t->group, values, n, &must_err));
    bool right = true;
    for (int i = 0; i < n; ++i)
        right = right && values[i] == 5 - i;
    collectives_expect(t, right, "an agreement", 0, (size_t)n, rank);
    free(values);
}

/* ---- all --------------------------------------------------------------------------------- */

static int test_devices(struct dp_mpi *mpi, const char *suffix, uint64_t seed, int n)
{
    char devices[32], row[64];
    struct test t = {.mpi = mpi, .n = n};
    snprintf(devices, sizeof devices, "virt:%d%s", n, suffix);
    snprintf(row, sizeof row, "process %d on %s", dp_mpi_rank(mpi), devices);
    must_row = row;
    const struct dp_group_config config = {
        .devices = devices, .lag_seed = seed, .world = dp_mpi_world(mpi)};
    must(dp_group_open(&config, &t.group, &must_err));
    t.world = dp_group_world(t.group);
    t.first = dp_group_first(t.group);
    collective_calls(&t);
    static const size_t bytes[] = {0, 1, 63, 3840, 3841, 40000, 3000001};
    for (size_t k = 0; k < sizeof bytes / sizeof *bytes; ++k)
        collectives_exchange(&t, bytes[k]);
    if (t.world > t.n) {
        agree(&t, 1);
        agree(&t, 3);
        agree(&t, 481);
        agree(&t, 30000);
    }
    dp_group_close(t.group);
    must_row = NULL;
    return t.failed;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    struct dp_mpi *mpi = start_mpi(argv[1]);
    const char *text = argv[2];
    for (int p = 0; p < dp_mpi_rank(mpi) && strchr(text, ','); ++p)
        text = strchr(text, ',') + 1;
    const int n = (int)strtol(text, NULL, 10);
    int failed = n < 1 || n > MOST_RANKS;
    failed = failed || test_devices(mpi, "", 0, n);
    failed = failed || test_devices(mpi, "+lag", 0, n);
    failed = failed || test_devices(mpi, "+lag", 1, n);
    if (!failed && dp_mpi_rank(mpi) == 0)
        printf("ok, %s\n", dp_mpi_library(mpi));
    if (failed)
        printf("FAIL process %d\n", dp_mpi_rank(mpi));
    end_mpi(mpi);
    return failed;
}
