/* tensor.h: helpers for shapes, for core/ only. */
#ifndef DP_TENSOR_H
#define DP_TENSOR_H

#include "backend.h"

#define DP_SHAPE_TEXT 112 /* DP_MAX_DIMS numbers of 20 digits, and separators */

/* Makes a tensor without memory. Errors: DP_EINVAL for too many dimensions, or if the size
 * overflows. */
int dp_tensor_shape(struct dp_slot *slot, enum dp_dtype dtype, int ndim, const size_t dim[],
                    struct dp_tensor *tensor, struct dp_error *err);

/* Writes "(30, 5)"; returns text. */
const char *dp_shape_text(const struct dp_tensor *tensor, char text[DP_SHAPE_TEXT]);

/* Compares type and dimensions; the slots may differ. */
bool dp_same_shape(const struct dp_tensor *a, const struct dp_tensor *b);

/* Negative dims count from the end. Errors: DP_EINVAL if dim is out of range. */
int dp_dim_wrap(const char *what, int dim, int ndim, int *wrapped, struct dp_error *err);

/* Returns the copy of piece from (or to) its place in whole, which begins at first along dim. */
struct dp_copy dp_piece_copy(const struct dp_tensor *whole, const struct dp_tensor *piece, int dim,
                             size_t first, bool to_piece);

#endif
