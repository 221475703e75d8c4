/* verify/attention.c: causal attention in numbers with bounds, head by head. How far the
 * probabilities of a row may be away is kept as a part of each of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "files/files.h"
#include "verify/bounded_matrix.h"

static const double U = BOUNDED_U;

int attention_open(struct attention *attention, size_t heads, size_t time, size_t width,
                   struct maths_variant variant)
{
    const size_t cores = parallel_cores(), lanes = heads < cores ? heads : cores;

    *attention = (struct attention){.heads = heads,
                                    .time = time,
                                    .size = width / heads,
                                    .lanes = lanes,
                                    .variant = variant,
                                    .p = verify_numbers(lanes * time, time),
                                    .g = verify_numbers(lanes * time, time),
                                    .away = verify_numbers(lanes, time),
                                    .per_p = verify_numbers(lanes, time),
                                    .lengths = verify_numbers(lanes * 8, time),
                                    .factor = calloc(lanes * time, sizeof *attention->factor)};
    return attention->p && attention->g && attention->away && attention->per_p &&
                   attention->lengths && attention->factor
               ? 0
               : -1;
}

void attention_close(struct attention *attention)
{
    free(attention->p);
    free(attention->g);
    free(attention->away);
    free(attention->lengths);
    free(attention->per_p);
    free(attention->factor);
    *attention = (struct attention){0};
}

/* A pass over all heads. A lane works through its heads one after the other. */
struct pass {
    const struct attention *attention;
    const struct bounded_matrix *qkv, *dy; /* dy NULL: forward */
    struct bounded_matrix *result;
};

/* The same attention, with the memory of that lane. */
static struct attention of_lane(const struct attention *attention, size_t lane)
{
    const size_t time = attention->time;
    struct attention mine = *attention;

    mine.p += lane * time * time;
    mine.g += lane * time * time;
    mine.away += lane * time;
    mine.per_p += lane * time;
    mine.lengths += lane * 8 * time;
    mine.factor += lane * time;
    return mine;
}

/* The columns of one head in a matrix. */
struct part {
    const double *v, *e; /* row t begins at t * step */
    size_t step, size;
    double *length, *length_away; /* of each row */
};

/* which: the number of the place in attention.lengths where the lengths of this part go. */
static struct part part_of(const struct attention *a, const struct bounded_matrix *matrix,
                           size_t first, size_t which)
{
    struct part part = {.v = matrix->v + first,
                        .e = matrix->e + first,
                        .step = matrix->width,
                        .size = a->size,
                        .length = a->lengths + 2 * which * a->time,
                        .length_away = a->lengths + (2 * which + 1) * a->time};

    for (size_t t = 0; t < a->time; ++t) {
        double v = 0, e = 0;

        for (size_t j = 0; j < a->size; ++j) {
            v += part.v[t * part.step + j] * part.v[t * part.step + j];
            e += part.e[t * part.step + j] * part.e[t * part.step + j];
        }
        part.length[t] = sqrt(v);
        part.length_away[t] = sqrt(e);
    }
    return part;
}

static struct part of_qkv(const struct attention *a, const struct bounded_matrix *qkv, size_t head,
                          size_t which)
{
    return part_of(a, qkv, (which * a->heads + head) * a->size, which);
}

/* A dot product is computed in this many partial sums, so that a CPU can add them at the same
 * time. */
enum { LANES = 8 };

/* The dot product of row t of a and row s of b. */
static struct bounded dot(const struct part *a, size_t t, const struct part *b, size_t s)
{
    const double *x = a->v + t * a->step, *y = b->v + s * b->step;
    const double x_size = a->length[t] + a->length_away[t], y_size = b->length[s];
    const double carried = x_size * b->length_away[s] + a->length_away[t] * y_size;
    double lane[LANES] = {0}, sum = 0;
    size_t j = 0;

    for (; j + LANES <= a->size; j += LANES)
        for (size_t k = 0; k < LANES; ++k)
            lane[k] += x[j + k] * y[j + k];
    for (; j < a->size; ++j)
        sum += x[j] * y[j];
    for (size_t k = 0; k < LANES; ++k)
        sum += lane[k];
    return (struct bounded){sum, carried + bounded_gamma((double)a->size) * x_size *
                                               (y_size + b->length_away[s])};
}

