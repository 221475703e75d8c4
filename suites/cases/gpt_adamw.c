/* gpt_adamw.c: cases of area GPT about AdamW. They are exact if beta2 is 0 and gradients differ by
 * powers of two from step to step: then the second moment is the square of the gradient, and its
 * root is exact. */
#include "ddp.h"
#include "golden.h"
#include "gpt.h"

#include <math.h>

enum { MOST_RANKS = 3 };

struct gpt_trained gpt_on_devices(struct check *c, int k, const char *layers)
{
    return (struct gpt_trained){.model = golden_parallel(c, k, "", layers), .n = k};
}

struct gpt_trained gpt_on_ranks(struct check *c, int ranks, const char *layers)
{
    struct impl_model *model = check_ddp_model(c, ranks, check_text(c, DDP_MODEL("%s"), layers));

    return (struct gpt_trained){.model = model, .ranks = ranks, .n = ranks};
}

void gpt_note_step(struct check *c, const struct gpt_trained *t, int step)
{
    check_note(c, "%d %s, step %d: ", t->n, t->ranks > 0 ? "ranks" : "devices", step);
}

void gpt_all_are(struct check *c, const struct gpt_trained *t, enum impl_what what, int p,
                 double want)
{
    if (t->ranks > 0)
        ddp_all_are(c, t->model, t->ranks, what, p, 1, &want);
    else if (what == IMPL_GRAD)
        check_grad_is(c, t->model, p, want);
    else
        check_value_is(c, t->model, p, want);
}

/* ---- AdamW, in double ------------------------------------------------------------------------ */

/* Returns the number that the step subtracts. */
static double gpt_adamw_step(struct gpt_adamw *a, const struct impl_step *step, double g)
{
    const double b1 = (double)step->beta1, b2 = (double)step->beta2;
    double move;

    ++a->steps;
    a->first = b1 * a->first + (1 - b1) * g;
    a->second = b2 * a->second + (1 - b2) * g * g;
    move = (double)step->lr / (1 - pow(b1, a->steps)) * a->first /
           (sqrt(a->second) / sqrt(1 - pow(b2, a->steps)) + (double)step->eps);
    a->value = a->value * (1 - (double)step->lr * (double)step->decay) - move;
    return move;
}

void gpt_adamw_both(struct check *c, const struct gpt_trained *t, struct gpt_adamw a[GPT_TWO],
                    const struct impl_step *step, const double g[GPT_TWO])
{
    check_step_of(c, t->model, step);
    for (int p = 0; p < GPT_TWO; ++p) {
        gpt_adamw_step(&a[p], step, g[p]);
        gpt_all_are(c, t, IMPL_VALUE, p, a[p].value);
    }
}

const struct impl_step gpt_exact = {
    .lr = 21.0F / 64, .beta1 = 0.5F, .beta2 = 0, .eps = 0, .decay = 0.5F, .adamw = true};

/* ---- GPT-07: K steps ------------------------------------------------------------------------- */

/* The model is y = w x + b. The gradients of step s are times[s] of those of the first. */
static const double times[] = {1, 2, -4};
enum { EXACT_STEPS = sizeof times / sizeof times[0] };
static const char adamw_affine[] = "{\"kind\":\"affine\",\"weight\":[4],\"bias\":[-4]}";

/* Rank r has the row x = ddp_share(r), whose gradient is R times up: the mean is the sum of up
 * x. */
static void on_ranks(struct check *c, const struct gpt_trained *t, double factor,
                     double mean[GPT_TWO])
{
    const int ranks = t->ranks;
    struct ddp_call call = {.ranks = ranks, .n_in = 1, .n_out = 1};

    mean[0] = mean[1] = 0;
    for (int r = 0; r < ranks; ++r) {
        const double x = ddp_share(ranks, r), up = factor * ranks * (r == 1 ? 2 : 1);

        call.in[r][0] = check_needs_grad(check_vector(c, 1, &x));
        call.g[r][0] = check_vector(c, 1, &up);
        mean[0] += up * x / ranks;
        mean[1] += up / ranks;
    }
    ddp_pass_counted(c, t->model, &call);
}

