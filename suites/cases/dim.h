/* dim.h: the inputs of area DIM, and its tables. */
#ifndef CASES_DIM_H
#define CASES_DIM_H

#include "check.h"

/* Returns "dim": 1, for example. */
const char *dim_option(struct check *c, int dim);

struct dim_shape {
    int ndim;
    size_t dim[3];
    int cut; /* the dimension to cut */
};
size_t dim_elements(const struct dim_shape *shape);
/* Returns an array 1, 2, .. in this shape, which needs a gradient. */
struct impl_array *dim_counted(struct check *c, const struct dim_shape *shape);

#endif
