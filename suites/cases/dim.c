/* dim.c: area DIM: batches that do not lie on dimension 0. */
#include "dim.h"
#include "golden.h"

const char *dim_option(struct check *c, int dim)
{
    return check_text(c, "\"dim\":%d,", dim);
}

size_t dim_elements(const struct dim_shape *shape)
{
    size_t n = 1;

    for (int d = 0; d < shape->ndim; ++d)
        n *= shape->dim[d];
    return n;
}

struct impl_array *dim_counted(struct check *c, const struct dim_shape *shape)
{
    return check_needs_grad(
        check_array(c, shape->ndim, shape->dim, check_sequence(c, dim_elements(shape), 1, 1)));
}
