/* record_raw.c: the fast way of reading a cell's samples gives the results of jansson, for every
 * line, right or wrong. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"
#include "record_example.h"

static void expect_cut(const char *line, const char *left, size_t n_arrays, size_t n_numbers)
{
    struct record_raw raw = {0};
    cr_assert(record_raw_cut(line, strlen(line), &raw), "not cut: %s", line);
    cr_assert(raw.length == strlen(left) && memcmp(raw.line, left, raw.length) == 0,
              "%s became %.*s", line, (int)raw.length, raw.line);
    cr_assert(raw.n_arrays == n_arrays && raw.n_numbers == n_numbers, "%s", line);
    record_raw_free(&raw);
}

static void expect_whole(const char *line)
{
    struct record_raw raw = {0};
    cr_assert(!record_raw_cut(line, strlen(line), &raw), "cut: %s", line);
    cr_assert(raw.n_arrays == 0, "%zu arrays are left of %s", raw.n_arrays, line);
    record_raw_free(&raw);
}

Test(record_raw, arrays_become_places)
{
    expect_cut("{\"raw\":{\"a\":[10,9007199254740992,0],\"b\":null,\"c\":[[1],[2]]}}",
               "{\"raw\":{\"a\":0,\"b\":null,\"c\":[1,2]}}", 3, 5);
    expect_cut("{\"a\":[1],\"raw\":{\"b\":[7,8]},\"c\":[2]}",
               "{\"a\":[1],\"raw\":{\"b\":0},\"c\":[2]}", 1, 2);
    /* Only the outermost member is cut, and not one inside of a text. */
    expect_cut("{\"raw\":{\"raw\":{\"b\":[77]}}}", "{\"raw\":{\"raw\":{\"b\":0}}}", 1, 1);
    expect_cut("{\"a\":\"\\\"raw\\\":{\",\"b\":\"[{\\\\\",\"raw\":{\"c\\\"[\":[77]}}",
               "{\"a\":\"\\\"raw\\\":{\",\"b\":\"[{\\\\\",\"raw\":{\"c\\\"[\":0}}", 1, 1);
    expect_cut("{\"raw\":{\"a\":[],\"b\":[[]]}}", "{\"raw\":{\"a\":[],\"b\":[[]]}}", 0, 0);

    struct record_raw raw = {0};
    const char *line = "{\"raw\":{\"a\":[5,6],\"b\":[700]}}";
    for (int again = 0; again < 2; ++again) {
        cr_assert(record_raw_cut(line, strlen(line), &raw));
        cr_assert(raw.n_arrays == 2 && raw.array[0].n == 2 && raw.array[1].n == 1);
        cr_assert(raw.number[raw.array[0].first + 1] == 6 && raw.number[raw.array[1].first] == 700);
    }
    record_raw_free(&raw);
}

Test(record_raw, other_lines_stay_whole)
{
    static const char *const lines[] = {
        "",
        "{}",
        "}",
        "{\"raw\":{",
        "{\"raw\":{\"a\":[1",
        "{\"raw\":{\"a\":[1}",
        "{\"raw\":{\"a\":[1,}",
        "{\"raw\":{\"a\":[1,2}}",
        "{\"raw\":{\"a}}",
        "{\"raw\":[1,2]}",
        "{\"raw\": {\"a\":[1,2]}}",
        "{\"a\":{\"raw\":{\"b\":[1,2]}}}",
        "{\"\\u0072aw\":{\"b\":[1,2]}}",
        /* A number alone would pass for a place. */
        "{\"raw\":{\"a\":[1,2],\"b\":0}}",
        "{\"raw\":{\"a\":[1,2],\"b\":[[1],0]}}",
        "{\"raw\":{\"a\":[1,2],\"b\":[null,0]}}",
        /* Numbers that JSON or a record does not have. */
        "{\"raw\":{\"a\":[01,2]}}",
        "{\"raw\":{\"a\":[1,02]}}",
        "{\"raw\":{\"a\":[1,-2]}}",
        "{\"raw\":{\"a\":[1,2.5]}}",
        "{\"raw\":{\"a\":[1,2e1]}}",
        "{\"raw\":{\"a\":[1, 2]}}",
        "{\"raw\":{\"a\":[1,,2]}}",
        "{\"raw\":{\"a\":[9007199254740993]}}",
        "{\"raw\":{\"a\":[99999999999999999999999]}}",
        "{\"raw\":{\"a\":[1,\"2\"]}}",
        "{\"raw\":{\"a\":[1],\"b\":[2][3]}}",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; ++i) {
        expect_whole(lines[i]);
    }
}

