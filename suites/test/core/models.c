/* models.c: the models by name. For blocks and mixed the gradients are those of the unwrapped
 * model, bit for bit; all models give the same wrapped as alone. */
#include "list.h"

#include "descriptor.h"

#include <string.h>

#define ROWS 10

/* The results of a model: outputs and every gradient, by position in its list of parameters. */
struct result {
    int n;
    const float *output, *grad[32];
    size_t count[32];
};

struct setting {
    const char *name;
    int k;               /* 0: no devices at all */
    bool wrapped, exact; /* exact: integers */
    bool far;            /* the input is on the last device, or for mixed on the first */
};

static struct dp_module *models_open_model(struct context *c, const struct workload *w,
                                           const struct setting *s, struct dp_group *group)
{
    struct dp_module *model = NULL;
    (void)opened_module(c,
                        s->wrapped ? workload_open_parallel(w, group, NULL, &model, &c->err)
                                   : workload_open(w, group, &model, &c->err),
                        &model);
    return model;
}

static void fill_params(struct context *c, struct dp_module *model, bool exact)
{
    struct dp_param *list[32];
    const int n = dp_module_params(model, list, 32);
    expect_ok(c, dp_module_init(model, 5, &c->err), "dp_module_init");
    for (int i = 0; exact && i < n; ++i) {
        const size_t count = dp_tensor_count(&list[i]->value);
        double *values = case_memory(c, count * sizeof *values);
        const double *source = integers(c, count, 70 + (uint64_t)i);
        for (size_t k = 0; k < count; ++k)
            values[k] = source[k] > 0.0 ? 1.0 : -2.0;
        write_values(c, &list[i]->value, values);
    }
}

static struct dp_tensor make_input(struct context *c, const struct workload *w,
                                   struct dp_slot *slot)
{
    double index[ROWS];
    for (int r = 0; r < ROWS; ++r)
        index[r] = r * 7 % 5 * 111; /* some rows of the table twice */
    if (w->is->table)
        return make_tensor(c, slot, DP_I32, 1, (size_t[]){ROWS}, index);
    return make_matrix(c, slot, ROWS, w->size[0], integers(c, ROWS * w->size[0], 1));
}

static struct result run_model(struct context *c, const struct setting *s)
{
    struct workload w;
    char why[200];
    expect(c, workload_parse(s->name, &w, why, sizeof why) == 0, "%s", why);
    struct dp_group *group = s->k > 0 ? open_group(c, s->k) : open_host_group(c);
    struct dp_module *model = models_open_model(c, &w, s, group);
    struct dp_slot *host = dp_group_host(group);
    struct dp_slot *last = s->far && s->wrapped ? dp_group_slot(group, s->k - 1) : host;
    struct dp_run *run = open_run(c, group);
    struct dp_param *list[32];
    struct result r = {.n = dp_module_params(model, list, 32)};
    fill_params(c, model, s->exact);
    const bool mixed = w.is->table;
    struct dp_slot *first = s->wrapped && s->k > 0 ? dp_group_slot(group, 0) : host;
    /* Only a wrapper takes inputs from anywhere: blocks begins with a plain layer. */
    const bool plain_first = w.is->straight;
    const struct dp_tensor x = make_input(c, &w, mixed ? host : plain_first ? first : last);
    const struct dp_tensor y = forward(c, model, run, &x);
    const size_t width = w.size[w.n_sizes - 1];
    expect_shape(c, "output", &y, 2, (size_t[]){ROWS, width});
    expect_slot(c, "output", &y, first);
    const struct dp_tensor dy = make_matrix(c, y.slot, ROWS, width, integers(c, ROWS * width, 2));
    r.output = read_floats(c, &y);
    (void)backward(c, model, run, &dy);
    for (int i = 0; i < r.n && i < 32; ++i) {
        expect(c, list[i]->has_grad, "parameter %d has no gradient", i);
        expect(c, list[i]->value.slot == (mixed && i == 0 ? host : first), "parameter %d is on %s",
               i, dp_slot_name(list[i]->value.slot));
        r.grad[i] = read_floats(c, &list[i]->grad);
        r.count[i] = dp_tensor_count(&list[i]->grad);
    }
    return r;
}

static void expect_same(struct context *c, const struct result *got, const struct result *want,
                        size_t outputs)
{
    expect(c, got->n == want->n && got->n > 0, "%d parameters, want %d", got->n, want->n);
    expect(c, memcmp(got->output, want->output, outputs * sizeof(float)) == 0, "outputs differ");
    for (int i = 0; i < got->n; ++i) {
        expect(c, got->count[i] == want->count[i] && got->count[i] > 0, "sizes");
        for (size_t k = 0; k < got->count[i]; ++k) {
            expect(c, got->grad[i][k] == want->grad[i][k],
                   "gradient %d, element %zu: %g, unwrapped %g", i, k, (double)got->grad[i][k],
                   (double)want->grad[i][k]);
        }
    }
}

/* With exact data the gradients of every block, also of the table on the host, are those of the
 * unwrapped model, for any number of devices, and without any. */
static void same_as_unwrapped(struct context *c, const char *name, size_t width)
{
    static const int counts[] = {1, 2, 3, 8, 0};
    for (int i = 0; i < 5; ++i) {
        case_release(c);
        case_note(c, "%s K=%d", name, counts[i]);
        const struct setting alone = {name, 0, false, true, false};
        const struct setting wrapped = {name, counts[i], true, true, false};
        const struct result want = run_model(c, &alone), got = run_model(c, &wrapped);
        expect_same(c, &got, &want, ROWS * width);
    }
}

static void blocks(struct context *c)
{
    same_as_unwrapped(c, "blocks", 20);
}

static void mixed(struct context *c)
{
    same_as_unwrapped(c, "mixed", 10);
}

/* Inputs may be anywhere; outputs are on the first device. With the portable kernels the sums of a
 * row have the same terms in the same order in any shard, so the bits are equal. The results of
 * other kernels only have to be finite here. */
static void others(struct context *c)
{
    static const char *const names[] = {"tutorial", "mlp:6,5,4", "cnn", "rnn", "lstm", "capsnet"};
    for (int i = 0; i < 6; ++i) {
        struct workload w;
        char why[200];
        case_release(c);
        case_note(c, "%s", names[i]);
        expect(c, workload_parse(names[i], &w, why, sizeof why) == 0, "%s", why);
        const struct setting alone = {names[i], 0, false, false, false};
        const struct setting wrapped = {names[i], 3, true, false, true};
        const struct result want = run_model(c, &alone), got = run_model(c, &wrapped);
        expect(c, got.n == want.n && got.n > 0, "%d parameters, want %d", got.n, want.n);
        const size_t outputs = ROWS * w.size[w.n_sizes - 1];
        const bool portable = strcmp(c->settings.backend, "cpu-ref") == 0;
        for (size_t k = 0; k < outputs; ++k) {
            const float y = got.output[k];
            expect(c, portable ? y == want.output[k] : y - y == 0.0f,
                   "output %zu: %g, unwrapped %g", k, (double)y, (double)want.output[k]);
        }
    }
}

static const struct test_case cases[] = {
    {"models/blocks", "NEST-01 NEST-02 NEST-05 CPU-01", blocks},
    {"models/mixed", "NEST-07 NEST-09 CPU-01 DEV-04", mixed},
    {"models/others", "DEV-04 OUT-01 COMP-01", others},
};
const struct case_table models_cases = {cases, sizeof cases / sizeof *cases};
