/* fleet/lists.c: passing_nodes.txt and failing_nodes.txt, a name a line, for a scheduler.
 *
 * A node is in one of them, or its name is not safe there. Who does not pass is in the second,
 * whatever the reason is. */
#include "fleet/fleet.h"

#include "files/text_out.h"

#include <string.h>

static int write_list(const char *folder, const char *name, const struct fleet *fleet, bool passing,
                      struct text_error *why)
{
    struct text_out out;

    if (text_open(&out, folder, name, TEXT_PLAIN, why) != 0)
        return -1;
    for (size_t i = 0; i < fleet->n; ++i)
        if (fleet->node[i].nameable && fleet_passes(&fleet->node[i]) == passing)
            text_print(&out, "%s\n", fleet->node[i].name);
    return text_close(&out, why);
}

int fleet_lists(const char *folder, const struct fleet *fleet, struct text_error *why)
{
    if (text_folder_own(folder, why) != 0)
        return -1;
    /* Of lists of another day the one that lets nodes in is the one to be gone first. */
    text_remove(folder, "passing_nodes.txt");
    text_remove(folder, "failing_nodes.txt");
    text_remove(folder, "index.html");
    return write_list(folder, "failing_nodes.txt", fleet, false, why) == 0
               ? write_list(folder, "passing_nodes.txt", fleet, true, why)
               : -1;
}
