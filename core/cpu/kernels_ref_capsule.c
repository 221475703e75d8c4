/* kernels_ref_capsule.c: the portable kernels of capsules with routing by agreement. */
#include "kernels_ref.h"

#include <math.h>

static const float TINY = 1e-8f;

static float ref_capsule_dot(const float *a, const float *b, size_t n)
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

static struct share ref_capsule_share_of(const float *logits, size_t n)
{
    struct share share = {logits[0], 0.0f};
    for (size_t j = 1; j < n; ++j)
        share.most = logits[j] > share.most ? logits[j] : share.most;
    for (size_t j = 0; j < n; ++j)
        share.total += expf(logits[j] - share.most);
    return share;
}

static void squash(const float *s, float *v, size_t width)
{
    const float square = ref_capsule_dot(s, s, width);
    const float factor = square / (1.0f + square) / sqrtf(square + TINY);
    for (size_t k = 0; k < width; ++k)
        v[k] = factor * s[k];
}

/* Computes the sums s of one sample from the softmax of its logits, and v from them. */
static void combine(const struct dp_capsule_args *g, const float *votes, const float *logits,
                    float *s, float *v)
{
    for (size_t k = 0; k < g->out * g->width; ++k)
        s[k] = 0.0f;
    for (size_t i = 0; i < g->in; ++i) {
        const struct share share = ref_capsule_share_of(logits + i * g->out, g->out);
        for (size_t j = 0; j < g->out; ++j) {
            const float c = expf(logits[i * g->out + j] - share.most) / share.total;
            for (size_t k = 0; k < g->width; ++k)
                s[j * g->width + k] += c * votes[(i * g->out + j) * g->width + k];
        }
    }
    for (size_t j = 0; j < g->out; ++j)
        squash(s + j * g->width, v + j * g->width, g->width);
}

void dp_ref_capsule(const void *args)
{
    const struct dp_capsule_args *g = args;
    const size_t pairs = g->in * g->out;
    for (size_t n = 0; n < g->n; ++n) {
        const float *votes = g->votes + n * pairs * g->width;
        float *logits = g->logits + n * pairs;
        float *s = g->s + n * g->out * g->width, *v = g->v + n * g->out * g->width;
        for (size_t p = 0; p < pairs; ++p)
            logits[p] = 0.0f;
        combine(g, votes, logits, s, v);
        for (int round = 1; round < g->rounds; ++round) {
            for (size_t p = 0; p < pairs; ++p)
                logits[p] +=
                    ref_capsule_dot(votes + p * g->width, v + p % g->out * g->width, g->width);
            combine(g, votes, logits, s, v);
        }
    }
}

/* Computes ds from v = f(q) s with q = |s|^2, f = q / (1 + q) / sqrt(q + TINY): ds = f dv + 2 f' (s
 * . dv) s. */
static void unsquash(float *s, const float *dv, size_t width)
{
    const float q = ref_capsule_dot(s, s, width), root = sqrtf(q + TINY);
    const float factor = q / (1.0f + q) / root;
    const float slope =
        1.0f / ((1.0f + q) * (1.0f + q) * root) - 0.5f * q / ((1.0f + q) * (q + TINY) * root);
    const float along = 2.0f * slope * ref_capsule_dot(s, dv, width);
    for (size_t k = 0; k < width; ++k)
        s[k] = factor * dv[k] + along * s[k];
}

void dp_ref_capsule_grad(const void *args)
{
    const struct dp_capsule_args *g = args;
    for (size_t n = 0; n < g->n; ++n) {
        float *ds = g->s + n * g->out * g->width;
        for (size_t j = 0; j < g->out; ++j)
            unsquash(ds + j * g->width, g->dv + (n * g->out + j) * g->width, g->width);
        for (size_t i = n * g->in; i < (n + 1) * g->in; ++i) {
            const float *logits = g->logits + i * g->out;
            const struct share share = ref_capsule_share_of(logits, g->out);
            for (size_t j = 0; j < g->out; ++j) {
                const float c = expf(logits[j] - share.most) / share.total;
                for (size_t k = 0; k < g->width; ++k)
                    g->votes[(i * g->out + j) * g->width + k] = c * ds[j * g->width + k];
            }
        }
    }
}
