/* files/whole.c: new files under names that cannot be guessed, and the one place where a file gets
 * its name by a rename. */
#include "files/files.h"
#include "text/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { TRIES = 3 };

/* ---- names that cannot be guessed ------------------------------------------------------------ */

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

void temporary_remove(const char *name)
{
    for (int i = 0; i < TRIES && unlink(name) != 0 && errno != ENOENT; ++i)
        continue;
}

/* ---- whole files ----------------------------------------------------------------------------- */

int whole_open(struct whole_file *whole, const char *path)
{
    const char *slash = strrchr(path, '/');
    const int folder = slash ? (int)(slash - path) + 1 : 0;
    struct temporary_ending ending;

    whole->file = NULL;
    if (strlen(path) >= sizeof whole->path)
        return ENAMETOOLONG;
    snprintf(whole->path, sizeof whole->path, "%s", path);
    if (temporary_ending(&ending))
        return errno;
    /* Without the file's own name: with it, a long one would be too long. */
    snprintf(whole->temporary, sizeof whole->temporary, "%.*slockstep%s", folder, path,
             ending.text);
    const int fd = open(whole->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);

    whole->file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (whole->file) {
        cli_begin_file(whole->temporary);
        return 0;
    }
    const int why = errno;

    if (fd >= 0) {
        close(fd);
        temporary_remove(whole->temporary);
    }
    return why;
}

/* A call that failed earlier may have left no errno. */
static int reason(void)
{
    return errno != 0 ? errno : EIO;
}

int whole_close(struct whole_file *whole)
{
    FILE *file = whole->file;
    int failed = fflush(file) != 0 || ferror(file) ? reason() : 0;

    whole->file = NULL;
    if (fclose(file) != 0 && failed == 0)
        failed = reason();
    if (failed == 0 && rename(whole->temporary, whole->path) != 0)
        failed = reason();
    if (failed != 0)
        temporary_remove(whole->temporary);
    cli_finish_file(whole->temporary);
    return failed;
}

void whole_discard(struct whole_file *whole)
{
    fclose(whole->file);
    temporary_remove(whole->temporary);
    cli_finish_file(whole->temporary);
    whole->file = NULL;
}

int whole_write(int fd, const char *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        const ssize_t wrote = write(fd, bytes + done, n - done);

        if (wrote <= 0 && errno != EINTR)
            return -1;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return 0;
}

int whole_put(const char *path, const void *bytes, size_t n, const mode_t *mode)
{
    struct whole_file whole;
    char part[4096];
    int failed = whole_open(&whole, path);

    if (failed)
        return failed;
    const int fd = fileno(whole.file);

    if (whole_write(fd, bytes, n) != 0 || fsync(fd) != 0 || (mode && fchmod(fd, *mode) != 0))
        failed = reason();
    /* The file is read back: a disk, or a cache, may keep other bytes. */
    for (size_t done = 0; done < n && failed == 0;) {
        const ssize_t got = pread(fd, part, sizeof part, (off_t)done);

        if (got <= 0 || (size_t)got > n - done ||
            memcmp(part, (const char *)bytes + done, (size_t)got) != 0)
            failed = EIO;
        done += got > 0 ? (size_t)got : 0;
    }
    if (failed == 0)
        return whole_close(&whole);
    whole_discard(&whole);
    return failed;
}
