/* size.c: area SIZE: rules that hold for ten rows hold for 4097, and for a parameter with any
 * number of elements. Kernels work in blocks, communicators in chunks and staging memory. Errors
 * occur at their limits, which are powers of two and multiples of 128, and in the rest after the
 * last one. */
#include "check.h"
#include "ddp.h"
#include "golden.h"
#include "sized.h"

#include <string.h>

/* Sizes at and next to limits, and some that the seed draws from 33 to 4096. */
enum { SIZE_EDGES = 39 };

/* The model is h = weight x + bias of three columns, y = 3 h + 1. The struct has a batch of n rows,
 * and all its results, which are below 2^24 for 4097 rows. */
#define SIZE_LAYERS                                                                                \
    "{\"kind\":\"linear\",\"in\":3,\"out\":2,\"weight\":[1,-2,3,4,-5,2],\"bias\":[7,-3]},"         \
    "{\"kind\":\"affine\",\"weight\":[3],\"bias\":[1]}"
enum { SIZE_IN = 3, SIZE_OUT = 2, SIZE_PARAMS = 4 };
struct size_batch {
    size_t n;
    struct impl_array *x, *g;
    float *y, *dx, *grad[SIZE_PARAMS];
};

/* Large parameters and small data: linear layers 1 -> m, m -> 1, 1 -> m3, of which five parameters
 * are large, and n rows. The sums are exact, and no two large gradients have the same numbers. */
enum { CHAIN_PARAMS = 6, CHAIN_ROWS = 8 };
struct size_chain {
    size_t m, m3, n;
    size_t size[CHAIN_PARAMS];
    float *value[CHAIN_PARAMS], *grad[CHAIN_PARAMS];
    float *x, *g, *y; /* [n, 1], [n, m3], [n, m3] */
};

static const size_t size_edges[SIZE_EDGES] = {
    31,   32,   33,   63,   64,   65,   96,   127,  128,  129,  130,  191,  192,
    255,  256,  257,  383,  384,  385,  500,  511,  512,  513,  640,  641,  767,
    1000, 1023, 1024, 1025, 1151, 1536, 2047, 2048, 2049, 3001, 4095, 4096, 4097};

static size_t size_drawn(const struct check *c, size_t i)
{
    uint64_t mixed = (check_seed(c) + 1) * UINT64_C(0x9e3779b97f4a7c15) + i;

    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    return 33 + (size_t)((mixed ^ (mixed >> 27)) % 4064);
}

/* ---- rows ------------------------------------------------------------------------------------ */

enum { FACTOR = 3 };
static const float weight[SIZE_OUT * SIZE_IN] = {1, -2, 3, 4, -5, 2}, bias[SIZE_OUT] = {7, -3};
static const size_t size_params[SIZE_PARAMS] = {(size_t)SIZE_OUT * SIZE_IN, SIZE_OUT, 1, 1};

static void size_batch_make(struct check *c, struct size_batch *b, size_t n)
{
    const size_t in[] = {n, SIZE_IN}, out[] = {n, SIZE_OUT};
    const float *x = sized_numbers(c, n * SIZE_IN, 2 * n);
    const float *g = sized_numbers(c, n * SIZE_OUT, 2 * n + 1);
    float *up = check_memory(c, n * SIZE_OUT * sizeof *up);

    b->n = n;
    b->x = check_needs_grad(sized_array(c, 2, in, x));
    b->g = sized_array(c, 2, out, g);
    b->y = check_memory(c, n * SIZE_OUT * sizeof *b->y);
    b->dx = check_memory(c, n * SIZE_IN * sizeof *b->dx);
    for (int p = 0; p < SIZE_PARAMS; ++p)
        b->grad[p] = check_memory(c, size_params[p] * sizeof(float));
    sized_linear(b->y, weight, bias, x, n, SIZE_IN, SIZE_OUT);
    for (size_t i = 0; i < n * SIZE_OUT; ++i) {
        up[i] = FACTOR * g[i];
        b->grad[2][0] += g[i] * b->y[i];
        b->grad[3][0] += g[i];
        b->y[i] = FACTOR * b->y[i] + 1;
    }
    sized_products(b->grad[0], b->grad[1], x, up, n, SIZE_IN, SIZE_OUT);
    sized_back(b->dx, weight, up, n, SIZE_IN, SIZE_OUT);
}

/* ---- large parameters ------------------------------------------------------------------------ */

