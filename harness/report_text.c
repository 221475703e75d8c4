/* report_text.c: cleaning and escaping of text, and files that appear complete.
 *
 * Nothing else in the report prints text that came from a record. */
#include "report.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stop.h"
#include "temporary.h"

/* Length of the UTF-8 sequence at s and its code point; 0 when it is not one. */
static size_t decode(const unsigned char *s, unsigned long *code)
{
    static const unsigned long smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

    if (length == 0 || s[0] > 0xf4)
        return 0;
    *code = length == 1 ? s[0] : s[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (s[i] & 0x3fu);
    }
    if (*code < smallest[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
        return 0;
    return length;
}

/* Direction overrides would let text on the page pretend to be other text. */
static bool is_harmless(unsigned long code)
{
    bool direction = (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
                     (code >= 0x2066 && code <= 0x2069);
    bool nothing = (code & 0xfffe) == 0xfffe || (code >= 0xfdd0 && code <= 0xfdef);

    return code >= 0x20 && (code < 0x7f || code >= 0xa0) && !direction && !nothing;
}

void report_clean(char *text)
{
    const unsigned char *in = (const unsigned char *)text;
    char *out = text;

    while (*in != '\0') {
        unsigned long code = 0;
        size_t length = decode(in, &code);

        if (length == 0 || !is_harmless(code)) {
            *out++ = length == 1 ? ' ' : '?';
            in += length == 0 ? 1 : length;
            continue;
        }
        memmove(out, in, length);
        out += length;
        in += length;
    }
    *out = '\0';
}

void report_escape_none(FILE *file, const char *text)
{
    fputs(text, file);
}

void report_escape_html(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", file);
            break;
        case '<':
            fputs("&lt;", file);
            break;
        case '>':
            fputs("&gt;", file);
            break;
        case '"':
            fputs("&quot;", file);
            break;
        case '\'':
            fputs("&#39;", file);
            break;
        default:
            putc(*text, file);
        }
    }
}

/* Markdown readers pass HTML on, so both kinds of special characters count. */
void report_escape_markdown(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("&<>", *text) != NULL) {
            fputs(*text == '&' ? "&amp;" : *text == '<' ? "&lt;" : "&gt;", file);
            continue;
        }
        if (strchr("\\`*_[]#|~!$", *text) != NULL)
            putc('\\', file);
        putc(*text, file);
    }
}

static void write_error(struct record_error *err, const char *path)
{
    snprintf(err->text, sizeof err->text, "cannot write '%.180s': %s", path, strerror(errno));
}

int report_open(struct report_out *out, const char *directory, const char *name,
                report_escape_fn *escape, struct record_error *err)
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

    out->escape = escape;
    out->file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (out->file != NULL)
        return 0;
    write_error(err, out->path);
    if (fd >= 0) {
        close(fd);
        unlink(out->temporary);
    }
    return -1;
}

int report_close(struct report_out *out, struct record_error *err)
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

void report_discard(struct report_out *out)
{
    fclose(out->file);
    unlink(out->temporary);
}

void report_print(struct report_out *out, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    for (const char *at = format; *at != '\0'; at++) {
        if (*at != '%') {
            putc(*at, out->file);
            continue;
        }
        at++;
        if (*at == 's')
            out->escape(out->file, va_arg(arguments, const char *));
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
