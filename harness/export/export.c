/* export/export.c: a set of cells for other programs, and the formats in which it is written. */
#include "export/export.h"
#include "export/grid.h"
#include "text/alloc.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a set ----------------------------------------------------------------------------------- */

void export_open(struct export_set *set, size_t most)
{
    set->cell = cli_alloc(most + 1, sizeof set->cell[0]);
}

void export_close(struct export_set *set)
{
    for (size_t i = 0; set->cell && i < set->n; ++i)
        free(set->cell[i].detail);
    free(set->cell);
    free(set->keys);
    set->cell = NULL;
    set->keys = NULL;
}

struct export_cell *export_add(struct export_set *set, const char *name)
{
    struct export_cell *cell = &set->cell[set->n++];

    *cell = (struct export_cell){.seconds = NAN};
    for (size_t m = 0; m < EXPORT_METRICS_MOST; ++m)
        cell->value[m] = (struct export_value){NAN, NAN, NAN};
    snprintf(cell->name, sizeof cell->name, "%s", name);
    return cell;
}

size_t export_count(const struct export_set *set)
{
    size_t n = 0;

    for (size_t i = 0; i < set->n; ++i)
        n += set->cell[i].has_numbers;
    return n;
}

/* ---- CSV (RFC 4180) -------------------------------------------------------------------------- */

static void csv_row(struct grid *grid, const struct export_set *set, const struct export_cell *cell)
{
    const struct export_parts *parts = set->parts;
    const bool known = cell->has_numbers || cell->partly;
    char text[EXPORT_KEY_BYTES];

    grid_row(grid, "");
    for (size_t i = 0; i < parts->n; ++i)
        if (parts->part(i).name) {
            parts->text(cell->key, i, text);
            grid_cell(grid, parts->part(i).number ? "number" : "", "%s", text);
        }
    if (set->launches)
        grid_cell(grid, "number", "%zu", cell->launches);
    if (set->verdicts)
        grid_cell(grid, "", "%s", set->verdicts[cell->verdict]);
    for (size_t m = 0; m < set->n_metrics; ++m) {
        const double number[] = {cell->value[m].middle, cell->value[m].lo, cell->value[m].hi};

        for (int end = 0; end < (set->metric[m].exact ? 1 : 3); ++end)
            grid_number(grid, known ? number[end] : (double)NAN);
    }
    if (set->all_rows)
        grid_cell(grid, "", "%s", cell->why);
    if (set->judged) {
        grid_cell(grid, "number", "%d", cell->doubt[0] == '\0');
        grid_cell(grid, "", "%s", cell->doubt);
    }
}

static void export_as_csv(FILE *to, const struct export_set *set)
{
    struct text_out out = {.file = to};
    char text[EXPORT_KEY_BYTES];
    struct grid grid;

    grid_open(&grid, &out, "", "");
    for (size_t i = 0; i < set->parts->n; ++i)
        if (set->parts->part(i).name)
            grid_heading(&grid, "", set->parts->part(i).name);
    grid_headings(&grid, "", set->launches ? "launches" : "");
    grid_headings(&grid, "", set->verdicts ? "verdict" : "");
    for (size_t m = 0; m < set->n_metrics; ++m) {
        const char *const name = set->metric[m].name;

        snprintf(text, sizeof text, set->metric[m].exact ? "%s_%s" : "%s_%s|%s_lower|%s_upper",
                 name, set->metric[m].unit, name, name);
        grid_headings(&grid, "", text);
    }
    grid_headings(&grid, "", set->all_rows ? "reason" : "");
    grid_headings(&grid, "", set->judged ? "certain|doubt" : "");
    for (size_t c = 0; c < set->n; ++c) {
        const struct export_cell *cell = &set->cell[c];

        if (cell->key && (set->all_rows || cell->has_numbers || cell->partly))
            csv_row(&grid, set, cell);
    }
    grid_csv(&grid);
    grid_close(&grid);
}

/* ---- OpenMetrics 1.0 ------------------------------------------------------------------------- */

static void print_label(FILE *to, const char *before, const char *name, const char *value)
{
    fprintf(to, "%s%s=\"", before, name);
    for (; *value != '\0'; ++value)
        fputs(*value == '"'    ? "\\\""
              : *value == '\\' ? "\\\\"
              : *value == '\n' ? "\\n"
                               : (char[]){*value, '\0'},
              to);
    fputc('"', to);
}

