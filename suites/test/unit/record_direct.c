/* record_direct.c: a cell whose "raw" is read without JSON is the same as with JSON, for every
 * line, right or wrong; and the lines of this program are read so. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"
#include "record_example.h"

/* Returns the text of a cell that was read, or NULL if it was refused, for which there must be a
 * reason. Frees the cell. */
static char *record_direct_judge(struct record_cell *cell, int status, const struct text_error *err)
{
    char *text = status == 0 ? record_cell_text(cell) : NULL;
    cr_assert(status != 0 || text, "a cell that was read cannot be written");
    cr_assert(status == 0 || err->text[0] != '\0');
    record_cell_free(cell);
    return text;
}

/* Returns true if the line was read without JSON; then JSON must give the same. */
static bool is_direct(const char *line)
{
    const size_t bytes = strlen(line);
    struct record_cell cell;
    struct text_error err = {""}, err_json = {""};
    char chain[DIGEST_HEX];
    if (!record_cell_direct(line, bytes, &cell, chain))
        return false;
    char *a = record_direct_judge(&cell, record_cell_check(&cell, &err), &err);
    json_t *root = record_json_load(line, bytes, &err_json);
    cr_assert(root, "it is not JSON: %s: %s", err_json.text, line);
    cr_assert(record_json_type(root, &err_json) == RECORD_IS_CELL, "it is no cell: %s", line);
    const struct record_link link = record_link_of(root);
    cr_assert_str_eq(chain, link.chain ? link.chain : "");
    cr_assert(link.here == (link.chain != NULL));
    const int status = record_cell_from_json(root, &cell, &err_json);
    char *b = status == 0 ? record_direct_judge(&cell, status, &err_json) : NULL;
    cr_assert((a == NULL) == (b == NULL), "%s / %s: %s", err.text, err_json.text, line);
    cr_assert(a ? strcmp(a, b) == 0 : strcmp(err.text, err_json.text) == 0, "%s / %s: %s",
              a ? a : err.text, a ? b : err_json.text, line);
    free(a);
    free(b);
    json_decref(root);
    return true;
}

/* What a line has, next to the samples of mode dp. */
enum addition { NOTHING, RANKS, MACHINE, ADDITIONS };

static char *example_line(int launch, enum addition with)
{
    struct record_cell cell = example_cell(launch);
    if (with == RANKS)
        example_ranks(&cell);
    if (with == MACHINE) {
        example_parts(&cell);
        example_gpu(&cell);
        example_series(&cell.gpu->during);
        cell.gpu->after.n_links = 2;
        snprintf(cell.gpu->after.link[1].to, sizeof cell.gpu->after.link[1].to, "0000:05:00.0");
    }
    char *line = record_cell_text(&cell);
    cr_assert(line);
    record_cell_free(&cell);
    return line;
}

Test(record_direct, what_is_written_is_read_so)
{
    for (int with = 0; with < ADDITIONS; ++with) {
        char *line = example_line(3, (enum addition)with);
        cr_assert(is_direct(line), "%s", line);
        line = record_chain_add(line,
                                "00112233445566778899aabbccddeeff00112233445566778899aabbccddee"
                                "ff",
                                false);
        cr_assert(line && is_direct(line), "%s", line);
        free(line);
    }
    struct record_cell failed = example_cell(0);
    failed.status = RECORD_FAILED;
    failed.validated = false;
    failed.first_bad_step = 4;
    snprintf(failed.reason, sizeof failed.reason, "index 7: got 3");
    char *line = record_cell_text(&failed);
    cr_assert(line && is_direct(line), "%s", line);
    free(line);
    record_cell_free(&failed);
}

/* Members that an older program did not know are missing in its lines. */
Test(record_direct, old_lines_are_read_so)
{
    char *line = example_line(0, NOTHING);
    static const char *const missing[] = {",\"sitting\":0", ",\"rounds_ns\":null",
                                          ",\"alone_ns\":null"};
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; ++i) {
        char *edited = example_edit(line, missing[i], "");
        cr_assert(is_direct(edited), "%s", edited);
        free(edited);
    }
    free(line);
}

Test(record_direct, other_lines_are_left_to_json)
{
    static const char *const edits[][2] = {
        {"\"validated\":true", "\"validated\":true,\"validated\":true"},
        {"\"reason\":\"\"", "\"reason\":\"\x01\""},
        {"\"order_index\":", "\"order_index\":0"},
        {"\"order_index\":", "\"order_index\":99999999999999999999"},
        {"\"order_index\":", "\"order_index\":18446744073709551616"},
        {"\"launch\":0", "\"launch\":2147483648"},
        {"\"launch\":0", "\"launch\":0.0"},
        {"{\"schema\"", "{\"raw\":1,\"schema\""},
        {"\"raw\":{", "\"raw\": {"},
        {"\"raw\":{", "\"raw\":{\"x\":1,"},
        {"\"raw\":{", "\"x\":1,\"x\":{"},
        {"\"flags\":[1,", "\"flags\":[65536,"},
        {"\"flags\":[1,", "\"flags\":[01,"},
        {"\"flags\":[1,", "\"flags\":[1,1,"},
        {"\"flags\":[1,", "\"flags\":["},
        {"\"n_samples\":8", "\"n_samples\":7"},
        {"\"n_samples\":8", "\"n_samples\":9007199254740992"},
        {"\"n_ranks\":2", "\"n_ranks\":64"},
        {"\"n_ranks\":2", "\"n_ranks\":0"},
        {"\"cv\":", "\"cv\":1e999,\"x\":"},
        {"\"cv\":", "\"cv\":1e,\"x\":"},
        {"\"cv\":", "\"cv\":1.,\"x\":"},
        {"\"cv\":", "\"cv\":nan,\"x\":"},
    };
    char *line = example_line(0, NOTHING);
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; ++i) {
        char *edited = example_edit(line, edits[i][0], edits[i][1]);
        cr_assert(!is_direct(edited), "%s", edited);
        free(edited);
    }
    free(line);
}

/* Each byte is replaced by each of some others, left out, or doubled; of the long line with GPUs
 * each seventh byte. */
Test(record_direct, damaged_lines_are_read_alike, .timeout = 50)
{
    static const char others[] = "09,[]{}\"n-.e\\";
    size_t direct = 0, tried = 0;
    for (int with = 0; with < ADDITIONS; ++with) {
        char *line = example_line(0, (enum addition)with);
        const size_t length = strlen(line);
        char *changed = malloc(length + 2);
        cr_assert(changed);
        for (size_t i = 0; i < length; i += with == MACHINE ? 7 : 1) {
            memcpy(changed, line, length + 1);
            for (const char *other = others; *other != '\0'; ++other, ++tried) {
                changed[i] = *other;
                direct += is_direct(changed);
            }
            memcpy(changed + i, line + i + 1, length - i);
            direct += is_direct(changed);
            memcpy(changed + i, line + i, 1);
            memcpy(changed + i + 1, line + i, length - i + 1);
            direct += is_direct(changed);
        }
        free(changed);
        free(line);
    }
    cr_assert(direct > 1000 && direct < tried, "%zu of %zu lines were read without JSON", direct,
              tried);
}
