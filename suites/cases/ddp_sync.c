/* ddp_sync.c: cases of area DDP: gradients that are accumulated on the ranks before they are
 * reduced. */
#include "ddp.h"

#define ONE "{\"kind\":\"affine\",\"weight\":[1]}" /* its output is its input */

static const char affine[] = DDP_MODEL(DDP_AFFINE);
static const char longer[] = DDP_MODEL(DDP_AFFINE "," ONE "," ONE "," ONE);
static const char within[] =
    "{\"device\":-1,\"no_sync_backward\":true,\"layers\":[" DDP_AFFINE "]}";

/* Two micro-steps: the numbers of the ranks, and the means of the first and of both. */
static const struct micro {
    int ranks;
    double first[DDP_MOST], second[DDP_MOST];
    double mean, both;
} known[] = {
    {2, {1, 10}, {2, 20}, 5.5, 16.5},
    {4, {1, 10, 100, 1000}, {2, 20, 200, 2000}, 277.75, 833.25},
    {4, {3, -5, 2, 9}, {-6, 1, 1, 8}, 2.25, 3.25},
};
enum { KNOWN = sizeof known / sizeof known[0] };

static void micro_step(struct check *c, struct impl_model *model, int ranks, const double x[],
                       bool no_sync)
{
    struct ddp_call call = ddp_rows(c, ranks, x);

    call.no_sync = no_sync;
    ddp_pass(c, model, &call);
}

/* ---- DDP-16: no_sync ------------------------------------------------------------------------- */

/* Variant 0: the first step is not reduced. Variant 1: it is, and the second one, too. Variant 2:
 * both, in turns, and backwards are in the other mode, which changes nothing. */
static void ddp_two_steps(struct check *c)
{
    const int variant = check_variant(c);

    for (int k = 0; k < KNOWN; ++k) {
        const struct micro *m = &known[k];
        struct impl_model *model = check_ddp_model(c, m->ranks, variant == 2 ? within : affine);

        for (int turn = 0; turn < 2; ++turn) {
            const bool no_sync = variant == 0 || (variant == 2 && turn == 0);

            check_note(c, "setting %d, step %d, first: ", k, turn);
            check_zero_grad(c, model);
            micro_step(c, model, m->ranks, m->first, no_sync);
            for (int r = 0; r < m->ranks; ++r) {
                ddp_rank_is(c, model, r, IMPL_GRAD, 0, no_sync ? m->first[r] : m->mean);
                ddp_rank_is(c, model, r, IMPL_GRAD, 1, 1);
            }
            check_note(c, "setting %d, step %d, second: ", k, turn);
            micro_step(c, model, m->ranks, m->second, false);
            ddp_grads_are(c, model, m->ranks, m->both, 2);
        }
        check_model_close(c, model);
    }
}

/* Variant 1 reads values only, after one step: where each rank keeps a part of the gradients, none
 * has all of them. Its model has more parameters, so that two ranks have some each. */
static void ddp_no_sync_several(struct check *c, int ranks)
{
    const bool reads = check_variant(c) == 0;
    struct impl_model *model = check_ddp_model(c, ranks, reads ? affine : longer);
    double value[2] = {2, 1}, mean[2];

    for (int turn = 0; turn < (reads ? 2 : 1); ++turn) {
        check_zero_grad(c, model);
        /* Makes three micro-steps on the ranks, and the fourth reduces; then a step, and all of it
         * again. */
        double local[DDP_MOST][2] = {{0}};

        for (int micro = 0; micro < 4; ++micro) {
            struct ddp_batch batch[DDP_MOST];
            struct ddp_call call;

            check_note(c, "R=%d, step %d, micro-step %d: ", ranks, turn, micro);
            ddp_batches(c, ranks, 4 * (uint64_t)turn + (uint64_t)micro, batch);
            call = ddp_call_of(c, ranks, batch);
            call.no_sync = micro < 3;
            ddp_pass(c, model, &call);
            for (int r = 0; r < ranks; ++r) {
                local[r][0] += batch[r].weight;
                local[r][1] += batch[r].bias;
                for (int p = 0; reads && call.no_sync && p < 2; ++p)
                    ddp_rank_is(c, model, r, IMPL_GRAD, p, local[r][p]);
            }
        }
        for (int p = 0; p < 2; ++p) {
            mean[p] = 0;
            for (int r = 0; r < ranks; ++r)
                mean[p] += local[r][p] / ranks;
            if (reads)
                ddp_all_is(c, model, ranks, IMPL_GRAD, p, mean[p]);
        }
        check_step(c, model, 0.125F, 0);
        for (int p = 0; p < 2; ++p) {
            value[p] -= 0.125 * mean[p];
            ddp_all_is(c, model, ranks, IMPL_VALUE, p, value[p]);
        }
    }
}

/* A gradient that a rank had before is reduced as well, whether the others had one or not. */
static void ddp_no_sync_prefilled(struct check *c, int ranks)
{
    static const double x[DDP_MOST] = {1, 10, -4, 6};
    struct impl_model *model = check_ddp_model(c, ranks, affine);

    for (int turn = 0; turn < 3; ++turn) {
        double mean[2] = {0, 0};

        check_note(c, "R=%d, step %d: ", ranks, turn);
        for (int r = 0; r < ranks; ++r) {
            const double filled[2] = {100 * (r + 1), 40 * (r + turn)};
            const bool has[2] = {r != turn % 2, true};

            for (int p = 0; p < 2; ++p) {
                ddp_set(c, model, r, IMPL_GRAD, p, has[p] ? &filled[p] : NULL);
                mean[p] += (has[p] ? filled[p] : 0) / ranks;
            }
            mean[0] += x[r] / ranks;
            mean[1] += 1.0 / ranks;
        }
        micro_step(c, model, ranks, x, false);
        ddp_grads_are(c, model, ranks, mean[0], mean[1]);
    }
}

static const struct check_case cases[] = {
    {"DDP-16.known", "DDP-16", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, ddp_two_steps},
    {"DDP-16.backward", "DDP-16", MAY, OBSERVED, DDP, IMPL_CAP_DDP | IMPL_CAP_CALLS, 0,
     ddp_two_steps, .variant = 2},
    {"DDP-16.several", "DDP-16", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0,
     .ranks = ddp_no_sync_several},
    {"DDP-16.stepped", "DDP-16", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = ddp_no_sync_several,
     .variant = 1},
    {"DDP-16.prefilled", "DDP-16", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0,
     .ranks = ddp_no_sync_prefilled},
    {"DDP-17.each", "DDP-17", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, ddp_two_steps, .variant = 1},
};
const struct check_table ddp_sync_table = CHECK_TABLE(cases);
