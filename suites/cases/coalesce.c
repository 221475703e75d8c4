/* coalesce.c: area COAL: lists of tensors are sent through staging memory, and the results must not
 * show that. */
#include "check.h"

#include <float.h>
#include <string.h>

struct kind {
    enum impl_dtype dtype;
    int ndim;
    size_t dim[2];
};

/* ---- the lists ------------------------------------------------------------------------------- */

static uint64_t lists_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* float has 21 bits; double 50; int32 28, too many for a float; int64 60, too many for a double. */
static void lists_put(struct impl_array *array, size_t i, uint64_t random)
{
    const int64_t number = (int64_t)(random >> 4) - (INT64_C(1) << 59);

    switch (array->dtype) {
    case IMPL_F32:
        ((float *)array->data)[i] = (float)(number >> 39) / 8;
        break;
    case IMPL_F64:
        ((double *)array->data)[i] = (double)(number >> 10) / 64;
        break;
    case IMPL_I32:
        ((int32_t *)array->data)[i] = (int32_t)(number >> 32);
        break;
    case IMPL_I64:
        ((int64_t *)array->data)[i] = number | 1;
        break;
    default:
        break;
    }
}

/* Makes n tensors on a device, with different contents drawn from seed: bits that no other type can
 * carry, yet exact in sums of eight lists. */
static struct impl_array *coalesce_make(struct check *c, const struct kind kinds[], int n,
                                        uint64_t seed, int device)
{
    struct impl_array *list = check_memory(c, (size_t)(n + 1) * sizeof *list);

    for (int t = 0; t < n; ++t) {
        size_t count = 1;
        for (int d = 0; d < kinds[t].ndim; ++d)
            count *= kinds[t].dim[d];
        list[t] = *check_on(check_typed(c, kinds[t].dtype, kinds[t].ndim, kinds[t].dim,
                                        check_sequence(c, count, 0, 0)),
                            device);
        for (size_t i = 0; i < count; ++i)
            lists_put(&list[t], i, lists_mix(seed * 1000003 + (uint64_t)t * 1009 + i + 1));
    }
    return list;
}

/* Makes `count` outputs, each with the capacity for the largest of the kinds. */
static struct impl_array *coalesce_room(struct check *c, const struct kind kinds[], int n,
                                        int count)
{
    size_t most = 0;

    for (int t = 0; t < n; ++t) {
        size_t bytes = check_dtype_bytes(kinds[t].dtype);
        for (int d = 0; d < kinds[t].ndim; ++d)
            bytes *= kinds[t].dim[d];
        most = bytes > most ? bytes : most;
    }
    return check_output(c, count, most);
}

/* Returns n tensors, the sums of k lists that were made with seed, seed + 1, ... */
static struct impl_array *coalesce_sums(struct check *c, const struct kind kinds[], int n, int k,
                                        uint64_t seed)
{
    struct impl_array *sums = coalesce_make(c, kinds, n, seed, IMPL_HOST);

    for (int i = 1; i < k; ++i) {
        const struct impl_array *list = coalesce_make(c, kinds, n, seed + (uint64_t)i, IMPL_HOST);
        for (int t = 0; t < n; ++t) {
            for (size_t j = 0; j < check_elements(&sums[t]); ++j)
                switch (sums[t].dtype) {
                case IMPL_F32:
                    ((float *)sums[t].data)[j] += ((const float *)list[t].data)[j];
                    break;
                case IMPL_F64:
                    ((double *)sums[t].data)[j] += ((const double *)list[t].data)[j];
                    break;
                case IMPL_I32:
                    ((int32_t *)sums[t].data)[j] += ((const int32_t *)list[t].data)[j];
                    break;
                case IMPL_I64:
                    ((int64_t *)sums[t].data)[j] += ((const int64_t *)list[t].data)[j];
                    break;
                default:
                    break;
                }
        }
    }
    return sums;
}

/* Adds 1 to every element. */
static void coalesce_add_one(struct impl_array *array)
{
    for (size_t i = 0; i < check_elements(array); ++i)
        switch (array->dtype) {
        case IMPL_F32:
            ((float *)array->data)[i] += 1;
            break;
        case IMPL_F64:
            ((double *)array->data)[i] += 1;
            break;
        case IMPL_I32:
            ((int32_t *)array->data)[i] += 1;
            break;
        case IMPL_I64:
            ((int64_t *)array->data)[i] += 1;
            break;
        default:
            break;
        }
}

