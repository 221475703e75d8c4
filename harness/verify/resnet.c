/* verify/resnet.c: a float64 step of the model resnet, shard by shard, because batch norm takes its
 * statistics from the rows of a shard. Up to the first batch norm all numbers are whole, or, in the
 * probe, have bounds; from there on all have bounds. One row of each pattern of a shard is
 * computed; its gradients stand for those of all rows of that pattern. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/alloc.h"
#include "verify/arrays.h"
#include "verify/sums.h"

enum { IMAGE_SIDE = 8, SIDE = 4, PLANE = SIDE * SIDE, CHANNELS = 32, WIDE = CHANNELS * PLANE };
enum { CLASSES = 10, BLOCKS = 2 };
/* The numbers of parameters. A block has the weight of its convolution, then weight and bias of its
 * norm. */
enum { STEM = 0, BLOCK = 2, OF_BLOCK = 3, LINEAR = BLOCK + OF_BLOCK * BLOCKS };

static const struct windows of_stem = {1, IMAGE_SIDE, CHANNELS, SIDE, 2, 1};
static const struct windows of_block = {CHANNELS, SIDE, CHANNELS, SIDE, 1, 1};

/* A pattern in a shard. */
struct row {
    double rows, scales; /* how many rows have the pattern, and the sum of their scales; 0: none */
    struct bounded image[IMAGE_SIDE * IMAGE_SIDE];
    struct bounded x[BLOCKS + 1][WIDE], conv[BLOCKS][WIDE]; /* x[b]: what enters block b */
    struct norm_gradient g[WIDE], dy[WIDE]; /* of x[b], from the last b on; of conv[b] */
    struct norm_gradient dx[WIDE];          /* of x[b], from conv[b] */
};

struct norm {
    double weight, bias, n; /* n: values of the channel */
    struct bounded mean, invstd;
    struct bounded sum, product; /* of the upstream, and of it times what is normalised */
};

struct resnet {
    struct verify *v;
    struct row *row; /* [kinds] */
    struct norm norm[BLOCKS][CHANNELS];
    double rows;    /* of the shard */
    double largest; /* sum of |terms| of what is exact */
    struct windows_sum sum[CHANNELS * CHANNELS * WINDOWS_TAPS]; /* of a weight in the shard */
    struct windows_upstream dy[WIDE];
};

/* The ReLU of z. A number that is surely negative becomes 0, without an error. */
static struct bounded cut(struct bounded z)
{
    return z.v <= -z.e ? (struct bounded){0, 0} : (struct bounded){fmax(z.v, 0), z.e};
}

/* The gradient of the ReLU. If z may be on either side of 0, g passes or not. */
static struct bounded passed(struct bounded z, struct bounded g)
{
    if (z.v > z.e)
        return g;
    return z.v <= -z.e ? (struct bounded){0, 0}
                       : (struct bounded){z.v > 0 ? g.v : 0, fabs(g.v) + g.e};
}

/* ---- batch norm ------------------------------------------------------------------------------ */

/* One channel over a shard. Values are added one by one; rows that are alike are added at once, by
 * their number. dp_batch_norm computes all sums of a channel in double and rounds them once to
 * float, and so it does with the mean and 1 / deviation that backward reads. A sum in double of n
 * terms is away by at most n 2^-53 times the sum of |terms|, so bounds do not widen with the rows.
 *
 * The upstream of a row is s times that of its pattern. Its gradient is then s own + all, because
 * backward of batch norm subtracts a share from every row that does not depend on the scale of that
 * row. Every bound is also a sum of two such parts: a float step rounds s own + all by no more than
 * it would round s |own| and |all|. */

static const double D = 0x1p-53;   /* one double rounding of a number of size 1 */
static const double FEW = 0x1p-49; /* a handful of them */

/* A product in double. Its bound has the errors of the operands, and a few roundings. */
static struct bounded times(struct bounded a, struct bounded b)
{
    const double size = (fabs(a.v) + a.e) * (fabs(b.v) + b.e);

    return (struct bounded){a.v * b.v, size - fabs(a.v * b.v) + FEW * size};
}

