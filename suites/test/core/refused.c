/* refused.c: calls of dp.h that are refused: the status, what the text names, and that outputs stay
 * as they were. A row of a table is a call. */
#include "list.h"
#include "probes.h"

#include <stdint.h>

enum { SLOTS = 3, HOST = -1, FOREIGN = -2, MEAN = 8 /* with a kind of loss */ };

/* The tensors of the tables: a letter for the shape, a number for the slot. */
enum sample {
    NONE,
    SIX_0,
    TWO_0,
    M_0,
    M_1,
    M_HOST,
    M_FOREIGN,
    WIDE_1,
    TALL_0,
    FLAT_1,
    I32_1,
    ONE_0,
    ONE_1,
    CLASSES_0,
    EMPTY_0,
    NO_CLASSES_0,
    SAMPLES
};

static const struct shape {
    int place;
    enum dp_dtype dtype;
    int ndim;
    size_t dim[2];
} shapes[SAMPLES] = {
    [SIX_0] = {0, DP_F32, 2, {6, 1}},     [TWO_0] = {0, DP_F32, 2, {2, 1}},
    [M_0] = {0, DP_F32, 2, {2, 3}},       [M_1] = {1, DP_F32, 2, {2, 3}},
    [M_HOST] = {HOST, DP_F32, 2, {2, 3}}, [M_FOREIGN] = {FOREIGN, DP_F32, 2, {2, 3}},
    [WIDE_1] = {1, DP_F32, 2, {2, 4}},    [TALL_0] = {0, DP_F32, 2, {3, 2}},
    [FLAT_1] = {1, DP_F32, 1, {3}},       [I32_1] = {1, DP_I32, 2, {2, 3}},
    [ONE_0] = {0, DP_F32, 0, {0}},        [ONE_1] = {1, DP_F32, 0, {0}},
    [CLASSES_0] = {0, DP_I32, 1, {3}},    [EMPTY_0] = {0, DP_F32, 2, {0, 2}},
    [NO_CLASSES_0] = {0, DP_I32, 1, {0}},
};

struct world {
    struct dp_group *group, *foreign;
    struct dp_slot **slots;
    struct dp_run *run;
    struct dp_tensor tensor[SAMPLES];
};

static struct dp_slot *slot_at(const struct world *w, int place)
{
    return place == HOST      ? dp_group_host(w->group)
           : place == FOREIGN ? dp_group_slot(w->foreign, 0)
                              : w->slots[place];
}

static struct world open_world(struct context *c)
{
    struct world w = {.group = open_group(c, SLOTS), .foreign = open_group(c, 1)};
    w.slots = first_slots(c, w.group, SLOTS);
    w.run = open_run(c, w.group);
    for (int i = NONE + 1; i < SAMPLES; ++i)
        w.tensor[i] = make_tensor(c, slot_at(&w, shapes[i].place), shapes[i].dtype, shapes[i].ndim,
                                  shapes[i].dim, sequence(c, 8, 0.0, 1.0));
    return w;
}

/* "@1" in a table is the name of slot 1. */
static const char *words(const struct world *w, const char *text)
{
    return text && text[0] == '@' ? dp_slot_name(w->slots[text[1] - '0']) : text;
}

static void scattered(struct context *c)
{
    static const struct {
        enum sample input;
        int n, dim;
        const char *needle;
        bool cut; /* into these sizes */
        size_t sizes[SLOTS];
    } rows[] = {
        {SIX_0, 2, 0, "6", true, {2, 3}},         {SIX_0, 2, 0, "6", true, {4, 4}},
        {SIX_0, 2, 0, NULL, true, {SIZE_MAX, 7}}, /* adds up to 6 modulo 2^64 */
        {SIX_0, 3, 0, "6", true, {0, 0, 0}},      {SIX_0, 2, 2, "2", false, {0}},
        {SIX_0, 2, -3, "-3", false, {0}},         {ONE_0, 2, 0, NULL, false, {0}},
        {ONE_0, 2, -1, NULL, false, {0}},         {SIX_0, 0, 0, NULL, false, {0}},
    };
    const struct world w = open_world(c);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct dp_tensor shards[SLOTS];
        int n = -1;
        case_note(c, "row %zu", i);
        const int status =
            dp_scatter(w.run, &w.tensor[rows[i].input], w.slots, rows[i].n, rows[i].dim,
                       rows[i].cut ? rows[i].sizes : NULL, shards, &n, &c->err);
        expect_error(c, status, DP_EINVAL, rows[i].needle, NULL);
        expect(c, n == -1, "the number of shards was set to %d", n);
    }
}

