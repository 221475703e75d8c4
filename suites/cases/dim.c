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

enum { DP = PROFILE_DATAPARALLEL, PARALLEL = IMPL_CAP_PARALLEL };

/* id, rule, obligation, evidence, profiles, needs, devices, run, limit, dialect, choice */
static const struct check_case cases[] = {
    {"DIM-01.columns", "DIM-01", MUST, OBSERVED, DP, PARALLEL, 1, dim_columns, 0, 0, 0},
    {"DIM-01.means", "DIM-01", MUST, OBSERVED, DP, PARALLEL, 1, dim_column_means, 0, 0, 0},
    {"DIM-01.two_wrapped", "DIM-01", MUST, OBSERVED, DP, PARALLEL, 1, dim_two_wrapped, 0, 0, 0},
    {"DIM-01.sizes", "DIM-01", MUST, OBSERVED, DP, PARALLEL, 1, dim_sizes_seen, 0, 0, 0},
    {"DIM-01.all_arrays", "DIM-01", MUST, OBSERVED, DP, PARALLEL, 1, dim_all_arrays, 0, 0, 0},
    {"DIM-02.glued", "DIM-02", MUST, OBSERVED, DP, PARALLEL, 2, dim_glued, 0, 0, 0},
    {"DIM-02.unequal", "DIM-02", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, dim_not_glued, 0, 0, 0},
    {"DIM-02.dropped_rows", "DIM-02", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, dim_dropped_rows, 0,
     0, 0},
    {"DIM-03.layers", "DIM-03", MUST, OBSERVED, DP, PARALLEL, 2, dim_layers_cut, 0, 0, 0},
    {"DIM-03.sizes", "DIM-03", MUST, OBSERVED, DP, PARALLEL, 2, dim_layers_seen, 0, 0, 0},
    {"DIM-04.missing", "DIM-04", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, dim_missing_dimension, 0,
     0, 0},
    {"DIM-04.second_input", "DIM-04", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, dim_missing_in_second,
     0, 0, 0},
    {"DIM-05.values", "DIM-05", MUST, OBSERVED, DP, PARALLEL, 1, dim_values, 0, 0, 0},
    {"DIM-05.training", "DIM-05", MUST, OBSERVED, DP, PARALLEL, 1, dim_training, 0, 0, 0},
    {"DIM-06.vector", "DIM-06", MUST, OBSERVED, DP, PARALLEL, 2, dim_scalars_vector, 0, 0, 0},
    {"DIM-06.refused", "DIM-06", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, dim_scalars_refused, 0, 0,
     0},
    {"DIM-07.same_rank", "DIM-07", MUST, OBSERVED, DP, PARALLEL, 1, dim_same_rank, 0, 0, 0},
    {"DIM-07.refused", "DIM-07", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, dim_mixed_refused, 0,
     IMPL_MIXED_RANKS, IMPL_REFUSE},
    {"DIM-07.accepted", "DIM-07", MUST, OBSERVED, DP, PARALLEL, 2, dim_mixed_accepted, 0,
     IMPL_MIXED_RANKS, IMPL_ACCEPT},
};

const struct check_area area_dim = {"DIM", 7, cases, sizeof cases / sizeof cases[0], NULL, 0};