/* first weight and bias, second, third */
enum { W1, B1, W2, B2, W3, B3 };

/* Keeps numbers small, because sums of a million products must stay below 2^24. */
static float narrow(float number, int most)
{
    const int size = (int)(number < 0 ? -number : number);

    return (float)(number < 0 ? -(size % most) - 1 : size % most + 1);
}

static void size_chain_make(struct check *c, struct size_chain *chain, size_t m, size_t m3,
                            size_t n)
{
    static const float inputs[CHAIN_ROWS] = {1, -2, 2, 3, -1, -3, 4, -4};

    if (n > CHAIN_ROWS)
        check_broken(c, "%zu rows of %d", n, (int)CHAIN_ROWS);
    *chain = (struct size_chain){.m = m, .m3 = m3, .n = n};
    const size_t size[CHAIN_PARAMS] = {chain->m, chain->m, chain->m, 1, chain->m3, chain->m3};

    for (int p = 0; p < CHAIN_PARAMS; ++p) {
        chain->size[p] = size[p];
        chain->value[p] = sized_numbers(c, size[p], 100 + (uint64_t)p);
        chain->grad[p] = check_memory(c, size[p] * sizeof(float));
    }
    for (size_t o = 0; o < chain->m; ++o) {
        chain->value[W1][o] = narrow(chain->value[W1][o], 2);
        chain->value[B1][o] = narrow(chain->value[B1][o], 2);
        chain->value[W2][o] = narrow(chain->value[W2][o], 2);
    }
    chain->x = check_memory(c, sizeof inputs);
    for (size_t row = 0; row < n; ++row)
        chain->x[row] = inputs[row];
    chain->g = sized_numbers(c, n * m3, 111);
    chain->y = check_memory(c, n * m3 * sizeof(float));
    for (size_t row = 0; row < n; ++row) {
        /* Computes one row: its output, and its contribution to the gradients. */
        float *const *value = chain->value, *const *grad = chain->grad;
        const float x = chain->x[row], *g = chain->g + row * chain->m3;
        float *y = chain->y + row * chain->m3, sum = value[B2][0], down = 0;

        for (size_t o = 0; o < chain->m; ++o)
            sum += value[W2][o] * (value[W1][o] * x + value[B1][o]);
        for (size_t o = 0; o < chain->m3; ++o) {
            y[o] = value[W3][o] * sum + value[B3][o];
            down += value[W3][o] * g[o];
            grad[W3][o] += g[o] * sum;
            grad[B3][o] += g[o];
        }
        for (size_t o = 0; o < chain->m; ++o) {
            grad[W1][o] += down * value[W2][o] * x;
            grad[B1][o] += down * value[W2][o];
            grad[W2][o] += down * (value[W1][o] * x + value[B1][o]);
        }
        grad[B2][0] += down;
        if (!(sum > -65536 && sum < 65536 && down > -65536 && down < 65536))
            check_broken(c, "row %zu: sums of %.9g and %.9g are not exact any more", row,
                         (double)sum, (double)down);
    }
}

static const char *size_chain_layers(struct check *c, const struct size_chain *chain)
{
    return check_text(c,
                      "{\"kind\":\"linear\",\"in\":1,\"out\":%zu},"
                      "{\"kind\":\"linear\",\"in\":%zu,\"out\":1},"
                      "{\"kind\":\"linear\",\"in\":1,\"out\":%zu}",
                      chain->m, chain->m, chain->m3);
}

enum { SEEDED = 4, MOST_COUNTS = IMPL_MAX_DEVICES };

/* ---- SIZE-01: rows --------------------------------------------------------------------------- */

/* There are many sizes and many counts, so each size meets every third of the counts. The sizes
 * next to it meet another third. */
static bool takes_turn(size_t at, int i)
{
    return (at + (size_t)i) % 3 == 0;
}

/* Makes forward and backward, and checks all results. */
static void run_batch(struct check *c, struct impl_model *model, const struct size_batch *b)
{
    struct sized_pass pass = {.x = b->x, .g = b->g};

    check_zero_grad(c, model);
    sized_run(c, model, &pass);
    sized_same(c, "output", pass.y, b->n * SIZE_OUT, b->y);
    sized_same(c, "input gradient", pass.dx, b->n * SIZE_IN, b->dx);
    for (int p = 0; p < SIZE_PARAMS; ++p)
        sized_is(c, model, 0, IMPL_GRAD, p, size_params[p], b->grad[p]);
}

