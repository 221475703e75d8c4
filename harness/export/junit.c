/* export/junit.c: JUnit XML: a cell is a test case. */
#include <math.h>
#include <string.h>

#include "export/export.h"
#include "files/text_out.h"

struct sums {
    size_t tests, state[EXPORT_STATES];
    double seconds; /* NaN: not known */
};

static void print_seconds(struct text_out *out, double seconds)
{
    char text[32];

    snprintf(text, sizeof text, "%.6f", seconds);
    if (isfinite(seconds))
        text_print(out, " time=\"%s\"", text);
}

static void print_sums(struct text_out *out, const struct sums *sums)
{
    text_print(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"", sums->tests,
               sums->state[EXPORT_FAILED], sums->state[EXPORT_BROKEN],
               sums->state[EXPORT_OPEN] + sums->state[EXPORT_DOUBTFUL]);
    print_seconds(out, sums->seconds);
}

static struct sums sum_cells(const struct export_set *set, size_t first, size_t end)
{
    struct sums sums = {.tests = end - first};

    for (size_t i = first; i < end; ++i) {
        ++sums.state[set->cell[i].state];
        sums.seconds += set->cell[i].seconds;
    }
    return sums;
}

static void print_case(struct text_out *out, const struct export_set *set,
                       const struct export_cell *cell)
{
    static const char *const elements[EXPORT_STATES] = {[EXPORT_OPEN] = "skipped",
                                                        [EXPORT_DOUBTFUL] = "skipped",
                                                        [EXPORT_FAILED] = "failure",
                                                        [EXPORT_BROKEN] = "error"};
    const char *const element = elements[cell->state];
    const char *const type = cell->type                   ? cell->type
                             : cell->key && set->verdicts ? set->verdicts[cell->verdict]
                                                          : NULL;

    text_print(out, "<testcase classname=\"lockstep%s%s\" name=\"%s\"", cell->group ? "." : "",
               cell->group ? cell->group : "", cell->name);
    print_seconds(out, cell->seconds);
    text_print(out, ">");
    if (element)
        text_print(out, "<%s message=\"%s\"", element, cell->why);
    if (cell->state >= EXPORT_FAILED && type)
        text_print(out, " type=\"%s\"", type);
    if (element && !cell->detail)
        text_print(out, "/>");
    else if (element) {
        text_print(out, ">");
        /* Line by line: a control character within a line is text, not a newline. */
        for (const char *text = cell->detail; *text != '\0';) {
            const size_t length = strcspn(text, "\n");

            text_write(out->file, out->form, text, length);
            fputc('\n', out->file);
            text += length + (text[length] == '\n');
        }
        text_print(out, "</%s>", element);
    }
    text_print(out, "</testcase>\n");
}

int export_as_junit(FILE *to, const struct export_set *set)
{
    struct text_out out = {.file = to, .form = TEXT_HTML};
    struct sums sums = sum_cells(set, 0, set->n);

    sums.seconds = set->seconds > 0 ? set->seconds : (double)NAN;
    text_print(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"%s\"",
               set->title);
    print_sums(&out, &sums);
    text_print(&out, ">\n");
    for (size_t first = 0, end; first < set->n; first = end) {
        const char *const group = set->cell[first].group;
        const char *const name = set->by_group ? group : set->suite;

        end = first + 1;
        while (end < set->n && (!set->by_group || strcmp(set->cell[end].group, group) == 0))
            ++end;
        sums = sum_cells(set, first, end);
        text_print(&out, "<testsuite name=\"%s\"", name ? name : "cells");
        print_sums(&out, &sums);
        if (set->host)
            text_print(&out, " hostname=\"%s\"", set->host);
        text_print(&out, ">\n");
        for (size_t i = first; i < end; ++i)
            print_case(&out, set, &set->cell[i]);
        text_print(&out, "</testsuite>\n");
    }
    text_print(&out, "</testsuites>\n");
    return 0;
}
