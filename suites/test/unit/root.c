/* root.c: a folder of a test, in the place of the root of the file system. */
#include "root.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char root[] = "/tmp/lockstep-unit-XXXXXX";

void root_make(void)
{
    cr_assert(mkdtemp(root));
}

/* The test may have another PATH. */
void root_remove(void)
{
    char command[64];
    snprintf(command, sizeof command, "/bin/rm -r %s", root);
    cr_assert(system(command) == 0);
}

const char *root_path(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s%s", root, name);
    return path;
}

void root_put(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s%s", root, name);
    for (char *at = path + sizeof root; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        mkdir(path, 0777);
    }
    FILE *file = fopen(path, "w");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0, "%s", path);
}
