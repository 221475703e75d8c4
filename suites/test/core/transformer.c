/* transformer.c: the layers of a transformer: which arguments they refuse, the draws of attention's
 * dropout, and shards. The comparison with PyTorch is in torch_transformer.c. */
#include "list.h"

#include <math.h>
#include <string.h>

static struct dp_module *make_attention(struct context *c, struct dp_group *group, size_t heads,
                                        double p)
{
    struct dp_module *module = NULL;
    return opened_module(c, dp_attention(group, heads, p, 7, &module, &c->err), &module);
}

static struct dp_module *make_positions(struct context *c, struct dp_group *group, size_t context,
                                        size_t width)
{
    struct dp_module *module = NULL;
    return opened_module(c, dp_positions(group, context, width, &module, &c->err), &module);
}

static struct dp_module *make_norm(struct context *c, struct dp_group *group, size_t width)
{
    struct dp_module *module = NULL;
    return opened_module(c, dp_layer_norm(group, width, 1e-5, &module, &c->err), &module);
}

static struct dp_module *make_gelu(struct context *c, struct dp_group *group)
{
    struct dp_module *module = NULL;
    return opened_module(c, dp_gelu(group, true, &module, &c->err), &module);
}

/* ---- what is refused ---------------------------------------------------------------------- */

static void refused_at_open(struct context *c)
{
    const struct one p = open_one(c, 1);
    struct dp_module *m = NULL;
    expect_error(c, dp_layer_norm(p.group, 0, 0.1, &m, &c->err), DP_EINVAL, "(0, ", NULL);
    expect_error(c, dp_layer_norm(p.group, 3, -0.5, &m, &c->err), DP_EINVAL, "-0.5", NULL);
    expect_error(c, dp_layer_norm(p.group, 3, (double)NAN, &m, &c->err), DP_EINVAL, "nan", NULL);
    expect_error(c, dp_positions(p.group, 0, 3, &m, &c->err), DP_EINVAL, "(0, 3)", NULL);
    expect_error(c, dp_positions(p.group, 3, 0, &m, &c->err), DP_EINVAL, "(3, 0)", NULL);
    expect_error(c, dp_attention(p.group, 0, 0.0, 1, &m, &c->err), DP_EINVAL, "0 heads", NULL);
    expect_error(c, dp_attention(p.group, 2, 1.5, 1, &m, &c->err), DP_EINVAL, "1.5", NULL);
    expect_error(c, dp_attention(p.group, 2, (double)NAN, 1, &m, &c->err), DP_EINVAL, "nan", NULL);
    struct dp_module *linear = make_linear(c, p.group, 3, 2, true);
    expect_error(c, dp_linear_tied(p.group, param_at(c, linear, 1), &m, &c->err), DP_ESHAPE, "(2)",
                 NULL);
    struct dp_module *other = make_linear(c, open_group(c, 1), 3, 2, true);
    expect_error(c, dp_linear_tied(p.group, param_at(c, other, 0), &m, &c->err), DP_EINVAL,
                 "another group", NULL);
    expect(c, m == NULL, "a layer was opened");
}

static void transformer_refuse(struct context *c, const struct one *p, struct dp_module *module,
                               const struct dp_tensor in[], int n_in, int status,
                               const char *needle, const char *other)
{
    struct dp_tensor out[DP_MAX_IO];
    int n_out = 0;
    expect_error(c, dp_forward(module, p->run, in, n_in, out, &n_out, &c->err), status, needle,
                 other);
}

