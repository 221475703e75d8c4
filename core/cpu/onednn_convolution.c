/* onednn_convolution.c: convolutions and their gradients by the direct kernels of oneDNN.
 *
 * These kernels need channels in blocks of a vector. So input and output are reordered before and
 * after, some images at a time, which stay in the cache meanwhile. They skip the padding, which a
 * product over columns multiplies. Winograd is not used, because it rounds more than a sum does. */
#include "onednn_inside.h"

#include <stdlib.h>
#include <string.h>

enum { X, WEIGHT, BIAS, Y, PARTS };
enum way { FORWARD, TO_INPUT, TO_WEIGHT, WAYS };

enum {
    KEPT = 64,                  /* for each slot; products make the others */
    CHUNK_BYTES = 768 << 10,    /* for x and y */
    LEAST_MULTIPLIES = 1 << 18, /* of a call, as of a product */
    LINE = 64
};

#if DNNL_VERSION_MAJOR < 3
typedef const dnnl_memory_desc_t *description;
#else
typedef const_dnnl_memory_desc_t description;
#endif

struct part {
    dnnl_memory_t plain;      /* in the caller's layout */
    dnnl_memory_t own;        /* in the primitive's layout; NULL: the same */
    dnnl_primitive_t reorder; /* converts one to the other */
    size_t at;                /* own: offset in scratch */
};

/* A primitive for so many images; NULL: oneDNN has no good one. */
struct convolution {
    bool used;
    enum way way;
    bool has_bias, accumulate[PARTS];
    size_t c_out;
    struct dp_geometry geometry;
    dnnl_primitive_t primitive;
    dnnl_memory_t scratch;
    size_t scratch_at;
    struct part part[PARTS];
};

struct dp_dnnl_convolutions {
    struct convolution kept[KEPT];
};

/* For each part: its argument, how to ask for its layout, and whether it is written. */
static const struct role {
    int argument; /* 0: none */
    dnnl_query_t query;
    int index;
    bool written;
} roles[WAYS][PARTS] = {[FORWARD] = {{DNNL_ARG_SRC, dnnl_query_src_md, 0, false},
                                     {DNNL_ARG_WEIGHTS, dnnl_query_weights_md, 0, false},
                                     {DNNL_ARG_BIAS, dnnl_query_weights_md, 1, false},
                                     {DNNL_ARG_DST, dnnl_query_dst_md, 0, true}},
                        [TO_INPUT] = {{DNNL_ARG_DIFF_SRC, dnnl_query_diff_src_md, 0, true},
                                      {DNNL_ARG_WEIGHTS, dnnl_query_weights_md, 0, false},
                                      {0, dnnl_query_undef, 0, false},
                                      {DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md, 0, false}},
                        [TO_WEIGHT] = {{DNNL_ARG_SRC, dnnl_query_src_md, 0, false},
                                       {DNNL_ARG_DIFF_WEIGHTS, dnnl_query_diff_weights_md, 0, true},
                                       {DNNL_ARG_DIFF_BIAS, dnnl_query_diff_weights_md, 1, true},
                                       {DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md, 0, false}}};

/* ---- differences between versions --------------------------------------------------------- */

static const struct {
    int ndim;
    dnnl_format_tag_t tag;
} plain[PARTS] = {{4, dnnl_nchw}, {4, dnnl_oihw}, {1, dnnl_a}, {4, dnnl_nchw}};

/* dim is that of each part; a window has strides, dilation and padding. */
struct question {
    dnnl_dims_t dim[PARTS], stride, dilation, padding;
};

static struct question question_of(const struct convolution *c)
{
    const struct dp_geometry *g = &c->geometry;
    const dnnl_dim_t n = (dnnl_dim_t)g->images, i = (dnnl_dim_t)g->channels;
    const dnnl_dim_t o = (dnnl_dim_t)c->c_out;
    return (struct question){.dim = {{n, i, (dnnl_dim_t)g->height, (dnnl_dim_t)g->width},
                                     {o, i, (dnnl_dim_t)g->kernel[0], (dnnl_dim_t)g->kernel[1]},
                                     {o},
                                     {n, o, (dnnl_dim_t)g->out[0], (dnnl_dim_t)g->out[1]}},
                             .stride = {(dnnl_dim_t)g->stride[0], (dnnl_dim_t)g->stride[1]},
                             .padding = {(dnnl_dim_t)g->padding[0], (dnnl_dim_t)g->padding[1]}};
}

