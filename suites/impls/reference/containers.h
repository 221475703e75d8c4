/* containers.h: containers around core's: what `parallel` runs, and its functional form. */
#ifndef REFERENCE_CONTAINERS_H
#define REFERENCE_CONTAINERS_H

#include "reference.h"

/* The layer's children, in order or turned round, by dp_sequential; none at all is allowed.
 * watched: says in the world's trace who ran it. */
int passage_open(struct world *world, const struct layer *layer, struct dp_module *const children[],
                 bool watched, struct dp_module **module, struct dp_error *err);

/* dp_data_parallel around a module, anew in each forward. */
int functional_open(struct world *world, struct dp_module *child,
                    const struct dp_parallel_config *config, struct dp_module **module,
                    struct dp_error *err);

#endif
