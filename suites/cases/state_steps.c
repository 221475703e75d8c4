/* state_steps.c: steps with other rates, and many steps: the hundredth is as right as the first,
 * and leaves as little memory. */
#include "ddp.h"
#include "golden.h"

#include <string.h>

/* ---- GRAD-19: the learning rate -------------------------------------------------------------- */

/* The rates of the steps of a run. The momenta have few bits, so parameters are exact, and so are
 * the outputs of the first steps. */
static const double rates[] = {1.0 / 64, 1.0 / 64, 1.0 / 256, 0, 0, 1.0 / 32, 1.0 / 128};
static const double momenta[] = {0.75, 0.25, 0, 1};
enum {
    RATES = sizeof rates / sizeof rates[0],
    MOMENTA = sizeof momenta / sizeof momenta[0],
    EXACT = 4
};

/* Two parameters and their momentum, in double. */
struct sgd {
    double value[2], velocity[2], momentum;
};

static void sgd_step(struct sgd *sgd, double rate, const double grad[2])
{
    for (int p = 0; p < 2; ++p) {
        sgd->velocity[p] = sgd->momentum * sgd->velocity[p] + grad[p];
        sgd->value[p] -= rate * sgd->velocity[p];
    }
}

static void one_rate(struct check *c, struct impl_model *model, const struct sgd *before, int turn)
{
    const size_t n = 10;
    const double g = 1 + turn % 3;
    const struct impl_array *y;

    check_zero_grad(c, model);
    y = check_forward(c, model, golden_rows(c, n));
    if (turn < EXACT)
        golden_is_counted(c, "output", y, n, before->value[0] + before->value[1], before->value[0]);
    check_backward(c, model, check_vector(c, n, check_sequence(c, n, g, 0)));
    check_grads_are(c, model, 55 * g, 10 * g);
}

static void state_rate(struct check *c, int k)
{
    for (int m = 0; m < MOMENTA; ++m) {
        struct impl_model *model = golden_affine(c, k);
        struct sgd sgd = {{2, 1}, {0, 0}, momenta[m]};

        for (int turn = 0; turn < RATES; ++turn) {
            const double g = 1 + turn % 3, grad[] = {55 * g, 10 * g};

            check_note(c, "K=%d, momentum %g, step %d of rate %g: ", k, momenta[m], turn,
                       rates[turn]);
            one_rate(c, model, &sgd, turn);
            check_step(c, model, (float)rates[turn], (float)momenta[m]);
            sgd_step(&sgd, rates[turn], grad);
            check_value_is(c, model, 0, sgd.value[0]);
            check_value_is(c, model, 1, sgd.value[1]);
        }
        check_model_close(c, model);
    }
}

static const double ranks_rows[DDP_MOST] = {1, 10, -4, 6};

static double ranks_mean(int ranks)
{
    double sum = 0;

    for (int r = 0; r < ranks; ++r)
        sum += ranks_rows[r];
    return sum / ranks;
}

static void state_rate_ranks(struct check *c, int ranks)
{
    for (int m = 0; m < MOMENTA; ++m) {
        struct impl_model *model = check_ddp_model(c, ranks, DDP_MODEL(DDP_AFFINE));
        const double grad[] = {ranks_mean(ranks), 1};
        struct sgd sgd = {{2, 1}, {0, 0}, momenta[m]};

        for (int turn = 0; turn < RATES; ++turn) {
            struct ddp_call call = ddp_rows(c, ranks, ranks_rows);

            check_note(c, "R=%d, momentum %g, step %d of rate %g: ", ranks, momenta[m], turn,
                       rates[turn]);
            ddp_fresh_pass(c, model, &call);
            for (int r = 0; turn < EXACT && r < ranks; ++r)
                check_values(c, check_text(c, "output of rank %d", r), call.out[r][0], 1,
                             (const double[]){sgd.value[0] * ranks_rows[r] + sgd.value[1]});
            check_step(c, model, (float)rates[turn], (float)momenta[m]);
            sgd_step(&sgd, rates[turn], grad);
            ddp_all_is(c, model, ranks, IMPL_VALUE, 0, sgd.value[0]);
            ddp_all_is(c, model, ranks, IMPL_VALUE, 1, sgd.value[1]);
        }
        check_model_close(c, model);
    }
}

