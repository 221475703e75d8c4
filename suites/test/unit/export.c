/* export.c: text in a cell's name or reason that the log of a CI job would take for a command. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "export/export.h"

static void export_add_cell(struct export_set *set, const char *name, enum export_state state,
                            const char *why)
{
    struct export_cell *cell = export_add(set, name);

    cell->key = cell; /* a cell, and no others with it */
    cell->state = state;
    snprintf(cell->why, sizeof cell->why, "%s", why);
}

/* The caller frees the result. */
static char *annotations(const struct export_set *set)
{
    char *text = NULL;
    size_t bytes = 0;
    struct text_error err = {""};
    FILE *to = open_memstream(&text, &bytes);

    cr_assert(to && export_write(to, EXPORT_ANNOTATIONS, set, &err) == 0, "%s", err.text);
    cr_assert(fclose(to) == 0);
    return text;
}

Test(export, titles_and_reasons)
{
    struct export_set set = {.summary = "50 % of 2: one, two"};

    export_open(&set, 3);
    export_add_cell(&set, "100 %2C, a:b\r\n::error::c", EXPORT_FAILED, "0 %, at a:b\r\nc");
    export_add_cell(&set, "%", EXPORT_DOUBTFUL, "%0A");
    export_add_cell(&set, "well", EXPORT_PASSED, "%");

    char *text = annotations(&set);

    cr_assert_str_eq(text, "::error title=100 %252C%2C a%3Ab??%3A%3Aerror%3A%3Ac::"
                           "0 %25, at a:b??c\n"
                           "::warning title=%25::%250A\n"
                           "::notice title=lockstep::50 %25 of 2: one, two\n");
    free(text);
    export_close(&set);
}