static struct bounded plus(struct bounded a, struct bounded b)
{
    const double size = fabs(a.v) + a.e + fabs(b.v) + b.e;

    return (struct bounded){a.v + b.v, a.e + b.e + FEW * size};
}

static struct bounded minus(struct bounded a, struct bounded b)
{
    return plus(a, (struct bounded){-b.v, b.e});
}

/* Rounds to float. */
static struct bounded rounded(struct bounded a)
{
    return (struct bounded){a.v, a.e + BOUNDED_U * (fabs(a.v) + a.e)};
}

/* Computes the statistics of channel c of block b. */
static void norm_forward_sums(struct resnet *m, int b, size_t c)
{
    const int p = BLOCK + OF_BLOCK * b;
    struct bounded mean = {0, 0}, squares = {0, 0};
    double n = 0, size = 0;

    for (size_t r = 0; r < m->v->kinds; ++r)
        for (size_t i = c * PLANE; m->row[r].rows > 0 && i < (c + 1) * PLANE; ++i) {
            const struct bounded x = m->row[r].conv[b][i];

            n += m->row[r].rows;
            mean.v += m->row[r].rows * x.v;
            mean.e += m->row[r].rows * x.e;
            size += m->row[r].rows * (fabs(x.v) + x.e);
        }
    /* The error of a mean is the mean of the errors of its values, plus the roundings of its sum.
     */
    mean.v /= n;
    mean.e = (mean.e + (n + 8) * D * size) / n;
    for (size_t r = 0; r < m->v->kinds; ++r)
        for (size_t i = c * PLANE; m->row[r].rows > 0 && i < (c + 1) * PLANE; ++i) {
            /* If d is the difference from the mean and m is how far d is away, then d^2 is 2 |d| m
             * + m^2 away. */
            const struct bounded d = minus(m->row[r].conv[b][i], mean);

            squares.v += m->row[r].rows * d.v * d.v;
            squares.e += m->row[r].rows * (2 * fabs(d.v) + d.e) * d.e;
        }
    /* 1 / sqrt falls ever more slowly, so its error is largest at the least possible variance. */
    const double variance = squares.v / n + 1e-5;
    const double away = (squares.e + (n + 8) * D * (squares.v + squares.e)) / n;
    const double v = 1 / sqrt(variance), most = 1 / sqrt(variance - away);

    m->norm[b][c] =
        (struct norm){.weight = m->v->arrays->param[p + 1].value[c],
                      .bias = m->v->arrays->param[p + 2].value[c],
                      .n = n,
                      .mean = mean,
                      .invstd = {v, variance > away ? most - v + FEW * most : INFINITY}};
}

static struct bounded norm_forward(const struct norm *norm, struct bounded x)
{
    const struct bounded factor = times(norm->invstd, (struct bounded){norm->weight, 0});

    return rounded(plus(times(minus(x, norm->mean), factor), (struct bounded){norm->bias, 0}));
}

/* The normalised value as backward computes it: with mean and 1 / deviation as floats. */
static struct bounded normalised(const struct norm *norm, struct bounded x)
{
    return times(minus(x, rounded(norm->mean)), rounded(norm->invstd));
}

static struct bounded scaled(double by, struct bounded a)
{
    return (struct bounded){by * a.v, by * a.e};
}

static void add_to(struct bounded *sum, double *size, struct bounded a)
{
    sum->v += a.v;
    sum->e += a.e;
    *size += fabs(a.v) + a.e;
}

/* ---- forward --------------------------------------------------------------------------------- */

/* Sums of whole numbers are exact while the sums of |terms| are below 2^24. */
static void resnet_convolve(struct resnet *m, const struct windows *of, bool whole, int p,
                            const double *bias, const struct bounded *x, struct bounded *y)
{
    const bool exact = whole && !m->v->probe;
    const double size = windows_forward(of, exact, m->v->arrays->param[p].value, bias, x, y);

    m->largest = exact ? fmax(m->largest, size) : m->largest;
}

