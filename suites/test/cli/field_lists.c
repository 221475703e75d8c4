/* field_lists.c: checks that the lists of fields in results/README.md are those of the tables.
 *
 * Usage: field_lists README exits with 0 if they are, else with 1 and the first line that differs.
 * field_lists README --fix corrects them.
 *
 * A list stands between "<!-- fields of OBJECT -->" and "<!-- end -->". */
#include "../role_name.h"
#include "record/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the first of the fields of record_cell that are not derived but follow the derived ones.
 */
static const struct record_field *beside_fields(void)
{
    return record_find(record_cell_fields, "bytes_per_step");
}

static const struct {
    const char *name;
    const struct record_field *fields;
    const char *end; /* the first field that is not in the list; NULL: to the end of the table */
} lists[] = {{"run", record_run_fields, NULL},         {"slot", record_slot_fields, NULL},
             {"cell", record_cell_fields, "n_valid"},  {"key", record_key_fields, NULL},
             {"derived", record_derived_fields, NULL}, {"beside", NULL, NULL},
             {"raw", record_raw_fields, NULL},         {"end", record_end_fields, NULL},
             {"numa", record_numa_fields, NULL},       {"gpu", record_gpu_fields, NULL},
             {"reading", record_reading_fields, NULL}, {"nvlink", record_nvlink_fields, NULL},
             {"nic", record_nic_fields, NULL},         {"watched", record_watched_fields, NULL},
             {"during", record_during_fields, NULL}};
enum { LISTS = sizeof lists / sizeof lists[0] };

static const char *type_of(const struct record_field *field)
{
    switch (field->kind) {
    case RECORD_TEXT:
    case RECORD_HASH:
    case RECORD_OPTIONS:
    case RECORD_BIG:
        return "text";
    case RECORD_BOOL:
        return "boolean";
    case RECORD_INT:
    case RECORD_LONG:
    case RECORD_COUNT:
    case RECORD_U64:
        return "integer";
    case RECORD_REAL:
        return "number";
    case RECORD_SERIES:
        return "numbers";
    case RECORD_NESTED:
        break;
    }
    return field->type;
}

static void print_list(int i, FILE *out)
{
    const struct record_field *f = lists[i].fields ? lists[i].fields : beside_fields();

    fputs("| field | type | unit | role | meaning |\n|---|---|---|---|---|\n", out);
    for (; f->name && (!lists[i].end || strcmp(f->name, lists[i].end) != 0); ++f)
        fprintf(out, "| `%s` | %s | %s | %s | %s |\n", f->name, type_of(f), f->unit,
                role_name(f->role), f->meaning);
}

/* Returns which list begins at the line; -1: none. */
static int list_of(const char *line)
{
    char begin[64];

    for (int i = 0; i < LISTS; ++i) {
        snprintf(begin, sizeof begin, "<!-- fields of %s -->\n", lists[i].name);
        if (strcmp(line, begin) == 0)
            return i;
    }
    return -1;
}

/* Copies the file with the right lists. Returns how many lists there were. */
static int field_lists_copy(FILE *in, FILE *out)
{
    static const char end[] = "<!-- end -->\n";
    char line[8192];
    bool inside = false;
    int n = 0;

    while (fgets(line, sizeof line, in)) {
        const int list = list_of(line);

        inside = inside && strcmp(line, end) != 0;
        if (!inside)
            fputs(line, out);
        if (list >= 0) {
            print_list(list, out);
            inside = true;
            ++n;
        }
    }
    return n;
}

/* Returns 0 if text equals the contents of the file. */
static int field_lists_compare(FILE *in, const char *path, const char *text)
{
    char line[8192];

    rewind(in);
    for (int number = 1; fgets(line, sizeof line, in); ++number) {
        const size_t length = strlen(line);

        if (strncmp(line, text, length) != 0) {
            printf("%s:%d: has\n%snot\n%.*s\nfield_lists %s --fix puts it right\n", path, number,
                   line, (int)strcspn(text, "\n"), text, path);
            return 1;
        }
        text += length;
    }
    return *text != '\0';
}

static int replace(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    const bool written = out && fputs(text, out) >= 0;

    return out && fclose(out) == 0 && written ? 0 : 1;
}

int main(int argc, char **argv)
{
    FILE *in = argc > 1 ? fopen(argv[1], "r") : NULL, *out;
    const bool fix = argc == 3 && strcmp(argv[2], "--fix") == 0;
    char *text = NULL;
    size_t bytes = 0;
    int status = 2;

    if (!in || (argc == 3 && !fix)) {
        fprintf(stderr, "field_lists: README [--fix]\n");
        return 2;
    }
    out = open_memstream(&text, &bytes);
    if (out) {
        const int n = field_lists_copy(in, out);

        status = fclose(out) != 0 ? 2 : n != LISTS;
        if (n != LISTS)
            printf("%s has %d of %d lists of fields\n", argv[1], n, LISTS);
    }
    if (status == 0)
        status = fix ? replace(argv[1], text) : field_lists_compare(in, argv[1], text);
    fclose(in);
    free(text);
    return status;
}