/* ---- lists of all types ---------------------------------------------------------------------- */

/* The sizes are 0, 4, 12, 20, 24, 28, 40 and 100 bytes. 40 is a limit; 39 and 41 are next to it. */
static const struct kind mixed[] = {
    {IMPL_F32, 1, {5}},  {IMPL_F64, 1, {5}},    {IMPL_I64, 1, {3}}, {IMPL_F32, 1, {0}},
    {IMPL_I32, 1, {7}},  {IMPL_F64, 2, {2, 3}}, {IMPL_F32, 0, {0}}, {IMPL_F32, 2, {0, 3}},
    {IMPL_I64, 1, {5}},  {IMPL_F32, 1, {10}},   {IMPL_F64, 1, {1}}, {IMPL_F32, 2, {5, 5}},
    {IMPL_I32, 1, {10}}, {IMPL_F32, 1, {1}},    {IMPL_F64, 1, {0}},
};
enum { MIXED = sizeof mixed / sizeof mixed[0] };

/* Consecutive tensors of one type and size, 40 bytes each: a group of them goes beyond a limit of
 * 39 to 100. */
static const struct kind equal[] = {
    {IMPL_F64, 1, {5}},  {IMPL_F64, 1, {5}},  {IMPL_F64, 1, {5}},  {IMPL_F64, 1, {5}},
    {IMPL_F64, 1, {5}},  {IMPL_F32, 1, {10}}, {IMPL_F32, 1, {10}}, {IMPL_F32, 1, {10}},
    {IMPL_F32, 1, {10}}, {IMPL_F32, 1, {10}},
};
enum { EQUAL = sizeof equal / sizeof equal[0] };

static const size_t buffers[] = {1, 39, 40, 41, 100, 10485760, 0};
enum { BUFFERS = sizeof buffers / sizeof buffers[0] };

/* ---- one list through one buffer ------------------------------------------------------------- */

static void broadcast_is(struct check *c, const struct kind kinds[], int n, int k, size_t buffer)
{
    const int *ids = mixed_ids(k);
    struct impl_array *src = coalesce_make(c, kinds, n, 7, ids[0]);
    struct impl_broadcast op = {
        .src = src, .n = n, .devices = ids, .n_devices = k, .buffer_bytes = buffer, .poke = -1};

    check_note(c, "%d tensors to %d devices, buffer of %zu bytes: ", n, k, buffer);
    op.copies = coalesce_room(c, kinds, n, n * k);
    check_broadcast(c, &op);
    for (int i = 0; i < k; ++i)
        for (int t = 0; t < n; ++t) {
            const char *what = check_text(c, "tensor %d on device %d", t, ids[i]);
            check_same(c, what, &op.copies[i * n + t], &src[t]);
            check_device(c, what, &op.copies[i * n + t], ids[i]);
        }
}

/* Adds k lists of n tensors, one on each device, on the first of them, and checks the sums. */
static struct impl_reduce coalesce_reduce(struct check *c, const struct kind kinds[], int n, int k,
                                          const int ids[], size_t buffer)
{
    struct impl_array *src = check_memory(c, (size_t)(n * k) * sizeof *src);
    const struct impl_array *want = coalesce_sums(c, kinds, n, k, 11);
    struct impl_reduce op = {
        .src = src, .n = n, .k = k, .device = ids[0], .buffer_bytes = buffer, .poke = -1};

    for (int i = 0; i < k; ++i)
        memcpy(src + (size_t)(i * n), coalesce_make(c, kinds, n, 11 + (uint64_t)i, ids[i]),
               (size_t)n * sizeof *src);
    op.sums = coalesce_room(c, kinds, n, n);
    check_reduce(c, &op);
    for (int t = 0; t < n; ++t)
        check_same(c, check_text(c, "sum %d", t), &op.sums[t], &want[t]);
    return op;
}

static void reduce_is(struct check *c, const struct kind kinds[], int n, int k, size_t buffer)
{
    check_note(c, "%d lists of %d tensors, buffer of %zu bytes: ", k, n, buffer);
    const struct impl_reduce op = coalesce_reduce(c, kinds, n, k, mixed_ids(k), buffer);
    for (int t = 0; t < n; ++t)
        check_device(c, check_text(c, "sum %d", t), &op.sums[t], op.device);
}