/* A row of results, each a sum of n products: value and bound of each number. */
struct sum {
    double *v, *e;
    size_t size;
    double gamma;
};

static struct sum begin_sum(const struct attention *a, struct bounded_matrix *to, size_t t,
                            size_t first, size_t n)
{
    const struct sum sum = {to->v + t * to->width + first, to->e + t * to->width + first, a->size,
                            bounded_gamma((double)n)};

    memset(sum.v, 0, a->size * sizeof *sum.v);
    memset(sum.e, 0, a->size * sizeof *sum.e);
    return sum;
}

enum { TOGETHER = 4 };

/* Adds TOGETHER rows of x, from row s on, each times its factor. */
static void add_four(const struct sum *to, const struct bounded factor[TOGETHER],
                     const struct part *x, size_t s)
{
    double f[TOGETHER], by_value[TOGETHER], by_bound[TOGETHER];
    const double *v[TOGETHER], *e[TOGETHER];

    for (size_t k = 0; k < TOGETHER; ++k) {
        const double size = fabs(factor[k].v) + factor[k].e;

        f[k] = factor[k].v;
        by_value[k] = factor[k].e + to->gamma * size;
        by_bound[k] = (1 + to->gamma) * size;
        v[k] = x->v + (s + k) * x->step;
        e[k] = x->e + (s + k) * x->step;
    }
    for (size_t j = 0; j < to->size; ++j)
        to->v[j] += (f[0] * v[0][j] + f[1] * v[1][j]) + (f[2] * v[2][j] + f[3] * v[3][j]);
    for (size_t j = 0; j < to->size; ++j)
        to->e[j] += (by_value[0] * fabs(v[0][j]) + by_bound[0] * e[0][j]) +
                    (by_value[1] * fabs(v[1][j]) + by_bound[1] * e[1][j]) +
                    (by_value[2] * fabs(v[2][j]) + by_bound[2] * e[2][j]) +
                    (by_value[3] * fabs(v[3][j]) + by_bound[3] * e[3][j]);
}

/* Adds factor[s] times row s of x, for s from first to below end. */
static void add_rows(const struct sum *to, const struct bounded *factor, const struct part *x,
                     size_t first, size_t end)
{
    size_t s = first;

    for (; s + TOGETHER <= end; s += TOGETHER)
        add_four(to, factor + s, x, s);
    for (; s < end; ++s) {
        const struct bounded one[TOGETHER] = {factor[s]}; /* the others are 0 */
        const struct part row = {.v = x->v + s * x->step, .e = x->e + s * x->step};

        add_four(to, one, &row, 0);
    }
}

/* ---- forward --------------------------------------------------------------------------------- */

static void probabilities(struct attention *a, const struct part *q, const struct part *k, size_t t)
{
    const double scale = 1 / sqrt((double)a->size);
    double *p = a->p + t * a->time, most = -INFINITY, least = INFINITY, away = 0, sum = 0;

    for (size_t s = 0; s <= t; ++s) {
        const struct bounded score = dot(q, t, k, s);

        p[s] = scale * score.v;
        most = fmax(most, p[s]);
        least = fmin(least, p[s]);
        away = fmax(away, scale * score.e + 2 * U * (fabs(p[s]) + scale * score.e));
    }
    for (size_t s = 0; s <= t; ++s)
        sum += p[s] = exp(p[s] - most);
    for (size_t s = 0; s <= t; ++s)
        p[s] /= sum;
    a->away[t] = softmax_away(2 * away, most - least + 2 * away, (double)t + 1);
}

static struct bounded probability(const struct attention *a, size_t t, size_t s)
{
    const double p = a->p[t * a->time + s];

    return (struct bounded){maths_operand(a->variant, p), p * a->away[t]};
}

