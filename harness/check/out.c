/* check/out.c: the file of --out. A bad path is refused before anything runs, and the file gets its
 * name only when it is complete. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "check/runner.h"
#include "command/command.h"

static int complain_of_out(const char *command, const char *path, const char *what)
{
    return command_refuse(command, "--out: cannot write '%.400s': %s", path, what);
}

int runner_out_open(const char *command, const char *path, struct whole_file *out)
{
    struct stat status;

    out->file = NULL;
    if (path[0] == '\0')
        return 0;
    /* The new file replaces the old one, so the old one must not be a device. */
    int failed = lstat(path, &status) == 0 ? 0 : errno;

    if (failed != ENOENT && (failed != 0 || !S_ISREG(status.st_mode)))
        return complain_of_out(command, path,
                               failed != 0 ? strerror(failed) : "it is not a regular file");
    failed = whole_open(out, path);
    return failed == 0 ? 0 : complain_of_out(command, path, strerror(failed));
}

int runner_out_close(const char *command, struct whole_file *out)
{
    const int failed = out->file ? whole_close(out) : 0;

    return failed == 0 ? 0 : complain_of_out(command, out->path, strerror(failed));
}

void runner_out_discard(struct whole_file *out)
{
    if (out->file)
        whole_discard(out);
}
