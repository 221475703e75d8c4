/* record_example.c: records that the tests of records start from. */
#include "record_example.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/record.h"

struct record_run example_run(void)
{
    return (struct record_run){
        .run_id = EXAMPLE_RUN_ID,
        .created_utc = "2026-11-21T08:00:00Z",
        .seed = UINT64_MAX,
        .program_version = "0.1.0",
        .git_sha = "abcdef0",
        .git_dirty = true,
        .compiler = "gcc 12",
        .cflags = "-O2",
        .build_type = "Release",
        .kernel = "Linux 6.1",
        .libc = "glibc 2.36",
        .cpu_model = "A \"CPU\", <script>alert(1)</script> `date` \xc3\xa9",
        .governor = "performance",
        .node_hash = "feedface00000002",
        .hwloc_version = "2.9.0",
        .clock = "CLOCK_MONOTONIC_RAW",
        .sync_method = "barrier before each step",
        .rank_reduction = "slowest replica of each step",
        .blas = "OpenBLAS",
        .packages = 1,
        .numa_nodes = 1,
        .cores = 2,
        .pus = 4,
        .usable_pus = 2,
        .mem_bytes = UINT64_C(1) << 40,
        .memlock_bytes = 9007199254740992.0,
        .shm_bytes = 4096,
        .numa_balancing = NAN,
        .l1d_bytes = 32768,
        .load_avg = {0.1, 1.0 / 3, 2},
        .timer_tick_ns = 1,
        .timer_overhead_ns = 23.5,
        .devices = "virt:2",
        .backend = "cpu",
        .communicator = "threads",
        .source = "measured",
        .command = "--devices virt:2 --backend cpu --mode dp --counts 2 --scaling weak --batch 15 "
                   "--workload mlp:4,4 --launches 50 --seed 18446744073709551615 --seconds 1 "
                   "--steps 1:6 --bind cores",
        .planned = 50,
        .scaling = "weak",
        .launches = 50,
        .n_slots = 2,
        .slot = {{"virt:0", "virt", "0", 0, true, .near = false},
                 {"virt:1", "virt", "", -1, true, .near = false}},
    };
}

struct workload example_workload(const char *name)
{
    struct workload workload;
    char why[200] = "";
    cr_assert(workload_parse(name, &workload, why, sizeof why) == 0, "%s", why);
    return workload;
}

struct record_cell example_cell(int launch)
{
    struct record_cell cell = {
        .run_id = EXAMPLE_RUN_ID,
        .order_index = (size_t)launch,
        .key = {"mlp:4,4", "dp", "virt:2", 2, 30, "f32", "cpu", "threads", .launch = launch},
        .status = RECORD_OK,
        .validated = true,
        .values_checked = 1234,
        .steps_checked = 8,
        .first_bad_step = -1,
        .n_shards = 2,
        .shard = {15, 15},
        .model_params = 20,
        .flops_per_step = 1920,
        .flops_per_token = NAN,
        .warmup_rule = "at least 2 steps",
        .bus_factor = NAN,
        .steady_state = true,
        .warmup_steps = 2,
        .bytes_per_step = 4096,
        .kernels_per_step = 37,
        .compute_alone_ns = NAN,
        .comm_alone_ns = NAN,
        .whole_ns = NAN,
        .hidden_frac = NAN,
        .clock_ratio = NAN,
        .foreign_frac = 0.25,
        .steal_frac = 0,
        .voluntary_switches = 3,
        .major_faults = NAN,
        .cpu_hz = 2.5e9,
        .n_peaks = 2,
        .peak_bytes = {8192, 1024},
        .start_epoch_ns = UINT64_C(1795248000000000001),
        .setup_ns = 5,
        .devices_ns = 2,
        .reference_ns = 1,
        .verify_ns = 300,
        .wall_ns = 20000,
        .launch_ns = 21000,
    };
    record_cell_id(&cell.key, cell.cell_id);
    cr_assert(record_cell_alloc(&cell, 8, 2) == 0);
    static const uint64_t steps[8] = {900, 500, 100, 120, 110, 777, 130, 140};
    for (size_t i = 0; i < 8; ++i) {
        cell.t_start_ns[i] = 1000 * i;
        cell.t_step_ns[i] = steps[i];
        for (int p = 0; p < RECORD_PHASES; ++p) {
            cell.phase_ns[p][i] = 10 * i;
            cell.phase_ns[p][8 + i] = 25;
        }
    }
    for (size_t i = 0; i < 8; ++i) {
        cell.matmul_ns[i] = steps[i] / 2;
        cell.matmul_ns[8 + i] = steps[i];
    }
    free(cell.phase_ns[RECORD_GATHER]);
    cell.phase_ns[RECORD_GATHER] = NULL;
    record_derive(&cell);
    return cell;
}