#if DNNL_VERSION_MAJOR < 3
static dnnl_status_t make_plain(dnnl_engine_t engine, const struct question *q, int part,
                                dnnl_memory_t *memory)
{
    dnnl_memory_desc_t layout;
    const dnnl_status_t status = dnnl_memory_desc_init_by_tag(
        &layout, plain[part].ndim, q->dim[part], dnnl_f32, plain[part].tag);
    return status ? status : dnnl_memory_create(memory, &layout, engine, DNNL_MEMORY_NONE);
}

static dnnl_status_t dnnl_choose(dnnl_engine_t engine, enum way way, const struct question *q,
                                 bool has_bias, dnnl_primitive_desc_t hint,
                                 dnnl_primitive_attr_t attr, dnnl_primitive_desc_t *chosen)
{
    dnnl_memory_desc_t any[PARTS];
    dnnl_convolution_desc_t c;
    dnnl_status_t status = dnnl_success;
    for (int p = 0; p < PARTS && status == dnnl_success; ++p)
        status = dnnl_memory_desc_init_by_tag(&any[p], plain[p].ndim, q->dim[p], dnnl_f32,
                                              p == BIAS ? dnnl_a : dnnl_format_tag_any);
    const dnnl_memory_desc_t *bias = has_bias ? &any[BIAS] : NULL;
    if (status)
        return status;
    if (way == FORWARD)
        status = dnnl_dilated_convolution_forward_desc_init(
            &c, dnnl_forward_training, dnnl_convolution_direct, &any[X], &any[WEIGHT], bias,
            &any[Y], q->stride, q->dilation, q->padding, q->padding);
    else if (way == TO_INPUT)
        status = dnnl_dilated_convolution_backward_data_desc_init(
            &c, dnnl_convolution_direct, &any[X], &any[WEIGHT], &any[Y], q->stride, q->dilation,
            q->padding, q->padding);
    else
        status = dnnl_dilated_convolution_backward_weights_desc_init(
            &c, dnnl_convolution_direct, &any[X], &any[WEIGHT], bias, &any[Y], q->stride,
            q->dilation, q->padding, q->padding);
    return status ? status : dnnl_primitive_desc_create(chosen, &c, attr, engine, hint);
}
#else
static dnnl_status_t make_plain(dnnl_engine_t engine, const struct question *q, int part,
                                dnnl_memory_t *memory)
{
    dnnl_memory_desc_t layout = NULL;
    dnnl_status_t status = dnnl_memory_desc_create_with_tag(&layout, plain[part].ndim, q->dim[part],
                                                            dnnl_f32, plain[part].tag);
    if (status == dnnl_success)
        status = dnnl_memory_create(memory, layout, engine, DNNL_MEMORY_NONE);
    dnnl_memory_desc_destroy(layout);
    return status;
}

static dnnl_status_t dnnl_choose(dnnl_engine_t engine, enum way way, const struct question *q,
                                 bool has_bias, dnnl_primitive_desc_t hint,
                                 dnnl_primitive_attr_t attr, dnnl_primitive_desc_t *chosen)
{
    dnnl_memory_desc_t any[PARTS] = {NULL};
    dnnl_status_t status = dnnl_success;
    for (int p = 0; p < PARTS && status == dnnl_success; ++p)
        if (p != BIAS || has_bias)
            status = dnnl_memory_desc_create_with_tag(&any[p], plain[p].ndim, q->dim[p], dnnl_f32,
                                                      p == BIAS ? dnnl_a : dnnl_format_tag_any);
    if (status == dnnl_success && way == FORWARD)
        status = dnnl_convolution_forward_primitive_desc_create(
            chosen, engine, dnnl_forward_training, dnnl_convolution_direct, any[X], any[WEIGHT],
            any[BIAS], any[Y], q->stride, q->dilation, q->padding, q->padding, attr);
    else if (status == dnnl_success && way == TO_INPUT)
        status = dnnl_convolution_backward_data_primitive_desc_create(
            chosen, engine, dnnl_convolution_direct, any[X], any[WEIGHT], any[Y], q->stride,
            q->dilation, q->padding, q->padding, hint, attr);
    else if (status == dnnl_success)
        status = dnnl_convolution_backward_weights_primitive_desc_create(
            chosen, engine, dnnl_convolution_direct, any[X], any[WEIGHT], any[BIAS], any[Y],
            q->stride, q->dilation, q->padding, q->padding, hint, attr);
    for (int p = 0; p < PARTS; ++p)
        dnnl_memory_desc_destroy(any[p]);
    return status;
}
#endif

