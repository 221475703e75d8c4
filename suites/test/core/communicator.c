/* communicator.c: the table has a row for each possible communicator. A group takes the
 * communicator that it is given, and the results are the same with each; the error for an
 * impossible one lists those that are possible. */
#include "backend.h"
#include "ddp.h"
#include "list.h"
#include "ranks.h"

#include <math.h>
#include <string.h>

enum { SLOTS = 4, ROWS = 10, WIDE = 7, STEPS = 3, PARAMS = 4 };

/* Every name is there once, default communicators exist, and each kind of device has a backend. */
static void rows(struct context *c)
{
    struct dp_kind_row kind, same;
    struct dp_backend_row backend;
    struct dp_communicator_row comm, other;
    for (int i = 0; dp_kinds(i, &kind); ++i) {
        bool has = false;
        for (int k = 0; dp_backends(k, &backend); ++k)
            has = has || strcmp(backend.kind, kind.name) == 0;
        expect(c, has, "kind %s has no backend", kind.name);
        expect(c, dp_kind_of(kind.name, &same) && same.flags == kind.flags, "kind %s", kind.name);
    }
    for (int i = 0; dp_backends(i, &backend); ++i) {
        bool has = false;
        expect(c, dp_kind_of(backend.kind, &kind) && kind.built >= backend.built,
               "backend %s: kind", backend.name);
        for (int k = 0; dp_communicators(k, &comm); ++k)
            has = has || (strcmp(backend.communicator, comm.name) == 0 &&
                          (comm.needs & ~kind.flags) == 0 && comm.built >= kind.built);
        expect(c, has, "backend %s has no communicator %s", backend.name, backend.communicator);
    }
    for (int i = 0; dp_communicators(i, &comm); ++i)
        for (int k = 0; k < i && dp_communicators(k, &other); ++k)
            expect(c, strcmp(comm.name, other.name) != 0, "two communicators %s", comm.name);
    expect(c, !dp_kinds(-1, &kind) && !dp_backends(-1, &backend) && !dp_communicators(-1, &comm),
           "a row before the first one");
}

static void kinds_of(struct context *c)
{
    static const struct {
        const char *text, *name; /* NULL: of none */
    } table[] = {
        {"virt:4", "virt"},
        {"virt:4+lag", "virt"},
        {"virt+500us", "virt"},
        {"virt", "virt"},
        {"host", "virt"},
        {"cuda:0,1", "cuda"},
        {"cuda:all", "cuda"},
        {"cuda", "cuda"},
        {"cuda:0#1", "cuda"},
        {"", NULL},
        {":", NULL},
        {"vir:4", NULL},
        {"virtual:4", NULL},
        {"host:2", NULL},
        {"CUDA:0", NULL},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
        struct dp_kind_row kind;
        const bool found = dp_kind_of(table[i].text, &kind);
        expect(c, found == (table[i].name != NULL), "'%s' is of %s", table[i].text,
               found ? kind.name : "no kind");
        expect(c, !found || strcmp(kind.name, table[i].name) == 0, "'%s' is of kind %s",
               table[i].text, found ? kind.name : "");
    }
}

/* A composite that has no row is called by the name of the communicator that has its collectives.
 */
static void composites(struct context *c)
{
    static const struct {
        const char *text, *name; /* NULL: none is called so */
    } table[] = {
        {"peer", "peer"},         {"peer-staged", "peer"},      {"nccl", "nccl"},
        {"nccl+peer", "nccl"},    {"nccl+peer-staged", "nccl"}, {"nccl+nccl", "nccl+nccl"},
        {"nccl+nobody's", NULL},  {"nobody's+peer", NULL},      {"nccl+", NULL},
        {"nccl+nccl+peer", NULL}, {"nccl+peer+peer", NULL},     {"+nccl", NULL},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
        struct dp_communicator_row row = {.name = "none"};
        const bool found = dp_communicator_of(table[i].text, &row);
        expect(c, found == (table[i].name != NULL), "'%s' is %s", table[i].text, row.name);
        expect(c, !found || strcmp(row.name, table[i].name) == 0, "'%s' is %s", table[i].text,
               row.name);
        expect(c,
               !found ||
                   ((row.can & DP_COMM_FREE_SUMS) != 0) == (strcmp(row.name, "nccl+nccl") == 0),
               "'%s': sums in any order", table[i].text);
    }
}

/* A combination that cannot exist is refused before a device is opened, and by the group in the
 * same words; the error lists those that can. */
