/* error_shape.c: area ERR: shapes that do not fit together. */
#include "golden.h"

enum { N = 10, ROOM = 16384 };

static int shape_try_rows(struct check *c, struct impl_model *model, size_t n)
{
    struct impl_array *x = check_counted(c, n, 1, 1);

    return check_try_one(c, model, check_needs_grad(x), true, true);
}

/* ---- ERR-03, -05: shapes that do not fit ----------------------------------------------------- */

/* The outputs of the replicas differ in a dimension other than 0: in the first, the last, or
 * any. */
static void error_outputs_clash(struct check *c, int k)
{
    static const char *const columns[] = {"2,3", "3,2", "2,2,3", "2,3,2", "4,4,4,1"};

    for (size_t form = 0; form < sizeof columns / sizeof columns[0]; ++form) {
        const int commas = form < 2 ? 1 : form < 4 ? 2 : 3;
        struct impl_model *model;
        if (commas + 1 > k)
            continue;
        check_note(c, "K=%d, outputs of %s columns: ", k, columns[form]);
        model =
            check_parallel(c, k, mixed_ids(k), "",
                           check_text(c, "{\"kind\":\"widen\",\"columns\":[%s]}", columns[form]));
        check_refused(c, "a gather of different columns", shape_try_rows(c, model, N),
                      ALLOW(IMPL_ESHAPE));
        golden_works(c, k);
    }
}

static void error_parts_clash(struct check *c)
{
    static const struct {
        int ndim[2];
        size_t dim[2][3];
    } forms[] = {{{2, 2}, {{4, 3}, {4, 5}}},
                 {{3, 3}, {{2, 3, 2}, {2, 2, 3}}},
                 {{2, 1}, {{4, 1}, {4}}},
                 {{1, 2}, {{6}, {2, 3}}}};
    const double *x = check_integers(c, 32, 79);

    for (size_t form = 0; form < sizeof forms / sizeof forms[0]; ++form)
        for (int n = 2; n <= 3 && n <= check_devices(c); ++n) {
            struct impl_array *parts = check_memory(c, (size_t)n * sizeof *parts);
            struct impl_gather op = {.parts = parts, .n = n, .dim = 0, .device = 0};
            check_note(c, "form %zu, part %d of %d differs: ", form, n - 1, n);
            for (int p = 0; p < n; ++p) {
                const int which = p == n - 1;
                parts[p] =
                    *check_on(check_array(c, forms[form].ndim[which], forms[form].dim[which], x),
                              mixed_ids(n)[p]);
            }
            op.out = check_output(c, 1, ROOM);
            check_refused(c, "a gather of parts that do not fit", check_try_gather(c, &op),
                          ALLOW(IMPL_ESHAPE) | ALLOW(IMPL_EINVAL));
            op.n = n - 1; /* the others fit */
            check_gather(c, &op);
        }
}

/* Lists to be added have tensors of different sizes, in the first or the last tensor of any
 * list. */
static void error_summands_clash(struct check *c, int k)
{
    enum { TENSORS = 3 };

    for (int odd = 0; odd < k * TENSORS; ++odd) {
        struct impl_array *src = check_memory(c, (size_t)(k * TENSORS) * sizeof *src);
        struct impl_reduce op = {
            .src = src, .n = TENSORS, .k = k, .device = mixed_ids(k)[0], .poke = -1};
        check_note(c, "K=%d, list %d tensor %d: ", k, odd / TENSORS, odd % TENSORS);
        for (int t = 0; t < k * TENSORS; ++t) {
            const size_t n = 2 + (size_t)(t % TENSORS) + (t == odd ? 1 : 0);
            src[t] = *check_on(check_vector(c, n, check_integers(c, n, (uint64_t)t)),
                               mixed_ids(k)[t / TENSORS]);
        }
        op.sums = check_output(c, TENSORS, ROOM);
        check_refused(c, "a sum of different sizes", check_try_reduce(c, &op),
                      ALLOW(IMPL_ESHAPE) | ALLOW(IMPL_EINVAL));
        op.k = 1; /* a single list fits */
        check_reduce(c, &op);
    }
}

/* Makes tensor t of a list. Forms 0 and 1 are one tensor, transposed in the last list; form 2 is
 * two vectors of two sizes, swapped in the last list. */
static struct impl_array *shaped(struct check *c, int form, int t, bool last)
{
    static const size_t dim[2][2][2] = {{{2, 3}, {3, 2}}, {{1, 4}, {4, 1}}};
    const double *x = check_integers(c, 8, 65);

    if (form < 2)
        return check_array(c, 2, dim[form][last ? 1 : 0], x);
    return check_vector(c, (t == 1) != last ? 3 : 2, x);
}

/* The lists have as many elements in all, but not the same shapes. */
static void error_shapes_clash(struct check *c, int k)
{
    for (int form = 0; form < 3; ++form) {
        const int n = form == 2 ? 2 : 1;
        struct impl_array *src = check_memory(c, (size_t)(k * n) * sizeof *src);
        struct impl_reduce op = {.src = src, .n = n, .k = k, .device = mixed_ids(k)[0], .poke = -1};
        check_note(c, "K=%d, form %d: ", k, form);
        for (int t = 0; t < k * n; ++t)
            src[t] = *check_on(shaped(c, form, t % n, t / n == k - 1), mixed_ids(k)[t / n]);
        op.sums = check_output(c, n, ROOM);
        check_refused(c, "a sum of different shapes", check_try_reduce(c, &op),
                      ALLOW(IMPL_ESHAPE) | ALLOW(IMPL_EINVAL));
        op.k = k - 1; /* the others fit */
        check_reduce(c, &op);
    }
}

static const struct check_case cases[] = {
    {"ERR-03.outputs", "ERR-03", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     .each = error_outputs_clash},
    {"ERR-03.parts", "ERR-03", MUST_REFUSE, OBSERVED, PRIM, IMPL_CAP_GATHER, 2, error_parts_clash},
    {"ERR-05.sizes", "ERR-05", MUST_REFUSE, OBSERVED, PRIM, IMPL_CAP_REDUCE, 2,
     .each = error_summands_clash},
    {"ERR-05.shapes", "ERR-05", MUST_REFUSE, OBSERVED, PRIM, IMPL_CAP_REDUCE, 2,
     .each = error_shapes_clash},
};
const struct check_table error_shape_table = CHECK_TABLE(cases);
