/* nest.c: data_parallel as a part of something larger, and what must not be nested. */
#include "golden.h"
#include "list.h"
#include "probes.h"

#include <string.h>

#define ROWS 10

/* 3 -> 5 -> 4 -> 2, linear layers of small integers with a probe before each. */
struct blocks {
    struct dp_group *group;
    struct dp_slot *slot;
    struct dp_module *linear[3];
    struct probe *probe[3];
    struct dp_module *model;
    struct dp_run *run;
};

/* wrapped: bit b wraps block b over all slots. */
static void open_blocks(struct context *c, struct blocks *b, int k, unsigned wrapped)
{
    static const size_t width[] = {3, 5, 4, 2};
    struct dp_module *block[3];
    b->group = open_group(c, k);
    b->slot = dp_group_slot(b->group, 0);
    for (unsigned i = 0; i < 3; ++i) {
        b->linear[i] = make_linear(c, b->group, width[i], width[i + 1], true);
        for (int p = 0; p < 2; ++p) {
            const struct dp_param *param = param_at(c, b->linear[i], p);
            write_values(c, &param->value,
                         integers(c, dp_tensor_count(&param->value), 100 + 10 * i + (unsigned)p));
        }
        struct dp_module *parts[] = {make_probe(c, b->group, &b->probe[i]), b->linear[i]};
        block[i] = make_sequential(c, b->group, parts, 2);
        if ((wrapped >> i & 1) != 0) {
            block[i] = make_parallel(c, block[i], &(struct dp_parallel_config){0});
        }
    }
    b->model = make_sequential(c, b->group, block, 3);
    move_module(c, b->model, b->slot);
    b->run = open_run(c, b->group);
}

/* The same in double, on plain arrays: all numbers here are integers below 2^24. */
struct truth {
    double out[ROWS * 2], dx[ROWS * 3];
    double weight[3][20], bias[3][5];
};

static void one_layer(const double *x, const double *w, const double *b, size_t d_in, size_t d_out,
                      double *y)
{
    for (size_t r = 0; r < ROWS; ++r) {
        for (size_t o = 0; o < d_out; ++o) {
            y[r * d_out + o] = b[o];
            for (size_t i = 0; i < d_in; ++i) {
                y[r * d_out + o] += w[o * d_in + i] * x[r * d_in + i];
            }
        }
    }
}

static void one_layer_back(const double *x, const double *w, const double *dy, size_t d_in,
                           size_t d_out, double *dx, double *dw, double *db)
{
    for (size_t r = 0; r < ROWS; ++r) {
        for (size_t o = 0; o < d_out; ++o) {
            db[o] += dy[r * d_out + o];
            for (size_t i = 0; i < d_in; ++i) {
                dw[o * d_in + i] += dy[r * d_out + o] * x[r * d_in + i];
                dx[r * d_in + i] += dy[r * d_out + o] * w[o * d_in + i];
            }
        }
    }
}

static const struct truth *find_truth(struct context *c, const double *x, const double *upstream)
{
    static const size_t width[] = {3, 5, 4, 2};
    struct truth *t = case_memory(c, sizeof *t);
    double hidden[2][ROWS * 5] = {{0}}, grad[2][ROWS * 5] = {{0}};
    const double *w[3], *b[3];
    for (unsigned i = 0; i < 3; ++i) {
        w[i] = integers(c, width[i] * width[i + 1], 100 + 10 * i);
        b[i] = integers(c, width[i + 1], 101 + 10 * i);
    }
    one_layer(x, w[0], b[0], 3, 5, hidden[0]);
    one_layer(hidden[0], w[1], b[1], 5, 4, hidden[1]);
    one_layer(hidden[1], w[2], b[2], 4, 2, t->out);
    one_layer_back(hidden[1], w[2], upstream, 4, 2, grad[1], t->weight[2], t->bias[2]);
    one_layer_back(hidden[0], w[1], grad[1], 5, 4, grad[0], t->weight[1], t->bias[1]);
    one_layer_back(x, w[0], grad[0], 3, 5, t->dx, t->weight[0], t->bias[0]);
    return t;
}

/* Any of the three blocks wrapped, for one the middle one as in the tutorial: the same bits as
 * the plain model, wrapped blocks called m times, the others once. */
static void any_block(struct context *c)
{
    for (int k = 1; k <= 4; ++k) {
        for (unsigned wrapped = 0; wrapped < 8; ++wrapped) {
            case_release(c);
            case_note(c, "K=%d wrapped %#x", k, wrapped);
            struct blocks b;
            open_blocks(c, &b, k, wrapped);
            const double *rows = integers(c, ROWS * 3, 1), *up = integers(c, ROWS * 2, 2);
            const struct truth *truth = find_truth(c, rows, up);
            struct dp_tensor x = make_matrix(c, b.slot, ROWS, 3, rows);
            x.needs_grad = true;
            const struct dp_tensor upstream = make_matrix(c, b.slot, ROWS, 2, up);
            const struct dp_tensor y = forward(c, b.model, b.run, &x);
            expect_matrix(c, "output", &y, b.slot, ROWS, 2, truth->out);
            const struct dp_tensor dx = backward(c, b.model, b.run, &upstream);
            expect_matrix(c, "input gradient", &dx, b.slot, ROWS, 3, truth->dx);
            for (unsigned i = 0; i < 3; ++i) {
                expect_grad(c, "weight", param_at(c, b.linear[i], 0), truth->weight[i]);
                expect_grad(c, "bias", param_at(c, b.linear[i], 1), truth->bias[i]);
                const int want = (wrapped >> i & 1) != 0 ? shard_count(ROWS, k) : 1;
                expect(c, probe_forwards(b.probe[i]) == want, "block %u was called %d times", i,
                       probe_forwards(b.probe[i]));
            }
        }
    }
}