/* Copies keep every bit: of the largest and the smallest number, of minus zero, and of denormal
 * numbers. */
static void extremes_kept(struct check *c, int k)
{
    static const float single[] = {-0.0F, FLT_MAX, -FLT_MIN / 4, FLT_TRUE_MIN, -FLT_TRUE_MIN};
    static const double twice[] = {-0.0, -DBL_MAX, DBL_MIN / 8, 5e-324, 1 + DBL_EPSILON};
    static const int32_t small[] = {INT32_MIN, INT32_MAX, -1, 0, 16777217};
    static const int64_t large[] = {INT64_MIN, INT64_MAX, -1, 0, INT64_C(9007199254740993)};
    static const struct kind kinds[] = {
        {IMPL_F32, 1, {5}}, {IMPL_F64, 1, {5}}, {IMPL_I32, 1, {5}}, {IMPL_I64, 1, {5}}};
    const int *ids = mixed_ids(k);
    struct impl_array *src = coalesce_make(c, kinds, 4, 7, ids[0]);
    struct impl_broadcast op = {
        .src = src, .n = 4, .devices = ids, .n_devices = k, .buffer_bytes = 30, .poke = -1};
    memcpy(src[0].data, single, sizeof single);
    memcpy(src[1].data, twice, sizeof twice);
    memcpy(src[2].data, small, sizeof small);
    memcpy(src[3].data, large, sizeof large);
    op.copies = coalesce_room(c, kinds, 4, 4 * k);
    check_broadcast(c, &op);
    for (int t = 0; t < 4 * k; ++t)
        check_same(c, check_text(c, "tensor %d on device %d", t % 4, ids[t / 4]), &op.copies[t],
                   &src[t % 4]);
}

static void any_buffer(struct check *c, int k)
{
    void (*const is)(struct check *, const struct kind[], int, int, size_t) =
        check_variant(c) == 1 ? reduce_is : broadcast_is;

    for (int b = 0; b < BUFFERS; ++b) {
        is(c, mixed, MIXED, k, buffers[b]);
        is(c, equal, EQUAL, k, buffers[b]);
    }
}

/* All have one shape, so that only the contents and the types tell them apart. */
static const struct kind alike[] = {
    {IMPL_F32, 1, {3}}, {IMPL_F64, 1, {3}}, {IMPL_I32, 1, {3}}, {IMPL_F32, 1, {3}},
    {IMPL_F64, 1, {3}}, {IMPL_I64, 1, {3}}, {IMPL_F32, 1, {3}}, {IMPL_I32, 1, {3}},
};
enum { ALIKE = sizeof alike / sizeof alike[0] };

static void order_kept(struct check *c, int k)
{
    for (size_t buffer = 12; buffer <= 48; buffer += 12) {
        broadcast_is(c, alike, ALIKE, k, buffer);
        reduce_is(c, alike, ALIKE, k, buffer);
    }
}

/* ---- COAL-06, -07 ---------------------------------------------------------------------------- */

/* A tensor is much larger than the limit; it is sent alone and among small ones. */
static void large_is_whole(struct check *c, int k)
{
    static const struct kind kinds[] = {{IMPL_F32, 1, {1}},
                                        {IMPL_F64, 1, {60}},
                                        {IMPL_F32, 1, {250}},
                                        {IMPL_F32, 1, {3}},
                                        {IMPL_F64, 1, {1}}};

    broadcast_is(c, kinds, 5, k, 40);
    reduce_is(c, kinds, 5, k, 40);
    broadcast_is(c, kinds + 2, 1, k, 40);
    reduce_is(c, kinds + 2, 1, k, 40);
}

/* Tensors without elements are first, in the middle, last, the only ones of their type, and the
 * only ones. */
static void empty_survive(struct check *c, int k)
{
    static const struct kind kinds[] = {
        {IMPL_F32, 1, {0}}, {IMPL_F32, 1, {10}},   {IMPL_F32, 2, {0, 3}}, {IMPL_F32, 1, {0}},
        {IMPL_I64, 1, {0}}, {IMPL_F64, 2, {4, 0}}, {IMPL_F32, 1, {10}},   {IMPL_F32, 1, {0}}};
    static const int begin[] = {0, 0, 0, 3, 1, 0}, count[] = {3, 1, 8, 3, 2, 2};

    for (size_t form = 0; form < sizeof begin / sizeof begin[0]; ++form)
        for (int b = 0; b < BUFFERS; b += 3) {
            broadcast_is(c, kinds + begin[form], count[form], k, buffers[b]);
            reduce_is(c, kinds + begin[form], count[form], k, buffers[b]);
        }
}

