/* coalesce_lists.c: lists of tensors of mixed types, and their sums. */
#include "coalesce.h"

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

struct impl_array *coalesce_make(struct check *c, const struct kind kinds[], int n, uint64_t seed,
                                 int device)
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

struct impl_array *coalesce_room(struct check *c, const struct kind kinds[], int n, int count)
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

struct impl_array *coalesce_sums(struct check *c, const struct kind kinds[], int n, int k,
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

void coalesce_add_one(struct impl_array *array)
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
