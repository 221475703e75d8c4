/* onednn_wire.c: the products of the plug-in lockstep-onednn.so, which alone is compiled with
 * oneDNN. */
#include "onednn_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* These are functions of OpenMP, which runs the threads of oneDNN. The numbers are those of the
 * calling thread. */
int omp_get_max_threads(void);
void omp_set_num_threads(int n);

enum {
    SHAPES = 256,              /* of a slot, a power of two; CBLAS makes other products */
    LEAST_MULTIPLIES = 1 << 18 /* of a product: large enough that a call of oneDNN costs little */
};

/* A requested shape; primitive NULL: oneDNN has no good kernel for it. */
struct shape {
    bool used;
    struct dp_gemm like; /* with pointers cleared */
    dnnl_primitive_t primitive;
    dnnl_memory_t a, b, c, scratch;
};

struct products {
    struct dp_dnnl dnnl;
    int threads;
    char kernels[32]; /* of the last opened shape: "brg:avx512_core" */
    struct shape shape[SHAPES];
    struct dp_dnnl_convolutions *convolutions;
};

/* ---- differences between versions --------------------------------------------------------- */

struct layout {
    dnnl_dims_t dims, strides;
};

static struct layout layout_of(size_t rows, size_t cols, bool transposed)
{
    const dnnl_dim_t r = (dnnl_dim_t)rows, c = (dnnl_dim_t)cols;
    return (struct layout){{r, c}, {transposed ? 1 : c, transposed ? r : 1}};
}

#if DNNL_VERSION_MAJOR < 3
static dnnl_status_t onednn_choose(dnnl_engine_t engine, const struct layout layout[3],
                                   dnnl_primitive_attr_t attr, dnnl_primitive_desc_t *chosen)
{
    dnnl_memory_desc_t memory[3];
    dnnl_matmul_desc_t product;
    dnnl_status_t status = dnnl_success;
    for (int i = 0; i < 3 && status == dnnl_success; ++i)
        status = dnnl_memory_desc_init_by_strides(&memory[i], 2, layout[i].dims, dnnl_f32,
                                                  layout[i].strides);
    if (status == dnnl_success)
        status = dnnl_matmul_desc_init(&product, &memory[0], &memory[1], NULL, &memory[2]);
    return status ? status : dnnl_primitive_desc_create(chosen, &product, attr, engine, NULL);
}
#else
static dnnl_status_t onednn_choose(dnnl_engine_t engine, const struct layout layout[3],
                                   dnnl_primitive_attr_t attr, dnnl_primitive_desc_t *chosen)
{
    dnnl_memory_desc_t memory[3] = {NULL};
    dnnl_status_t status = dnnl_success;
    for (int i = 0; i < 3 && status == dnnl_success; ++i)
        status = dnnl_memory_desc_create_with_strides(&memory[i], 2, layout[i].dims, dnnl_f32,
                                                      layout[i].strides);
    if (status == dnnl_success)
        status = dnnl_matmul_primitive_desc_create(chosen, engine, memory[0], memory[1], NULL,
                                                   memory[2], attr);
    for (int i = 0; i < 3; ++i)
        dnnl_memory_desc_destroy(memory[i]);
    return status;
}
#endif

/* ---- a shape ------------------------------------------------------------------------------- */

/* Only its kernels for small blocks are faster than CBLAS; its other products are not. */
static dnnl_status_t check_kernels(struct products *all, dnnl_primitive_desc_t chosen)
{
    const char *name = NULL;
    const dnnl_status_t status =
        dnnl_primitive_desc_query(chosen, dnnl_query_impl_info_str, 0, &name);
    if (status || !name || strncmp(name, "brg", 3) != 0)
        return status ? status : dnnl_unimplemented;
    snprintf(all->kernels, sizeof all->kernels, "%s", name);
    return dnnl_success;
}

static dnnl_status_t make_memories(struct products *all, struct shape *shape,
                                   dnnl_primitive_desc_t chosen)
{
    const struct {
        dnnl_query_t what;
        dnnl_memory_t *memory;
    } wanted[] = {{dnnl_query_src_md, &shape->a},
                  {dnnl_query_weights_md, &shape->b},
                  {dnnl_query_dst_md, &shape->c},
                  {dnnl_query_scratchpad_md, &shape->scratch}};
    dnnl_status_t status = dnnl_success;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && status == dnnl_success; ++i)
        status = dnnl_memory_create(wanted[i].memory,
                                    dnnl_primitive_desc_query_md(chosen, wanted[i].what, 0),
                                    all->dnnl.engine, DNNL_MEMORY_NONE);
    if (status)
        return status;
    const size_t bytes = dnnl_memory_desc_get_size(
        dnnl_primitive_desc_query_md(chosen, dnnl_query_scratchpad_md, 0));
    return dp_dnnl_reserve(&all->dnnl, bytes) ? dnnl_success : dnnl_out_of_memory;
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

