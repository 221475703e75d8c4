/* record.c: tests of records as text: a record that is written is read back the same. */
#include <criterion/criterion.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/record.h"
#include "record_example.h"

Test(record, run_round_trip)
{
    const struct record_run run = example_run();
    char *text = record_run_text(&run);
    cr_assert(text && !strchr(text, '\n'));
    cr_assert(strstr(text, "{\"schema\":\"lockstep/run/1.1\",\"run_id\":\"0123456789abcdef\"") ==
              text);
    cr_assert(strstr(text, "\"seed\":\"18446744073709551615\""), "seeds are text");
    const struct record_run back = example_run_read(text);
    cr_assert(!record_differs(record_run_fields, RECORD_ALL_ROLES, &run, &back));
    cr_assert(back.load_avg[1] == 1.0 / 3 && back.n_slots == 2 && back.slot[1].numa_node == -1);
    char *again = record_run_text(&back);
    cr_assert(strcmp(text, again) == 0, "not the same after a round trip");
    free(text);
    free(again);
}

/* The record has versions of candidates and packages, and names of a machine and of systems that
 * are in no list. */
Test(record, odd_machines_are_recorded)
{
    static const char *const versions[] = {"2.9.0",       "2.12.0rc1",
                                           "2.9.0+dfsg",  "2.9.0-1ubuntu3~22.04",
                                           "3.0.0a1-git", "2.13.0_r4"},
                             *const wrong[] = {"",      "rc1",   "v2.9", "2.9 0",
                                               "2.9;0", "2.9\n", "-1",   "2,9"};
    struct record_run run = example_run();

    snprintf(run.compiler, sizeof run.compiler, "Clang 21.0.0git (https://x.org/y 3f2a9c1)");
    snprintf(run.kernel, sizeof run.kernel, "Linux 6.1.0-rc7+_Ä \xff#1 'x'");
    snprintf(run.libc, sizeof run.libc, "glibc 2.42.9000");
    snprintf(run.governor, sizeof run.governor, "schedutil-2 (x)");
    snprintf(run.cpu_model, sizeof run.cpu_model, "0x00 \x80 <CPU> \"Ω\"");
    snprintf(run.gpu_software, sizeof run.gpu_software, "driver none, runtime 13.0, cuBLAS 0.0.0");
    snprintf(run.slot[0].model, sizeof run.slot[0].model, "NVIDIA \xe9 GPU");
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; ++i) {
        snprintf(run.hwloc_version, sizeof run.hwloc_version, "%s", versions[i]);
        char *text = record_run_text(&run);
        cr_assert_str_eq(example_run_read(text).hwloc_version, versions[i]);
        free(text);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        snprintf(run.hwloc_version, sizeof run.hwloc_version, "%s", wrong[i]);
        char *text = record_run_text(&run);
        example_run_refused(text, "\"hwloc_version\"");
        free(text);
    }
}

