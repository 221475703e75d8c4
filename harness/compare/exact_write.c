/* compare/exact_write.c: the numbers that changed, for people, for the page of a job, and for
 * programs. */
#include "compare/exact.h"

#include <jansson.h>

#include "files/text_out.h"

enum { SHOWN = 50 };

void exact_text(FILE *stream, const struct exact_changes *changes, const struct exact_names *names)
{
    char name[COMPARE_TEXT];

    for (size_t i = 0; i < changes->n; ++i) {
        const struct exact_change *change = &changes->change[i];

        names->words(names->of, change->cell, name);
        compare_say(stream, 4, "%-12s  %s", "CHANGED", name);
        compare_say(stream, 4, "  %s%s: %s -> %s %s", change->metric->name, change->where,
                    change->value[COMPARE_A], change->value[COMPARE_B], change->metric->unit);
    }
}

void exact_markdown(struct text_out *out, const struct exact_changes *changes,
                    const struct exact_names *names)
{
    char name[COMPARE_TEXT];

    if (changes->n > 0)
        text_print(out, "\n| CHANGED | cell | %s | %s | unit |\n|---|---|--:|--:|---|\n",
                   names->side[COMPARE_A], names->side[COMPARE_B]);
    for (size_t i = 0; i < changes->n && i < SHOWN; ++i) {
        const struct exact_change *change = &changes->change[i];

        names->words(names->of, change->cell, name);
        text_print(out, "| %s%s | %s | %s | %s | %s |\n", change->metric->name, change->where, name,
                   change->value[COMPARE_A], change->value[COMPARE_B], change->metric->unit);
    }
    if (changes->n > SHOWN)
        text_print(out, "\n%zu more are not shown.\n", changes->n - SHOWN);
}

json_t *exact_change_json(const struct exact_change *change, const struct exact_names *names)
{
    char name[80];

    snprintf(name, sizeof name, "%s%s", change->metric->name, change->where);
    return json_pack("{s:o, s:s, s:s, s:s, s:s}", "cell", names->json(names->of, change->cell),
                     "metric", name, "unit", change->metric->unit, "a", change->value[COMPARE_A],
                     "b", change->value[COMPARE_B]);
}

json_t *exact_json(const struct exact_changes *changes, const struct exact_names *names)
{
    json_t *array = json_array();

    for (size_t i = 0; i < changes->n; ++i)
        json_array_append_new(array, exact_change_json(&changes->change[i], names));
    return array;
}
