/* kernels_table.cu: the kernels of tables (embedding) and of dropout on a GPU. */
#include "kernel.cuh"

static __device__ bool is_row(int32_t index, size_t rows)
{
    return index >= 0 && static_cast<size_t>(index) < rows;
}

static __global__ void lookup(dp_lookup g)
{
    for (size_t i = first_element(); i < g.n * g.cols; i += stride()) {
        const int32_t row = g.index[i / g.cols];
        g.y[i] =
            is_row(row, g.rows) ? g.table[static_cast<size_t>(row) * g.cols + i % g.cols] : NAN;
    }
}

/* Adds those of the block's THREADS numbers, from number `from` on, that belong to a row. A thread
 * always has the same columns, so it adds in the order of the numbers. */
static __device__ void add_to_row(const dp_lookup &g, size_t row, size_t from, const bool *hits)
{
    for (unsigned k = 0; k < THREADS; ++k) {
        if (!hits[k])
            continue;
        for (size_t c = threadIdx.x; c < g.cols; c += THREADS)
            g.table[row * g.cols + c] += g.y[(from + k) * g.cols + c];
    }
}

/* A block has a row. Each thread looks for the row at a different number. If one finds it, all add
 * together. */
static __global__ void lookup_grad(dp_lookup g)
{
    __shared__ bool hits[THREADS];
    for (size_t row = blockIdx.x; row < g.rows; row += gridDim.x) {
        for (size_t c = threadIdx.x; !g.accumulate && c < g.cols; c += THREADS)
            g.table[row * g.cols + c] = 0.0f;
        for (size_t from = 0; from < g.n; from += THREADS) {
            const size_t n = from + threadIdx.x;
            const bool hit =
                n < g.n && is_row(g.index[n], g.rows) && static_cast<size_t>(g.index[n]) == row;
            hits[threadIdx.x] = hit;
            if (__syncthreads_or(hit))
                add_to_row(g, row, from, hits);
            __syncthreads();
        }
    }
}

static __global__ void store(dp_store g)
{
    if (first_element() == 0)
        *g.dst = g.value;
}

static __global__ void fold(dp_fold g)
{
    for (size_t j = first_element(); j < DP_FOLD_MARKS && j < g.n; j += stride()) {
        uint32_t mark = g.marks[j];
        for (size_t i = j; i < g.n; i += DP_FOLD_MARKS) {
            mark = (mark ^ g.x[i]) * 0x9e3779b1u;
            mark = mark ^ mark >> 15;
        }
        g.marks[j] = mark;
    }
}

static __device__ uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static __global__ void dropout(dp_dropout_args g)
{
    const uint64_t key = *g.key;
    for (size_t i = first_element(); i < g.n; i += stride()) {
        const uint64_t draw = mix(key + (i + 1) * 0x9e3779b97f4a7c15u) >> 32;
        g.y[i] = draw < g.limit ? g.x[i] * g.scale : 0.0f;
    }
}

int dp_cuda_launch_lookup(const void *args, cudaStream_t stream)
{
    const struct dp_lookup *g = static_cast<const struct dp_lookup *>(args);
    return start(lookup, args, g->n * g->cols, stream);
}

int dp_cuda_launch_lookup_grad(const void *args, cudaStream_t stream)
{
    const struct dp_lookup *g = static_cast<const struct dp_lookup *>(args);
    return start_blocks(lookup_grad, args, g->rows, stream);
}

int dp_cuda_launch_store(const void *args, cudaStream_t stream)
{
    return start(store, args, 1, stream);
}

int dp_cuda_launch_fold(const void *args, cudaStream_t stream)
{
    const struct dp_fold *g = static_cast<const struct dp_fold *>(args);
    return start(fold, args, g->n < DP_FOLD_MARKS ? g->n : DP_FOLD_MARKS, stream);
}

int dp_cuda_launch_dropout(const void *args, cudaStream_t stream)
{
    const struct dp_dropout_args *g = static_cast<const struct dp_dropout_args *>(args);
    return start(dropout, args, g->n, stream);
}
