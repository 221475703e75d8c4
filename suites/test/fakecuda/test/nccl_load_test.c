/* nccl_load_test.c: what is said where NCCL cannot be used.
 *
 *   lockstep-nccl-load-test WORDS...      in LD_LIBRARY_PATH is what is called NCCL
 *
 * Exits 0 when it is refused in one line that has all of the words, else 1 with what was said. */
#include "../../../../core/cuda/nccl_call.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct dp_nccl_call call;
    struct dp_error err = {0};
    int version = 0;
    const int status = dp_nccl_load(&call, &version, &err);

    for (int i = 1; i < argc && status == DP_ENOTSUP && strstr(err.text, argv[i]); ++i)
        if (i + 1 == argc && !strchr(err.text, '\n'))
            return 0;
    printf("status %d, version %d: %s\n", status, version, err.text);
    return 1;
}