static void any_rows(struct check *c)
{
    struct impl_model *model[MOST_COUNTS];
    struct size_batch b;
    int k;

    for (int i = 0; (k = check_count(c, i)) != 0; ++i)
        model[i] = golden_parallel(c, k, "", SIZE_LAYERS);
    for (size_t at = 0; at < SIZE_EDGES + SEEDED; ++at) {
        size_batch_make(c, &b, at < SIZE_EDGES ? size_edges[at] : size_drawn(c, at));
        for (int i = 0; (k = check_count(c, i)) != 0; ++i) {
            if (i > 0 && !takes_turn(at, i))
                continue;
            check_note(c, "K=%d N=%zu: ", k, b.n);
            run_batch(c, model[i], &b);
        }
    }
}

/* Every shard has as many rows, so that each device has a batch of that size. */
static void any_shard(struct check *c)
{
    const int k = golden_most(c, 3);
    struct impl_model *model = golden_parallel(c, k, "", SIZE_LAYERS);

    for (size_t at = 0; size_edges[at] * (size_t)k <= size_edges[SIZE_EDGES - 1]; ++at) {
        struct size_batch b;

        size_batch_make(c, &b, size_edges[at] * (size_t)k);
        check_note(c, "K=%d, shards of %zu rows: ", k, size_edges[at]);
        run_batch(c, model, &b);
    }
}

/* ---- SIZE-02: elements of a parameter -------------------------------------------------------- */

static const size_t elements[] = {1,   2,   3,   4,   5,    7,    8,    9,    15,  17,  31,
                                  33,  63,  65,  100, 127,  128,  129,  130,  255, 257, 385,
                                  511, 513, 640, 767, 1000, 1023, 1025, 2049, 4097};
enum { ELEMENTS = sizeof elements / sizeof elements[0], ROWS = 9 };

/* The model is y = weight x + bias with one input column, so both parameters have n elements. */
struct column {
    size_t n, rows;
    const float *weight, *bias, *before; /* before: the gradients before the pass */
    float *y, *grad[2], *value[2];       /* value: after two steps */
    struct impl_array *x, *g;
};

static void make_column(struct check *c, struct column *p, size_t n, size_t rows)
{
    const size_t in[] = {rows, 1}, out[] = {rows, n};
    const float *x = sized_numbers(c, rows, n), *g = sized_numbers(c, rows * n, n + 1);

    p->n = n;
    p->rows = rows;
    p->weight = sized_numbers(c, n, n + 2);
    p->bias = sized_numbers(c, n, n + 3);
    p->before = sized_numbers(c, n, n + 4);
    p->x = sized_array(c, 2, in, x);
    p->g = sized_array(c, 2, out, g);
    p->y = check_memory(c, rows * n * sizeof *p->y);
    sized_linear(p->y, p->weight, p->bias, x, rows, 1, n);
    for (int k = 0; k < 2; ++k) {
        p->grad[k] = check_memory(c, n * sizeof(float));
        p->value[k] = check_memory(c, n * sizeof(float));
        memcpy(p->grad[k], p->before, n * sizeof(float));
    }
    sized_products(p->grad[0], p->grad[1], x, g, rows, 1, n);
    for (int k = 0; k < 2; ++k)
        for (size_t e = 0; e < n; ++e) {
            const float was = k == 0 ? p->weight[e] : p->bias[e];

            /* v = g, then v = g / 2 + g; lr = 1 / 8 */
            p->value[k][e] = was - p->grad[k][e] / 8 - p->grad[k][e] * 1.5F / 8;
        }
}

static void run_column(struct check *c, int k, const struct column *p)
{
    struct impl_model *model = golden_parallel(
        c, k, "", check_text(c, "{\"kind\":\"linear\",\"in\":1,\"out\":%zu}", p->n));
    struct sized_pass pass = {.x = p->x, .g = p->g};

    check_note(c, "K=%d, %zu elements: ", k, p->n);
    sized_put(c, model, 0, IMPL_VALUE, 0, p->weight);
    sized_put(c, model, 0, IMPL_VALUE, 1, p->bias);
    for (int i = 0; i < 2; ++i)
        sized_put(c, model, 0, IMPL_GRAD, i, p->before);
    sized_run(c, model, &pass);
    sized_same(c, "output", pass.y, p->rows * p->n, p->y);
    for (int i = 0; i < 2; ++i)
        sized_is(c, model, 0, IMPL_GRAD, i, p->n, p->grad[i]);
    check_step(c, model, 1.0F / 8, 0.5F);
    check_step(c, model, 1.0F / 8, 0.5F);
    for (int i = 0; i < 2; ++i)
        sized_is(c, model, 0, IMPL_VALUE, i, p->n, p->value[i]);
    check_zero_grad(c, model);
    for (int i = 0; i < 2; ++i)
        check_grad_none(c, model, i);
    check_model_close(c, model);
}

