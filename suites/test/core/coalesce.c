/* coalesce.c: transfers are grouped, and results do not show it: for any size of a group, any order
 * of dtypes, empty tensors among the others, tensors that are adjacent in memory or not. */
#include "golden.h"
#include "list.h"

#define TENSORS 14

static const size_t buffer_bytes[] = {1, 39, 40, 41, 100, DP_BUFFER_BYTES};
#define BUFFERS (sizeof buffer_bytes / sizeof buffer_bytes[0])

/* Tensors of 40 bytes are at the edges of the sizes; empty ones are first, last and between. */
static const struct kind {
    enum dp_dtype dtype;
    int ndim;
    size_t dim[2];
} kinds[TENSORS] = {
    {DP_F32, 1, {0, 0}},  {DP_F32, 1, {10, 0}}, {DP_F64, 1, {5, 0}},  {DP_I32, 1, {3, 0}},
    {DP_F32, 2, {0, 3}},  {DP_F32, 2, {3, 7}},  {DP_F64, 1, {0, 0}},  {DP_I64, 1, {7, 0}},
    {DP_F32, 0, {0, 0}},  {DP_F64, 2, {2, 13}}, {DP_F32, 1, {11, 0}}, {DP_I32, 1, {10, 0}},
    {DP_F32, 1, {25, 0}}, {DP_F32, 2, {3, 0}},
};

/* Returns element e of tensor j in list i: each differs, and all are small enough to add up
 * exactly. */
static double element(int list, int j, size_t e)
{
    return 1000.0 * list + 50.0 * j + (double)e;
}

static const double *elements(struct context *c, const struct dp_tensor *tensor, int list, int j)
{
    return sequence(c, dp_tensor_count(tensor), element(list, j, 0), 1.0);
}

static struct dp_tensor *make_list(struct context *c, struct dp_slot *slot, int list)
{
    struct dp_tensor *tensors = case_memory(c, TENSORS * sizeof *tensors);
    for (int j = 0; j < TENSORS; ++j) {
        tensors[j] = make_tensor(c, slot, kinds[j].dtype, kinds[j].ndim, kinds[j].dim, NULL);
        write_values(c, &tensors[j], elements(c, &tensors[j], list, j));
    }
    return tensors;
}

static struct dp_tensor *broadcast(struct context *c, struct dp_run *run,
                                   const struct dp_tensor src[], int n,
                                   struct dp_slot *const slots[], int n_slots, size_t bytes)
{
    struct dp_tensor *copies = case_memory(c, (size_t)(n * n_slots) * sizeof *copies);
    struct dp_error err = {0};
    expect_ok(c, dp_broadcast_coalesced(run, src, n, slots, n_slots, bytes, copies, &err), &err,
              "dp_broadcast_coalesced");
    return copies;
}

static void broadcast_mixed(struct context *c)
{
    for (size_t b = 0; b < BUFFERS; ++b) {
        case_release(c);
        case_note(c, "buffer %zu", buffer_bytes[b]);
        struct dp_group *group = open_group(c, 3);
        struct dp_slot **slots = slot_list(c, group, (int[]){1, 2, 0}, 3);
        const struct dp_tensor *src = make_list(c, slots[0], 1);
        const struct dp_tensor *copies =
            broadcast(c, open_run(c, group), src, TENSORS, slots, 3, buffer_bytes[b]);
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < TENSORS; ++j) {
                const struct dp_tensor *copy = &copies[i * TENSORS + j];
                expect_slot(c, "copy", copy, slots[i]);
                expect(c, copy->dtype == kinds[j].dtype, "tensor %d: dtype %d", j,
                       (int)copy->dtype);
                expect_shape(c, "copy", copy, kinds[j].ndim, kinds[j].dim);
                expect_values(c, "copy", copy, elements(c, copy, 1, j));
                const bool same = copy->data == src[j].data;
                expect(c, dp_tensor_count(copy) == 0 || same == (i == 0), "tensor %d on %d is %s",
                       j, i, same ? "the original" : "a copy");
            }
        }
    }
}

/* Copies are independent: writing one changes none of its neighbours. */
static void copies_apart(struct context *c)
{
    for (size_t b = 0; b < BUFFERS; ++b) {
        case_release(c);
        case_note(c, "buffer %zu", buffer_bytes[b]);
        struct dp_group *group = open_group(c, 2);
        struct dp_slot **slots = first_slots(c, group, 2);
        const struct dp_tensor *src = make_list(c, slots[0], 1);
        const struct dp_tensor *copies =
            broadcast(c, open_run(c, group), src, TENSORS, slots, 2, buffer_bytes[b]);
        for (int j = 0; j < TENSORS; j += 2) {
            const struct dp_tensor *copy = &copies[TENSORS + j];
            write_values(c, copy, sequence(c, dp_tensor_count(copy), -7.0, 0.0));
        }
        for (int j = 0; j < TENSORS; ++j) {
            const struct dp_tensor *copy = &copies[TENSORS + j];
            expect_values(c, "copy", copy,
                          j % 2 == 0 ? sequence(c, dp_tensor_count(copy), -7.0, 0.0)
                                     : elements(c, copy, 1, j));
            expect_values(c, "original", &src[j], elements(c, &src[j], 1, j));
        }
    }
}