/* ---- COAL-08, -09: one is written to, the others are not ------------------------------------- */

static void neighbours_untouched(struct check *c, int k)
{
    static const int pokes[] = {0, 4, 6, 9, MIXED - 2};

    for (size_t p = 0; p < sizeof pokes / sizeof pokes[0]; ++p) {
        const int *ids = mixed_ids(k);
        const struct impl_array *src = coalesce_make(c, mixed, MIXED, 7, ids[0]);
        struct impl_array *want = coalesce_make(c, mixed, MIXED, 7, ids[0]);
        struct impl_broadcast op = {.src = src,
                                    .n = MIXED,
                                    .devices = ids,
                                    .n_devices = k,
                                    .buffer_bytes = buffers[p],
                                    .poke = pokes[p]};
        check_note(c, "K=%d, tensor %d written to: ", k, pokes[p]);
        coalesce_add_one(&want[pokes[p]]);
        op.copies = coalesce_room(c, mixed, MIXED, MIXED * k);
        check_broadcast(c, &op);
        for (int n = 0; n < MIXED * k; ++n)
            check_same(c, check_text(c, "tensor %d of copy %d", n % MIXED, n / MIXED),
                       &op.copies[n], &want[n % MIXED]);
    }
}

/* The first device gets the originals: a write to its copy changes the source, once. Writes on
 * other devices do not. */
static void originals_returned(struct check *c, int k)
{
    for (int poke = -1; poke < ALIKE; poke += 3) {
        const int *ids = mixed_ids(k);
        struct impl_array *want = coalesce_make(c, alike, ALIKE, 7, ids[0]);
        struct impl_broadcast op = {.src = coalesce_make(c, alike, ALIKE, 7, ids[0]),
                                    .n = ALIKE,
                                    .devices = ids,
                                    .n_devices = k,
                                    .buffer_bytes = 24,
                                    .poke = poke};
        check_note(c, "K=%d, tensor %d written to: ", k, poke);
        if (poke >= 0)
            coalesce_add_one(&want[poke]);
        op.copies = coalesce_room(c, alike, ALIKE, ALIKE * k);
        op.src_after = coalesce_room(c, alike, ALIKE, ALIKE);
        check_broadcast(c, &op);
        for (int n = 0; n < ALIKE * k; ++n)
            check_same(c, check_text(c, "tensor %d of copy %d", n % ALIKE, n / ALIKE),
                       &op.copies[n], &want[n % ALIKE]);
        for (int t = 0; t < ALIKE; ++t) {
            check_same(c, check_text(c, "source %d afterwards", t), &op.src_after[t], &want[t]);
            check_device(c, check_text(c, "source %d afterwards", t), &op.src_after[t], ids[0]);
        }
    }
}

static void sums_independent(struct check *c, int k)
{
    static const int pokes[] = {0, 4, 6, 9, MIXED - 2};

    for (size_t p = 0; p < sizeof pokes / sizeof pokes[0]; ++p) {
        const int *ids = mixed_ids(k);
        struct impl_array *src = check_memory(c, (size_t)(MIXED * k) * sizeof *src);
        struct impl_array *want = coalesce_sums(c, mixed, MIXED, k, 11);
        struct impl_reduce op = {.src = src,
                                 .n = MIXED,
                                 .k = k,
                                 .device = ids[0],
                                 .buffer_bytes = buffers[p],
                                 .poke = pokes[p]};
        struct impl_array *zeroed = &want[pokes[p]];
        check_note(c, "K=%d, sum %d set to zero: ", k, pokes[p]);
        for (int n = 0; n < k; ++n)
            memcpy(src + (size_t)(n * MIXED),
                   coalesce_make(c, mixed, MIXED, 11 + (uint64_t)n, ids[n]), MIXED * sizeof *src);
        memset(zeroed->data, 0, check_elements(zeroed) * check_dtype_bytes(zeroed->dtype));
        op.sums = coalesce_room(c, mixed, MIXED, MIXED);
        check_reduce(c, &op);
        for (int t = 0; t < MIXED; ++t)
            check_same(c, check_text(c, "sum %d", t), &op.sums[t], &want[t]);
    }
}