/* Returns the text of the cell that was read, or NULL and the reason in err. */
static char *read_back(const char *line, struct text_error *err)
{
    struct record_cell cell;
    if (record_cell_parse(line, &cell, err) != 0) {
        return NULL;
    }
    char *text = record_cell_text(&cell);
    cr_assert(text);
    record_cell_free(&cell);
    return text;
}

/* A blank in "raw" makes jansson read the whole line: with and without it the result must be the
 * same. */
static bool compare_ways(const char *line)
{
    struct text_error err = {""}, err_whole = {""};
    struct record_raw raw = {0};
    char *whole = example_edit(line, "\"raw\":{", "\"raw\":{ ");
    char *a = read_back(line, &err), *b = read_back(whole, &err_whole);
    cr_assert(!record_raw_cut(whole, strlen(whole), &raw));
    cr_assert((a == NULL) == (b == NULL), "%s / %s: %s", err.text, err_whole.text, line);
    cr_assert(!a || strcmp(a, b) == 0, "%s was read as %s", line, a);
    const bool cut = record_raw_cut(line, strlen(line), &raw);
    record_raw_free(&raw);
    free(whole);
    free(a);
    free(b);
    return cut;
}

/* Each byte of the samples is replaced by each of some others. */
Test(record_raw, damaged_lines_are_read_alike, .timeout = 50)
{
    static const char others[] = "09,[]}\"n ";
    struct record_cell cell = example_cell(0);
    char *line = record_cell_text(&cell);
    size_t cut = 0, tried = 0;
    cr_assert(compare_ways(line), "an undamaged line is not cut");
    for (size_t i = (size_t)(strstr(line, "\"raw\":{") - line) + 7; line[i] != '\0'; ++i) {
        const char right = line[i];
        for (const char *other = others; *other != '\0'; ++other) {
            line[i] = *other;
            cut += compare_ways(line);
            ++tried;
        }
        line[i] = right;
    }
    cr_assert(cut > 1000 && cut < tried, "%zu of %zu lines were cut", cut, tried);
    record_cell_free(&cell);
    free(line);
}

/* A place stands where an array must be. */
Test(record_raw, places_are_not_taken_from_the_file)
{
    static const char *const edits[][2] = {
        {"\"t_step_ns\":[900,500,100,120,110,777,130,140]", "\"t_step_ns\":0"},
        {"\"t_step_ns\":[900,500,100,120,110,777,130,140]", "\"t_step_ns\":[0]"},
        {"[25,25,25,25,25,25,25,25]", "0"},
        {"[25,25,25,25,25,25,25,25]", "[0,0]"},
        {"\"flags\":[1,", "\"flags\":[65536,"},
        {"\"flags\":[1,", "\"flags\":[65537,"},
    };
    struct record_cell cell = example_cell(0);
    char *line = record_cell_text(&cell);
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; ++i) {
        struct text_error err = {""};
        char *edited = example_edit(line, edits[i][0], edits[i][1]);
        cr_assert(!read_back(edited, &err), "%s was read", edits[i][1]);
        compare_ways(edited);
        free(edited);
    }
    record_cell_free(&cell);
    free(line);
}
