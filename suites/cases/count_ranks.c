/* count_ranks.c: cases of area COUNT: DistributedDataParallel of any number of ranks. The part of a
 * rank in a mean is exact if its gradient is R times a number that the division by R gives back. */
#include "ddp.h"

enum { WEIGHT, BIAS, COUNT };
static const char counting[] = DDP_MODEL("{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]},"
                                         "{\"kind\":\"counter\",\"count\":[5]}");

/* The numbers that are the same on all ranks. mean: of the gradients of the weight; that of the
 * bias is R. */
struct state {
    int ranks;
    double x[DDP_RANKS]; /* the one row of rank r, whose upstream gradient is R */
    double weight, bias, count, mean;
};

static struct ddp_call call_of(struct check *c, const struct state *s)
{
    const double up = s->ranks;
    struct ddp_call call = {.ranks = s->ranks, .n_in = 1, .n_out = 1};

    for (int r = 0; r < s->ranks; ++r) {
        call.in[r][0] = check_needs_grad(check_vector(c, 1, &s->x[r]));
        call.g[r][0] = check_vector(c, 1, &up);
    }
    return call;
}

static void all_hold(struct check *c, struct impl_model *model, const struct state *s)
{
    ddp_all_are(c, model, s->ranks, IMPL_VALUE, WEIGHT, 1, &s->weight);
    ddp_all_are(c, model, s->ranks, IMPL_VALUE, BIAS, 1, &s->bias);
    ddp_all_are(c, model, s->ranks, IMPL_VALUE, COUNT, 1, &s->count);
}

/* Makes a step with a reduction; `times` gradients are added up. */
static void reduced(struct check *c, struct impl_model *model, struct state *s, int times)
{
    ddp_all_are(c, model, s->ranks, IMPL_GRAD, WEIGHT, 1, (const double[]){times * s->mean});
    ddp_all_are(c, model, s->ranks, IMPL_GRAD, BIAS, 1, (const double[]){times * s->ranks});
    check_step(c, model, 1.0F / 8, 0);
    s->weight -= times * s->mean / 8;
    s->bias -= times * s->ranks / 8.0;
    check_zero_grad(c, model);
    all_hold(c, model, s);
}

/* All ranks except the last have a batch. The divisor stays R, and at the end all have the same
 * model. */
static void ranks_joined(struct check *c, struct impl_model *model, struct state *s)
{
    const int last = s->ranks - 1;
    struct ddp_call call = call_of(c, s), end = call_of(c, s);
    bool active[DDP_RANKS] = {false}, none[DDP_RANKS] = {false};
    const double mean = s->mean - s->x[last];

    check_note(c, "R=%d, the last rank has joined: ", s->ranks);
    for (int r = 0; r < last; ++r)
        active[r] = true;
    call.active = active;
    call.in[last][0] = call.g[last][0] = NULL;
    ddp_pass_counted(c, model, &call);
    for (int r = 0; r < last; ++r) {
        ddp_rank_is(c, model, r, IMPL_GRAD, WEIGHT, mean);
        ddp_rank_is(c, model, r, IMPL_GRAD, BIAS, last);
    }
    check_step(c, model, 1.0F / 8, 0);
    check_note(c, "R=%d, all have joined: ", s->ranks);
    for (int r = 0; r < s->ranks; ++r)
        end.in[r][0] = NULL;
    end.active = none;
    end.n_out = 0;
    ddp_forward_counted(c, model, &end);
    s->weight -= mean / 8;
    ++s->count;
    ddp_all_are(c, model, s->ranks, IMPL_VALUE, WEIGHT, 1, &s->weight);
    ddp_all_are(c, model, s->ranks, IMPL_VALUE, COUNT, 1, &s->count);
}

/* The variant is the number of ranks; 0: one that the seed chooses. */
static void ranks_work(struct check *c)
{
    const int given = check_variant(c), ranks = given > 0 ? given : 10 + (int)(check_seed(c) % 3);
    struct impl_model *model = check_ddp_model(c, ranks, counting);
    struct state s;

    /* Signs alternate, so that an exchange of two ranks shows. */
    s = (struct state){.ranks = ranks, .weight = 2, .bias = 1, .count = 5};
    for (int r = 0; r < ranks; ++r) {
        s.x[r] = ddp_share(ranks, r) * (r % 3 == 1 ? -1 : 1);
        s.mean += s.x[r];
    }
    check_note(c, "R=%d, new: ", ranks);
    all_hold(c, model, &s);
    /* Before the second forward each rank has another count: that of rank 0 is sent. */
    for (int turn = 0; turn < 2; ++turn) {
        struct ddp_call call = call_of(c, &s);

        check_note(c, "R=%d, step %d: ", s.ranks, turn);
        for (int r = 1; r < s.ranks; ++r)
            ddp_set(c, model, r, IMPL_VALUE, COUNT, (const double[]){100 * r});
        ddp_pass_counted(c, model, &call);
        for (int r = 0; r < s.ranks; ++r) {
            const double y = s.weight * s.x[r] + s.bias, dx = s.weight * s.ranks;

            check_values(c, check_text(c, "output of rank %d", r), call.out[r][0], 1, &y);
            check_values(c, check_text(c, "input gradient of rank %d", r), call.grad_in[r][0], 1,
                         &dx);
        }
        ++s.count;
        reduced(c, model, &s, 1);
    }
    /* A backward without sync leaves each rank its gradient; the next one reduces both. */
    struct ddp_call first = call_of(c, &s), second = call_of(c, &s);

    check_note(c, "R=%d, without sync: ", s.ranks);
    first.no_sync = true;
    ddp_pass_counted(c, model, &first);
    for (int r = 0; r < s.ranks; ++r)
        ddp_rank_is(c, model, r, IMPL_GRAD, WEIGHT, s.ranks * s.x[r]);
    check_note(c, "R=%d, with sync again: ", s.ranks);
    ddp_pass_counted(c, model, &second);
    s.count += 2;
    reduced(c, model, &s, 2);
    if (check_has(c, IMPL_CAP_JOIN))
        ranks_joined(c, model, &s);
    check_model_close(c, model);
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { RANKS = IMPL_CAP_DDP };

static const struct check_case cases[] = {
    {"COUNT-04.two", "COUNT-04", MUST, OBSERVED, DDP, RANKS, 0, ranks_work, .variant = 2},
    {"COUNT-04.three", "COUNT-04", MUST, OBSERVED, DDP, RANKS, 0, ranks_work, .variant = 3},
    {"COUNT-04.four", "COUNT-04", MUST, OBSERVED, DDP, RANKS, 0, ranks_work, .variant = 4},
    {"COUNT-04.five", "COUNT-04", MUST, OBSERVED, DDP, RANKS, 0, ranks_work, .variant = 5},
    {"COUNT-04.six", "COUNT-04", MUST, OBSERVED, DDP, RANKS, 0, ranks_work, .variant = 6},
    {"COUNT-04.seven", "COUNT-04", MUST, OBSERVED, DDP, RANKS, 0, ranks_work, .variant = 7},
    {"COUNT-04.eight", "COUNT-04", MUST, OBSERVED, DDP, RANKS, 0, ranks_work, .variant = 8},
    {"COUNT-04.nine", "COUNT-04", MUST, OBSERVED, DDP, RANKS, 0, ranks_work, .variant = 9},
    {"COUNT-04.more", "COUNT-04", MUST, OBSERVED, DDP, RANKS, 0, ranks_work, 30000},
};
const struct check_table count_ranks_table = CHECK_TABLE(cases);
