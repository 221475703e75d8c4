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

void text_add_shell(char *text, size_t bytes, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:,+=@%";

    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        text_add(text, bytes, "%s", word);
        return;
    }
    text_add(text, bytes, "'");
    for (size_t n; *word != '\0'; word += n + (word[n] == '\'')) {
        n = strcspn(word, "'");
        text_add(text, bytes, "%.*s%s", (int)n, word, word[n] == '\'' ? "'\\''" : "");
    }
    text_add(text, bytes, "'");
}

bool text_has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = list; *at != '\0';) {
        const size_t bytes = strcspn(at, ", ");

        if (bytes == length && strncmp(at, word, length) == 0)
            return true;
        at += bytes + strspn(at + bytes, ", ");
    }
    return false;
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

/* Characters that may be shown: visible ones and blanks. Between these ranges are format
 * characters, characters that turn directions or break lines, private ones, code points that are no
 * characters, and long runs that Unicode has not assigned. */
static bool is_shown(uint32_t code)
{
    static const uint32_t ranges[][2] = {
        {0x20, 0x7e},       {0xa0, 0xac},       {0xae, 0x34e},      {0x350, 0x5f4},
        {0x606, 0x61b},     {0x61d, 0x6dc},     {0x6de, 0x70d},     {0x710, 0x88e},
        {0x898, 0x8e1},     {0x8e3, 0x115e},    {0x1161, 0x17b3},   {0x17b6, 0x180a},
        {0x1810, 0x200a},   {0x2010, 0x2027},   {0x202f, 0x205f},   {0x2070, 0x3163},
        {0x3165, 0xd7fb},   {0xf900, 0xfdcf},   {0xfdf0, 0xfdff},   {0xfe10, 0xfefc},
        {0xff01, 0xff9f},   {0xffa1, 0xffee},   {0xfffd, 0xfffd},   {0x10000, 0x10d39},
        {0x10e60, 0x110bc}, {0x110be, 0x110c2}, {0x110d0, 0x12543}, {0x12f90, 0x1342e},
        {0x14400, 0x14646}, {0x16800, 0x18d08}, {0x1aff0, 0x1bc9f}, {0x1cf00, 0x1d172},
        {0x1d17b, 0x1e2ff}, {0x1e7e0, 0x1eef1}, {0x1f000, 0x1fbf9}, {0x20000, 0x2fa1d},
        {0x30000, 0x3134a}};
    bool found = false;

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

        if (length == 0 || !is_shown(code)) {
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

    while (*text != '\0' && (length = text_decode(text, &code)) > 0 && is_shown(code))
        text += length;
    return *text == '\0';
}

/* A special text: `to` stands for it, or its first bytes stay and are parted from the rest. */
struct escape {
    const char *from, *to;
    size_t stay;
};

static const struct escape html[] = {{"&", "&amp;", 0},   {"<", "&lt;", 0},  {">", "&gt;", 0},
                                     {"\"", "&quot;", 0}, {"'", "&#39;", 0}, {NULL, NULL, 0}};

/* A comment parts two characters for programs that look for links and names: no backslash does. */
static const char parted[] = "<!-- -->";
static const struct escape markdown[] = {
    {"&", "&amp;", 0}, {"<", "&lt;", 0},        {">", "&gt;", 0}, {"\\", "\\\\", 0},
    {"`", "\\`", 0},   {"*", "\\*", 0},         {"_", "\\_", 0},  {"[", "\\[", 0},
    {"]", "\\]", 0},   {"|", "\\|", 0},         {"~", "\\~", 0},  {"!", "\\!", 0},
    {"$", "\\$", 0},   {"#", "\\#<!-- -->", 0}, {"@", NULL, 1},   {"://", NULL, 1},
    {"www.", NULL, 3}, {"GH-", NULL, 2},        {NULL, NULL, 0}};

/* Commands in the log of a job; the text of a property also ends at these two characters. */
static const struct escape command[] = {{"%", "%25", 0}, {NULL, NULL, 0}};
static const struct escape property[] = {
    {"%", "%25", 0}, {":", "%3A", 0}, {",", "%2C", 0}, {NULL, NULL, 0}};

static const struct escape none[] = {{NULL, NULL, 0}};

static const struct escape *const escapes[TEXT_FORMS] = {[TEXT_PLAIN] = none,
                                                         [TEXT_HTML] = html,
                                                         [TEXT_MARKDOWN] = markdown,
                                                         [TEXT_COMMAND] = command,
                                                         [TEXT_PROPERTY] = property};

void text_write(FILE *file, enum text_form form, const char *text, size_t bytes)
{
    const char *const end = text + strnlen(text, bytes);
    uint32_t code = 0;

    while (text < end) {
        const struct escape *escape = escapes[form];
        const size_t length = text_decode(text, &code);

        while (escape->from && strncasecmp(text, escape->from, strlen(escape->from)) != 0)
            ++escape;
        if (escape->from) {
            fwrite(text, 1, escape->stay, file);
            fputs(escape->to != NULL ? escape->to : parted, file);
            text += escape->to ? strlen(escape->from) : escape->stay;
            continue;
        }
        /* C0, delete, C1 */
        if (length == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0))
            putc('?', file);
        else if (is_shown(code))
            fwrite(text, 1, length, file);
        else {
            char shown[16];

            snprintf(shown, sizeof shown, "<U+%04X>", (unsigned)code);
            text_write(file, form, shown, strlen(shown));
        }
        text += length == 0 ? 1 : length;
    }
}

void text_wrap(FILE *file, enum text_form form, const char *text, size_t left, const char *others,
               size_t columns)
{
    const size_t indent = strlen(others), room = columns > indent + 8 ? columns - indent : 8;

    while (strlen(text) > left) {
        size_t end = left;

        while (end > 0 && text[end] != ' ')
            --end;
        if (end == 0)
            end = 1 + strcspn(text + 1, " ");
        if (text[end] == '\0')
            break;
        size_t n = end;

        while (n > 1 && text[n - 1] == ' ')
            --n;
        text_write(file, form, text, n);
        fprintf(file, "\n%s", others);
        text += end + 1;
        left = room;
    }
    text_write(file, form, text, SIZE_MAX);
    fputc('\n', file);
}

void text_write_field(FILE *file, const char *text)
{
    putc('"', file);
    if (text[0] != '\0' && strchr("=+-@", text[0]))
        putc('\'', file);
    for (size_t part; text[part = strcspn(text, "\"\n")] != '\0';) {
        text_write(file, TEXT_PLAIN, text, part);
        fputs(text[part] == '"' ? "\"\"" : " ", file); /* a field is one line */
        text += part + 1;
    }
    text_write(file, TEXT_PLAIN, text, SIZE_MAX);
    putc('"', file);
}
