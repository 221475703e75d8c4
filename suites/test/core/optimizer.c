/* optimizer.c: AdamW and learning rates, on the base and on ranks: PyTorch's numbers within a
 * derived bound, the bits of plain loops, and which parameters have a state. */
#include "optimizer.h"
#include "golden.h"
#include "list.h"

#include <math.h>
#include <string.h>

static void close_adamw(void *object)
{
    dp_adamw_close(object);
}

struct dp_adamw *open_adamw(struct context *c, struct dp_module *module,
                            const struct dp_adamw_config *config)
{
    struct dp_adamw *adamw = NULL;
    expect_ok(c, dp_adamw_open(module, config, &adamw, &c->err), "dp_adamw_open");
    own(c, close_adamw, adamw);
    return adamw;
}

static void optimizer_step(struct context *c, struct dp_adamw *adamw)
{
    expect_ok(c, dp_adamw_step(adamw, &c->err), "dp_adamw_step");
}

/* ---- shared ------------------------------------------------------------------------------ */

struct plain open_plain(struct context *c, const float value[], size_t n)
{
    struct plain p = {.n = n,
                      .value = case_memory(c, n * sizeof *p.value),
                      .m = case_memory(c, n * sizeof *p.m),
                      .s = case_memory(c, n * sizeof *p.s)};
    memcpy(p.value, value, n * sizeof *value);
    return p;
}

void plain_step(struct plain *p, const struct dp_adamw_config *k, const float grad[])
{
    const int t = ++p->steps;
    const float keep = (float)(1.0 - k->lr * k->decay);
    const float size = (float)(k->lr / (1.0 - pow(k->beta1, t)));
    const float root = (float)sqrt(1.0 - pow(k->beta2, t));
    for (size_t i = 0; i < p->n; ++i) {
        const float g = grad[i];
        p->m[i] = (float)k->beta1 * p->m[i] + (float)(1.0 - k->beta1) * g;
        p->s[i] = (float)k->beta2 * p->s[i] + (float)(1.0 - k->beta2) * g * g;
        p->value[i] = p->value[i] * keep - size * p->m[i] / (sqrtf(p->s[i]) / root + (float)k->eps);
    }
}

void adamw_ranks(struct context *c, struct ranks *ranks, const struct dp_adamw_config *config)
{
    expect_ok(c, dp_ddp_adamw_step(ranks->ddp, config, &c->err), "dp_ddp_adamw_step");
    dp_ddp_zero_grad(ranks->ddp);
}

void give_grad(struct context *c, struct dp_param *p, double grad)
{
    write_values(c, &p->grad, &grad);
    p->has_grad = true;
}

const char *const optimizer_names[2] = {"weight", "bias"};

const struct torch_tensor *optimizer_tensor(struct context *c, const struct torch_layer *layer,
                                            const char *before, int i, const char *behind)
{
    char name[24] = "";
    strcat(strcat(strcat(name, before), optimizer_names[i]), behind);
    return torch_find(c, layer, name);
}

/* ---- PyTorch ----------------------------------------------------------------------------- */

static void adamw_steps(struct context *c, const struct torch_layer *layer,
                        struct dp_module *linear, struct dp_adamw *adamw)
{
    for (int i = 0; i < 2; ++i)
        write_values(c, &param_at(c, linear, i)->value,
                     optimizer_tensor(c, layer, "", i, "")->value);
    for (int t = 0; t < (int)layer->number[5]; ++t) {
        for (int i = 0; i < 2; ++i) {
            struct dp_param *p = param_at(c, linear, i);
            const size_t n = dp_tensor_count(&p->value);
            write_values(c, &p->grad,
                         optimizer_tensor(c, layer, "d", i, "")->value + (size_t)t * n);
            p->has_grad = optimizer_tensor(c, layer, "has_", i, "")->value[t] > 0.0;
        }
        optimizer_step(c, adamw);
        for (int i = 0; i < 2; ++i) {
            const struct dp_tensor *value = &param_at(c, linear, i)->value;
            const struct torch_tensor *want = optimizer_tensor(c, layer, "", i, "_after");
            const size_t at = (size_t)t * dp_tensor_count(value);
            expect_within(c, optimizer_names[i], value, want->value + at, want->bound + at);
        }
    }
}

