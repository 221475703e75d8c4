/* fleet/markdown.c: the fleet for the page of a job: what is the matter, in tables. */
#include "fleet/fleet.h"

#include "files/text_out.h"

enum { SHOWN = 100 };

static void splits(struct text_out *out, const struct fleet *fleet)
{
    char words[2 * FLEET_TEXT];

    for (size_t i = 0; i < fleet->n_splits && i < SHOWN; ++i) {
        fleet_split_words(&fleet->split[i], words);
        text_print(out, "%s* No majority: %s\n", i == 0 ? "\n" : "", words);
    }
    if (fleet->n_splits > SHOWN)
        text_print(out, "\n%zu more are not shown.\n", fleet->n_splits - SHOWN);
}

int fleet_markdown(FILE *stream, const struct fleet *fleet)
{
    struct text_out out = {.file = stream, .form = TEXT_MARKDOWN};
    char words[2 * FLEET_TEXT], counts[FLEET_TEXT];

    fleet_count_words(fleet, counts);
    text_print(&out, "### %s\n", counts);
    const int status = fleet_tables(&out, fleet);

    splits(&out, fleet);
    fleet_rule_words(fleet, words);
    text_print(&out, "\n%s\n", words);
    return status;
}