static void refused_at_forward(struct context *c)
{
    const struct one p = open_one(c, 2);
    struct dp_slot *far = dp_group_slot(p.group, 1);
    struct dp_module *norm = make_norm(c, p.group, 3), *at = make_positions(c, p.group, 4, 3);
    struct dp_module *attention = make_attention(c, p.group, 2, 0.0);
    struct dp_module *loss = make_loss(c, p.group, DP_LOSS_XENT, 1.0f, true);
    move_module(c, norm, p.slot);
    move_module(c, at, p.slot);
    const double *some = sequence(c, 120, 1.0, 1.0);
    const struct dp_tensor flat = make_tensor(c, p.slot, DP_F32, 1, (size_t[]){3}, some);
    const struct dp_tensor wide = make_tensor(c, p.slot, DP_F32, 3, (size_t[]){2, 3, 4}, some);
    const struct dp_tensor far_one = make_tensor(c, far, DP_F32, 3, (size_t[]){2, 4, 3}, some);
    const struct dp_tensor whole = make_tensor(c, p.slot, DP_I32, 3, (size_t[]){2, 4, 3}, some);
    const struct dp_tensor rows = make_matrix(c, p.slot, 4, 3, some);
    const struct dp_tensor lengthy = make_tensor(c, p.slot, DP_F32, 3, (size_t[]){1, 5, 3}, some);
    const struct dp_tensor odd = make_tensor(c, p.slot, DP_F32, 3, (size_t[]){2, 2, 9}, some);
    const struct dp_tensor none = make_tensor(c, p.slot, DP_F32, 3, (size_t[]){2, 2, 0}, some);
    const struct dp_tensor twelve = make_matrix(c, p.slot, 4, 12, some);
    transformer_refuse(c, &p, norm, &flat, 1, DP_ESHAPE, "layer_norm(3)", "(3)");
    transformer_refuse(c, &p, norm, &wide, 1, DP_ESHAPE, "layer_norm(3)", "(2, 3, 4)");
    transformer_refuse(c, &p, norm, &whole, 1, DP_ESHAPE, "layer_norm(3)", NULL);
    transformer_refuse(c, &p, norm, &far_one, 1, DP_EDEVICE, dp_slot_name(p.slot),
                       dp_slot_name(far));
    transformer_refuse(c, &p, at, &lengthy, 1, DP_ESHAPE, "5 steps", "at most 4");
    transformer_refuse(c, &p, at, &wide, 1, DP_ESHAPE, "positions(4, 3)", "(2, 3, 4)");
    transformer_refuse(c, &p, at, &rows, 1, DP_ESHAPE, "positions(4, 3)", "(4, 3)");
    transformer_refuse(c, &p, at, &whole, 1, DP_ESHAPE, "positions(4, 3)", NULL);
    transformer_refuse(c, &p, at, &far_one, 1, DP_EDEVICE, dp_slot_name(p.slot), dp_slot_name(far));
    transformer_refuse(c, &p, attention, &odd, 1, DP_ESHAPE, "(2, 2, 9)", "3 * 2");
    transformer_refuse(c, &p, attention, &none, 1, DP_ESHAPE, "(2, 2, 0)", "3 * 2");
    transformer_refuse(c, &p, attention, &twelve, 1, DP_ESHAPE, "(4, 12)", "3 * 2");
    transformer_refuse(c, &p, attention, &whole, 1, DP_ESHAPE, "3 * 2", NULL);
    transformer_refuse(c, &p, make_gelu(c, p.group), &whole, 1, DP_ESHAPE, "gelu", NULL);
    const size_t dim[][2] = {{2, 2}, {3, 2}};
    for (int i = 0; i < 2; ++i) {
        const struct dp_tensor pair[] = {wide, make_tensor(c, p.slot, DP_I32, 2, dim[i], some)};
        transformer_refuse(c, &p, loss, pair, 2, DP_ESHAPE, "(2, 3, 4)", NULL);
    }
    const struct dp_tensor floats[] = {wide, make_matrix(c, p.slot, 2, 3, some)};
    transformer_refuse(c, &p, loss, floats, 2, DP_ESHAPE, "(2, 3, 4)", "(2, 3)");
}

/* Without rows, or without steps, there is nothing to compute, and nothing fails. */
static void empty(struct context *c)
{
    const struct one p = open_one(c, 1);
    struct dp_module *parts[] = {make_positions(c, p.group, 4, 6), make_norm(c, p.group, 6),
                                 make_gelu(c, p.group), make_attention(c, p.group, 2, 0.5)};
    struct dp_module *model = make_sequential(c, p.group, parts, 4);
    move_module(c, model, p.slot);
    for (size_t i = 0; i < 2; ++i) {
        const size_t dim[] = {i == 0 ? 0 : 3, i == 0 ? 3 : 0, 6}, out[] = {dim[0], dim[1], 2};
        struct dp_tensor x = make_tensor(c, p.slot, DP_F32, 3, dim, NULL);
        x.needs_grad = true;
        const struct dp_tensor y = forward(c, model, p.run, &x);
        expect_shape(c, "output", &y, 3, out);
        const struct dp_tensor dx = backward(c, model, p.run, NULL);
        expect_shape(c, "input gradient", &dx, 3, dim);
        expect_grad(c, "positions", param_at(c, model, 0), sequence(c, 24, 0.0, 0.0));
    }
}