/* A first block that stays on the host, a wrapped one behind it. */
static void host_block(struct context *c)
{
    for (int k = 1; k <= 4; ++k) {
        case_release(c);
        case_note(c, "K=%d", k);
        struct golden g;
        golden_open(c, &g, k);
        struct dp_module *first = make_linear(c, g.group, 1, 1, true);
        write_values(c, &param_at(c, first, 0)->value, (double[]){3.0});
        write_values(c, &param_at(c, first, 1)->value, (double[]){-1.0});
        struct dp_module *parts[] = {first, g.wrapper};
        struct dp_module *model = make_sequential(c, g.group, parts, 2);
        struct dp_slot *host = dp_group_host(g.group);
        const struct dp_tensor x = golden_rows(c, host, 10, 1.0);
        const struct dp_tensor upstream = golden_rows(c, g.ids[0], 10, 1.0);
        const struct dp_tensor y = forward(c, model, g.run, &x);
        expect_matrix(c, "output", &y, g.ids[0], 10, 1, sequence(c, 10, 5.0, 6.0));
        const struct dp_tensor dx = backward(c, model, g.run, &upstream);
        expect_matrix(c, "input gradient", &dx, host, 10, 1, sequence(c, 10, 6.0, 6.0));
        expect_grad(c, "host weight", param_at(c, first, 0), (double[]){2.0 * 385.0});
        expect_grad(c, "host bias", param_at(c, first, 1), (double[]){2.0 * 55.0});
        expect(c, param_at(c, first, 0)->grad.slot == host, "the host's gradient moved");
        golden_expect_grads(c, &g, 3.0 * 385.0 - 55.0, 55.0);
    }
}

/* data_parallel inside data_parallel is refused, and the outer one works again without it. */
static void inside_itself(struct context *c)
{
    for (int k = 2; k <= 3; ++k) {
        case_release(c);
        case_note(c, "K=%d", k);
        struct golden g;
        golden_open(c, &g, k);
        struct dp_module *wrapper = NULL;
        struct dp_error err = {0};
        int status = dp_parallel(g.wrapper, &(struct dp_parallel_config){0}, &wrapper, &err);
        if (status == DP_OK) {
            own_module(c, wrapper);
            const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
            struct dp_tensor out[DP_MAX_IO];
            int n_out = 0;
            status = dp_forward(wrapper, g.run, &x, 1, out, &n_out, &err);
        }
        expect_error(c, status, DP_EINVAL, &err, NULL, NULL);
        const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
        (void)forward(c, g.wrapper, g.run, &x);
        (void)backward(c, g.wrapper, g.run, &x);
        golden_expect_grads(c, &g, 385.0, 55.0);
    }
}

static void names(struct context *c)
{
    struct blocks b;
    open_blocks(c, &b, 2, 2);
    static const char *const want[] = {"0.1.weight",      "0.1.bias",   "1.module.1.weight",
                                       "1.module.1.bias", "2.1.weight", "2.1.bias"};
    for (int i = 0; i < 6; ++i) {
        char text[96] = "";
        (void)dp_module_param_name(b.model, i, text, sizeof text);
        expect(c, strcmp(text, want[i]) == 0, "parameter %d is \"%s\", want \"%s\"", i, text,
               want[i]);
    }
}

/* A group without devices: the wrapper calls the module as it is, on the tensors as they are. */
static void no_devices(struct context *c)
{
    struct dp_group *group = open_host_group(c);
    expect(c, dp_group_size(group) == 0, "%d slots", dp_group_size(group));
    struct dp_slot *host = dp_group_host(group);
    struct probe *probe;
    struct dp_module *linear = make_linear(c, group, 1, 1, true);
    write_values(c, &param_at(c, linear, 0)->value, (double[]){2.0});
    write_values(c, &param_at(c, linear, 1)->value, (double[]){1.0});
    struct dp_module *parts[] = {make_probe(c, group, &probe), linear};
    struct dp_module *model = make_sequential(c, group, parts, 2);
    struct dp_module *wrapper = make_parallel(c, model, &(struct dp_parallel_config){0});
    struct dp_run *run = open_run(c, group);
    const struct dp_tensor x = golden_rows(c, host, 10, 1.0);
    const struct dp_tensor y = forward(c, wrapper, run, &x);
    expect_matrix(c, "output", &y, host, 10, 1, sequence(c, 10, 3.0, 2.0));
    expect(c, probe_forwards(probe) == 1, "%d calls", probe_forwards(probe));
    expect(c, probe->visit[0].in_data == x.data, "the input was copied");
    const struct dp_tensor dx = backward(c, wrapper, run, &x);
    expect_matrix(c, "input gradient", &dx, host, 10, 1, sequence(c, 10, 2.0, 2.0));
    expect_grad(c, "weight", param_at(c, linear, 0), (double[]){385.0});
}

static const struct test_case cases[] = {
    {"nest/any-block", "NEST-01 NEST-02 NEST-03 NEST-05 GRAD-03", any_block},
    {"nest/host-block", "NEST-07", host_block},
    {"nest/inside-itself", "NEST-06", inside_itself},
    {"nest/names", "NEST-04", names},
    {"nest/no-devices", "CPU-01 NEST-09", no_devices},
};
const struct case_table nest_cases = {cases, sizeof cases / sizeof cases[0]};