/* ---- one convolution ----------------------------------------------------------------------- */

/* Only its vector kernels are good; the others are slower than products over columns. */
static bool is_good(dnnl_primitive_desc_t chosen)
{
    const char *name = NULL;
    return dnnl_primitive_desc_query(chosen, dnnl_query_impl_info_str, 0, &name) == dnnl_success &&
           name && (strncmp(name, "jit:avx", 7) == 0 || strncmp(name, "brg", 3) == 0);
}

/* Gives a part of that size its offset in scratch. */
static size_t dnnl_place(size_t *bytes, size_t size)
{
    const size_t at = *bytes;
    *bytes += (size + LINE - 1) / LINE * LINE;
    return at;
}

static dnnl_status_t open_reorder(dnnl_engine_t engine, struct part *part, bool written,
                                  bool accumulate)
{
    dnnl_primitive_attr_t attr = NULL;
    dnnl_primitive_desc_t chosen = NULL;
    description from = NULL, to = NULL;
    dnnl_status_t status = dp_dnnl_attributes(accumulate, &attr);
    if (status == dnnl_success)
        status = dnnl_memory_get_memory_desc(written ? part->own : part->plain, &from);
    if (status == dnnl_success)
        status = dnnl_memory_get_memory_desc(written ? part->plain : part->own, &to);
    if (status == dnnl_success)
        status = dnnl_reorder_primitive_desc_create(&chosen, from, engine, to, engine, attr);
    if (status == dnnl_success && dnnl_memory_desc_get_size(dnnl_primitive_desc_query_md(
                                      chosen, dnnl_query_scratchpad_md, 0)) > 0)
        status = dnnl_unimplemented;
    if (status == dnnl_success)
        status = dnnl_primitive_create(&part->reorder, chosen);
    dnnl_primitive_desc_destroy(chosen);
    dnnl_primitive_attr_destroy(attr);
    return status;
}

/* Gradients of parameters are always reordered, because the reorder adds them to the old values. */
static dnnl_status_t open_part(dnnl_engine_t engine, struct convolution *c, int p,
                               const struct question *q, dnnl_primitive_desc_t chosen,
                               size_t *bytes)
{
    const struct role *role = &roles[c->way][p];
    struct part *part = &c->part[p];
    description wanted = dnnl_primitive_desc_query_md(chosen, role->query, role->index);
    description given = NULL;
    dnnl_status_t status = make_plain(engine, q, p, &part->plain);
    if (status == dnnl_success)
        status = dnnl_memory_get_memory_desc(part->plain, &given);
    if (status || (dnnl_memory_desc_equal(wanted, given) && c->way != TO_WEIGHT) ||
        (dnnl_memory_desc_equal(wanted, given) && !role->written))
        return status;
    part->at = dnnl_place(bytes, dnnl_memory_desc_get_size(wanted));
    status = dnnl_memory_create(&part->own, wanted, engine, DNNL_MEMORY_NONE);
    return status ? status : open_reorder(engine, part, role->written, c->accumulate[p]);
}

static bool has_part(const struct convolution *c, int p)
{
    return roles[c->way][p].argument != 0 && (p != BIAS || c->has_bias);
}

static dnnl_status_t open_parts(struct dp_dnnl *dnnl, struct convolution *c,
                                const struct question *q, dnnl_primitive_desc_t chosen)
{
    dnnl_status_t status = dnnl_success;
    size_t bytes = 0;
    for (int p = 0; p < PARTS && status == dnnl_success; ++p)
        if (has_part(c, p))
            status = open_part(dnnl->engine, c, p, q, chosen, &bytes);
    if (status)
        return status;
    description scratch = dnnl_primitive_desc_query_md(chosen, dnnl_query_scratchpad_md, 0);
    c->scratch_at = dnnl_place(&bytes, dnnl_memory_desc_get_size(scratch));
    status = dnnl_memory_create(&c->scratch, scratch, dnnl->engine, DNNL_MEMORY_NONE);
    if (status == dnnl_success && !dp_dnnl_reserve(dnnl, bytes))
        status = dnnl_out_of_memory;
    return status;
}

