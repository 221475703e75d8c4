/* digests.c: one training, by 1 to 8 ranks in every number of processes that they can be in: the
 * trained parameters are the same, bit for bit.
 *
 *   lockstep-mpi-digests MODULE [wrong]
 *
 * Inputs and gradients are small integers, the same on all ranks except for a factor of each rank,
 * and the mean of the factors is 1. Gradients are multiples of 840, which 1 to 8 divide: so their
 * mean is an integer, except for the error of the float nearest to 1/R, a part in 2^23. Parameters
 * begin at 12288 and stay in 2^13..2^14, where floats are 2^-10 apart, and a step is a multiple of
 * 2^-9 below 2^9: its error is less than 2^-14, and is rounded away. So all numbers of ranks give
 * the same bits. A rank that is left out, comes twice or is another one's changes the mean. The
 * program prints "digest RANKS PROCESSES DIGEST" for each number of ranks that is not below the
 * processes. wrong: the last rank has the factor of the one before. */
#include "ddp.h"
#include "start.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 8, IN = 5, OUT = 3, ROWS = 4, PARAMS = 2, STEPS = 6, DIVISIBLE = 840 };

struct part {
    struct dp_group *group;
    struct dp_module *child[2], *model;
    struct dp_ddp *ddp;
    struct dp_tensor in[MOST], grad[MOST];
    int ranks, first, n;
    bool wrong;
};

static void open_part(struct part *p, const struct dp_mpi *mpi)
{
    char devices[16];
    const struct dp_group_config config = {.devices = devices, .world = dp_mpi_world(mpi)};
    const struct dp_ddp_config ddp = {.find_unused = false};
    const int size = dp_mpi_size(mpi), rank = dp_mpi_rank(mpi);
    struct dp_slot *slot[MOST] = {NULL};

    p->n = p->ranks / size + (rank < p->ranks % size);
    snprintf(devices, sizeof devices, "virt:%d", p->n);
    must(dp_group_open(&config, &p->group, &must_err));
    must(dp_linear(p->group, IN, OUT, true, &p->child[0], &must_err));
    must(dp_relu(p->group, &p->child[1], &must_err));
    must(dp_sequential(p->group, p->child, 2, &p->model, &must_err));
    must(dp_module_init(p->model, 3, &must_err));
    must(dp_module_to(p->model, dp_group_slot(p->group, 0), &must_err));
    for (int r = 0; r < p->n; ++r) {
        slot[r] = dp_group_slot(p->group, r);
        must(dp_tensor_alloc(slot[r], DP_F32, 2, (size_t[]){ROWS, IN}, &p->in[r], &must_err));
        must(dp_tensor_alloc(slot[r], DP_F32, 2, (size_t[]){ROWS, OUT}, &p->grad[r], &must_err));
    }
    p->first = dp_group_first(p->group);
    must(dp_ddp_open(p->model, slot, p->n, &ddp, &p->ddp, &must_err));
}

static void digests_begin(struct part *p)
{
    float values[IN * OUT];

    for (int i = 0; i < IN * OUT; ++i)
        values[i] = (float)(12288 + i * 37 % 101);
    for (int r = 0; r < p->n; ++r)
        for (int i = 0; i < PARAMS; ++i) {
            struct dp_ddp_param param;
            must(dp_ddp_param(p->ddp, r, i, &param, &must_err));
            must(dp_tensor_write(&param.value, values, &must_err));
        }
}

static void close_part(struct part *p)
{
    dp_ddp_close(p->ddp);
    for (int r = 0; r < p->n; ++r) {
        dp_tensor_free(&p->in[r]);
        dp_tensor_free(&p->grad[r]);
    }
    dp_module_close(p->model);
    for (int k = 0; k < 2; ++k)
        dp_module_close(p->child[k]);
    dp_group_close(p->group);
}

/* -most..most */
static int small(uint64_t *state, int most)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (int)(*state >> 40) % (2 * most + 1) - most;
}

static void digests_fill(struct part *p, int step, int r)
{
    const int rank = p->first + r - (p->wrong && p->first + r == p->ranks - 1);
    const int factor = 1 + 2 * rank - (p->ranks - 1);
    uint64_t state = 77 + (uint64_t)step;
    float in[ROWS * IN], grad[ROWS * OUT];

    for (int i = 0; i < ROWS * IN; ++i)
        in[i] = (float)small(&state, 3);
    for (int i = 0; i < ROWS * OUT; ++i)
        grad[i] = (float)(DIVISIBLE * factor * small(&state, 2));
    must(dp_tensor_write(&p->in[r], in, &must_err));
    must(dp_tensor_write(&p->grad[r], grad, &must_err));
}

static void digests_train(struct part *p)
{
    struct dp_tensor out[MOST * DP_MAX_IO];
    int n_out = 0;

    for (int step = 0; step < STEPS; ++step) {
        for (int r = 0; r < p->n; ++r)
            digests_fill(p, step, r);
        dp_ddp_reset(p->ddp);
        must(dp_ddp_forward(p->ddp, p->in, 1, NULL, out, &n_out, &must_err));
        must(dp_ddp_backward(p->ddp, p->grad, 1, NULL, 0, &must_err));
        must(dp_ddp_step(p->ddp, 0.0078125f, 0.5f, 0, &must_err));
        dp_ddp_zero_grad(p->ddp);
    }
}

/* Computes the digest of the parameters, which must be the same on all local ranks. */
static void digest(struct part *p, uint64_t *all)
{
    float values[IN * OUT];

    for (int r = 0; r < p->n; ++r) {
        uint64_t hash = 14695981039346656037u;
        for (int i = 0; i < PARAMS; ++i) {
            struct dp_ddp_param param;
            must(dp_ddp_param(p->ddp, r, i, &param, &must_err));
            must(dp_tensor_read(values, &param.value, &must_err));
            must(dp_group_wait(p->group, &must_err));
            for (size_t k = 0; k < dp_tensor_bytes(&param.value); ++k)
                hash = (hash ^ ((const unsigned char *)values)[k]) * 1099511628211u;
        }
        if (r > 0 && *all != hash)
            must(dp_fail(&must_err, DP_EFAULT, "ranks of one process have other parameters"));
        *all = hash;
    }
}

static void try(struct dp_mpi *mpi, int ranks, bool wrong)
{
    struct part p = {.ranks = ranks, .wrong = wrong};
    uint64_t mine = 0, all[MOST] = {0};
    open_part(&p, mpi);

    digests_begin(&p);
    digests_train(&p);
    digest(&p, &mine);
    must(dp_mpi_exchange(mpi, &mine, sizeof mine, all, &must_err));
    for (int q = 0; q < dp_mpi_size(mpi); ++q)
        if (all[q] != mine)
            must(dp_fail(&must_err, DP_EFAULT, "process %d has other parameters", q));
    if (dp_mpi_rank(mpi) == 0)
        printf("digest %d %d %016" PRIx64 "\n", ranks, dp_mpi_size(mpi), mine);
    close_part(&p);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    struct dp_mpi *mpi = start_mpi(argv[1]);
    for (int ranks = dp_mpi_size(mpi); ranks <= MOST; ++ranks)
        try(mpi, ranks, argc > 2);
    end_mpi(mpi);
    return 0;
}