/* state: of a set of states, else NULL. */
static void print_sample(FILE *to, const struct export_set *set, const char *name,
                         const char *state, const void *key, double value)
{
    const struct export_parts *parts = set->parts;
    char text[EXPORT_KEY_BYTES], family[96];
    const char *before = "{";

    snprintf(family, sizeof family, "%s%s", set->prefix, name);
    fputs(family, to);
    for (size_t i = 0; i < parts->n; ++i) {
        const struct export_part part = parts->part(i);

        if (!part.name || part.column)
            continue;
        parts->text(key, i, text);
        print_label(to, before, part.name, text);
        before = ",";
    }
    if (state)
        print_label(to, before, family, state);
    fprintf(to, "} %.17g\n", value);
}

static void export_as_openmetrics(FILE *to, const struct export_set *set)
{
    /* A family of the value, and of each end of its interval. */
    static const char *const ends[] = {"", "_lower", "_upper"};

    fprintf(to, "# TYPE %s%s gauge\n# HELP %s%s %s\n", set->prefix, set->flag, set->prefix,
            set->flag, set->flag_help);
    for (size_t i = 0; i < set->n; ++i)
        if (set->cell[i].key)
            print_sample(to, set, set->flag, NULL, set->cell[i].key, set->cell[i].has_numbers);
    if (set->judged)
        fprintf(
            to,
            "# TYPE %scertain gauge\n# HELP %scertain 1: all numbers of the cell are certain; 0: "
            "one is not, or its ratio.\n",
            set->prefix, set->prefix);
    for (size_t i = 0; i < set->n && set->judged; ++i)
        if (set->cell[i].key && set->cell[i].has_numbers)
            print_sample(to, set, "certain", NULL, set->cell[i].key, set->cell[i].doubt[0] == '\0');
    if (set->verdicts)
        fprintf(to, "# TYPE %sverdict stateset\n", set->prefix);
    for (size_t i = 0; i < set->n && set->verdicts; ++i)
        for (size_t v = 0; set->cell[i].key && v < set->n_verdicts; ++v)
            print_sample(to, set, "verdict", set->verdicts[v], set->cell[i].key,
                         set->cell[i].verdict == v);
    fprintf(to, "# TYPE %s%s gauge\n%s%s %zu\n", set->prefix, set->counted, set->prefix,
            set->counted, set->count);
    for (size_t m = 0; m < set->n_metrics; ++m)
        for (int which = 0; which < (set->metric[m].exact ? 1 : 3); ++which) {
            const struct export_metric *metric = &set->metric[m];
            char name[96];

            snprintf(name, sizeof name, "%s%s_%s", metric->name, ends[which], metric->unit);
            fprintf(to, "# TYPE %s%s gauge\n# UNIT %s%s %s\n", set->prefix, name, set->prefix, name,
                    metric->unit);
            for (size_t i = 0; i < set->n; ++i) {
                const struct export_cell *cell = &set->cell[i];
                const struct export_value *value = &cell->value[m];
                const double numbers[] = {value->middle, value->lo, value->hi};

                if (cell->key && cell->has_numbers && isfinite(numbers[which]))
                    print_sample(to, set, name, NULL, cell->key, numbers[which]);
            }
        }
    fputs("# EOF\n", to);
}

/* ---- JSON: of Bencher, and of github-action-benchmark --------------------------------------- */

static void print_json(FILE *to, json_t *root)
{
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(12) | JSON_ENSURE_ASCII);

    fprintf(to, "%s\n", text);
    free(text);
    json_decref(root);
}

static void export_as_bmf(FILE *to, const struct export_set *set)
{
    json_t *root = json_object();

    for (size_t i = 0; i < set->n; ++i) {
        const struct export_cell *cell = &set->cell[i];
        json_t *measures = cell->has_numbers ? json_object() : NULL;

        for (size_t m = 0; m < set->n_metrics && cell->has_numbers; ++m) {
            const struct export_value *value = &cell->value[m];
            const double scale = set->metric[m].in_bencher;

            if (!isfinite(value->middle))
                continue;
            json_t *measure = json_pack("{s:f}", "value", value->middle * scale);

            if (isfinite(value->lo) && isfinite(value->hi)) {
                json_object_set_new(measure, "lower_value", json_real(value->lo * scale));
                json_object_set_new(measure, "upper_value", json_real(value->hi * scale));
            }
            json_object_set_new(measures, set->metric[m].measure, measure);
        }
        if (cell->has_numbers && set->judged)
            json_object_set_new(measures, "certain",
                                json_pack("{s:f}", "value", cell->doubt[0] == '\0' ? 1.0 : 0.0));
        if (cell->has_numbers)
            json_object_set_new(root, cell->name, measures);
    }
    print_json(to, root);
}

