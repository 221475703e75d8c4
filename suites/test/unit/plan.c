/* plan.c: the grid of a sweep is complete, in blocks of random order, and is described as it is. */
#include "plan/plan.h"
#include "record_example.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two workloads, three batches, devices 1, 2 and 4 of four, both modes: 24 cells per launch. */
static struct plan_options example(void)
{
    struct plan_options options = {.devices = "virt:4+lag",
                                   .backend = "cpu",
                                   .count = {1, 2, 4},
                                   .n_counts = 3,
                                   .batch = {10, 30, 64},
                                   .n_batches = 3,
                                   .n_workloads = 2,
                                   .launches = 4,
                                   .seed = 11,
                                   .limits = {.seconds = 0.5, .min_steps = 3, .max_steps = 9}};
    options.workload[0] = example_workload("tutorial");
    options.workload[1] = example_workload("mlp:7,5,3");
    return options;
}

static struct cell_config *plan_cells_of(struct plan_options *options)
{
    struct text_error why = {""};
    cr_assert(plan_defaults(options, 4, &why) == 0, "%s", why.text);
    struct cell_config *cells = plan_make(options, "threads", "0123456789abcdef");
    cr_assert(cells);
    return cells;
}

/* Returns a hash of the cell's name without its launch, to compare blocks. */
static uint64_t plan_name_of(const struct cell_config *cell)
{
    struct cell_config first = *cell;
    struct record_cell record;
    first.launch = 0;
    cell_identify(&first, &record);
    return strtoull(record.cell_id, NULL, 16);
}

