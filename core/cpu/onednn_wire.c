/* onednn_wire.c: the module lockstep-onednn.so, the only thing that is compiled with oneDNN. */
#include "products.h"

#include <dnnl.h>
#include <stdlib.h>
#include <string.h>

/* Of OpenMP, by which oneDNN's threads are. They are the calling thread's own numbers. */
int omp_get_max_threads(void);
void omp_set_num_threads(int n);

enum {
    SHAPES = 256,              /* of a slot, a power of two; products of more go elsewhere */
    LEAST_MULTIPLIES = 1 << 18 /* of a product: what a call of oneDNN costs is lost in that */
};

/* A shape that was asked for; primitive NULL: oneDNN has nothing good for it. */
struct shape {
    bool used;
    struct dp_gemm like; /* without pointers */
    dnnl_primitive_t primitive;
    dnnl_memory_t a, b, c, scratch;
};

struct products {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    void *scratch;
    size_t scratch_bytes;
    struct shape shape[SHAPES];
};

/* ---- what differs between versions --------------------------------------------------------- */

struct layout {
    dnnl_dims_t dims, strides;
};

static struct layout layout_of(size_t rows, size_t cols, bool transposed)
{
    const dnnl_dim_t r = (dnnl_dim_t)rows, c = (dnnl_dim_t)cols;
    return (struct layout){{r, c}, {transposed ? 1 : c, transposed ? r : 1}};
}

#if DNNL_VERSION_MAJOR < 3
static bool fail_sum(dnnl_post_ops_t ops)
{
    return dnnl_post_ops_append_sum(ops, 1.0f) != dnnl_success;
}

static bool fail_to_choose(dnnl_engine_t engine, const struct layout layout[3],
                           dnnl_primitive_attr_t attr, dnnl_primitive_desc_t *chosen)
{
    dnnl_memory_desc_t memory[3];
    dnnl_matmul_desc_t product;
    bool failed = false;
    for (int i = 0; i < 3 && !failed; ++i)
        failed = dnnl_memory_desc_init_by_strides(&memory[i], 2, layout[i].dims, dnnl_f32,
                                                  layout[i].strides) != dnnl_success;
    return failed || dnnl_matmul_desc_init(&product, &memory[0], &memory[1], NULL, &memory[2]) ||
           dnnl_primitive_desc_create(chosen, &product, attr, engine, NULL);
}
#else
static bool fail_sum(dnnl_post_ops_t ops)
{
    return dnnl_post_ops_append_sum(ops, 1.0f, 0, dnnl_data_type_undef) != dnnl_success;
}

static bool fail_to_choose(dnnl_engine_t engine, const struct layout layout[3],
                           dnnl_primitive_attr_t attr, dnnl_primitive_desc_t *chosen)
{
    dnnl_memory_desc_t memory[3] = {NULL};
    bool failed = false;
    for (int i = 0; i < 3 && !failed; ++i)
        failed = dnnl_memory_desc_create_with_strides(&memory[i], 2, layout[i].dims, dnnl_f32,
                                                      layout[i].strides) != dnnl_success;
    failed = failed || dnnl_matmul_primitive_desc_create(chosen, engine, memory[0], memory[1], NULL,
                                                         memory[2], attr);
    for (int i = 0; i < 3; ++i)
        dnnl_memory_desc_destroy(memory[i]);
    return failed;
}
#endif

/* ---- a shape ------------------------------------------------------------------------------- */

/* float32 stays float32, also where the environment allows less; its memory is ours. */
static bool fail_attributes(bool accumulate, dnnl_primitive_attr_t *attr)
{
    dnnl_post_ops_t ops = NULL;
    bool failed = dnnl_primitive_attr_create(attr) != dnnl_success;
    failed = failed || dnnl_primitive_attr_set_fpmath_mode(*attr, dnnl_fpmath_mode_strict) ||
             dnnl_primitive_attr_set_scratchpad_mode(*attr, dnnl_scratchpad_mode_user);
    if (failed || !accumulate)
        return failed;
    failed =
        dnnl_post_ops_create(&ops) || fail_sum(ops) || dnnl_primitive_attr_set_post_ops(*attr, ops);
    dnnl_post_ops_destroy(ops);
    return failed;
}

/* Its kernels for small blocks are what is faster than CBLAS; else it calls a product of its own.
 */
static bool is_good(dnnl_primitive_desc_t chosen)
{
    const char *name = NULL;
    return !dnnl_primitive_desc_query(chosen, dnnl_query_impl_info_str, 0, &name) && name &&
           strncmp(name, "brg", 3) == 0;
}

static bool make_room(struct products *all, size_t bytes)
{
    void *more = NULL;
    if (bytes <= all->scratch_bytes)
        return true;
    if (posix_memalign(&more, 4096, bytes) != 0)
        return false;
    free(all->scratch);
    all->scratch = more;
    all->scratch_bytes = bytes;
    return true;
}