void example_ranks(struct record_cell *cell)
{
    static const enum record_phase none[] = {RECORD_SCATTER, RECORD_REPLICATE, RECORD_GATHER};
    snprintf(cell->key.mode, sizeof cell->key.mode, "ddp");
    record_cell_id(&cell->key, cell->cell_id);
    for (size_t i = 0; i < sizeof none / sizeof none[0]; ++i) {
        free(cell->phase_ns[none[i]]);
        cell->phase_ns[none[i]] = NULL;
    }
    static const uint64_t rounds[RECORD_TURNS][6] = {
        {100, 90, 101, 99, 180, 100}, {40, 39, 41, 30, 50, 40}, {120, 108, 100, 112, 90, 300}};
    cell->n_rounds = 6;
    for (int turn = 0; turn < RECORD_TURNS; ++turn)
        memcpy(cell->round_ns[turn], rounds[turn], sizeof rounds[turn]);
    cell->compute_alone_ns = 100;
    cell->comm_alone_ns = 40;
    cell->whole_ns = 110;
    cell->hidden_frac = 0.75;
    record_derive(cell);
}

static uint64_t *samples_of(struct record_cell *cell, const char *name)
{
    const struct {
        const char *name;
        uint64_t *samples;
    } others[] = {{"t_step_ns", cell->t_step_ns},        {"phased_ns", cell->phased_ns},
                  {"matmul_ns", cell->matmul_ns},        {"alone", cell->alone_ns},
                  {"comm", cell->round_ns[RECORD_COMM]}, {"whole", cell->round_ns[RECORD_WHOLE]}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i)
        if (strcmp(name, others[i].name) == 0)
            return others[i].samples;
    for (int p = 0; p < RECORD_PHASES; ++p)
        if (strcmp(name, record_phase_names[p]) == 0)
            return cell->phase_ns[p];
    cr_assert_fail("no samples %s", name);
    return NULL;
}

static void change_samples(struct record_cell *cell, const char *name, size_t from, size_t to,
                           uint64_t value)
{
    for (size_t i = from; i <= to; ++i)
        if (strcmp(name, "flags") == 0)
            cell->flags[i] = (unsigned)value;
        else
            samples_of(cell, name)[i] = value;
}

static void change_field(struct record_cell *cell, const char *name, const char *value)
{
    const struct record_field *field = record_find(record_key_fields, name);
    char *object = field ? (char *)&cell->key : (char *)cell;
    if (!field)
        field = record_find(record_cell_fields, name);
    if (!field)
        field = record_find(record_derived_fields, name);
    cr_assert(field, "no field %s", name);
    void *member = object + field->offset;
    if (field->kind == RECORD_TEXT)
        snprintf(member, field->bytes, "%s", value);
    else if (field->kind == RECORD_REAL)
        *(double *)member = strtod(value, NULL);
    else if (field->kind == RECORD_BOOL)
        *(bool *)member = strcmp(value, "true") == 0;
    else if (field->kind == RECORD_INT)
        *(int *)member = (int)strtol(value, NULL, 10);
    else
        *(size_t *)member = strtoul(value, NULL, 10);
}

/* Adds a step for the phases of each sample, which takes 10 ns more. */
static void add_phased(struct record_cell *cell)
{
    cell->phased_ns = calloc(cell->n_samples, sizeof cell->phased_ns[0]);
    cr_assert(cell->phased_ns);
    for (size_t i = 0; i < cell->n_samples; ++i)
        cell->phased_ns[i] = cell->t_step_ns[i] + 10;
    record_derive(cell);
}

static void change_one(struct record_cell *cell, char *name)
{
    char *value = strchr(name, '='), of[32];
    size_t from, to;
    if (strcmp(name, "ranks") == 0)
        example_ranks(cell);
    else if (strcmp(name, "phased") == 0)
        add_phased(cell);
    else if (strcmp(name, "derived") == 0)
        record_derive(cell);
    if (!value)
        return;
    *value++ = '\0';
    const int parts = sscanf(name, "%31[a-z_][%zu-%zu", of, &from, &to);
    if (parts > 1)
        change_samples(cell, of, from, parts == 2 ? from : to, strtoul(value, NULL, 10));
    else if (strcmp(name, "n_rounds") == 0)
        cell->n_rounds = (int)strtol(value, NULL, 10);
    else if (strcmp(name, "n_alone") == 0)
        cell->n_alone = (int)strtol(value, NULL, 10);
    else if (strcmp(value, "none") != 0)
        change_field(cell, name, value);
    for (int p = 0; p < RECORD_PHASES && strcmp(value, "none") == 0; ++p)
        if (strcmp(name, "phases") == 0 || strcmp(name, record_phase_names[p]) == 0) {
            free(cell->phase_ns[p]);
            cell->phase_ns[p] = NULL;
        }
}

