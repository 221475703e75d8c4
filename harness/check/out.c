/* check/out.c: the file of --out: refused before anything runs, there only when complete. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check/runner.h"
#include "command/command.h"
#include "files/temporary.h"

static int complain(const char *command, const char *path, const char *what)
{
    command_complain(command, "--out: cannot write '%.400s': %s", path, what);
    return EXIT_MISUSE;
}

int runner_out_open(const char *command, const char *path, struct runner_out *out)
{
    struct stat status;
    int fd;

    *out = (struct runner_out){.file = NULL};
    if (path[0] == '\0')
        return 0;
    snprintf(out->path, sizeof out->path, "%s", path);
    /* The new file takes the old one's place: that must not be a device. */
    const int failed = lstat(path, &status) == 0 ? 0 : errno;

    if (failed != ENOENT && (failed != 0 || !S_ISREG(status.st_mode)))
        return complain(command, path, failed != 0 ? strerror(failed) : "it is not a regular file");
    fd = temporary_open(path, out->temporary, sizeof out->temporary);
    if (fd >= 0 && (out->file = fdopen(fd, "w")))
        return 0;
    const int why = errno;

    if (fd >= 0) {
        close(fd);
        unlink(out->temporary);
    }
    return complain(command, path, strerror(why));
}

int runner_out_close(const char *command, struct runner_out *out)
{
    FILE *file = out->file;
    bool good;

    if (!file)
        return 0;
    out->file = NULL;
    good = fflush(file) == 0 && !ferror(file);
    good = fclose(file) == 0 && good;
    good = good && rename(out->temporary, out->path) == 0;
    if (good)
        return 0;
    const int why = errno;

    unlink(out->temporary);
    return complain(command, out->path, strerror(why));
}

void runner_out_discard(struct runner_out *out)
{
    if (!out->file)
        return;
    fclose(out->file);
    unlink(out->temporary);
    out->file = NULL;
}
