/* files/text_out.c: the only way of text from records into pages.
 *
 * Nothing else prints text that came from a record into a page. */
#include "files/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_error(struct text_error *err, const char *path, int why)
{
    return text_fail(err, "cannot write '%.180s': %s", path, strerror(why));
}

int text_open(struct text_out *out, const char *directory, const char *name, enum text_form form,
              struct text_error *err)
{
    char path[sizeof out->whole.path];
    const int length = snprintf(path, sizeof path, "%s/%s", directory, name);

    if (length < 0 || (size_t)length >= sizeof path)
        return text_fail(err, "the path '%.100s...' is longer than %zu bytes", directory,
                         sizeof path - 1);
    if (stop_requested())
        return text_fail(err, "interrupted before '%.180s' was written", path);
    const int failed = whole_open(&out->whole, path);

    out->form = form;
    out->file = out->whole.file;
    return failed == 0 ? 0 : write_error(err, path, failed);
}

int text_close(struct text_out *out, struct text_error *err)
{
    const int failed = whole_close(&out->whole);

    return failed == 0 ? 0 : write_error(err, out->whole.path, failed);
}

void text_discard(struct text_out *out)
{
    whole_discard(&out->whole);
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
        else if (*at == '%')
            putc('%', out->file);
        else
            abort(); /* what follows would be taken for something else */
        at += *at == 'z';
    }
    va_end(arguments);
}

void text_lines(FILE *to, enum text_form form, const char *text, const char *newline)
{
    for (size_t length; *text != '\0'; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        text_write(to, form, text, length);
        fputs(text[length] == '\n' ? newline : "", to);
    }
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

int text_folder_own(const char *path, struct text_error *err)
{
    const int fd = text_folder(path) == 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    if (fd < 0)
        snprintf(err->text, sizeof err->text, "cannot make the directory '%.180s': %s", path,
                 strerror(errno));
    else if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        snprintf(err->text, sizeof err->text, "another lockstep is writing to '%.180s'", path);
    else
        return 0; /* or a file system without locks: go on without */
    if (fd >= 0)
        close(fd);
    return -1;
}

void text_remove(const char *directory, const char *name)
{
    char path[1088];

    if (snprintf(path, sizeof path, "%s/%s", directory, name) < (int)sizeof path)
        temporary_remove(path);
}