static void block(struct resnet *m, int b)
{
    const int p = BLOCK + OF_BLOCK * b;

    for (size_t r = 0; r < m->v->kinds; ++r)
        if (m->row[r].rows > 0)
            resnet_convolve(m, &of_block, b == 0, p, NULL, m->row[r].x[b], m->row[r].conv[b]);
    for (size_t c = 0; c < CHANNELS; ++c)
        norm_forward_sums(m, b, c);
    for (size_t r = 0; r < m->v->kinds; ++r) {
        struct row *row = &m->row[r];

        for (size_t i = 0; row->rows > 0 && i < WIDE; ++i) {
            const struct bounded x = row->x[b][i];
            const struct bounded y = cut(norm_forward(&m->norm[b][i / PLANE], row->conv[b][i]));

            /* The skip connection. Adding 0 rounds nothing. */
            row->x[b + 1][i] = fabs(y.v) + y.e == 0 ? x : bounded_plus(x, y);
        }
    }
}

/* ---- sums over rows -------------------------------------------------------------------------- */

/* Adds a gradient of the shard, which is rounded once there. It is then added to those of the other
 * devices and to the earlier gradient. */
static void add_shard(const struct resnet *m, int p, size_t i, struct bounded total)
{
    struct reference_array *grad = &m->v->arrays->grad[p];
    const double size = fabs(total.v) + total.e;

    grad->value[i] += total.v;
    grad->bound[i] += total.e + bounded_gamma((double)m->v->devices + 5) * size;
}

/* Adds a gradient that is a sum over that many terms of the shard, in any order; then it goes on as
 * add_shard says. */
static void add_sum(const struct resnet *m, int p, size_t i, double terms,
                    const struct windows_sum *sum)
{
    struct reference_array *grad = &m->v->arrays->grad[p];
    const double size = sum->size + sum->carried;

    grad->value[i] += sum->value;
    grad->bound[i] += sum->carried + bounded_gamma(terms + (double)m->v->devices + 4) * size;
}

static void gather(const struct row *row, struct windows_upstream *dy)
{
    for (size_t i = 0; i < WIDE; ++i) {
        const struct norm_gradient *g = &row->dy[i];

        dy[i].value = row->scales * g->own.v + row->rows * g->all.v;
        dy[i].size = row->scales * fabs(g->own.v) + row->rows * fabs(g->all.v);
        dy[i].away = row->scales * g->own.e + row->rows * g->all.e;
    }
}

/* Adds the gradient of the weight of a convolution, parameter p, from the gradients of its output
 * in all rows. b: the block of the convolution; -1: the stem. */
static void weight_sums(struct resnet *m, int p, int b)
{
    const struct windows *of = b < 0 ? &of_stem : &of_block;
    struct windows_upstream *dy = m->dy;

    memset(m->sum, 0, sizeof m->sum);
    for (size_t r = 0; r < m->v->kinds; ++r) {
        if (m->row[r].rows == 0)
            continue;
        gather(&m->row[r], dy);
        windows_add(of, b < 0 ? m->row[r].image : m->row[r].x[b], dy, m->sum);
    }
    for (size_t i = 0; i < of->outs * of->channels * WINDOWS_TAPS; ++i)
        add_sum(m, p, i, m->rows * PLANE, &m->sum[i]);
}

/* ---- the last layer -------------------------------------------------------------------------- */

/* Computes the outputs, and the gradients of the input of the last layer, which depend on no other
 * row. */
static void linear(struct resnet *m, size_t kind, size_t place)
{
    struct reference_arrays *d = m->v->arrays;
    const double *weight = d->param[LINEAR].value;
    struct row *row = &m->row[kind];
    struct bounded g[CLASSES];

    for (size_t k = 0; k < CLASSES; ++k) {
        struct bounded_sum sum = {.v = 0};

        bounded_sum_add_dot(&sum, weight + k * WIDE, 1, row->x[BLOCKS], WIDE);
        bounded_sum_add_one(&sum, (struct bounded){d->param[LINEAR + 1].value[k], 0});

        const struct bounded y = bounded_sum_done(&sum);

        g[k] = (struct bounded){workload_upstream(&m->v->set, kind, k), 0};
        d->output.value[place * CLASSES + k] = y.v;
        d->output.bound[place * CLASSES + k] = y.e;
    }
    for (size_t j = 0; j < WIDE; ++j)
        row->g[j] = (struct norm_gradient){.own = bounded_dot(weight + j, WIDE, g, CLASSES)};
}