static void gathered(struct context *c)
{
    static const struct {
        enum sample part[3];
        int n, dim, output, status;
        const char *needle, *other;
    } rows[] = {
        {{M_0, M_0, WIDE_1}, 3, 0, 0, DP_ESHAPE, "(2, 3)", "(2, 4)"},
        {{M_0, M_0, WIDE_1}, 3, 0, 0, DP_ESHAPE, "part 2", NULL},
        {{M_0, M_0, FLAT_1}, 3, 0, 0, DP_ESHAPE, "(2, 3)", "(3)"},
        {{M_0, M_0, ONE_1}, 3, 0, 0, DP_ESHAPE, NULL, NULL},
        {{ONE_1, M_0, M_0}, 3, 0, 0, DP_ESHAPE, NULL, NULL},
        {{M_0, I32_1, M_0}, 3, 0, 0, DP_ESHAPE, NULL, NULL},
        {{M_0}, 0, 0, 0, DP_EINVAL, NULL, NULL},
        {{M_0}, 1, 2, 0, DP_EINVAL, "2", NULL},
        {{M_0}, 1, -3, 0, DP_EINVAL, "-3", NULL},
        {{ONE_0, ONE_1}, 2, 1, 0, DP_EINVAL, NULL, NULL},
        {{ONE_0, ONE_1}, 2, -1, 0, DP_EINVAL, NULL, NULL},
        {{M_HOST}, 1, 0, 0, DP_EDEVICE, "host", NULL},
        {{M_HOST, M_0, M_1}, 3, 0, 0, DP_EDEVICE, "host", NULL},
        {{M_0, M_HOST, M_1}, 3, 0, 0, DP_EDEVICE, "host", NULL},
        {{M_0, M_1, M_HOST}, 3, 0, 0, DP_EDEVICE, "host", NULL},
        {{M_FOREIGN}, 1, 0, 0, DP_EINVAL, "of another group", NULL},
        {{M_0}, 1, 0, FOREIGN, DP_EINVAL, "of another group", NULL},
    };
    const struct world w = open_world(c);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct dp_tensor parts[3], out = {.ndim = -7};
        case_note(c, "row %zu", i);
        for (int p = 0; p < 3; ++p)
            parts[p] = w.tensor[rows[i].part[p]];
        const int status = dp_gather(w.run, parts, rows[i].n, rows[i].dim,
                                     slot_at(&w, rows[i].output), &out, &c->err);
        expect_error(c, status, rows[i].status, rows[i].needle, rows[i].other);
        expect(c, out.ndim == -7 && !out.slot, "the output was set");
    }
}

/* A sum is made where one of its terms is, never from terms on the host. */
static void summed(struct context *c)
{
    static const struct {
        enum sample term[2];
        int terms, output, status;
        const char *needle, *other;
    } rows[] = {
        {{M_0, M_1}, 2, 2, DP_EDEVICE, "holds no list", "@2"},
        {{M_0, M_1}, 2, HOST, DP_EDEVICE, "holds no list", "host"},
        {{M_0, M_HOST}, 2, 0, DP_EDEVICE, "list 1", "on the host"},
        {{M_0, WIDE_1}, 2, 0, DP_ESHAPE, "list 1", "(2, 4)"},
        {{M_0, I32_1}, 2, 0, DP_ESHAPE, NULL, NULL},
    };
    const struct world w = open_world(c);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const struct dp_tensor terms[] = {w.tensor[rows[i].term[0]], w.tensor[rows[i].term[1]]};
        struct dp_tensor sum = {.ndim = -7};
        case_note(c, "row %zu", i);
        const int status = dp_reduce_add_coalesced(w.run, terms, 1, rows[i].terms,
                                                   slot_at(&w, rows[i].output), 100, &sum, &c->err);
        expect_error(c, status, rows[i].status, rows[i].needle, words(&w, rows[i].other));
        expect(c, sum.ndim == -7, "the sum was set");
    }
}

