/* tensor.h: shapes; blocks that tensors of a module share; the bump stacks of a run. For core/
 * only. */
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

/* Returns where the next tensor of this type starts after offset bytes, and adds its size to
 * *offset. */
size_t dp_layout_add(size_t *offset, const struct dp_tensor *tensor);

/* ---- memory.c ---------------------------------------------------------------------------- */

/* Allocates counted memory on a slot. dp_slot_give gets the same number of bytes back. Any thread
 * may call them. */
int dp_slot_take(struct dp_slot *slot, size_t bytes, void **memory, struct dp_error *err);
void dp_slot_give(struct dp_slot *slot, void *memory, size_t bytes);

/* One allocation on a slot, freed with its last reference. */
struct dp_block {
    struct dp_slot *slot;
    void *memory;
    size_t bytes;
    int refs;
};
int dp_block_open(struct dp_slot *slot, size_t bytes, struct dp_block **block,
                  struct dp_error *err);
void dp_block_release(struct dp_block *block); /* waits for the slot if last; NULL is allowed */

/* Memory of one step on one slot. It is taken from the top, freed all at once, and kept for the
 * next step. Chunks are never moved, so tensors keep their place. Nothing may use the memory any
 * more when dp_stack_close is called. */
struct dp_chunk {
    struct dp_chunk *next;
    void *memory;
    size_t bytes, used;
};
struct dp_stack {
    struct dp_slot *slot;
    struct dp_chunk *first, *current;
    size_t wanted; /* least size of the first chunk */
};
int dp_stack_take(struct dp_stack *stack, size_t bytes, void **memory, struct dp_error *err);
void dp_stack_reset(struct dp_stack *stack);
void dp_stack_close(struct dp_stack *stack);

/* Sets *product to a * b; returns false on overflow. */
bool dp_multiply(size_t a, size_t b, size_t *product);

#endif
