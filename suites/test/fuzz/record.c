/* record.c: a line of a sweep's file. What is accepted is JSON for jansson, too, can be written,
 * and read again the same; a cell that is read without JSON is the one that JSON gives. */
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

static void try_direct(const char *line)
{
    struct record_cell cell, again;
    struct text_error err = {""}, err_json = {""};
    char chain[DIGEST_HEX];
    json_t *root;
    int status;

    if (!record_cell_direct(line, strlen(line), &cell, chain))
        return;
    status = record_cell_check(&cell, &err);
    root = record_json_load(line, strlen(line), &err_json);
    fuzz_must(root != NULL, "a line that is not JSON is read without JSON");
    fuzz_must(record_cell_from_json(root, &again, &err_json) == status,
              "a cell read without JSON is right or wrong otherwise");
    json_decref(root);
    if (status != 0) {
        fuzz_must(strcmp(err.text, err_json.text) == 0, "it is wrong for another reason");
    } else {
        char *first = record_cell_text(&cell), *second = record_cell_text(&again);

        fuzz_must(first && second && strcmp(first, second) == 0, "it is another cell");
        free(first);
        free(second);
        record_cell_free(&again);
    }
    record_cell_free(&cell);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *line = fuzz_text(data, bytes);

    try_run(line);
    try_cell(line);
    try_direct(line);
    free(line);
    return 0;
}
