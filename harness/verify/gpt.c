/* verify/gpt.c: a float64 step of the model gpt with a bound on the rounding of a float step, a
 * pattern at a time. Parameters are in the order of workloads/gpt.c. The inputs of the layers are
 * kept for backward, and so are the outputs of attention, which take long to compute; the rest of a
 * layer is computed again. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "text/alloc.h"
#include "verify/bounded_matrix.h"

/* The parameters of a layer; those of layer 0 come after the two tables. */
enum {
    TOKENS,
    POSITIONS,
    NORM_1 = 0, /* each with its bias */
    ATTENTION = 2,
    ATTENTION_OUT = 4,
    NORM_2 = 6,
    HIDDEN = 8,
    HIDDEN_OUT = 10,
    OF_LAYER = 12
};

/* A weight as the products of forward and of backward use it. */
struct weight {
    struct sparse forward, back;
};

struct gpt {
    struct verify *v;
    size_t layers, width, time, vocabulary;
    struct row_sum_bound share; /* of a pattern */
    double gamma_token;         /* of the token table: it embeds, and is the last layer */
    struct weight *weight;      /* four of each layer, in the order of parameters, then the table */
    struct bounded_matrix *h;   /* the input of each layer, and of the last norm */
    struct bounded_matrix *y;   /* the output of attention in each layer */
    struct layer_norm norm[2];
    struct attention attention;
    /* The values inside of one layer, after its norms and products. */
    struct bounded_matrix a, qkv, middle, b, z, g;
    struct bounded_matrix branch, dh, dx, dqkv, dg; /* added to h; gradients */
    struct bounded_matrix dlogits;
    struct bounded_matrix dy;     /* a gradient as an operand */
    struct maths_variant variant; /* how operands are rounded now */
    double *room;                 /* workspace of bounded_matrix_weight_gradient */
};

/* The matrices of a pattern, [time, times width]; times 0: as wide as the vocabulary. */
static const struct {
    size_t offset, times;
} matrices[] = {{offsetof(struct gpt, a), 1},      {offsetof(struct gpt, qkv), 3},
                {offsetof(struct gpt, middle), 1}, {offsetof(struct gpt, b), 1},
                {offsetof(struct gpt, z), 4},      {offsetof(struct gpt, g), 4},
                {offsetof(struct gpt, branch), 1}, {offsetof(struct gpt, dh), 1},
                {offsetof(struct gpt, dx), 1},     {offsetof(struct gpt, dqkv), 3},
                {offsetof(struct gpt, dg), 4},     {offsetof(struct gpt, dy), 4},
                {offsetof(struct gpt, dlogits), 0}};
enum { MATRICES = sizeof matrices / sizeof matrices[0] };

