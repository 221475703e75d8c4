/* files/text_out.c: the only way of text from records into pages, and files that appear complete.
 *
 * Nothing else prints text that came from a record into a page. */
#include "files/text_out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/stop.h"
#include "files/temporary.h"

static void write_error(struct text_error *err, const char *path)
{
    snprintf(err->text, sizeof err->text, "cannot write '%.180s': %s", path, strerror(errno));
}

int text_open(struct text_out *out, const char *directory, const char *name, enum text_form form,
              struct text_error *err)
{
    int length = snprintf(out->path, sizeof out->path, "%s/%s", directory, name);

    if (length < 0 || (size_t)length >= sizeof out->path) {
        snprintf(err->text, sizeof err->text, "the path '%.100s...' is longer than %zu bytes",
                 directory, sizeof out->path - 1);
        return -1;
    }
    if (stop_requested()) {
        snprintf(err->text, sizeof err->text, "interrupted before '%.180s' was written", out->path);
        return -1;
    }
    const int fd = temporary_open(out->path, out->temporary, sizeof out->temporary);

    out->form = form;
    out->file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (out->file)
        return 0;
    write_error(err, out->path);
    if (fd >= 0) {
        close(fd);
        unlink(out->temporary);
    }
    return -1;
}

int text_close(struct text_out *out, struct text_error *err)
{
    bool bad = fflush(out->file) != 0 || ferror(out->file) != 0;

    if (bad)
        write_error(err, out->path);
    if (fclose(out->file) != 0 && !bad) {
        write_error(err, out->path);
        bad = true;
    }
    if (!bad && rename(out->temporary, out->path) != 0) {
        write_error(err, out->path);
        bad = true;
    }
    if (bad)
        unlink(out->temporary);
    return bad ? -1 : 0;
}

void text_discard(struct text_out *out)
{
    fclose(out->file);
    unlink(out->temporary);
}

void text_print(struct text_out *out, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    for (const char *at = format; *at != '\0'; ++at) {
        if (*at != '%') {
            putc(*at, out->file);
            continue;
        }
        ++at;
        if (*at == 's')
            text_write(out->file, out->form, va_arg(arguments, const char *), SIZE_MAX);
        else if (*at == 'd')
            fprintf(out->file, "%d", va_arg(arguments, int));
        else if (strncmp(at, "zu", 2) == 0)
            fprintf(out->file, "%zu", va_arg(arguments, size_t));
        else
            putc('%', out->file);
        at += *at == 'z';
    }
    va_end(arguments);
}

int text_folder(const char *path)
{
    char part[1024];
    struct stat status;
    size_t length = strlen(path);

    if (length >= sizeof part - 64) {
        errno = ENAMETOOLONG;
        return -1;
    }
    for (size_t i = 1; i <= length; ++i) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return -1;
    }
    if (stat(path, &status) != 0)
        return -1;
    errno = ENOTDIR;
    return S_ISDIR(status.st_mode) ? 0 : -1;
}

void text_remove(const char *directory, const char *name)
{
    char path[1088];

    if (snprintf(path, sizeof path, "%s/%s", directory, name) < (int)sizeof path)
        unlink(path);
}