/* Views of one array: adjacent ones, a gap, the reverse order of memory, one view twice. */
static void neighbours(struct context *c)
{
    static const size_t rows[][2] = {{0, 10},  {10, 10}, {20, 1}, {30, 10}, {25, 5},
                                     {10, 10}, {0, 40},  {40, 0}, {39, 1}};
    const int n = (int)(sizeof rows / sizeof rows[0]);
    for (size_t b = 0; b < BUFFERS; ++b) {
        case_release(c);
        case_note(c, "buffer %zu", buffer_bytes[b]);
        struct dp_group *group = open_group(c, 3);
        struct dp_slot **slots = first_slots(c, group, 3);
        const struct dp_tensor whole =
            make_tensor(c, slots[0], DP_F32, 1, (size_t[]){40}, sequence(c, 40, 1.0, 1.0));
        struct dp_tensor src[9];
        struct dp_error err = {0};
        for (int j = 0; j < n; ++j) {
            expect_ok(c, dp_tensor_rows(&whole, rows[j][0], rows[j][1], &src[j], &err), &err,
                      "dp_tensor_rows");
        }
        const struct dp_tensor *copies =
            broadcast(c, open_run(c, group), src, n, slots, 3, buffer_bytes[b]);
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < n; ++j) {
                expect_shape(c, "copy", &copies[i * n + j], 1, &rows[j][1]);
                expect_values(c, "copy", &copies[i * n + j],
                              sequence(c, rows[j][1], 1.0 + (double)rows[j][0], 1.0));
            }
        }
    }
}

static void broadcast_edges(struct context *c)
{
    struct dp_group *group = open_group(c, 3);
    struct dp_slot **slots = first_slots(c, group, 3);
    struct dp_run *run = open_run(c, group);
    struct dp_tensor copies[6];
    struct dp_error err = {0};
    expect_ok(c, dp_broadcast_coalesced(run, NULL, 0, slots, 3, DP_BUFFER_BYTES, copies, &err),
              &err, "a broadcast of nothing");
    const struct dp_tensor one =
        make_tensor(c, slots[1], DP_F32, 1, (size_t[]){4}, sequence(c, 4, 1.0, 1.0));
    expect_error(c, dp_broadcast_coalesced(run, &one, 1, slots, 3, 100, copies, &err), DP_EINVAL,
                 &err, dp_slot_name(slots[0]), dp_slot_name(slots[1]));
    const struct dp_tensor two[2] = {
        make_tensor(c, slots[0], DP_F32, 1, (size_t[]){4}, sequence(c, 4, 1.0, 1.0)), one};
    err = (struct dp_error){0};
    expect_error(c, dp_broadcast_coalesced(run, two, 2, slots, 3, 100, copies, &err), DP_EINVAL,
                 &err, NULL, NULL);
}

static struct dp_tensor *reduce(struct context *c, struct dp_run *run, const struct dp_tensor src[],
                                int n, int k, struct dp_slot *output, size_t bytes)
{
    struct dp_tensor *sums = case_memory(c, (size_t)n * sizeof *sums);
    struct dp_error err = {0};
    expect_ok(c, dp_reduce_add_coalesced(run, src, n, k, output, bytes, sums, &err), &err,
              "dp_reduce_add_coalesced");
    return sums;
}

/* Sums over 1 to 4 lists, on any slot or the host; the results are new, and apart from each other.
 */
static void reduce_mixed(struct context *c)
{
    for (size_t b = 0; b < BUFFERS; ++b) {
        for (int k = 1; k <= 4; ++k) {
            case_release(c);
            case_note(c, "buffer %zu, %d lists", buffer_bytes[b], k);
            struct dp_group *group = open_group(c, 5);
            struct dp_slot **slots = slot_list(c, group, (int[]){2, 0, 3, 1}, k);
            struct dp_slot *output = slots[((int)b + k) % k];
            struct dp_tensor *src = case_memory(c, (size_t)(k * TENSORS) * sizeof *src);
            for (int i = 0; i < k; ++i) {
                const struct dp_tensor *list = make_list(c, slots[i], i + 1);
                for (int j = 0; j < TENSORS; ++j) {
                    src[i * TENSORS + j] = list[j];
                }
            }
            const struct dp_tensor *sums =
                reduce(c, open_run(c, group), src, TENSORS, k, output, buffer_bytes[b]);
            for (int j = TENSORS - 1; j >= 0; --j) {
                const size_t n = dp_tensor_count(&sums[j]);
                expect_slot(c, "sum", &sums[j], output);
                expect(c, sums[j].dtype == kinds[j].dtype, "tensor %d: dtype %d", j,
                       (int)sums[j].dtype);
                expect_shape(c, "sum", &sums[j], kinds[j].ndim, kinds[j].dim);
                expect_values(c, "sum", &sums[j],
                              sequence(c, n, 1000.0 * k * (k + 1) / 2 + 50.0 * j * k, k));
                expect(c, n == 0 || sums[j].data != src[j].data, "tensor %d is an input", j);
                write_values(c, &sums[j], sequence(c, n, -1.0, 0.0));
            }
            expect_values(c, "an input afterwards", &src[1], elements(c, &src[1], 1, 1));
        }
    }
}

