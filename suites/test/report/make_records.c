/* make_records.c: writes record files for the tests of `lockstep report`.
 *
 *   make_records KIND FILE [FACTOR]      KIND is one of kinds[] below; all steps take FACTOR times
 *                                        as long
 *
 * Times follow a formula, not a clock: these are shapes of files, not results. */
#include "plan/plan.h"
#include "record/record.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOSTILE "<script>alert('x')</script>\"`touch pwned`$(touch pwned),|&amp;\t\n\x01 @_^{}%s\\n"
/* Text that makes links and mentions of Markdown, and characters that cannot be seen. */
#define LINKS                                                                                      \
    " https://evil.example www.evil.example @victim #12 [x](y) a\u202eb\u200bc\u00add\ufeff"       \
    "e\U000e0041f\u061c"

/* A file of records has these peculiarities. */
enum {
    HOSTILE_NAMES = 1 << 0,
    FAILING = 1 << 1,
    ALL_FAILING = 1 << 2,
    NO_CELLS = 1 << 3,
    SIMULATED = 1 << 4,
    WIDE = 1 << 5,
    UNBOUND = 1 << 6,
    PLAIN = 1 << 7,
    WEAK = 1 << 8,
    ONE_SLOW = 1 << 9, /* one of the devices: the others take 0.9 of its backward */
    WAITING = 1 << 10, /* for it: they have 0.35 of its forward and backward, then wait in reduce */
    SMALL = 1 << 11,   /* two batches, on 1 and 2 devices */
    BY_PART =
        1 << 12, /* three, the second of shards that differ; with steps without communication */
    MACHINE = 1 << 13,   /* with the parts of the machine */
    TOKENS = 1 << 14,    /* of a language model, and with memory */
    GPUS = 1 << 15,      /* on GPUs, which do not tell the time in matrix products */
    LAME = 1 << 16,      /* its device 1: 5 % slower products; its copies take twice as long */
    ONE_NOISY = 1 << 17, /* cell: half of its launches take 1.3 times as long */
    ALIKE = 1 << 18,     /* launches of one block, as those of all small files */
};

struct kind {
    const char *name;
    int launches, is;
    const char *run_id;
    const char *fault; /* of its device list: such cells fail, with right results */
    size_t steps;      /* after the warm-up; 0: STEPS */
    double factor;     /* of all steps; 0: 1 */
    double slow;       /* steps on two devices take so many times as long; 0: 1 */
    size_t grid;       /* number of workloads, each with 64 batches on 1 to 8 devices and of the
                        * plain program */
    size_t first;      /* for a grid: workloads that other files have */
    const char *node;
};