/* Its kind customSmallerIsBetter: the first metric. */
static void export_as_github(FILE *to, const struct export_set *set)
{
    json_t *root = json_array();
    char range[64];

    for (size_t i = 0; i < set->n; ++i) {
        const struct export_cell *cell = &set->cell[i];
        const struct export_value *value = &cell->value[0];
        const double scale = set->in_github;

        if (!cell->has_numbers)
            continue;
        snprintf(range, sizeof range, "%.6g to %.6g", value->lo * scale, value->hi * scale);

        json_t *entry = json_pack("{s:s, s:s, s:f}", "name", cell->name, "unit", set->github_unit,
                                  "value", value->middle * scale);

        if (isfinite(value->lo) && isfinite(value->hi))
            json_object_set_new(entry, "range", json_string(range));
        if (cell->doubt[0] != '\0')
            json_object_set_new(entry, "extra", json_sprintf("not certain: %s", cell->doubt));
        json_array_append_new(root, entry);
    }
    print_json(to, root);
}

/* ---- the log of a job: annotations ----------------------------------------------------------- */

static void export_as_annotations(FILE *to, const struct export_set *set)
{
    static const char *const commands[EXPORT_STATES] = {
        [EXPORT_DOUBTFUL] = "warning", [EXPORT_FAILED] = "error", [EXPORT_BROKEN] = "error"};

    for (size_t i = 0; i < set->n; ++i) {
        const struct export_cell *cell = &set->cell[i];
        const char *file = cell->file ? cell->file : set->file;

        if (!commands[cell->state])
            continue;
        fprintf(to, "::%s ", commands[cell->state]);
        fputs(file ? "file=" : "", to);
        text_write(to, TEXT_PROPERTY, file ? file : "", SIZE_MAX);
        if (cell->line > 0)
            fprintf(to, ",line=%zu", cell->line);
        fputs(file ? ",title=" : "title=", to);
        text_write(to, TEXT_PROPERTY, cell->key ? cell->name : "lockstep", SIZE_MAX);
        text_write(to, TEXT_PROPERTY, cell->title ? ": " : "", SIZE_MAX);
        text_write(to, TEXT_PROPERTY, cell->title ? cell->title : "", SIZE_MAX);
        fputs("::", to);
        if (set->explained && cell->detail)
            text_lines(to, TEXT_COMMAND, cell->detail, "%0A");
        else
            text_write(to, TEXT_COMMAND, cell->why, SIZE_MAX);
        fputc('\n', to);
    }
    fputs("::notice title=lockstep::", to);
    text_write(to, TEXT_COMMAND, set->summary, SIZE_MAX);
    fputc('\n', to);
}

/* ---- JUnit XML: a cell is a test case -------------------------------------------------------- */

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
    if (set->judged && cell->has_numbers)
        text_print(out, "<properties><property name=\"certain\" value=\"%s%s\"/></properties>",
                   cell->doubt[0] == '\0' ? "yes" : "no: ", cell->doubt);
    if (element)
        text_print(out, "<%s message=\"%s\"", element, cell->why);
    if (cell->state >= EXPORT_FAILED && type)
        text_print(out, " type=\"%s\"", type);
    if (element && !cell->detail)
        text_print(out, "/>");
    else if (element) {
        text_print(out, ">");
        text_lines(out->file, out->form, cell->detail, "\n");
        text_print(out, "</%s>", element);
    }
    text_print(out, "</testcase>\n");
}

static void export_as_junit(FILE *to, const struct export_set *set)
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
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*write)(FILE *to, const struct export_set *set);
} formats[EXPORT_FORMATS] = {
    [EXPORT_CSV] = {"csv", export_as_csv},
    [EXPORT_BMF] = {"bmf", export_as_bmf},
    [EXPORT_GITHUB] = {"github", export_as_github},
    [EXPORT_OPENMETRICS] = {"openmetrics", export_as_openmetrics},
    [EXPORT_ANNOTATIONS] = {"annotations", export_as_annotations},
    [EXPORT_JUNIT] = {"junit", export_as_junit},
};

const char *export_name(size_t format)
{
    return formats[format].name;
}

static int compare_names(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;

    return strcmp(*a, *b);
}

int export_write(FILE *to, size_t format, const struct export_set *set, struct text_error *err)
{
    const char **names = cli_alloc(set->n, sizeof names[0]);
    const char *twice = NULL;

    for (size_t i = 0; i < set->n; ++i)
        names[i] = set->cell[i].name;
    qsort(names, set->n, sizeof names[0], compare_names);
    for (size_t i = 1; i < set->n && !twice; ++i)
        twice = strcmp(names[i - 1], names[i]) == 0 ? names[i] : NULL;
    free(names);
    /* Two cells of one name, of runs that were not built or run alike, would be one to the reader.
     */
    if (twice)
        return text_fail(err,
                         "%.200s is there twice, of runs that were not built or run alike: export "
                         "one of them at a time",
                         twice);
    formats[format].write(to, set);
    return 0;
}