/* It runs twice, because the optimizer can forget its state. */
TORCH_LAYER(adamw)
{
    const double *number = layer->number;
    const struct dp_adamw_config config = {number[0], number[1], number[2], number[3], number[4]};
    struct dp_group *group = open_group(c, 1);
    struct dp_module *linear = make_linear(c, group, 3, 5, true);
    move_module(c, linear, dp_group_slot(group, 0));
    struct dp_adamw *adamw = open_adamw(c, linear, &config);
    adamw_steps(c, layer, linear, adamw);
    expect_ok(c, dp_adamw_restart(adamw, &c->err), "dp_adamw_restart");
    adamw_steps(c, layer, linear, adamw);
}

/* ---- bits -------------------------------------------------------------------------------- */

/* Sizes are around those of one piece of work on a CPU; each step has another rate. */
static void optimizer_bits(struct context *c)
{
    static const size_t sizes[] = {1, 2, 3, 7, 8, 9, 15, 17, 33, 100, 1025};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
        const size_t n = sizes[k];
        case_release(c);
        case_note(c, "n=%zu", n);
        struct dp_adamw_config config = dp_adamw_defaults();
        struct dp_group *group = open_group(c, 1);
        struct dp_module *linear = make_linear(c, group, 1, n, true);
        struct plain plain[2];
        for (int i = 0; i < 2; ++i) {
            plain[i] = open_plain(c, randoms(c, n, k + (unsigned)i), n);
            write_floats(c, &param_at(c, linear, i)->value, plain[i].value);
        }
        move_module(c, linear, dp_group_slot(group, 0));
        struct dp_adamw *adamw = open_adamw(c, linear, &config);
        for (unsigned t = 0; t < 4; ++t) {
            for (int i = 0; i < 2; ++i) {
                struct dp_param *p = param_at(c, linear, i);
                const float *grad = randoms(c, n, 100 + 2 * t + (unsigned)i);
                write_floats(c, &p->grad, grad);
                p->has_grad = true;
                plain_step(&plain[i], &config, grad);
            }
            optimizer_step(c, adamw);
            for (int i = 0; i < 2; ++i)
                expect_bits(c, optimizer_names[i], &param_at(c, linear, i)->value, plain[i].value);
            config.lr *= 0.7;
            dp_adamw_set_rate(adamw, config.lr);
        }
    }
}

/* ---- who is stepped, and how far it is --------------------------------------------------- */

static void expect_plain(struct context *c, const struct golden *g, const struct plain plain[2])
{
    expect_bits(c, "weight", &g->weight->value, plain[0].value);
    expect_bits(c, "bias", &g->bias->value, plain[1].value);
}

/* Says which of two parameters has a gradient in each step: first one alone, then both. */
enum { HAS_STEPS = 8 };
static const bool has_grad[][HAS_STEPS][2] = {
    {{0, 0}, {1, 0}, {1, 0}, {0, 1}, {1, 1}, {1, 0}, {0, 1}, {1, 1}},
    {{1, 1}, {1, 1}, {1, 0}, {0, 1}, {1, 1}, {1, 0}, {0, 0}, {1, 1}},
};

/* A parameter without a gradient has no decay, no moments and no step; each parameter counts its
 * own steps. */