static bool fail_memories(struct products *all, struct shape *shape, dnnl_primitive_desc_t chosen)
{
    const struct {
        dnnl_query_t what;
        dnnl_memory_t *memory;
    } wanted[] = {{dnnl_query_src_md, &shape->a},
                  {dnnl_query_weights_md, &shape->b},
                  {dnnl_query_dst_md, &shape->c},
                  {dnnl_query_scratchpad_md, &shape->scratch}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
        if (dnnl_memory_create(wanted[i].memory,
                               dnnl_primitive_desc_query_md(chosen, wanted[i].what, 0), all->engine,
                               DNNL_MEMORY_NONE))
            return true;
    }
    return !make_room(all, dnnl_memory_desc_get_size(
                               dnnl_primitive_desc_query_md(chosen, dnnl_query_scratchpad_md, 0)));
}

static void close_shape(struct shape *shape)
{
    dnnl_primitive_destroy(shape->primitive);
    dnnl_memory_destroy(shape->a);
    dnnl_memory_destroy(shape->b);
    dnnl_memory_destroy(shape->c);
    dnnl_memory_destroy(shape->scratch);
    shape->primitive = NULL;
    shape->a = shape->b = shape->c = shape->scratch = NULL;
}

static void open_shape(struct products *all, struct shape *shape)
{
    const struct dp_gemm *g = &shape->like;
    const struct layout layout[3] = {layout_of(g->m, g->k, g->transpose_a),
                                     layout_of(g->k, g->n, g->transpose_b),
                                     layout_of(g->m, g->n, false)};
    dnnl_primitive_attr_t attr = NULL;
    dnnl_primitive_desc_t chosen = NULL;
    if (fail_attributes(g->accumulate, &attr) ||
        fail_to_choose(all->engine, layout, attr, &chosen) || !is_good(chosen) ||
        fail_memories(all, shape, chosen) || dnnl_primitive_create(&shape->primitive, chosen))
        close_shape(shape);
    dnnl_primitive_desc_destroy(chosen);
    dnnl_primitive_attr_destroy(attr);
}

/* ---- the table ----------------------------------------------------------------------------- */

static bool is_like(const struct dp_gemm *a, const struct dp_gemm *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k && a->transpose_a == b->transpose_a &&
           a->transpose_b == b->transpose_b && a->accumulate == b->accumulate;
}

/* NULL: there are too many. */
static struct shape *find(struct products *all, const struct dp_gemm *g)
{
    const size_t flags =
        (g->transpose_a ? 1u : 0) + (g->transpose_b ? 2u : 0) + (g->accumulate ? 4u : 0);
    const size_t hash = (((g->m * 31 + g->n) * 31 + g->k) * 8 + flags) * 0x9e3779b97f4a7c15u >> 32;
    for (size_t i = 0; i < SHAPES; ++i) {
        struct shape *shape = &all->shape[(hash + i) % SHAPES];
        if (shape->used && is_like(&shape->like, g))
            return shape;
        if (shape->used)
            continue;
        shape->used = true;
        shape->like = *g;
        open_shape(all, shape);
        return shape;
    }
    return NULL;
}

static bool execute(struct products *all, const struct shape *shape, const struct dp_gemm *g)
{
    const dnnl_exec_arg_t arg[] = {{DNNL_ARG_SRC, shape->a},
                                   {DNNL_ARG_WEIGHTS, shape->b},
                                   {DNNL_ARG_DST, shape->c},
                                   {DNNL_ARG_SCRATCHPAD, shape->scratch}};
    void *a, *b;
    memcpy(&a, &g->a, sizeof a);
    memcpy(&b, &g->b, sizeof b);
    return !dnnl_memory_set_data_handle(shape->a, a) && !dnnl_memory_set_data_handle(shape->b, b) &&
           !dnnl_memory_set_data_handle(shape->c, g->c) &&
           !dnnl_memory_set_data_handle(shape->scratch, all->scratch) &&
           !dnnl_primitive_execute(shape->primitive, all->stream, 4, arg);
}

static bool multiply(void *self, const struct dp_gemm *g)
{
    struct products *all = self;
    if ((double)g->m * (double)g->n * (double)g->k < LEAST_MULTIPLIES)
        return false;
    /* The thread may be its user's, who has numbers of his own. */
    const int before = omp_get_max_threads();
    omp_set_num_threads(1);
    const struct shape *shape = find(all, g);
    const bool done = shape && shape->primitive && execute(all, shape, g);
    omp_set_num_threads(before);
    return done;
}

static void products_close(void *self)
{
    struct products *all = self;
    if (!all)
        return;
    for (int i = 0; i < SHAPES; ++i)
        close_shape(&all->shape[i]);
    dnnl_stream_destroy(all->stream);
    dnnl_engine_destroy(all->engine);
    free(all->scratch);
    free(all);
}

static void *products_open(void)
{
    struct products *all = calloc(1, sizeof *all);
    if (!all || dnnl_engine_create(&all->engine, dnnl_cpu, 0) ||
        dnnl_stream_create(&all->stream, all->engine, dnnl_stream_default_flags)) {
        products_close(all);
        return NULL;
    }
    return all;
}

/* What it is compiled with: a library of the same name with the file has the same functions. */
#define TEXT(word)  #word
#define VALUE(word) TEXT(word)

static const char *name(void)
{
    return "oneDNN " VALUE(DNNL_VERSION_MAJOR) "." VALUE(DNNL_VERSION_MINOR) "." VALUE(
        DNNL_VERSION_PATCH);
}

__attribute__((visibility("default"))) const struct dp_products dp_products = {
    DP_PRODUCTS_VERSION, name, products_open, products_close, multiply};
