/* validate/shipped.c: finds the profiles that are installed with this program. */
#include "validate/profile.h"

#include "command/command.h"
#include "files/shipped.h"

const struct shipped profile_shipped = {.folder = "profiles", .ending = ".yaml"};

int profile_find(const char *command, const char *name, char path[PROFILE_PATH])
{
    char known[SHIPPED_WORDS];

    if (shipped_find(&profile_shipped, name, path, PROFILE_PATH) == 0)
        return 0;
    shipped_words(&profile_shipped, known, sizeof known);
    command_complain(command, "%.90s: no such file; by name there are: %s", name, known);
    return -1;
}