static void without_gradient(struct context *c)
{
    const struct dp_adamw_config config = {0.25, 0.5, 0.75, 0.125, 0.5};
    for (size_t k = 0; k < sizeof has_grad / sizeof *has_grad; ++k) {
        struct golden g;
        case_release(c);
        golden_open(c, &g, 2);
        struct dp_param *const param[] = {g.weight, g.bias};
        struct plain plain[2] = {open_plain(c, (float[]){2.0f}, 1),
                                 open_plain(c, (float[]){1.0f}, 1)};
        struct dp_adamw *adamw = open_adamw(c, g.wrapper, &config);
        for (int t = 0; t < HAS_STEPS; ++t) {
            case_note(c, "row %zu step %d", k, t);
            dp_zero_grad(g.linear);
            for (int i = 0; i < 2; ++i) {
                const float grad = 1.0f + (float)t;
                if (!has_grad[k][t][i])
                    continue;
                give_grad(c, param[i], (double)grad);
                plain_step(&plain[i], &config, &grad);
            }
            optimizer_step(c, adamw);
            expect_plain(c, &g, plain);
        }
        g.bias->frozen = true;
        give_grad(c, g.weight, 3.0);
        plain_step(&plain[0], &config, (float[]){3.0f});
        optimizer_step(c, adamw);
        expect_plain(c, &g, plain);
    }
}

/* A parameter that was moved after its first step is refused, and so are values that no AdamW can
 * have. */
static void optimizer_refused(struct context *c)
{
    static const struct {
        struct dp_adamw_config config;
        const char *words;
    } row[] = {{{-1.0, 0.9, 0.9, 0.1, 0.1}, "lr -1: 0 or more"},
               {{1.0, 1.0, 0.9, 0.1, 0.1}, "beta1 1: 0 <= beta1 < 1"},
               {{1.0, 0.9, -0.5, 0.1, 0.1}, "beta2 -0.5: 0 <="},
               {{1.0, 0.9, 0.9, (double)NAN, 0.1}, "eps nan"},
               {{1.0, 0.9, 0.9, 0.1, (double)INFINITY}, "decay inf"}};
    const struct dp_adamw_config config = dp_adamw_defaults();
    struct golden g;
    golden_open(c, &g, 2);
    for (size_t i = 0; i < sizeof row / sizeof *row; ++i) {
        struct dp_adamw *none = NULL;
        expect_error(c, dp_adamw_open(g.linear, &row[i].config, &none, &c->err), DP_EINVAL,
                     "AdamW's", row[i].words);
        expect(c, none == NULL, "an optimizer was opened");
    }
    struct dp_adamw *adamw = open_adamw(c, g.linear, &config);
    give_grad(c, g.weight, 1.0);
    optimizer_step(c, adamw);
    dp_adamw_set_rate(adamw, (double)NAN);
    expect_error(c, dp_adamw_step(adamw, &c->err), DP_EINVAL, "lr nan", "");
    dp_adamw_set_rate(adamw, 0.5);
    move_module(c, g.linear, dp_group_slot(g.group, 1));
    expect_error(c, dp_adamw_step(adamw, &c->err), DP_EDEVICE, "the parameter", "its moments");
}

/* ---- ranks ------------------------------------------------------------------------------- */

/* Some gradients differ between ranks, and some do not exist. */
static void own_steps(struct context *c, struct ranks *ranks, struct plain plain[3], int steps)
{
    const struct dp_adamw_config config = {0.25, 0.5, 0.75, 0.125, 0.5};
    for (int t = 0; t < steps; ++t) {
        case_note(c, "step %d of %d", t, steps);
        for (int r = 0; r < 3; ++r) {
            const float grad = (float)(1 + t + 4 * r);
            if (t % 3 == r)
                continue;
            ranks_write(c, ranks, r, 0, true, (double)grad);
            plain_step(&plain[r], &config, &grad);
        }
        adamw_ranks(c, ranks, &config);
        for (int r = 0; r < 3; ++r) {
            ranks_expect(c, ranks, r, 0, false, (double)plain[r].value[0]);
            ranks_expect(c, ranks, r, 1, false, 1.0);
        }
    }
}