static void any_elements(struct check *c)
{
    for (size_t at = 0; at < ELEMENTS + SEEDED; ++at) {
        struct column p;

        make_column(c, &p, at < ELEMENTS ? elements[at] : size_drawn(c, at), ROWS);
        for (int i = 0, k; (k = check_count(c, i)) != 0; ++i)
            if (takes_turn(at, i))
                run_column(c, k, &p);
    }
}

/* ---- SIZE-02: a weight of more than 1 MiB ---------------------------------------------------- */

enum { IN = 513, OUT = 515, WEIGHTS = IN * OUT, KINDS = 2 };

/* Each replica has two rows. In the first x counts the columns and g is one, in the second x is one
 * and g counts the rows of the weight: times[s] (513 o + i - 256) is the gradient of element [o, i]
 * in replica s, and no other element has that value. */
struct places {
    float *weight, *bias, *y[KINDS]; /* y: of a row of each kind */
    struct impl_array *x, *g;
    float times;
};

static void places_rows(struct check *c, struct places *p, int k)
{
    const size_t rows = KINDS * (size_t)k, in[] = {rows, IN}, out[] = {rows, OUT};
    float *x = check_memory(c, rows * IN * sizeof *x), *g = check_memory(c, rows * OUT * sizeof *g);

    p->times = 0;
    for (size_t row = 0; row < rows; ++row) {
        const float times = (float)(1 + row / KINDS % 3);

        for (size_t i = 0; i < IN; ++i)
            x[row * IN + i] = row % KINDS == 0 ? (float)i - 256 : 1;
        for (size_t o = 0; o < OUT; ++o)
            g[row * OUT + o] = row % KINDS == 0 ? times : times * (float)(IN * o);
        p->times += row % KINDS == 0 ? times : 0;
    }
    p->x = sized_array(c, 2, in, x);
    p->g = sized_array(c, 2, out, g);
}

static void size_weight(struct check *c)
{
    float *want = check_memory(c, WEIGHTS * sizeof *want);
    struct places p;

    float x[IN];

    p.weight = sized_numbers(c, WEIGHTS, 1);
    p.bias = sized_numbers(c, OUT, 2);
    for (int kind = 0; kind < KINDS; ++kind) {
        for (size_t i = 0; i < IN; ++i)
            x[i] = kind == 0 ? (float)i - 256 : 1;
        p.y[kind] = check_memory(c, OUT * sizeof(float));
        sized_linear(p.y[kind], p.weight, p.bias, x, 1, IN, OUT);
    }
    for (int i = 1, k; (k = check_count(c, i)) != 0; i += 3) {
        check_note(c, "K=%d: ", k);
        places_rows(c, &p, k);
        struct impl_model *model =
            golden_parallel(c, k, "", "{\"kind\":\"linear\",\"in\":513,\"out\":515}");
        struct sized_pass pass = {.x = p.x, .g = p.g};
        struct guard *mark = sized_mark(c);
        struct impl_array row;

        sized_put(c, model, 0, IMPL_VALUE, 0, p.weight);
        sized_put(c, model, 0, IMPL_VALUE, 1, p.bias);
        sized_run(c, model, &pass);
        sized_release(c, mark);
        row = *pass.y;
        row.dim[0] = 1;
        for (int r = 0; r < KINDS * k; ++r) {
            row.data = (float *)pass.y->data + (size_t)r * OUT;
            sized_same(c, check_text(c, "row %d of the output", r), &row, OUT, p.y[r % KINDS]);
        }
        for (size_t e = 0; e < WEIGHTS; ++e)
            want[e] = p.times * ((float)e - 256);
        sized_is(c, model, 0, IMPL_GRAD, 0, WEIGHTS, want);
        check_step(c, model, 1.0F / 8, 0);
        for (size_t e = 0; e < WEIGHTS; ++e)
            want[e] = p.weight[e] - want[e] / 8;
        sized_is(c, model, 0, IMPL_VALUE, 0, WEIGHTS, want);
        check_model_close(c, model);
    }
}

