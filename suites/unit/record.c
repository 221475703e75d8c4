/* record.c: tests of records as text: what is written is what is read, and what is not a record
 * is refused with a reason. */
#include <criterion/criterion.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "record_example.h"

Test(record, run_round_trip)
{
    const struct record_run run = example_run();
    char *text = record_run_text(&run);
    cr_assert(text != NULL && strchr(text, '\n') == NULL);
    cr_assert(strstr(text, "{\"schema\":\"lockstep/run/1.1\",\"run_id\":\"0123456789abcdef\"") ==
              text);
    cr_assert(strstr(text, "\"seed\":\"18446744073709551615\"") != NULL, "seeds are text");
    struct record_run back;
    struct record_error err = {""};
    cr_assert(record_run_parse(text, &back, &err) == 0, "%s", err.text);
    cr_assert(back.seed == run.seed && back.git_dirty && back.mem_bytes == run.mem_bytes);
    cr_assert(back.load_avg[1] == 1.0 / 3 && back.timer_overhead_ns == 23.5);
    cr_assert(strcmp(back.cpu_model, run.cpu_model) == 0, "%s", back.cpu_model);
    cr_assert(back.n_slots == 2 && back.slot[1].numa_node == -1 && back.slot[0].bound);
    cr_assert(back.planned == 12 && strcmp(back.slot[1].name, "virt:1") == 0);
    char *again = record_run_text(&back);
    cr_assert(strcmp(text, again) == 0, "not the same after a round trip");
    free(text);
    free(again);
}

Test(record, cell_round_trip)
{
    struct record_cell cell = example_cell(0), back;
    char *text = record_cell_text(&cell);
    struct record_error err = {""};
    cr_assert(text != NULL && record_cell_parse(text, &back, &err) == 0, "%s", err.text);
    cr_assert(strcmp(back.key.workload, "mlp:4,4") == 0 && strcmp(back.key.devices, "virt:2") == 0);
    cr_assert(back.key.n_devices == 2 && back.key.global_batch == 30 && back.key.launch == 0);
    cr_assert(strcmp(back.key.communicator, "threads") == 0 && strcmp(back.key.mode, "dp") == 0);
    cr_assert(memcmp(cell.shard, back.shard, sizeof cell.shard) == 0 && back.n_shards == 2);
    cr_assert(back.n_samples == 8 && back.n_ranks == 2 && back.validated);
    cr_assert(memcmp(cell.t_step_ns, back.t_step_ns, 8 * sizeof cell.t_step_ns[0]) == 0);
    cr_assert(memcmp(cell.flags, back.flags, 8 * sizeof cell.flags[0]) == 0);
    cr_assert(back.phase_ns[RECORD_GATHER] == NULL && isnan(back.phase_median_ns[RECORD_GATHER]));
    cr_assert(back.phase_ns[RECORD_UPDATE][7] == 70 && back.phase_ns[RECORD_UPDATE][8] == 25);
    cr_assert(back.start_epoch_ns == cell.start_epoch_ns && back.first_bad_step == -1);
    cr_assert(back.median_ns == cell.median_ns && back.flops_per_step == 1e9 / 3);
    char *again = record_cell_text(&back);
    cr_assert(strcmp(text, again) == 0, "not the same after a round trip");
    free(text);
    free(again);
    record_cell_free(&cell);
    record_cell_free(&back);
}

/* Cuts ,"NAME":VALUE out; value is how it is written. */
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
    struct record_run back;
    struct record_error err = {""};
    char *text = without(record_run_text(&run), ",\"scaling\":\"weak\",\"launches\":7");
    cr_assert(record_run_parse(text, &back, &err) == 0, "%s", err.text);
    cr_assert(strcmp(back.scaling, "strong") == 0 && back.launches == 1);
    free(text);

    struct record_cell cell = example_cell(0), old;
    cr_assert(cell.outside_frac == 0.25, "%g", cell.outside_frac);
    free(cell.matmul_ns);
    cell.matmul_ns = NULL;
    cr_assert(record_derive(&cell) == 0 && isnan(cell.outside_frac));
    text =
        without(without(record_cell_text(&cell), ",\"outside_frac\":null"), ",\"matmul_ns\":null");
    cr_assert(record_cell_parse(text, &old, &err) == 0, "%s", err.text);
    cr_assert(isnan(old.outside_frac) && old.matmul_ns == NULL);
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
        struct record_cell cell = example_cell(0), back;
        snprintf(cell.key.workload, sizeof cell.key.workload, "%s", names[i]);
        snprintf(cell.reason, sizeof cell.reason, "%s", names[i]);
        record_cell_id(&cell.key, cell.cell_id);
        char *text = record_cell_text(&cell);
        struct record_error err = {""};
        cr_assert(text != NULL && strpbrk(text, "\n\r\x1b") == NULL, "name %zu", i);
        cr_assert(record_cell_parse(text, &back, &err) == 0, "name %zu: %s", i, err.text);
        cr_assert(strcmp(back.key.workload, names[i]) == 0, "name %zu", i);
        cr_assert(strcmp(back.reason, names[i]) == 0, "name %zu", i);
        free(text);
        record_cell_free(&cell);
        record_cell_free(&back);
    }
}

