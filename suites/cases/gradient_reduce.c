/* gradient_reduce.c: reduce_add, the primitive that sums gradients. */
#include "golden.h"

#include "impls/words.h"

enum { TENSORS = 2, LISTS = 4 };
static const size_t vector[] = {3}, matrix[] = {2, 2};

/* Makes k lists of a vector and a matrix, list i on ids[i]; the numbers of list i begin at 4^i. */
static struct impl_array *lists(struct check *c, int k, const int ids[])
{
    struct impl_array *src = check_memory(c, (size_t)k * TENSORS * sizeof *src);
    double first = 1;

    for (int i = 0; i < k; ++i, first *= 4) {
        src[i * TENSORS] =
            *check_on(check_array(c, 1, vector, check_sequence(c, 3, first, 1)), ids[i]);
        src[i * TENSORS + 1] =
            *check_on(check_array(c, 2, matrix, check_sequence(c, 4, first, -2)), ids[i]);
    }
    return src;
}

static int reduce_reduce_all(struct check *c, const struct impl_array *src, int k, int device,
                             struct impl_array **sums)
{
    struct impl_reduce op = {.src = src,
                             .n = TENSORS,
                             .k = k,
                             .device = device,
                             .poke = -1,
                             .sums = check_output(c, TENSORS, 64)};

    *sums = op.sums;
    return check_try_reduce(c, &op);
}

static void is_right(struct check *c, int k, const int ids[], int device)
{
    struct impl_array *sums;
    double first = 0, power = 1;
    const int status = reduce_reduce_all(c, lists(c, k, ids), k, device, &sums);

    for (int i = 0; i < k; ++i, power *= 4)
        first += power;
    check_true(c, status == IMPL_OK, "reduce failed (%s): %s", impl_status_word(status),
               check_error(c)->text);
    golden_is_sequence(c, "sum of vectors", &sums[0], 1, vector, first, k);
    golden_is_sequence(c, "sum of matrices", &sums[1], 2, matrix, first, -2.0 * k);
}

/* The sum is made on any of the devices that hold a list. */
static void grad_reduce_values(struct check *c)
{
    for (int k = 1; k <= LISTS && k <= check_devices(c); ++k) {
        const int *ids = golden_ids(c, k);

        for (int i = 0; i < k; ++i) {
            check_note(c, "%d lists, to device %d: ", k, ids[i]);
            is_right(c, k, ids, ids[i]);
        }
    }
}

static void grad_reduce_shapes(struct check *c)
{
    static const size_t others[][2] = {{4, 0}, {2, 0}, {3, 1}, {1, 3}};
    const int k = golden_most(c, 4), *ids = golden_ids(c, k);
    struct impl_array *sums;

    for (int j = 0; j < 4; ++j) {
        struct impl_array *src = lists(c, k, ids);
        const int ndim = j < 2 ? 1 : 2;

        check_note(c, "%d lists, shape %d: ", k, j);
        src[(size_t)(k - 1) * TENSORS] =
            *check_on(check_array(c, ndim, others[j], check_sequence(c, 4, 1, 1)), ids[k - 1]);
        check_refused(c, "a sum of tensors of different shapes",
                      reduce_reduce_all(c, src, k, ids[0], &sums), GOLDEN_UNFIT);
        is_right(c, k, ids, ids[0]);
    }
}

static void grad_reduce_host(struct check *c)
{
    const int k = golden_most(c, 4), *ids = golden_ids(c, k);

    for (int i = 0; i < k; ++i) {
        struct impl_array *src = lists(c, k, ids), *sums;

        check_note(c, "%d lists, list %d on the host: ", k, i);
        for (int j = 0; j < TENSORS; ++j)
            src[i * TENSORS + j].device = IMPL_HOST;
        check_refused(c, "a sum of tensors on the host",
                      reduce_reduce_all(c, src, k, ids[k - 1 - i], &sums),
                      ALLOW(IMPL_EDEVICE) | ALLOW(IMPL_EINVAL));
        is_right(c, k, ids, ids[0]);
    }
}

/* The destination holds no list. */
static void grad_reduce_elsewhere(struct check *c)
{
    const int k = golden_most(c, check_devices(c) - 1), *ids = golden_ids(c, check_devices(c));
    struct impl_array *sums;

    check_note(c, "%d lists: ", k);
    check_refused(c, "a sum on a device that holds none of the tensors",
                  reduce_reduce_all(c, lists(c, k, ids), k, ids[k], &sums),
                  ALLOW(IMPL_EDEVICE) | ALLOW(IMPL_EINVAL));
    is_right(c, k, ids, ids[k - 1]);
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { REDUCE = IMPL_CAP_REDUCE };

static const struct check_case cases[] = {
    {"GRAD-15.values", "GRAD-15", MUST, OBSERVED, PRIM, REDUCE, 1, grad_reduce_values},
    {"GRAD-15.shapes", "GRAD-15", MUST_REFUSE, OBSERVED, PRIM, REDUCE, 2, grad_reduce_shapes},
    {"GRAD-15.host", "GRAD-15", MUST_REFUSE, OBSERVED, PRIM, REDUCE, 2, grad_reduce_host},
    {"GRAD-15.elsewhere", "GRAD-15", MUST_REFUSE, OBSERVED, PRIM, REDUCE, 2, grad_reduce_elsewhere},
};
const struct check_table gradient_reduce_table = CHECK_TABLE(cases);
