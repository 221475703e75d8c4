/* gpt_clip.c: cases of area GPT about steps with given gradients of each replica or rank: clipping
 * by the norm of all gradients, eps, and accumulation before both. */
#include "ddp.h"
#include "golden.h"
#include "gpt.h"

enum { MOST_RANKS = 4 };

/* ---- models whose gradients are given -------------------------------------------------------- */

/* The model has two parameters [1] with initial values 4 and -4; replica or rank i has the
 * gradients a[i] and b[i]. */
static const char *given_layers(struct check *c, int n, const double a[], const double b[])
{
    return check_text(c,
                      "{\"kind\":\"grad\",\"weight\":[4],\"values\":%s},"
                      "{\"kind\":\"grad\",\"weight\":[-4],\"values\":%s}",
                      gpt_list(c, (size_t)n, a), gpt_list(c, (size_t)n, b));
}

/* Returns n different numbers whose sum is sum: the norm of none of them is that of the sum. */
static const double *parts(struct check *c, int n, double sum)
{
    double *part = gpt_zeros(c, (size_t)n);

    part[0] = sum;
    for (int i = 1; i < n; ++i) {
        part[i] = (i % 2 == 1 ? 1 : -1) * 128.0 * (i + 1);
        part[0] -= part[i];
    }
    return part;
}

static struct gpt_trained given_on_devices(struct check *c, int k, const double sum[GPT_TWO])
{
    return gpt_on_devices(c, k, given_layers(c, k, parts(c, k, sum[0]), parts(c, k, sum[1])));
}

static struct gpt_trained given_on_ranks(struct check *c, int ranks, const double mean[GPT_TWO])
{
    return gpt_on_ranks(
        c, ranks,
        given_layers(c, ranks, parts(c, ranks, ranks * mean[0]), parts(c, ranks, ranks * mean[1])));
}

/* Makes forward and backward; each replica or rank has one row. */
static void given_pass(struct check *c, const struct gpt_trained *t, bool no_sync)
{
    struct ddp_call call = {.ranks = t->ranks, .n_in = 1, .n_out = 1, .no_sync = no_sync};

    for (int r = 0; r < t->ranks; ++r) {
        call.in[r][0] = check_needs_grad(check_vector(c, 1, (const double[]){r + 1}));
        call.g[r][0] = check_vector(c, 1, (const double[]){1});
    }
    if (t->ranks > 0) {
        ddp_pass_counted(c, t->model, &call);
    } else {
        check_forward(c, t->model, golden_rows(c, (size_t)t->n));
        check_backward(c, t->model, NULL);
    }
}

/* ---- GPT-06: clipping sees what was reduced -------------------------------------------------- */

/* 768 and 1024 have the norm 1280, so adding 1e-6 to it changes nothing in a float. */
static const double clip_sum[GPT_TWO] = {768, 1024};
static const struct {
    float max_norm;
    double factor;
} clips[] = {{640, 0.5}, {320, 0.25}, {2560, 1}, {0, 1}};

static void clip_steps(struct check *c, const struct gpt_trained *t)
{
    double value[GPT_TWO] = {4, -4};

    for (size_t i = 0; i < sizeof clips / sizeof clips[0]; ++i) {
        check_note(c, "%d %s, max_norm %g: ", t->n, t->ranks > 0 ? "ranks" : "devices",
                   (double)clips[i].max_norm);
        check_zero_grad(c, t->model);
        given_pass(c, t, false);
        for (int p = 0; p < GPT_TWO; ++p)
            gpt_all_are(c, t, IMPL_GRAD, p, clip_sum[p]);
        check_step_of(c, t->model,
                      &(struct impl_step){.lr = 1.0F / 64, .max_norm = clips[i].max_norm});
        for (int p = 0; p < GPT_TWO; ++p) {
            value[p] -= clip_sum[p] * clips[i].factor / 64;
            gpt_all_are(c, t, IMPL_GRAD, p, clip_sum[p] * clips[i].factor);
            gpt_all_are(c, t, IMPL_VALUE, p, value[p]);
        }
    }
    check_model_close(c, t->model);
}

static void clip_replicas(struct check *c, int k)
{
    const struct gpt_trained t = given_on_devices(c, k, clip_sum);

    clip_steps(c, &t);
}

static void clip_ranks(struct check *c)
{
    for (int ranks = 2; ranks <= MOST_RANKS; ranks += 2) {
        const struct gpt_trained t = given_on_ranks(c, ranks, clip_sum);

        clip_steps(c, &t);
    }
}

/* ---- GPT-07: eps ----------------------------------------------------------------------------- */

/* eps is added to the root: 3 / (3 + 1) and 7 / (7 + 1). */
static void adamw_eps(struct check *c, int k)
{
    static const double sum[GPT_TWO] = {3, -7};
    const struct impl_step step = {
        .lr = 0.5F, .beta1 = 0.5F, .beta2 = 0, .eps = 1, .decay = 0, .adamw = true};
    const struct gpt_trained t = given_on_devices(c, k, sum);

    given_pass(c, &t, false);
    check_step_of(c, t.model, &step);
    check_value_is(c, t.model, 0, 4 - 0.375);
    check_value_is(c, t.model, 1, -4 + 0.4375);
}

/* ---- GPT-09: accumulation, clipping, AdamW --------------------------------------------------- */

/* The batches of the steps, all but the last without sync. The norm of n batches is 1280 n. */
static const struct {
    int batches;
    float max_norm;
    double factor;
} accumulated[] = {{2, 1280, 0.5}, {1, 640, 0.5}, {4, 0, 1}};

static void accumulate_ranks(struct check *c)
{
    for (int ranks = 2; ranks <= MOST_RANKS; ranks += 2) {
        const struct gpt_trained t = given_on_ranks(c, ranks, clip_sum);

        struct gpt_adamw a[GPT_TWO] = {{.value = 4}, {.value = -4}};
        struct impl_step step = gpt_exact;

        for (size_t s = 0; s < sizeof accumulated / sizeof accumulated[0]; ++s) {
            const int n = accumulated[s].batches;
            const double times = n * accumulated[s].factor;
            const double g[GPT_TWO] = {times * clip_sum[0], times * clip_sum[1]};

            gpt_note_step(c, &t, (int)s + 1);
            check_zero_grad(c, t.model);
            for (int i = 0; i < n; ++i)
                given_pass(c, &t, i < n - 1);
            step.max_norm = accumulated[s].max_norm;
            gpt_adamw_both(c, &t, a, &step, g);
            for (int p = 0; p < GPT_TWO; ++p)
                gpt_all_are(c, &t, IMPL_GRAD, p, g[p]);
        }
        check_model_close(c, t.model);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { REPLICAS = PARALLEL | IMPL_CAP_ADAMW, RANKS = IMPL_CAP_DDP | IMPL_CAP_ADAMW };

static const struct check_case cases[] = {
    {"GPT-06.replicas", "GPT-06", MAY, OBSERVED, DP, REPLICAS, 1, .each = clip_replicas},
    {"GPT-06.ranks", "GPT-06", MAY, OBSERVED, DDP, RANKS, 0, clip_ranks},
    {"GPT-07.eps", "GPT-07", MAY, OBSERVED, DP, REPLICAS, 1, .each = adamw_eps},
    {"GPT-09.ranks", "GPT-09", MAY, OBSERVED, DDP, RANKS, 0, accumulate_ranks},
};
const struct check_table gpt_clip_table = CHECK_TABLE(cases);
