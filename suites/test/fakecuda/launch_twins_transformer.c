/* launch_twins_transformer.c: the launches of core/cuda/kernels_transformer.cu and of the layer
 * normalisation in kernels_norm.cu on the host. */
#include "launch_twins.h"

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
