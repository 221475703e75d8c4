/* kernels_image.cu: the kernels of images on a GPU: windows as columns, pooling, and swapped
 * dimensions. There is a thread for each element of the output, which gathers its terms in the
 * order of cpu/kernels_ref_image.c. */
#include "kernel.cuh"

/* Gives place k of window o along an axis; false if it is in the padding. */
static __device__ bool inside(const dp_geometry &at, int axis, size_t o, size_t k, size_t *place)
{
    const size_t size = axis == 0 ? at.height : at.width;
    const size_t from = o * at.stride[axis] + k;
    *place = from - at.padding[axis];
    return from >= at.padding[axis] && *place < size;
}

static __global__ void im2col(dp_columns g)
{
    const dp_geometry &at = g.at;
    const size_t windows = at.out[0] * at.out[1], width = at.images * windows;
    const size_t places = at.kernel[0] * at.kernel[1];
    for (size_t i = first_element(); i < at.channels * places * width; i += stride()) {
        const size_t row = i / width, c = row / places, k = row % places;
        const size_t n = i % width / windows, o = i % windows;
        const float *x = g.x + (n * at.channels + c) * at.height * at.width;
        size_t h, w;
        const bool in = inside(at, 0, o / at.out[1], k / at.kernel[1], &h) &&
                        inside(at, 1, o % at.out[1], k % at.kernel[1], &w);
        g.col[i] = in ? x[h * at.width + w] : 0.0f;
    }
}

/* Gives the window along an axis that has its place k at place; false if there is none. */
static __device__ bool window_at(const dp_geometry &at, int axis, size_t place, size_t k, size_t *o)
{
    const size_t from = place + at.padding[axis];
    *o = (from - k) / at.stride[axis];
    return from >= k && (from - k) % at.stride[axis] == 0 && *o < at.out[axis];
}

/* Element (h, w) of image n, channel c: the sum of its places in col. */
static __device__ float places_of(const dp_columns &g, size_t n, size_t c, size_t h, size_t w)
{
    const dp_geometry &at = g.at;
    const size_t windows = at.out[0] * at.out[1];
    float sum = 0.0f;
    for (size_t kh = 0; kh < at.kernel[0]; ++kh) {
        size_t oh, ow;
        if (!window_at(at, 0, h, kh, &oh))
            continue;
        for (size_t kw = 0; kw < at.kernel[1]; ++kw) {
            const size_t row = (c * at.kernel[0] + kh) * at.kernel[1] + kw;
            if (window_at(at, 1, w, kw, &ow))
                sum += g.col[(row * at.images + n) * windows + oh * at.out[1] + ow];
        }
    }
    return sum;
}

static __global__ void col2im(dp_columns g)
{
    const dp_geometry &at = g.at;
    const size_t plane = at.height * at.width;
    for (size_t i = first_element(); i < at.images * at.channels * plane; i += stride())
        g.x[i] = places_of(g, i / plane / at.channels, i / plane % at.channels,
                           i % plane / at.width, i % at.width);
}

static __global__ void swap(dp_swap g)
{
    for (size_t at = first_element(); at < g.i * g.j * g.block; at += stride()) {
        const size_t b = at % g.block, i = at / g.block % g.i, j = at / g.block / g.i;
        const float x = g.x[(i * g.j + j) * g.block + b];
        g.y[at] = g.bias ? x + g.bias[i] : x;
    }
}

/* A block has a row. Its threads add every n-th element; then the block adds their sums. */
static __global__ void add_rows(dp_add_rows g)
{
    for (size_t r = blockIdx.x; r < g.rows; r += gridDim.x) {
        float sum = 0.0f;
        for (size_t c = threadIdx.x; c < g.cols; c += THREADS)
            sum += g.x[r * g.cols + c];
        sum = block_sum(sum);
        if (threadIdx.x == 0)
            g.out[r] = g.accumulate ? g.out[r] + sum : sum;
    }
}