static const struct kind kinds[] = {
    {.name = "good", 1, 0},
    {.name = "good-again", 1, 0, "feedface00000002"},
    {.name = "unbound", 1, UNBOUND, "feedface00000004"},
    {.name = "launches", 3, 0},
    {.name = "six", 6, PLAIN},
    {.name = "six-alike", 6, PLAIN | ALIKE},
    {.name = "flaky", 6, PLAIN | FAILING},
    {.name = "one-slow", 8, PLAIN | ONE_SLOW},
    {.name = "one-noisy", 8, PLAIN | ONE_SLOW | ONE_NOISY},
    {.name = "one-third", 8, PLAIN | ONE_SLOW | WAITING},
    {.name = "weak", 3, PLAIN | WEAK},
    {.name = "grid1152", 1, PLAIN, .grid = 2},
    {.name = "grid2304", 12, PLAIN, .grid = 4},
    {.name = "grid4608", 1, PLAIN, .grid = 8},
    {.name = "grid4608-more", 1, PLAIN, "feedface00000021", .grid = 8, .first = 8},
    {.name = "grid1152-more", 1, PLAIN, "feedface00000022", .grid = 2, .first = 16},
    {.name = "old", 8, PLAIN | SMALL},
    {.name = "new", 8, PLAIN | SMALL, "feedface00000012"},
    {.name = "slower", 8, PLAIN | SMALL, "feedface00000013", .slow = 1.12},
    {.name = "little-slower", 8, PLAIN | SMALL, "feedface00000014", .slow = 1.045},
    {.name = "beyond", 8, PLAIN | SMALL, "feedface00000051", .slow = 0.15},
    {.name = "beyond-once", 1, PLAIN | SMALL, "feedface00000052", .slow = 0.25},
    {.name = "few-steps", 8, PLAIN | SMALL, "feedface00000015", .steps = 24},
    {.name = "fewest-steps", 8, PLAIN | SMALL, "feedface00000016", .steps = 6},
    {.name = "three", 3, PLAIN | SMALL, "feedface00000017"},
    {.name = "four", 4, PLAIN | SMALL, "feedface00000018"},
    {.name = "parts", 8, PLAIN | BY_PART, "feedface00000019"},
    {.name = "machine", 8, PLAIN | SMALL | MACHINE, "feedface00000031"},
    {.name = "machine-lame", 8, PLAIN | SMALL | MACHINE | LAME, "feedface00000032"},
    {.name = "machine-slowed",
     8,
     SMALL | MACHINE | LAME,
     "feedface00000033",
     .fault = "+fault:slow@1/1/5"},
    {.name = "machine-flipped",
     8,
     SMALL | MACHINE | LAME,
     "feedface00000034",
     .fault = "+fault:flip@1/1"},
    {.name = "tokens", 8, PLAIN | SMALL | TOKENS, "feedface00000041"},
    {.name = "gpus", 8, PLAIN | SMALL | TOKENS | GPUS, "feedface00000042"},
    {.name = "gpus-machine", 8, PLAIN | SMALL | MACHINE | TOKENS | GPUS, "feedface00000043"},
    {.name = "hostile", 1, HOSTILE_NAMES | FAILING},
    {.name = "failing", 1, FAILING},
    {.name = "all-failing", 1, FAILING | ALL_FAILING},
    {.name = "no-cells", 0, NO_CELLS},
    {.name = "simulated", 1, SIMULATED},
    {.name = "wide", 1, WIDE},
    {.name = "wide-again", 2, WIDE},
    {.name = "other-machine", 1, 0, "feedface00000003", .node = "0123456789abcdef"},
};

static const size_t batches[] = {10, 30, 32, 64, 128, 256, 512, 1024, 2048, 4096};
static const size_t n_batches = sizeof batches / sizeof batches[0];

enum { GRID_BATCHES = 64, GRID_COUNTS = 8, STEPS = 40, WARMUP = 3, PARTS = 20 };

enum { MOST_DEVICES = 11 }; /* numbers of devices in one file */

struct model {
    const char *workload;
    double fixed_ns, row_ns, per_device_ns;
    unsigned matmul_percent;
};
static const struct model models[] = {{"mlp:1024,1024,1024,1024", 2e5, 60e3, 8e5, 54},
                                      {"tutorial", 2.5e3, 12.0, 2.4e3, 10}};
static const struct model of_tokens[] = {{"gpt-small", 2e5, 50e6, 8e5, 80},
                                         {"tutorial", 2.5e3, 12.0, 2.4e3, 10}};

static const struct model *model_of(const struct kind *kind, size_t i)
{
    return (kind->is & TOKENS) ? &of_tokens[i] : &models[i];
}

static size_t steps_of(const struct kind *kind)
{
    return kind->steps > 0 ? kind->steps : STEPS;
}

static size_t batches_of(const struct kind *kind)
{
    return (kind->is & SMALL) ? 2 : (kind->is & BY_PART) ? 3 : n_batches;
}

static size_t batch_of(const struct kind *kind, size_t i)
{
    return (kind->is & BY_PART) ? (const size_t[]){5, 9, 10}[i] : batches[i];
}

static int devices_of(const struct kind *kind, int list[MOST_DEVICES])
{
    static const int few[] = {1, 2, 3, 8},
                     many[MOST_DEVICES] = {1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64};
    int n = (kind->is & WIDE) ? MOST_DEVICES : (kind->is & (SMALL | BY_PART)) ? 2 : 4;

    memcpy(list, (kind->is & WIDE) ? many : few, (size_t)n * sizeof list[0]);
    return n;
}

