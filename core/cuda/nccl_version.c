/* nccl_version.c: the text of an NCCL version, and which versions are too old. */
#include "nccl_call.h"

#include <stdio.h>

/* 22809 is 2.28.9; before 2.9, 2804 was 2.8.4. */
void dp_nccl_version_text(int version, char *text, size_t bytes)
{
    const int unit = version < 10000 ? 1000 : 10000;
    snprintf(text, bytes, "%d.%d.%d", version / unit, version % unit / 100, version % 100);
}

int dp_nccl_check_version(int version, struct dp_error *err)
{
    char text[32];
    dp_nccl_version_text(version, text, sizeof text);
    if (version < DP_NCCL_OLDEST)
        return dp_fail(err, DP_ENOTSUP,
                       "NCCL %s is too old: 2.14 is the first with communicators that do not block",
                       text);
    return 0;
}