/* ---- COMP-14, DDP-01: many steps ------------------------------------------------------------- */

enum { STEPS = 132, ROWS = 9 };

/* Returns the gradient of step `turn`, which changes sign, so that the parameters stay small and
 * all is exact. */
static double upstream(int turn)
{
    return turn % 2 == 0 ? 1 + turn % 5 : -1 - turn % 3;
}

static void state_many_steps(struct check *c)
{
    const int k = golden_most(c, 4);
    struct impl_model *model = golden_parallel(c, k, "", "{\"kind\":\"counter\"}," GOLDEN_AFFINE);
    const bool counts = k == 1 || check_choice(c, IMPL_REPLICA_0) == IMPL_ALIAS;
    struct sgd sgd = {{2, 1}, {0, 0}, 0};

    for (int turn = 0; turn < STEPS; ++turn) {
        check_note(c, "K=%d, step %d: ", k, turn + 1);
        /* Makes a step with x = 1..9 and a counter before y = wx + b; the parameters are count,
         * weight, bias. */
        const size_t n = ROWS;
        const double g = upstream(turn), grad[] = {45 * g, ROWS * g};
        const struct impl_array *y = check_forward(c, model, golden_rows(c, n));
        const struct impl_array *dx;

        golden_is_counted(c, "output", y, n, sgd.value[0] + sgd.value[1], sgd.value[0]);
        check_zero_grad(c, model);
        dx = check_backward(c, model, check_vector(c, n, check_sequence(c, n, g, 0)));
        golden_is_counted(c, "input gradient", dx, n, g * sgd.value[0], 0);
        check_grad_is(c, model, 1, grad[0]);
        check_grad_is(c, model, 2, grad[1]);
        check_step(c, model, 1.0F / 256, 0);
        sgd_step(&sgd, 1.0 / 256, grad);
        check_value_is(c, model, 1, sgd.value[0]);
        check_value_is(c, model, 2, sgd.value[1]);
        check_value_is(c, model, 0, counts ? turn + 1 : 0);
    }
}

static void state_many_ranks(struct check *c)
{
    enum { RANKS = 2 };
    struct impl_model *model = check_ddp_model(c, RANKS, DDP_MODEL(DDP_AFFINE));
    struct sgd sgd = {{2, 1}, {0, 0}, 0};

    for (int turn = 0; turn < STEPS; ++turn) {
        const double g = upstream(turn), grad[] = {ranks_mean(RANKS) * g, g};
        struct ddp_call call = ddp_rows(c, RANKS, ranks_rows);

        check_note(c, "R=%d, step %d: ", RANKS, turn + 1);
        for (int r = 0; r < RANKS; ++r)
            call.g[r][0] = check_vector(c, 1, &g);
        ddp_fresh_pass(c, model, &call);
        for (int r = 0; r < RANKS; ++r)
            check_values(c, check_text(c, "output of rank %d", r), call.out[r][0], 1,
                         (const double[]){sgd.value[0] * ranks_rows[r] + sgd.value[1]});
        ddp_grads_are(c, model, RANKS, grad[0], grad[1]);
        check_step(c, model, 1.0F / 64, 0);
        sgd_step(&sgd, 1.0 / 64, grad);
        ddp_all_is(c, model, RANKS, IMPL_VALUE, 0, sgd.value[0]);
        ddp_all_is(c, model, RANKS, IMPL_VALUE, 1, sgd.value[1]);
    }
}

/* ---- COMP-12: memory of a thousand steps ----------------------------------------------------- */

enum { THOUSAND = 1000, WARM_UP = 100, SOME = 3 };

struct repeated {
    struct impl_model *model;
    struct impl_forward forward;
    struct impl_backward backward;
};