/* Tensors that are broadcast lie on the first slot. */
static void refused_broadcast(struct context *c)
{
    const struct world w = open_world(c);
    const struct dp_tensor src[] = {w.tensor[M_1], w.tensor[M_0], w.tensor[M_1]};
    struct dp_tensor copies[2 * SLOTS];
    expect_error(c, dp_broadcast_coalesced(w.run, src, 1, w.slots, SLOTS, 100, copies, &c->err),
                 DP_EINVAL, words(&w, "@0"), words(&w, "@1"));
    expect_error(c, dp_broadcast_coalesced(w.run, src + 1, 2, w.slots, SLOTS, 100, copies, &c->err),
                 DP_EINVAL, NULL, NULL);
    expect_ok(c, dp_broadcast_coalesced(w.run, NULL, 0, w.slots, SLOTS, 100, copies, &c->err),
              "a broadcast of nothing");
}

/* ---- forwards ---------------------------------------------------------------------------- */

/* The openers of the modules of the table; `how` is theirs to explain. */

static struct dp_module *on_slot_0(struct context *c, const struct world *w, int how)
{
    struct dp_module *linear = make_linear(c, w->group, 3, 1, how != 0);
    move_module(c, linear, w->slots[0]);
    return linear;
}

static struct dp_module *loss_of(struct context *c, const struct world *w, int how)
{
    return make_loss(c, w->group, (enum dp_loss_kind)(how % MEAN), 1.0f, how >= MEAN);
}

static struct dp_module *refused_wrap(struct context *c, struct dp_module *module, int dim)
{
    return make_parallel(c, module, &(struct dp_parallel_config){.dim = dim});
}

/* how: where the layer is; a counter after it is on slot 1. */
static struct dp_module *misplaced(struct context *c, const struct world *w, int how)
{
    struct dp_module *parts[] = {make_linear(c, w->group, 1, 1, true), make_counter(c, w->group)};
    move_module(c, parts[0], slot_at(w, how));
    move_module(c, parts[1], slot_at(w, how == 0 ? 1 : 0));
    return refused_wrap(c, make_sequential(c, w->group, parts, 2), 0);
}

/* how: the dimension of the batch. */
static struct dp_module *passed_on(struct context *c, const struct world *w, int how)
{
    struct probe *probe;
    return refused_wrap(c, make_probe(c, w->group, &probe), how);
}

static struct dp_module *scalars_of(struct context *c, const struct world *w, int how)
{
    return refused_wrap(c, make_loss(c, w->group, DP_LOSS_SUM, 1.0f, false), how);
}

static struct dp_module *products(struct context *c, const struct world *w, int how)
{
    return refused_wrap(c, make_multiply(c, w->group), how);
}

/* A parameter that is added to a module after it was wrapped exists in no replica. */
static struct dp_module *added_later(struct context *c, const struct world *w, int how)
{
    struct dp_module *linear = make_linear(c, w->group, 1, 1, true),
                     *wrapper = refused_wrap(c, linear, how);
    struct dp_param *later = NULL;
    expect_ok(c, dp_module_add_param(linear, "later", DP_F32, 1, (size_t[]){2}, &later, &c->err),
              "dp_module_add_param");
    move_module(c, linear, w->slots[0]);
    return wrapper;
}

static struct dp_module *wrapped_twice(struct context *c, const struct world *w, int how)
{
    struct dp_module *linear = make_linear(c, w->group, 1, 1, true);
    move_module(c, linear, w->slots[0]);
    return refused_wrap(c, refused_wrap(c, linear, how), how);
}

/* A replica must not start parallel work; this module does. */
static int nested_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                          int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    (void)module;
    (void)n_in;
    const struct dp_tensor parts[2] = {in[0], in[0]};
    *n_out = 1;
    return dp_gather(run, parts, 2, 0, in[0].slot, &out[0], err);
}

static struct dp_module *parallel_work(struct context *c, const struct world *w, int how)
{
    static const struct dp_module_ops ops = {"nested", nested_forward, NULL, NULL};
    return refused_wrap(c, make_module(c, w->group, &ops, NULL), how);
}