/* ---- SIZE-03: more than 10 MiB --------------------------------------------------------------- */

/* There are three tensors of 3.5 MB, and two of 80 kB: broadcast closes a group after the third,
 * reduce one before it. */
enum { GROUPED = 875003, LAST = 20011 };

static void size_groups(struct check *c)
{
    const int k = golden_most(c, 2);
    const size_t n = (size_t)k, in[] = {n, 1}, out[] = {n, LAST};
    struct guard *mark = sized_mark(c);
    struct sized_pass pass;
    struct impl_model *model;
    struct size_chain chain;

    size_chain_make(c, &chain, GROUPED, LAST, n);
    check_note(c, "K=%d: ", k);
    model = golden_parallel(c, k, "", size_chain_layers(c, &chain));
    for (int p = 0; p < CHAIN_PARAMS; ++p)
        sized_put(c, model, 0, IMPL_VALUE, p, chain.value[p]);
    pass = (struct sized_pass){.x = sized_array(c, 2, in, chain.x),
                               .g = sized_array(c, 2, out, chain.g)};
    sized_run(c, model, &pass);
    sized_release(c, mark);
    sized_same(c, "output", pass.y, n * LAST, chain.y);
    for (int p = 0; p < CHAIN_PARAMS; ++p)
        sized_is(c, model, 0, IMPL_GRAD, p, chain.size[p], chain.grad[p]);
}

enum { LISTED = 4, DEVICES = 2 };
static const size_t listed[LISTED] = {875003, 875003, 875003, 20011};

/* Broadcasts a list to two devices, and sums the copies. */
static void size_lists(struct check *c)
{
    const int *ids = golden_ids(c, DEVICES);
    struct impl_array *src = check_memory(c, LISTED * DEVICES * sizeof *src);
    struct impl_broadcast spread = {
        .src = src, .n = LISTED, .devices = ids, .n_devices = DEVICES, .poke = -1};
    struct impl_reduce sum = {.src = src, .n = LISTED, .k = DEVICES, .device = ids[0], .poke = -1};

    for (int t = 0; t < LISTED; ++t) {
        src[t] = *check_on(sized_array(c, 1, &listed[t], sized_numbers(c, listed[t], (uint64_t)t)),
                           ids[0]);
        src[LISTED + t] = src[t];
        src[LISTED + t].device = ids[1];
    }
    spread.copies = check_memory(c, LISTED * DEVICES * sizeof *spread.copies);

    for (int t = 0; t < LISTED * DEVICES; ++t)
        spread.copies[t] = *check_output(c, 1, listed[t % LISTED] * sizeof(float));
    check_broadcast(c, &spread);
    for (int t = 0; t < LISTED * DEVICES; ++t)
        sized_same(c, check_text(c, "tensor %d of copy %d", t % LISTED, t / LISTED),
                   &spread.copies[t], listed[t % LISTED], src[t].data);
    sum.sums = spread.copies;
    check_reduce(c, &sum);
    for (int t = 0; t < LISTED; ++t) {
        float *twice = src[t].data;

        for (size_t i = 0; i < listed[t]; ++i)
            twice[i] *= DEVICES;
        sized_same(c, check_text(c, "sum %d", t), &sum.sums[t], listed[t], twice);
    }
}

/* ---- SIZE-01: 0.8 MB of rows ----------------------------------------------------------------- */

enum { LARGE = 200003 };

