/* record_chain.c: a line of a sealed file that was changed, removed, added or moved shows. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/record.h"
#include "record_example.h"

enum { LINES = 5 };

/* Makes a header, three launches and an end, as a sweep writes them. */
static void make_lines(char *line[LINES])
{
    const struct record_run run = example_run();
    const struct record_end end = {
        .planned = run.planned, .ok = 3, .interrupted = true, .seconds = (double)NAN};
    char before[DIGEST_HEX] = "";
    for (int i = 0; i < LINES; ++i) {
        struct record_cell cell = example_cell(i - 1 < 0 ? 0 : i - 1);
        line[i] = i == 0           ? record_run_text(&run)
                  : i == LINES - 1 ? record_end_text(EXAMPLE_RUN_ID, &end)
                                   : record_cell_text(&cell);
        record_cell_free(&cell);
        line[i] = record_chain_add(line[i], before, i == LINES - 1);
        cr_assert(line[i] && digest_sha256(line[i], strlen(line[i]), before) == 0);
    }
}

static void free_lines(char *line[LINES])
{
    for (int i = 0; i < LINES; ++i)
        free(line[i]);
}

/* Reads a file of n lines. at = 0: it must be read; else the error must be about that line and have
 * the words. */
static void record_chain_expect(char *const line[], int n, int at, const char *words)
{
    char name[] = "/tmp/lockstep-unit-XXXXXX", place[16];
    FILE *stream = fdopen(mkstemp(name), "w");
    struct record_file file;
    struct text_error err = {""};
    cr_assert(stream);
    for (int i = 0; i < n; ++i)
        cr_assert(fprintf(stream, "%s\n", line[i]) > 0);
    cr_assert(fclose(stream) == 0);
    const int status = record_read(name, false, &file, &err);
    unlink(name);
    snprintf(place, sizeof place, ":%d: ", at);
    cr_assert(status == (at == 0 ? 0 : -1), "%s: %s", words, err.text);
    cr_assert(at == 0 || strstr(err.text, place), "%s is not about line %d", err.text, at);
    cr_assert(at == 0 || strstr(err.text, words), "%s", err.text);
    if (status == 0) {
        cr_assert(file.sealed == (strcmp(words, "sealed") == 0));
        record_file_free(&file);
    }
}

/* One byte of each line is another, where no other rule would see it. */
Test(record_chain, changed_lines_are_refused)
{
    char *line[LINES];
    make_lines(line);
    record_chain_expect(line, LINES, 0, "sealed");
    record_chain_expect(line, LINES - 1, 0, "sealed"); /* cut short */
    for (int i = 0; i < LINES; ++i) {
        char *kept = line[i];
        line[i] = example_edit(kept, "\":", "\": ");
        record_chain_expect(line, LINES, i < LINES - 1 ? i + 2 : LINES, "was changed");
        free(line[i]);
        line[i] = kept;
    }
    free_lines(line);
}

Test(record_chain, missing_added_and_moved_lines_are_refused)
{
    char *line[LINES], *other[LINES + 1];
    make_lines(line);
    for (int i = 1; i < LINES - 1; ++i) {
        memcpy(other, line, sizeof line);
        memmove(other + i, other + i + 1, (size_t)(LINES - i - 1) * sizeof other[0]);
        record_chain_expect(other, LINES - 1, i + 1, "removed");
        memcpy(other, line, sizeof line);
        other[i] = line[i + 1];
        other[i + 1] = line[i];
        record_chain_expect(other, LINES, i + 1, "moved");
        memcpy(other, line, sizeof line);
        memmove(other + i + 1, other + i, (size_t)(LINES - i) * sizeof other[0]);
        record_chain_expect(other, LINES + 1, i + 2, "added");
    }
    free_lines(line);
}

/* Takes a member out of a line, from its comma to the end of its value. */
static char *without(const char *line, const char *member)
{
    const char *at = strstr(line, member);
    cr_assert(at);
    const char *end = strchr(at + strlen(member), '"');
    char *text = strdup(line);
    cr_assert(text && end);
    strcpy(text + (at - line), end + 1);
    return text;
}

Test(record_chain, half_a_chain_is_refused)
{
    char *line[LINES], *other[LINES], *plain[LINES];
    make_lines(line);
    for (int i = 0; i < LINES; ++i) {
        plain[i] = without(line[i], ",\"chain\":\"");
        memcpy(other, line, sizeof line);
        other[i] = plain[i];
        record_chain_expect(other, LINES, i == 0 ? 2 : i + 1,
                            i == 0 ? "none in line 1" : "is missing");
    }
    memcpy(other, line, sizeof line);
    other[LINES - 1] = without(line[LINES - 1], ",\"seal\":\"");
    record_chain_expect(other, LINES, LINES, "\"seal\" is missing");
    free(other[LINES - 1]);
    other[0] = example_edit(line[0], "\"sha256\"", "\"sha255\"");
    other[LINES - 1] = line[LINES - 1];
    record_chain_expect(other, LINES, 1, "\"chain\" of the first line");
    free(other[0]);
    record_chain_expect(plain, LINES, 0, "unsealed");
    free_lines(plain);
    free_lines(line);
}