static struct bounded_matrix *matrix_of(struct gpt *m, size_t i)
{
    return (void *)((char *)m + matrices[i].offset);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The number of parameter `which` of layer l. For the last norm, l is the number of layers. */
static size_t param_of(size_t l, size_t which)
{
    return 2 + l * OF_LAYER + which;
}

static const double *value(const struct gpt *m, size_t p)
{
    return m->v->arrays->param[p].value;
}

static struct reference_array *gradient(const struct gpt *m, size_t p)
{
    return &m->v->arrays->grad[p];
}

static int open_weight(const struct gpt *m, struct weight *weight, size_t p, size_t outs,
                       size_t ins)
{
    return sparse_open(&weight->forward, value(m, p), outs, ins, false, m->variant) ||
                   sparse_open(&weight->back, value(m, p), outs, ins, true, m->variant)
               ? -1
               : 0;
}

static int open_model(struct gpt *m, struct verify *v)
{
    static const struct {
        size_t which, outs, ins; /* in widths */
    } row[4] = {{ATTENTION, 3, 1}, {ATTENTION_OUT, 1, 1}, {HIDDEN, 4, 1}, {HIDDEN_OUT, 1, 4}};
    const size_t *size = v->workload.size, width = size[GPT_WIDTH];
    const size_t layers = size[GPT_LAYERS], time = size[GPT_CONTEXT], words = size[GPT_VOCABULARY];
    const double terms = (double)v->rows * (double)time;
    /* In bf16 only linear layers round operands, in tf32 all products of cuBLAS do. */
    const struct maths_variant none = {.math = DP_MATH_F32};
    const struct maths_variant of_heads = v->variant.math == DP_MATH_BF16 ? none : v->variant;

    *m = (struct gpt){.v = v,
                      .layers = layers,
                      .width = width,
                      .time = time,
                      .vocabulary = words,
                      .variant = v->variant,
                      .weight = cli_alloc(4 * layers + 1, sizeof *m->weight),
                      .h = cli_alloc(layers + 1, sizeof *m->h),
                      .y = cli_alloc(layers, sizeof *m->y),
                      .room =
                          verify_numbers(2, (words > 4 * width ? words : 4 * width) + 4 * width)};
    /* The sums are over rows and places, then over replicas; then the earlier gradient is added. */
    m->share.gamma = bounded_gamma(terms + (double)v->devices + 4);
    m->gamma_token = bounded_gamma(2 * terms + (double)v->devices + 4);
    if (!m->room)
        return -1;
    for (size_t i = 0; i < MATRICES; ++i)
        if (bounded_matrix_open(matrix_of(m, i), time,
                                matrices[i].times > 0 ? matrices[i].times * width : words))
            return -1;
    for (size_t l = 0; l <= layers; ++l)
        if (bounded_matrix_open(&m->h[l], time, width) ||
            (l < layers && bounded_matrix_open(&m->y[l], time, width)))
            return -1;
    for (size_t i = 0; i < 4 * layers; ++i)
        if (open_weight(m, &m->weight[i], param_of(i / 4, row[i % 4].which),
                        row[i % 4].outs * width, row[i % 4].ins * width))
            return -1;
    return open_weight(m, &m->weight[4 * layers], TOKENS, words, width) ||
                   layer_norm_open(&m->norm[0], time, width) ||
                   layer_norm_open(&m->norm[1], time, width) ||
                   attention_open(&m->attention, size[GPT_HEADS], time, width, of_heads)
               ? -1
               : 0;
}

static void close_model(struct gpt *m)
{
    for (size_t i = 0; i < MATRICES; ++i)
        bounded_matrix_close(matrix_of(m, i));
    for (size_t l = 0; m->h && l <= m->layers; ++l)
        bounded_matrix_close(&m->h[l]);
    for (size_t l = 0; m->y && l < m->layers; ++l)
        bounded_matrix_close(&m->y[l]);
    for (size_t i = 0; m->weight && i <= 4 * m->layers; ++i) {
        sparse_close(&m->weight[i].forward);
        sparse_close(&m->weight[i].back);
    }
    layer_norm_close(&m->norm[0]);
    layer_norm_close(&m->norm[1]);
    attention_close(&m->attention);
    free(m->h);
    free(m->y);
    free(m->weight);
    free(m->room);
}

/* ---- forward --------------------------------------------------------------------------------- */

static void norm_forward(struct gpt *m, struct layer_norm *norm, size_t p,
                         const struct bounded_matrix *x, struct bounded_matrix *y)
{
    layer_norm_forward(norm, value(m, p), value(m, p + 1), x, y);
}

static void linear(struct gpt *m, size_t l, size_t which, size_t weight,
                   const struct bounded_matrix *x, struct bounded_matrix *y)
{
    sparse_product(&m->weight[4 * l + weight].forward, value(m, param_of(l, which) + 1), x, y);
}

/* Computes layer l from h[l], except its last sum. again: backward calls, and attention is not
 * computed again. */
static void layer_forward(struct gpt *m, size_t l, bool again)
{
    norm_forward(m, &m->norm[0], param_of(l, NORM_1), &m->h[l], &m->a);
    bounded_matrix_operands(&m->a, m->variant);
    linear(m, l, ATTENTION, 0, &m->a, &m->qkv);
    bounded_matrix_operands(&m->qkv, m->attention.variant);
    if (!again) {
        attention_forward(&m->attention, &m->qkv, &m->y[l]);
        bounded_matrix_operands(&m->y[l], m->variant);
    }
    linear(m, l, ATTENTION_OUT, 1, &m->y[l], &m->branch);
    bounded_matrix_copy(&m->middle, &m->h[l]);
    bounded_matrix_add(&m->middle, &m->branch);
    norm_forward(m, &m->norm[1], param_of(l, NORM_2), &m->middle, &m->b);
    bounded_matrix_operands(&m->b, m->variant);
    linear(m, l, HIDDEN, 2, &m->b, &m->z);
    gelu_forward(&m->z, &m->g);
    bounded_matrix_operands(&m->g, m->variant);
}

/* ---- backward -------------------------------------------------------------------------------- */

/* Computes the gradient of the loss of place t. The loss is a sum over places here; the factor of
 * the mean comes with the share of the pattern. If a number is e away, its share changes by a
 * factor of at most exp(e), times the change of the sum, which is at most the sum of the shares
 * times exp(e). The 8 roundings are those of the factors of loss and mean, and of the
 * difference. */
static void loss_back(struct gpt *m, const struct bounded_matrix *logits, size_t t, size_t target)
{
    const size_t n = m->vocabulary, at = t * n;
    const double *v = logits->v + at, *e = logits->e + at;
    double most = v[0], least = v[0], away = 0, sum = 0, moved = 0, *share = m->dlogits.v + at;

    for (size_t i = 0; i < n; ++i) {
        most = fmax(most, v[i]);
        least = fmin(least, v[i]);
        away = fmax(away, e[i]);
    }
    for (size_t i = 0; i < n; ++i) {
        sum += share[i] = exp(v[i] - most);
        moved += share[i] * expm1(e[i]);
    }

    const double of_sum = log1p(moved / sum), wide = most - least + 2 * away;

    for (size_t i = 0; i < n; ++i) {
        const double p = share[i] / sum, d = i == target ? p - 1 : p;

        bounded_matrix_put(&m->dlogits, at + i,
                           (struct bounded){d, p * softmax_away(e[i] + of_sum, wide, 0) +
                                                   8 * BOUNDED_U * fabs(d)});
    }
}

/* Adds the gradients of the parameters of a linear layer, and computes that of its input, from the
 * gradient of its output. */
static void linear_back(struct gpt *m, size_t l, size_t which, size_t weight,
                        const struct bounded_matrix *dy, const struct bounded_matrix *x,
                        struct bounded_matrix *dx)
{
    const size_t p = param_of(l, which);