/* y = 2 x + 1 of 2 K + 1 rows: 0.5 MB for the first of two shards. */
static void size_rows_large(struct check *c)
{
    const float *x = sized_numbers(c, LARGE, 3), *g = sized_numbers(c, LARGE, 4);
    float *y = check_memory(c, LARGE * sizeof *y), *dx = check_memory(c, LARGE * sizeof *dx);

    for (size_t i = 0; i < LARGE; ++i) {
        y[i] = 2 * x[i] + 1;
        dx[i] = 2 * g[i];
    }
    for (int i = 1, k; (k = check_count(c, i)) != 0; i += 2) {
        const size_t rows = 2 * (size_t)k + 1, columns = LARGE / rows, n = rows * columns;
        const size_t dim[] = {rows, columns};
        struct guard *mark = sized_mark(c);
        struct sized_pass pass = {.x = check_needs_grad(sized_array(c, 2, dim, x)),
                                  .g = sized_array(c, 2, dim, g)};
        struct impl_model *model = golden_affine(c, k);
        double dw = 0, db = 0;

        check_note(c, "K=%d, %zu rows of %zu: ", k, rows, columns);
        for (size_t e = 0; e < n; ++e) {
            dw += (double)(x[e] * g[e]);
            db += (double)g[e];
        }
        sized_run(c, model, &pass);
        sized_release(c, mark);
        sized_same(c, "output", pass.y, n, y);
        sized_same(c, "input gradient", pass.dx, n, dx);
        check_grads_are(c, model, dw, db);
        check_model_close(c, model);
    }
}

/* ---- SIZE-04: rows, and elements of the one bucket ------------------------------------------- */

/* Two ranks have consecutive sizes; half of a sum is exact. */
static void size_ranks_rows(struct check *c)
{
    struct impl_model *model = check_ddp_model(c, 2, DDP_MODEL(SIZE_LAYERS));

    for (size_t at = 0; at < SIZE_EDGES; ++at) {
        struct size_batch b[2];
        struct ddp_call call = {
            .ranks = 2, .n_in = 1, .n_out = 1, .room = SIZE_IN * size_edges[SIZE_EDGES - 1]};

        size_batch_make(c, &b[0], size_edges[at]);
        size_batch_make(c, &b[1], size_drawn(c, at) / 8 + 1);
        check_note(c, "%zu and %zu rows: ", b[0].n, b[1].n);
        for (int r = 0; r < 2; ++r) {
            call.in[r][0] = b[r].x;
            call.g[r][0] = b[r].g;
        }
        check_zero_grad(c, model);
        ddp_pass_counted(c, model, &call);
        for (int r = 0; r < 2; ++r) {
            sized_same(c, "output", call.out[r][0], b[r].n * SIZE_OUT, b[r].y);
            sized_same(c, "input gradient", call.grad_in[r][0], b[r].n * SIZE_IN, b[r].dx);
        }
        for (int p = 0; p < SIZE_PARAMS; ++p) {
            for (size_t e = 0; e < size_params[p]; ++e)
                b[0].grad[p][e] = (b[0].grad[p][e] + b[1].grad[p][e]) / 2;
            for (int r = 0; r < 2; ++r)
                sized_is(c, model, r, IMPL_GRAD, p, size_params[p], b[0].grad[p]);
        }
    }
}

/* The model has a weight of n elements and nothing else, so the end of the bucket is the end of the
 * weight. Three ranks have gradients that are multiples of three, so a third of them is exact. */
static void ranks_column(struct check *c, size_t n)
{
    enum { RANKS = 3, EACH = 2 };
    const size_t in[] = {EACH, 1}, out[] = {EACH, n};
    struct impl_model *model = check_ddp_model(
        c, RANKS,
        check_text(c, DDP_MODEL("{\"kind\":\"linear\",\"in\":1,\"out\":%zu,\"with_bias\":false}"),
                   n));
    struct ddp_call call = {.ranks = RANKS, .n_in = 1, .n_out = 1, .room = EACH * n};
    float *want = check_memory(c, n * sizeof *want);

    for (int r = 0; r < RANKS; ++r) {
        const float *x = sized_numbers(c, EACH, n + 8 * (uint64_t)r);
        float *g = sized_numbers(c, EACH * n, n + 8 * (uint64_t)r + 1);

        sized_products(want, NULL, x, g, EACH, 1, n);
        for (size_t i = 0; i < EACH * n; ++i)
            g[i] *= RANKS;
        call.in[r][0] = sized_array(c, 2, in, x);
        call.g[r][0] = sized_array(c, 2, out, g);
    }
    check_note(c, "%zu elements: ", n);
    for (int turn = 0; turn < 2; ++turn) {
        check_zero_grad(c, model);
        ddp_pass_counted(c, model, &call);
        for (int r = 0; r < RANKS; ++r)
            sized_is(c, model, r, IMPL_GRAD, 0, n, want);
    }
    check_model_close(c, model);
}

static void size_ranks_elements(struct check *c)
{
    static const size_t sizes[] = {1, 2, 4, 31, 33, 128, 130, 257, 1000, 1025, 4097};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i)
        ranks_column(c, sizes[i]);
    ranks_column(c, size_drawn(c, 100));
}

