/* sweep/trace_file.c: puts the events of all launches into one file. */
#include "sweep/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char head[] = "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":\"lockstep\"},"
                           "\"traceEvents\":[\n";

int trace_file_open(struct trace_file *trace, const char *path, struct text_error *err)
{
    const char *slash = strrchr(path, '/');
    char folder[sizeof trace->out.whole.path] = ".", there[sizeof head] = "";
    struct stat info = {.st_mode = 0};

    if (path[0] == '\0')
        return 0;
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    if (text_open(&trace->out, folder, slash ? slash + 1 : path, TEXT_PLAIN, err)) {
        trace->out.file = NULL;
        return -1;
    }
    /* The file of the records must never be replaced, nor any other file by mistake. */
    bool free_place = lstat(path, &info) != 0 && errno == ENOENT;

    if (!free_place && S_ISREG(info.st_mode)) {
        const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

        free_place = fd >= 0 && read(fd, there, sizeof head - 1) == (ssize_t)sizeof head - 1 &&
                     memcmp(there, head, sizeof head - 1) == 0;
        if (fd >= 0)
            close(fd);
    }
    if (!free_place) {
        snprintf(err->text, sizeof err->text,
                 "--trace: %.200s is there and is no trace: name another file", path);
        trace_file_discard(trace);
        return -1;
    }
    fputs(head, trace->out.file);
    return 0;
}

void trace_file_add(struct trace_file *trace, const char *events)
{
    fprintf(trace->out.file, "%s%s", trace->launches > 0 ? ",\n" : "", events);
    ++trace->launches;
}

int trace_file_close(struct trace_file *trace, struct text_error *err)
{
    if (!trace->out.file)
        return 0;
    fputs("\n]}\n", trace->out.file);

    const int status = text_close(&trace->out, err);

    trace->out.file = NULL;
    trace->made = status == 0;
    return status;
}

void trace_file_discard(struct trace_file *trace)
{
    if (trace->out.file)
        text_discard(&trace->out);
    trace->out.file = NULL;
}