static int by_name(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void sorted_names(const struct cell_config *cells, size_t n, uint64_t names[])
{
    for (size_t i = 0; i < n; ++i)
        names[i] = plan_name_of(&cells[i]);
    qsort(names, n, sizeof names[0], by_name);
    for (size_t i = 1; i < n; ++i)
        cr_assert(names[i] != names[i - 1], "a cell is there twice");
}

static bool same_order(const struct cell_config *a, const struct cell_config *b, size_t n)
{
    size_t i = 0;
    while (i < n && plan_name_of(&a[i]) == plan_name_of(&b[i]))
        ++i;
    return i == n;
}

Test(plan, every_block_holds_every_cell_once)
{
    struct plan_options options = example();
    struct cell_config *cells = plan_cells_of(&options);
    uint64_t first[24], other[24];
    cr_assert(plan_block(&options) == 24 && plan_cells(&options) == 96);
    sorted_names(cells, 24, first);
    for (size_t l = 0; l < 4; ++l) {
        sorted_names(cells + 24 * l, 24, other);
        cr_assert(memcmp(first, other, sizeof first) == 0, "block %zu has other cells", l);
    }
    for (size_t i = 0; i < 96; ++i)
        cr_assert(cells[i].launch == (int)(i / 24) && cells[i].order_index == i, "cell %zu", i);
    free(cells);
}

/* 2 workloads have 3 batches, and each is run plain and on 1, 2 and 4 devices. */
Test(plan, what_is_compared_runs_side_by_side)
{
    struct plan_options options = example();
    struct cell_config *cells = plan_cells_of(&options);
    size_t moved = 0, turned = 0;
    for (size_t i = 0; i < 96; ++i) {
        const struct cell_config *first = &cells[i - i % 4], *cell = &cells[i];
        cr_assert(cell->rows == first->rows &&
                      strcmp(cell->workload.name, first->workload.name) == 0,
                  "cell %zu", i);
        moved += i % 4 == 0 && (cell->rows != cells[i % 24].rows ||
                                strcmp(cell->workload.name, cells[i % 24].workload.name) != 0);
        turned += i % 4 == 0 && cell->mode != CELL_PLAIN;
    }
    cr_assert(moved > 9, "%zu of 18 groups have another place than in the first block", moved);
    cr_assert(turned > 9, "%zu of 24 groups do not begin with their base", turned);
    free(cells);
}

Test(plan, order_follows_from_the_seed)
{
    struct plan_options options = example(), fewer = example(), other = example();
    fewer.launches = 2;
    other.seed = 12;
    struct cell_config *a = plan_cells_of(&options), *b = plan_cells_of(&options),
                       *c = plan_cells_of(&fewer), *d = plan_cells_of(&other);
    cr_assert(same_order(a, b, 96), "one seed, two orders");
    cr_assert(same_order(a, c, 48), "the order of a block depends on the number of blocks");
    for (size_t l = 0; l < 4; ++l) {
        cr_assert(!same_order(a + 24 * l, d + 24 * l, 24), "two seeds, one order of block %zu", l);
        for (size_t m = 0; m < l; ++m)
            cr_assert(!same_order(a + 24 * l, a + 24 * m, 24), "blocks %zu and %zu", l, m);
    }
    free(a);
    free(b);
    free(c);
    free(d);
}

static bool has_all(const struct cell_config *cells, size_t n, size_t at, size_t block)
{
    uint64_t names[400], all[24];
    size_t found = 0;
    cr_assert(n / block == 400 && block == 24);
    for (size_t l = 0; l < 400; ++l)
        names[l] = plan_name_of(&cells[l * block + at]);
    sorted_names(cells, block, all);
    for (size_t i = 0; i < block; ++i) {
        size_t l = 0;
        while (l < 400 && names[l] != all[i])
            ++l;
        found += l < 400;
    }
    return found == block;
}

/* In 400 blocks that are shuffled well, a cell misses a place with probability 4e-8. */
Test(plan, any_cell_can_have_any_place)
{
    struct plan_options options = example();
    options.launches = 400;
    struct cell_config *cells = plan_cells_of(&options);
    for (size_t at = 0; at < 24; ++at)
        cr_assert(has_all(cells, 9600, at, 24), "place %zu", at);
    free(cells);
}

/* Returns how many cells of a block have this mode and number of devices; *rows is the sum of their
 * batches. */
static size_t count_cells(const struct cell_config *cells, size_t n, enum cell_mode mode,
                          int devices, size_t *rows)
{
    size_t found = 0;
    *rows = 0;
    for (size_t i = 0; i < n; ++i) {
        if (cells[i].mode == mode && cells[i].n_devices == devices) {
            *rows += cells[i].rows;
            ++found;
        }
    }
    return found;
}

/* Each workload and batch is run on every number of devices, and once alone. */
static void check_settings(struct plan_options *options)
{
    struct cell_config *cells = plan_cells_of(options);
    const size_t block = plan_block(options);
    size_t rows, expected = 0;
    for (size_t k = 0; k < 2 * options->n_counts; ++k) {
        const size_t count = options->count[k / 2], share = options->weak ? count : 1;
        const enum cell_mode mode = k % 2 == 0 ? CELL_DP : CELL_DDP;
        if (!options->mode[mode])
            continue;
        cr_assert(count_cells(cells, block, mode, (int)count, &rows) == 6);
        cr_assert(rows == 2 * (10 + 30 + 64) * share, "%zu rows on %zu", rows, count);
        expected += 6;
    }
    if (options->mode[CELL_PLAIN]) {
        cr_assert(count_cells(cells, block, CELL_PLAIN, 1, &rows) == 6 &&
                  rows == 2 * (10 + 30 + 64));
        expected += 6;
    }
    if (options->mode[CELL_PLAIN_MT]) {
        const size_t most = options->count[options->n_counts - 1];
        cr_assert(count_cells(cells, block, CELL_PLAIN_MT, (int)most, &rows) == 6 &&
                  rows == 2 * (10 + 30 + 64) * (options->weak ? most : 1));
        expected += 6;
    }
    cr_assert(block == expected, "%zu cells, %zu expected", block, expected);
    for (size_t i = 0; i < block; ++i) {
        struct record_cell record;
        char devices[64];
        cell_identify(&cells[i], &record);
        snprintf(devices, sizeof devices, "virt:%d+lag", cells[i].n_devices);
        cr_assert_str_eq(record.key.mode, cell_mode_names[cells[i].mode]);
        cr_assert_str_eq(record.key.devices, devices);
        cr_assert(record.key.global_batch == cells[i].rows);
    }
    free(cells);
}

Test(plan, modes_and_scaling)
{
    for (int modes = 0; modes < 16; ++modes) {
        for (int weak = 0; weak < 2; ++weak) {
            struct plan_options options = example();
            options.mode[CELL_PLAIN] = (modes & 1) != 0;
            options.mode[CELL_DP] = (modes & 2) != 0;
            options.mode[CELL_DDP] = (modes & 4) != 0;
            options.mode[CELL_PLAIN_MT] = (modes & 8) != 0;
            options.weak = weak != 0;
            if (modes == 1)
                options.n_counts = 0;
            if (modes == 8)
                continue;
            check_settings(&options);
        }
    }
}

/* The base case is planned even when no cell of the wrapper is on one device. */
Test(plan, plain_needs_no_count_of_one)
{
    struct plan_options options = example();
    options.count[0] = 4;
    options.n_counts = 1;
    check_settings(&options);
    cr_assert(options.mode[CELL_PLAIN] && options.mode[CELL_DP] && plan_block(&options) == 12);
}

/* The words tell cells apart by each axis of numbers, whichever there are. */
Test(plan, axes_are_named_in_words)
{
    struct record_key key = {.bucket_bytes = 4096};
    char text[PLAN_AXES_TEXT];
    int found = 0;

    plan_axes_words(&key, ", ", true, text);
    cr_assert_str_eq(text, ", bucket 4096");
    for (size_t i = 0; i < PLAN_OPTIONS; ++i) {
        const struct plan_option *option = &plan_option_table[i];
        struct record_key one = {.bucket_bytes = 0};
        char want[96];

        plan_axes_words(&one, "/", true, text);
        cr_assert_str_empty(text, "at its default");
        if (!plan_axis_has_numbers(&option->axis))
            continue;
        ++found;
        *(size_t *)(void *)((char *)&one + option->axis.in_key) = 7;
        snprintf(want, sizeof want, "/%s 7", option->name);
        plan_axes_words(&one, "/", true, text);
        cr_assert_str_eq(text, want);
        plan_axes_words(&one, "/", false, text);
        cr_assert_str_eq(text, option->axis.nameless ? "" : want);
    }
    cr_assert_gt(found, 0);
}

/* Returns a plan in all modes that train, whose blocks have so many cells, each another one. The
 * communicators are those of each name in the list. */
static struct cell_config *axis_cells(struct plan_options *options, const char *communicators,
                                      size_t block)
{
    struct text_error why = {""};
    uint64_t names[90];
    options->mode[CELL_PLAIN] = options->mode[CELL_DP] = options->mode[CELL_DDP] = true;
    cr_assert(plan_defaults(options, 4, &why) == 0, "%s", why.text);
    struct cell_config *cells = plan_make(options, communicators, "0123456789abcdef");
    cr_assert(cells && plan_block(options) == block, "%zu cells", plan_block(options));
    sorted_names(cells, block, names);
    return cells;
}

/* Every bucket is run on every number of devices, with ddp only; each is a separate cell. */
Test(plan, buckets_are_an_axis_of_ranks)
{
    enum { BLOCK = 6 * (1 + 3 + 3 * 3) };
    struct plan_options options = example();
    options.bucket[1] = 4096;
    options.bucket[2] = 1048576;
    options.n_buckets = 3;
    struct cell_config *cells = axis_cells(&options, "threads", BLOCK);
    size_t found[3] = {0};
    for (size_t i = 0; i < BLOCK; ++i) {
        cr_assert(cells[i].mode == CELL_DDP || cells[i].bucket_bytes == 0,
                  "a bucket without ranks");
        for (size_t b = 0; b < 3; ++b)
            found[b] += cells[i].mode == CELL_DDP && cells[i].bucket_bytes == options.bucket[b];
    }
    cr_assert(found[0] == 18 && found[1] == 18 && found[2] == 18, "%zu, %zu, %zu", found[0],
              found[1], found[2]);
    free(cells);
}

/* Each of two values has the cells of each mode. */
static void expect_halves(size_t found[2][CELL_MODES])
{
    for (int i = 0; i < 2; ++i)
        cr_assert(found[i][CELL_PLAIN] == 6 && found[i][CELL_DP] == 18 && found[i][CELL_DDP] == 18);
}

/* The batch is in both places, in all modes that train; the cells with it on the devices have the
 * id of older versions. */
Test(plan, places_of_inputs_are_an_axis_of_training)
{
    enum { BLOCK = 2 * 6 * (1 + 3 + 3) };
    struct plan_options options = example();
    options.host_inputs[1] = 1;
    options.n_host_inputs = 2;
    struct cell_config *cells = axis_cells(&options, "threads", BLOCK);
    size_t found[2][CELL_MODES] = {{0}};
    for (size_t i = 0; i < BLOCK; ++i) {
        struct record_cell cell, before;
        struct cell_config without = cells[i];
        without.host_inputs = 0;
        cell_identify(&cells[i], &cell);
        cell_identify(&without, &before);
        cr_assert((strcmp(cell.cell_id, before.cell_id) == 0) == (cell.key.host_inputs == 0));
        ++found[cell.key.host_inputs][cells[i].mode];
    }
    expect_halves(found);
    free(cells);
}

static const struct plan_option *option_of(const char *name)
{
    const struct plan_option *option = plan_option_table;
    while (option < plan_option_table + PLAN_OPTIONS && strcmp(option->name, name) != 0)
        ++option;
    cr_assert(option < plan_option_table + PLAN_OPTIONS, "--%s", name);
    return option;
}

/* All cells are run with each communicator, in all modes. A cell has the name that the communicator
 * gives itself. */
Test(plan, communicators_are_an_axis_of_all_modes)
{
    enum { BLOCK = 2 * 6 * (1 + 3 + 3) };
    const struct plan_option *option = option_of("communicator");
    struct plan_options options = example();
    struct text_error why = {""};
    cr_assert(option->read(option, "staged,peer", &options, &why) == 0, "%s", why.text);
    struct cell_config *cells = axis_cells(&options, "staged,peer-staged", BLOCK);
    size_t found[2][CELL_MODES] = {{0}};
    for (size_t i = 0; i < BLOCK; ++i) {
        const bool peer = strcmp(cells[i].communicator, "peer-staged") == 0;
        cr_assert(peer || strcmp(cells[i].communicator, "staged") == 0, "'%s'",
                  cells[i].communicator);
        ++found[peer][cells[i].mode];
    }
    expect_halves(found);
    free(cells);
}

/* Records may have names that this program does not know; options may not. */
Test(plan, communicators_are_read_and_written)
{
    static const char *const wrong[] = {"",
                                        ",",
                                        "staged,",
                                        ",staged",
                                        "staged,staged",
                                        "a,b,c,d,e",
                                        "a-name-of-thirty-two-characters!"};
    const struct plan_option *option = option_of("communicator");
    struct text_error why = {""};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        struct plan_options options = {.n_communicators = 0};
        cr_assert(option->read(option, wrong[i], &options, &why) == -1, "'%s'", wrong[i]);
    }
    struct plan_options options = example(), back;
    char text[512];
    cr_assert(option->read(option, "smoke,threads", &options, &why) == 0, "%s", why.text);
    cr_assert(option->ask("smoke,threads", &why) == -1 && strstr(why.text, "\"smoke\""));
    cr_assert(option->ask("staged,threads", &why) == 0);
    cr_assert(plan_defaults(&options, 4, &why) == 0);
    cr_assert(plan_command(&options, text, sizeof text, &why) == 0, "%s", why.text);
    cr_assert(strstr(text, " --backend cpu --communicator smoke,threads "), "%s", text);
    cr_assert(plan_read(text, 4, &back, &why) == 0, "%s", why.text);
    cr_assert(back.n_communicators == 2 && strcmp(back.communicator[1], "threads") == 0);
}

