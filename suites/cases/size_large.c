/* size_large.c: cases of area SIZE: parameters of more than 1 MiB, lists that exceed the default
 * limit of 10 MiB for coalescing, and large batches. */
#include "golden.h"
#include "size.h"
#include "sized.h"

#include <string.h>

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

enum { ELEMENTS = 200003 };

/* y = 2 x + 1 of 2 K + 1 rows: 0.5 MB for the first of two shards. */
static void size_rows_large(struct check *c)
{
    const float *x = sized_numbers(c, ELEMENTS, 3), *g = sized_numbers(c, ELEMENTS, 4);
    float *y = check_memory(c, ELEMENTS * sizeof *y), *dx = check_memory(c, ELEMENTS * sizeof *dx);

    for (size_t i = 0; i < ELEMENTS; ++i) {
        y[i] = 2 * x[i] + 1;
        dx[i] = 2 * g[i];
    }
    for (int i = 1, k; (k = check_count(c, i)) != 0; i += 2) {
        const size_t rows = 2 * (size_t)k + 1, columns = ELEMENTS / rows, n = rows * columns;
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

/* ---- the table ------------------------------------------------------------------------------- */

enum { LISTS = IMPL_CAP_BROADCAST | IMPL_CAP_REDUCE };

static const struct check_case cases[] = {
    {"SIZE-01.large", "SIZE-01", MUST, OBSERVED, DP, PARALLEL, 2, size_rows_large},
    {"SIZE-02.large", "SIZE-02", MUST, OBSERVED, DP, PARALLEL, 2, size_weight},
    {"SIZE-03.groups", "SIZE-03", MUST, OBSERVED, DP, PARALLEL, 2, size_groups},
    {"SIZE-03.lists", "SIZE-03", MUST, OBSERVED, PRIM, LISTS, 2, size_lists},
};
const struct check_table size_large_table = CHECK_TABLE(cases);
