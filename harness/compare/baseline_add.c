/* compare/baseline_add.c: decides whether a session fits those of a baseline, and writes the file
 * with its lines.
 *
 * The program never writes into the file. It writes another one with all of the old lines and the
 * new ones, which then gets the name of the file. So the file is whole at any time, whatever
 * happens to the program or to the machine. */
#include "compare/baseline.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "files/files.h"
#include "record/json.h"
#include "text/alloc.h"

static int say_why(char why[BASELINE_WHY], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int say_why(char why[BASELINE_WHY], const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why, BASELINE_WHY, format, args);
    va_end(args);
    return -1;
}

int baseline_fits(const struct baseline *baseline, const struct baseline_source *source, bool fresh,
                  char why[BASELINE_WHY])
{
    const struct baseline_line *first = baseline->lines.line, *own = source->lines.line;
    const char *const path = source->path, *const there = baseline->path;

    if (baseline->sessions == 0 || source->lines.n == 0)
        return 0;
    if (strcmp(first->machine_class, own->machine_class) != 0)
        return say_why(why, "%.100s:1: another class of machine, %.12s, than %.12s of %.100s:1",
                       path, own->machine_class, first->machine_class, there);
    if (strcmp(first->plan_sha256, own->plan_sha256) != 0)
        return say_why(why,
                       "%.100s:1: another plan than %.100s:1: other options than the seed differ, "
                       "the clock, or the build type",
                       path, there);
    /* The library is known by its name, version and kernels. A baseline of an older program may
     * have sessions of two libraries. */
    if (first->blas[0] == '\0')
        return say_why(why,
                       "%.100s:1: it does not say of which library of matrix products it is, and "
                       "%.100s is of \"%s\": begin a baseline of another name",
                       there, path, own->blas);
    if (strcmp(first->blas, own->blas) != 0)
        return say_why(why,
                       "%.100s:1: another library of matrix products, \"%s\", than \"%s\" of "
                       "%.100s:1: measure with that one, or take a baseline of another name",
                       path, own->blas, first->blas, there);
    for (size_t s = 0; s < baseline->sessions; ++s) {
        const size_t number = s * baseline->cells;
        const struct baseline_line *line = &first[number];
        const uint64_t apart = line->start_epoch_ns > own->start_epoch_ns
                                   ? line->start_epoch_ns - own->start_epoch_ns
                                   : own->start_epoch_ns - line->start_epoch_ns;

        if (baseline_same_run(line, own))
            return say_why(why,
                           "%.100s:1: run %s is there already: run %s of session %zu, %.100s:%zu",
                           path, own->run_id, line->run_id, s + 1, there, number + 1);
        if (fresh && apart < RECORD_SITTINGS_APART &&
            strcmp(line->machine_instance, own->machine_instance) == 0)
            return say_why(why,
                           "%.90s:1: %.1f hours from session %zu (%.90s:%zu), in the same start of "
                           "the machine: it takes 6 hours, or another start",
                           path, (double)apart / 3.6e12, s + 1, there, number + 1);
    }
    if (fresh && source->lines.n != baseline->cells)
        return say_why(why, "%.100s:1: %zu cells, and %zu in each session of %.100s", path,
                       source->lines.n, baseline->cells, there);
    for (size_t c = 0; fresh && c < baseline->cells; ++c)
        if (compare_key_order(&first[c].key, &own[c].key) != 0)
            return say_why(why, "%.100s: it does not have the cell of %.100s:%zu", path, there,
                           c + 1);
    return 0;
}

int baseline_add(struct baseline *baseline, const struct baseline_source *source)
{
    struct baseline_lines *lines = &baseline->lines;

    for (size_t i = 0; i < source->lines.n; ++i) {
        const struct baseline_line *line = &source->lines.line[i];
        struct baseline_line named = *line;
        json_t *root = json_pack("{s:s}", "schema", BASELINE_SCHEMA), *exact = json_object();

        named.sitting = baseline->sessions + 1;
        json_object_update_new(root, record_json_of(baseline_names, &named));
        json_object_set_new(root, "cell", value_key(&line->key));
        json_object_update_new(root, record_json_of(baseline_numbers, &named));
        for (size_t m = 0; m < EXACT_METRICS; ++m) {
            json_t *array = json_array();

            for (size_t k = 0; k < line->n[m]; ++k)
                json_array_append_new(array, value_real(line->exact[m][k]));
            json_object_set_new(exact, exact_metrics[m].name, array);
        }
        json_object_set_new(root, "exact", exact);
        /* Each line is chained to the one before. */
        char *text = record_chain_add(document_text(root, JSON_COMPACT), baseline->last, true);
        const size_t length = text ? strlen(text) : 0;

        if (!text || digest_sha256(text, length, baseline->last) != 0) {
            free(text);
            return -1;
        }
        baseline->text = cli_resize(baseline->text, baseline->bytes + length + 2, 1);
        snprintf(baseline->text + baseline->bytes, length + 2, "%s\n", text);
        baseline->bytes += length + 1;
        free(text);
        lines->line = cli_grow(lines->line, lines->n, sizeof lines->line[0]);
        lines->line[lines->n++] = *line;
    }
    ++baseline->sessions;
    baseline->cells = source->lines.n;
    return 0;
}

int baseline_put(const struct baseline *baseline, struct text_error *err)
{
    const mode_t mode = (mode_t)baseline->mode;
    struct baseline again = *baseline;

    again.lines = (struct baseline_lines){.n = 0};
    const int status = baseline_read_lines(&again, err);

    free(again.lines.line);
    if (status != 0)
        return -1;
    const int failed = whole_put(baseline->path, baseline->text, baseline->bytes,
                                 baseline->is_there ? &mode : NULL);

    return failed == 0 ? 0
                       : record_fail(err, "cannot write %.160s: %s; it is as it was",
                                     baseline->path, strerror(failed));
}
