/* record_refused.c: tests of text that is no record, or almost one: it is refused with a reason. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/record.h"
#include "record_example.h"

static const struct {
    const char *old, *with, *named; /* named: what the message must contain */
} edits[] = {
    {"cell/1.1", "cell/2.0", "lockstep/cell/2.0"},
    {"cell/1.1", "cell/1.", "not known"},
    {"cell/1.1", "cell/1.0x", "not known"},
    {"cell/1.1", "run/1.1", "expected lockstep/cell"},
    {"\"lockstep/cell/1.1\"", "7", "schema"},
    {"\"n_samples\":8", "\"n_samples\":9", "t_start_ns"},
    {"\"n_samples\":8", "\"n_samples\":-1", "n_samples"},
    {"\"n_samples\":8", "\"n_samples\":9223372036854775807", "n_samples"},
    {"\"n_samples\":8", "\"n_samples\":9223372036854775808", "not JSON"},
    {"\"n_samples\":8", "\"n_samples\":9007199254740992", "t_start_ns"},
    {"\"n_samples\":8", "\"n_samples\":8.0", "n_samples"},
    {"\"n_samples\":8", "\"n_samples\":\"8\"", "n_samples"},
    {"\"n_samples\":8", "\"n_samples\":8,\"n_samples\":8", "not JSON"},
    {"\"n_ranks\":2", "\"n_ranks\":3", "scatter"},
    {"\"n_ranks\":2", "\"n_ranks\":65", "n_ranks"},
    {"\"n_ranks\":2", "\"n_ranks\":-2", "n_ranks"},
    {"\"n_valid\":6", "\"n_valid\":9", "\"n_valid\" is 9"},
    {"\"median_ns\":125.0", "\"median_ns\":\"fast\"", "median_ns"},
    {"\"median_ns\":125.0", "\"median_ns\":null", "\"median_ns\" does not follow"},
    {"\"median_ns\":125.0", "\"median_ns\":-120", "outside 0"},
    {"\"median_ns\":125.0", "\"median_ns\":1e999", "not JSON"},
    {"\"median_ns\":125.0", "\"median_ns\":NaN", "not JSON"},
    {"\"validated\":true", "\"validated\":1", "validated"},
    {"\"validated\":true", "\"validated\":false", "\"validated\" is 0"},
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
    {"\"raw\":{", "\"raw\":{},\"extra\":{", "t_start_ns"},
    {"\"cell\":{", "\"cell\":5,\"extra\":{", "cell"},
    {"\"global_batch\":30", "\"global_batch\":31", "cell_id"},
    {"\"start_epoch_ns\":\"", "\"start_epoch_ns\":\"-", "start_epoch_ns"},
    {"\"start_epoch_ns\":\"", "\"start_epoch_ns\":\"9999", "64 bits"},
    {"\"run_id\":\"0123", "\"run_id\":\"ABCD", "16 hex"},
    {"\"mode\":\"dp\"", "\"mode\":\"dpdpdpdpdpdpdpdp\"", "mode"},
    /* Cells that do not show that they were measured and checked; more in record_proof.c. */
    {"\"values_checked\":1234", "\"values_checked\":0", "\"values_checked\" is 0, outside 1"},
    {"\"steps_checked\":8", "\"steps_checked\":7", "\"steps_checked\" is 7, outside 8 to 8"},
    {"\"first_bad_step\":-1", "\"first_bad_step\":3", "\"first_bad_step\" is 3, outside -1"},
    {"[15,15]", "[15,14]", "\"shard_rows\" is 29, outside 30 to 30"},
    {"[15,15]", "[30,0]", "not how mode dp splits 30 rows"},
    {"[15,15]", "[1,1,1]", "\"shard_rows\" is 3, outside 0 to 2"},
    {"[15,15]", "[10,10,10]", "\"shard_rows\" is 3, outside 0 to 2"},
    {"[15,15]", "[]", "\"shard_rows\" is 0, outside 30 to 30"},
    {"\"median_ns\":125.0", "\"median_ns\":1.0", "\"median_ns\" does not follow"},
    {"\"throughput_samples_per_s\":1", "\"throughput_samples_per_s\":9",
     "\"throughput_samples_per_s\" does not follow"},
    {"\"flops_per_token\":null", "\"flops_per_token\":64.0",
     "\"flops_per_token\" is 64, outside 0 to 0"},
    {"\"tokens_per_row\":0", "\"tokens_per_row\":1", "\"flops_per_token\" is nan"},
    {"\"tokens_per_row\":0,\"flops_per_token\":null",
     "\"tokens_per_row\":1,\"flops_per_token\":65.0", "\"flops_per_token\" is"},
    {"\"tokens_per_row\":0,\"flops_per_token\":null",
     "\"tokens_per_row\":9007199254740992,\"flops_per_token\":64.0", "\"flops_per_token\" is"},
    {"\"has_ci\":true", "\"has_ci\":false", "\"has_ci\" does not follow"},
    {"\"forward\":45.0", "\"forward\":1.0", "does not follow"},
    {"\"alone_ns\":null", "\"alone_ns\":[1,1,1,1]", "\"alone_ns\" is 4, outside 5 to 11"},
    {"\"alone_ns\":null", "\"alone_ns\":[1,1,0,1,1]", "step 2 of \"alone_ns\" took no time"},
    {"[8192,1024]", "[8192]", "\"peak_bytes\" is 1, outside 2 to 2"},
    {"\"kernels_per_step\":37.0", "\"kernels_per_step\":0.0",
     "\"kernels_per_step\" is 0, outside 1"},
    {"\"kernels_per_step\":37.0", "\"kernels_per_step\":36.5",
     "\"kernels_per_step\" is 36.5, outside 1 to 36"},
    {"\"status\":\"ok\"", "\"status\":\"failed\"", "\"validated\" is true"},
};

