/* onednn_absent.c: this build has no oneDNN. */
#include "products.h"

#include "../backend.h"

const bool dp_onednn_is_built = false;

int dp_onednn_open(struct dp_group *group, struct dp_error *err)
{
    return group->backend->onednn != DP_ONEDNN_ONLY
               ? 0
               : dp_fail(err, DP_EINVAL, "backend %s: this build has no oneDNN",
                         group->backend->name);
}

void dp_onednn_close(struct dp_group *group)
{
    (void)group;
}
