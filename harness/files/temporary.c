/* files/temporary.c: new files under names that cannot be guessed. */
#include "files/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { TRIES = 3 };

int temporary_ending(struct temporary_ending *ending)
{
    uint64_t number;
    ssize_t n;

    while ((n = getrandom(&number, sizeof number, 0)) < 0 && errno == EINTR)
        continue;
    if (n != sizeof number)
        return -1;
    snprintf(ending->text, sizeof ending->text, ".%016llx.tmp", (unsigned long long)number);
    return 0;
}

int temporary_open(const char *path, char name[], size_t bytes)
{
    const char *slash = strrchr(path, '/');
    const int folder = slash ? (int)(slash - path) + 1 : 0;
    struct temporary_ending ending;

    if (temporary_ending(&ending))
        return -1;
    /* Without the file's own name: with it, a long one would be too long. */
    if (snprintf(name, bytes, "%.*slockstep%s", folder, path, ending.text) >= (int)bytes) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

void temporary_remove(const char *name)
{
    for (int i = 0; i < TRIES && unlink(name) != 0 && errno != ENOENT; ++i)
        continue;
}