/* Returns the cell that a worker reads from its command line. */
static struct cell_config sent(const struct cell_config *cell)
{
    struct cell_config back = {.backend = ""};
    for (size_t i = 0; i < CELL_OPTIONS; ++i) {
        char value[CELL_VALUE_BYTES];
        if (cell_option_write(i, cell, value)) {
            cr_assert(cell_option_name(i)[0] != '\0', "option %zu has no name", i);
            cr_assert(cell_option_read(i, value, &back) == 0, "--%s %s", cell_option_name(i),
                      value);
        }
    }
    return back;
}

Test(plan, a_worker_gets_the_cell_that_was_planned)
{
    struct plan_options options = example();
    options.mode[CELL_PLAIN] = options.mode[CELL_DP] = options.mode[CELL_DDP] = true;
    options.bucket[0] = 4096;
    options.n_buckets = 1;
    options.bind = options.no_graphs = true;
    options.parts = 0.25;
    options.math = DP_MATH_BF16;
    options.limits.warmup_steps = 7;
    options.limits.warmup_seconds = 0.25;
    struct cell_config *cells = plan_cells_of(&options);
    size_t buckets = 0;
    for (size_t i = 0; i < plan_block(&options); ++i) {
        const struct cell_config back = sent(&cells[i]);
        struct record_cell planned, got;
        cell_identify(&cells[i], &planned);
        cell_identify(&back, &got);
        cr_assert_str_eq(got.cell_id, planned.cell_id);
        cr_assert_str_eq(got.run_id, planned.run_id);
        cr_assert(got.order_index == i && back.seed == 11 && back.bind && back.no_graphs);
        cr_assert(back.parts == 0.25);
        cr_assert(back.limits.min_steps == 3 && back.limits.max_steps == 9 &&
                  back.limits.seconds > 0.49 && back.limits.seconds < 0.51);
        cr_assert(back.limits.warmup_steps == 7 && back.limits.warmup_seconds == 0.25);
        cr_assert(got.key.bucket_bytes == (cells[i].mode == CELL_DDP ? 4096 : 0));
        buckets += got.key.bucket_bytes == 4096;
    }
    cr_assert(buckets == 18, "%zu cells have the bucket", buckets);
    free(cells);
}

