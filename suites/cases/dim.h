/* dim.h: the cases of area DIM; their table is in dim.c. */
#ifndef CASES_DIM_H
#define CASES_DIM_H

#include "check.h"

/* "dim": 1, */
const char *dim_option(struct check *c, int dim);

struct dim_shape {
    int ndim;
    size_t dim[3];
    int cut; /* the dimension to cut */
};
size_t dim_elements(const struct dim_shape *shape);
/* 1, 2, .. in this shape; needs a gradient. */
struct impl_array *dim_counted(struct check *c, const struct dim_shape *shape);

/* dim_values.c: what must come out */
void dim_columns(struct check *c);
void dim_two_wrapped(struct check *c);
void dim_column_means(struct check *c);
void dim_sizes_seen(struct check *c);
void dim_all_arrays(struct check *c);
void dim_values(struct check *c);
void dim_training(struct check *c);
void dim_layers_cut(struct check *c);
void dim_layers_seen(struct check *c);
void dim_same_rank(struct check *c);
void dim_mixed_refused(struct check *c);
void dim_mixed_accepted(struct check *c);

/* dim_misfit.c: arrays that do not have the dimension, or not where it is meant */
void dim_glued(struct check *c);
void dim_not_glued(struct check *c);
void dim_dropped_rows(struct check *c);
void dim_missing_dimension(struct check *c);
void dim_missing_in_second(struct check *c);
void dim_scalars_vector(struct check *c);
void dim_scalars_refused(struct check *c);

#endif