/* A shape without a good kernel is open, too, without a primitive. */
static dnnl_status_t open_shape(struct products *all, struct shape *shape)
{
    const struct dp_gemm *g = &shape->like;
    const struct layout layout[3] = {layout_of(g->m, g->k, g->transpose_a),
                                     layout_of(g->k, g->n, g->transpose_b),
                                     layout_of(g->m, g->n, false)};
    dnnl_primitive_attr_t attr = NULL;
    dnnl_primitive_desc_t chosen = NULL;
    dnnl_status_t status = dp_dnnl_attributes(g->accumulate, &attr);
    if (status == dnnl_success)
        status = onednn_choose(all->dnnl.engine, layout, attr, &chosen);
    if (status == dnnl_success)
        status = check_kernels(all, chosen);
    if (status == dnnl_success)
        status = make_memories(all, shape, chosen);
    if (status == dnnl_success)
        status = dnnl_primitive_create(&shape->primitive, chosen);
    if (status)
        close_shape(shape);
    dnnl_primitive_desc_destroy(chosen);
    dnnl_primitive_attr_destroy(attr);
    return status == dnnl_unimplemented ? dnnl_success : status;
}

/* ---- the table ----------------------------------------------------------------------------- */

static bool is_like(const struct dp_gemm *a, const struct dp_gemm *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k && a->transpose_a == b->transpose_a &&
           a->transpose_b == b->transpose_b && a->accumulate == b->accumulate;
}

/* *found is NULL if there are too many. */
static dnnl_status_t onednn_find(struct products *all, const struct dp_gemm *g,
                                 const struct shape **found)
{
    const size_t flags =
        (g->transpose_a ? 1u : 0) + (g->transpose_b ? 2u : 0) + (g->accumulate ? 4u : 0);
    const size_t hash = (((g->m * 31 + g->n) * 31 + g->k) * 8 + flags) * 0x9e3779b97f4a7c15u >> 32;
    *found = NULL;
    for (size_t i = 0; i < SHAPES; ++i) {
        struct shape *shape = &all->shape[(hash + i) % SHAPES];
        if (shape->used && !is_like(&shape->like, g))
            continue;
        *found = shape;
        if (shape->used)
            return dnnl_success;
        shape->like = *g;
        const dnnl_status_t status = open_shape(all, shape);
        shape->used = status == dnnl_success;
        return status;
    }
    return dnnl_success;
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
           !dnnl_memory_set_data_handle(shape->scratch, all->dnnl.scratch) &&
           !dnnl_primitive_execute(shape->primitive, all->dnnl.stream, 4, arg);
}

static enum dp_product onednn_multiply(void *self, const struct dp_gemm *g)
{
    struct products *all = self;
    const struct shape *shape = NULL;
    if ((double)g->m * (double)g->n * (double)g->k < LEAST_MULTIPLIES)
        return DP_PRODUCT_ELSEWHERE;
    /* The thread may belong to the user, who has set other numbers. */
    const int before = omp_get_max_threads();
    omp_set_num_threads(all->threads);
    enum dp_product product = DP_PRODUCT_FAILED;
    if (onednn_find(all, g, &shape) == dnnl_success) {
        if (!shape || !shape->primitive)
            product = DP_PRODUCT_ELSEWHERE;
        else if (execute(all, shape, g))
            product = DP_PRODUCT_MADE;
    }
    omp_set_num_threads(before);
    return product;
}

static enum dp_product onednn_convolve(void *self, const struct dp_convolution *c)
{
    struct products *all = self;
    const int before = omp_get_max_threads();
    omp_set_num_threads(all->threads);
    const enum dp_product product = dp_dnnl_convolve(&all->dnnl, all->convolutions, c);
    omp_set_num_threads(before);
    return product;
}

/* The smallest of the large products represents all of them. */
static enum dp_product onednn_describe(void *self, char *text, size_t bytes)
{
    struct products *all = self;
    const struct dp_gemm small = {.m = 64, .n = 64, .k = 64};
    const struct shape *shape = NULL;
    const dnnl_version_t *version = dnnl_version();
    const bool failed = onednn_find(all, &small, &shape) != dnnl_success;
    const bool good = !failed && shape && shape->primitive;
    snprintf(text, bytes, "oneDNN %d.%d.%d%s%s", version->major, version->minor, version->patch,
             good ? " " : "", good ? all->kernels : "");
    return failed ? DP_PRODUCT_FAILED : good ? DP_PRODUCT_MADE : DP_PRODUCT_ELSEWHERE;
}

static void products_close(void *self)
{
    struct products *all = self;
    if (!all)
        return;
    for (int i = 0; i < SHAPES; ++i)
        close_shape(&all->shape[i]);
    dnnl_stream_destroy(all->dnnl.stream);
    dnnl_engine_destroy(all->dnnl.engine);
    free(all->dnnl.scratch);
    dp_dnnl_convolutions_close(all->convolutions);
    free(all);
}

static void *products_open(int threads)
{
    struct products *all = calloc(1, sizeof *all);
    if (all)
        all->threads = threads;
    if (!all || dnnl_engine_create(&all->dnnl.engine, dnnl_cpu, 0) ||
        dnnl_stream_create(&all->dnnl.stream, all->dnnl.engine, dnnl_stream_default_flags) ||
        !(all->convolutions = dp_dnnl_convolutions_open())) {
        products_close(all);
        return NULL;
    }
    return all;
}

__attribute__((visibility("default")))
const struct dp_products dp_products = {DP_PRODUCTS_VERSION, products_open,   products_close,
                                        onednn_describe,     onednn_multiply, onednn_convolve};