/* ---- dropout of attention ----------------------------------------------------------------- */

enum { ROWS = 2, HEADS = 2, STEPS = 8, ALL = ROWS * HEADS * STEPS * STEPS };

/* Values are unit vectors, one for each step, so that the output is the probabilities themselves,
 * in training those after dropout: [ROWS, STEPS, HEADS, STEPS]. */
static struct dp_tensor make_input(struct context *c, const struct one *p)
{
    const size_t dim[] = {ROWS, STEPS, 3 * HEADS * STEPS};
    const float *some = randoms(c, ROWS * STEPS * 3 * HEADS * STEPS, 3);
    double *x = case_memory(c, ROWS * STEPS * 3 * HEADS * STEPS * sizeof *x);
    for (size_t i = 0; i < ROWS * STEPS * 3 * HEADS * STEPS; ++i) {
        const size_t step = i / dim[2] % STEPS, at = i % dim[2];
        x[i] = at < 2 * HEADS * STEPS ? (double)some[i] : at % STEPS == step ? 1.0 : 0.0;
    }
    return make_tensor(c, p->slot, DP_F32, 3, dim, x);
}

/* Returns the mask that dp_dropout with that seed has in the first draws of a run: 0 or 2. */
static const float *make_mask(struct context *c, const struct one *p)
{
    struct dp_module *dropout = NULL;
    const size_t dim[] = {ROWS, HEADS, STEPS, STEPS};
    const struct dp_tensor ones =
        make_tensor(c, p->slot, DP_F32, 4, dim, sequence(c, ALL, 1.0, 0.0));
    (void)opened_module(c, dp_dropout(p->group, 0.5, 7, &dropout, &c->err), &dropout);
    const struct dp_tensor y = forward(c, dropout, open_run(c, p->group), &ones);
    return read_floats(c, &y);
}

/* Returns the position of number e of head h's vector in part 0, 1 or 2 (q, k, v) of a step. */
static size_t transformer_place_of(size_t row, size_t step, size_t part, size_t h, size_t e)
{
    return (((row * STEPS + step) * 3 + part) * HEADS + h) * STEPS + e;
}

/* With ones from above and unit vectors as values, the gradient of what is kept is 1, of p its
 * factor f, and of a score scale p (f - sum of p f). 16 roundings of each term, in any order. */
static void expect_query_grad(struct context *c, const float *x, const float *grad, const float *p,
                              const float *kept, size_t row, size_t h, size_t t)
{
    const size_t at = ((row * STEPS + t) * HEADS + h) * STEPS;
    double sum = 0.0;
    for (size_t s = 0; s <= t; ++s)
        sum += (double)kept[at + s];
    for (size_t e = 0; e < STEPS; ++e) {
        double want = 0.0, sizes = 0.0;
        for (size_t s = 0; s <= t; ++s) {
            const double k = (double)x[transformer_place_of(row, s, 1, h, e)] / sqrt(STEPS);
            want += ((double)kept[at + s] - (double)p[at + s] * sum) * k;
            sizes += ((double)kept[at + s] + (double)p[at + s] * sum) * fabs(k);
        }
        const double got = (double)grad[transformer_place_of(row, t, 0, h, e)];
        expect(c, fabs(got - want) <= 16 * 0x1p-24 * sizes,
               "row %zu, head %zu, step %zu: gradient %zu of q is %g, not %g", row, h, t, e, got,
               want);
    }
}

/* The gradient of a value is the sum of what was kept of its step. */
static void expect_value_grad(struct context *c, const float *grad, const float *kept, size_t row,
                              size_t h, size_t s)
{
    double sum = 0.0;
    for (size_t t = s; t < STEPS; ++t)
        sum += (double)kept[((row * STEPS + t) * HEADS + h) * STEPS + s];
    const double got = (double)grad[transformer_place_of(row, s, 2, h, 0)];
    expect(c, fabs(got - sum) <= STEPS * 0x1p-24 * sum,
           "row %zu, head %zu, step %zu: gradient of v is %g, kept %g", row, h, s, got, sum);
}