/* ---- SIZE-05: several buckets ---------------------------------------------------------------- */

enum { RANKS = 2, FIRST_ROWS = 1, ALL_ROWS = 3 };

/* From the end there are two weights of 600004 bytes, which exceed 1 MiB, then three of 400012
 * bytes. */
static void size_ranks_buckets(struct check *c)
{
    const size_t m = 100003;
    const size_t m3 = 150001;
    struct size_chain chain;
    struct impl_model *model;

    size_chain_make(c, &chain, m, m3, ALL_ROWS);
    for (int p = 0; p < CHAIN_PARAMS; ++p)
        for (size_t e = 0; e < chain.size[p]; ++e)
            chain.grad[p][e] /= RANKS;
    model = check_ddp_model(c, RANKS, check_text(c, DDP_MODEL("%s"), size_chain_layers(c, &chain)));
    for (int r = 0; r < RANKS; ++r)
        for (int p = 0; p < CHAIN_PARAMS; ++p)
            sized_put(c, model, r, IMPL_VALUE, p, chain.value[p]);
    for (int turn = 0; turn < 3; ++turn) {
        check_note(c, "step %d: ", turn);
        /* In the first turn all parameters are in one bucket; later turns have the buckets of
         * DDP-11. Rank 0 has the first row, rank 1 the others. */
        struct ddp_call call = {.ranks = RANKS, .n_in = 1, .n_out = 1, .room = ALL_ROWS * chain.m3};

        for (size_t r = 0; r < RANKS; ++r) {
            const size_t first = r * FIRST_ROWS, n = r == 0 ? FIRST_ROWS : ALL_ROWS - FIRST_ROWS;
            const size_t in[] = {n, 1}, out[] = {n, chain.m3};

            call.in[r][0] = sized_array(c, 2, in, chain.x + first);
            call.g[r][0] = sized_array(c, 2, out, chain.g + first * chain.m3);
        }

        check_zero_grad(c, model);
        ddp_pass_counted(c, model, &call);
        sized_same(c, "output of rank 0", call.out[0][0], FIRST_ROWS * chain.m3, chain.y);
        sized_same(c, "output of rank 1", call.out[1][0], (ALL_ROWS - FIRST_ROWS) * chain.m3,
                   chain.y + FIRST_ROWS * chain.m3);
        for (int p = 0; p < CHAIN_PARAMS; ++p)
            for (int r = 0; r < RANKS; ++r)
                sized_is(c, model, r, IMPL_GRAD, p, chain.size[p], chain.grad[p]);
    }
}

/* Three buckets, of which one is full. The model has the layers of DDP-11, with weights that are
 * mostly zeros: all sums are small, and no gradient is zero. */

/* The weights have 10240, 26214400, 614400, 600000 and 200000 bytes. From the end, the last three
 * exceed 1 MiB, the large one has exactly 25 MiB, and the first one is left. */
enum { LAYERS = 5 };
static const size_t width[LAYERS + 1] = {1, 2560, 2560, 60, 2500, 20};

struct net {
    float *weight[LAYERS];
    float *value[RANKS][LAYERS + 1], *up[RANKS][LAYERS + 1]; /* at the layers' borders, one row */
};

/* Whether output o of the layer depends on its input i. */
static bool three_joined(size_t layer, size_t o, size_t i)
{
    const size_t in = width[layer], out = width[layer + 1];

    return o % (in < out ? in : out) == i % (in < out ? in : out);
}

static void run_net(struct check *c, struct net *net, int rank)
{
    float *const *value = net->value[rank], *const *up = net->up[rank];

    for (size_t l = 0; l <= LAYERS; ++l) {
        net->value[rank][l] = check_memory(c, width[l] * sizeof(float));
        net->up[rank][l] = check_memory(c, width[l] * sizeof(float));
    }
    value[0][0] = (float)(3 - 5 * rank);
    for (size_t o = 0; o < width[LAYERS]; ++o)
        up[LAYERS][o] = (float)(1 + (o + 3 * (size_t)rank) % 8);
    for (size_t l = 0; l < LAYERS; ++l)
        sized_linear(value[l + 1], net->weight[l], NULL, value[l], 1, width[l], width[l + 1]);
    for (size_t l = LAYERS; l-- > 0;)
        sized_back(up[l], net->weight[l], up[l + 1], 1, width[l], width[l + 1]);
}