/* The place of the maximum in window (oh, ow) of a plane; -1: the window is all padding. */
static __device__ int32_t largest(const dp_geometry &at, const float *x, size_t oh, size_t ow)
{
    int32_t best = -1;
    size_t h, w;
    for (size_t k = 0; k < at.kernel[0] * at.kernel[1]; ++k) {
        if (!inside(at, 0, oh, k / at.kernel[1], &h) || !inside(at, 1, ow, k % at.kernel[1], &w))
            continue;
        const size_t place = h * at.width + w;
        if (best < 0 || x[place] > x[best] || isnan(x[place]))
            best = static_cast<int32_t>(place);
    }
    return best;
}

static __global__ void max_pool(dp_max_pool g)
{
    const dp_geometry &at = g.at;
    const size_t windows = at.out[0] * at.out[1];
    for (size_t i = first_element(); i < at.images * at.channels * windows; i += stride()) {
        const float *x = g.x + i / windows * at.height * at.width;
        const int32_t best = largest(at, x, i % windows / at.out[1], i % at.out[1]);
        g.index[i] = best;
        g.y[i] = x[best];
    }
}

/* The windows along an axis that contain a place: from first to before end. */
static __device__ size_t first_window(const dp_geometry &at, int axis, size_t place)
{
    const size_t from = place + at.padding[axis], kernel = at.kernel[axis];
    return from < kernel ? 0 : (from - kernel) / at.stride[axis] + 1;
}

static __device__ size_t end_of_windows(const dp_geometry &at, int axis, size_t place)
{
    const size_t end = (place + at.padding[axis]) / at.stride[axis] + 1;
    return end < at.out[axis] ? end : at.out[axis];
}

/* Each place of a plane reads the windows that can have chosen it, in the order of dy. */
static __global__ void max_pool_grad(dp_max_pool g)
{
    const dp_geometry &at = g.at;
    const size_t windows = at.out[0] * at.out[1], plane = at.height * at.width;
    for (size_t i = first_element(); i < at.images * at.channels * plane; i += stride()) {
        const size_t place = i % plane, h = place / at.width, w = place % at.width;
        const size_t end_h = end_of_windows(at, 0, h), end_w = end_of_windows(at, 1, w);
        float sum = 0.0f;
        for (size_t oh = first_window(at, 0, h); oh < end_h; ++oh) {
            for (size_t ow = first_window(at, 1, w); ow < end_w; ++ow) {
                const size_t o = i / plane * windows + oh * at.out[1] + ow;
                if (g.index[o] == static_cast<int32_t>(place))
                    sum += g.y[o];
            }
        }
        g.x[i] = sum;
    }
}

int dp_cuda_launch_im2col(const void *args, cudaStream_t stream)
{
    const struct dp_geometry *at = &static_cast<const struct dp_columns *>(args)->at;
    const size_t rows = at->channels * at->kernel[0] * at->kernel[1];
    return start(im2col, args, rows * at->images * at->out[0] * at->out[1], stream);
}

int dp_cuda_launch_col2im(const void *args, cudaStream_t stream)
{
    const struct dp_geometry *at = &static_cast<const struct dp_columns *>(args)->at;
    return start(col2im, args, at->images * at->channels * at->height * at->width, stream);
}

int dp_cuda_launch_swap(const void *args, cudaStream_t stream)
{
    const struct dp_swap *g = static_cast<const struct dp_swap *>(args);
    return start(swap, args, g->i * g->j * g->block, stream);
}

int dp_cuda_launch_add_rows(const void *args, cudaStream_t stream)
{
    const struct dp_add_rows *g = static_cast<const struct dp_add_rows *>(args);
    return start_blocks(add_rows, args, g->rows, stream);
}

int dp_cuda_launch_max_pool(const void *args, cudaStream_t stream)
{
    const struct dp_geometry *at = &static_cast<const struct dp_max_pool *>(args)->at;
    return start(max_pool, args, at->images * at->channels * at->out[0] * at->out[1], stream);
}

int dp_cuda_launch_max_pool_grad(const void *args, cudaStream_t stream)
{
    const struct dp_geometry *at = &static_cast<const struct dp_max_pool *>(args)->at;
    return start(max_pool_grad, args, at->images * at->channels * at->height * at->width, stream);
}
