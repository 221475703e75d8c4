/* launch_twins_image.c: the launches of core/cuda/kernels_image.cu on the host. */
#include "launch_twins.h"

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
