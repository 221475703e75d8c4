/* containers.h: containers around core's: what `parallel` runs, and its functional form. */
#ifndef REFERENCE_CONTAINERS_H
#define REFERENCE_CONTAINERS_H

#include "reference.h"

/* Children in order by dp_sequential, none at all is allowed. watched: says in the world's trace
 * who ran it; dim is the one that was cut. */
int passage_open(struct world *world, struct dp_module *const children[], int n, bool watched,
                 int dim, struct dp_module **module, struct dp_error *err);

/* dp_data_parallel around a module, anew in each forward. */
int functional_open(struct world *world, struct dp_module *child,
                    const struct dp_parallel_config *config, struct dp_module **module,
                    struct dp_error *err);

#endif
