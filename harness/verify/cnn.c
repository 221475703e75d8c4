/* verify/cnn.c: a float64 step of the model cnn, pattern by pattern, by plain loops that skip
 * zeros. All numbers are integers; the sum of |terms| is computed with every sum. */
#include "verify/arrays.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 8, PLANE = 64, FIRST = 32, SECOND = 64, POOLED = 1024, CLASSES = 10 };

/* The activations of one pattern, and the gradients of them. */
struct cnn {
    double x[PLANE], a[FIRST * PLANE], b[SECOND * PLANE], pooled[POOLED];
    size_t from[POOLED]; /* the index in b of each pooled value */
    double da[FIRST * PLANE], db[SECOND * PLANE];
    double terms_a[FIRST * PLANE]; /* sums of |terms| of da */
    double largest;                /* of the sums of |terms| of a and b */
    double operand;                /* the largest of all activations and their gradients */
};

/* Finds the place that tap (kh, kw) of the window around place reads. It returns false if that is
 * outside of the image. */
static bool tap_place(size_t place, size_t tap, size_t *from)
{
    const size_t h = place / SIDE + tap / 3, w = place % SIDE + tap % 3; /* one too far each */

    if (h < 1 || h > SIDE || w < 1 || w > SIDE)
        return false;
    *from = (h - 1) * SIDE + (w - 1);
    return true;
}

/* The taps of the window around a place that are inside of the image, and the places that they
 * read. */
struct taps {
    int n;
    size_t tap[9], from[9];
};

static struct taps taps_around(size_t place)
{
    struct taps taps = {.n = 0};

    for (size_t tap = 0; tap < 9; ++tap)
        if (tap_place(place, tap, &taps.from[taps.n]))
            taps.tap[taps.n++] = tap;
    return taps;
}

/* Computes out = max(0, bias + W in), with windows of 3 x 3. */
static void convolve(const double *in, size_t channels, const double *weight, const double *bias,
                     size_t outs, double *out, double *largest)
{
    double terms[PLANE];

    for (size_t o = 0; o < outs; ++o) {
        double *y = out + o * PLANE;

        for (size_t i = 0; i < PLANE; ++i) {
            y[i] = bias[o];
            terms[i] = fabs(bias[o]);
        }
        for (size_t t = 0; t < channels * 9; ++t) {
            const double w = weight[o * channels * 9 + t];
            size_t from;

            for (size_t i = 0; i < PLANE && w != 0; ++i) {
                if (!tap_place(i, t % 9, &from))
                    continue;
                y[i] += w * in[t / 9 * PLANE + from];
                terms[i] += fabs(w * in[t / 9 * PLANE + from]);
            }
        }
        for (size_t i = 0; i < PLANE; ++i) {
            *largest = fmax(*largest, terms[i]);
            y[i] = fmax(y[i], 0);
        }
    }
}

/* Computes the largest number of each 2 x 2 window; of equal numbers the first counts. */
static void pool(struct cnn *m)
{
    for (size_t o = 0; o < POOLED; ++o) {
        const size_t c = o / 16, corner = o / 4 % 4 * 2 * SIDE + o % 4 * 2;

        m->from[o] = c * PLANE + corner;
        for (size_t k = 1; k < 4; ++k) {
            const size_t at = c * PLANE + corner + k / 2 * SIDE + k % 2;

            if (m->b[at] > m->b[m->from[o]])
                m->from[o] = at;
        }
        m->pooled[o] = m->b[m->from[o]];
    }
}

static void forward(struct verify *v, struct cnn *m, size_t r)
{
    struct reference_arrays *d = v->arrays;

    convolve(m->x, 1, d->param[0].value, d->param[1].value, FIRST, m->a, &m->largest);
    convolve(m->a, FIRST, d->param[2].value, d->param[3].value, SECOND, m->b, &m->largest);
    pool(m);
    for (size_t k = 0; k < CLASSES; ++k) {
        double y = d->param[5].value[k], terms = fabs(y);

        for (size_t j = 0; j < POOLED; ++j) {
            const double term = d->param[4].value[k * POOLED + j] * m->pooled[j];

            y += term;
            terms += fabs(term);
        }
        d->output.value[r * CLASSES + k] = y;
        d->output.bound[r * CLASSES + k] = fmax(terms, m->largest);
    }
}

