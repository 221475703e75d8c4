/* launch_twins.c: the launches of core/cuda/kernels*.cu on the host, with the portable kernels in
 * place of nvcc's. Each declares the memory that its kernel reads and writes, row for row as the
 * kernel does; if that depends on values, all that it may use. */
#include "../../../core/cuda/launch.h"
#include "fake.h"
#include "launch_inexact.h"

/* The launch dp_cuda_launch_name of a kernel, whose arguments have that type; what it uses is in
 * the braces behind it, where `a` is a copy of the arguments. */
#define TWIN(name, kernel, type)                                                                   \
    static void name##_uses(struct fake_work *work, type *a);                                      \
    int dp_cuda_launch_##name(const void *args, struct CUstream_st *stream)                        \
    {                                                                                              \
        struct fake_launch launch = fake_launch_begin("dp_cuda_launch_" #name, stream);            \
        type a = *(const type *)args;                                                              \
        name##_uses(launch.work, &a);                                                              \
        return twin_end(&launch, DP_KERNEL_##kernel, &a, sizeof a);                                \
    }                                                                                              \
    static void name##_uses(struct fake_work *work, type *a)

/* The portable kernels, declared in core/backend.h. */
extern dp_kernel_fn *const dp_kernels_ref[DP_KERNELS];

/* n words of 4 bytes at the device's pointer: the host's for the same memory; NULL stays. */
static void *twin_uses(struct fake_work *work, const void *pointer, size_t n, unsigned use)
{
    return pointer ? fake_uses(work, pointer, n * sizeof(float), use) : NULL;
}

/* The same of floats, with the host's pointer in place of the device's. */
static void twin_reads(struct fake_work *work, const float **pointer, size_t n)
{
    *pointer = twin_uses(work, *pointer, n, FAKE_READ);
}

static void twin_writes(struct fake_work *work, float **pointer, size_t n, bool read_too)
{
    *pointer = twin_uses(work, *pointer, n, read_too ? FAKE_BOTH : FAKE_WRITE);
}

/* Launches the twin of twin_inexact, or else the portable kernel. */
static int twin_end(struct fake_launch *launch, enum dp_kernel kernel, const void *args,
                    size_t bytes)
{
    dp_kernel_fn *inexact = twin_inexact(kernel);
    return fake_launch_end(launch, inexact ? inexact : dp_kernels_ref[kernel], args, bytes);
}

/* ---- kernels.cu and kernels_optim.cu --------------------------------------------------------- */

/* As if built for compute capability 7.5 and newer. */
int dp_cuda_kernels_there(void)
{
    struct fake_call call = {.name = "cudaFuncGetAttributes"};
    if (fake_enter(&call) && fake.config.capability < 75)
        fake_result(&call, cudaErrorNoKernelImageForDevice);
    return (int)fake_leave(&call);
}

TWIN(add_bias, ADD_BIAS, struct dp_add_bias)
{
    twin_writes(work, &a->y, a->rows * a->cols, true);
    twin_reads(work, &a->bias, a->rows ? a->cols : 0);
}

TWIN(sum_rows, SUM_ROWS, struct dp_sum_rows)
{
    twin_writes(work, &a->out, a->cols, a->accumulate);
    twin_reads(work, &a->x, a->rows * a->cols);
}

static void use_activation(struct fake_work *work, struct dp_activation *a)
{
    twin_writes(work, &a->y, a->n, false);
    twin_reads(work, &a->x, a->n);
}

TWIN(relu, RELU, struct dp_activation)
{
    use_activation(work, a);
}

TWIN(tanh, TANH, struct dp_activation)
{
    use_activation(work, a);
}

static void use_activation_grad(struct fake_work *work, struct dp_activation_grad *a)
{
    twin_writes(work, &a->dx, a->n, false);
    twin_reads(work, &a->dy, a->n);
    twin_reads(work, &a->y, a->n);
}

TWIN(relu_grad, RELU_GRAD, struct dp_activation_grad)
{
    use_activation_grad(work, a);
}

TWIN(tanh_grad, TANH_GRAD, struct dp_activation_grad)
{
    use_activation_grad(work, a);
}

static int launch_loss(const char *name, enum dp_kernel kernel, const struct dp_loss_args *args,
                       double *parts, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin(name, stream);
    struct dp_loss_args a = *args;
    if (parts)
        fake_uses(launch.work, parts, DP_CUDA_LOSS_PARTS * sizeof *parts, FAKE_WRITE);
    const size_t n = a.rows * a.cols;
    const bool classes = a.kind == DP_LOSS_XENT, all = kernel == DP_KERNEL_LOSS_GRAD;
    /* The gradient of a sum is made without its values. */
    if (!all || a.kind != DP_LOSS_SUM)
        twin_reads(launch.work, &a.y, n);
    if (a.target)
        a.target = fake_uses(launch.work, a.target,
                             classes ? a.rows * sizeof(int32_t) : n * sizeof(float), FAKE_READ);
    twin_reads(launch.work, &a.upstream, all ? 1 : 0);
    twin_writes(launch.work, &a.out, all ? n : 1, false);
    return twin_end(&launch, kernel, &a, sizeof a);
}

int dp_cuda_launch_loss(const struct dp_loss_args *args, double *parts, struct CUstream_st *stream)
{
    return launch_loss("dp_cuda_launch_loss", DP_KERNEL_LOSS, args, parts, stream);
}

int dp_cuda_launch_loss_grad(const void *args, struct CUstream_st *stream)
{
    return launch_loss("dp_cuda_launch_loss_grad", DP_KERNEL_LOSS_GRAD, args, NULL, stream);
}

TWIN(sgd, SGD, struct dp_sgd_args)
{
    twin_writes(work, &a->value, a->n, true);
    twin_writes(work, &a->velocity, a->n, !a->first);
    twin_reads(work, &a->grad, a->n);
    twin_reads(work, &a->lr, 1);
}

TWIN(adamw, ADAMW, struct dp_adamw_args)
{
    twin_writes(work, &a->value, a->n, true);
    twin_writes(work, &a->m, a->n, !a->first);
    twin_writes(work, &a->s, a->n, !a->first);
    twin_reads(work, &a->grad, a->n);
    twin_reads(work, &a->rates, 3);
}

TWIN(squares, SQUARES, struct dp_squares_args)
{
    const size_t n = (a->n + DP_SQUARES_CHUNK - 1) / DP_SQUARES_CHUNK;
    a->sums = twin_uses(work, a->sums, 2 * n, FAKE_WRITE);
    twin_reads(work, &a->x, a->n);
}

TWIN(clip, CLIP, struct dp_clip_args)
{
    a->sums = twin_uses(work, a->sums, 2 * a->n, FAKE_READ);
    a->norm = twin_uses(work, a->norm, 2, FAKE_WRITE);
    twin_writes(work, &a->factor, 1, false);
}

TWIN(scale, SCALE, struct dp_scale_args)
{
    twin_writes(work, &a->x, a->n, true);
    twin_reads(work, &a->factor, 1);
}

TWIN(fill, FILL, struct dp_fill)
{
    twin_writes(work, &a->dst, a->n, false);
}

TWIN(reduce, REDUCE, struct dp_reduce_args)
{
    const size_t bytes = a->n * (a->dtype == DP_F64 || a->dtype == DP_I64 ? 8 : 4);
    a->dst = fake_uses(work, a->dst, bytes, a->accumulate ? FAKE_BOTH : FAKE_WRITE);
    for (int i = 0; i < a->n_src; ++i)
        a->src[i] = fake_uses(work, a->src[i], bytes, FAKE_READ);
}

TWIN(mean, MEAN, struct dp_mean_args)
{
    twin_writes(work, &a->dst, a->n, false);
    for (int i = 0; i < a->n_src; ++i)
        twin_reads(work, &a->src[i], a->n);
}

TWIN(round_bf16, ROUND_BF16, struct dp_round_bf16)
{
    if (a->dst)
        a->dst = fake_uses(work, a->dst, a->n * sizeof *a->dst, FAKE_WRITE);
    twin_reads(work, &a->src, a->n);
}

int dp_cuda_launch_delay(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_delay", stream);
    return twin_end(&launch, DP_KERNEL_DELAY, args, sizeof(struct dp_delay_args));
}

/* ---- the layers' kernels --------------------------------------------------------------------- */

/* The numbers decide which rows of the table are used. */
TWIN(lookup, LOOKUP, struct dp_lookup)
{
    a->table = twin_uses(work, a->table, a->n > 0 ? a->rows * a->cols : 0, FAKE_READ);
    a->index = twin_uses(work, a->index, a->n, FAKE_READ);
    twin_writes(work, &a->y, a->n * a->cols, false);
}

TWIN(lookup_grad, LOOKUP_GRAD, struct dp_lookup)
{
    twin_writes(work, &a->table, a->rows * a->cols, a->accumulate);
    a->index = twin_uses(work, a->index, a->n, FAKE_READ);
    a->y = twin_uses(work, a->y, a->n * a->cols, FAKE_READ);
}

TWIN(fold, FOLD, struct dp_fold)
{
    a->marks = twin_uses(work, a->marks, a->n < DP_FOLD_MARKS ? a->n : DP_FOLD_MARKS, FAKE_BOTH);
    a->x = twin_uses(work, a->x, a->n, FAKE_READ);
}

TWIN(store, STORE, struct dp_store)
{
    a->dst = twin_uses(work, a->dst, 2, FAKE_WRITE);
}

TWIN(dropout, DROPOUT, struct dp_dropout_args)
{
    twin_writes(work, &a->y, a->n, false);
    twin_reads(work, &a->x, a->n);
    a->key = twin_uses(work, a->key, 2, FAKE_READ);
}

TWIN(lstm, LSTM, struct dp_lstm_args)
{
    const size_t n = a->rows * a->hidden, biases = n > 0 ? 4 * a->hidden : 0;
    twin_writes(work, &a->gates, 4 * n, true);
    twin_reads(work, &a->bias_x, biases);
    twin_reads(work, &a->bias_h, biases);
    twin_reads(work, &a->c_before, n);
    twin_writes(work, &a->c, n, false);
    twin_writes(work, &a->h, n, false);
}

TWIN(lstm_grad, LSTM_GRAD, struct dp_lstm_args)
{
    const size_t n = a->rows * a->hidden;
    twin_writes(work, &a->gates, 4 * n, true);
    twin_reads(work, &a->c_before, n);
    a->c = twin_uses(work, a->c, n, FAKE_READ);
    twin_reads(work, &a->dh, n);
    twin_writes(work, &a->dc, n, !a->last);
}

/* Both forwards use this memory. */
static void use_norm_forward(struct fake_work *work, struct dp_batch_norm_args *a, bool moves)
{
    const size_t n = a->rows * a->channels * a->inner;
    const unsigned use = moves ? FAKE_BOTH : FAKE_READ;
    twin_reads(work, &a->x, n);
    twin_reads(work, &a->weight, a->channels);
    twin_reads(work, &a->bias, a->channels);
    twin_writes(work, &a->y, n, false);
    a->running_mean = twin_uses(work, a->running_mean, a->channels, use);
    a->running_var = twin_uses(work, a->running_var, a->channels, use);
    twin_writes(work, &a->mean, a->channels, false);
    twin_writes(work, &a->invstd, a->channels, false);
}

TWIN(batch_norm, BATCH_NORM, struct dp_batch_norm_args)
{
    use_norm_forward(work, a, true);
    a->count = fake_uses(work, a->count, sizeof *a->count, FAKE_BOTH);
}

TWIN(batch_norm_eval, BATCH_NORM_EVAL, struct dp_batch_norm_args)
{
    use_norm_forward(work, a, false);
}

TWIN(batch_norm_grad, BATCH_NORM_GRAD, struct dp_batch_norm_args)
{
    const size_t n = a->rows * a->channels * a->inner;
    twin_reads(work, &a->x, n);
    twin_reads(work, &a->dy, n);
    twin_reads(work, &a->weight, a->channels);
    a->mean = twin_uses(work, a->mean, a->channels, FAKE_READ);
    a->invstd = twin_uses(work, a->invstd, a->channels, FAKE_READ);
    twin_writes(work, &a->y, n, false);
    twin_writes(work, &a->dweight, a->channels, a->accumulate_weight);
    twin_writes(work, &a->dbias, a->channels, a->accumulate_bias);
}

TWIN(capsule, CAPSULE, struct dp_capsule_args)
{
    a->votes = twin_uses(work, a->votes, a->n * a->in * a->out * a->width, FAKE_READ);
    twin_writes(work, &a->logits, a->n * a->in * a->out, false);
    twin_writes(work, &a->s, a->n * a->out * a->width, false);
    twin_writes(work, &a->v, a->n * a->out * a->width, false);
}

TWIN(capsule_grad, CAPSULE_GRAD, struct dp_capsule_args)
{
    twin_writes(work, &a->votes, a->n * a->in * a->out * a->width, false);
    a->logits = twin_uses(work, a->logits, a->n * a->in * a->out, FAKE_READ);
    twin_writes(work, &a->s, a->n * a->out * a->width, true);
    twin_reads(work, &a->dv, a->n * a->out * a->width);
}

static size_t input_size(const struct dp_geometry *at)
{
    return at->images * at->channels * at->height * at->width;
}

static size_t windows(const struct dp_geometry *at)
{
    return at->images * at->out[0] * at->out[1];
}

static void use_columns(struct fake_work *work, struct dp_columns *a, bool gathers)
{
    const size_t rows = a->at.channels * a->at.kernel[0] * a->at.kernel[1];
    a->col = twin_uses(work, a->col, rows * windows(&a->at), gathers ? FAKE_WRITE : FAKE_READ);
    a->x = twin_uses(work, a->x, input_size(&a->at), gathers ? FAKE_READ : FAKE_WRITE);
}

TWIN(im2col, IM2COL, struct dp_columns)
{
    use_columns(work, a, true);
}

TWIN(col2im, COL2IM, struct dp_columns)
{
    use_columns(work, a, false);
}

TWIN(swap, SWAP, struct dp_swap)
{
    const size_t n = a->i * a->j * a->block;
    twin_writes(work, &a->y, n, false);
    twin_reads(work, &a->x, n);
    twin_reads(work, &a->bias, n > 0 ? a->i : 0);
}

TWIN(add_rows, ADD_ROWS, struct dp_add_rows)
{
    twin_writes(work, &a->out, a->rows, a->accumulate);
    twin_reads(work, &a->x, a->rows * a->cols);
}

static void use_max_pool(struct fake_work *work, struct dp_max_pool *a, bool back)
{
    const size_t n = a->at.channels * windows(&a->at);
    a->y = twin_uses(work, a->y, n, back ? FAKE_READ : FAKE_WRITE);
    a->index = twin_uses(work, a->index, n, back ? FAKE_READ : FAKE_WRITE);
    a->x = twin_uses(work, a->x, input_size(&a->at), back ? FAKE_WRITE : FAKE_READ);
}

TWIN(max_pool, MAX_POOL, struct dp_max_pool)
{
    use_max_pool(work, a, false);
}

TWIN(max_pool_grad, MAX_POOL_GRAD, struct dp_max_pool)
{
    use_max_pool(work, a, true);
}

TWIN(gelu, GELU, struct dp_gelu_args)
{
    twin_writes(work, &a->y, a->n, false);
    twin_reads(work, &a->x, a->n);
}

TWIN(gelu_grad, GELU_GRAD, struct dp_gelu_args)
{
    twin_writes(work, &a->y, a->n, false);
    twin_reads(work, &a->x, a->n);
    twin_reads(work, &a->dy, a->n);
}

TWIN(layer_norm, LAYER_NORM, struct dp_layer_norm_args)
{
    const size_t width = a->rows > 0 ? a->width : 0;
    twin_reads(work, &a->x, a->rows * a->width);
    twin_reads(work, &a->weight, width);
    twin_reads(work, &a->bias, width);
    twin_writes(work, &a->y, a->rows * a->width, false);
    twin_writes(work, &a->mean, a->rows, false);
    twin_writes(work, &a->invstd, a->rows, false);
}

TWIN(layer_norm_grad, LAYER_NORM_GRAD, struct dp_layer_norm_args)
{
    const size_t n = a->rows * a->width;
    twin_reads(work, &a->x, n);
    twin_reads(work, &a->dy, n);
    twin_reads(work, &a->weight, a->y && n > 0 ? a->width : 0);
    a->mean = twin_uses(work, a->mean, a->rows, FAKE_READ);
    a->invstd = twin_uses(work, a->invstd, a->rows, FAKE_READ);
    twin_writes(work, &a->y, n, false);
    twin_writes(work, &a->dweight, a->width, a->accumulate_weight);
    twin_writes(work, &a->dbias, a->width, a->accumulate_bias);
}

TWIN(causal, CAUSAL, struct dp_causal_args)
{
    twin_writes(work, &a->p, a->n * a->time * a->time, true);
}

TWIN(causal_grad, CAUSAL_GRAD, struct dp_causal_args)
{
    a->p = twin_uses(work, a->p, a->n * a->time * a->time, FAKE_READ);
    twin_writes(work, &a->d, a->n * a->time * a->time, true);
}
