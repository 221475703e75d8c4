/* validate/shipped.c: the profiles that are installed beside this program. */
#include "validate/profile.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 480 };
static const char ENDING[] = ".yaml";

/* share/lockstep/profiles beside the folder that the program is in. 0, or -1: it has no path. */
static int find_folder(char folder[PATH_BYTES + 64])
{
    char program[PATH_BYTES];
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    char *slash;

    if (n <= 0 || n == (ssize_t)sizeof program - 1)
        return -1;
    program[n] = '\0';
    slash = strrchr(program, '/');
    if (!slash)
        return -1;
    *slash = '\0';
    snprintf(folder, PATH_BYTES + 64, "%s/../share/lockstep/profiles", program);
    return 0;
}

static int is_profile(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name), ending = strlen(ENDING);

    return length > ending && strcmp(entry->d_name + length - ending, ENDING) == 0;
}

void profile_shipped_words(char text[], size_t bytes)
{
    char folder[PATH_BYTES + 64];
    struct dirent **entry = NULL;
    const int n = find_folder(folder) == 0 ? scandir(folder, &entry, is_profile, alphasort) : -1;
    size_t used = 0;

    snprintf(text, bytes, "none is installed beside this program");
    for (int i = 0; i < n; ++i) {
        const int length = (int)(strlen(entry[i]->d_name) - strlen(ENDING));

        if (used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "%s%.*s", i == 0 ? "" : ", ",
                                     length, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
}

void profile_find(const char *name, char path[], size_t bytes)
{
    char folder[PATH_BYTES + 64];

    if (strchr(name, '/') == NULL && access(name, F_OK) != 0 && find_folder(folder) == 0 &&
        snprintf(path, bytes, "%s/%s%s", folder, name, ENDING) < (int)bytes &&
        access(path, F_OK) == 0)
        return;
    snprintf(path, bytes, "%s", name);
}