/* Whole numbers add up exactly: a row that is lost shows in the gradient of the bias, whatever the
 * batch. */
static void linear_sums(struct resnet *m)
{
    const struct workload_set *set = &m->v->set;

    for (size_t k = 0; k < CLASSES; ++k) {
        struct windows_sum bias = {0};

        for (size_t r = 0; r < m->v->kinds; ++r) {
            bias.value += m->row[r].scales * workload_upstream(set, r, k);
            bias.size += m->row[r].scales * fabs(workload_upstream(set, r, k));
        }
        if (!m->v->probe && bias.size < VERIFY_FLOAT_LIMIT / (double)m->v->devices)
            m->v->arrays->grad[LINEAR + 1].value[k] += bias.value;
        else
            add_sum(m, LINEAR + 1, k, m->rows, &bias);
        for (size_t j = 0; j < WIDE; ++j) {
            struct windows_sum sum = {0};

            for (size_t r = 0; r < m->v->kinds; ++r) {
                const double g = m->row[r].scales * workload_upstream(set, r, k);
                const struct bounded x = m->row[r].x[BLOCKS][j];

                if (m->row[r].scales == 0)
                    continue;
                sum.value += g * x.v;
                sum.size += fabs(g * x.v);
                sum.carried += fabs(g) * x.e;
            }
            add_sum(m, LINEAR, k * WIDE + j, m->rows, &sum);
        }
    }
}

/* ---- backward -------------------------------------------------------------------------------- */

/* The gradient of the output of the norm of block b, through its ReLU. */
static struct norm_gradient through(const struct resnet *m, int b, const struct row *row, size_t i)
{
    const struct bounded z = norm_forward(&m->norm[b][i / PLANE], row->conv[b][i]);

    return (struct norm_gradient){passed(z, row->g[i].own), passed(z, row->g[i].all)};
}

static void block_back(struct resnet *m, int b)
{
    const int p = BLOCK + OF_BLOCK * b;

    /* The two sums of each channel are the gradients of its two parameters. */
    for (size_t c = 0; c < CHANNELS; ++c) {
        struct norm *norm = &m->norm[b][c];
        double size = 0, product_size = 0;

        for (size_t r = 0; r < m->v->kinds; ++r) {
            const struct row *row = &m->row[r];

            for (size_t i = c * PLANE; row->rows > 0 && i < (c + 1) * PLANE; ++i) {
                const struct norm_gradient g = through(m, b, row, i);
                const struct bounded hat = normalised(norm, row->conv[b][i]);

                add_to(&norm->sum, &size, scaled(row->scales, g.own));
                add_to(&norm->sum, &size, scaled(row->rows, g.all));
                add_to(&norm->product, &product_size, scaled(row->scales, times(g.own, hat)));
                add_to(&norm->product, &product_size, scaled(row->rows, times(g.all, hat)));
            }
        }
        norm->sum.e += (norm->n + 8) * D * size;
        norm->product.e += (norm->n + 8) * D * product_size;
        add_shard(m, p + 1, c, norm->product);
        add_shard(m, p + 2, c, norm->sum);
    }
    /* The skip connection adds the gradients of the output of the block to those of its input. */
    for (size_t r = 0; r < m->v->kinds; ++r) {
        struct row *row = &m->row[r];

        if (row->rows == 0)
            continue;
        /* weight invstd (g - mean of g - normalised x mean of (g normalised x)) */
        for (size_t i = 0; i < WIDE; ++i) {
            const struct norm *norm = &m->norm[b][i / PLANE];
            const struct norm_gradient g = through(m, b, row, i);
            const struct bounded factor =
                times(rounded(norm->invstd), (struct bounded){norm->weight, 0});
            const struct bounded slope = scaled(1 / norm->n, norm->product);
            const struct bounded share = plus(scaled(1 / norm->n, norm->sum),
                                              times(normalised(norm, row->conv[b][i]), slope));

            row->dy[i] = (struct norm_gradient){.own = rounded(times(factor, g.own)),
                                                .all = rounded(times(factor, minus(g.all, share)))};
        }
        windows_backward(&of_block, m->v->arrays->param[p].value, row->dy, row->dx);
        for (size_t i = 0; i < WIDE; ++i)
            row->g[i] = (struct norm_gradient){bounded_plus(row->g[i].own, row->dx[i].own),
                                               bounded_plus(row->g[i].all, row->dx[i].all)};
    }
    weight_sums(m, p, b);
}

