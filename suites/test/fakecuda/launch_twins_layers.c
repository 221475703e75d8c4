/* launch_twins_layers.c: the launches of core/cuda/kernels_table.cu, kernels_recurrent.cu,
 * kernels_norm.cu and kernels_capsule.cu on the host. */
#include "launch_twins.h"

/* The numbers decide which rows of the table are used. */
int dp_cuda_launch_lookup(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_lookup", stream);
    struct dp_lookup a = *(const struct dp_lookup *)args;
    a.table = twin_uses(launch.work, a.table, a.n > 0 ? a.rows * a.cols : 0, FAKE_READ);
    a.index = twin_uses(launch.work, a.index, a.n, FAKE_READ);
    twin_writes(launch.work, &a.y, a.n * a.cols, false);
    return twin_end(&launch, DP_KERNEL_LOOKUP, &a, sizeof a);
}

int dp_cuda_launch_lookup_grad(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_lookup_grad", stream);
    struct dp_lookup a = *(const struct dp_lookup *)args;
    twin_writes(launch.work, &a.table, a.rows * a.cols, a.accumulate);
    a.index = twin_uses(launch.work, a.index, a.n, FAKE_READ);
    a.y = twin_uses(launch.work, a.y, a.n * a.cols, FAKE_READ);
    return twin_end(&launch, DP_KERNEL_LOOKUP_GRAD, &a, sizeof a);
}

int dp_cuda_launch_fold(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_fold", stream);
    struct dp_fold a = *(const struct dp_fold *)args;
    a.marks = twin_uses(launch.work, a.marks, a.n < DP_FOLD_MARKS ? a.n : DP_FOLD_MARKS, FAKE_BOTH);
    a.x = twin_uses(launch.work, a.x, a.n, FAKE_READ);
    return twin_end(&launch, DP_KERNEL_FOLD, &a, sizeof a);
}

int dp_cuda_launch_store(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_store", stream);
    struct dp_store a = *(const struct dp_store *)args;
    a.dst = twin_uses(launch.work, a.dst, 2, FAKE_WRITE);
    return twin_end(&launch, DP_KERNEL_STORE, &a, sizeof a);
}

int dp_cuda_launch_dropout(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_dropout", stream);
    struct dp_dropout_args a = *(const struct dp_dropout_args *)args;
    twin_writes(launch.work, &a.y, a.n, false);
    twin_reads(launch.work, &a.x, a.n);
    a.key = twin_uses(launch.work, a.key, 2, FAKE_READ);
    return twin_end(&launch, DP_KERNEL_DROPOUT, &a, sizeof a);
}

int dp_cuda_launch_lstm(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_lstm", stream);
    struct dp_lstm_args a = *(const struct dp_lstm_args *)args;
    const size_t n = a.rows * a.hidden, biases = n > 0 ? 4 * a.hidden : 0;
    twin_writes(launch.work, &a.gates, 4 * n, true);
    twin_reads(launch.work, &a.bias_x, biases);
    twin_reads(launch.work, &a.bias_h, biases);
    twin_reads(launch.work, &a.c_before, n);
    twin_writes(launch.work, &a.c, n, false);
    twin_writes(launch.work, &a.h, n, false);
    return twin_end(&launch, DP_KERNEL_LSTM, &a, sizeof a);
}

int dp_cuda_launch_lstm_grad(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_lstm_grad", stream);
    struct dp_lstm_args a = *(const struct dp_lstm_args *)args;
    const size_t n = a.rows * a.hidden;
    twin_writes(launch.work, &a.gates, 4 * n, true);
    twin_reads(launch.work, &a.c_before, n);
    a.c = twin_uses(launch.work, a.c, n, FAKE_READ);
    twin_reads(launch.work, &a.dh, n);
    twin_writes(launch.work, &a.dc, n, !a.last);
    return twin_end(&launch, DP_KERNEL_LSTM_GRAD, &a, sizeof a);
}

/* Both forwards use this memory. */
static void launch_twins_layers_norm_forward(struct fake_work *work, struct dp_batch_norm_args *a,
                                             bool moves)
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

int dp_cuda_launch_batch_norm(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_batch_norm", stream);
    struct dp_batch_norm_args a = *(const struct dp_batch_norm_args *)args;
    launch_twins_layers_norm_forward(launch.work, &a, true);
    a.count = fake_uses(launch.work, a.count, sizeof *a.count, FAKE_BOTH);
    return twin_end(&launch, DP_KERNEL_BATCH_NORM, &a, sizeof a);
}

int dp_cuda_launch_batch_norm_eval(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_batch_norm_eval", stream);
    struct dp_batch_norm_args a = *(const struct dp_batch_norm_args *)args;
    launch_twins_layers_norm_forward(launch.work, &a, false);
    return twin_end(&launch, DP_KERNEL_BATCH_NORM_EVAL, &a, sizeof a);
}

int dp_cuda_launch_batch_norm_grad(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_batch_norm_grad", stream);
    struct dp_batch_norm_args a = *(const struct dp_batch_norm_args *)args;
    const size_t n = a.rows * a.channels * a.inner;
    twin_reads(launch.work, &a.x, n);
    twin_reads(launch.work, &a.dy, n);
    twin_reads(launch.work, &a.weight, a.channels);
    a.mean = twin_uses(launch.work, a.mean, a.channels, FAKE_READ);
    a.invstd = twin_uses(launch.work, a.invstd, a.channels, FAKE_READ);
    twin_writes(launch.work, &a.y, n, false);
    twin_writes(launch.work, &a.dweight, a.channels, a.accumulate_weight);
    twin_writes(launch.work, &a.dbias, a.channels, a.accumulate_bias);
    return twin_end(&launch, DP_KERNEL_BATCH_NORM_GRAD, &a, sizeof a);
}

int dp_cuda_launch_capsule(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_capsule", stream);
    struct dp_capsule_args a = *(const struct dp_capsule_args *)args;
    a.votes = twin_uses(launch.work, a.votes, a.n * a.in * a.out * a.width, FAKE_READ);
    twin_writes(launch.work, &a.logits, a.n * a.in * a.out, false);
    twin_writes(launch.work, &a.s, a.n * a.out * a.width, false);
    twin_writes(launch.work, &a.v, a.n * a.out * a.width, false);
    return twin_end(&launch, DP_KERNEL_CAPSULE, &a, sizeof a);
}

int dp_cuda_launch_capsule_grad(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_capsule_grad", stream);
    struct dp_capsule_args a = *(const struct dp_capsule_args *)args;
    twin_writes(launch.work, &a.votes, a.n * a.in * a.out * a.width, false);
    a.logits = twin_uses(launch.work, a.logits, a.n * a.in * a.out, FAKE_READ);
    twin_writes(launch.work, &a.s, a.n * a.out * a.width, true);
    twin_reads(launch.work, &a.dv, a.n * a.out * a.width);
    return twin_end(&launch, DP_KERNEL_CAPSULE_GRAD, &a, sizeof a);
}