static void close_convolution(struct convolution *c)
{
    dnnl_primitive_destroy(c->primitive);
    dnnl_memory_destroy(c->scratch);
    for (int p = 0; p < PARTS; ++p) {
        dnnl_primitive_destroy(c->part[p].reorder);
        dnnl_memory_destroy(c->part[p].plain);
        dnnl_memory_destroy(c->part[p].own);
    }
    c->primitive = NULL;
    c->scratch = NULL;
    memset(c->part, 0, sizeof c->part);
}

/* A gradient needs the forward convolution as a hint. If nothing is good, c is open without a
 * primitive. */
static dnnl_status_t open_convolution(struct dp_dnnl *dnnl, struct convolution *c)
{
    const struct question q = question_of(c);
    dnnl_primitive_attr_t attr = NULL;
    dnnl_primitive_desc_t hint = NULL, chosen = NULL;
    dnnl_status_t status = dp_dnnl_attributes(false, &attr);
    if (status == dnnl_success && c->way != FORWARD)
        status = dnnl_choose(dnnl->engine, FORWARD, &q, c->has_bias, NULL, attr, &hint);
    if (status == dnnl_success)
        status = dnnl_choose(dnnl->engine, c->way, &q, c->has_bias, hint, attr, &chosen);
    if (status == dnnl_success && !is_good(chosen))
        status = dnnl_unimplemented;
    if (status == dnnl_success)
        status = open_parts(dnnl, c, &q, chosen);
    if (status == dnnl_success)
        status = dnnl_primitive_create(&c->primitive, chosen);
    if (status)
        close_convolution(c);
    dnnl_primitive_desc_destroy(chosen);
    dnnl_primitive_desc_destroy(hint);
    dnnl_primitive_attr_destroy(attr);
    return status == dnnl_unimplemented ? dnnl_success : status;
}

static bool dnnl_move(struct dp_dnnl *dnnl, const struct part *part, bool written)
{
    const dnnl_exec_arg_t argument[] = {{DNNL_ARG_FROM, written ? part->own : part->plain},
                                        {DNNL_ARG_TO, written ? part->plain : part->own}};
    return dnnl_primitive_execute(part->reorder, dnnl->stream, 2, argument) == dnnl_success;
}

static bool dnnl_set(dnnl_memory_t memory, const void *data)
{
    void *handle;
    memcpy(&handle, &data, sizeof handle);
    return dnnl_memory_set_data_handle(memory, handle) == dnnl_success;
}

/* data: where the caller has each part. */
static bool execute(struct dp_dnnl *dnnl, struct convolution *c, const float *const data[PARTS])
{
    dnnl_exec_arg_t argument[PARTS + 1];
    char *scratch = dnnl->scratch;
    int n = 0;
    bool good = dnnl_set(c->scratch, scratch + c->scratch_at);
    argument[n++] = (dnnl_exec_arg_t){DNNL_ARG_SCRATCHPAD, c->scratch};
    for (int p = 0; p < PARTS && good; ++p) {
        const struct role *role = &roles[c->way][p];
        struct part *part = &c->part[p];
        if (!part->plain)
            continue;
        good = dnnl_set(part->plain, data[p]) &&
               (!part->own || dnnl_set(part->own, scratch + part->at)) &&
               (!part->reorder || role->written || dnnl_move(dnnl, part, false));
        argument[n++] = (dnnl_exec_arg_t){role->argument, part->own ? part->own : part->plain};
    }
    good = good && !dnnl_primitive_execute(c->primitive, dnnl->stream, n, argument);
    for (int p = 0; p < PARTS && good; ++p)
        if (c->part[p].reorder && roles[c->way][p].written)
            good = dnnl_move(dnnl, &c->part[p], true);
    return good;
}

/* ---- cached convolutions -------------------------------------------------------------------- */

static bool is_like(const struct convolution *a, const struct convolution *b)
{
    return a->way == b->way && a->has_bias == b->has_bias && a->c_out == b->c_out &&
           memcmp(a->accumulate, b->accumulate, sizeof a->accumulate) == 0 &&
           memcmp(&a->geometry, &b->geometry, sizeof a->geometry) == 0;
}

/* *found is NULL if there are too many. */
static dnnl_status_t dnnl_find(struct dp_dnnl *dnnl, struct dp_dnnl_convolutions *all,
                               const struct convolution *like, struct convolution **found)
{
    *found = NULL;
    for (int i = 0; i < KEPT; ++i) {
        struct convolution *c = &all->kept[i];
        if (c->used && !is_like(c, like))
            continue;
        *found = c;
        if (c->used)
            return dnnl_success;
        *c = *like;
        const dnnl_status_t status = open_convolution(dnnl, c);
        c->used = status == dnnl_success;
        return status;
    }
    return dnnl_success;
}

