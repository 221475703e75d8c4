/* copies_broken.c: the program, with copies of 4098 bytes from the first device to the second one
 * that bring the bytes of a wrong place (BROKEN_COPIES=shifted), or what the first one keeps to
 * itself (other). +fault cannot plant these. */
#include <stdlib.h>
#include <string.h>

#include "ddp.h"

enum { BYTES = 4098 };

int __real_dp_tensor_copy(const struct dp_tensor *dst, const struct dp_tensor *src,
                          struct dp_error *err);
int __wrap_dp_tensor_copy(const struct dp_tensor *dst, const struct dp_tensor *src,
                          struct dp_error *err);
int __real_dp_collective_run(struct dp_group *group, enum dp_collective_kind kind, int root,
                             const struct dp_tensor in[], const struct dp_tensor out[],
                             struct dp_error *err);
int __wrap_dp_collective_run(struct dp_group *group, enum dp_collective_kind kind, int root,
                             const struct dp_tensor in[], const struct dp_tensor out[],
                             struct dp_error *err);

static bool breaks(const char *how)
{
    return strcmp(getenv("BROKEN_COPIES"), how) == 0;
}

int __wrap_dp_tensor_copy(const struct dp_tensor *dst, const struct dp_tensor *src,
                          struct dp_error *err)
{
    struct dp_slot_info from, to;
    struct dp_tensor moved = *src;

    dp_slot_describe(src->slot, &from);
    dp_slot_describe(dst->slot, &to);
    if (breaks("shifted") && dp_tensor_bytes(src) == BYTES && from.index == 0 && to.index == 1)
        moved.data = (char *)moved.data + 8;
    return __real_dp_tensor_copy(dst, &moved, err);
}

int __wrap_dp_collective_run(struct dp_group *group, enum dp_collective_kind kind, int root,
                             const struct dp_tensor in[], const struct dp_tensor out[],
                             struct dp_error *err)
{
    const size_t rows = dp_tensor_count(&in[0]) / (size_t)dp_group_size(group);
    struct dp_tensor kept, wrong;
    char bytes[BYTES];
    int status = __real_dp_collective_run(group, kind, root, in, out, err);

    if (status || !breaks("other") || rows * 2 != BYTES)
        return status;
    if ((status = dp_tensor_rows(&in[0], 0, rows, &kept, err)) ||
        (status = dp_tensor_rows(&out[1], 0, rows, &wrong, err)) ||
        (status = dp_tensor_read(bytes, &kept, err)))
        return status;
    return dp_tensor_write(&wrong, bytes, err);
}