static void forwarded(struct context *c)
{
    static const struct {
        struct dp_module *(*open)(struct context *c, const struct world *w, int how);
        int how;
        enum sample in[2];
        int status;
        const char *needle, *other;
    } rows[] = {
        {on_slot_0, 0, {M_1}, DP_EDEVICE, "@0", "@1"},
        {loss_of, DP_LOSS_MSE, {M_0, M_1}, DP_EDEVICE, "@0", "@1"},
        {loss_of, DP_LOSS_MSE, {TALL_0, M_0}, DP_ESHAPE, "(3, 2)", "(2, 3)"},
        {loss_of, DP_LOSS_MSE + MEAN, {TALL_0, M_0}, DP_ESHAPE, "(3, 2)", "(2, 3)"},
        {loss_of, DP_LOSS_SUM, {TALL_0, M_0}, DP_ESHAPE, NULL, NULL},
        {loss_of, DP_LOSS_SUM + MEAN, {TALL_0, M_0}, DP_ESHAPE, NULL, NULL},
        {loss_of, DP_LOSS_XENT, {M_0, CLASSES_0}, DP_ESHAPE, NULL, NULL},
        {loss_of, DP_LOSS_XENT + MEAN, {M_0, CLASSES_0}, DP_ESHAPE, NULL, NULL},
        {loss_of, DP_LOSS_MSE + MEAN, {EMPTY_0, EMPTY_0}, DP_EINVAL, NULL, NULL},
        {loss_of, DP_LOSS_SUM + MEAN, {EMPTY_0}, DP_EINVAL, NULL, NULL},
        {loss_of, DP_LOSS_XENT + MEAN, {EMPTY_0, NO_CLASSES_0}, DP_EINVAL, NULL, NULL},
        {misplaced, 0, {SIX_0}, DP_EDEVICE, "@0", "@1"},
        {misplaced, 1, {SIX_0}, DP_EDEVICE, "@0", "@1"},
        {misplaced, 2, {SIX_0}, DP_EDEVICE, "@0", "@2"},
        {misplaced, HOST, {SIX_0}, DP_EDEVICE, "@0", "host"},
        {passed_on, 2, {M_0}, DP_EINVAL, NULL, NULL},
        {passed_on, -3, {M_0}, DP_EINVAL, NULL, NULL},
        {passed_on, 5, {M_0}, DP_EINVAL, NULL, NULL},
        {passed_on, 1, {FLAT_1}, DP_EINVAL, NULL, NULL},
        {passed_on, -2, {FLAT_1}, DP_EINVAL, NULL, NULL},
        {passed_on, 0, {ONE_0}, DP_EINVAL, NULL, NULL},
        {passed_on, -1, {ONE_0}, DP_EINVAL, NULL, NULL},
        {scalars_of, -1, {M_0}, DP_EINVAL, NULL, NULL},
        {scalars_of, 1, {M_0}, DP_EINVAL, NULL, NULL},
        {scalars_of, -2, {M_0}, DP_EINVAL, NULL, NULL},
        {products, 0, {SIX_0, TWO_0}, DP_ESHAPE, NULL, NULL},
        {added_later, 0, {SIX_0}, DP_EINVAL, "after it was wrapped", NULL},
        {wrapped_twice, 0, {SIX_0}, DP_EINVAL, NULL, NULL},
        {parallel_work, 0, {SIX_0}, DP_EINVAL, "replica 0", "inside a replica"},
    };
    const struct world w = open_world(c);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const struct dp_tensor in[] = {w.tensor[rows[i].in[0]], w.tensor[rows[i].in[1]]};
        struct dp_tensor out[DP_MAX_IO];
        int n = -1;
        case_note(c, "row %zu", i);
        const int status = dp_forward(rows[i].open(c, &w, rows[i].how), w.run, in,
                                      rows[i].in[1] == NONE ? 1 : 2, out, &n, &c->err);
        expect_error(c, status, rows[i].status, words(&w, rows[i].needle),
                     words(&w, rows[i].other));
        dp_run_reset(w.run);
    }
}

/* ---- slots ------------------------------------------------------------------------------- */