/* ---- all images ---------------------------------------------------------------------------- */

static size_t image_floats(const struct dp_convolution *c, bool input)
{
    const struct dp_geometry *g = &c->at;
    return input ? g->channels * g->height * g->width : c->c_out * g->out[0] * g->out[1];
}

static size_t chunk_of(const struct dp_convolution *c)
{
    const size_t bytes = (image_floats(c, true) + image_floats(c, false)) * sizeof(float);
    const size_t chunk = bytes < CHUNK_BYTES ? CHUNK_BYTES / bytes : 1;
    return chunk < c->at.images ? chunk : c->at.images;
}

static struct convolution like(const struct dp_convolution *c, enum way way, size_t first)
{
    const size_t rest = c->at.images - first, chunk = chunk_of(c);
    struct convolution l = {.way = way, .c_out = c->c_out, .geometry = c->at};
    l.geometry.images = rest < chunk ? rest : chunk;
    l.has_bias = way == FORWARD ? c->bias != NULL : way == TO_WEIGHT && c->dbias != NULL;
    if (way == TO_WEIGHT) {
        l.accumulate[WEIGHT] = first > 0 || c->accumulate_weight;
        l.accumulate[BIAS] = l.has_bias && (first > 0 || c->accumulate_bias);
    }
    return l;
}

static bool execute_at(struct dp_dnnl *dnnl, const struct dp_convolution *c,
                       struct convolution *one, size_t first)
{
    const size_t x = first * image_floats(c, true), y = first * image_floats(c, false);
    const bool forward = one->way == FORWARD;
    const float *const data[PARTS] = {
        [X] = (one->way == TO_INPUT ? c->dx : c->x) + x,
        [WEIGHT] = one->way == TO_WEIGHT ? c->dweight : c->weight,
        [BIAS] = forward ? c->bias : c->dbias,
        [Y] = (forward ? c->y : c->dy) + y,
    };
    return execute(dnnl, one, data);
}

/* Finds everything that is needed, or executes it. */
static enum dp_product walk(struct dp_dnnl *dnnl, struct dp_dnnl_convolutions *all,
                            const struct dp_convolution *c, bool executes)
{
    const bool wanted[WAYS] = {
        [FORWARD] = c->y != NULL, [TO_INPUT] = !c->y && c->dx, [TO_WEIGHT] = !c->y && c->dweight};
    for (size_t first = 0; first < c->at.images; first += chunk_of(c)) {
        for (int way = 0; way < WAYS; ++way) {
            const struct convolution wants = like(c, (enum way)way, first);
            struct convolution *one = NULL;
            if (!wanted[way])
                continue;
            if (dnnl_find(dnnl, all, &wants, &one) != dnnl_success)
                return DP_PRODUCT_FAILED;
            if (!one || !one->primitive)
                return DP_PRODUCT_ELSEWHERE;
            if (executes && !execute_at(dnnl, c, one, first))
                return DP_PRODUCT_FAILED;
        }
    }
    return DP_PRODUCT_MADE;
}

/* A bias without a weight gradient is left to the kernels; no training needs it alone. */
enum dp_product dp_dnnl_convolve(struct dp_dnnl *dnnl, struct dp_dnnl_convolutions *all,
                                 const struct dp_convolution *c)
{
    const double multiplies = (double)c->at.images * (double)image_floats(c, false) *
                              (double)(c->at.channels * c->at.kernel[0] * c->at.kernel[1]);
    const bool nothing = !c->y && !c->dx && !c->dweight;
    if (multiplies < LEAST_MULTIPLIES || nothing || (c->dbias && !c->dweight))
        return DP_PRODUCT_ELSEWHERE;
    const enum dp_product found = walk(dnnl, all, c, false);
    return found == DP_PRODUCT_MADE ? walk(dnnl, all, c, true) : found;
}

struct dp_dnnl_convolutions *dp_dnnl_convolutions_open(void)
{
    return calloc(1, sizeof(struct dp_dnnl_convolutions));
}

void dp_dnnl_convolutions_close(struct dp_dnnl_convolutions *all)
{
    for (int i = 0; all && i < KEPT; ++i)
        close_convolution(&all->kept[i]);
    free(all);
}