/* Fills the options of the sweep that would have written it; a workload more is not possible. */
static int fill_plan(const struct kind *kind, struct plan_options *plan)
{
    int devices[MOST_DEVICES];
    char name[96], why[200];
    int status = 0;

    *plan = (struct plan_options){
        .backend = "cpu",
        .mode = {[CELL_DP] = true, [CELL_PLAIN] = (kind->is & PLAIN) != 0},
        .weak = (kind->is & WEAK) != 0,
        .launches = kind->launches > 0 ? (size_t)kind->launches : 1,
        .seed = 7,
        .has_seed = true,
        .bind = !(kind->is & UNBOUND),
        .limits = {.seconds = 1, .min_steps = steps_of(kind), .max_steps = steps_of(kind)}};
    snprintf(plan->devices, sizeof plan->devices, "virt:%d%s", (kind->is & WIDE) ? 64 : 8,
             kind->fault ? kind->fault : "");
    if (kind->is & GPUS) {
        snprintf(plan->devices, sizeof plan->devices, "cuda:0-7");
        snprintf(plan->backend, sizeof plan->backend, "cuda");
    }
    plan->n_counts = kind->grid ? GRID_COUNTS : (size_t)devices_of(kind, devices);
    for (size_t i = 0; i < plan->n_counts; ++i)
        plan->count[i] = kind->grid ? i + 1 : (size_t)devices[i];
    plan->n_batches = kind->grid ? GRID_BATCHES : batches_of(kind);
    for (size_t i = 0; i < plan->n_batches; ++i)
        plan->batch[i] = kind->grid ? i + 1 : batch_of(kind, i);
    plan->n_workloads = kind->grid ? kind->grid : 2;
    for (size_t i = 0; i < plan->n_workloads; ++i) {
        snprintf(name, sizeof name, "mlp:%zu,8", kind->first + i + 1);
        status |= workload_parse(kind->grid ? name : model_of(kind, i)->workload,
                                 &plan->workload[i], why, sizeof why);
    }
    return status;
}

static void fill_gpus(struct record_run *run)
{
    snprintf(run->backend, sizeof run->backend, "cuda");
    snprintf(run->communicator, sizeof run->communicator, "peer");
    snprintf(run->gpu_software, sizeof run->gpu_software, "driver 12.4, runtime 12.4, cuBLAS 12.4");
    for (int i = 0; i < run->n_slots; ++i) {
        run->slot[i] = (struct record_slot){.kind = "cuda", .model = "Example GPU", .bound = true};
        snprintf(run->slot[i].name, sizeof run->slot[i].name, "cuda:%d", i);
        snprintf(run->slot[i].bus, sizeof run->slot[i].bus, "0000:%c0:00.0", "01234567"[i % 8]);
    }
}

static int fill_run(const struct kind *kind, const struct plan_options *plan,
                    struct record_run *run)
{
    struct text_error why;

    *run = (struct record_run){.run_id = "feedface00000001",
                               .created_utc = "2026-11-21T08:00:00Z",
                               .seed = 7,
                               .program_version = "0.1.0",
                               .git_sha = "3f2a9c1d5b7e",
                               .compiler = "gcc 12.2.0",
                               .cflags = "-O2",
                               .build_type = "Release",
                               .kernel = "Linux 6.1",
                               .libc = "glibc 2.36",
                               .cpu_model = "Example CPU 3000 @ 2.50GHz",
                               .governor = "performance",
                               .node_hash = "00000000000000aa",
                               .hwloc_version = "2.9.0",
                               .blas = "OpenBLAS 0.3.21",
                               .packages = 1,
                               .numa_nodes = 1,
                               .cores = 4,
                               .pus = 8,
                               .usable_pus = 8,
                               .mem_bytes = (uint64_t)16 << 30,
                               .load_avg = {0.1, 0.2, 0.3},
                               .memlock_bytes = 8388608,
                               .shm_bytes = 1073741824,
                               .numa_balancing = 0,
                               .timer_tick_ns = 1,
                               .timer_overhead_ns = 25,
                               .clock = "CLOCK_MONOTONIC_RAW",
                               .sync_method = "barrier before each step",
                               .rank_reduction = "slowest replica of each step",
                               .backend = "cpu",
                               .communicator = "threads",
                               .source = "measured",
                               .planned = plan_cells(plan),
                               .launches = (int)plan->launches,
                               .n_slots = (kind->is & WIDE) ? 64 : 8};
    snprintf(run->scaling, sizeof run->scaling, plan->weak ? "weak" : "strong");
    snprintf(run->devices, sizeof run->devices, "%s", plan->devices);
    if (kind->run_id)
        snprintf(run->run_id, sizeof run->run_id, "%s", kind->run_id);
    if (kind->node)
        snprintf(run->node_hash, sizeof run->node_hash, "%s", kind->node);
    for (int i = 0; i < run->n_slots; ++i) {
        run->slot[i] = (struct record_slot){.kind = "virt", .bound = !(kind->is & UNBOUND)};
        snprintf(run->slot[i].name, sizeof run->slot[i].name, "virt:%d", i);
    }
    if (kind->is & GPUS)
        fill_gpus(run);
    if (kind->is & SIMULATED)
        snprintf(run->source, sizeof run->source, "simulated");
    if (kind->is & HOSTILE_NAMES) {
        snprintf(run->cpu_model, sizeof run->cpu_model, "%s", HOSTILE);
        snprintf(run->blas, sizeof run->blas, "%s", HOSTILE);
        snprintf(run->compiler, sizeof run->compiler, "%s", HOSTILE);
    }
    return plan_command(plan, run->command, sizeof run->command, &why);
}