/* Cells are read back as they were written, with and without what only some have. */
Test(record, cell_round_trip)
{
    static const struct {
        const char *changes, *written;
    } rows[] = {
        {"", "\"t_step_ns\":[900,500,100,120,110,777,130,140]"},
        {"", "\"update\":[[0,10,20,30,40,50,60,70],[25,25,25,25,25,25,25,25]]"},
        {"", "\"flags\":[1,1,0,0,0,64,0,0]"},
        {"", "\"shard_rows\":[15,15]"},
        {"", "\"peak_bytes\":[8192,1024]"},
        {"", "\"gather\":null"},
        {"ranks", "\"comm\":[40,39,41,30,50,40]"},
        {"n_alone=5 alone[0-4]=70", "\"alone_ns\":[70,70,70,70,70]"},
        {"n_alone=11 alone[0-10]=71", "\"alone_ns\":[71,71,71,71,71,71,71,71,71,71,71]"},
        {"phased", "\"phased_ns\":[910,510,110,130,120,787,140,150]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct record_cell cell = example_cell(0);
        example_change(&cell, rows[i].changes);
        char *text = record_cell_text(&cell);
        cr_assert(text && strstr(text, rows[i].written), "no %s in %s", rows[i].written, text);
        struct record_cell back = example_read(text);
        cr_assert(!record_differs(record_key_fields, RECORD_ALL_ROLES, &cell.key, &back.key));
        cr_assert(!record_differs(record_cell_fields, RECORD_ALL_ROLES, &cell, &back));
        cr_assert(!record_differs(record_derived_fields, RECORD_ALL_ROLES, &cell, &back));
        cr_assert(memcmp(cell.t_step_ns, back.t_step_ns, 8 * sizeof cell.t_step_ns[0]) == 0);
        cr_assert(memcmp(cell.flags, back.flags, 8 * sizeof cell.flags[0]) == 0);
        cr_assert(memcmp(cell.round_ns, back.round_ns, sizeof cell.round_ns) == 0);
        char *again = record_cell_text(&back);
        cr_assert(strcmp(text, again) == 0, "not the same after a round trip");
        free(text);
        free(again);
        record_cell_free(&cell);
        record_cell_free(&back);
    }
}

/* Records from before steps without communication were measured have none; there are at most 11. */
Test(record, steps_alone)
{
    struct record_cell cell = example_cell(0);
    char *text = record_cell_text(&cell);
    char *old = example_edit(text, ",\"alone_ns\":null", "");
    struct record_cell back = example_read(old);
    cr_assert(back.n_alone == 0);
    record_cell_free(&back);
    example_edit_refused(text, "\"alone_ns\":null", "\"alone_ns\":[1,2,3,4,5,6,7,8,9,10,11,12]",
                         "alone_ns");
    free(old);
    free(text);
    record_cell_free(&cell);
}

/* Phases come from separate steps, which may take longer than a sample: then the part outside of
 * products is a part of those, and their cost is known. */
Test(record, phased_steps)
{
    struct record_cell cell = example_cell(0);
    const double outside = cell.outside_frac;
    cr_assert(isnan(cell.tracing_ns));
    cell.phased_ns = calloc(cell.n_samples, sizeof cell.phased_ns[0]);
    cr_assert(cell.phased_ns);
    for (size_t i = 0; i < cell.n_samples; ++i) {
        cell.phased_ns[i] = 2 * cell.t_step_ns[i];
        cell.phase_ns[RECORD_FORWARD][i] = cell.t_step_ns[i] + 1;
    }
    record_derive(&cell);
    cr_assert(cell.tracing_ns == cell.median_ns);
    cr_assert(cell.outside_frac > outside);
    char *text = record_cell_text(&cell);
    char *spaced = example_edit(text, "\"phased_ns\":[", "\"phased_ns\": [");
    struct record_cell back = example_read(spaced);
    cr_assert(back.phased_ns && back.phased_ns[1] == cell.phased_ns[1]);
    record_cell_free(&back);
    example_edit_refused(text, "\"phased_ns\":[", "\"phased_ns\":[7,", "phased_ns");
    free(spaced);
    free(text);
    record_cell_free(&cell);
}

/* The parts of the machine are kept; records without them say nothing of them. */
Test(record, parts_round_trip)
{
    struct record_cell cell = example_cell(0);
    char *none = record_cell_text(&cell);
    example_parts(&cell);
    cr_assert(cell.part[RECORD_PRODUCT].rows == 2 && cell.part[RECORD_COPY].rows == 4);
    char *text = record_cell_text(&cell);
    struct record_cell back = example_read(text);
    for (int p = 0; p < RECORD_PARTS; ++p) {
        const struct record_part_times *a = &cell.part[p], *b = &back.part[p];
        cr_assert(b->work == a->work && b->rows == a->rows && b->n == a->n);
        cr_assert(memcmp(b->ns, a->ns, a->rows * a->n * sizeof a->ns[0]) == 0);
    }
    record_cell_free(&back);
    back = example_read(none);
    cr_assert(!strstr(none, "parts") && !back.part[RECORD_PRODUCT].ns &&
              !back.part[RECORD_COPY].ns);
    record_cell_free(&back);
    const char *const wrong[][3] = {
        {"[1,2,3]", "[1,2]", "\"product\" of row 1 is not an array of 2 times"},
        {",[4,5,6]", "", "\"product\" has 1 elements, expected 2"},
        {"[1,2,3],[4,5,6]", "[],[]", "\"product\" of \"parts\" has no arrays of 1 to 512"},
        {"[4,5,6]", "[4,0,6]", "sample 1 of row 1 of \"product\" took 0 ns"},
        {"[0,0,0]", "[0,7,0]", "sample 1 of row 0 of \"copy\" took"},
        {"[31,32,33]", "[31,0,33]", "sample 1 of row 0 of \"from_host\" took 0 ns"},
        {",[54,55,56]", "", "\"memory\" has 1 elements, expected 2"},
        {"\"work\":1001", "\"work\":0", "\"work\" is 0"},
        {"[14,15,16]", "[14,-15,16]", "\"sustained\" is -15"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i)
        example_edit_refused(text, wrong[i][0], wrong[i][1], wrong[i][2]);
    free(none);
    free(text);
    record_cell_free(&cell);
}

/* Programs that kept no rounds cut the hidden part at 0 and 1; with rounds nothing is cut. */
Test(record, ranks_without_rounds_are_read)
{
    struct record_cell cell = example_cell(0), back;
    example_ranks(&cell);
    cell.n_rounds = 0;
    static const double cut[][2] = {{110, 0.75}, {90, 1}, {90, 1.25}, {150, 0}, {150, -0.25}};
    for (size_t i = 0; i < sizeof cut / sizeof cut[0]; ++i) {
        cell.whole_ns = cut[i][0];
        cell.hidden_frac = cut[i][1];
        back = example_again(&cell);
        cr_assert(back.hidden_frac == cut[i][1] && back.n_rounds == 0, "row %zu", i);
        record_cell_free(&back);
    }
    char *text = record_cell_text(&cell);
    char *old = example_edit(text, ",\"rounds_ns\":null", "");
    back = example_read(old);
    record_cell_free(&back);
    free(old);
    free(text);
    record_cell_free(&cell);
}

/* Removes ,"NAME":VALUE from the text; returns VALUE as it is written. */
static char *without(char *text, const char *member)
{
    char *rest = example_edit(text, member, "");
    free(text);
    return rest;
}

/* Files of minor 0 have no such members: they were strong sweeps of one launch. */
Test(record, earlier_minor_is_read)
{
    const struct record_run run = example_run();
    char *text = without(record_run_text(&run), ",\"scaling\":\"weak\",\"launches\":50");
    const struct record_run back = example_run_read(text);
    cr_assert(strcmp(back.scaling, "strong") == 0 && back.launches == 1);
    free(text);

    struct record_cell cell = example_cell(0), old;
    cr_assert(cell.outside_frac == 0.25, "%g", cell.outside_frac);
    free(cell.matmul_ns);
    cell.matmul_ns = NULL;
    record_derive(&cell);
    cr_assert(isnan(cell.outside_frac));
    text =
        without(without(record_cell_text(&cell), ",\"outside_frac\":null"), ",\"matmul_ns\":null");
    old = example_read(text);
    cr_assert(isnan(old.outside_frac) && !old.matmul_ns);
    free(text);
    record_cell_free(&old);
    text = without(without(record_cell_text(&cell), ",\"bucket_bytes\":0"),
                   ",\"peak_bytes\":[8192,1024]");
    text = without(text, ",\"kernels_per_step\":37.0");
    text = without(text, ",\"whole_ns\":null,\"hidden_frac\":null");
    text = without(text, ",\"foreign_frac\":0.25,\"steal_frac\":0.0");
    old = example_read(text);
    cr_assert(isnan(old.foreign_frac) && isnan(old.steal_frac) && old.cpu_hz == 2.5e9);
    cr_assert(old.key.bucket_bytes == 0 && old.n_peaks == 0 && isnan(old.whole_ns));
    cr_assert(isnan(old.hidden_frac) && isnan(old.kernels_per_step));
    free(text);
    record_cell_free(&cell);
    record_cell_free(&old);
}

/* Names that would do harm in HTML, gnuplot, a shell, CSV or a terminal are just data here. */
Test(record, hostile_names_round_trip)
{
    static const char *const names[] = {
        "a\"b'c",
        "`reboot`",
        "<script>x</script>",
        "1,2;3",
        "tab\tnew\nline\r",
        "\x01\x1b[31m\x7f",
        "\xe2\x82\xac \xf0\x9f\x92\xa9",
        "back\\slash \\u0041",
        "$(id) %s%n",
        "",
        "]]>&amp;",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        struct record_cell cell = example_cell(0);
        snprintf(cell.key.workload, sizeof cell.key.workload, "%s", names[i]);
        snprintf(cell.reason, sizeof cell.reason, ".%s", names[i]);
        cell.status = RECORD_FAILED;
        cell.validated = false;
        record_cell_id(&cell.key, cell.cell_id);
        char *text = record_cell_text(&cell);
        cr_assert(!strpbrk(text, "\n\r\x1b"), "name %zu", i);
        struct record_cell back = example_read(text);
        cr_assert(strcmp(back.key.workload, names[i]) == 0, "name %zu", i);
        cr_assert(strcmp(back.reason + 1, names[i]) == 0, "name %zu", i);
        free(text);
        record_cell_free(&cell);
        record_cell_free(&back);
    }
}

/* A name was cut in the middle of a character, or never was UTF-8. */
Test(record, what_is_not_utf8_becomes_question_marks)
{
    static const char *const names[][2] = {
        {"caf\xc3", "caf?"},          {"\xff\xfe", "??"}, {"a\xe2\x82z", "a??z"},
        {"\xed\xa0\x80", "???"},      {"\xc0\xaf", "??"}, {"\xf0\x9f\x92", "???"},
        {"\xf5\x80\x80\x80", "????"}, {"\x80", "?"},      {"\xe0\x80\x80", "???"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        struct record_run run = example_run();
        snprintf(run.cpu_model, sizeof run.cpu_model, "%s", names[i][0]);
        char *text = record_run_text(&run);
        const struct record_run back = example_run_read(text);
        cr_assert(strcmp(back.cpu_model, names[i][1]) == 0, "%zu: %s", i, back.cpu_model);
        free(text);
    }
}

Test(record, nothing_measured_is_null)
{
    struct record_cell cell = {.run_id = EXAMPLE_RUN_ID,
                               .key = {.mode = "dp"},
                               .status = RECORD_CRASHED,
                               .reason = "killed",
                               .bus_factor = NAN,
                               .compute_alone_ns = NAN,
                               .comm_alone_ns = NAN,
                               .whole_ns = NAN,
                               .hidden_frac = NAN};
    record_cell_id(&cell.key, cell.cell_id);
    cr_assert(record_cell_alloc(&cell, 0, 0) == 0);
    record_derive(&cell);
    cr_assert(isnan(cell.median_ns) && isnan(cell.throughput_samples_per_s) && !cell.has_ci);
    cell.flops_per_step = (double)INFINITY;
    char *text = record_cell_text(&cell);
    cr_assert(strstr(text, "\"median_ns\":null"));
    cr_assert(!strstr(text, "NaN") && !strstr(text, "nan"));
    cr_assert(strstr(text, "\"flops_per_step\":null"));
    struct record_cell back = example_read(text);
    cr_assert(isnan(back.median_ns) && back.status == RECORD_CRASHED && back.n_samples == 0);
    free(text);
    record_cell_free(&cell);
    record_cell_free(&back);
}

Test(record, derived_fields)
{
    struct record_cell cell = example_cell(0);
    cr_assert(cell.n_valid == 6 && cell.median_ns == 125 && cell.has_ci);
    cell.flags[5] = RECORD_BAD_VALUES;
    record_derive(&cell);
    /* Steps 2, 3, 4, 6, 7 count: 100 120 110 130 140. */
    cr_assert(cell.n_valid == 5 && cell.median_ns == 120 && cell.mean_ns == 120);
    cr_assert(cell.min_ns == 100 && cell.max_ns == 140 && !cell.has_ci);
    cr_assert(fabs(cell.throughput_samples_per_s - 30 * 5 / 600e-9) < 1, "%g",
              cell.throughput_samples_per_s);
    cr_assert(cell.flags[0] == RECORD_WARMUP && cell.flags[1] == RECORD_WARMUP);
    cr_assert(cell.flags[5] == RECORD_BAD_VALUES, "an excluded sample is no outlier");
    /* Slowest rank of those steps: 25 30 40 60 70. The median of rank 0 is 40, of rank 1 25. */
    cr_assert(cell.phase_median_ns[RECORD_SCATTER] == 40, "%g",
              cell.phase_median_ns[RECORD_SCATTER]);
    cell.t_step_ns[7] = 100000;
    cell.t_step_ns[6] = 160;
    record_derive(&cell);
    cr_assert(cell.n_valid == 5, "outliers are not dropped");
    cr_assert(cell.flags[7] == RECORD_SEVERE && cell.max_ns == 100000);
    cell.t_step_ns[7] = 140;
    record_derive(&cell);
    cr_assert(cell.flags[7] == 0, "an old flag stayed");
    record_cell_free(&cell);
}

/* The number was computed apart from this program: FNV-1a of the fields and their zero bytes. */
Test(record, cell_id_is_a_function_of_the_key)
{
    struct record_key key = {"mlp:4,4", "dp",  "virt:2",  2,          30,
                             "f32",     "cpu", "threads", .launch = 0};
    char id[17], other[17];
    record_cell_id(&key, id);
    cr_assert(strcmp(id, "f87428904e012e6e") == 0, "%s", id);
    key.launch = 1;
    record_cell_id(&key, other);
    cr_assert(strcmp(id, other) != 0, "launches are cells of their own");
    struct record_key a = {.workload = "ab", .mode = "c"}, b = {.workload = "a", .mode = "bc"};
    record_cell_id(&a, id);
    record_cell_id(&b, other);
    cr_assert(strcmp(id, other) != 0, "fields run together");
}

Test(record, unknown_fields_and_minors_are_ignored)
{
    struct record_cell cell = example_cell(0);
    char *text = record_cell_text(&cell);
    char *newer = example_edit(text, "cell/1.1\"", "cell/1.23\",\"later\":[1,{\"x\":null}]");
    struct record_cell back = example_read(newer);
    cr_assert(back.median_ns == 125);
    free(text);
    free(newer);
    record_cell_free(&cell);
    record_cell_free(&back);
}

Test(record, counts_beyond_exact_numbers_are_not_written)
{
    struct record_cell cell = example_cell(0);
    cell.t_step_ns[3] = (UINT64_C(1) << 53) + 1;
    cr_assert(!record_cell_text(&cell), "2^53 + 1 would be read as 2^53 elsewhere");
    record_cell_free(&cell);
}

Test(record, decimal_comma_changes_nothing)
{
    const struct record_run run = example_run();
    char *want = record_run_text(&run);
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE.utf8")) {
        free(want);
        cr_skip_test("no locale with a decimal comma is installed");
    }
    char *text = record_run_text(&run);
    cr_assert(strcmp(text, want) == 0, "%s", text);
    cr_assert(example_run_read(text).timer_overhead_ns == 23.5);
    free(text);
    free(want);
}
