/* files/shipped.c: finds the folder of files next to that of this program. */
#include "files/files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 480, FOLDER_BYTES = 2 * PATH_BYTES + 128 };

/* As installed, or in the tree that it was built in. 0, or -1 and both: neither is there. */
static int find_folder(const struct shipped *kind, char folder[FOLDER_BYTES])
{
    static const char *const places[] = {"../share/lockstep", "../../.."};
    char program[PATH_BYTES];
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    char *slash;

    snprintf(folder, FOLDER_BYTES, "unknown folders");
    if (n <= 0 || n == (ssize_t)sizeof program - 1)
        return -1;
    program[n] = '\0';
    slash = strrchr(program, '/');
    if (!slash)
        return -1;
    *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i) {
        snprintf(folder, FOLDER_BYTES, "%s/%s/%.24s", program, places[i], kind->folder);
        char *const resolved = realpath(folder, NULL);

        if (!resolved)
            continue;
        snprintf(folder, FOLDER_BYTES, "%s", resolved);
        free(resolved);
        return 0;
    }
    snprintf(folder, FOLDER_BYTES, "%s/../share/lockstep/%.24s and %s/../../../%.24s", program,
             kind->folder, program, kind->folder);
    return -1;
}

void shipped_words(const struct shipped *kind, char text[], size_t bytes)
{
    char folder[FOLDER_BYTES];
    struct dirent **entry = NULL;
    const int n = find_folder(kind, folder) == 0 ? scandir(folder, &entry, NULL, alphasort) : -1;
    size_t used = 0;

    for (int i = 0; i < n; ++i) {
        const char *name = entry[i]->d_name;
        const int length = (int)strlen(name) - (int)strlen(kind->ending);

        if (length > 0 && strcmp(name + length, kind->ending) == 0 && used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "%s%.*s", used == 0 ? "" : ", ",
                                     length, name);
        free(entry[i]);
    }
    free(entry);
    if (used < bytes)
        snprintf(text + used, bytes - used, "%s in %s", used == 0 ? "none" : "", folder);
}

int shipped_find(const struct shipped *kind, const char *name, char path[], size_t bytes)
{
    char folder[FOLDER_BYTES];

    if (strchr(name, '/') == NULL && access(name, F_OK) != 0 && find_folder(kind, folder) == 0 &&
        snprintf(path, bytes, "%s/%s%s", folder, name, kind->ending) < (int)bytes &&
        access(path, F_OK) == 0)
        return 0;
    snprintf(path, bytes, "%s", name);
    return access(path, F_OK);
}