Test(record_refused, edited_cells_are_refused)
{
    struct record_cell cell = example_cell(0);
    char *text = record_cell_text(&cell);
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; ++i)
        example_edit_refused(text, edits[i].old, edits[i].with, edits[i].named);
    free(text);
    record_cell_free(&cell);
}

/* Arrays are longer than the array of the struct. */
Test(record_refused, long_arrays_are_refused)
{
    static char shards[3000] = "\"shard_rows\":[15", slots[3000] = "\"slots\":[{}";
    for (int i = 0; i < 500; ++i) {
        strcat(shards, ",15");
        strcat(slots, ",{}");
    }
    struct record_cell cell = example_cell(0);
    const struct record_run run = example_run();
    char *cell_text = record_cell_text(&cell), *run_text = record_run_text(&run);
    example_edit_refused(cell_text, "\"shard_rows\":[15", shards, "at most 64");
    char *run_edited = example_edit(run_text, "\"slots\":[", strcat(slots, ","));
    example_run_refused(run_edited, "at most 64");
    free(cell_text);
    free(run_text);
    free(run_edited);
    record_cell_free(&cell);
}

Test(record_refused, not_json_is_refused)
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
        example_refused(lines[i], "");
        example_run_refused(lines[i], "");
    }
    /* Deeper than any parser's stack. */
    char *deep = malloc(200001);
    cr_assert(deep);
    memset(deep, '[', 200000);
    deep[200000] = '\0';
    example_refused(deep, "");
    free(deep);
}

/* Some bytes of a good line are overwritten, removed or doubled: it is read or refused with one
 * line of text, and under the sanitizers without any other harm. */
static char *mutate(const char *line, uint64_t *state)
{
    static const char bytes[] = "0123456789-+.eE\"\\[]{},:nulltruefalse \x01\x7f\x80\xff";
    const size_t length = strlen(line);
    char *copy = malloc(2 * length + 1);
    cr_assert(copy);
    memcpy(copy, line, length + 1);
    const unsigned rounds = 1 + (unsigned)(*state >> 60) % 4;
    for (unsigned i = 0; i < rounds; ++i) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const size_t now = strlen(copy), at = (size_t)(*state >> 20) % (now + 1);
        const size_t span = (size_t)(*state >> 50) % 7, rest = now - at;
        const unsigned kind = (unsigned)(*state >> 57) % 3;
        const size_t cut = span < rest ? span : rest;
        if (kind == 0 && at < now)
            copy[at] = bytes[(size_t)(*state >> 33) % (sizeof bytes - 1)];
        else if (kind == 1)
            memmove(copy + at, copy + at + cut, rest - cut + 1);
        else if (now + cut <= 2 * length)
            memmove(copy + at + cut, copy + at, rest + 1);
    }
    return copy;
}

Test(record_refused, damaged_lines_do_no_harm, .timeout = 50)
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
        struct text_error err = {""};
        const int status = i % 2 == 0 ? record_cell_parse(line, &got, &err)
                                      : record_run_parse(line, &got_run, &err);
        cr_assert(status == 0 || (err.text[0] != '\0' && !strpbrk(err.text, "\n\x01")),
                  "round %d: no reason given", i);
        refused += status != 0;
        if (status == 0 && i % 2 == 0)
            record_cell_free(&got);
        free(line);
    }
    cr_assert(refused > 10000 && refused < 20000, "%zu of 20000 refused", refused);
    free(lines[0]);
    free(lines[1]);
    record_cell_free(&cell);
}
