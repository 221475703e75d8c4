/* gather.c: concatenation of parts: which are refused, and that the result is a copy. */
#include "list.h"

/* Returns parts with these rows on these slots; the numbers of the rows go on from part to part. */
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

static const struct test_case cases[] = {
    {"gather/scalars", "GATH-05 GATH-07 DIM-06", scalars},
    {"gather/mismatch", "GATH-03 GATH-07 ERR-03", mismatch},
    {"gather/nothing", "GATH-09", nothing},
    {"gather/host-parts", "GATH-09 ERR-01", host_parts},
    {"gather/needs-grad", "GRAD-09", needs_grad},
    {"gather/is-a-copy", "GATH-13", is_a_copy},
    {"gather/dtypes", "GATH-12", dtypes},
};
const struct case_table gather_cases = {cases, sizeof cases / sizeof cases[0]};