void example_change(struct record_cell *cell, const char *changes)
{
    char text[200], *rest = text;
    snprintf(text, sizeof text, "%s", changes);
    for (char *name; (name = strtok_r(NULL, " ", &rest));)
        change_one(cell, name);
    record_cell_id(&cell->key, cell->cell_id);
}

void example_change_refused(struct record_cell *cell, const char *changes, const char *words)
{
    example_change(cell, changes);
    char *text = record_cell_text(cell);
    example_refused(text, words);
    free(text);
}

struct record_series example_numbers(size_t n, const double value[])
{
    struct record_series made = {n, calloc(n + 1, sizeof(double))};

    cr_assert(made.value);
    memcpy(made.value, value, n * sizeof *value);
    return made;
}

void example_series(struct record_during *during)
{
    during->at_ns = example_numbers(3, (double[]){250, 500, 750});
    during->throttle = example_numbers(3, (double[]){0, NAN, 4});
    during->clock_sm_hz = example_numbers(3, (double[]){1.98e9, 1.755e9, NAN});
    during->temperature_c = example_numbers(3, (double[]){45, 50, 55});
    during->power_w = example_numbers(3, (double[]){NAN, NAN, NAN});
}

void example_gpu(struct record_cell *cell)
{
    cell->n_gpus = 1;
    cell->gpu = calloc(1, sizeof *cell->gpu);
    cr_assert(cell->gpu);
    snprintf(cell->gpu->bus, sizeof cell->gpu->bus, "0000:19:00.0");
    record_unknown(record_reading_fields, &cell->gpu->before);
    record_unknown(record_reading_fields, &cell->gpu->after);
}

void example_parts(struct record_cell *cell)
{
    for (int p = 0; p < RECORD_PARTS; ++p) {
        struct record_part_times *times = &cell->part[p];
        record_part_alloc(cell, (enum record_part)p, 3);
        times->work = 1000 + (uint64_t)p;
        for (size_t i = 0; i < times->rows * 3; ++i) {
            const size_t row = i / 3;
            times->ns[i] = p == RECORD_COPY && row % 3 == 0 ? 0 : 10 * (uint64_t)p + i + 1;
        }
    }
}

char *example_edit(const char *text, const char *old, const char *with)
{
    const char *at = strstr(text, old);
    cr_assert(at, "the text to edit has no %s", old);
    const size_t bytes = strlen(text) + strlen(with) + 1;
    char *edited = malloc(bytes);
    cr_assert(edited);
    snprintf(edited, bytes, "%.*s%s%s", (int)(at - text), text, with, at + strlen(old));
    return edited;
}

struct record_cell example_read(const char *text)
{
    struct record_cell cell;
    struct text_error err = {""};
    cr_assert(record_cell_parse(text, &cell, &err) == 0, "%s: %s", text, err.text);
    return cell;
}

struct record_run example_run_read(const char *text)
{
    struct record_run run;
    struct text_error err = {""};
    cr_assert(record_run_parse(text, &run, &err) == 0, "%s: %s", text, err.text);
    return run;
}

struct record_cell example_again(const struct record_cell *cell)
{
    char *text = record_cell_text(cell);
    const struct record_cell again = example_read(text);
    free(text);
    return again;
}

void example_refused(const char *text, const char *words)
{
    struct record_cell cell;
    struct text_error err = {""};
    cr_assert(record_cell_parse(text, &cell, &err) == -1, "%s: %s was read", words, text);
    cr_assert(err.text[0] && strstr(err.text, words), "\"%s\", not \"%s\"", err.text, words);
}

void example_run_refused(const char *text, const char *words)
{
    struct record_run run;
    struct text_error err = {""};
    cr_assert(record_run_parse(text, &run, &err) == -1, "%s: %s was read", words, text);
    cr_assert(err.text[0] && strstr(err.text, words), "\"%s\", not \"%s\"", err.text, words);
}

void example_edit_refused(const char *text, const char *old, const char *with, const char *words)
{
    char *edited = example_edit(text, old, with);
    example_refused(edited, words);
    free(edited);
}
