/* record/append.c: appends a line to a file of records, either wholly on the disk or not at all. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/json.h"

int record_append(int fd, const char *line, struct text_error *err)
{
    const size_t length = strlen(line);
    struct stat info;
    ssize_t n = 0;

    if (memchr(line, '\n', length))
        return record_fail(err, "a record must be one line");
    char *text = malloc(length + 2);

    if (!text)
        return record_fail(err, "no memory to append %zu bytes", length);
    snprintf(text, length + 2, "%s\n", line);

    /* -1: the file cannot be truncated to what it was */
    const off_t before = lseek(fd, 0, SEEK_END);

    /* A short write is tried again, so that errno tells the reason: the disk is full. */
    for (size_t done = 0; done <= length && (n >= 0 || errno == EINTR);
         done += n > 0 ? (size_t)n : 0)
        n = write(fd, text + done, length + 1 - done);
    /* Pipes and terminals cannot be synchronised, and need not be. */
    const bool written = n >= 0 && (fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP);
    const int reason = errno;

    free(text);
    if (written)
        return 0;
    const bool cut = before >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                     ftruncate(fd, before) == 0 && lseek(fd, before, SEEK_SET) == before;

    return record_fail(err, "cannot append a record of %zu bytes: %s%s", length + 1,
                       strerror(reason), cut ? "; the file is as it was" : "");
}
