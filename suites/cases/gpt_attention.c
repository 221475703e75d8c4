/* gpt_attention.c: cases of area GPT about attention: which tokens a token sees, with all weights
 * but one being 0 and the rest exact; and how much of each, within bounds. */
#include "gpt.h"

#include <math.h>

/* ---- GPT-03: what a token sees --------------------------------------------------------------- */

/* There are two heads with two numbers each. The products of queries and keys of a row are 181
 * apart. So each token takes the value of the largest that it sees, or of the smallest if its query
 * is negative. */
enum { HEADS = 2, SIZE = 2, Q = 0, K = HEADS * SIZE, V = 2 * HEADS * SIZE, QKV = 3 * HEADS * SIZE };

static const char *attention_layers(struct check *c)
{
    return check_text(c, "{\"kind\":\"attention\",\"heads\":%d}", HEADS);
}

/* The keys of all rows differ, too, and grow from row to row, so a token that sees other rows is
 * found. */
static double key_of(size_t row, size_t step, size_t head, uint64_t seed)
{
    static const int order[][GPT_STEPS] = {{0, 1, 2, 3}, {2, 3, 1, 0}, {3, 0, 2, 1}};

    return 128.0 * (GPT_STEPS * (double)row + order[(seed + row + head) % 3][step]);
}

static size_t chosen(size_t row, size_t step, size_t head, double sign, uint64_t seed)
{
    size_t best = 0;

    for (size_t s = 1; s <= step; ++s)
        if (sign * key_of(row, s, head, seed) > sign * key_of(row, best, head, seed))
            best = s;
    return best;
}

static void attention_head(struct gpt_pass *pass, double *x, size_t token, size_t head,
                           const double sign[], uint64_t seed)
{
    const size_t row = token / GPT_STEPS;
    const size_t from = row * GPT_STEPS + chosen(row, token % GPT_STEPS, head, sign[token], seed);

    for (size_t k = 0; k < SIZE; ++k) {
        const size_t at = (token * HEADS + head) * SIZE + k, value = V + head * SIZE + k;

        pass->y[at] = x[from * QKV + value];
        pass->dx[from * QKV + value] += pass->up[at];
    }
}

static void attention_make(struct check *c, struct gpt_pass *pass, uint64_t seed)
{
    const size_t n = pass->rows * GPT_STEPS;
    const double *value = check_integers(c, n * HEADS * SIZE, seed);
    double *x = gpt_zeros(c, n * QKV), *sign = gpt_zeros(c, n);

    for (size_t i = 0; i < n; ++i) {
        sign[i] = value[i] > 0 ? 1 : -1;
        for (size_t k = 0; k < HEADS * SIZE; ++k) {
            x[i * QKV + Q + k] = sign[i];
            x[i * QKV + K + k] = key_of(i / GPT_STEPS, i % GPT_STEPS, k / SIZE, seed);
            x[i * QKV + V + k] = value[i * HEADS * SIZE + k];
        }
    }
    gpt_take_input(c, pass, QKV, x);
    gpt_output_shape(pass, HEADS * SIZE);
    pass->up = check_integers(c, n * HEADS * SIZE, seed + 1);
    pass->y = gpt_zeros(c, n * HEADS * SIZE);
    for (size_t i = 0; i < n * HEADS; ++i)
        attention_head(pass, x, i / HEADS, i % HEADS, sign, seed);
}

static const struct gpt_subject attention = {attention_layers, 1, 0, {0}, false, 0, attention_make};
/* Models of ranks need a parameter to train, so an affine layer follows. */
static const char *attention_trained(struct check *c)
{
    return check_text(c, "%s,{\"kind\":\"affine\",\"weight\":[1],\"with_bias\":false}",
                      attention_layers(c));
}

/* Adds the gradient of the factor, over n outputs. */
static void factor_gradient(struct gpt_pass *pass, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        pass->grad[0][0] += pass->up[i] * pass->y[i];
}

static void attention_trained_make(struct check *c, struct gpt_pass *pass, uint64_t seed)
{
    attention_make(c, pass, seed);
    factor_gradient(pass, pass->rows * GPT_STEPS * HEADS * SIZE);
}

static const struct gpt_subject attention_of_ranks = {attention_trained,     1, 1, {1}, false, 0,
                                                      attention_trained_make};

/* ---- GPT-03: how much of each it takes ------------------------------------------------------- */

