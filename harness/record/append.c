/* record/append.c: appends a line to a file of records, either wholly on the disk or not at all. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/json.h"

/* Writes everything, or returns -1 with errno. A short write is tried again, so that errno tells
 * the reason: the disk is full. */
static int write_all(int fd, const char *text, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t n = write(fd, text, bytes);

        if (n < 0 && errno != EINTR)
            return -1;
        if (n > 0) {
            text += n;
            bytes -= (size_t)n;
        }
    }
    return 0;
}

/* Flushes the file to the disk. Pipes and terminals cannot be synchronised, and need not be. */
static int sync_file(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : -1;
}

int record_append(int fd, const char *line, struct text_error *err)
{
    const size_t length = strlen(line);

    if (memchr(line, '\n', length))
        return record_fail(err, "a record must be one line");
    char *text = malloc(length + 1);

    if (!text)
        return record_fail(err, "no memory to append %zu bytes", length);
    memcpy(text, line, length);
    text[length] = '\n';

    /* -1: the file cannot be truncated to what it was */
    const off_t before = lseek(fd, 0, SEEK_END);
    const int status = write_all(fd, text, length + 1) == 0 ? sync_file(fd) : -1;
    const int reason = errno;

    free(text);
    if (status == 0)
        return 0;
    struct stat info;
    const bool cut = before >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                     ftruncate(fd, before) == 0 && lseek(fd, before, SEEK_SET) == before;

    return record_fail(err, "cannot append a record of %zu bytes: %s%s", length + 1,
                       strerror(reason), cut ? "; the file is as it was" : "");
}