/* A name that was cut in the middle of a character, or never was UTF-8. */
Test(record, what_is_not_utf8_becomes_question_marks)
{
    static const char *const names[][2] = {
        {"caf\xc3", "caf?"},          {"\xff\xfe", "??"}, {"a\xe2\x82z", "a??z"},
        {"\xed\xa0\x80", "???"},      {"\xc0\xaf", "??"}, {"\xf0\x9f\x92", "???"},
        {"\xf5\x80\x80\x80", "????"}, {"\x80", "?"},      {"\xe0\x80\x80", "???"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        struct record_run run = example_run(), back;
        snprintf(run.cpu_model, sizeof run.cpu_model, "%s", names[i][0]);
        char *text = record_run_text(&run);
        struct record_error err = {""};
        cr_assert(text != NULL && record_run_parse(text, &back, &err) == 0, "%zu: %s", i, err.text);
        cr_assert(strcmp(back.cpu_model, names[i][1]) == 0, "%zu: %s", i, back.cpu_model);
        free(text);
    }
}

Test(record, nothing_measured_is_null)
{
    struct record_cell cell = {.run_id = EXAMPLE_RUN_ID, .status = RECORD_CRASHED}, back;
    record_cell_id(&cell.key, cell.cell_id);
    cr_assert(record_cell_alloc(&cell, 0, 0) == 0 && record_derive(&cell) == 0);
    cr_assert(isnan(cell.median_ns) && isnan(cell.throughput_samples_per_s) && !cell.has_ci);
    cell.flops_per_step = (double)INFINITY;
    char *text = record_cell_text(&cell);
    cr_assert(text != NULL && strstr(text, "\"median_ns\":null") != NULL);
    cr_assert(strstr(text, "NaN") == NULL && strstr(text, "nan") == NULL);
    cr_assert(strstr(text, "\"flops_per_step\":null") != NULL);
    struct record_error err = {""};
    cr_assert(record_cell_parse(text, &back, &err) == 0, "%s", err.text);
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
    cr_assert(record_derive(&cell) == 0);
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
    cr_assert(record_derive(&cell) == 0 && cell.n_valid == 5, "outliers are not dropped");
    cr_assert(cell.flags[7] == RECORD_SEVERE && cell.max_ns == 100000);
    cell.t_step_ns[7] = 140;
    cr_assert(record_derive(&cell) == 0 && cell.flags[7] == 0, "an old flag stayed");
    record_cell_free(&cell);
}

/* The number was computed apart from this program: FNV-1a of the fields and their zero bytes. */
Test(record, cell_id_is_a_function_of_the_key)
{
    struct record_key key = {"mlp:4,4", "dp", "virt:2", 2, 30, "f32", "cpu", "threads", 0};
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

struct edit {
    const char *old, *with, *named; /* named: what the message must contain */
};

static void check_edits(const char *text, const struct edit list[], size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        struct record_cell cell;
        struct record_error err = {""};
        char *edited = example_edit(text, list[i].old, list[i].with);
        cr_assert(record_cell_parse(edited, &cell, &err) == -1, "%s was read", list[i].with);
        cr_assert(strstr(err.text, list[i].named) != NULL, "\"%s\" does not name %s", err.text,
                  list[i].named);
        free(edited);
    }
}

static const struct edit edits[] = {
    {"cell/1.1", "cell/2.0", "lockstep/cell/2.0"},
    {"cell/1.1", "cell/1.", "not known"},
    {"cell/1.1", "cell/1.0x", "not known"},
    {"cell/1.1", "run/1.1", "expected lockstep/cell"},
    {"\"lockstep/cell/1.1\"", "7", "schema"},
    {"\"n_samples\":8", "\"n_samples\":9", "t_step_ns"},
    {"\"n_samples\":8", "\"n_samples\":-1", "n_samples"},
    {"\"n_samples\":8", "\"n_samples\":9223372036854775807", "n_samples"},
    {"\"n_samples\":8", "\"n_samples\":9223372036854775808", "not JSON"},
    {"\"n_samples\":8", "\"n_samples\":9007199254740992", "t_step_ns"},
    {"\"n_samples\":8", "\"n_samples\":8.0", "n_samples"},
    {"\"n_samples\":8", "\"n_samples\":\"8\"", "n_samples"},
    {"\"n_samples\":8", "\"n_samples\":8,\"n_samples\":8", "not JSON"},
    {"\"n_ranks\":2", "\"n_ranks\":3", "scatter"},
    {"\"n_ranks\":2", "\"n_ranks\":65", "n_ranks"},
    {"\"n_ranks\":2", "\"n_ranks\":-2", "n_ranks"},
    {"\"n_valid\":6", "\"n_valid\":9", "9 valid"},
    {"\"median_ns\":125.0", "\"median_ns\":\"fast\"", "median_ns"},
    {"\"median_ns\":125.0", "\"median_ns\":null", "summary"},
    {"\"median_ns\":125.0", "\"median_ns\":-120", "summary"},
    {"\"median_ns\":125.0", "\"median_ns\":1e999", "not JSON"},
    {"\"median_ns\":125.0", "\"median_ns\":NaN", "not JSON"},
    {"\"validated\":true", "\"validated\":1", "validated"},
    {"\"validated\":true", "\"validated\":false", "no value was checked"},
    {"\"validated\":true,", "", "validated"},
    {"\"status\":\"ok\"", "\"status\":\"great\"", "great"},
    {"\"status\":\"ok\"", "\"status\":\"gr\\u001beat\\n\"", "gr?eat?"},
    {"\"status\":\"ok\"", "\"status\":\"o\\u0000k\"", "not JSON"},
    {"\"shard_rows\":[15,15]", "\"shard_rows\":[15,-15]", "shard_rows"},
    {"\"shard_rows\":[15,15]", "\"shard_rows\":{}", "shard_rows"},
    {"\"flags\":[1", "\"flags\":[-1", "flags"},
    {"\"flags\":[1", "\"flags\":[[1]", "flags"},
    {"\"t_start_ns\":[0", "\"t_start_ns\":[9007199254740993", "t_start_ns"},
    {"\"t_step_ns\":[900", "\"t_step_ns\":[-900", "t_step_ns"},
    {"\"phase_ns\":{", "\"phase_ns\":{\"x\":[", "not JSON"},
    {"\"scatter\":[[0", "\"scatter\":[[[0]", "scatter"},
    {"\"scatter\":[[0,", "\"scatter\":[[", "scatter"},
    {"\"raw\":{", "\"raw\":[{", "not JSON"},
    {"\"raw\":{", "\"raw\":{},\"extra\":{", "phase_ns"},
    {"\"cell\":{", "\"cell\":5,\"extra\":{", "cell"},
    {"\"global_batch\":30", "\"global_batch\":31", "cell_id"},
    {"\"start_epoch_ns\":\"", "\"start_epoch_ns\":\"-", "start_epoch_ns"},
    {"\"start_epoch_ns\":\"", "\"start_epoch_ns\":\"9999", "64 bits"},
    {"\"run_id\":\"0123", "\"run_id\":\"ABCD", "16 hex"},
    {"\"mode\":\"dp\"", "\"mode\":\"dpdpdpdp\"", "mode"},
};

Test(record, edited_cells_are_refused)
{
    struct record_cell cell = example_cell(0);
    char *text = record_cell_text(&cell);
    cr_assert(text != NULL);
    check_edits(text, edits, sizeof edits / sizeof edits[0]);
    free(text);
    record_cell_free(&cell);
}

/* Arrays that are longer than the struct has room for. */
Test(record, long_arrays_are_refused)
{
    static char shards[3000] = "\"shard_rows\":[15", slots[3000] = "\"slots\":[{}";
    for (int i = 0; i < 500; ++i) {
        strcat(shards, ",15");
        strcat(slots, ",{}");
    }
    struct record_cell cell = example_cell(0), back;
    const struct record_run run = example_run();
    struct record_run run_back;
    struct record_error err = {""};
    char *cell_text = record_cell_text(&cell), *run_text = record_run_text(&run);
    char *cell_edited = example_edit(cell_text, "\"shard_rows\":[15", shards);
    char *run_edited = example_edit(run_text, "\"slots\":[", strcat(slots, ","));
    cr_assert(record_cell_parse(cell_edited, &back, &err) == -1);
    cr_assert(strstr(err.text, "at most 64") != NULL, "%s", err.text);
    cr_assert(record_run_parse(run_edited, &run_back, &err) == -1);
    cr_assert(strstr(err.text, "at most 64") != NULL, "%s", err.text);
    free(cell_text);
    free(run_text);
    free(cell_edited);
    free(run_edited);
    record_cell_free(&cell);
}

Test(record, not_json_is_refused)
{
    static const char *const lines[] = {
        "",
        " ",
        "{",
        "null",
        "[]",
        "7",
        "\"x\"",
        "{}",
        "{\"schema\":null}",
        "\xff\xfe{}",
        "{\"schema\":\"lockstep/cell/1.1\"}",
        "{\"schema\":\"lockstep/cell/1.1\"} x",
        "{\"schema\":\"nvbench/1.0\"}",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; ++i) {
        struct record_cell cell;
        struct record_run run;
        struct record_error err = {""};
        cr_assert(record_cell_parse(lines[i], &cell, &err) == -1 && err.text[0] != '\0', "%zu", i);
        cr_assert(record_run_parse(lines[i], &run, &err) == -1 && err.text[0] != '\0', "%zu", i);
    }
    /* Deeper than any parser's stack. */
    char *deep = malloc(200001);
    cr_assert(deep != NULL);
    memset(deep, '[', 200000);
    deep[200000] = '\0';
    struct record_cell cell;
    struct record_error err = {""};
    cr_assert(record_cell_parse(deep, &cell, &err) == -1);
    free(deep);
}

Test(record, unknown_fields_and_minors_are_ignored)
{
    struct record_cell cell = example_cell(0), back;
    char *text = record_cell_text(&cell);
    char *newer = example_edit(text, "cell/1.1\"", "cell/1.23\",\"later\":[1,{\"x\":null}]");
    struct record_error err = {""};
    cr_assert(record_cell_parse(newer, &back, &err) == 0, "%s", err.text);
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
    cr_assert(record_cell_text(&cell) == NULL, "2^53 + 1 would be read as 2^53 elsewhere");
    record_cell_free(&cell);
}

Test(record, decimal_comma_changes_nothing)
{
    struct record_run run = example_run(), back;
    char *want = record_run_text(&run);
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL && setlocale(LC_ALL, "de_DE.utf8") == NULL) {
        free(want);
        cr_skip_test("no locale with a decimal comma is installed");
    }
    char *text = record_run_text(&run);
    struct record_error err = {""};
    cr_assert(strcmp(text, want) == 0, "%s", text);
    cr_assert(record_run_parse(text, &back, &err) == 0 && back.timer_overhead_ns == 23.5);
    free(text);
    free(want);
}