/* Adds the term of a pattern, once for each of its rows. */
static void add(struct reference_array *grad, size_t i, double times, double term)
{
    grad->value[i] += times * term;
    grad->bound[i] += times * fabs(term);
}

/* Computes the gradients of the linear layer, and of b. A ReLU that gave 0 passes no gradient. */
static void linear_back(struct verify *v, struct cnn *m, const double *g, double times)
{
    struct reference_arrays *d = v->arrays;

    memset(m->db, 0, sizeof m->db);
    for (size_t k = 0; k < CLASSES; ++k) {
        add(&d->grad[5], k, times, g[k]);
        for (size_t j = 0; j < POOLED; ++j) {
            add(&d->grad[4], k * POOLED + j, times, g[k] * m->pooled[j]);
            if (m->pooled[j] > 0)
                m->db[m->from[j]] += g[k] * d->param[4].value[k * POOLED + j];
        }
    }
}

/* Computes the gradients of the weight and bias of a convolution from dy, and also that of its
 * input unless back is NULL. */
static void convolve_back(struct verify *v, int p, const double *in, size_t channels, size_t outs,
                          const double *dy, double times, struct cnn *back)
{
    struct reference_arrays *d = v->arrays;

    for (size_t i = 0; i < outs * PLANE; ++i) {
        const size_t o = i / PLANE;

        if (dy[i] == 0)
            continue;
        const struct taps taps = taps_around(i % PLANE);

        add(&d->grad[p + 1], o, times, dy[i]);
        for (size_t c = 0; c < channels; ++c)
            for (int k = 0; k < taps.n; ++k) {
                const size_t t = (o * channels + c) * 9 + taps.tap[k];
                const size_t from = c * PLANE + taps.from[k];
                const double w = d->param[p].value[t];

                add(&d->grad[p], t, times, dy[i] * in[from]);
                if (back && w != 0) {
                    back->da[from] += dy[i] * w;
                    back->terms_a[from] += fabs(dy[i] * w);
                }
            }
    }
}

static void backward(struct verify *v, struct cnn *m, const double *g, double times)
{
    linear_back(v, m, g, times);
    memset(m->da, 0, sizeof m->da);
    memset(m->terms_a, 0, sizeof m->terms_a);
    convolve_back(v, 2, m->a, FIRST, SECOND, m->db, times, m);
    for (size_t i = 0; i < FIRST * PLANE; ++i) {
        /* Scales are at most 3. */
        m->largest = fmax(m->largest, 3 * m->terms_a[i]);
        m->da[i] = m->a[i] > 0 ? m->da[i] : 0;
    }
    convolve_back(v, 0, m->x, 1, FIRST, m->da, times, NULL);
}

/* Scales are at most 3. */
static void note_operands(struct cnn *m)
{
    for (size_t i = 0; i < PLANE; ++i)
        m->operand = fmax(m->operand, fabs(m->x[i]));
    for (size_t i = 0; i < FIRST * PLANE; ++i)
        m->operand = fmax(m->operand, fmax(m->a[i], 3 * fabs(m->da[i])));
    for (size_t i = 0; i < SECOND * PLANE; ++i)
        m->operand = fmax(m->operand, fmax(m->b[i], 3 * fabs(m->db[i])));
}

static int fill(struct verify *v, const struct workload_set *set, struct text_error *why)
{
    struct cnn *m = calloc(1, sizeof *m);
    struct reference_arrays *d = v->arrays;

    (void)set;
    if (!m)
        return verify_starved(why);
    for (size_t r = 0; r < v->patterns; ++r) {
        const double *g = d->upstream + r * CLASSES;

        memcpy(m->x, d->input + r * PLANE, sizeof m->x);
        forward(v, m, r);
        for (size_t k = 0; k < CLASSES; ++k) {
            d->loss += v->weight[r] * g[k] * d->output.value[r * CLASSES + k];
            d->loss_bound += v->weight[r] * fabs(g[k] * d->output.value[r * CLASSES + k]);
        }
        backward(v, m, g, v->weight[r]);
        note_operands(m);
        d->output.bound[r * CLASSES] = fmax(d->output.bound[r * CLASSES], m->largest);
    }
    d->operand = m->operand;
    free(m);
    return 0;
}

const struct verify_reference verify_reference_cnn = {"cnn", fill, verify_cnn_probe};
