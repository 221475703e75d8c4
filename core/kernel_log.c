/* kernel_log.c: logs the kernels of devices that run them when they are launched. The rows of a
 * queue are written by the thread that uses the queue, so two queues of a slot need no lock. */
#include "backend.h"

#define ROW(number, name, cpu, gpu, words, arguments) {#name, words},
static const struct {
    const char *name, *words;
} kernels[DP_KERNELS] = {DP_KERNEL_LIST(ROW)};

int dp_group_log(struct dp_group *group, struct dp_kernel_log *log, struct dp_error *err)
{
    if (log && (group->lag || (group->kind && !(group->kind->flags & DP_KIND_CORES))))
        return dp_fail(err, DP_ENOTSUP,
                       "kernels can be logged only on devices that run them at once, not on %s",
                       group->lag ? "late devices" : group->kind->words);
    group->log = log;
    return 0;
}

/* If a [m,k] or c [m,n] is a triangle of m rows, half of it and its diagonal count. */
static size_t multiplies(const struct dp_gemm_heads *g)
{
    const size_t half = g->m * (g->m + 1) / 2;
    const size_t one = g->triangle == DP_TRIANGLE_A   ? half * g->n
                       : g->triangle == DP_TRIANGLE_C ? half * g->k
                                                      : g->m * g->n * g->k;
    return g->rows * g->heads * one;
}

static void add_shape(struct dp_kernel_row *row, bool transpose_a, bool transpose_b, size_t m,
                      size_t n, size_t k)
{
    row->product = true;
    row->transpose_a = transpose_a, row->transpose_b = transpose_b;
    row->m = m, row->n = n, row->k = k;
    row->many = 1, row->multiplies = m * n * k;
}

static size_t operands(const struct dp_kernel_row *row)
{
    return row->m * row->k + row->k * row->n + row->m * row->n;
}

static bool log_same(const struct dp_kernel_row *a, const struct dp_kernel_row *b)
{
    return a->name == b->name && a->phase == b->phase && a->transpose_a == b->transpose_a &&
           a->transpose_b == b->transpose_b && a->m == b->m && a->n == b->n && a->k == b->k &&
           a->many == b->many && a->multiplies == b->multiplies;
}

static void log_add(const struct dp_queue *queue, const struct dp_kernel_row *own, uint64_t begin)
{
    const uint64_t ns = dp_now_ns() - begin;
    const struct dp_slot *slot = queue->slot;
    if (dp_is_host(slot))
        return;
    const enum dp_lane which = queue == &slot->comm ? DP_LANE_TRANSFER : DP_LANE_COMPUTE;
    struct dp_kernel_rows *lane = &slot->group->log->lane[slot->info.index][which];
    int i = 0;
    while (i < lane->n && !log_same(&lane->row[i], own))
        ++i;
    if (i == DP_KERNEL_ROWS) {
        ++lane->lost;
        lane->lost_ns += ns;
        return;
    }
    if (i == lane->n) {
        lane->row[i] = *own;
        ++lane->n;
    }
    ++lane->row[i].count;
    lane->row[i].ns += ns;
}

void dp_kernel_log_add(const struct dp_queue *queue, enum dp_kernel kernel, const void *args,
                       uint64_t begin)
{
    /* The fields that identify a row: all but count and time. */
    struct dp_kernel_row own = {
        .name = kernels[kernel].name, .words = kernels[kernel].words, .phase = queue->phase};
    if (kernel == DP_KERNEL_GEMM) {
        const struct dp_gemm *g = args;
        add_shape(&own, g->transpose_a, g->transpose_b, g->m, g->n, g->k);
        own.bytes = sizeof(float) * operands(&own);
    } else if (kernel == DP_KERNEL_GEMM_BF16) {
        const struct dp_gemm_bf16 *g = args;
        add_shape(&own, g->transpose_a, g->transpose_b, g->m, g->n, g->k);
        own.bytes =
            sizeof(uint16_t) * (own.m * own.k + own.k * own.n) + sizeof(float) * own.m * own.n;
    } else if (kernel == DP_KERNEL_GEMM_HEADS) {
        const struct dp_gemm_heads *g = args;
        add_shape(&own, g->transpose_a, g->transpose_b, g->m, g->n, g->k);
        own.many = g->rows * g->heads;
        own.multiplies = multiplies(g);
        own.bytes = sizeof(float) * own.many * operands(&own);
    }
    log_add(queue, &own, begin);
}

/* The number of places inside the image, over all windows along one dimension. */
static size_t places(const struct dp_geometry *at, int d)
{
    const size_t size = d == 0 ? at->height : at->width;
    size_t n = 0;
    for (size_t o = 0; o < at->out[d]; ++o)
        for (size_t k = 0; k < at->kernel[d]; ++k) {
            const size_t i = o * at->stride[d] + k;
            n += i >= at->padding[d] && i < at->padding[d] + size;
        }
    return n;
}

/* Bytes of image, weight and result. A gradient has as many, because it computes one of the three.
 */
static size_t arrays(const struct dp_convolution *c)
{
    const struct dp_geometry *at = &c->at;
    return sizeof(float) * (at->images * at->channels * at->height * at->width +
                            c->c_out * at->channels * at->kernel[0] * at->kernel[1] +
                            at->images * c->c_out * at->out[0] * at->out[1]);
}

void dp_kernel_log_convolution(const struct dp_queue *queue, const struct dp_convolution *c,
                               uint64_t begin)
{
    const bool forward = c->y != NULL;
    const size_t times = forward ? 1 : (size_t)(c->dx != NULL) + (c->dweight != NULL);
    struct dp_kernel_row own = {.name = forward ? "convolution" : "convolution_grad",
                                .words = forward ? "convolution" : "convolution's gradients",
                                .bytes = times * arrays(c),
                                .phase = queue->phase};
    const size_t windows = c->at.images * c->at.out[0] * c->at.out[1];
    add_shape(&own, false, false, c->c_out, windows,
              c->at.channels * c->at.kernel[0] * c->at.kernel[1]);
    own.many = times;
    own.multiplies =
        times * c->c_out * c->at.images * c->at.channels * places(&c->at, 0) * places(&c->at, 1);
    log_add(queue, &own, begin);
}
