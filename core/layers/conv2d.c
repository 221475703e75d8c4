/* conv2d.c: convolution by a library if the device has a faster one, otherwise as matrix products
 * over windows that are laid out as columns.
 *
 * It takes a chunk of images at a time, so that their columns stay in the cache: columns [C KH KW,
 * windows], then sums [C_out, windows] = weight [C_out, C KH KW] columns, then the sums image by
 * image. The backward computes the columns again, which is faster than reading them from memory. */
#include "layer.h"

#include <stdlib.h>

#define CHUNK_BYTES ((size_t)512 << 10)

struct conv {
    size_t c_in, c_out;
    struct dp_window window;
    bool has_bias;
    struct dp_param *weight, *bias; /* bias may be NULL */
};

/* The sizes of one call: chunks of so many images, and memory for one chunk. */
struct work {
    struct dp_geometry at;
    size_t chunk, depth, windows; /* images, C KH KW, windows of an image */
    size_t bytes;                 /* of the columns of an image */
    struct dp_queue *queue;
    void *col, *sums; /* [depth, chunk windows], [C_out, chunk windows] */
};

static int open_work(const struct conv *l, struct dp_run *run, const struct dp_tensor *x,
                     struct work *w, struct dp_error *err)
{
    int status = dp_window_geometry("conv2d", &l->window, x, l->c_in, &w->at, err);
    if (status == 0)
        status = dp_same_slot("the input", x, "the weight", dp_run_value(run, l->weight), err);
    if (status)
        return status;
    w->queue = &x->slot->compute;
    w->depth = l->c_in * l->window.kernel[0] * l->window.kernel[1];
    w->bytes = sizeof(float);
    if (!dp_multiply(w->at.out[0], w->at.out[1], &w->windows) ||
        !dp_multiply(w->bytes, w->depth, &w->bytes) ||
        !dp_multiply(w->bytes, w->windows, &w->bytes))
        return dp_fail(err, DP_ENOMEM, "conv2d: an image has more windows than memory");
    w->chunk = CHUNK_BYTES / w->bytes > 0 ? CHUNK_BYTES / w->bytes : 1;
    w->chunk = w->chunk < x->dim[0] ? w->chunk : x->dim[0];
    return 0;
}

static int open_chunks(const struct conv *l, struct dp_run *run, struct dp_slot *slot,
                       struct work *w, struct dp_error *err)
{
    const int status = dp_run_memory(run, slot, w->chunk * w->bytes, &w->col, err);
    return status ? status
                  : dp_run_memory(run, slot, l->c_out * w->chunk * w->windows * sizeof(float),
                                  &w->sums, err);
}

/* The chunk that begins with image `first` of x. */
static struct dp_columns conv_columns(const struct work *w, void *x, size_t first)
{
    struct dp_columns g = {.at = w->at, .col = w->col};
    const size_t rest = w->at.images - first;
    g.at.images = rest < w->chunk ? rest : w->chunk;
    g.x = (float *)x + first * w->at.channels * w->at.height * w->at.width;
    return g;
}

static int forward_chunk(const struct conv *l, struct dp_run *run, const struct work *w,
                         const struct dp_columns *g, float *y, struct dp_error *err)
{
    const size_t width = g->at.images * w->windows;
    const struct dp_gemm gemm = {.m = l->c_out,
                                 .n = width,
                                 .k = w->depth,
                                 .a = dp_run_value(run, l->weight)->data,
                                 .b = w->col,
                                 .c = w->sums};
    const struct dp_swap swap = {
        y,        w->sums,      l->bias ? dp_run_value(run, l->bias)->data : NULL,
        l->c_out, g->at.images, w->windows};
    int status = dp_launch(w->queue, DP_KERNEL_IM2COL, g, sizeof *g, err);
    if (status == 0)
        status = dp_launch(w->queue, DP_KERNEL_GEMM, &gemm, sizeof gemm, err);
    if (status == 0)
        status = dp_launch(w->queue, DP_KERNEL_SWAP, &swap, sizeof swap, err);
    return status;
}

