/* validate/shipped.c: the profiles that are installed beside this program. */
#include "validate/profile.h"

#include "files/shipped.h"

static const struct shipped profiles = {.folder = "profiles", .ending = ".yaml"};

void profile_shipped_words(char text[], size_t bytes)
{
    shipped_words(&profiles, text, bytes);
}

void profile_find(const char *name, char path[], size_t bytes)
{
    shipped_find(&profiles, name, path, bytes);
}