static void dropped(struct context *c)
{
    const struct one p = open_one(c, 1);
    struct dp_tensor x = make_input(c, &p);
    struct dp_module *attention = make_attention(c, p.group, HEADS, 0.5);
    const float *mask = make_mask(c, &p);
    x.needs_grad = true;
    dp_run_train_mode(p.run, false);
    const struct dp_tensor eval = forward(c, attention, p.run, &x);
    const float *whole = read_floats(c, &eval);
    dp_run_reset(p.run);
    dp_run_train_mode(p.run, true);
    const struct dp_tensor train = forward(c, attention, p.run, &x);
    const float *kept = read_floats(c, &train);
    const struct dp_tensor dx = backward(c, attention, p.run, NULL);
    const float *grad = read_floats(c, &dx);
    size_t zeros = 0;
    for (size_t i = 0; i < ALL; ++i) {
        const size_t row = i / (HEADS * STEPS * STEPS), t = i / (HEADS * STEPS) % STEPS,
                     h = i / STEPS % HEADS, s = i % STEPS;
        const float factor = mask[((row * HEADS + h) * STEPS + t) * STEPS + s];
        zeros += factor == 0.0f && s <= t;
        expect(c, s > t ? kept[i] == 0.0f : kept[i] == factor * whole[i],
               "row %zu, head %zu, step %zu of %zu: %g, was %g, factor %g", row, h, s, t,
               (double)kept[i], (double)whole[i], (double)factor);
    }
    expect(c, zeros > ALL / 8 && zeros < ALL * 3 / 8, "%zu zeros", zeros);
    const float *numbers = read_floats(c, &x);
    for (size_t i = 0; i < ROWS * HEADS * STEPS; ++i) {
        const size_t row = i / (HEADS * STEPS), h = i / STEPS % HEADS, step = i % STEPS;
        expect_query_grad(c, numbers, grad, whole, kept, row, h, step);
        expect_value_grad(c, grad, kept, row, h, step);
    }
}

/* ---- many steps --------------------------------------------------------------------------- */

enum { LONGEST = 300 };

/* The numbers of a tensor, and the largest error of each. */
struct bounded {
    double *want, *bound;
};

static struct bounded make_near(struct context *c, size_t n)
{
    return (struct bounded){case_memory(c, n * sizeof(double)), case_memory(c, n * sizeof(double))};
}

static void add_near(const struct bounded *near, size_t i, double term, double size)
{
    near->want[i] += term;
    near->bound[i] += size;
}

/* One head of one row: its q begins at x, its k and v are each width further on. */
struct head {
    const float *x, *dy;
    size_t x_at, y_at, size, width;
};

static double transformer_dot(const float *a, const float *b, size_t n, bool sizes)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i)
        sum += sizes ? fabs((double)a[i] * (double)b[i]) : (double)a[i] * (double)b[i];
    return sum;
}

/* Computes the results of step t, which attends to the steps up to t. The bounds use the sum of the
 * magnitudes of all terms. */
static void one_time(const struct head *h, size_t t, const struct bounded *y,
                     const struct bounded *dx)
{
    const size_t lead = 3 * h->width, n = h->size, now = h->x_at + t * lead;
    const float *q = h->x + now, *dy = h->dy + h->y_at + t * h->width;
    const double scale = 1.0 / sqrt((double)n);
    double p[LONGEST], total = 0.0, sum = 0.0, sizes = 0.0;
    for (size_t s = 0; s <= t; ++s)
        total += p[s] =
            exp(scale * transformer_dot(q, h->x + h->x_at + s * lead + h->width, n, false));
    for (size_t s = 0; s <= t; ++s) {
        const float *v = h->x + h->x_at + s * lead + 2 * h->width;
        p[s] /= total;
        sum += p[s] * transformer_dot(dy, v, n, false);
        sizes += p[s] * transformer_dot(dy, v, n, true);
    }
    for (size_t s = 0; s <= t; ++s) {
        const size_t then = h->x_at + s * lead;
        const float *k = h->x + then + h->width, *v = k + h->width;
        const double d = scale * p[s] * (transformer_dot(dy, v, n, false) - sum);
        const double size = scale * p[s] * (transformer_dot(dy, v, n, true) + sizes);
        for (size_t e = 0; e < n; ++e) {
            add_near(y, h->y_at + t * h->width + e, p[s] * (double)v[e], fabs(p[s] * (double)v[e]));
            add_near(dx, now + e, d * (double)k[e], fabs(size * (double)k[e]));
            add_near(dx, then + h->width + e, d * (double)q[e], fabs(size * (double)q[e]));
            add_near(dx, then + 2 * h->width + e, p[s] * (double)dy[e], fabs(p[s] * (double)dy[e]));
        }
    }
}