/* There is more than one slice and one staging area: 100,000 numbers and a few. */
static void large(struct context *c)
{
    static const size_t sizes[] = {1, 100003, 17, 4097};
    for (size_t b = 2; b < BUFFERS; ++b) {
        case_release(c);
        case_note(c, "buffer %zu", buffer_bytes[b]);
        struct dp_group *group = open_group(c, 3);
        struct dp_slot **slots = first_slots(c, group, 3);
        struct dp_run *run = open_run(c, group);
        struct dp_tensor src[12];
        for (int i = 0; i < 12; ++i) {
            const size_t n = sizes[i % 4];
            src[i] = make_tensor(c, slots[i / 4], DP_F32, 1, &n,
                                 sequence(c, n, 1.0 + i / 4, 1.0 + i / 4));
        }
        const struct dp_tensor *sums = reduce(c, run, src, 4, 3, slots[0], buffer_bytes[b]);
        const struct dp_tensor *copies = broadcast(c, run, sums, 4, slots, 3, buffer_bytes[b]);
        for (int i = 0; i < 12; ++i) {
            expect_values(c, "copy of the sum", &copies[i], sequence(c, sizes[i % 4], 6.0, 6.0));
        }
    }
}

/* A sum is made where one of its terms is, never from terms on the host. */
static void reduce_elsewhere(struct context *c)
{
    struct dp_group *group = open_group(c, 3);
    struct dp_run *run = open_run(c, group);
    const struct dp_tensor on[2] = {golden_rows(c, dp_group_slot(group, 0), 3, 1.0),
                                    golden_rows(c, dp_group_slot(group, 1), 3, 1.0)};
    const struct dp_tensor host[2] = {on[0], golden_rows(c, dp_group_host(group), 3, 1.0)};
    struct dp_slot *elsewhere[] = {dp_group_slot(group, 2), dp_group_host(group)};
    struct dp_tensor sum;
    for (int i = 0; i < 2; ++i) {
        struct dp_error err = {0};
        const int status = dp_reduce_add_coalesced(run, on, 1, 2, elsewhere[i], 100, &sum, &err);
        expect_error(c, status, DP_EDEVICE, &err, "holds no list", dp_slot_name(elsewhere[i]));
    }
    struct dp_error err = {0};
    const int status = dp_reduce_add_coalesced(run, host, 1, 2, on[0].slot, 100, &sum, &err);
    expect_error(c, status, DP_EDEVICE, &err, "list 1", "on the host");
}

static void reduce_mismatch(struct context *c)
{
    struct dp_group *group = open_group(c, 2);
    struct dp_slot **slots = first_slots(c, group, 2);
    struct dp_tensor src[6], sums[3] = {{.ndim = -7}, {.ndim = -7}, {.ndim = -7}};
    for (int i = 0; i < 6; ++i) {
        src[i] = make_matrix(c, slots[i / 3], 2, 3, sequence(c, 6, 1.0, 1.0));
    }
    src[5] = make_matrix(c, slots[1], 3, 2, sequence(c, 6, 1.0, 1.0));
    struct dp_error err = {0};
    struct dp_run *run = open_run(c, group);
    expect_error(c, dp_reduce_add_coalesced(run, src, 3, 2, slots[0], 100, sums, &err), DP_ESHAPE,
                 &err, "1", "2");
    expect(c, sums[0].ndim == -7 && sums[2].ndim == -7, "a failing call set its outputs");
    src[5] = make_tensor(c, slots[1], DP_I32, 2, (size_t[]){2, 3}, sequence(c, 6, 1.0, 1.0));
    err = (struct dp_error){0};
    expect_error(c, dp_reduce_add_coalesced(run, src, 3, 2, slots[0], 100, sums, &err), DP_ESHAPE,
                 &err, NULL, NULL);
}

static const struct test_case cases[] = {
    {"coalesce/broadcast-mixed", "COAL-02 COAL-03 COAL-06 COAL-07 COAL-08 REPL-07",
     broadcast_mixed},
    {"coalesce/copies-apart", "COAL-08", copies_apart},
    {"coalesce/neighbours", "COAL-02 COAL-08", neighbours},
    {"coalesce/broadcast-edges", "REPL-15 REPL-18", broadcast_edges},
    {"coalesce/reduce-mixed", "COAL-02 COAL-03 COAL-07 COAL-09 COAL-10", reduce_mixed},
    {"coalesce/large", "COAL-01 COAL-06", large},
    {"coalesce/reduce-elsewhere", "GRAD-15", reduce_elsewhere},
    {"coalesce/reduce-mismatch", "GRAD-15 ERR-05", reduce_mismatch},
};
const struct case_table coalesce_cases = {cases, sizeof cases / sizeof cases[0]};
