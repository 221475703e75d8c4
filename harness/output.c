/* output.c: opens, locks, repairs and appends to a sweep's file. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int say(struct record_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int say(struct record_error *err, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return -1;
}

static int default_path(struct output *output, struct record_error *err)
{
    static const char *const folders[] = {"results", "results/local"};
    const time_t now = time(NULL);
    struct tm utc;
    char stamp[32] = "";

    for (int i = 0; i < 2; i++)
        if (mkdir(folders[i], 0777) && errno != EEXIST)
            return say(err, "cannot make the folder %s: %s", folders[i], strerror(errno));
    if (gmtime_r(&now, &utc) != NULL)
        strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
    snprintf(output->path, sizeof output->path, "results/local/sweep-%s.jsonl", stamp);
    return 0;
}

static int lock(const struct output *output, struct record_error *err)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    if (fcntl(output->fd, F_SETLK, &whole) == 0 || (errno != EACCES && errno != EAGAIN))
        return 0; /* a file system without locks: go on without */
    return say(err, "%.180s: another sweep is writing to it", output->path);
}

static int load(struct output *output, struct record_error *err)
{
    if (record_read(output->path, &output->file, err))
        return -1;
    output->resumed = true;
    if (output->file.torn &&
        (ftruncate(output->fd, (off_t)output->file.torn_offset) || fsync(output->fd)))
        return say(err, "%.180s: cannot cut off its torn end: %s", output->path, strerror(errno));
    return 0;
}

int output_open(struct output *output, const char *path, bool resume, struct record_error *err)
{
    struct stat info;

    *output = (struct output){.fd = -1};
    if (path == NULL && default_path(output, err))
        return -1;
    if (path != NULL && strlen(path) >= sizeof output->path)
        return say(err, "--out: the path is longer than %zu characters", sizeof output->path - 1);
    if (path != NULL)
        snprintf(output->path, sizeof output->path, "%s", path);
    output->fd = open(output->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (output->fd < 0 || fstat(output->fd, &info))
        return say(err, "cannot write to %.180s: %s", output->path, strerror(errno));
    if (lock(output, err))
        return -1;
    if (info.st_size == 0)
        return 0;
    if (!resume)
        return say(err, "%.180s holds records already; use --resume or another file", output->path);
    /* Closing any descriptor of a file gives up its lock, and load reads it through another. */
    return load(output, err) || lock(output, err) ? -1 : 0;
}

int output_append(struct output *output, char *line, struct record_error *err)
{
    struct record_error cause = {""};
    int rc;

    if (line == NULL)
        return say(err, "out of memory for a record");
    rc = record_append(output->fd, line, &cause);
    free(line);
    return rc ? say(err, "%.120s: %.120s", output->path, cause.text) : 0;
}

void output_close(struct output *output)
{
    if (output->resumed)
        record_file_free(&output->file);
    if (output->fd >= 0)
        close(output->fd);
    output->fd = -1;
}