static struct repeated repeated_open(struct check *c, int k)
{
    struct repeated r = {.model = golden_affine(c, k)};

    r.forward = (struct impl_forward){.in = golden_rows(c, ROWS),
                                      .n_in = 1,
                                      .out = check_output(c, IMPL_MAX_IO, 64),
                                      .grad = true,
                                      .train = true};
    r.backward = (struct impl_backward){.grad_in = check_output(c, 1, 64), .n_in = 1};
    return r;
}

static void repeated_step(struct check *c, struct repeated *r)
{
    check_forward_op(c, r->model, &r->forward);
    check_backward_op(c, r->model, &r->backward);
    check_step(c, r->model, 0, 0);
}

/* The process may grow in one round, and a leak may fill memory that was free. So a leak is found
 * when two of up to three rounds grow. The system counts the pages of a process late, by up to 64
 * for each thread, so a smaller leak is not seen. */
static void state_resident(struct check *c)
{
    const long long most = 640 * 1024;
    const size_t n = ROWS;
    struct repeated r = repeated_open(c, golden_most(c, 2));
    long long grown = 0;
    int flat = 0, grew = 0;

    if (KEEPS_FREED_MEMORY)
        check_skip(c, "built with a sanitizer that keeps freed memory");
    /* What was freed before would take up a leak of all rounds. */
    for (int i = 0; i < 4 * THOUSAND; ++i)
        memset(check_memory(c, 1024), 1, 1024);
    for (int i = 0; i < WARM_UP; ++i)
        repeated_step(c, &r);
    while (flat < 2 && grew < 2) {
        const long long before = (long long)check_resident(c);

        for (int i = 0; i < THOUSAND; ++i)
            repeated_step(c, &r);
        grown = (long long)check_resident(c) - before;
        ++*(grown <= most ? &flat : &grew);
    }
    check_at_most(c, "bytes that the last 1000 steps added to the process", grown, most);
    golden_is_counted(c, "output", &r.forward.out[0], n, 3, 2);
}

/* The memory that the implementation reports is never more than in the first steps. */
static void state_live(struct check *c)
{
    struct impl_trace *trace = check_memory(c, sizeof *trace);
    struct repeated r = repeated_open(c, golden_most(c, 2));
    uint64_t most = 0;

    r.forward.trace = trace;
    for (int i = 0; i < SOME + THOUSAND; ++i) {
        repeated_step(c, &r);
        most = i < SOME && trace->live_bytes > most ? trace->live_bytes : most;
        check_note(c, "step %d: ", i + 1);
        check_at_most(c, "bytes held", (long long)trace->live_bytes, (long long)most);
    }
    check_at_least(c, "bytes held", (long long)most, 2 * (long long)sizeof(float));
}

static const struct check_case composition_cases[] = {
    {"COMP-12.thousand", "COMP-12", MUST, OBSERVED, DP, PARALLEL, 1, state_resident, 120000},
    {"COMP-12.live_thousand", "COMP-12", MAY, REPORTED, DP,
     PARALLEL | IMPL_CAP_TRACE | IMPL_CAP_MEMORY, 1, state_live, 120000},
    {"COMP-14.many_steps", "COMP-14", MUST, OBSERVED, DP, PARALLEL, 1, state_many_steps, 30000},
};
const struct check_table state_steps_composition_table = CHECK_TABLE(composition_cases);

static const struct check_case ddp_cases[] = {
    {"DDP-01.many_steps", "DDP-01", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, state_many_ranks, 30000},
};
const struct check_table state_steps_ddp_table = CHECK_TABLE(ddp_cases);

static const struct check_case gradient_cases[] = {
    {"GRAD-19.rates", "GRAD-19", MUST, OBSERVED, DP, PARALLEL, 1, .each = state_rate,
     .limit_ms = 30000},
    {"GRAD-19.ranks", "GRAD-19", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = state_rate_ranks,
     .limit_ms = 30000},
};
const struct check_table state_steps_gradient_table = CHECK_TABLE(gradient_cases);
