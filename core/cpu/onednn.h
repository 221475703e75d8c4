/* onednn.h: products of a group's slots by oneDNN, for backend cpu-onednn. */
#ifndef DP_ONEDNN_H
#define DP_ONEDNN_H

#include "../backend.h"

/* DP_EINVAL: it is not here. Until dp_onednn_close every slot and the host make products by it. */
int dp_onednn_open(struct dp_group *group, struct dp_error *err);
void dp_onednn_close(struct dp_group *group);

#endif
