/* size.c: area SIZE: rules that hold for ten rows hold for 4097, and for a parameter with any
 * number of elements. Kernels work in blocks, communicators in chunks and staging memory. Errors
 * occur at their limits, which are powers of two and multiples of 128, and in the rest after the
 * last one. */
#include "size.h"

#include "golden.h"
#include "sized.h"

#include <string.h>

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

static const struct check_case cases[] = {
    {"SIZE-01.rows", "SIZE-01", MUST, OBSERVED, DP, PARALLEL, 1, any_rows},
    {"SIZE-01.shards", "SIZE-01", MUST, OBSERVED, DP, PARALLEL, 2, any_shard},
    {"SIZE-02.elements", "SIZE-02", MUST, OBSERVED, DP, PARALLEL, 1, any_elements},
};
const struct check_table size_table = CHECK_TABLE(cases);
