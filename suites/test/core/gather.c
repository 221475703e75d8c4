/* gather.c: putting parts together: in replica order, whatever their sizes, as a copy. */
#include "list.h"
#include "probes.h"

#include <string.h>

/* Parts of these rows on these slots; row ids run on from part to part. */
static struct dp_tensor *parts_of(struct context *c, struct dp_slot *const slots[],
                                  const size_t rows[], int n, size_t columns)
{
    struct dp_tensor *parts = case_memory(c, (size_t)n * sizeof *parts);
    double first = 1.0;
    for (int i = 0; i < n; ++i) {
        const size_t count = rows[i] * columns;
        parts[i] = make_matrix(c, slots[i], rows[i], columns, sequence(c, count, first, 1.0));
        first += (double)count;
    }
    return parts;
}

static struct dp_tensor gather(struct context *c, const struct dp_tensor parts[], int n, int dim,
                               struct dp_slot *output)
{
    struct dp_tensor out = {.slot = NULL};
    struct dp_error err = {0};
    struct dp_run *run = open_run(c, dp_slot_group(output));
    expect_ok(c, dp_gather(run, parts, n, dim, output, &out, &err), &err, "dp_gather");
    return out;
}

static void refuse(struct context *c, const struct dp_tensor parts[], int n, int dim,
                   struct dp_slot *output, int status, const char *needle, const char *other)
{
    struct dp_tensor out = {.ndim = -7};
    struct dp_error err = {0};
    struct dp_run *run = open_run(c, dp_slot_group(output));
    expect_error(c, dp_gather(run, parts, n, dim, output, &out, &err), status, &err, needle, other);
    expect(c, out.ndim == -7 && !out.slot, "a failing gather set its output");
}

static void order(struct context *c)
{
    static const int permuted[] = {2, 0, 3, 1};
    static const size_t rows[][4] = {{3, 3, 3, 1}, {6, 6, 6, 2}, {1, 0, 4, 2}, {0, 0, 0, 5}};
    for (size_t r = 0; r < 4; ++r) {
        for (int output = -1; output < 5; ++output) {
            case_release(c);
            case_note(c, "row %zu output %d", r, output);
            struct dp_group *group = open_group(c, 5);
            struct dp_slot **slots = slot_list(c, group, permuted, 4);
            const struct dp_tensor *parts = parts_of(c, slots, rows[r], 4, 3);
            struct dp_slot *to = output < 0 ? dp_group_host(group) : dp_group_slot(group, output);
            const struct dp_tensor out = gather(c, parts, 4, 0, to);
            const size_t n = rows[r][0] + rows[r][1] + rows[r][2] + rows[r][3];
            expect_matrix(c, "gathered", &out, to, n, 3, sequence(c, 3 * n, 1.0, 1.0));
        }
    }
}

static void columns(struct context *c)
{
    static const int dims[] = {1, -1};
    for (int i = 0; i < 2; ++i) {
        case_release(c);
        case_note(c, "dim=%d", dims[i]);
        struct dp_group *group = open_group(c, 3);
        struct dp_slot **slots = first_slots(c, group, 3);
        const struct dp_tensor parts[] = {
            make_matrix(c, slots[0], 2, 2, (double[]){1, 2, 11, 12}),
            make_matrix(c, slots[1], 2, 1, (double[]){3, 13}),
            make_matrix(c, slots[2], 2, 3, (double[]){4, 5, 6, 14, 15, 16}),
        };
        const struct dp_tensor out = gather(c, parts, 3, dims[i], slots[1]);
        expect_matrix(c, "gathered", &out, slots[1], 2, 6,
                      (double[]){1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16});
    }
}

static void scalars(struct context *c)
{
    struct dp_group *group = open_group(c, 5);
    struct dp_slot **slots = first_slots(c, group, 5);
    struct dp_tensor parts[5];
    for (int n = 1; n <= 5; ++n) {
        case_note(c, "n=%d", n);
        for (int i = 0; i < n; ++i) {
            parts[i] = make_tensor(c, slots[i], DP_F32, 0, NULL, sequence(c, 1, 10.0 * i, 0.0));
        }
        const struct dp_tensor out = gather(c, parts, n, 0, slots[0]);
        expect_shape(c, "gathered", &out, 1, (size_t[]){(size_t)n});
        expect_values(c, "gathered", &out, sequence(c, (size_t)n, 0.0, 10.0));
    }
    refuse(c, parts, 5, 1, slots[0], DP_EINVAL, NULL, NULL);
    refuse(c, parts, 5, -1, slots[0], DP_EINVAL, NULL, NULL);
}