/* The parser finds an option by its letter and a command by its name, so both differ between rows.
 */
Test(plan, options_are_told_apart)
{
    for (size_t i = 0; i < PLAN_OPTIONS; ++i) {
        const struct plan_option *a = &plan_option_table[i];
        cr_assert(a->name && a->doc && a->read && a->write, "row %zu is not complete", i);
        cr_assert(a->axis.modes == 0 || (a->n_values && a->axis.field && a->axis.because), "--%s",
                  a->name);
        for (size_t k = 0; k < i; ++k) {
            const struct plan_option *b = &plan_option_table[k];
            cr_assert(strcmp(a->name, b->name) != 0 && a->key != b->key, "--%s and --%s", a->name,
                      b->name);
        }
    }
}

Test(plan, too_many_cells_are_refused)
{
    struct plan_options options = example();
    struct text_error why = {""};
    options.n_batches = PLAN_MAX_BATCHES;
    for (size_t i = 0; i < PLAN_MAX_BATCHES; ++i)
        options.batch[i] = i + 1;
    options.launches = PLAN_MAX_CELLS / 512;
    cr_assert(plan_defaults(&options, 4, &why) == 0, "%s", why.text);
    ++options.launches;
    cr_assert(plan_defaults(&options, 4, &why) == -1);
    cr_assert(strstr(why.text, "--launches 196 of 512 cells are 100352"), "%s", why.text);
}

