/* export/lines.c: the formats that are lines: CSV, OpenMetrics, annotations of a job. */
#include <math.h>
#include <string.h>

#include "export/export.h"
#include "files/text_out.h"

/* ---- CSV (RFC 4180) -------------------------------------------------------------------------- */

static void csv_number(FILE *to, double number)
{
    fputc(',', to);
    if (isfinite(number))
        fprintf(to, "%.9g", number);
}

static void csv_row(FILE *to, const struct export_set *set, const struct export_cell *cell)
{
    const struct export_parts *parts = set->parts;
    char text[EXPORT_KEY_BYTES];
    const char *before = "";

    for (size_t i = 0; i < parts->n; ++i) {
        if (!parts->part(i).name)
            continue;
        parts->text(cell->key, i, text);
        fputs(before, to);
        before = ",";
        if (parts->part(i).number)
            fputs(text, to);
        else
            text_write_field(to, text);
    }
    if (set->launches)
        fprintf(to, ",%zu", cell->launches);
    if (set->verdicts) {
        fputc(',', to);
        text_write_field(to, set->verdicts[cell->verdict]);
    }
    for (size_t m = 0; m < set->n_metrics; ++m) {
        csv_number(to, cell->has_numbers ? cell->value[m].middle : (double)NAN);
        if (set->metric[m].exact)
            continue;
        csv_number(to, cell->has_numbers ? cell->value[m].lo : (double)NAN);
        csv_number(to, cell->has_numbers ? cell->value[m].hi : (double)NAN);
    }
    if (set->all_rows) {
        fputc(',', to);
        text_write_field(to, cell->why);
    }
    fputs("\r\n", to);
}

int export_as_csv(FILE *to, const struct export_set *set)
{
    const struct export_parts *parts = set->parts;
    const char *before = "";

    for (size_t i = 0; i < parts->n; ++i)
        if (parts->part(i).name) {
            fprintf(to, "%s%s", before, parts->part(i).name);
            before = ",";
        }
    fputs(set->launches ? ",launches" : "", to);
    fputs(set->verdicts ? ",verdict" : "", to);
    for (size_t m = 0; m < set->n_metrics; ++m) {
        const struct export_metric *metric = &set->metric[m];

        fprintf(to, ",%s_%s", metric->name, metric->unit);
        if (!metric->exact)
            fprintf(to, ",%s_lower,%s_upper", metric->name, metric->name);
    }
    fputs(set->all_rows ? ",reason\r\n" : "\r\n", to);
    for (size_t c = 0; c < set->n; ++c) {
        const struct export_cell *cell = &set->cell[c];

        if (cell->key && (set->all_rows || cell->has_numbers))
            csv_row(to, set, cell);
    }
    return 0;
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

int export_as_openmetrics(FILE *to, const struct export_set *set)
{
    /* A family of the value, and of each end of its interval. */
    static const char *const ends[] = {"", "_lower", "_upper"};

    fprintf(to, "# TYPE %s%s gauge\n# HELP %s%s %s\n", set->prefix, set->flag, set->prefix,
            set->flag, set->flag_help);
    for (size_t i = 0; i < set->n; ++i)
        if (set->cell[i].key)
            print_sample(to, set, set->flag, NULL, set->cell[i].key, set->cell[i].has_numbers);
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
    return 0;
}

/* ---- the log of a job: annotations ----------------------------------------------------------- */

int export_as_annotations(FILE *to, const struct export_set *set)
{
    static const char *const commands[EXPORT_STATES] = {
        [EXPORT_DOUBTFUL] = "warning", [EXPORT_FAILED] = "error", [EXPORT_BROKEN] = "error"};

    for (size_t i = 0; i < set->n; ++i) {
        const struct export_cell *cell = &set->cell[i];

        if (!commands[cell->state])
            continue;
        fprintf(to, "::%s title=", commands[cell->state]);
        text_write(to, TEXT_PROPERTY, cell->key ? cell->name : "lockstep", SIZE_MAX);
        fputs("::", to);
        text_write(to, TEXT_COMMAND, cell->why, SIZE_MAX);
        fputc('\n', to);
    }
    fputs("::notice title=lockstep::", to);
    text_write(to, TEXT_COMMAND, set->summary, SIZE_MAX);
    fputc('\n', to);
    return 0;
}