static void mismatch(struct context *c)
{
    struct dp_group *group = open_group(c, 3);
    struct dp_slot **slots = first_slots(c, group, 3);
    const struct dp_tensor good = make_matrix(c, slots[0], 2, 3, sequence(c, 6, 1.0, 1.0));
    const struct dp_tensor wide = make_matrix(c, slots[1], 2, 4, sequence(c, 8, 1.0, 1.0));
    const struct dp_tensor flat =
        make_tensor(c, slots[1], DP_F32, 1, (size_t[]){3}, sequence(c, 3, 1.0, 1.0));
    const struct dp_tensor one = make_tensor(c, slots[1], DP_F32, 0, NULL, sequence(c, 1, 1, 1));
    const struct dp_tensor whole =
        make_tensor(c, slots[1], DP_I32, 2, (size_t[]){2, 3}, sequence(c, 6, 1.0, 1.0));
    struct dp_tensor parts[] = {good, good, wide};
    refuse(c, parts, 3, 0, slots[0], DP_ESHAPE, "2", "4");
    refuse(c, parts, 3, 0, slots[0], DP_ESHAPE, "(2, 3)", "(2, 4)");
    parts[2] = flat;
    refuse(c, parts, 3, 0, slots[0], DP_ESHAPE, "(2, 3)", "(3)");
    parts[2] = one;
    refuse(c, parts, 3, 0, slots[0], DP_ESHAPE, NULL, NULL);
    parts[0] = one;
    parts[2] = good;
    refuse(c, parts, 3, 0, slots[0], DP_ESHAPE, NULL, NULL);
    parts[0] = good;
    parts[1] = whole;
    struct dp_tensor out = {.ndim = -7};
    struct dp_error err = {0};
    expect(c, dp_gather(open_run(c, group), parts, 3, 0, slots[0], &out, &err) != DP_OK,
           "parts of two dtypes were gathered");
}

static void nothing(struct context *c)
{
    struct dp_group *group = open_group(c, 2);
    struct dp_slot *slot = dp_group_slot(group, 0);
    const struct dp_tensor part = make_matrix(c, slot, 2, 2, sequence(c, 4, 1.0, 1.0));
    refuse(c, &part, 0, 0, slot, DP_EINVAL, NULL, NULL);
    refuse(c, &part, 1, 2, slot, DP_EINVAL, "2", NULL);
    refuse(c, &part, 1, -3, slot, DP_EINVAL, "-3", NULL);
}

/* A part on the host is refused wherever it stands. */
static void host_parts(struct context *c)
{
    struct dp_group *group = open_group(c, 2);
    struct dp_slot **slots = first_slots(c, group, 2);
    for (int on_host = 0; on_host < 3; ++on_host) {
        case_note(c, "part %d", on_host);
        struct dp_tensor parts[3];
        for (int i = 0; i < 3; ++i) {
            struct dp_slot *slot = i == on_host ? dp_group_host(group) : slots[i % 2];
            parts[i] = make_matrix(c, slot, 2, 2, sequence(c, 4, 1.0, 1.0));
        }
        refuse(c, parts, 3, 0, slots[0], DP_EDEVICE, "host", NULL);
        refuse(c, &parts[on_host], 1, 0, slots[0], DP_EDEVICE, "host", NULL);
    }
}

/* The result wants a gradient when any part does. */
static void needs_grad(struct context *c)
{
    struct dp_group *group = open_group(c, 2);
    struct dp_slot **slots = first_slots(c, group, 2);
    for (int wanted = 0; wanted < 4; ++wanted) {
        case_note(c, "parts %#x", (unsigned)wanted);
        struct dp_tensor *parts = parts_of(c, slots, (size_t[]){2, 1}, 2, 3);
        parts[0].needs_grad = (wanted & 1) != 0;
        parts[1].needs_grad = (wanted & 2) != 0;
        const struct dp_tensor out = gather(c, parts, 2, 0, slots[1]);
        expect(c, out.needs_grad == (wanted != 0), "needs_grad is %d", (int)out.needs_grad);
    }
}

static void is_a_copy(struct context *c)
{
    for (int n = 1; n <= 2; ++n) {
        case_release(c);
        case_note(c, "n=%d", n);
        struct dp_group *group = open_group(c, 2);
        struct dp_slot **slots = first_slots(c, group, 2);
        const struct dp_tensor *parts = parts_of(c, slots, (size_t[]){2, 2}, n, 2);
        const struct dp_tensor out = gather(c, parts, n, 0, slots[0]);
        expect(c, out.data != parts[0].data, "the result is the first part");
        write_values(c, &parts[0], sequence(c, 4, 100.0, 0.0));
        expect_values(c, "result afterwards", &out, sequence(c, (size_t)n * 4, 1.0, 1.0));
    }
}

