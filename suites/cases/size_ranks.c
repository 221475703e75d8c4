/* size_ranks.c: cases of area SIZE: the mean over ranks, of any number of rows and elements, in the
 * first bucket and in the last. */
#include "ddp.h"
#include "size.h"
#include "sized.h"

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
    enum { RANKS = 3, ROWS = 2 };
    const size_t in[] = {ROWS, 1}, out[] = {ROWS, n};
    struct impl_model *model = check_ddp_model(
        c, RANKS,
        check_text(c, DDP_MODEL("{\"kind\":\"linear\",\"in\":1,\"out\":%zu,\"with_bias\":false}"),
                   n));
    struct ddp_call call = {.ranks = RANKS, .n_in = 1, .n_out = 1, .room = ROWS * n};
    float *want = check_memory(c, n * sizeof *want);

    for (int r = 0; r < RANKS; ++r) {
        const float *x = sized_numbers(c, ROWS, n + 8 * (uint64_t)r);
        float *g = sized_numbers(c, ROWS * n, n + 8 * (uint64_t)r + 1);

        sized_products(want, NULL, x, g, ROWS, 1, n);
        for (size_t i = 0; i < ROWS * n; ++i)
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

enum { RANKS = 2, FIRST_ROWS = 1, ROWS = 3 };

/* From the end there are two weights of 600004 bytes, which exceed 1 MiB, then three of 400012
 * bytes. */
static void size_ranks_buckets(struct check *c)
{
    const size_t m = 100003;
    const size_t m3 = 150001;
    struct size_chain chain;
    struct impl_model *model;

    size_chain_make(c, &chain, m, m3, ROWS);
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
        struct ddp_call call = {.ranks = RANKS, .n_in = 1, .n_out = 1, .room = ROWS * chain.m3};

        for (size_t r = 0; r < RANKS; ++r) {
            const size_t first = r * FIRST_ROWS, n = r == 0 ? FIRST_ROWS : ROWS - FIRST_ROWS;
            const size_t in[] = {n, 1}, out[] = {n, chain.m3};

            call.in[r][0] = sized_array(c, 2, in, chain.x + first);
            call.g[r][0] = sized_array(c, 2, out, chain.g + first * chain.m3);
        }

        check_zero_grad(c, model);
        ddp_pass_counted(c, model, &call);
        sized_same(c, "output of rank 0", call.out[0][0], FIRST_ROWS * chain.m3, chain.y);
        sized_same(c, "output of rank 1", call.out[1][0], (ROWS - FIRST_ROWS) * chain.m3,
                   chain.y + FIRST_ROWS * chain.m3);
        for (int p = 0; p < CHAIN_PARAMS; ++p)
            for (int r = 0; r < RANKS; ++r)
                sized_is(c, model, r, IMPL_GRAD, p, chain.size[p], chain.grad[p]);
    }
}

static const struct check_case cases[] = {
    {"SIZE-04.rows", "SIZE-04", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, size_ranks_rows},
    {"SIZE-04.elements", "SIZE-04", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, size_ranks_elements},
    {"SIZE-05.buckets", "SIZE-05", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, size_ranks_buckets, 30000},
};
const struct check_table size_ranks_table = CHECK_TABLE(cases);
