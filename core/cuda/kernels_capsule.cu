/* kernels_capsule.cu: the kernels of capsules with routing by agreement on a GPU. A block has a
 * sample. One thread makes all additions to an element, in the order of cpu/kernels_ref_capsule.c.
 */
#include "kernel.cuh"

static __device__ float tiny()
{
    return 1e-8f;
}

static __device__ float dot(const float *a, const float *b, size_t n)
{
    float sum = 0.0f;
    for (size_t k = 0; k < n; ++k)
        sum += a[k] * b[k];
    return sum;
}

/* The softmax of a row is exp(logit - most) / total. */
struct share {
    float most, total;
};

static __device__ share share_of(const float *logits, size_t n)
{
    share share = {logits[0], 0.0f};
    for (size_t j = 1; j < n; ++j)
        share.most = logits[j] > share.most ? logits[j] : share.most;
    for (size_t j = 0; j < n; ++j)
        share.total += exp_of(logits[j] - share.most);
    return share;
}

static __device__ float softmax(const share &share, float logit)
{
    return exp_of(logit - share.most) / share.total;
}

/* Loads the softmax of THREADS rows of logits [rows, out], one for each thread; for the whole
 * block. */
static __device__ void load_shares(share *shares, const float *logits, size_t rows, size_t out)
{
    __syncthreads();
    if (threadIdx.x < rows)
        shares[threadIdx.x] = share_of(logits + threadIdx.x * out, out);
    __syncthreads();
}

static __device__ size_t rows_left(size_t rows, size_t from)
{
    return rows - from < THREADS ? rows - from : THREADS;
}

static __device__ void squash(const float *s, float *v, size_t width)
{
    const float square = dot(s, s, width);
    const float factor = square / (1.0f + square) / sqrtf(square + tiny());
    for (size_t k = 0; k < width; ++k)
        v[k] = factor * s[k];
}

/* Adds the votes of so many rows to s. Their softmax is computed once for the whole width of a
 * capsule, if a block has threads for a row. */
static __device__ void add_votes(const dp_capsule_args &g, const share *shares, const float *logits,
                                 const float *votes, size_t rows, float *s)
{
    __shared__ float parts[THREADS];
    const size_t elements = g.out * g.width;
    const bool fits = g.out <= THREADS;
    if (fits && threadIdx.x < rows * g.out)
        parts[threadIdx.x] = softmax(shares[threadIdx.x / g.out], logits[threadIdx.x]);
    __syncthreads();
    for (size_t e = threadIdx.x; e < elements; e += THREADS) {
        float sum = s[e];
        for (size_t i = 0; i < rows; ++i) {
            const size_t pair = i * g.out + e / g.width;
            const float c = fits ? parts[pair] : softmax(shares[i], logits[pair]);
            sum += c * votes[i * elements + e];
        }
        s[e] = sum;
    }
    __syncthreads();
}

/* Computes the sums s of one sample from the softmax of its logits, and v from them. */
static __device__ void combine(const dp_capsule_args &g, const float *votes, const float *logits,
                               float *s, float *v)
{
    __shared__ share shares[THREADS];
    const size_t elements = g.out * g.width, tile = g.out < THREADS ? THREADS / g.out : 1;
    for (size_t e = threadIdx.x; e < elements; e += THREADS)
        s[e] = 0.0f;
    for (size_t from = 0; from < g.in; from += THREADS) {
        const size_t rows = rows_left(g.in, from);
        load_shares(shares, logits + from * g.out, rows, g.out);
        for (size_t i = 0; i < rows; i += tile)
            add_votes(g, shares + i, logits + (from + i) * g.out, votes + (from + i) * elements,
                      rows - i < tile ? rows - i : tile, s);
    }
    __syncthreads();
    for (size_t j = threadIdx.x; j < g.out; j += THREADS)
        squash(s + j * g.width, v + j * g.width, g.width);
    __syncthreads();
}

static __global__ void capsule(dp_capsule_args g)
{
    const size_t pairs = g.in * g.out;
    for (size_t n = blockIdx.x; n < g.n; n += gridDim.x) {
        const float *votes = g.votes + n * pairs * g.width;
        float *logits = g.logits + n * pairs;
        float *s = g.s + n * g.out * g.width, *v = g.v + n * g.out * g.width;
        for (size_t p = threadIdx.x; p < pairs; p += THREADS)
            logits[p] = 0.0f;
        combine(g, votes, logits, s, v);
        for (int round = 1; round < g.rounds; ++round) {
            for (size_t p = threadIdx.x; p < pairs; p += THREADS)
                logits[p] += dot(votes + p * g.width, v + p % g.out * g.width, g.width);
            combine(g, votes, logits, s, v);
        }
    }
}

/* Computes ds from v = f(q) s with q = |s|^2, f = q / (1 + q) / sqrt(q + tiny): ds = f dv + 2 f' (s
 * . dv) s. */
static __device__ void unsquash(float *s, const float *dv, size_t width)
{
    const float q = dot(s, s, width), root = sqrtf(q + tiny());
    const float factor = q / (1.0f + q) / root;
    const float slope =
        1.0f / ((1.0f + q) * (1.0f + q) * root) - 0.5f * q / ((1.0f + q) * (q + tiny()) * root);
    const float along = 2.0f * slope * dot(s, dv, width);
    for (size_t k = 0; k < width; ++k)
        s[k] = factor * dv[k] + along * s[k];
}

static __global__ void capsule_grad(dp_capsule_args g)
{
    __shared__ share shares[THREADS];
    const size_t elements = g.out * g.width;
    for (size_t n = blockIdx.x; n < g.n; n += gridDim.x) {
        float *ds = g.s + n * elements;
        for (size_t j = threadIdx.x; j < g.out; j += THREADS)
            unsquash(ds + j * g.width, g.dv + n * elements + j * g.width, g.width);
        for (size_t from = 0; from < g.in; from += THREADS) {
            const size_t rows = rows_left(g.in, from);
            const float *logits = g.logits + (n * g.in + from) * g.out;
            float *votes = g.votes + (n * g.in + from) * elements;
            load_shares(shares, logits, rows, g.out);
            for (size_t e = threadIdx.x; e < rows * elements; e += THREADS)
                votes[e] = softmax(shares[e / elements], logits[e / g.width]) * ds[e % elements];
        }
    }
}

int dp_cuda_launch_capsule(const void *args, cudaStream_t stream)
{
    const struct dp_capsule_args *g = static_cast<const struct dp_capsule_args *>(args);
    return start_blocks(capsule, args, g->n, stream);
}

int dp_cuda_launch_capsule_grad(const void *args, cudaStream_t stream)
{
    const struct dp_capsule_args *g = static_cast<const struct dp_capsule_args *>(args);
    return start_blocks(capsule_grad, args, g->n, stream);
}