/* Each rank has separate moments and steps, and forgets them. */
static void own_states(struct context *c)
{
    struct ranks ranks;
    struct plain plain[3];
    ranks_line(c, &ranks, 3, NULL);
    for (int r = 0; r < 3; ++r)
        plain[r] = open_plain(c, (float[]){2.0f}, 1);
    own_steps(c, &ranks, plain, 6);
    expect_ok(c, dp_ddp_adamw_restart(ranks.ddp, &c->err), "dp_ddp_adamw_restart");
    for (int r = 0; r < 3; ++r)
        plain[r] = open_plain(c, plain[r].value, 1);
    own_steps(c, &ranks, plain, 5);
    const struct dp_adamw_config bad = {.lr = -2.0};
    expect_error(c, dp_ddp_adamw_step(ranks.ddp, &bad, &c->err), DP_EINVAL, "lr -2", "");
}

/* ---- rates ------------------------------------------------------------------------------- */

static void cosine(struct context *c)
{
    const struct dp_cosine k = {.lr = 8.0, .least = 2.0, .warmup = 3, .total = 11};
    /* 8/4, 16/4, 24/4; then 2 + 6 (1 + cos(pi i / 8)) / 2 */
    static const double want[] = {2.0, 4.0, 6.0, 8.0};
    for (uint64_t t = 0; t < 4; ++t)
        expect(c, dp_cosine_rate(&k, t) == want[t], "step %d: %g", (int)t, dp_cosine_rate(&k, t));
    expect(c, fabs(dp_cosine_rate(&k, 7) - 5.0) < 1e-15, "half way: %g", dp_cosine_rate(&k, 7));
    expect(c, fabs(dp_cosine_rate(&k, 5) - (5.0 + 3.0 * sqrt(0.5))) < 1e-14, "a quarter: %g",
           dp_cosine_rate(&k, 5));
    for (uint64_t t = 4; t < 11; ++t)
        expect(c, dp_cosine_rate(&k, t) < dp_cosine_rate(&k, t - 1), "it rises at %d", (int)t);
    for (uint64_t t = 11; t < 14; ++t)
        expect(c, dp_cosine_rate(&k, t) == 2.0, "step %d: %g", (int)t, dp_cosine_rate(&k, t));
    const struct dp_cosine none = {.lr = 8.0, .least = 2.0};
    const struct dp_cosine all = {.lr = 8.0, .least = 2.0, .warmup = 3, .total = 3};
    expect(c, dp_cosine_rate(&none, 0) == 2.0, "no steps at all");
    expect(c, dp_cosine_rate(&all, 2) == 6.0 && dp_cosine_rate(&all, 3) == 2.0, "only a warm-up");
}

/* After the last step PyTorch's cosine rises again. */
TORCH_LAYER(cosine)
{
    const double *number = layer->number;
    const struct dp_cosine k = {number[0], number[1], (uint64_t)number[2], (uint64_t)number[3]};
    const struct torch_tensor *want = torch_find(c, layer, "rate");
    expect(c, want && want->n == k.total + 1, "a rate for each of %d steps and one behind them",
           (int)k.total);
    for (size_t t = 0; want && t < want->n; ++t)
        expect(c, fabs(dp_cosine_rate(&k, t) - want->value[t]) <= want->bound[t],
               "step %d of %d: %.17g, PyTorch has %.17g, bound %.3g", (int)t, (int)k.total,
               dp_cosine_rate(&k, t), want->value[t], want->bound[t]);
}

static const struct test_case cases[] = {
    {"optimizer/adamw-as-torch", "GRAD-17", torch_adamw},
    {"optimizer/bits", "GRAD-17", optimizer_bits},
    {"optimizer/without-gradient", "GRAD-11 GRAD-17 REPL-13", without_gradient},
    {"optimizer/refused", "", optimizer_refused},
    {"optimizer/own-states", "DDP-19", own_states},
    {"optimizer/cosine", "", cosine},
    {"optimizer/cosine-as-torch", "", torch_cosine},
};
const struct case_table optimizer_cases = {cases, sizeof cases / sizeof cases[0]};