static void command_of(const struct plan_options *options, char text[512])
{
    struct text_error why = {""};
    cr_assert(plan_command(options, text, 512, &why) == 0, "%s", why.text);
}

Test(plan, command_is_in_one_order)
{
    struct plan_options options = example();
    struct text_error why = {""};
    char text[512];
    cr_assert(plan_defaults(&options, 4, &why) == 0);
    options.weak = true;
    command_of(&options, text);
    cr_assert_str_eq(text,
                     "--devices virt:4+lag --backend cpu --mode plain,dp --counts 1,2,4 "
                     "--scaling weak --batch 10,30,64 --workload tutorial --workload "
                     "mlp:7,5,3 --launches 4 --seed 11 --seconds 0.5 --steps 3:9 --bind none");
    options.no_graphs = true;
    command_of(&options, text);
    cr_assert(strstr(text, " --bind none --graphs off"), "%s", text);
    options.bucket[0] = 4096;
    options.n_buckets = 1;
    command_of(&options, text);
    cr_assert(strstr(text, " --counts 1,2,4 --bucket 4096 --scaling weak "), "%s", text);
    cr_assert(plan_command(&options, text, 20, &why) == -1);
    cr_assert(strstr(why.text, "too long to be recorded (19 characters)"), "%s", why.text);
}

static void expect_difference(const char *here, const char *there, const char *words)
{
    struct text_error why = {""};
    cr_assert(plan_compare(here, there, &why) == -1, "%s passes for %s", here, there);
    cr_assert_str_eq(why.text, words);
}

Test(plan, first_difference_is_named)
{
    struct text_error why = {""};
    cr_assert(plan_compare("--a 1 --b 2", "--a 1 --b 2", &why) == 0);
    expect_difference("--a 1 --b 2", "--a 1 --b 3", "here it is \"--b 2\", in the file \"--b 3\"");
    expect_difference("--a 1 --b 2", "--a 1", "here it is \"--b 2\", the file has no such option");
    expect_difference("--a 1", "--a 1 --b 2",
                      "the file has \"--b 2\", here there is no such option");
    expect_difference("--a 1 --c 3 --b 2", "--a 1 --b 2",
                      "here it is \"--c 3\", the file has no such option");
    expect_difference("--a 1 --b 2", "--a 1 --c 3 --b 2",
                      "the file has \"--c 3\", here there is no such option");
    expect_difference("--bb 1 --b 2", "--b 2",
                      "here it is \"--bb 1\", the file has no such option");
    expect_difference("", "--b 2", "the file has \"--b 2\", here there is no such option");
}
