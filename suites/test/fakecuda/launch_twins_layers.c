/* launch_twins_layers.c: the launches of core/cuda/kernels_table.cu, kernels_recurrent.cu,
 * kernels_norm.cu and kernels_capsule.cu on the host. */
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