/* There are two heads with four numbers each, and all numbers are eighths up to 1. Products of
 * queries and keys are up to 4, so a weight has a relative error of 2^-18, however its exponential
 * and the root of the scale are rounded. The error of an input gradient is then at most
 *
 * 1/2 of 4 tokens, 12 * 2^-18 each, below 2^-13;
 *
 * with ranks it is up to 3 times that, and that of the factor is a sum of 192 outputs, 2^-18 each.
 * The smallest mistake that counts, a scale with another root, is above 2^-6. */
enum { PART = 4, WIDE = HEADS * PART, SOFT_QKV = 3 * WIDE };

static const double *eighths(struct check *c, size_t n, uint64_t seed)
{
    const double *integers = check_integers(c, n, seed);
    double *values = gpt_zeros(c, n);

    for (size_t i = 0; i < n; ++i)
        values[i] = integers[i] / 8;
    return values;
}

static double gpt_dot(const double a[], const double b[], size_t n)
{
    double sum = 0;

    for (size_t k = 0; k < n; ++k)
        sum += a[k] * b[k];
    return sum;
}

/* Computes one token in one head. It sees n tokens, of which the last is the token itself. x and dx
 * begin with the query of the first one; y and up belong to the token. */
static void soft_token(const double *x, double *dx, double *y, const double *up, size_t n)
{
    const double *q = x + (n - 1) * SOFT_QKV, scale = 1 / sqrt(PART);
    double p[GPT_STEPS], sum = 0, mean = 0;

    for (size_t s = 0; s < n; ++s)
        sum += p[s] = exp(scale * gpt_dot(q, x + s * SOFT_QKV + WIDE, PART));
    for (size_t s = 0; s < n; ++s) {
        p[s] /= sum;
        mean += p[s] * gpt_dot(up, x + s * SOFT_QKV + 2 * WIDE, PART);
    }
    for (size_t s = 0; s < n; ++s) {
        const double *key = x + s * SOFT_QKV + WIDE, *value = key + WIDE;
        const double slope = scale * p[s] * (gpt_dot(up, value, PART) - mean);

        for (size_t k = 0; k < PART; ++k) {
            y[k] += p[s] * value[k];
            dx[(n - 1) * SOFT_QKV + k] += slope * key[k];
            dx[s * SOFT_QKV + WIDE + k] += slope * q[k];
            dx[s * SOFT_QKV + 2 * WIDE + k] += p[s] * up[k];
        }
    }
}

static void soft_make(struct check *c, struct gpt_pass *pass, uint64_t seed)
{
    const size_t tokens = pass->rows * GPT_STEPS;
    const double *x = eighths(c, tokens * SOFT_QKV, seed);

    gpt_take_input(c, pass, SOFT_QKV, x);
    gpt_output_shape(pass, WIDE);
    pass->up = eighths(c, tokens * WIDE, seed + 1);
    pass->y = gpt_zeros(c, tokens * WIDE);
    for (size_t i = 0; i < tokens * HEADS; ++i) {
        const size_t token = i / HEADS, step = token % GPT_STEPS, part = i % HEADS * PART;
        const size_t at = (token - step) * SOFT_QKV + part, out = token * WIDE + part;

        soft_token(x + at, pass->dx + at, pass->y + out, pass->up + out, step + 1);
    }
}

static void soft_trained_make(struct check *c, struct gpt_pass *pass, uint64_t seed)
{
    soft_make(c, pass, seed);
    factor_gradient(pass, pass->rows * GPT_STEPS * WIDE);
}

static const struct gpt_subject soft = {attention_layers, 1, 0, {0}, false, 0x1p-13, soft_make};
static const struct gpt_subject soft_of_ranks = {attention_trained, 1, 1, {1}, false, 0x1p-9,
                                                 soft_trained_make};

/* ---- the table ------------------------------------------------------------------------------- */

static void attention_replicas(struct check *c)
{
    gpt_replicas(c, &attention);
    gpt_replicas(c, &soft);
}

static void attention_ranks(struct check *c)
{
    gpt_ranks(c, &attention_of_ranks);
    gpt_ranks(c, &soft_of_ranks);
}

enum { REPLICAS = PARALLEL | IMPL_CAP_TRANSFORMER, RANKS = IMPL_CAP_DDP | IMPL_CAP_TRANSFORMER };

static const struct check_case cases[] = {
    {"GPT-03.replicas", "GPT-03", MAY, OBSERVED, DP, REPLICAS, 1, attention_replicas},
    {"GPT-03.ranks", "GPT-03", MAY, OBSERVED, DDP, RANKS, 0, attention_ranks},
};
const struct check_table gpt_attention_table = CHECK_TABLE(cases);
