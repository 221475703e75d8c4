/* fleet/expect.c: names of nodes: which are safe, and the list of those that should be there. */
#include "fleet/fleet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text/alloc.h"

enum { FILE_BYTES = 1 << 20, RANGE_DIGITS = 9 };

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
static const char others[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";

bool fleet_name_is_safe(const char *name)
{
    const size_t length = strlen(name);

    return length > 0 && length < FLEET_NAME && strchr(letters, name[0]) != NULL &&
           strspn(name, others) == length;
}

static int add_node_name(struct fleet_names *names, const char *name, struct text_error *why)
{
    if (!fleet_name_is_safe(name))
        return text_fail(
            why, "'%.60s' is no name of a node: letters, digits, '.', '_' and '-' are allowed",
            name);
    if (names->n == FLEET_EXPECTED)
        return text_fail(why, "more than %d nodes", FLEET_EXPECTED);
    names->name[names->n++] = cli_copy_text(name);
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
static int add_item(struct fleet_names *names, const char *item, struct text_error *why)
{
    const char *open = strchr(item, '['), *close = strchr(item, ']'), *end;
    char name[FLEET_NAME];

    if (!open && !close)
        return add_node_name(names, item, why);
    if (!open || !close || close < open || strpbrk(open + 1, "[") || strchr(close + 1, ']'))
        return text_fail(why, "'%.60s': one pair of brackets is allowed", item);
    for (const char *range = open + 1; range <= close; range = end + 1) {
        const int width = (int)strspn(range, "0123456789");
        unsigned long first, last;

        end = range + strcspn(range, ",]");
        const char *const dash = memchr(range, '-', (size_t)(end - range));

        if (read_digits(range, dash ? dash : end, &first) != 0 ||
            read_digits(dash ? dash + 1 : range, end, &last) != 0 || last < first)
            return text_fail(why, "'%.60s': '%.*s' is no range such as 001-256", item,
                             (int)(end - range), range);
        for (unsigned long i = first; i <= last; ++i) {
            const int length = snprintf(name, sizeof name, "%.*s%0*lu%s", (int)(open - item), item,
                                        width, i, close + 1);

            if (length >= (int)sizeof name)
                return text_fail(why, "'%.60s' is longer than %zu bytes", item, sizeof name - 1);
            if (add_node_name(names, name, why) != 0)
                return -1;
        }
    }
    return 0;
}

int fleet_expect_text(const char *text, const char *path, struct fleet_names *names,
                      struct text_error *why)
{
    struct text_error what = {""};
    size_t number = 0;
    int status = 0;

    *names = (struct fleet_names){.name = cli_alloc(FLEET_EXPECTED, sizeof names->name[0])};
    for (const char *at = text; status == 0 && *at != '\0';) {
        const size_t length = strcspn(at, "\n");
        char *line = cli_memory(strndup(at, length)), *item = line;
        bool within = false;

        ++number;
        /* Without a comment, and blanks at its ends. */
        line[strcspn(line, "#")] = '\0';
        item += strspn(line, " \t\r");
        for (char *end = item + strlen(item); end > item && strchr(" \t\r", end[-1]); --end)
            end[-1] = '\0';
        bool more = *item != '\0';

        /* Items are parted by commas, outside of brackets. */
        for (char *here = item; more && status == 0; ++here) {
            const bool comma = *here == ',' && !within;

            within = *here == '[' || (within && *here != ']');
            more = *here != '\0';
            if (!comma && more)
                continue;
            *here = '\0';
            status = add_item(names, item, &what);
            item = here + 1;
        }
        free(line);
        at += length + (at[length] == '\n');
    }
    if (status == 0 && names->n == 0)
        status = text_fail(&what, "it names no node");
    if (status != 0)
        text_fail(why, "%.120s:%zu: %.159s", path, number, what.text);
    return status;
}

char *fleet_read_text(const char *path, struct text_error *why)
{
    FILE *file = fopen(path, "rb");
    char *text = cli_bytes(FILE_BYTES + 1);
    const size_t bytes = file ? fread(text, 1, FILE_BYTES + 1, file) : 0;
    int status = 0;

    if (!file || ferror(file))
        status = text_fail(why, "cannot read '%.180s': %s", path, strerror(errno));
    else if (bytes > FILE_BYTES)
        status = text_fail(why, "%.180s is larger than %d bytes", path, FILE_BYTES);
    else if (memchr(text, '\0', bytes))
        status = text_fail(why, "%.180s is no text: it has a byte that is 0", path);
    else
        text[bytes] = '\0';
    if (file)
        fclose(file);
    if (status == 0)
        return text;
    free(text);
    return NULL;
}

int fleet_expect(const char *path, struct fleet_names *names, struct text_error *why)
{
    char *const text = fleet_read_text(path, why);
    const int status = text ? fleet_expect_text(text, path, names, why) : -1;

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
