/* onednn.h: products of a group's slots by oneDNN. */
#ifndef DP_ONEDNN_H
#define DP_ONEDNN_H

#include "../backend.h"

/* Until dp_onednn_close every slot and the host make large products by it, if it is here and has
 * kernels for this CPU that are faster. Else the backend's products are CBLAS's; of one that has
 * oneDNN only, DP_EINVAL. */
int dp_onednn_open(struct dp_group *group, struct dp_error *err);
void dp_onednn_close(struct dp_group *group);

#endif