static void communicator_refused(struct context *c)
{
    static const struct {
        const char *communicator, *backend, *devices;
        unsigned can;
        const char *needle, *other; /* NULL: it is allowed */
    } table[] = {
        {"mpi-x", NULL, "virt:2", 0, "unknown communicator 'mpi-x'", "threads, staged"},
        {"", NULL, "virt:2", 0, "unknown communicator ''", "threads, staged"},
        {"peer-staged", NULL, "virt:2", 0, "unknown communicator 'peer-staged'", "staged"},
        {"peer", NULL, "virt:2", 0,
         "'peer' is not for the host and virtual devices: threads, staged", NULL},
        {"peer", NULL, "host", 0, "'peer' is not for", "staged"},
        {"staged", NULL, "virt:2", DP_COMM_RANKS | DP_COMM_OVERLAP,
         "communicator 'staged' reduces after backward, not during it: threads", NULL},
        {NULL, "cpu-ref", "virt:2", DP_COMM_OVERLAP, "communicator 'staged' reduces", ": threads"},
        {"threads", NULL, "virt:2+lag", DP_COMM_WORLD, "does not reach other processes: ", NULL},
        {"threads", "cuda", "virt:2", 0, "backend 'cuda' is not for", "cpu-ref"},
        {"threads", "nobody's", "virt:2", 0, "unknown backend 'nobody's'", "cpu-ref"},
        {"staged", "cpu", "virt:2", DP_COMM_PARALLEL | DP_COMM_RANKS, NULL, NULL},
        {"threads", "cpu-ref", "host", DP_COMM_PARALLEL | DP_COMM_RANKS | DP_COMM_OVERLAP, NULL,
         NULL},
        {"nobody's", NULL, "far:2", 0, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
        case_note(c, "row %zu", i);
        const int status = dp_communicator_check(table[i].communicator, table[i].backend,
                                                 table[i].devices, table[i].can, &c->err);
        if (table[i].needle)
            expect_error(c, status, DP_EINVAL, table[i].needle, table[i].other);
        else
            expect(c, status == 0, "%s", c->err.text);
        expect(c,
               dp_communicator_check(table[i].communicator, table[i].backend, table[i].devices,
                                     table[i].can, NULL) == status,
               "another status without an error record");
        if (!table[i].needle || table[i].can)
            continue;
        const struct dp_group_config config = {.devices = table[i].devices,
                                               .backend = table[i].backend,
                                               .communicator = table[i].communicator};
        struct dp_group *group = NULL;
        expect_error(c, dp_group_open(&config, &group, &c->err), DP_EINVAL, table[i].needle,
                     table[i].other);
        expect(c, group == NULL, "a failing call set the group");
    }
}

/* A communicator for several processes is not chosen by its name alone, and a group of one process
 * does not open it. */
static void together(struct context *c)
{
    struct dp_communicator_row row;
    int n = 0;
    for (int i = 0; dp_communicators(i, &row); ++i) {
        struct dp_group *group = NULL;
        if ((row.can & DP_COMM_TOGETHER) == 0)
            continue;
        ++n;
        const struct dp_group_config config = {.devices = "virt:2", .communicator = row.name};
        const char *needle =
            row.built ? "connects processes that were started together" : "not in this";
        expect_error(c, dp_communicator_check(row.name, NULL, "virt:2", 0, &c->err), DP_EINVAL,
                     needle, "threads, staged");
        expect_error(c, dp_group_open(&config, &group, &c->err), DP_EINVAL, needle, NULL);
        struct dp_error err = {0};
        expect(c,
               dp_communicator_check(row.name, NULL, "virt:2", DP_COMM_WORLD, &err) ==
                   (row.built ? 0 : DP_EINVAL),
               "%s: %s", row.name, err.text);
    }
    expect(c, n == 1, "%d communicators of several processes", n);
}

/* A world of two processes of which this is the first; the other has as many ranks, and never does
 * anything. Or of this one alone. */
struct other_world {
    struct dp_bootstrap bootstrap;
    struct dp_comm_ops comm;
    struct dp_world world;
    int aborts;
};

static int two_processes(void *self)
{
    (void)self;
    return 2;
}

static int same_of_both(void *self, const void *mine, size_t bytes, void *all, struct dp_error *err)
{
    (void)self, (void)err;
    memcpy(all, mine, bytes);
    memcpy((char *)all + bytes, mine, bytes);
    return 0;
}

static void count_abort(void *self)
{
    ++((struct other_world *)self)->aborts;
}

static int broadcast_fails(struct dp_group *group, const struct dp_collective *c, int root,
                           enum dp_phase phase, struct dp_error *err)
{
    (void)group, (void)c, (void)root, (void)phase;
    return dp_fail(err, DP_EFAULT, "broken on purpose");
}

static int open_other(struct context *c, bool two, unsigned can, struct other_world **other,
                      struct dp_group **group)
{
    struct other_world *w = *other = case_memory(c, sizeof *w);
    w->bootstrap = dp_bootstrap_self;
    w->bootstrap.abort = count_abort;
    if (two) {
        w->bootstrap.size = two_processes;
        w->bootstrap.exchange = same_of_both;
    }
    w->comm = (struct dp_comm_ops){.name = "moves-only",
                                   .can = can,
                                   .move = dp_comm_staged.move,
                                   .reduce = dp_comm_staged.reduce,
                                   .broadcast = broadcast_fails};
    w->world = (struct dp_world){&w->bootstrap, w, can ? &w->comm : NULL};
    const struct dp_group_config config = {.devices = "virt:2", .world = &w->world};
    return dp_group_open(&config, group, &c->err);
}

/* DistributedDataParallel over a communicator that has no collectives. */
static void no_ranks(struct context *c)
{
    const struct dp_ddp_config plain = {0};
    struct other_world *other;
    struct dp_group *group = NULL;
    struct dp_ddp *ddp = NULL;
    (void)opened_group(c, open_other(c, false, DP_COMM_PARALLEL, &other, &group), &group);
    struct dp_module *linear = make_linear(c, group, 1, 1, true);
    struct dp_slot **slots = first_slots(c, group, 2);
    move_module(c, linear, slots[0]);
    const int status = dp_ddp_open(linear, slots, 2, &plain, &ddp, &c->err);
    expect(c, ddp == NULL, "a failing call made a wrapper");
    expect_error(c, status, DP_ENOTSUP,
                 "communicator 'moves-only' has no collectives for ranks: threads, staged", NULL);
}

/* A communicator that works in one process only is not used for a part of the world. */
static void unreached(struct context *c)
{
    struct other_world *other;
    struct dp_group *group = NULL;
    expect_error(c, open_other(c, true, 0, &other, &group), DP_ENOTSUP, "does not reach", NULL);
    expect(c, other->aborts == 1, "the other process was told %d times", other->aborts);
}

/* A collective that fails here fails in the other processes, and so do all later ones. */
static void gives_up(struct context *c)
{
    const unsigned can = DP_COMM_PARALLEL | DP_COMM_RANKS | DP_COMM_WORLD;
    struct other_world *other;
    struct dp_group *group = NULL;
    struct dp_tensor tensor[2];
    (void)opened_group(c, open_other(c, true, can, &other, &group), &group);
    expect(c, dp_group_world(group) == 4 && dp_group_first(group) == 0, "a world of %d",
           dp_group_world(group));
    for (int r = 0; r < 2; ++r)
        tensor[r] = make_matrix(c, dp_group_slot(group, r), 2, 2, sequence(c, 4, 1.0, 1.0));
    expect_error(c, dp_broadcast(group, tensor, 0, &c->err), DP_EFAULT, "on purpose", NULL);
    expect(c, other->aborts == 1, "the other process was told %d times", other->aborts);
    expect_error(c, dp_broadcast(group, tensor, 0, &c->err), DP_EFAULT, "has failed before", NULL);
}

/* ---- the same bits with each -------------------------------------------------------------- */

/* The results with one communicator. They are sums of many random floats, so that their order
 * shows. */
struct kept {
    bool there, near; /* near: it is compared within a bound */
    float value[WIDE * WIDE];
};
struct result {
    struct kept out, grad[PARAMS];
    struct kept value[SLOTS][2], mean[SLOTS][2];
};

static void communicator_fill(struct context *c, const struct dp_tensor *tensor, uint64_t seed)
{
    write_floats(c, tensor, randoms(c, dp_tensor_count(tensor), seed));
}

/* Expects the bits of the first communicator. If sums are added in another order, their terms are
 * few and near 1: the bound is a few times the rounding of one, for as many steps as are made. */
static void expect_near(struct context *c, const char *what, const struct dp_tensor *tensor,
                        const float want[])
{
    const size_t n = dp_tensor_count(tensor);
    const float *got = read_floats(c, tensor);
    for (size_t i = 0; i < n; ++i) {
        const double off = fabs((double)got[i] - (double)want[i]);
        expect(c, off <= SLOTS * STEPS * 0x1p-23 * fmax(1, fabs((double)want[i])),
               "%s: element %zu is %.9g, another communicator's is %.9g", what, i, (double)got[i],
               (double)want[i]);
    }
}

static void communicator_keep(struct context *c, const char *what, const struct dp_tensor *tensor,
                              struct kept *kept)
{
    expect(c, dp_tensor_bytes(tensor) <= sizeof kept->value, "%s: too large", what);
    if (kept->there && kept->near)
        expect_near(c, what, tensor, kept->value);
    else if (kept->there)
        expect_bits(c, what, tensor, kept->value);
    else
        memcpy(kept->value, read_floats(c, tensor), dp_tensor_bytes(tensor));
    kept->there = true;
}

static void parallel_step(struct context *c, struct result *result)
{
    struct dp_group *group = open_group(c, SLOTS);
    struct dp_module *model = make_sequential(
        c, group,
        (struct dp_module *[]){make_linear(c, group, WIDE, WIDE, true), make_tanh(c, group),
                               make_linear(c, group, WIDE, 1, true)},
        3);
    move_module(c, model, dp_group_slot(group, 0));
    struct dp_module *wrapper = make_parallel(c, model, &(struct dp_parallel_config){0});
    const struct dp_tensor x =
        make_tensor(c, dp_group_slot(group, 0), DP_F32, 2, (size_t[]){ROWS, WIDE}, NULL);
    struct dp_run *run = open_run(c, group);
    communicator_fill(c, &x, 1);
    for (int i = 0; i < PARAMS; ++i)
        communicator_fill(c, &param_at(c, model, i)->value, 2 + (uint64_t)i);
    const struct dp_tensor out = forward(c, wrapper, run, &x);
    communicator_keep(c, "output", &out, &result->out);
    (void)backward(c, wrapper, run, NULL);
    for (int i = 0; i < PARAMS; ++i)
        communicator_keep(c, "gradient", &param_at(c, model, i)->grad, &result->grad[i]);
}

static void ranks_steps(struct context *c, struct result *result)
{
    struct ranks_batch batch = {.rows = {3, 3, 2, 2}, .g = {0.7, -1.3, 2.9, 0.1}};
    const struct dp_ddp_config config = {.first_bucket_bytes = 4, .bucket_bytes = 4};
    struct ranks ranks;
    for (int r = 0; r < SLOTS; ++r) {
        const float *x = randoms(c, 8, 20 + (uint64_t)r);
        for (int i = 0; i < 8; ++i)
            batch.x[r][i] = (double)x[i];
    }
    ranks_line(c, &ranks, SLOTS, &config);
    for (int step = 0; step < STEPS; ++step) {
        ranks_pass(c, &ranks, &batch);
        if (step + 1 < STEPS)
            ranks_step(c, &ranks, 0.3f, 0.9f);
    }
    for (int r = 0; r < SLOTS; ++r) {
        for (int i = 0; i < 2; ++i) {
            struct dp_ddp_param param = {.has_grad = NULL};
            expect_ok(c, dp_ddp_param(ranks.ddp, r, i, &param, &c->err), "dp_ddp_param");
            communicator_keep(c, "value", &param.value, &result->value[r][i]);
            communicator_keep(c, "mean gradient", &param.grad, &result->mean[r][i]);
        }
    }
}

/* Every communicator of these devices gives the bits of the first. */
static void same_bits(struct context *c)
{
    struct result result = {.out.there = false};
    struct dp_communicator_row row;
    struct dp_kind_row kind;
    int n = 0;
    expect(c, dp_kind_of(c->settings.gpus > 0 ? "cuda" : "virt", &kind), "no kind");
    for (int i = 0; dp_communicators(i, &row); ++i) {
        /* One rank on a GPU, for NCCL. */
        const bool crowded = c->settings.gpus < SLOTS && (row.can & DP_COMM_FREE_ORDER);
        if (!row.built || (row.needs & ~kind.flags) != 0 || crowded ||
            (row.can & DP_COMM_TOGETHER) != 0)
            continue;
        for (int r = 0; r < SLOTS; ++r) {
            for (int k = 0; k < 2; ++k)
                result.value[r][k].near = result.mean[r][k].near =
                    (row.can & DP_COMM_FREE_ORDER) != 0;
        }
        for (int k = 0; k < PARAMS; ++k)
            result.grad[k].near = (row.can & DP_COMM_FREE_SUMS) != 0;
        case_release(c);
        c->settings.communicator = row.name;
        case_note(c, "%s", row.name);
        struct dp_group *group = open_group(c, SLOTS);
        const char *name = dp_group_communicator(group);
        struct dp_communicator_row own;
        expect(c, dp_communicator_of(name, &own) && strcmp(own.name, row.name) == 0,
               "the group has %s", name);
        expect(c, strcmp(dp_group_backend(group), c->settings.backend) == 0, "another backend");
        parallel_step(c, &result);
        ranks_steps(c, &result);
        ++n;
    }
    expect(c, n >= 2, "%d communicators", n);
}

static const struct test_case cases[] = {
    {"communicator/rows", "ERR-07", rows},
    {"communicator/kinds", "ERR-07", kinds_of},
    {"communicator/composites", "ERR-07", composites},
    {"communicator/together", "", together},
    {"communicator/refused", "ERR-07", communicator_refused},
    {"communicator/no-ranks", "ERR-07", no_ranks},
    {"communicator/unreached", "ERR-07", unreached},
    {"communicator/gives-up", "ERR-08", gives_up},
    {"communicator/same-bits", "GRAD-01 DDP-01", same_bits},
};
const struct case_table communicator_cases = {cases, sizeof cases / sizeof cases[0]};