static void listed(struct context *c)
{
    const struct world w = open_world(c);
    struct dp_slot *other = slot_at(&w, FOREIGN), **slots = w.slots;
    struct dp_module *linear = make_linear(c, w.group, 1, 1, true);
    const struct {
        struct dp_slot *ids[3];
        int n;
        struct dp_slot *output;
        const char *needle;
    } rows[] = {
        {{slots[2], slots[0], slots[2]}, 3, NULL, dp_slot_name(slots[2])},
        {{slots[2], other}, 2, NULL, NULL},
        {{slots[2], slots[0]}, 2, other, NULL},
        {{slots[2], NULL}, 2, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const struct dp_parallel_config config = {
            .device_ids = rows[i].ids, .n_device_ids = rows[i].n, .output_device = rows[i].output};
        struct dp_module *wrapper = NULL;
        case_note(c, "row %zu", i);
        const int status = dp_parallel(linear, &config, &wrapper, &c->err);
        dp_module_close(wrapper);
        expect_error(c, status, DP_EINVAL, rows[i].needle, NULL);
    }
}

/* The function form does not move the module, and neither do replicas. */
static void not_moved(struct context *c)
{
    static const int places[] = {HOST, 2};
    const struct world w = open_world(c);
    struct dp_module *linear = make_linear(c, w.group, 1, 1, true);
    for (int n = 1; n <= SLOTS; ++n) {
        for (int i = 0; i < 2; ++i) {
            struct dp_tensor out[DP_MAX_IO];
            struct dp_module *call = NULL;
            struct dp_replicas *replicas = NULL;
            int n_out = 0;
            case_note(c, "K=%d on %d", n, places[i]);
            move_module(c, linear, slot_at(&w, places[i]));
            const char *where = places[i] == HOST ? "host" : dp_slot_name(w.slots[2]);
            int status = dp_data_parallel(linear, w.run, w.slots, n, NULL, 0, &w.tensor[SIX_0], 1,
                                          out, &n_out, &call, &c->err);
            dp_module_close(call);
            expect_error(c, status, DP_EDEVICE, words(&w, "@0"), where);
            status = dp_replicas_open(linear, w.slots, n, &replicas, &c->err);
            if (status == DP_OK)
                status = dp_replicate(replicas, n, &c->err);
            dp_replicas_close(replicas);
            expect_error(c, status, DP_EDEVICE, words(&w, "@0"), where);
            expect_slot(c, "weight", &param_at(c, linear, 0)->value, slot_at(&w, places[i]));
        }
    }
}

/* Slots and runs of another group are refused, not misread. */
static void other_group(struct context *c)
{
    const struct world w = open_world(c);
    const struct dp_tensor *mine = &w.tensor[M_0], *theirs = &w.tensor[M_FOREIGN];
    struct dp_module *linear = make_linear(c, w.group, 3, 1, true);
    struct dp_slot *slots[2] = {w.slots[0], slot_at(&w, FOREIGN)};
    struct dp_replicas *replicas = NULL;
    struct dp_replicas *away =
        open_replicas(c, make_linear(c, w.foreign, 3, 1, true), &slots[1], 1);
    struct dp_tensor out[2][DP_MAX_IO];
    struct dp_call calls[2] = {{linear, w.run, mine, 1, out[0], 0},
                               {linear, dp_replicas_run(away, 0), mine, 1, out[1], 0}};
    struct dp_error err[4] = {{0}};
    const int status[4] = {
        dp_tensor_copy(mine, theirs, &err[0]), dp_tensor_copy(theirs, mine, &err[1]),
        dp_replicas_open(linear, slots, 2, &replicas, &err[2]), dp_apply(calls, 2, &err[3])};
    dp_replicas_close(replicas);
    for (int i = 0; i < 4; ++i)
        expect_error_of(c, status[i], DP_EINVAL, &err[i], "of another group", NULL);
}

static const struct test_case cases[] = {
    {"refused/scattered", "SPLIT-07 SPLIT-09 SPLIT-10", scattered},
    {"refused/gathered", "GATH-03 GATH-07 GATH-09 ERR-01 ERR-03", gathered},
    {"refused/summed", "GRAD-15 ERR-05", summed},
    {"refused/broadcast", "REPL-15 REPL-17 REPL-18", refused_broadcast},
    {"refused/forwarded", "DEV-01 DIM-04 DIM-06 STRUCT-05 OUT-05 LOSS-01 NEST-06", forwarded},
    {"refused/listed", "DEV-07 ERR-07", listed},
    {"refused/not-moved", "COMP-06 DEV-01 DEV-09", not_moved},
    {"refused/other-group", "ERR-01", other_group},
};
const struct case_table refused_cases = {cases, sizeof cases / sizeof cases[0]};
