/* layers_attention.c: attention and cross entropy, in double, each result rounded once. */
#include "inside.h"

#include <math.h>

/* ---- attention ------------------------------------------------------------------------------- */

enum { Q, K, V };

struct heads {
    size_t tokens, steps, width, heads, size;
    double scale;
};

static struct heads heads_of(const struct run *run, const struct node *node)
{
    const struct impl_array *x = &node->in.a[0];
    const size_t width = x->dim[2] / 3, heads = node->layer->heads, size = width / heads;
    const double scale = bug(run->s, BUG_SCALE_OUT) ? 1 : 1 / sqrt((double)size);

    return (struct heads){x->dim[0] * x->dim[1], x->dim[1], width, heads, size, scale};
}

/* Returns the index at which the query, key or value of a token begins. */
static size_t part_at(const struct heads *h, size_t token, size_t head, size_t part)
{
    return (token * 3 + part) * h->width + head * h->size;
}

/* Finds the tokens that a token attends to. */
static void seen_by(const struct run *run, const struct heads *h, size_t token, size_t *first,
                    size_t *last)
{
    const size_t begin = token - token % h->steps, end = begin + h->steps - 1;

    *first = bug(run->s, BUG_MASK_ROWS) ? 0 : begin;
    *last = token < end && bug(run->s, BUG_MASK_AHEAD) ? token + 1 : token;
}

/* Computes the weights of the tokens that a token attends to. */
static void weigh(const struct heads *h, const float *x, size_t token, size_t head, size_t first,
                  size_t last, double *p)
{
    double most = -INFINITY, sum = 0;

    for (size_t s = first; s <= last; ++s) {
        p[s] =
            h->scale * dot_of(x + part_at(h, token, head, Q), x + part_at(h, s, head, K), h->size);
        most = p[s] > most ? p[s] : most;
    }
    for (size_t s = first; s <= last; ++s)
        sum += p[s] = exp(p[s] - most);
    for (size_t s = first; s <= last; ++s)
        p[s] /= sum;
}

static int forward_attention(struct run *run, struct node *node)
{
    const struct impl_array *x = &node->in.a[0];
    struct heads h;
    size_t shape[3];

    if (need_floats(run, node) != 0)
        return run->err.status;
    if (x->ndim != 3 || x->dim[2] % (3 * node->layer->heads) != 0)
        return input_misfit(run, "attention");
    h = heads_of(run, node);
    shape[0] = x->dim[0];
    shape[1] = x->dim[1];
    shape[2] = h.width;
    node->out.a[0] = tensor_new(&run->tape->arena, IMPL_F32, 3, shape, x->device);
    node->stats =
        arena_take(&run->tape->arena, (h.tokens * h.heads * h.tokens + 1) * sizeof *node->stats);
    for (size_t i = 0; i < h.tokens * h.heads; ++i) {
        const size_t token = i / h.heads, head = i % h.heads;
        double *p = node->stats + i * h.tokens;
        float *y = floats(&node->out.a[0]) + token * h.width + head * h.size;
        size_t first, last;

        seen_by(run, &h, token, &first, &last);
        weigh(&h, floats(x), token, head, first, last, p);
        for (size_t k = 0; k < h.size; ++k) {
            double sum = 0;

            for (size_t s = first; s <= last; ++s)
                sum += p[s] * (double)floats(x)[part_at(&h, s, head, V) + k];
            y[k] = (float)sum;
        }
    }
    return 0;
}

static int backward_attention(struct run *run, const struct node *node, const struct values *g,
                              struct values *dx)
{
    const float *x = floats(&node->in.a[0]);
    const struct heads h = heads_of(run, node);
    const double scale = bug(run->s, BUG_SCALE_ONE_WAY) ? 1 : h.scale;
    float *down;

    dx->a[0] = tensor_like(&run->tape->arena, &node->in.a[0]);
    down = floats(&dx->a[0]);
    for (size_t i = 0; i < h.tokens * h.heads; ++i) {
        const size_t token = i / h.heads, head = i % h.heads;
        const size_t q = part_at(&h, token, head, Q);
        const double *p = node->stats + i * h.tokens;
        const float *up = floats(&g->a[0]) + token * h.width + head * h.size;
        double mean = 0;
        size_t first, last;

        seen_by(run, &h, token, &first, &last);
        for (size_t s = first; s <= last; ++s)
            mean += p[s] * dot_of(up, x + part_at(&h, s, head, V), h.size);
        for (size_t s = first; s <= last; ++s) {
            const size_t key = part_at(&h, s, head, K), value = part_at(&h, s, head, V);
            const double slope = scale * p[s] * (dot_of(up, x + value, h.size) - mean);

            for (size_t k = 0; k < h.size; ++k) {
                down[q + k] += (float)(slope * (double)x[key + k]);
                down[key + k] += (float)(slope * (double)x[q + k]);
                down[value + k] += (float)(p[s] * (double)up[k]);
            }
        }
    }
    return 0;
}

/* ---- cross entropy --------------------------------------------------------------------------- */

static double log_sum(const float *x, size_t n)
{
    double most = -INFINITY, sum = 0;

    for (size_t k = 0; k < n; ++k)
        most = (double)x[k] > most ? (double)x[k] : most;
    for (size_t k = 0; k < n; ++k)
        sum += exp((double)x[k] - most);
    return most + log(sum);
}

/* Returns the number by which the sum of a shard is (wrongly) divided. */
static double entropy_share(const struct run *run, const struct impl_array *x)
{
    return bug(run->s, BUG_ENTROPY_MEAN) && tokens_of(x) > 0 ? (double)tokens_of(x) : 1;
}

static int forward_cross_entropy(struct run *run, struct node *node)
{
    const struct impl_array *x = &node->in.a[0], *classes = &node->in.a[1];
    const size_t n = width_of(x);
    double sum = 0;

    if (x->dtype != IMPL_F32 || classes->dtype != IMPL_I32 || x->ndim < 2 ||
        tensor_count(classes) != tokens_of(x))
        return input_misfit(run, "cross_entropy");
    for (size_t i = 0; i < tokens_of(x); ++i) {
        const int32_t right = ((const int32_t *)classes->data)[i];

        if (right < 0 || (size_t)right >= n)
            return impl_fail(&run->err, IMPL_EINVAL, "class %d of %zu", (int)right, n);
        sum += log_sum(floats(x) + i * n, n) - (double)floats(x)[i * n + (size_t)right];
    }
    node->out.a[0] = tensor_new(&run->tape->arena, IMPL_F32, 0, NULL, x->device);
    floats(&node->out.a[0])[0] = (float)(sum / entropy_share(run, x));
    return 0;
}

static int backward_cross_entropy(struct run *run, const struct node *node, const struct values *g,
                                  struct values *dx)
{
    const struct impl_array *x = &node->in.a[0];
    const size_t n = width_of(x);
    const double up = (double)floats(&g->a[0])[0] / entropy_share(run, x);

    dx->a[0] = tensor_like(&run->tape->arena, x);
    for (size_t i = 0; i < tensor_count(x); ++i) {
        const size_t token = i / n;
        const bool right = (size_t)((const int32_t *)node->in.a[1].data)[token] == i % n;
        const double p = exp((double)floats(x)[i] - log_sum(floats(x) + token * n, n));

        floats(&dx->a[0])[i] = (float)(up * (right ? p - 1 : p));
    }
    return 0;
}

const struct layer_ops attention_layers[LAYER_KINDS] = {
    [LAYER_ATTENTION] = {1, forward_attention, backward_attention},
    [LAYER_CROSS_ENTROPY] = {2, forward_cross_entropy, backward_cross_entropy},
};
