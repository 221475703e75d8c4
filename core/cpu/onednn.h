/* onednn.h: products of the slots of a group by oneDNN. */
#ifndef DP_ONEDNN_H
#define DP_ONEDNN_H

#include "../backend.h"

/* From here until dp_onednn_close every slot and the host make large products by oneDNN, if it
 * exists and has faster kernels for this CPU. Otherwise CBLAS makes them; a backend that needs
 * oneDNN is DP_EINVAL then. */
int dp_onednn_open(struct dp_group *group, struct dp_error *err);
void dp_onednn_close(struct dp_group *group);

#endif