static void dtypes(struct context *c)
{
    static const enum dp_dtype list[] = {DP_F32, DP_F64, DP_I32, DP_I64};
    for (int i = 0; i < 4; ++i) {
        case_release(c);
        case_note(c, "dtype %d", (int)list[i]);
        struct dp_group *group = open_group(c, 2);
        struct dp_slot **slots = first_slots(c, group, 2);
        const struct dp_tensor parts[] = {
            make_tensor(c, slots[0], list[i], 1, (size_t[]){3}, sequence(c, 3, -1.0, 1.0)),
            make_tensor(c, slots[1], list[i], 1, (size_t[]){1}, sequence(c, 1, 2.0, 1.0)),
        };
        const struct dp_tensor out = gather(c, parts, 2, 0, dp_group_host(group));
        expect(c, out.dtype == list[i], "dtype changed to %d", (int)out.dtype);
        expect_shape(c, "gathered", &out, 1, (size_t[]){4});
        expect_values(c, "gathered", &out, sequence(c, 4, -1.0, 1.0));
    }
}

/* A module whose outputs have other sizes than its shards: forward in order, and backward by the
 * sizes that were recorded, not by cutting again. Rows of 3 and 1 from shards of 3 and 3. */
static void recorded_sizes(struct context *c)
{
    struct dp_group *group = open_group(c, 2);
    struct dp_slot **slots = first_slots(c, group, 2);
    struct resize *plan;
    struct dp_module *resize = make_resize(c, group, &plan);
    plan->rows[0] = 3;
    plan->rows[1] = 1;
    struct dp_module *wrapper = make_parallel(
        c, resize, &(struct dp_parallel_config){.device_ids = slots, .n_device_ids = 2});
    struct dp_run *run = open_run(c, group);
    struct dp_tensor x = make_matrix(c, slots[0], 6, 1, sequence(c, 6, 1.0, 1.0));
    x.needs_grad = true;
    const struct dp_tensor y = forward(c, wrapper, run, &x);
    expect_matrix(c, "output", &y, slots[0], 4, 1, sequence(c, 4, 1.0, 1.0));
    const struct dp_tensor upstream = make_matrix(c, slots[0], 4, 1, sequence(c, 4, 10.0, 10.0));
    const struct dp_tensor dx = backward(c, wrapper, run, &upstream);
    expect_matrix(c, "input gradient", &dx, slots[0], 6, 1, (double[]){10, 20, 30, 40, 0, 0});
}

/* Two rows out per row in: 3, 3, 3, 1 rows become 6, 6, 6, 2. */
static void doubled_rows(struct context *c)
{
    for (int k = 1; k <= 8; ++k) {
        case_release(c);
        case_note(c, "K=%d", k);
        struct dp_group *group = open_group(c, k);
        struct dp_slot **slots = first_slots(c, group, k);
        struct resize *plan;
        struct dp_module *resize = make_resize(c, group, &plan);
        plan->multiple = 2;
        struct dp_module *wrapper = make_parallel(
            c, resize, &(struct dp_parallel_config){.device_ids = slots, .n_device_ids = k});
        struct dp_run *run = open_run(c, group);
        struct dp_tensor x = make_matrix(c, slots[0], 10, 2, sequence(c, 20, 1.0, 1.0));
        x.needs_grad = true;
        const struct dp_tensor upstream = make_matrix(c, slots[0], 20, 2, integers(c, 40, 5));
        const double *g = integers(c, 40, 5);
        double want[40], want_dx[20];
        for (size_t i = 0; i < 20; ++i) {
            const size_t row = i / 2, column = i % 2;
            want[4 * row + column] = (double)(i + 1);
            want[4 * row + 2 + column] = 2.0 * (double)(i + 1);
            want_dx[i] = g[4 * row + column] + 2.0 * g[4 * row + 2 + column];
        }
        const struct dp_tensor y = forward(c, wrapper, run, &x);
        expect_matrix(c, "output", &y, slots[0], 20, 2, want);
        const struct dp_tensor dx = backward(c, wrapper, run, &upstream);
        expect_matrix(c, "input gradient", &dx, slots[0], 10, 2, want_dx);
    }
}

static const struct test_case cases[] = {
    {"gather/order", "GATH-01 GATH-02 GATH-10 DEV-03", order},
    {"gather/columns", "DIM-01 GATH-02", columns},
    {"gather/scalars", "GATH-05 GATH-07 DIM-06", scalars},
    {"gather/mismatch", "GATH-03 GATH-07 ERR-03", mismatch},
    {"gather/nothing", "GATH-09", nothing},
    {"gather/host-parts", "GATH-09 ERR-01", host_parts},
    {"gather/needs-grad", "GRAD-09", needs_grad},
    {"gather/is-a-copy", "GATH-13", is_a_copy},
    {"gather/dtypes", "GATH-12", dtypes},
    {"gather/recorded-sizes", "GATH-02 GATH-04", recorded_sizes},
    {"gather/doubled-rows", "GATH-02 GATH-04 GRAD-07", doubled_rows},
};
const struct case_table gather_cases = {cases, sizeof cases / sizeof cases[0]};