static void exact_steps(struct check *c, const struct gpt_trained *t)
{
    struct gpt_adamw a[GPT_TWO] = {{.value = 4}, {.value = -4}};

    for (int s = 0; s < EXACT_STEPS; ++s) {
        double g[GPT_TWO];

        gpt_note_step(c, t, s + 1);
        check_zero_grad(c, t->model);
        if (t->ranks > 0)
            on_ranks(c, t, times[s], g);
        else {
            /* Row i has x = 1 + i. */
            const size_t n = 2 * (size_t)t->n + 1;
            double *up = gpt_zeros(c, n);

            g[0] = g[1] = 0;
            for (size_t i = 0; i < n; ++i) {
                up[i] = times[s] * (i % 3 == 1 ? -2 : 3);
                g[0] += up[i] * (1 + (double)i);
                g[1] += up[i];
            }
            check_forward(c, t->model, golden_rows(c, n));
            check_backward(c, t->model, check_vector(c, n, up));
        }
        gpt_adamw_both(c, t, a, &gpt_exact, g);
    }
    check_model_close(c, t->model);
}

static void adamw_replicas(struct check *c, int k)
{
    const struct gpt_trained t = gpt_on_devices(c, k, adamw_affine);

    exact_steps(c, &t);
}

static void adamw_ranks(struct check *c)
{
    for (int ranks = 2; ranks <= MOST_RANKS; ++ranks) {
        const struct gpt_trained t = gpt_on_ranks(c, ranks, adamw_affine);

        exact_steps(c, &t);
    }
}

/* ---- the usual settings: the second moment, too ---------------------------------------------- */

/* Computes a step and a bound for its error. Gradients are exact and have one sign, so each of the
 * 3 operations of a moment adds at most 2^-24 of it. In each step its error grows by 8 times that,
 * which leaves a margin for another order of operations; the root halves it. The number that step t
 * subtracts therefore has a relative error of (12 t + 8) 2^-24, and the value one of 3 more. The
 * smallest mistake that counts, one step in a bias correction, is 10^-3. */
static void near_step(struct gpt_adamw *a, const struct impl_step *step, double g, double *off)
{
    const double move = gpt_adamw_step(a, step, g);

    *off += ((12 * a->steps + 8) * fabs(move) + 3 * (fabs(a->value) + fabs(move))) * 0x1p-24;
}

static void is_near(struct check *c, const char *what, const struct impl_array *got, double want,
                    double off)
{
    const double value = check_element(got, 0);

    check_true(c, fabs(value - want) <= off, "%s is %.9g, must be %.9g within %.3g", what, value,
               want, off);
}

static const struct impl_step usual = {
    .lr = 1.0F / 64, .beta1 = 0.9F, .beta2 = 0.999F, .eps = 1e-8F, .decay = 0.01F, .adamw = true};
enum { USUAL_STEPS = 8 };

/* Returns the factors of the gradients, which go up and down. */
static double usual_times(int s)
{
    return 1 + (double)(3 * s % 5);
}

/* The rows have the gradient 1, so that the gradients of both parameters are above 0. */
static void usual_replicas(struct check *c, int k)
{
    const struct gpt_trained t = gpt_on_devices(c, k, adamw_affine);
    struct gpt_adamw a[GPT_TWO] = {{.value = 4}, {.value = -4}};
    const size_t n = 2 * (size_t)k + 1;
    double off[GPT_TWO] = {0, 0};

    for (int s = 0; s < USUAL_STEPS; ++s) {
        const double g = usual_times(s), sum[GPT_TWO] = {g * golden_sum(n), g * (double)n};

        gpt_note_step(c, &t, s + 1);
        check_zero_grad(c, t.model);
        check_forward(c, t.model, golden_rows(c, n));
        check_backward(c, t.model, check_vector(c, n, check_sequence(c, n, g, 0)));
        check_step_of(c, t.model, &usual);
        for (int p = 0; p < GPT_TWO; ++p) {
            near_step(&a[p], &usual, sum[p], &off[p]);
            is_near(c, check_text(c, "value of parameter %d", p),
                    check_get(c, t.model, IMPL_VALUE, p), a[p].value, off[p]);
        }
    }
}