/* Some bytes of a good line are overwritten, removed or doubled: it is read or refused with one
 * line of text, and under the sanitizers without any other harm. */
static char *mutate(const char *line, uint64_t *state)
{
    static const char bytes[] = "0123456789-+.eE\"\\[]{},:nulltruefalse \x01\x7f\x80\xff";
    const size_t length = strlen(line);
    char *copy = malloc(2 * length + 1);
    cr_assert(copy != NULL);
    memcpy(copy, line, length + 1);
    const unsigned rounds = 1 + (unsigned)(*state >> 60) % 4;
    for (unsigned i = 0; i < rounds; ++i) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const size_t now = strlen(copy), at = (size_t)(*state >> 20) % (now + 1);
        const size_t span = (size_t)(*state >> 50) % 7, rest = now - at;
        const unsigned kind = (unsigned)(*state >> 57) % 3;
        const size_t cut = span < rest ? span : rest;
        if (kind == 0 && at < now) {
            copy[at] = bytes[(size_t)(*state >> 33) % (sizeof bytes - 1)];
        } else if (kind == 1) {
            memmove(copy + at, copy + at + cut, rest - cut + 1);
        } else if (now + cut <= 2 * length) {
            memmove(copy + at + cut, copy + at, rest + 1);
        }
    }
    return copy;
}

Test(record, damaged_lines_do_no_harm, .timeout = 50)
{
    struct record_cell cell = example_cell(0);
    struct record_run run = example_run();
    char *lines[2] = {record_cell_text(&cell), record_run_text(&run)};
    uint64_t state = 1;
    size_t refused = 0;
    for (int i = 0; i < 20000; ++i) {
        char *line = mutate(lines[i % 2], &state);
        struct record_cell got = {.n_ranks = 0};
        struct record_run got_run;
        struct record_error err = {""};
        const int status = i % 2 == 0 ? record_cell_parse(line, &got, &err)
                                      : record_run_parse(line, &got_run, &err);
        cr_assert(status == 0 || (err.text[0] != '\0' && strpbrk(err.text, "\n\x01") == NULL),
                  "round %d: no reason given", i);
        refused += status != 0;
        if (status == 0 && i % 2 == 0) {
            record_cell_free(&got);
        }
        free(line);
    }
    cr_assert(refused > 10000 && refused < 20000, "%zu of 20000 refused", refused);
    free(lines[0]);
    free(lines[1]);
    record_cell_free(&cell);
}