static void lane_forward(void *context, size_t lane)
{
    const struct pass *pass = context;
    struct attention a = of_lane(pass->attention, lane);

    for (size_t head = lane; head < a.heads; head += a.lanes) {
        const struct part q = of_qkv(&a, pass->qkv, head, 0), k = of_qkv(&a, pass->qkv, head, 1);
        const struct part v = of_qkv(&a, pass->qkv, head, 2);

        for (size_t t = 0; t < a.time; ++t) {
            const struct sum sum = begin_sum(&a, pass->result, t, head * a.size, t + 1);

            probabilities(&a, &q, &k, t);
            for (size_t s = 0; s <= t; ++s)
                a.factor[s] = probability(&a, t, s);
            add_rows(&sum, a.factor, &v, 0, t + 1);
        }
    }
}

void attention_forward(struct attention *attention, const struct bounded_matrix *qkv,
                       struct bounded_matrix *y)
{
    struct pass pass = {attention, qkv, NULL, y};

    parallel_each(attention->lanes, attention->lanes, lane_forward, &pass);
}

/* ---- backward -------------------------------------------------------------------------------- */

/* Computes row t of the gradients before softmax and scale: p (d - sum of p d), where d = dy v.
 * Returns a number: each gradient is away by at most p times that. */
static double scores_back(struct attention *a, const struct part *dy, const struct part *v,
                          size_t t)
{
    const double scale = 1 / sqrt((double)a->size), away = a->away[t];
    const double *p = a->p + t * a->time;
    double *g = a->g + t * a->time, mean = 0, most = 0, most_away = 0;

    for (size_t s = 0; s <= t; ++s) {
        const struct bounded d = dot(dy, t, v, s);

        g[s] = d.v;
        mean += p[s] * d.v;
        most = fmax(most, fabs(d.v));
        most_away = fmax(most_away, d.e);
    }
    for (size_t s = 0; s <= t; ++s)
        g[s] = scale * p[s] * (g[s] - mean);

    const double size = most + most_away;
    const double mean_away =
        most_away + away * size + bounded_gamma((double)t + 1) * (1 + away) * size;

    return scale * (1 + away) * (most_away + mean_away + (away + 8 * U) * (size + fabs(mean)));
}

static struct bounded score_gradient(const struct attention *a, size_t t, size_t s)
{
    return (struct bounded){maths_operand(a->variant, a->g[t * a->time + s]),
                            a->p[t * a->time + s] * a->per_p[t]};
}

static void lane_backward(void *context, size_t lane)
{
    const struct pass *pass = context;
    struct attention a = of_lane(pass->attention, lane);
    const size_t width = a.heads * a.size;

    for (size_t head = lane; head < a.heads; head += a.lanes) {
        const struct part q = of_qkv(&a, pass->qkv, head, 0), k = of_qkv(&a, pass->qkv, head, 1);
        const struct part v = of_qkv(&a, pass->qkv, head, 2);
        const struct part d = part_of(&a, pass->dy, head * a.size, 3);
        const size_t first = head * a.size;

        for (size_t t = 0; t < a.time; ++t) {
            const struct sum dq = begin_sum(&a, pass->result, t, first, t + 1);

            probabilities(&a, &q, &k, t);
            a.per_p[t] = scores_back(&a, &d, &v, t);
            for (size_t s = 0; s <= t; ++s)
                a.factor[s] = score_gradient(&a, t, s);
            add_rows(&dq, a.factor, &k, 0, t + 1);
        }
        for (size_t s = 0; s < a.time; ++s) {
            const struct sum dk = begin_sum(&a, pass->result, s, width + first, a.time - s);
            const struct sum dv = begin_sum(&a, pass->result, s, 2 * width + first, a.time - s);

            for (size_t t = s; t < a.time; ++t)
                a.factor[t] = score_gradient(&a, t, s);
            add_rows(&dk, a.factor, &q, s, a.time);
            for (size_t t = s; t < a.time; ++t)
                a.factor[t] = probability(&a, t, s);
            add_rows(&dv, a.factor, &d, s, a.time);
        }
    }
}

void attention_backward(struct attention *attention, const struct bounded_matrix *qkv,
                        const struct bounded_matrix *dy, struct bounded_matrix *dqkv)
{
    struct pass pass = {attention, qkv, dy, dqkv};

    parallel_each(attention->lanes, attention->lanes, lane_backward, &pass);
}
