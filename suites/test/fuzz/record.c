/* record.c: a line of a sweep's file. What is accepted is JSON for jansson, too, can be written,
 * and read again the same. */
#include "fuzz.h"

#include "record/json.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void must_be_json(const char *line)
{
    json_t *root = json_loads(line, JSON_REJECT_DUPLICATES, NULL);

    fuzz_must(root != NULL, "a line that is not JSON is a record");
    json_decref(root);
}

static void try_run(const char *line)
{
    static struct record_run run, again;
    struct text_error err = {""};
    char *first, *second;

    if (record_run_parse(line, &run, &err) != 0) {
        fuzz_must_be_line(err.text);
        return;
    }
    must_be_json(line);
    first = record_run_text(&run);
    fuzz_must(first != NULL, "a header that was read cannot be written");
    fuzz_must(record_run_parse(first, &again, &err) == 0, "a header as written is refused");
    second = record_run_text(&again);
    fuzz_must(second && strcmp(first, second) == 0, "a header is another when read again");
    free(first);
    free(second);
}

static void try_cell(const char *line)
{
    struct record_cell cell = {.n_samples = 0}, again = {.n_samples = 0};
    struct text_error err = {""};
    char *first, *second;

    if (record_cell_parse(line, &cell, &err) != 0) {
        fuzz_must_be_line(err.text);
        return;
    }
    must_be_json(line);
    first = record_cell_text(&cell);
    fuzz_must(first != NULL, "a cell that was read cannot be written");
    fuzz_must(record_cell_parse(first, &again, &err) == 0, "a cell as written is refused");
    second = record_cell_text(&again);
    fuzz_must(second && strcmp(first, second) == 0, "a cell is another when read again");
    free(first);
    free(second);
    record_cell_free(&cell);
    record_cell_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *line = fuzz_text(data, bytes);

    try_run(line);
    try_cell(line);
    free(line);
    return 0;
}