/* A score, of at most sqrt(size), has an error of size + 8 roundings. A probability has twice that,
 * and its sum T + 16 more; each product then adds T. A gradient has two of these, one after the
 * other: the bound is four times, with the magnitudes of all terms. */
static void one_length(struct context *c, size_t rows, size_t steps, size_t heads, size_t size)
{
    const struct one p = open_one(c, 1);
    const size_t width = heads * size, n_x = rows * steps * 3 * width, n_y = rows * steps * width;
    const float *x = randoms(c, n_x, steps), *dy = randoms(c, n_y, steps + 1);
    const struct bounded y = make_near(c, n_y), dx = make_near(c, n_x);
    const double roundings = 2.0 * (double)(size + 8) * sqrt((double)size) + 2.0 * (double)steps;
    case_note(c, "%zu steps, %zu heads of %zu", steps, heads, size);
    for (size_t r = 0; r < rows; ++r) {
        for (size_t i = 0; i < heads * steps; ++i) {
            const size_t at = i / steps * size;
            const struct head h = {.x = x,
                                   .dy = dy,
                                   .x_at = r * steps * 3 * width + at,
                                   .y_at = r * steps * width + at,
                                   .size = size,
                                   .width = width};
            one_time(&h, i % steps, &y, &dx);
        }
    }
    for (size_t i = 0; i < n_y; ++i)
        y.bound[i] *= (roundings + 32.0) * 0x1p-24;
    for (size_t i = 0; i < n_x; ++i)
        dx.bound[i] *= 4.0 * (roundings + 32.0) * 0x1p-24;
    struct dp_tensor in =
        make_tensor(c, p.slot, DP_F32, 3, (size_t[]){rows, steps, 3 * width}, NULL);
    const struct dp_tensor up =
        make_tensor(c, p.slot, DP_F32, 3, (size_t[]){rows, steps, width}, NULL);
    write_floats(c, &in, x);
    write_floats(c, &up, dy);
    in.needs_grad = true;
    struct dp_module *attention = make_attention(c, p.group, heads, 0.0);
    const struct dp_tensor out = forward(c, attention, p.run, &in);
    expect_within(c, "output", &out, y.want, y.bound);
    const struct dp_tensor grad = backward(c, attention, p.run, &up);
    expect_within(c, "input gradient", &grad, dx.want, dx.bound);
}

/* There are more steps than a block of a product has, and all sizes are odd. */
static void many_steps(struct context *c)
{
    static const size_t length[][4] = {
        {2, 1, 2, 3}, {1, 6, 1, 16}, {2, 17, 3, 5}, {2, 70, 2, 17}, {1, LONGEST, 1, 20}};
    for (size_t i = 0; i < sizeof length / sizeof length[0]; ++i)
        one_length(c, length[i][0], length[i][1], length[i][2], length[i][3]);
}

/* ---- shards ------------------------------------------------------------------------------ */

enum { N = 6, T = 5, VOCAB = 7, WIDTH = 3, CONTEXT = 6 };

struct model {
    struct one at;
    struct dp_module *top; /* an embedding, positions, and an output that has its table */
};