/* In the first turn all parameters are in one bucket, which SIZE-05.buckets checks. */
static void size_ranks_three(struct check *c)
{
    struct impl_model *model = check_ddp_model(
        c, RANKS,
        DDP_MODEL("{\"kind\":\"linear\",\"in\":1,\"out\":2560,\"with_bias\":false},"
                  "{\"kind\":\"linear\",\"in\":2560,\"out\":2560,\"with_bias\":false},"
                  "{\"kind\":\"linear\",\"in\":2560,\"out\":60,\"with_bias\":false},"
                  "{\"kind\":\"linear\",\"in\":60,\"out\":2500,\"with_bias\":false},"
                  "{\"kind\":\"linear\",\"in\":2500,\"out\":20,\"with_bias\":false}"));
    struct net net;

    for (size_t l = 0; l < LAYERS; ++l) {
        float *w = net.weight[l] = check_memory(c, width[l] * width[l + 1] * sizeof *w);

        for (size_t o = 0; o < width[l + 1]; ++o)
            for (size_t i = 0; i < width[l]; ++i)
                w[o * width[l] + i] = !three_joined(l, o, i) ? 0 : l == 0 ? sized_number(5, o) : 1;
    }
    for (int r = 0; r < RANKS; ++r) {
        run_net(c, &net, r);
        for (int l = 0; l < LAYERS; ++l)
            sized_put(c, model, r, IMPL_VALUE, l, net.weight[l]);
    }
    for (int number = 0; number < 2; ++number) {
        const size_t in[] = {1, width[0]}, out[] = {1, width[LAYERS]};
        struct ddp_call call = {.ranks = RANKS, .n_in = 1, .n_out = 1};

        check_note(c, "step %d: ", number);
        for (int r = 0; r < RANKS; ++r) {
            call.in[r][0] = sized_array(c, 2, in, net.value[r][0]);
            call.g[r][0] = sized_array(c, 2, out, net.up[r][LAYERS]);
        }
        check_zero_grad(c, model);
        ddp_pass_counted(c, model, &call);
        for (int r = 0; r < RANKS; ++r)
            sized_same(c, check_text(c, "output of rank %d", r), call.out[r][0], width[LAYERS],
                       net.value[r][LAYERS]);
    }
    for (size_t l = 0; l < LAYERS; ++l) {
        const size_t n = width[l], cells = n * width[l + 1];
        float *want = check_memory(c, cells * sizeof *want);

        for (int r = 0; r < RANKS; ++r)
            sized_products(want, NULL, net.value[r][l], net.up[r][l + 1], 1, n, width[l + 1]);
        for (size_t e = 0; e < cells; ++e)
            want[e] /= RANKS;
        for (int r = 0; r < RANKS; ++r)
            sized_is(c, model, r, IMPL_GRAD, (int)l, cells, want);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { LISTS = IMPL_CAP_BROADCAST | IMPL_CAP_REDUCE };

static const struct check_case cases[] = {
    {"SIZE-01.rows", "SIZE-01", MUST, OBSERVED, DP, PARALLEL, 1, any_rows},
    {"SIZE-01.shards", "SIZE-01", MUST, OBSERVED, DP, PARALLEL, 2, any_shard},
    {"SIZE-02.elements", "SIZE-02", MUST, OBSERVED, DP, PARALLEL, 1, any_elements},
    {"SIZE-01.large", "SIZE-01", MUST, OBSERVED, DP, PARALLEL, 2, size_rows_large},
    {"SIZE-02.large", "SIZE-02", MUST, OBSERVED, DP, PARALLEL, 2, size_weight},
    {"SIZE-03.groups", "SIZE-03", MUST, OBSERVED, DP, PARALLEL, 2, size_groups},
    {"SIZE-03.lists", "SIZE-03", MUST, OBSERVED, PRIM, LISTS, 2, size_lists},
    {"SIZE-04.rows", "SIZE-04", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, size_ranks_rows},
    {"SIZE-04.elements", "SIZE-04", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, size_ranks_elements},
    {"SIZE-05.buckets", "SIZE-05", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, size_ranks_buckets, 30000},
    {"SIZE-05.three", "SIZE-05", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, size_ranks_three, 60000},
};
const struct check_table size_table = CHECK_TABLE(cases);
