/* kernels.c: the sizes of types, and which bytes of kernel arguments belong to no field. */
#include "kernels.h"

#include <string.h>

struct gap {
    size_t from, to;
};

#define END(type, field)       (offsetof(struct type, field) + sizeof((struct type *)0)->field)
#define WHOLE(type)            0, 0
#define TAIL(type, last)       END(type, last), sizeof(struct type)
#define GAP(type, field, next) END(type, field), offsetof(struct type, next)

/* A struct has at most one such gap. fakecuda/test/padding.c asks the compiler that these are all.
 */
#define ROW(number, name, cpu, gpu, words, arguments) [DP_KERNEL_##number] = {arguments},
static const struct gap gaps[DP_KERNELS] = {DP_KERNEL_LIST(ROW)};

void dp_kernel_clear_padding(enum dp_kernel kernel, void *args)
{
    const struct gap *gap = &gaps[kernel];
    memset((char *)args + gap->from, 0, gap->to - gap->from);
}

size_t dp_dtype_bytes(enum dp_dtype dtype)
{
    static const size_t bytes[] = {
        [DP_F32] = sizeof(float), [DP_F64] = 8, [DP_I32] = 4, [DP_I64] = 8, [DP_BF16] = 2};
    return bytes[dtype];
}
