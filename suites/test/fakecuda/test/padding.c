/* padding.c: dp_kernel_clear_padding clears what the compiler says is padding, and nothing else.
 *
 * Arguments of launches that are held back are compared as bytes, and launched from their copy: a
 * field taken for padding would be lost, padding taken for a field would make equal launches
 * differ. GCC can say what padding is; with another compiler the test is skipped. */
#include "../../../../core/cuda/launch.h"

#include <stdio.h>
#include <string.h>

#if __has_builtin(__builtin_clear_padding)
#define KNOWN            true
#define CLEAR(arguments) __builtin_clear_padding(arguments)
#else
#define KNOWN            false
#define CLEAR(arguments) (void)(arguments)
#endif

#define WHOLE(type)            type
#define TAIL(type, last)       type
#define GAP(type, field, next) type

#define MEMBER(number, name, cpu, gpu, words, arguments) struct arguments name;
union any {
    DP_KERNEL_LIST(MEMBER)
    unsigned char bytes[1024];
};

#define CLEAR_ONE(number, name, cpu, gpu, words, arguments)                                        \
    static void clear_##name(union any *a)                                                         \
    {                                                                                              \
        CLEAR(&a->name);                                                                           \
    }
DP_KERNEL_LIST(CLEAR_ONE)

#define CLEARER(number, name, cpu, gpu, words, arguments) [DP_KERNEL_##number] = clear_##name,
static void (*const clear[DP_KERNELS])(union any *) = {DP_KERNEL_LIST(CLEARER)};

int main(void)
{
    int differ = 0, cleared = 0;
    for (int kernel = 0; KNOWN && kernel < DP_KERNELS; ++kernel) {
        union any want, got;
        memset(&want, 0xff, sizeof want);
        memset(&got, 0xff, sizeof got);
        clear[kernel](&want);
        dp_kernel_clear_padding((enum dp_kernel)kernel, &got);
        for (size_t i = 0; i < sizeof want; ++i) {
            cleared += want.bytes[i] == 0;
            if (want.bytes[i] == got.bytes[i])
                continue;
            printf("kernel %d: byte %zu of its arguments is %s\n", kernel, i,
                   want.bytes[i] ? "a field's, and was cleared" : "padding, and was not cleared");
            ++differ;
        }
    }
    printf("%d bytes of padding, %d wrong\n", cleared, differ);
    if (!KNOWN)
        return 77;
    return differ > 0 || cleared == 0;
}