static int conv_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                        int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    const struct conv *l = dp_module_self(module);
    struct work w;
    struct dp_tensor y = {0};
    int status = dp_check_inputs("conv2d", in, n_in, 1, 1, err);
    if (status == 0)
        status = open_work(l, run, &in[0], &w, err);
    if (status)
        return status;
    const size_t dim[] = {in[0].dim[0], l->c_out, w.at.out[0], w.at.out[1]};
    status = dp_run_tensor(run, in[0].slot, DP_F32, 4, dim, &y, err);
    const struct dp_convolution whole = {.at = w.at,
                                         .c_out = l->c_out,
                                         .x = in[0].data,
                                         .weight = dp_run_value(run, l->weight)->data,
                                         .bias = l->bias ? dp_run_value(run, l->bias)->data : NULL,
                                         .y = y.data};
    bool made = false;
    if (status == 0)
        status = dp_convolve(w.queue, &whole, &made, err);
    if (status == 0 && !made) {
        status = open_chunks(l, run, in[0].slot, &w, err);
        for (size_t n = 0; status == 0 && n < w.at.images; n += w.chunk) {
            const struct dp_columns g = conv_columns(&w, in[0].data, n);
            status = forward_chunk(l, run, &w, &g, (float *)y.data + n * l->c_out * w.windows, err);
        }
    }
    if (status)
        return status;
    y.needs_grad =
        run->grad && (in[0].needs_grad || !l->weight->frozen || (l->bias && !l->bias->frozen));
    return dp_layer_output(module, run, &y, &in[0], sizeof in[0], out, n_out, err);
}

/* A gradient to which the chunks of one backward are added. */
struct target {
    void *data; /* NULL: not wanted */
    bool accumulate;
};

struct back {
    struct target weight, bias;
    void *dx; /* NULL: not wanted */
};

static int bias_chunk(const struct conv *l, const struct work *w, const struct back *b,
                      size_t width, bool accumulate, struct dp_error *err)
{
    const struct dp_add_rows add = {b->bias.data, w->sums, l->c_out, width, accumulate};
    return dp_launch(w->queue, DP_KERNEL_ADD_ROWS, &add, sizeof add, err);
}

static int weight_chunk(const struct conv *l, const struct work *w, const struct back *b,
                        const struct dp_columns *g, bool accumulate, struct dp_error *err)
{
    const struct dp_gemm gemm = {.transpose_b = true,
                                 .accumulate = accumulate,
                                 .m = l->c_out,
                                 .n = w->depth,
                                 .k = g->at.images * w->windows,
                                 .a = w->sums,
                                 .b = w->col,
                                 .c = b->weight.data};
    const int status = dp_launch(w->queue, DP_KERNEL_IM2COL, g, sizeof *g, err);
    return status ? status : dp_launch(w->queue, DP_KERNEL_GEMM, &gemm, sizeof gemm, err);
}

/* The gradient of the columns overwrites them: they are not needed any more, and are in the cache.
 */
static int input_chunk(const struct conv *l, struct dp_run *run, const struct work *w,
                       const struct back *b, size_t first, struct dp_error *err)
{
    const struct dp_columns g = conv_columns(w, b->dx, first);
    const struct dp_gemm gemm = {.transpose_a = true,
                                 .m = w->depth,
                                 .n = g.at.images * w->windows,
                                 .k = l->c_out,
                                 .a = dp_run_value(run, l->weight)->data,
                                 .b = w->sums,
                                 .c = w->col};
    const int status = dp_launch(w->queue, DP_KERNEL_GEMM, &gemm, sizeof gemm, err);
    return status ? status : dp_launch(w->queue, DP_KERNEL_COL2IM, &g, sizeof g, err);
}

