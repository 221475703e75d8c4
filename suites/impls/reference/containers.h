/* containers.h: containers around those of core: the inside of `parallel`, and its functional
 * form. */
#ifndef REFERENCE_CONTAINERS_H
#define REFERENCE_CONTAINERS_H

#include "reference.h"

/* Opens the children of a layer, in order or in reverse order, by dp_sequential; there may be none.
 * watched: it writes into the trace of the world which replica ran it. */
int passage_open(struct world *world, const struct layer *layer, struct dp_module *const children[],
                 bool watched, struct dp_module **module, struct dp_error *err);

/* Opens a module that calls dp_data_parallel around another one, anew in each forward. */
int functional_open(struct world *world, struct dp_module *child,
                    const struct dp_parallel_config *config, struct dp_module **module,
                    struct dp_error *err);

#endif