static void fill_key(const struct kind *kind, const struct model *model, int devices, size_t batch,
                     struct record_key *key)
{
    *key = (struct record_key){.mode = "dp",
                               .n_devices = devices,
                               .global_batch = batch,
                               .dtype = "f32",
                               .backend = "cpu",
                               .communicator = "threads"};
    snprintf(key->workload, sizeof key->workload, "%s", model->workload);
    snprintf(key->devices, sizeof key->devices, "virt:%d", devices);
    if (kind->is & GPUS) {
        snprintf(key->devices, sizeof key->devices, devices > 1 ? "cuda:0-%d" : "cuda:0",
                 devices - 1);
        snprintf(key->backend, sizeof key->backend, "cuda");
        snprintf(key->communicator, sizeof key->communicator, "peer");
    }
}

static const enum record_phase of_wrapper[] = {RECORD_SCATTER, RECORD_REPLICATE, RECORD_GATHER,
                                               RECORD_REDUCE};

/* Returns the part of a step that a phase of a replica takes, in percent. */
static uint64_t percent_of(const struct kind *kind, int phase, int replica)
{
    const bool waits = (kind->is & WAITING) && replica != 1;
    const uint64_t backward = waits ? 14 : (kind->is & ONE_SLOW) && replica != 1 ? 45 : 50;

    if (phase == RECORD_REDUCE && waits)
        return (uint64_t)(3 + phase) + 50 - backward;
    return phase == RECORD_BACKWARD ? backward : (uint64_t)(3 + phase);
}

