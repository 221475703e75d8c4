/* launch_twins_layers.c: the launches of core/cuda/kernels_*.cu on the host, except those of
 * kernels_optim.cu. */
#include "launch_twins.h"

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
