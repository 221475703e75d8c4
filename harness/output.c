/* output.c: opens, locks, repairs and appends to a sweep's file. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_NAMES = 100, OPEN_FLAGS = O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK };

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

/* Opens a file that was not there. Two sweeps of one second have two names. */
static int open_default(struct output *output, struct record_error *err)
{
    static const char *const folders[] = {"results", "results/local"};
    const time_t now = time(NULL);
    struct tm utc;
    char stamp[32] = "", suffix[16] = "";

    for (int i = 0; i < 2; i++)
        if (mkdir(folders[i], 0777) && errno != EEXIST)
            return say(err, "cannot make the folder %s: %s", folders[i], strerror(errno));
    if (gmtime_r(&now, &utc) != NULL)
        strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
    for (int i = 2; i < DEFAULT_NAMES; i++) {
        snprintf(output->path, sizeof output->path, "results/local/sweep-%s%s.jsonl", stamp,
                 suffix);
        output->fd = open(output->path, OPEN_FLAGS | O_CREAT | O_EXCL, 0666);
        if (output->fd >= 0 || errno != EEXIST)
            break;
        snprintf(suffix, sizeof suffix, "-%d", i);
    }
    return 0;
}

static int open_path(struct output *output, const char *path, bool resume, struct record_error *err)
{
    if (path == NULL)
        return open_default(output, err);
    if (strlen(path) >= sizeof output->path)
        return say(err, "--out: the path is longer than %zu characters", sizeof output->path - 1);
    snprintf(output->path, sizeof output->path, "%s", path);
    output->fd = open(output->path, OPEN_FLAGS | (resume ? 0 : O_CREAT), 0666);
    return 0;
}

/* The lock is of this descriptor: no other one that is closed gives it up, as with fcntl. */
static int lock(const struct output *output, struct record_error *err)
{
    if (flock(output->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return 0; /* a file system without locks: go on without */
    return say(err, "%.180s: another sweep is writing to it", output->path);
}

/* Whether the file is the beginning of a header whose write was interrupted: nothing is lost when
 * the sweep starts anew. */
static bool is_started(int fd)
{
    static const char header[] = "{\"schema\":\"lockstep/run/";
    char text[4096];
    const ssize_t n = pread(fd, text, sizeof text, 0);
    const size_t length = n > 0 ? (size_t)n : 0;
    const size_t common = length < sizeof header - 1 ? length : sizeof header - 1;

    return n >= 0 && length < sizeof text && memcmp(text, header, common) == 0 &&
           memchr(text, '\n', length) == NULL;
}

int output_open(struct output *output, const char *path, bool resume, struct record_error *err)
{
    struct stat info;

    *output = (struct output){.fd = -1};
    if (open_path(output, path, resume, err))
        return -1;
    if (output->fd < 0 && resume && errno == ENOENT)
        return say(err, "%.180s is not there: nothing to resume", output->path);
    if (output->fd < 0 || fstat(output->fd, &info))
        return say(err, "cannot write to %.180s: %s", output->path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return say(err, "%.180s is not a regular file: records would be lost", output->path);
    if (lock(output, err))
        return -1;
    /* Another sweep may have filled it before this one had the lock. */
    if (fstat(output->fd, &info))
        return say(err, "cannot read %.180s: %s", output->path, strerror(errno));
    if (info.st_size > 0 && !resume)
        return say(err, "%.180s holds records already; use --resume or another file", output->path);
    output->started = is_started(output->fd);
    if (output->started)
        return 0;
    output->resumed = record_read(output->path, &output->file, err) == 0;
    return output->resumed ? 0 : -1;
}

static int cut(const struct output *output, off_t size, struct record_error *err)
{
    if (ftruncate(output->fd, size) == 0 && fsync(output->fd) == 0)
        return 0;
    return say(err, "%.180s: cannot cut off its torn end: %s", output->path, strerror(errno));
}

int output_repair(struct output *output, struct record_error *err)
{
    struct record_file file;
    const off_t size = lseek(output->fd, 0, SEEK_END);

    if (output->started)
        return cut(output, 0, err);
    if (!output->file.torn)
        return 0;
    /* With a newline the last line is either a record or still torn. */
    if (write(output->fd, "\n", 1) != 1)
        return cut(output, (off_t)output->file.torn_offset, err);
    if (record_read(output->path, &file, err)) {
        struct record_error ignored;

        cut(output, size, &ignored);
        return -1;
    }
    record_file_free(&output->file);
    output->file = file;
    return file.torn ? cut(output, (off_t)file.torn_offset, err) : 0;
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