/* ---- COAL-10 --------------------------------------------------------------------------------- */

/* If every device has the same list, the sum is k times each tensor. */
static void tensor_by_tensor(struct check *c, int k)
{
    const int *ids = mixed_ids(k);
    struct impl_array *src = check_memory(c, (size_t)(3 * k) * sizeof *src);
    struct impl_reduce op = {.src = src, .n = 3, .k = k, .device = ids[0], .poke = -1};
    for (int n = 0; n < 3 * k; ++n)
        src[n] =
            *check_on(check_vector(c, 5, check_sequence(c, 5, 1 + 10 * (n % 3), 2)), ids[n / 3]);
    op.sums = check_output(c, 3, 64);
    check_reduce(c, &op);
    for (int t = 0; t < 3; ++t)
        check_values(c, check_text(c, "sum %d", t), &op.sums[t], 5,
                     check_sequence(c, 5, k * (1 + 10 * t), 2 * k));
}

/* ---- transfers, as counted by the implementation --------------------------------------------- */

/* There are at most four devices: a transfer is counted once, not once for each device. */
enum { DEVICES = 4 };

static int some_devices(const struct check *c)
{
    return check_devices(c) < DEVICES ? check_devices(c) : DEVICES;
}

/* Vectors of float: n of them, the i-th with count[i] elements. */
struct row {
    int n;
    size_t count[8];
    size_t buffer;
    int broadcast, reduce; /* transfers */
};

static const int devices[DEVICES] = {0, 1, 2, 3};

static struct impl_broadcast counted_broadcast(struct check *c, const struct kind kinds[], int n,
                                               size_t buffer)
{
    const int k = some_devices(c);
    struct impl_broadcast op = {
        .n = n, .devices = devices, .n_devices = k, .buffer_bytes = buffer, .poke = -1};

    op.src = coalesce_make(c, kinds, n, 5, 0);
    op.copies = coalesce_room(c, kinds, n, k * n);
    check_broadcast(c, &op);
    for (int t = 0; t < k * n; ++t)
        check_same(c, check_text(c, "copy %d", t), &op.copies[t], &op.src[t % n]);
    return op;
}

static struct impl_reduce counted_reduce(struct check *c, const struct kind kinds[], int n,
                                         size_t buffer)
{
    return coalesce_reduce(c, kinds, n, some_devices(c), devices, buffer);
}

static void transfers_are(struct check *c, const struct kind kinds[], int n, size_t buffer,
                          long long most)
{
    check_int(c, "transfers of broadcast",
              (long long)counted_broadcast(c, kinds, n, buffer).transfers, most);
    check_int(c, "transfers of reduce", (long long)counted_reduce(c, kinds, n, buffer).transfers,
              most);
}

static void coalesce_default_bytes(struct check *c)
{
    static const struct kind one = {IMPL_F32, 1, {3}};

    check_int(c, "default buffer of broadcast",
              (long long)counted_broadcast(c, &one, 1, 0).default_bytes, 10485760);
    check_int(c, "default buffer of reduce", (long long)counted_reduce(c, &one, 1, 0).default_bytes,
              10485760);
}

/* Broadcast appends a tensor, and closes a group that has reached the limit; reduce closes the
 * group first if the tensor would exceed the limit. These are the examples of the rule with 100
 * bytes for 1 MiB (a limit of 1000 for 10 MiB), and sizes at and next to the limit. */
static const struct row rows[] = {
    {5, {100, 100, 100, 100, 100}, 1000, 2, 3},
    {4, {225, 50, 225, 50}, 1000, 2, 4},
    {8, {25, 25, 25, 25, 25, 25, 25, 25}, 200, 4, 4},
    {8, {25, 25, 25, 25, 25, 25, 25, 25}, 201, 3, 4},
    {8, {25, 25, 25, 25, 25, 25, 25, 25}, 199, 4, 8},
    {3, {10, 10, 10}, 40, 3, 3},
    {3, {10, 10, 10}, 41, 2, 3},
    {3, {10, 10, 10}, 1, 3, 3},
    {3, {10, 10, 10}, 120, 1, 1},
    {3, {1, 30, 1}, 40, 2, 3},
};