static void transformer_open_model(struct context *c, struct model *m, int slots)
{
    struct dp_module *parts[3] = {NULL};
    m->at = open_one(c, slots);
    (void)opened_module(c, dp_embedding(m->at.group, VOCAB, WIDTH, &parts[0], &c->err), &parts[0]);
    parts[1] = make_positions(c, m->at.group, CONTEXT, WIDTH);
    (void)opened_module(
        c, dp_linear_tied(m->at.group, param_at(c, parts[0], 0), &parts[2], &c->err), &parts[2]);
    m->top = make_sequential(c, m->at.group, parts, 3);
    expect(c, dp_module_params(m->top, NULL, 0) == 2, "parameters");
    write_values(c, &param_at(c, m->top, 0)->value, integers(c, VOCAB * WIDTH, 1));
    write_values(c, &param_at(c, m->top, 1)->value, integers(c, CONTEXT * WIDTH, 2));
    move_module(c, m->top, m->at.slot);
}

static const double *tokens(struct context *c)
{
    double *list = case_memory(c, (size_t)N * T * sizeof *list);
    for (int i = 0; i < N * T; ++i)
        list[i] = (i * 5 + i / 4) % VOCAB;
    return list;
}

/* The answer by plain loops, from the definitions: y = (E[x] + P) E', and both gradients. */
struct answer {
    double y[N * T * VOCAB], table[VOCAB * WIDTH], positions[CONTEXT * WIDTH];
};

static void one_step(const double *e, const double *h, const double *dy, int token, int t,
                     struct answer *a, double *y)
{
    for (int v = 0; v < VOCAB; ++v) {
        y[v] = 0.0;
        for (int w = 0; w < WIDTH; ++w) {
            y[v] += h[w] * e[v * WIDTH + w];
            a->table[v * WIDTH + w] += dy[v] * h[w];
            a->table[token * WIDTH + w] += dy[v] * e[v * WIDTH + w];
            a->positions[t * WIDTH + w] += dy[v] * e[v * WIDTH + w];
        }
    }
}

static void solve(struct context *c, const double *x, const double *dy, struct answer *a)
{
    const double *e = integers(c, VOCAB * WIDTH, 1), *p = integers(c, CONTEXT * WIDTH, 2);
    memset(a, 0, sizeof *a);
    for (int i = 0; i < N * T; ++i) {
        double h[WIDTH];
        for (int w = 0; w < WIDTH; ++w)
            h[w] = e[(int)x[i] * WIDTH + w] + p[i % T * WIDTH + w];
        one_step(e, h, dy + i * VOCAB, (int)x[i], i % T, a, a->y + i * VOCAB);
    }
}

/* Positions begin anew with each row, wherever the shards are cut; the tied table is sent once, and
 * its gradient, of both uses and all replicas, is added once. */
static void shards(struct context *c)
{
    struct answer a;
    for (int k = 1; k <= 4; ++k) {
        struct model m;
        case_release(c);
        case_note(c, "K=%d", k);
        transformer_open_model(c, &m, k);
        const double *dy = integers(c, N * T * VOCAB, 4), *x = tokens(c);
        solve(c, x, dy, &a);
        struct dp_module *wrapper = make_parallel(c, m.top, &(struct dp_parallel_config){0});
        const struct dp_tensor in = make_tensor(c, m.at.slot, DP_I32, 2, (size_t[]){N, T}, x);
        const struct dp_tensor upstream =
            make_tensor(c, m.at.slot, DP_F32, 3, (size_t[]){N, T, VOCAB}, dy);
        const struct dp_tensor y = forward(c, wrapper, m.at.run, &in);
        expect_shape(c, "output", &y, 3, (size_t[]){N, T, VOCAB});
        expect_values(c, "output", &y, a.y);
        (void)backward(c, wrapper, m.at.run, &upstream);
        expect_grad(c, "table", param_at(c, m.top, 0), a.table);
        expect_grad(c, "positions", param_at(c, m.top, 1), a.positions);
    }
}

static const struct test_case cases[] = {
    {"transformer/refused-at-open", "", refused_at_open},
    {"transformer/refused-at-forward", "DEV-02", refused_at_forward},
    {"transformer/empty", "", empty},
    {"transformer/dropout", "BUF-11", dropped},
    {"transformer/many-steps", "", many_steps},
    {"transformer/shards", "REPL-09 GRAD-01", shards},
};
const struct case_table transformer_cases = {cases, sizeof cases / sizeof *cases};