static void usual_ranks(struct check *c)
{
    for (int ranks = 2; ranks <= MOST_RANKS; ++ranks) {
        const struct gpt_trained t = gpt_on_ranks(c, ranks, adamw_affine);
        struct gpt_adamw a[GPT_TWO] = {{.value = 4}, {.value = -4}};
        double off[GPT_TWO] = {0, 0};

        for (int s = 0; s < USUAL_STEPS; ++s) {
            double mean[GPT_TWO];

            gpt_note_step(c, &t, s + 1);
            check_zero_grad(c, t.model);
            on_ranks(c, &t, usual_times(s), mean);
            check_step_of(c, t.model, &usual);
            for (int p = 0; p < GPT_TWO; ++p) {
                near_step(&a[p], &usual, mean[p], &off[p]);
                is_near(c, check_text(c, "rank 0: value of parameter %d", p),
                        check_get_rank(c, t.model, 0, IMPL_VALUE, p), a[p].value, off[p]);
                for (int r = 1; r < ranks; ++r)
                    check_same(c, check_text(c, "rank %d: value of parameter %d", r, p),
                               check_get_rank(c, t.model, r, IMPL_VALUE, p),
                               check_get_rank(c, t.model, 0, IMPL_VALUE, p));
            }
        }
        check_model_close(c, t.model);
    }
}

/* ---- GPT-08: a parameter counts its own steps ------------------------------------------------ */

/* The second parameter has no gradient in the first step. */
static void own_steps(struct check *c, const struct gpt_trained *t)
{
    struct gpt_adamw a[GPT_TWO] = {{.value = 4}, {.value = -4}};
    const double g[GPT_TWO] = {6, -10};

    for (int s = 0; s < EXACT_STEPS; ++s) {
        gpt_note_step(c, t, s + 1);
        check_zero_grad(c, t->model);
        for (int p = 0; p < GPT_TWO; ++p) {
            const double own = g[p] * times[s];

            if (p == 1 && s == 0)
                continue;
            for (int r = 0; r < t->ranks; ++r)
                ddp_set(c, t->model, r, IMPL_GRAD, p, &own);
            if (t->ranks == 0)
                check_set(c, t->model, IMPL_GRAD, p, &own);
            gpt_adamw_step(&a[p], &gpt_exact, own);
        }
        check_step_of(c, t->model, &gpt_exact);
        for (int p = 0; p < GPT_TWO; ++p)
            gpt_all_are(c, t, IMPL_VALUE, p, a[p].value);
    }
    check_model_close(c, t->model);
}

static void own_replicas(struct check *c)
{
    const struct gpt_trained t = gpt_on_devices(c, golden_most(c, 4), adamw_affine);

    own_steps(c, &t);
}

static void own_ranks(struct check *c)
{
    const struct gpt_trained t = gpt_on_ranks(c, 2, adamw_affine);

    own_steps(c, &t);
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { REPLICAS = PARALLEL | IMPL_CAP_ADAMW, RANKS = IMPL_CAP_DDP | IMPL_CAP_ADAMW };

static const struct check_case cases[] = {
    {"GPT-07.replicas", "GPT-07", MAY, OBSERVED, DP, REPLICAS, 1, .each = adamw_replicas},
    {"GPT-07.ranks", "GPT-07", MAY, OBSERVED, DDP, RANKS, 0, adamw_ranks},
    {"GPT-07.usual", "GPT-07", MAY, OBSERVED, DP, REPLICAS, 1, .each = usual_replicas},
    {"GPT-07.usual_ranks", "GPT-07", MAY, OBSERVED, DDP, RANKS, 0, usual_ranks},
    {"GPT-08.replicas", "GPT-08", MAY, OBSERVED, DP, REPLICAS, 1, own_replicas},
    {"GPT-08.ranks", "GPT-08", MAY, OBSERVED, DDP, RANKS, 0, own_ranks},
};
const struct check_table gpt_adamw_table = CHECK_TABLE(cases);