    struct bounded_matrix operand = {dy->rows, dy->width, m->dy.v, m->dy.e};

    bounded_matrix_copy(&operand, dy);
    bounded_matrix_operands(&operand, m->variant);
    bounded_matrix_weight_gradient(&m->share, &operand, x, m->room, gradient(m, p));
    bounded_matrix_bias_gradient(&m->share, dy, gradient(m, p + 1));
    sparse_product(&m->weight[4 * l + weight].back, NULL, &operand, dx);
}

static void norm_back(struct gpt *m, const struct layer_norm *norm, size_t p,
                      const struct bounded_matrix *dy, struct bounded_matrix *dx)
{
    layer_norm_gradients(&m->share, norm, dy, gradient(m, p), gradient(m, p + 1));
    layer_norm_backward(norm, value(m, p), dy, dx);
}

static void gpt_backward(struct gpt *m, size_t r, const struct bounded_matrix *logits)
{
    const struct row_sum_bound table = {m->share.times, m->gamma_token};

    for (size_t t = 0; t < m->time; ++t)
        loss_back(m, logits, t, (size_t)workload_token(&m->v->workload, &m->v->set, r, t + 1));
    bounded_matrix_operands(&m->dlogits, m->variant);
    bounded_matrix_weight_gradient(&table, &m->dlogits, &m->a, m->room, gradient(m, TOKENS));
    sparse_product(&m->weight[4 * m->layers].back, NULL, &m->dlogits, &m->branch);
    norm_back(m, &m->norm[0], param_of(m->layers, 0), &m->branch, &m->dh);
    /* dh is the gradient of the output of a layer, and then that of its input. */
    for (size_t l = m->layers; l-- > 0;) {
        layer_forward(m, l, true);
        linear_back(m, l, HIDDEN_OUT, 3, &m->dh, &m->g, &m->dg);
        gelu_backward(&m->z, &m->dg);
        linear_back(m, l, HIDDEN, 2, &m->dg, &m->b, &m->branch);
        norm_back(m, &m->norm[1], param_of(l, NORM_2), &m->branch, &m->dx);
        bounded_matrix_add(&m->dh, &m->dx);
        linear_back(m, l, ATTENTION_OUT, 1, &m->dh, &m->y[l], &m->branch);
        bounded_matrix_operands(&m->branch, m->attention.variant);
        attention_backward(&m->attention, &m->qkv, &m->branch, &m->dqkv);
        linear_back(m, l, ATTENTION, 0, &m->dqkv, &m->a, &m->branch);
        norm_back(m, &m->norm[0], param_of(l, NORM_1), &m->branch, &m->dx);
        bounded_matrix_add(&m->dh, &m->dx);
    }
    for (size_t t = 0; t < m->time; ++t) {
        const size_t token = (size_t)workload_token(&m->v->workload, &m->v->set, r, t);

        for (size_t j = 0; j < m->width; ++j) {
            const struct bounded d = bounded_matrix_at(&m->dh, t * m->width + j);

            row_sum_bound_add(&table, d, token * m->width + j, gradient(m, TOKENS));
            row_sum_bound_add(&m->share, d, t * m->width + j, gradient(m, POSITIONS));
        }
    }
}

static int gpt_fill(struct verify *v, struct text_error *why)
{
    const size_t outputs = workload_width(&v->workload);
    struct gpt m;
    const int status = open_model(&m, v);

    /* The gradients of queries and keys are far smaller than those of values. In a math other than
     * f32, whose bounds follow each number, the values must not hide them, so each part has a
     * width. The gradient of a key's bias consists of rounding only, so it has no meaningful width.
     */
    for (size_t l = 0; v->math != DP_MATH_F32 && l < m.layers; ++l)
        gradient(&m, param_of(l, ATTENTION))->parts = REFERENCE_PARTS;
    for (size_t r = 0; r < v->patterns && status == 0; ++r) {
        struct bounded_matrix logits = {m.time, m.vocabulary, v->arrays->output.value + r * outputs,
                                        v->arrays->output.bound + r * outputs};

        m.share.times = v->weight[r];
        for (size_t t = 0; t < m.time; ++t) {
            const size_t token = (size_t)workload_token(&v->workload, &v->set, r, t);

            for (size_t j = 0; j < m.width; ++j)
                bounded_matrix_put(
                    &m.h[0], t * m.width + j,
                    bounded_plus((struct bounded){value(&m, TOKENS)[token * m.width + j], 0},
                                 (struct bounded){value(&m, POSITIONS)[t * m.width + j], 0}));
        }
        for (size_t l = 0; l < m.layers; ++l) {
            layer_forward(&m, l, false);
            linear(&m, l, HIDDEN_OUT, 3, &m.g, &m.branch);
            bounded_matrix_copy(&m.h[l + 1], &m.middle);
            bounded_matrix_add(&m.h[l + 1], &m.branch);
        }
        norm_forward(&m, &m.norm[0], param_of(m.layers, 0), &m.h[m.layers], &m.a);
        bounded_matrix_operands(&m.a, m.variant);
        sparse_product(&m.weight[4 * m.layers].forward, NULL, &m.a, &logits);
        gpt_backward(&m, r, &logits);
    }
    close_model(&m);
    return status ? verify_starved(why) : 0;
}

const struct verify_reference verify_reference_gpt = {.workload = "gpt", .fill = gpt_fill};