static void groups(struct check *c)
{
    const bool broadcast = check_variant(c) == 0;

    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        struct kind kinds[8];
        check_note(c, "setting %zu, limit %zu: ", r, rows[r].buffer);
        for (int t = 0; t < rows[r].n; ++t)
            kinds[t] = (struct kind){IMPL_F32, 1, {rows[r].count[t]}};
        if (broadcast)
            check_int(c, "transfers of broadcast",
                      (long long)counted_broadcast(c, kinds, rows[r].n, rows[r].buffer).transfers,
                      rows[r].broadcast);
        else
            check_int(c, "transfers of reduce",
                      (long long)counted_reduce(c, kinds, rows[r].n, rows[r].buffer).transfers,
                      rows[r].reduce);
    }
}

/* Six tensors of 40 bytes have two types in turn, and the limit is that of two tensors: each type
 * fills separate groups. */
static void coalesce_groups_of_types(struct check *c)
{
    static const struct kind kinds[] = {{IMPL_F32, 1, {10}}, {IMPL_F64, 1, {5}},
                                        {IMPL_F32, 1, {10}}, {IMPL_F64, 1, {5}},
                                        {IMPL_F32, 1, {10}}, {IMPL_F64, 1, {5}}};

    transfers_are(c, kinds, 6, 80, 4);
}

/* A tensor of 25 times the limit is one transfer. */
static void coalesce_large_alone(struct check *c)
{
    static const struct kind kinds[] = {{IMPL_F32, 1, {250}}};

    transfers_are(c, kinds, 1, 40, 1);
}

/* ---- the table ------------------------------------------------------------------------------- */

enum {
    PAIR = IMPL_CAP_BROADCAST | IMPL_CAP_REDUCE,
    COUNTS = IMPL_CAP_BROADCAST | IMPL_CAP_REDUCE | IMPL_CAP_TRANSFERS
};

static const struct check_case cases[] = {
    {"COAL-01.default", "COAL-01", MAY, REPORTED, PRIM, COUNTS, 2, coalesce_default_bytes},
    {"COAL-04.broadcast", "COAL-04", MAY, REPORTED, PRIM, COUNTS, 2, groups},
    {"COAL-04.reduce", "COAL-04", MAY, REPORTED, PRIM, COUNTS, 2, groups, .variant = 1},
    {"COAL-03.types", "COAL-03", MAY, REPORTED, PRIM, COUNTS, 2, coalesce_groups_of_types},
    {"COAL-06.one", "COAL-06", MAY, REPORTED, PRIM, COUNTS, 2, coalesce_large_alone},
    {"COAL-02.broadcast", "COAL-02", MUST, OBSERVED, PRIM, IMPL_CAP_BROADCAST, 1,
     .each = any_buffer},
    {"COAL-02.extremes", "COAL-02", MUST, OBSERVED, PRIM, IMPL_CAP_BROADCAST, 1,
     .each = extremes_kept},
    {"COAL-02.reduce", "COAL-02", MUST, OBSERVED, PRIM, IMPL_CAP_REDUCE, 1, .each = any_buffer,
     .variant = 1},
    {"COAL-03.order", "COAL-03", MUST, OBSERVED, PRIM, PAIR, 1, .each = order_kept},
    {"COAL-06.values", "COAL-06", MUST, OBSERVED, PRIM, PAIR, 1, .each = large_is_whole},
    {"COAL-07.empty", "COAL-07", MUST, OBSERVED, PRIM, PAIR, 1, .each = empty_survive},
    {"COAL-08.neighbours", "COAL-08", MUST, OBSERVED, PRIM, IMPL_CAP_BROADCAST, 1,
     .each = neighbours_untouched},
    {"COAL-08.originals", "COAL-08", MUST, OBSERVED, PRIM, IMPL_CAP_BROADCAST, 1,
     .each = originals_returned},
    {"COAL-09.independent", "COAL-09", MUST, OBSERVED, PRIM, IMPL_CAP_REDUCE, 1,
     .each = sums_independent},
    {"COAL-10.each", "COAL-10", MUST, OBSERVED, PRIM, IMPL_CAP_REDUCE, 1, .each = tensor_by_tensor},
};
const struct check_table coalesce_table = CHECK_TABLE(cases);
