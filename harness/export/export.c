/* export/export.c: a set of cells for other programs, and in which formats it is written. */
#include "export/export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a set ----------------------------------------------------------------------------------- */

int export_open(struct export_set *set, size_t most)
{
    set->cell = calloc(most + 1, sizeof set->cell[0]);
    return set->cell ? 0 : -1;
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

/* ---- the table ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int (*write)(FILE *to, const struct export_set *set);
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
    const char **names = calloc(set->n + 1, sizeof names[0]);
    const char *twice = NULL;

    if (!names)
        return text_fail(err, "no memory for %zu names", set->n);
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
    if (formats[format].write(to, set) == 0)
        return 0;
    return text_fail(err, "no memory for the numbers");
}
