/* text/text.c: see text/text.h. */
#include "text/text.h"

#include <stdarg.h>
#include <string.h>
#include <strings.h>

void text_add(char *text, size_t bytes, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + used, bytes - used, format, arguments);
    va_end(arguments);
}

void text_list(char *text, size_t bytes, const char *separator, const char *word)
{
    text_add(text, bytes, "%s%s", text[0] != '\0' ? separator : "", word);
}

int text_fail(struct text_error *err, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    return -1;
}

size_t text_decode(const char *text, uint32_t *code)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *s = (const unsigned char *)text;
    const size_t length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

    if (length == 0 || s[0] > 0xf4)
        return 0;
    *code = length == 1 ? s[0] : s[0] & (0xffU >> (length + 1));
    for (size_t i = 1; i < length; ++i) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (s[i] & 0x3fU);
    }
    if (*code < smallest[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
        return 0;
    return length;
}

/* C0, delete, C1. */
static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

/* Characters without a shape of their own (Unicode's default ignorable and format code points),
 * those that turn directions or break lines, and code points that are no characters, or mean what
 * somebody privately agreed on. Planes above the third have no others. */
static bool is_invisible(uint32_t code)
{
    static const uint32_t ranges[][2] = {
        {0xad, 0xad},       {0x34f, 0x34f},     {0x600, 0x605},     {0x61c, 0x61c},
        {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},
        {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},
        {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},   {0xe000, 0xf8ff},
        {0xfdd0, 0xfdef},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
        {0xfff0, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f},
        {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0x40000, 0x10ffff}};
    bool found = (code & 0xfffe) == 0xfffe;

    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; ++i)
        found = found || (code >= ranges[i][0] && code <= ranges[i][1]);
    return found;
}

void text_clean(char *text, char control)
{
    uint32_t code = 0;
    char *out = text;

    for (const char *in = text; *in != '\0';) {
        const size_t length = text_decode(in, &code);

        if (length == 0 || is_control(code)) {
            *out++ = length == 1 ? control : '?';
            in += length == 0 ? 1 : length;
            continue;
        }
        memmove(out, in, length);
        out += length;
        in += length;
    }
    *out = '\0';
}

bool text_is_clean(const char *text)
{
    uint32_t code = 0;
    size_t length;

    while (*text != '\0' && (length = text_decode(text, &code)) > 0 && !is_control(code))
        text += length;
    return *text == '\0';
}

/* What is special: `to` stands for it, or its first bytes stay and are parted from the rest. */
struct escape {
    const char *from, *to;
    size_t stay;
};

static const struct escape html[] = {{"&", "&amp;", 0},   {"<", "&lt;", 0},  {">", "&gt;", 0},
                                     {"\"", "&quot;", 0}, {"'", "&#39;", 0}, {NULL, NULL, 0}};

/* A comment parts two characters for whoever looks for links and names: no backslash does. */
static const char parted[] = "<!-- -->";
static const struct escape markdown[] = {
    {"&", "&amp;", 0}, {"<", "&lt;", 0},        {">", "&gt;", 0}, {"\\", "\\\\", 0},
    {"`", "\\`", 0},   {"*", "\\*", 0},         {"_", "\\_", 0},  {"[", "\\[", 0},
    {"]", "\\]", 0},   {"|", "\\|", 0},         {"~", "\\~", 0},  {"!", "\\!", 0},
    {"$", "\\$", 0},   {"#", "\\#<!-- -->", 0}, {"@", NULL, 1},   {"://", NULL, 1},
    {"www.", NULL, 3}, {"GH-", NULL, 2},        {NULL, NULL, 0}};

/* Of a command in the log of a job; the text of a property ends at two characters more. */
static const struct escape command[] = {{"%", "%25", 0}, {NULL, NULL, 0}};
static const struct escape property[] = {
    {"%", "%25", 0}, {":", "%3A", 0}, {",", "%2C", 0}, {NULL, NULL, 0}};

static const struct escape none[] = {{NULL, NULL, 0}};

static const struct escape *const escapes[TEXT_FORMS] = {[TEXT_PLAIN] = none,
                                                         [TEXT_HTML] = html,
                                                         [TEXT_MARKDOWN] = markdown,
                                                         [TEXT_COMMAND] = command,
                                                         [TEXT_PROPERTY] = property};

/* Of the text at this place: NULL when it means nothing special. */
static const struct escape *find(enum text_form form, const char *text)
{
    const struct escape *one = escapes[form];

    while (one->from && strncasecmp(text, one->from, strlen(one->from)) != 0)
        ++one;
    return one->from ? one : NULL;
}

static void write_invisible(FILE *file, enum text_form form, uint32_t code)
{
    char text[16];

    snprintf(text, sizeof text, "<U+%04X>", (unsigned)code);
    text_write(file, form, text, strlen(text));
}

void text_write(FILE *file, enum text_form form, const char *text, size_t bytes)
{
    const char *const end = text + strnlen(text, bytes);
    uint32_t code = 0;

    while (text < end) {
        const struct escape *escape = find(form, text);
        const size_t length = text_decode(text, &code);

        if (escape) {
            fwrite(text, 1, escape->stay, file);
            fputs(escape->to != NULL ? escape->to : parted, file);
            text += escape->to ? strlen(escape->from) : escape->stay;
            continue;
        }
        if (length == 0 || is_control(code))
            putc('?', file);
        else if (is_invisible(code))
            write_invisible(file, form, code);
        else
            fwrite(text, 1, length, file);
        text += length == 0 ? 1 : length;
    }
}

void text_write_field(FILE *file, const char *text)
{
    putc('"', file);
    if (text[0] != '\0' && strchr("=+-@", text[0]))
        putc('\'', file);
    for (size_t part = strcspn(text, "\""); text[part] != '\0'; part = strcspn(text, "\"")) {
        text_write(file, TEXT_PLAIN, text, part);
        fputs("\"\"", file);
        text += part + 1;
    }
    text_write(file, TEXT_PLAIN, text, SIZE_MAX);
    putc('"', file);
}