static int backward_chunk(const struct conv *l, struct dp_run *run, const struct work *w,
                          const struct back *b, const struct dp_tensor *x,
                          const struct dp_tensor *dy, size_t first, struct dp_error *err)
{
    const struct dp_columns g = conv_columns(w, x->data, first);
    /* This reorders from image by image to [C_out, windows of the chunk]. */
    const struct dp_swap swap = {w->sums,  (const float *)dy->data + first * l->c_out * w->windows,
                                 NULL,     g.at.images,
                                 l->c_out, w->windows};
    int status = dp_launch(w->queue, DP_KERNEL_SWAP, &swap, sizeof swap, err);
    if (status == 0 && b->bias.data)
        status =
            bias_chunk(l, w, b, g.at.images * w->windows, b->bias.accumulate || first > 0, err);
    if (status == 0 && b->weight.data)
        status = weight_chunk(l, w, b, &g, b->weight.accumulate || first > 0, err);
    if (status == 0 && b->dx)
        status = input_chunk(l, run, w, b, first, err);
    return status;
}

/* If there are no images, no chunk sets the gradient. */
static int open_target(struct dp_run *run, struct dp_param *param, const struct work *w,
                       struct target *target, struct dp_error *err)
{
    *target = (struct target){NULL, false};
    target->data = dp_layer_param_grad(run, param, &target->accumulate);
    if (!target->data || w->at.images > 0 || target->accumulate)
        return 0;
    const struct dp_zero zero = {target->data, dp_tensor_bytes(&param->value)};
    return dp_launch(w->queue, DP_KERNEL_ZERO, &zero, sizeof zero, err);
}

static int conv_backward(struct dp_module *module, struct dp_run *run,
                         const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                         int n_in, struct dp_error *err)
{
    const struct conv *l = dp_module_self(module);
    struct dp_tensor x;
    struct work w;
    struct back b = {.dx = NULL};
    (void)n_out, (void)n_in;
    int status = dp_run_restore(run, module, &x, sizeof x, err);
    if (status || !grad_out[0].slot)
        return status;
    status = open_work(l, run, &x, &w, err);
    if (status == 0)
        status = dp_layer_input_grad(run, &x, &grad_in[0], err);
    b.dx = grad_in[0].data;
    if (status == 0)
        status = open_target(run, l->weight, &w, &b.weight, err);
    if (status == 0)
        status = open_target(run, l->bias, &w, &b.bias, err);
    const struct dp_convolution whole = {.at = w.at,
                                         .c_out = l->c_out,
                                         .x = x.data,
                                         .weight = dp_run_value(run, l->weight)->data,
                                         .dy = grad_out[0].data,
                                         .dx = b.dx,
                                         .dweight = b.weight.data,
                                         .dbias = b.bias.data,
                                         .accumulate_weight = b.weight.accumulate,
                                         .accumulate_bias = b.bias.accumulate};
    bool made = false;
    if (status == 0)
        status = dp_convolve(w.queue, &whole, &made, err);
    if (status || made)
        return status;
    status = open_chunks(l, run, x.slot, &w, err);
    for (size_t n = 0; status == 0 && n < w.at.images; n += w.chunk)
        status = backward_chunk(l, run, &w, &b, &x, &grad_out[0], n, err);
    return status;
}

static const struct dp_module_ops conv_ops = {"conv2d", conv_forward, conv_backward, free};

static int conv_add_params(struct dp_module *m, void *self, struct dp_error *err)
{
    struct conv *l = self;
    const size_t *kernel = l->window.kernel;
    const size_t dim[] = {l->c_out, l->c_in, kernel[0], kernel[1]};
    int status = dp_module_add_param(m, "weight", DP_F32, 4, dim, &l->weight, err);
    if (status == 0 && l->has_bias)
        status = dp_module_add_param(m, "bias", DP_F32, 1, &l->c_out, &l->bias, err);
    return status;
}

int dp_conv2d(struct dp_group *group, size_t c_in, size_t c_out, const struct dp_window *window,
              bool bias, struct dp_module **module, struct dp_error *err)
{
    struct conv l = {.c_in = c_in, .c_out = c_out, .has_bias = bias};
    if (c_in < 1 || c_out < 1)
        return dp_fail(err, DP_EINVAL, "conv2d(%zu, %zu): at least 1 channel", c_in, c_out);
    const int status = dp_window_check("conv2d", window, (const size_t[]){1, 1}, &l.window, err);
    if (status)
        return status;
    return dp_layer_open(group, &conv_ops, &l, sizeof l, conv_add_params, module, err);
}