/* A number that looks random. */
static size_t mixed(size_t x)
{
    x = (x ^ 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    return x >> 40;
}

/* Makes steps that scatter by a fixed pattern; the first three are slower: warm-up. */
static int fill_steps(const struct kind *kind, const struct model *model, size_t n_samples,
                      struct record_cell *cell)
{
    int devices = cell->key.n_devices;
    bool plain = strcmp(cell->key.mode, "plain") == 0;
    size_t shard = (cell->key.global_batch + (size_t)devices - 1) / (size_t)devices;
    double cores = devices > 4 ? (double)devices / 4.0 : 1.0;
    double step = model->fixed_ns + model->row_ns * (double)shard * cores +
                  model->per_device_ns * (devices - 1);
    uint64_t at = 0;

    step *= kind->slow > 0 && devices == 2 ? kind->slow : 1.0;
    step *= kind->factor > 0 ? kind->factor : 1.0;
    step *= (kind->is & ONE_NOISY) && model == &models[0] && devices == 2 && shard == 32 &&
                    cell->key.launch % 2 == 1
                ? 1.3
                : 1.0;
    const size_t launch = (size_t)cell->key.launch, n = (size_t)kind->launches;
    const bool alike = n < 6 || (kind->is & (SMALL | BY_PART | ALIKE)) != 0;
    /* Each cell begins elsewhere in the pattern, so launches of one block are not alike. */
    const size_t begin =
        alike ? 0 : mixed(cell->key.global_batch * 64 + (size_t)devices * 2 + plain);
    step *= (plain ? 0.9 : 1.0) * (1.0 + 0.01 * (double)((launch + begin) % n * 5 % 7));
    cell->warmup_steps = WARMUP;
    if (record_cell_alloc(cell, n_samples, devices) != 0)
        return -1;
    for (size_t i = 0; i < cell->n_samples; ++i) {
        double noise = 1.0 + 0.01 * (double)((i * 7 + 3 * (size_t)cell->key.launch) % 11);

        cell->t_start_ns[i] = at;
        cell->t_step_ns[i] = (uint64_t)(step * noise * (i < 3 ? 2.0 : 1.0));
        cell->flags[i] = i < 3 ? RECORD_WARMUP : 0;
        at += cell->t_step_ns[i] + 1000;
        for (int p = 0; p < RECORD_PHASES; ++p)
            for (int r = 0; r < cell->n_ranks; ++r)
                cell->phase_ns[p][(size_t)r * cell->n_samples + i] =
                    cell->t_step_ns[i] * percent_of(kind, p, r) / 100;
        for (int r = 0; r < cell->n_ranks; ++r)
            cell->matmul_ns[(size_t)r * cell->n_samples + i] =
                cell->t_step_ns[i] * model->matmul_percent / 100;
    }
    if (kind->is & GPUS) {
        free(cell->matmul_ns);
        cell->matmul_ns = NULL;
    }
    cell->setup_ns = 1000;
    cell->wall_ns = cell->setup_ns + at;
    for (size_t i = 0; plain && i < sizeof of_wrapper / sizeof of_wrapper[0]; ++i) {
        free(cell->phase_ns[of_wrapper[i]]);
        cell->phase_ns[of_wrapper[i]] = NULL;
    }
    return 0;
}

/* For equal shards a step takes 5 % more than the plain program for the rows of one device. */
static void fill_alone(const struct model *model, struct record_cell *cell)
{
    const size_t devices = (size_t)cell->key.n_devices;
    const double launch = 1.0 + 0.01 * (double)(cell->key.launch * 5 % 7);

    if (devices < 2 || cell->key.global_batch % devices != 0)
        return;
    cell->wall_ns += 1000000000;
    for (cell->n_alone = 0; cell->n_alone < 7; ++cell->n_alone)
        cell->alone_ns[cell->n_alone] =
            (uint64_t)(1.05 * 0.9 * launch * (1.0 + 0.01 * (cell->n_alone * 3 % 7)) *
                       (model->fixed_ns +
                        model->row_ns * (double)(cell->key.global_batch / devices)));
}

/* A product takes 100 us, or 120 us after the first half of a run. A copy takes 1 ms between
 * devices, 4 ms from the host, 5 ms back, 4 ms within a device; and there is noise. */
static int fill_machine(const struct kind *kind, struct record_cell *cell)
{
    const int devices = cell->key.n_devices;
    static const uint64_t ns[RECORD_PARTS] = {100000, 100000, 1000000, 4000000, 5000000, 4000000};
    static const uint64_t work[RECORD_PARTS] = {33554432, 33554432, 16777216,
                                                67108864, 67108864, 134217728};

    cell->wall_ns += 1000000000;
    for (int p = 0; p < RECORD_PARTS; ++p) {
        if (p == RECORD_COPY && devices < 2)
            continue;
        record_part_alloc(cell, (enum record_part)p, PARTS);
        cell->part[p].work = work[p];
        for (int i = 0; i < (int)cell->part[p].rows * PARTS; ++i) {
            const int row = i / PARTS, sample = i % PARTS;
            const int device = p == RECORD_COPY ? row / devices : row;
            const uint64_t more = p == RECORD_SUSTAINED && sample >= PARTS / 2 ? 20 : 0;
            const uint64_t lame = !(kind->is & LAME) || device != 1 ? 0
                                  : p >= RECORD_COPY                ? 100
                                                                    : 5;
            const uint64_t noise = (uint64_t)((sample * 3 + row + cell->key.launch) % 5);

            if (p != RECORD_COPY || row / devices != row % devices)
                cell->part[p].ns[i] = ns[p] * (1000 + 10 * (more + lame) + noise) / 1000;
        }
    }
    return 0;
}

static void fill_status(const struct kind *kind, size_t order, struct record_cell *cell)
{
    bool fails = (kind->is & FAILING) && (order % 9 == 4 || (kind->is & ALL_FAILING));

    cell->status = RECORD_OK;
    cell->validated = true;
    cell->values_checked = 100000000;
    cell->steps_checked = WARMUP + steps_of(kind);
    if (kind->fault) {
        cell->status = RECORD_FAILED;
        cell->validated = false;
        snprintf(cell->reason, sizeof cell->reason, "made, and not found");
    }
    if (fails && order % 2 == 0) {
        cell->status = RECORD_FAILED;
        cell->validated = false;
        cell->first_bad_step = 7;
        snprintf(cell->reason, sizeof cell->reason, "%s",
                 (kind->is & HOSTILE_NAMES)
                     ? HOSTILE LINKS
                     : "index 7: got 3 (0x40400000), want 4 (0x40800000); 2 of 30 differ");
    } else if (fails) {
        cell->status = RECORD_BROKEN;
        cell->validated = false;
        cell->values_checked = 0;
        snprintf(cell->reason, sizeof cell->reason, "no reference could be made");
    }
}

static int write_cell(const struct kind *kind, const struct record_run *run, int fd,
                      const struct record_key *key, const struct model *model, size_t order)
{
    struct record_cell cell = {.key = *key, .first_bad_step = -1};
    const size_t launches = (size_t)run->launches;
    size_t k = (size_t)key->n_devices, rows = (key->global_batch + k - 1) / k, left;
    struct workload workload;
    char *text = NULL, why[200];
    int result = -1;

    snprintf(cell.run_id, sizeof cell.run_id, "%s", run->run_id);
    record_cell_id(key, cell.cell_id);
    for (left = key->global_batch; left > 0; left -= cell.shard[cell.n_shards++])
        cell.shard[cell.n_shards] = left < rows ? left : rows;
    cell.oversubscribed = key->n_devices > 4;
    cell.bytes_per_step = cell.kernels_per_step = cell.compute_alone_ns = cell.comm_alone_ns = NAN;
    cell.whole_ns = cell.hidden_frac = cell.bus_factor = NAN;
    cell.clock_ratio = NAN;
    cell.foreign_frac = cell.steal_frac = cell.cpu_hz = NAN;
    if (kind->is & MACHINE) {
        cell.foreign_frac = 0.02 + 0.01 * (key->launch % 2);
        cell.steal_frac = 0.01;
    }
    if (workload_parse(key->workload, &workload, why, sizeof why) != 0)
        return -1;
    cell.model_params = workload_params(&workload);
    cell.flops_per_step = workload_flops(&workload, key->global_batch);
    cell.tokens_per_row = workload_tokens(&workload);
    cell.flops_per_token = workload_token_flops(&workload);
    for (; (kind->is & TOKENS) && cell.n_peaks < key->n_devices; ++cell.n_peaks)
        cell.peak_bytes[cell.n_peaks] = 41943040 + 20971520 * rows;
    cell.steady_state = true;
    snprintf(cell.warmup_rule, sizeof cell.warmup_rule, "a fixed number");
    cell.order_index = order % launches * (run->planned / launches) + order / launches;
    /* Each launch has a different start, and all launches of a run are in the same second. */
    cell.start_epoch_ns = UINT64_C(1795248000000000000) + cell.order_index +
                          UINT64_C(1000000000) * strtoul(run->run_id + 8, NULL, 16);
    fill_status(kind, order, &cell);
    if (fill_steps(kind, model, cell.steps_checked, &cell) == 0) {
        record_derive(&cell);
        if (kind->is & BY_PART)
            fill_alone(model, &cell);
        if (!(kind->is & MACHINE) || fill_machine(kind, &cell) == 0)
            text = record_cell_text(&cell);
        result = text && dprintf(fd, "%s\n", text) > 0 ? 0 : -1; /* no fsync: there are many */
    }
    if (result != 0)
        fprintf(stderr, "make_records: cannot write a cell\n");
    free(text);
    record_cell_free(&cell);
    return result;
}

/* Writes all launches of one point. */
static int write_point(const struct kind *kind, const struct record_run *run, int fd,
                       const struct record_key *key, const struct model *model, size_t *order)
{
    int result = 0;

    for (int launch = 0; launch < kind->launches && result == 0; ++launch) {
        struct record_key of_launch = *key;

        of_launch.launch = launch;
        result = write_cell(kind, run, fd, &of_launch, model, (*order)++);
    }
    return result;
}

/* Writes all batches on this many devices; 0: of the plain program. */
static int make_records_write_line(const struct kind *kind, const struct record_run *run, int fd,
                                   const struct model *model, int devices, size_t *order)
{
    const int count = devices > 0 ? devices : 1;
    int result = 0;

    for (size_t b = 0; b < batches_of(kind) && result == 0; ++b) {
        struct record_key key;

        fill_key(kind, model, count, batch_of(kind, b) * (size_t)((kind->is & WEAK) ? count : 1),
                 &key);
        snprintf(key.mode, sizeof key.mode, devices > 0 ? "dp" : "plain");
        if (kind->fault)
            snprintf(key.devices + strlen(key.devices), sizeof key.devices - strlen(key.devices),
                     "%s", kind->fault);
        result = write_point(kind, run, fd, &key, model, order);
    }
    return result;
}

static int write_cells(const struct kind *kind, const struct record_run *run, int fd)
{
    int devices[MOST_DEVICES], n = devices_of(kind, devices), result = 0;
    size_t order = 0;

    for (size_t m = 0; m < 2 && result == 0; ++m) {
        if (kind->is & PLAIN)
            result = make_records_write_line(kind, run, fd, model_of(kind, m), 0, &order);
        for (int d = 0; d < n && result == 0; ++d)
            result = make_records_write_line(kind, run, fd, model_of(kind, m), devices[d], &order);
    }
    return result;
}

static int write_grid(const struct kind *kind, const struct record_run *run, int fd)
{
    int result = 0;
    size_t order = 0;

    for (size_t w = 0; w < kind->grid; ++w)
        for (size_t i = 0; i < (GRID_COUNTS + 1) * GRID_BATCHES && result == 0; ++i) {
            const int devices = (int)(i / GRID_BATCHES);
            const bool plain = devices == 0;
            struct record_key key;

            fill_key(kind, &models[0], plain ? 1 : devices, i % GRID_BATCHES + 1, &key);
            snprintf(key.mode, sizeof key.mode, plain ? "plain" : "dp");
            snprintf(key.workload, sizeof key.workload, "mlp:%zu,8", kind->first + w + 1);
            result = write_point(kind, run, fd, &key, &models[0], &order);
        }
    return result;
}

/* Returns how many cells --failing leaves; it is the same for every file with that many cells. */
static size_t count_ok(const struct kind *kind, const struct record_run *run)
{
    size_t ok = 0;

    for (size_t order = 0; order < run->planned && !(kind->is & NO_CELLS); ++order) {
        struct record_cell cell = {.status = RECORD_OK};

        fill_status(kind, order, &cell);
        ok += cell.status == RECORD_OK;
    }
    return ok;
}

static int write_file(const struct kind *kind, const char *path)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_RDWR | O_APPEND, 0666), result = -1;
    struct text_error err = {{0}};
    struct plan_options plan;
    struct record_run run;
    char *text;

    if (fd < 0 || fill_plan(kind, &plan) != 0 || fill_run(kind, &plan, &run) != 0)
        return -1;
    const size_t ok = count_ok(kind, &run), not_ok = (kind->is & NO_CELLS) ? 0 : run.planned - ok;

    text = record_run_text(&run);
    if (text && record_append(fd, text, &err) == 0)
        result = (kind->is & NO_CELLS) ? 0
                 : kind->grid > 0      ? write_grid(kind, &run, fd)
                                       : write_cells(kind, &run, fd);
    free(text);
    const struct record_end end = {.planned = run.planned,
                                   .ok = ok,
                                   .not_ok = not_ok,
                                   .interrupted = (kind->is & NO_CELLS) != 0,
                                   .seconds = (double)NAN};
    text = record_end_text(run.run_id, &end);
    if (result == 0)
        result = text ? record_append(fd, text, &err) : -1;
    free(text);
    close(fd);
    return result;
}

int main(int argc, char **argv)
{
    size_t n = sizeof kinds / sizeof kinds[0];

    for (size_t i = 0; (argc == 3 || argc == 4) && i < n; ++i)
        if (strcmp(argv[1], kinds[i].name) == 0) {
            struct kind kind = kinds[i];

            kind.factor = argc == 4 ? strtod(argv[3], NULL) : 0;
            if (write_file(&kind, argv[2]) == 0)
                return 0;
            fprintf(stderr, "make_records: cannot write '%s'\n", argv[2]);
            return 2;
        }
    fprintf(stderr, "usage: make_records KIND FILE [FACTOR]; KIND is good, hostile, ...\n");
    return 2;
}
