/* fleet/expect.c: names of nodes: which are safe, and the list of those that should be there. */
#include "fleet/fleet.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES = 1 << 20, RANGE_DIGITS = 9 };

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
static const char others[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";

bool fleet_name_is_safe(const char *name)
{
    const size_t length = strlen(name);

    return length > 0 && length < FLEET_NAME && strchr(letters, name[0]) != NULL &&
           strspn(name, others) == length;
}

/* Where the reader is, for a complaint. */
struct place {
    const char *path;
    size_t line;
    struct text_error *why;
};

static int refuse_name(const struct place *place, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int refuse_name(const struct place *place, const char *format, ...)
{
    char text[sizeof place->why->text - 160];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text_fail(place->why, "%.120s:%zu: %s", place->path, place->line, text);
}

static int add_node_name(struct fleet_names *names, const char *name, const struct place *place)
{
    if (!fleet_name_is_safe(name))
        return refuse_name(
            place, "'%.60s' is no name of a node: letters, digits, '.', '_' and '-' are allowed",
            name);
    if (names->n == FLEET_EXPECTED)
        return refuse_name(place, "more than %d nodes", FLEET_EXPECTED);
    names->name[names->n] = strdup(name);
    if (!names->name[names->n])
        return refuse_name(place, "no memory for the names");
    ++names->n;
    return 0;
}

/* Digits, and nothing else, up to end. */
static int read_digits(const char *text, const char *end, unsigned long *number)
{
    const size_t digits = strspn(text, "0123456789");

    if (digits == 0 || digits > RANGE_DIGITS || text + digits != end)
        return -1;
    *number = strtoul(text, NULL, 10);
    return 0;
}

/* "node7", or "node[001-256,300]": as many names as the ranges in the bracket have numbers. */
static int add_item(struct fleet_names *names, const char *item, const struct place *place)
{
    const char *open = strchr(item, '['), *close = strchr(item, ']'), *end;
    char name[FLEET_NAME];

    if (!open && !close)
        return add_node_name(names, item, place);
    if (!open || !close || close < open || strpbrk(open + 1, "[") || strchr(close + 1, ']'))
        return refuse_name(place, "'%.60s': one pair of brackets is allowed", item);
    for (const char *range = open + 1; range <= close; range = end + 1) {
        const int width = (int)strspn(range, "0123456789");
        unsigned long first, last;

        end = range + strcspn(range, ",]");
        const char *const dash = memchr(range, '-', (size_t)(end - range));

        if (read_digits(range, dash ? dash : end, &first) != 0 ||
            read_digits(dash ? dash + 1 : range, end, &last) != 0 || last < first)
            return refuse_name(place, "'%.60s': '%.*s' is no range such as 001-256", item,
                               (int)(end - range), range);
        for (unsigned long i = first; i <= last; ++i) {
            const int length = snprintf(name, sizeof name, "%.*s%0*lu%s", (int)(open - item), item,
                                        width, i, close + 1);

            if (length >= (int)sizeof name)
                return refuse_name(place, "'%.60s' is longer than %zu bytes", item,
                                   sizeof name - 1);
            if (add_node_name(names, name, place) != 0)
                return -1;
        }
    }
    return 0;
}

/* Items are parted by commas, outside of brackets. line is cut up. */
static int add_line(struct fleet_names *names, char *line, const struct place *place)
{
    bool within = false;
    char *item = line;
    int status = 0;

    for (char *at = line; status == 0; ++at) {
        const char here = *at;

        within = here == '[' || (within && here != ']');
        if (here != '\0' && (here != ',' || within))
            continue;
        *at = '\0';
        status = add_item(names, item, place);
        item = at + 1;
        if (here == '\0')
            break;
    }
    return status;
}

/* Without blanks at its ends, and without a comment. */
static char *trim(char *line)
{
    char *end;

    line[strcspn(line, "#")] = '\0';
    line += strspn(line, " \t\r");
    end = line + strlen(line);
    while (end > line && strchr(" \t\r", end[-1]))
        *--end = '\0';
    return line;
}

int fleet_expect_text(const char *text, const char *path, struct fleet_names *names,
                      struct text_error *why)
{
    struct place place = {.path = path, .line = 0, .why = why};
    int status = 0;

    *names = (struct fleet_names){.name = calloc(FLEET_EXPECTED, sizeof names->name[0])};
    if (!names->name)
        return refuse_name(&place, "no memory for the names");
    for (const char *at = text; status == 0 && *at != '\0';) {
        const size_t length = strcspn(at, "\n");
        char *line = strndup(at, length);

        ++place.line;
        if (!line)
            status = refuse_name(&place, "no memory for the names");
        else if (*trim(line) != '\0')
            status = add_line(names, trim(line), &place);
        free(line);
        at += length + (at[length] == '\n');
    }
    if (status == 0 && names->n == 0)
        status = refuse_name(&place, "it names no node");
    return status;
}

int fleet_expect(const char *path, struct fleet_names *names, struct text_error *why)
{
    FILE *file = fopen(path, "rb");
    char *text = file ? malloc(FILE_BYTES + 1) : NULL;
    size_t bytes;
    int status = -1;

    *names = (struct fleet_names){.name = NULL};
    if (!text) {
        snprintf(why->text, sizeof why->text, "cannot read '%.180s': %s", path, strerror(errno));
        if (file)
            fclose(file);
        return -1;
    }
    bytes = fread(text, 1, FILE_BYTES + 1, file);
    if (ferror(file))
        snprintf(why->text, sizeof why->text, "cannot read '%.180s': %s", path, strerror(errno));
    else if (bytes > FILE_BYTES)
        snprintf(why->text, sizeof why->text, "%.180s is larger than %d bytes", path, FILE_BYTES);
    else if (memchr(text, '\0', bytes))
        snprintf(why->text, sizeof why->text, "%.180s is no text: it has a byte that is 0", path);
    else
        status = 0;
    fclose(file);
    if (status == 0) {
        text[bytes] = '\0';
        status = fleet_expect_text(text, path, names, why);
    }
    free(text);
    return status;
}

void fleet_names_free(struct fleet_names *names)
{
    for (size_t i = 0; i < names->n; ++i)
        free(names->name[i]);
    free(names->name);
    *names = (struct fleet_names){.name = NULL};
}
