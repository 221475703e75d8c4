/* measure/pair.h: a model and its loss as one module, as DistributedDataParallel wraps them: the
 * worker of each rank runs both. */
#ifndef HARNESS_PAIR_H
#define HARNESS_PAIR_H

#include "dp.h"

/* Inputs of the pair are a batch, and the other input of the loss (targets, or factors), for which
 * there is no gradient. Outputs are the loss, and the outputs of the model. The rank of replica r
 * is on slot r of group, where the loss counts as phase LOSS. The pair retains model and loss; the
 * caller closes all three. */
int pair_open(struct dp_group *group, struct dp_module *model, struct dp_module *loss,
              struct dp_module **pair, struct dp_error *err);

#endif