/* Goes back through the first ReLU, and adds the gradients of the weight and bias of the stem. */
static void stem_back(struct resnet *m)
{
    struct windows_sum bias[CHANNELS] = {{0}};
    struct windows_upstream *dy = m->dy;

    for (size_t r = 0; r < m->v->kinds; ++r) {
        struct row *row = &m->row[r];

        if (row->rows == 0)
            continue;
        for (size_t i = 0; i < WIDE; ++i)
            row->dy[i] = (struct norm_gradient){passed(row->x[0][i], row->g[i].own),
                                                passed(row->x[0][i], row->g[i].all)};
        gather(row, dy);
        for (size_t i = 0; i < WIDE; ++i) {
            bias[i / PLANE].value += dy[i].value;
            bias[i / PLANE].size += dy[i].size;
            bias[i / PLANE].carried += dy[i].away;
        }
    }
    weight_sums(m, STEM, -1);
    for (size_t c = 0; c < CHANNELS; ++c)
        add_sum(m, STEM + 1, c, m->rows * PLANE, &bias[c]);
}

/* ---- a shard --------------------------------------------------------------------------------- */

static void fill_shard(struct resnet *m, size_t shard)
{
    const struct workload_set *set = &m->v->set;
    const double *bias = m->v->arrays->param[STEM + 1].value;

    m->rows = 0;
    for (size_t r = 0; r < m->v->kinds; ++r)
        m->row[r].rows = m->row[r].scales = 0;
    for (size_t n = 0; n < m->v->rows; ++n) {
        struct row *row = &m->row[workload_pattern(set, n)];

        if (verify_shard(m->v, n) != shard)
            continue;
        row->rows += 1;
        row->scales += workload_scale(set, n);
        m->rows += 1;
    }
    if (m->rows == 0)
        return;
    for (size_t r = 0; r < m->v->kinds; ++r) {
        struct row *row = &m->row[r];

        if (row->rows == 0)
            continue;
        for (size_t i = 0; i < IMAGE_SIDE * IMAGE_SIDE; ++i)
            row->image[i] = (struct bounded){workload_input(set, r, i), 0};
        resnet_convolve(m, &of_stem, true, STEM, bias, row->image, row->x[0]);
        for (size_t i = 0; i < WIDE; ++i)
            row->x[0][i] = cut(row->x[0][i]);
    }
    for (int b = 0; b < BLOCKS; ++b)
        block(m, b);
    for (size_t r = 0; r < m->v->kinds; ++r)
        if (m->row[r].rows > 0)
            linear(m, r, shard * m->v->kinds + r);
    linear_sums(m);
    for (int b = BLOCKS - 1; b >= 0; --b)
        block_back(m, b);
    stem_back(m);
}

static int resnet_fill(struct verify *v, struct text_error *why)
{
    struct resnet *m = cli_alloc(1, sizeof *m);
    int status;

    m->v = v;
    m->row = calloc(v->kinds, sizeof *m->row);
    for (size_t shard = 0; m->row && shard < v->devices; ++shard)
        fill_shard(m, shard);
    status = m->row ? verify_exact(m->largest, why) : verify_starved(why);
    free(m->row);
    free(m);
    return status;
}

const struct verify_reference verify_reference_resnet = {.workload = "resnet", .fill = resnet_fill};
